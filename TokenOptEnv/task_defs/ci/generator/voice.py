"""Who speaks and how: names, subjects of commits, small talk.

The test split has a voice of its own, so that nothing said there was heard in training.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Voice:
    people: tuple[str, ...]
    bot: str
    teams: tuple[str, ...]
    subjects: dict[str, tuple[str, ...]]
    """By kind of change; `{module}` and `{what}` are filled in."""
    notes: tuple[str, ...]
    """Lines of a changelog."""
    topics: tuple[str, ...]
    """Names of what is not main."""


_REWRITES = (
    "{module}: shorter {what}",
    "{module}: {what} in fewer steps",
    "{module}: tidy {what}",
    "simplify {module}.{what}",
)
_HELD_OUT_REWRITES = (
    "rework {what} ({module})",
    "{what}: plainer control flow",
    "clean up around {module}.{what}",
    "{module}, second look at {what}",
)
_CODE = (
    "comparison",
    "direct_return",
    "ternary",
    "no_else",
    "comprehension",
    "augmented",
    "local_name",
    "several",
    "slip",
)

TRAIN = Voice(
    people=(
        "Mira Lund",
        "Jonas Weber",
        "Ada Nwosu",
        "Tom Riley",
        "Noor Haddad",
        "Piet Visser",
        "Sam Okafor",
        "Lena Fuchs",
        "Ravi Menon",
        "Ines Duarte",
    ),
    bot="lockbot",
    teams=("platform", "core", "tooling", "libraries"),
    subjects={
        **dict.fromkeys(_CODE, _REWRITES),
        "docstring": ("{module}: say what {what} does", "docs: {what} in {module}", "{module}: describe {what}"),
        "annotations": ("{module}: annotate {what}", "types for {module}.{what}"),
        "imports": ("{module}: imports in order", "sort the imports of {module}"),
        "test": ("tests: {what}", "cover it: {what}"),
        "note": ("changelog: keep up", "docs: changelog"),
        "sample": ("tests: drawn samples of the public names", "tests: try names by sample"),
        "bump": ("deps: {what}", "lock: {what}"),
        "pipeline": ("ci: {what} gives up after enough failures", "ci: cap the failures of {what}"),
        "branch": ("wip: {what} without the copy", "try: {what} the other way round"),
    },
    notes=(
        "errors name the value that was refused",
        "docstrings say what is promised and what is not",
        "the handbook is printed from the code",
        "Python 3.11 is the oldest that is tested",
        "wheels are built without a network",
        "fewer copies of short lists",
        "annotations throughout",
        "the examples are run by the tests",
    ),
    topics=("less-copying", "early-exit", "one-pass", "typed-errors", "leaner-api"),
)

HELD_OUT = Voice(
    people=(
        "Yusuf Aydin",
        "Greta Holm",
        "Chidi Eze",
        "Marta Kowal",
        "Hana Sato",
        "Luis Prieto",
        "Olga Petrenko",
        "Bram de Wit",
        "Aiko Mori",
        "Seth Cole",
    ),
    bot="pin-keeper",
    teams=("foundation", "runtime", "shared-code", "delivery"),
    subjects={
        **dict.fromkeys(_CODE, _HELD_OUT_REWRITES),
        "docstring": ("document {module}.{what}", "write down the contract of {what}"),
        "annotations": ("typing pass over {what} ({module})", "{what}: hints"),
        "imports": ("reorder imports, {module}", "import block of {module}"),
        "test": ("add {what}", "one more check: {what}"),
        "note": ("release notes", "notes for the coming version"),
        "sample": ("add a check by time window over the public names", "check the names within one shift"),
        "bump": ("pin {what}", "requirements: {what}"),
        "pipeline": ("build: other flags for {what}", "build: tune how {what} is called"),
        "branch": ("backport: {what}, smaller", "backport of the {what} rework"),
    },
    notes=(
        "messages quote their input",
        "every public name is documented",
        "the manual is generated",
        "no more support for interpreters before 3.11",
        "source releases are reproducible",
        "less work on empty input",
        "type hints everywhere",
        "the tutorial is exercised in the build",
    ),
    topics=("2.x", "1.9", "3.0-lts", "2.4", "1.x"),
)
