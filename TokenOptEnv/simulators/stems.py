"""Word stems and a small thesaurus of operations and code English, for matching questions asked in other words.

The stemmer strips inflections in the manner of Porter's first steps and stops there: `retries`, `retried`, `retrying`
meet at `retry`, and no ending is taken that would leave less than three letters.
"""

from __future__ import annotations

import re
from functools import lru_cache

_VOWEL = re.compile(r"[aeiouy]")
_SUFFIXES = (
    ("sses", "ss"),
    ("ies", "y"),
    ("ied", "y"),
    ("ations", ""),
    ("ation", ""),
    ("ating", ""),
    ("ated", ""),
    ("ates", ""),
    ("ate", ""),
    ("ments", ""),
    ("ment", ""),
    ("ings", ""),
    ("ing", ""),
    ("edly", ""),
    ("ed", ""),
    ("es", ""),
    ("ly", ""),
    ("ness", ""),
    ("s", ""),
)
_UNDOUBLED = re.compile(r"([bdgmnprt])\1$")

_SYNONYMS = (
    "lag backlog behind delay pile accumulate",
    "crash panic abort die exit killed oom",
    "slow latency timeout sluggish stall hang stuck",
    "bug defect fault mistake flaw",
    "fail failure error break broken exception",
    "cause reason root culprit origin trigger source introduce responsible blame",
    "fix repair remedy remediation resolve mitigate patch solve correct",
    "service component app application microservice",
    "deploy release rollout ship",
    "rollback revert undo",
    "restart reboot bounce cycle",
    "memory heap ram leak",
    "disk storage volume filesystem",
    "full exhausted saturated depleted",
    "config configuration setting parameter option flag",
    "certificate cert tls ssl expiry expired",
    "commit revision change changeset sha diff",
    "test spec suite assertion",
    "flaky intermittent nondeterministic unstable",
    "queue topic stream partition broker",
    "pool connection",
    "drop lose lost discard missing",
    "spike surge burst jump peak",
    "rate throughput volume qps rps",
    "request call query invocation",
    "function method routine",
    "file module",
    "line location place where position",
    "value number amount figure",
    "return give yield output produce",
    "find locate identify determine show tell",
    "wrong incorrect bad invalid",
    "begin start first onset",
    "end finish stop last",
    "host node machine server instance pod",
    "database db postgres mysql sql",
    "build pipeline ci job workflow",
    "limit cap maximum quota threshold",
    "increase grow rise climb raise",
    "decrease fall shrink sink lower",
    "remove delete purge",
    "retry reattempt",
    "duplicate twice repeated",
    "customer user client consumer",
)


@lru_cache(maxsize=16_384)
def stem(word: str) -> str:
    """`word` is lower case; a word with a digit in it is an identifier and stays as it is."""
    if len(word) <= 3 or not word.isalpha():
        return word
    for suffix, replacement in _SUFFIXES:
        if word.endswith(suffix):
            base = word[: len(word) - len(suffix)]
            if len(base) >= 3 and _VOWEL.search(base) and not (suffix == "s" and base.endswith(("s", "u", "i"))):
                word = base + replacement
                break
    if len(word) > 3:
        word = word.removesuffix("e")
    return _UNDOUBLED.sub(r"\1", word)


_CONCEPTS = {stem(word): f"~{group.split()[0]}" for group in reversed(_SYNONYMS) for word in group.split()}


def concept(stemmed: str) -> str | None:
    """The name of the group of synonyms a stem belongs to; the first group that lists it, where several do."""
    return _CONCEPTS.get(stemmed)
