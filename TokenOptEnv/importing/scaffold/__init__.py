"""Beginnings that work as they are: a case to import, and a family with its test. See `camre scenarios new`."""

from TokenOptEnv.importing.scaffold.new_case import case_files
from TokenOptEnv.importing.scaffold.new_family import family_files

__all__ = ["case_files", "family_files"]
