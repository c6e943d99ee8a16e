"""What a repaired shelflife does, as calls and what they give. The functions remembered are the standard library's."""

from __future__ import annotations

from TokenOptEnv.task_defs.execution import Call, HiddenTest, Method, Outcome, Reference, Value


def _memo(function: str, *then: Method, typed: bool = False, ignore: tuple[str, ...] = ()) -> Call:
    ignored = Call("builtins", "frozenset", ([*ignore],))
    keyer = Call("shelflife.keys", "Keyer", kwargs={"typed": typed, "ignore": ignored})
    store = Call("shelflife.store", "Store", (8,))
    return Call("shelflife.memo", "Memo", (Reference("textwrap", function), store, keyer), then=then)


def _ask(text: str, **named: Value) -> Method:
    return Method("__call__", (text,), named)


_MISSES = Method("stats.misses")
_HITS = Method("stats.hits")

HIDDEN_TESTS = (
    HiddenTest(
        "keywords with other values are other calls",
        _memo("indent", _ask("x", prefix="> "), _ask("x", prefix="- "), _ask("x", prefix="> "), _MISSES),
        Outcome(("'> x'", "'- x'", "'> x'", "2")),
    ),
    HiddenTest(
        "the order of keywords is no part of a call",
        _memo(
            "fill", _ask("a b", width=9, initial_indent="*"), _ask("a b", initial_indent="*", width=9), _MISSES, _HITS
        ),
        Outcome(("'*a b'", "'*a b'", "1", "1")),
    ),
    HiddenTest(
        "one value under two names is two calls",
        _memo("fill", _ask("a b", width=2, initial_indent="*"), _ask("a b", width=2, subsequent_indent="*")),
        Outcome(("'*a\\nb'", "'a\\n*b'")),
    ),
    HiddenTest(
        "a keyword is not a positional argument",
        _memo("indent", Method("__call__", ("x", "> ")), _ask("x", prefix="> "), _MISSES),
        Outcome(("'> x'", "'> x'", "2")),
    ),
    HiddenTest(
        "an ignored keyword does not split the cache, any other does",
        _memo(
            "fill",
            _ask("a b", width=9, tabsize=4),
            _ask("a b", width=9, tabsize=8),
            _ask("a b", width=2, tabsize=8),
            _MISSES,
            ignore=("tabsize",),
        ),
        Outcome(("'a b'", "'a b'", "'a\\nb'", "2")),
    ),
    HiddenTest(
        "typed keywords are kept apart",
        _memo("fill", _ask("a", width=9), _ask("a", width=9.0), _MISSES, typed=True),
        Outcome(("'a'", "'a'", "2")),
    ),
    HiddenTest(
        "forgetting one call leaves the others",
        _memo(
            "indent",
            _ask("x", prefix="> "),
            _ask("x", prefix="- "),
            Method("forget", ("x",), {"prefix": "> "}),
            Method("forget", ("x",), {"prefix": "> "}),
            _ask("x", prefix="- "),
            _HITS,
        ),
        Outcome(("'> x'", "'- x'", "True", "False", "'- x'", "1")),
    ),
    HiddenTest(
        "a life still ends at its deadline, and not before",
        Call(
            "shelflife.store",
            "Store",
            (2, Call("shelflife.expiry", "Fixed", (30.0,)), Call("shelflife.expiry", "ManualClock")),
            then=(
                Method("put", ("a", 1)),
                Method("clock.advance", (29.0,)),
                Method("get", ("a", "gone")),
                Method("clock.advance", (1.0,)),
                Method("get", ("a", "gone")),
            ),
        ),
        Outcome(("None", "None", "1", "None", "'gone'")),
    ),
    HiddenTest(
        "a read still makes an entry the youngest",
        Call(
            "shelflife.store",
            "Store",
            (2,),
            then=(
                Method("put", ("a", 1)),
                Method("put", ("b", 2)),
                Method("get", ("a",)),
                Method("put", ("c", 3)),
                Method("get", ("a", "gone")),
                Method("get", ("b", "gone")),
            ),
        ),
        Outcome(("None", "None", "1", "None", "1", "'gone'")),
    ),
)
