"""Innocent changes, found backwards.

A history of a well-kept package is written from its end: each step takes something away that a good maintainer
would have added or put better, so that, read forwards, every commit is an improvement and every diff is real.
"""

from TokenOptEnv.task_defs.ci.generator.undo.logic import (
    augmented,
    comparison,
    comprehension,
    direct_return,
    no_else,
    ternary,
)
from TokenOptEnv.task_defs.ci.generator.undo.spot import Source, Spot, Undo, read
from TokenOptEnv.task_defs.ci.generator.undo.tests import added_test
from TokenOptEnv.task_defs.ci.generator.undo.words import docstring, imports, local_name, signature

LOGIC: dict[str, Undo] = {
    "comparison": comparison,
    "direct_return": direct_return,
    "ternary": ternary,
    "no_else": no_else,
    "comprehension": comprehension,
    "augmented": augmented,
    "local_name": local_name,
}
"""What touches lines that run."""
WORDS: dict[str, Undo] = {"docstring": docstring, "annotations": signature, "imports": imports}

__all__ = ["LOGIC", "WORDS", "Source", "Spot", "Undo", "added_test", "read"]
