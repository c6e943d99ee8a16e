"""What happened to shelflife lately. One of these commits planted the bug; the others are what it hides among."""

from __future__ import annotations

from TokenOptEnv.task_defs.bugfix.edit import Edit
from TokenOptEnv.task_defs.bugfix.history import Commit, sha

KEYS, STORE, EXPIRY, MEMO = "shelflife/keys.py", "shelflife/store.py", "shelflife/expiry.py", "shelflife/memo.py"
_TESTS, _STORE_TESTS = "tests/test_memo.py", "tests/test_store.py"

BUG = Edit(KEYS, "key += (_KEYWORDS, *sorted(named.items()))", "key += (_KEYWORDS, *sorted(named))")

_REPRODUCTION = """def test_a_price_list_per_region(price, upstream, clock):
    assert price("kettle", region="uk") == 3400
    clock.advance(30.0)
    assert price("kettle", region="de") == 3900
    assert price("lamp", region="de") == 1500


"""

_IGNORED_TEST = """def test_an_ignored_keyword_does_not_split_the_cache(price, upstream):
    price("lamp", timeout=1)
    price("lamp", timeout=9)
    assert len(upstream.asked) == 1


"""

_KEY_WITH_IGNORED = """        named = {name: value for name, value in kwargs.items() if name not in self.ignore}
        self._check(args, named)
        key: Key = (self.namespace, *args)
        if named:
            key += (_KEYWORDS, *sorted(named))
        if self.typed:
            key += (_TYPES, *self._types(args, named))
"""

_KEY_OF_ALL = """        self._check(args, kwargs)
        key: Key = (self.namespace, *args)
        if kwargs:
            key += (_KEYWORDS, *sorted(kwargs.items()))
        if self.typed:
            key += (_TYPES, *self._types(args, kwargs))
"""

_MAKE_ROOM = '''    def _make_room(self, now: float) -> None:
        """Dead entries go first: evicting a live one while a dead one stays would waste its place."""
        if self.sweep():
            return
        self._entries.popitem(last=False)
        self._count(evicted=1)

'''

_DEAD_FIRST_TEST = """

def test_a_dead_entry_makes_room_before_a_live_one(clock):
    store = Store(2, Fixed(ttl=5.0), clock)
    store.put("old", 1)
    clock.advance(4.0)
    store.put("young", 2)
    clock.advance(2.0)
    store.put("new", 3)
    assert list(store) == ["young", "new"]
    assert store.stats.evicted == 0
"""

_UNHASHABLE_TEST = """def test_an_unhashable_argument_is_named(price):
    with pytest.raises(UnhashableArgument, match="argument region cannot be part of a key: list"):
        price("kettle", region=["uk"])


"""

_UNHASHABLE = '''class UnhashableArgument(TypeError):
    """Names the argument, because the interpreter's own message does not."""

    def __init__(self, name: str, value: object) -> None:
        super().__init__(f"argument {name} cannot be part of a key: {type(value).__name__} is not hashable")


'''


def _commit(author: str, date: str, message: str, *edits: Edit) -> Commit:
    email = f"{author.split()[0].lower()}@shelflife.example"
    return Commit(sha("shelflife", message), f"{author} <{email}>", date, message, edits)


REPRODUCE = _commit(
    "Ines Varga",
    "Wed Mar 12 17:41:20 2025 +0100",
    "Reproduce the shop's report as a test\n\nRed on purpose; the fix comes on top.",
    Edit(_TESTS, "", _REPRODUCTION),
)
DEADLINE = _commit(
    "Tom Okafor",
    "Wed Mar 12 11:08:02 2025 +0100",
    "Serve nothing at the very deadline\n\nA value read in the tick of its deadline was still answered from memory.",
    Edit(
        EXPIRY,
        '    """Past the deadline?"""\n    return now > deadline\n',
        '    """A deadline is the first moment that is too late, so reaching it is enough."""\n'
        "    return now >= deadline\n",
    ),
    Edit(_STORE_TESTS, "[(29.9, True), (31.0, False)]", "[(29.9, True), (30.0, False), (31.0, False)]"),
)
SWEEP = _commit(
    "Tom Okafor",
    "Mon Mar 10 16:55:47 2025 +0100",
    "Sweep before evicting\n\nUnder load a store pushed live answers out while dead ones kept their places.",
    Edit(
        STORE,
        "            self._entries.popitem(last=False)\n            self._count(evicted=1)\n        self._entries[key]",
        "            self._make_room(now)\n        self._entries[key]",
    ),
    Edit(STORE, "", _MAKE_ROOM),
    Edit(_STORE_TESTS, "", _DEAD_FIRST_TEST),
)
IGNORE = _commit(
    "Ruta Lind",
    "Fri Mar 7 14:20:33 2025 +0100",
    "Leave ignored keywords out of the key\n\nA timeout or a logger says how to ask, not what. Cuts the price\n"
    "service's misses by a third.",
    Edit(KEYS, _KEY_OF_ALL, _KEY_WITH_IGNORED),
    Edit(
        KEYS,
        '    `typed` keeps equal values of different types apart.\n    """\n\n    typed: bool = False\n',
        "    `typed` keeps equal values of different types apart. `ignore` names keywords that change how an\n"
        "    answer is computed but not what it is (a timeout, a logger), and so must not split the cache.\n"
        '    """\n\n    typed: bool = False\n    ignore: frozenset[str] = frozenset()\n',
    ),
    Edit(
        MEMO,
        "keyer = Keyer(typed=typed, namespace=namespace)",
        "keyer = Keyer(typed=typed, ignore=frozenset(ignore), namespace=namespace)",
    ),
    Edit(
        MEMO,
        "    typed: bool = False,\n    clock",
        "    typed: bool = False,\n    ignore: Iterable[str] = (),\n    clock",
    ),
    Edit(_TESTS, "", _IGNORED_TEST),
    Edit(
        _TESTS,
        "memoised(8, Fixed(ttl=60.0), clock=clock)(upstream.price)",
        'memoised(8, Fixed(ttl=60.0), ignore=["timeout"], clock=clock)(upstream.price)',
    ),
)
UNHASHABLE = _commit(
    "Ines Varga",
    "Tue Mar 4 09:47:15 2025 +0100",
    "Name the argument that cannot be hashed",
    Edit(KEYS, "", _UNHASHABLE),
    Edit(
        KEYS,
        "    hash(value)\n",
        "    try:\n        hash(value)\n"
        "    except TypeError:\n        raise UnhashableArgument(name, value) from None\n",
    ),
    Edit(_TESTS, "", _UNHASHABLE_TEST),
    Edit(_TESTS, "", "from shelflife.keys import UnhashableArgument\n"),
)

COMMITS = (REPRODUCE, DEADLINE, SWEEP, IGNORE, UNHASHABLE)
"""Newest first."""
