"""Your own logs, repository or questions as a scenario: `camre scenarios import`.

spec_file / question_file   what the user wrote down
sources, text_blocks        files as they lie around, read in blocks
quotes, near_miss           first pass: where the quotes stand, or what comes closest
excerpt, secrets            second pass: what is kept around them, and what is masked in it
wrong_answers, earlier_results, git_history    what is derived
case                        all of it, through the builder of designed cases
"""

from TokenOptEnv.importing.case import FAMILY, MOST_TOKENS, Imported, ImportOptions, import_case
from TokenOptEnv.importing.question_file import QUESTION_ENDINGS, read_question_file
from TokenOptEnv.importing.report import ImportReport, SourceReport
from TokenOptEnv.importing.secrets import KIND_NAMES
from TokenOptEnv.importing.spec_file import SPEC_ENDINGS, CaseFile, case_file, read_case_file

__all__ = [
    "FAMILY",
    "KIND_NAMES",
    "MOST_TOKENS",
    "QUESTION_ENDINGS",
    "SPEC_ENDINGS",
    "CaseFile",
    "ImportOptions",
    "ImportReport",
    "Imported",
    "SourceReport",
    "case_file",
    "import_case",
    "read_case_file",
    "read_question_file",
]
