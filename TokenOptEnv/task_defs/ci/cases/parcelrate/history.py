"""The commits of the parcelrate case, a week of them.

`FUEL_ROWS` changes a book in place, which its loader allows: every caller has its own. `PARSED_ONCE` hands one
book to all callers and keeps saying otherwise. Nothing shows while the import tests and the statement tests run
in different processes; `REBALANCED` puts them together, days later. `SHELF` rewrites the lines at fault meanwhile.
"""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cache

from TokenOptEnv.task_defs.ci import sources
from TokenOptEnv.task_defs.ci.writers.history import Change, Commit, Edit, replay

PACKAGE = "parcelrate"
MIRA = "Mira Lund"
JONAS = "Jonas Weber"
ADA = "Ada Nwosu"
TOM = "Tom Riley"
BOT = "lockbot"


def _at(day: int, hour: int, minute: int, second: int) -> datetime:
    return datetime(2026, 7, day, hour, minute, second, tzinfo=UTC)


EASTERN_ZONE = Change(
    TOM,
    _at(6, 9, 12, 31),
    "zones: serve postcodes that begin with 0",
    (
        Edit("parcelrate/zones.py", '_PREFIXES = {"1": "Z1",', '_PREFIXES = {"0": "Z3", "1": "Z1",'),
        Edit("tests/test_zones.py", '        zone_of("01067")\n', '        zone_of("50667")\n'),
    ),
)
THOUSANDS = Change(
    ADA,
    _at(6, 10, 5, 2),
    "money: thousands separator",
    (
        Edit("parcelrate/money.py", '{whole}.{rest:02d} EUR"', '{whole:,}.{rest:02d} EUR"'),
        Edit(
            "tests/test_money.py",
            "def test_credits_keep_their_sign",
            "def test_large_amounts_are_grouped():\n"
            '    assert euros(123_456_789) == "1,234,567.89 EUR"\n\n\n'
            "def test_credits_keep_their_sign",
        ),
    ),
)
FUEL_ROWS = Change(
    JONAS,
    _at(6, 11, 40, 47),
    "carrier_import: read fuel rows",
    (
        Edit(
            "parcelrate/carrier_import.py",
            "import Band, TariffBook, load_book",
            "import Band, Extra, TariffBook, load_book",
        ),
        Edit(
            "parcelrate/carrier_import.py",
            '    for row in text.split():\n        zone, limit, cents = row.split(";")\n',
            "    for row in text.split():\n"
            '        if row.startswith("fuel;"):\n'
            '            _, zone, code, cents = row.split(";")\n'
            "            book.extras.setdefault(zone, []).append(Extra(code, int(cents)))\n"
            "            continue\n"
            '        zone, limit, cents = row.split(";")\n',
        ),
        Edit(
            "tests/test_carrier_import.py",
            "def test_a_new_weight_limit_is_added",
            "def test_a_fuel_row_goes_on_top():\n"
            '    book = apply_file("north", "fuel;Z4;FUEL-17;145")\n'
            '    assert [extra.code for extra in book.extras["Z4"]][-1] == "FUEL-17"\n\n\n'
            "def test_a_new_weight_limit_is_added",
        ),
    ),
)
ISLAND = Change(
    MIRA,
    _at(6, 14, 31, 20),
    "books: north charges for islands",
    (
        Edit("parcelrate/books.py", "Z4;10000;1490\n", "Z4;10000;1490\nextra;Z4;ISLAND;310\n"),
        Edit(
            "parcelrate/tariffs.py",
            "    bands = []\n    for line in TEXTS[name].split():\n",
            "    bands, extras = [], {}\n"
            "    for line in TEXTS[name].split():\n"
            '        if line.startswith("extra;"):\n'
            '            _, zone, code, cents = line.split(";")\n'
            "            extras.setdefault(zone, []).append(Extra(code, int(cents)))\n"
            "            continue\n",
        ),
        Edit(
            "parcelrate/tariffs.py",
            "    return TariffBook(name, bands)\n",
            "    return TariffBook(name, bands, extras)\n",
        ),
        Edit(
            "tests/test_statements.py",
            '"BASE-Z4": 2480}',
            '"BASE-Z4": 2480, "ISLAND": 620}',
        ),
    ),
)
SCHEDULE_NOTE = Change(
    TOM,
    _at(6, 17, 50, 9),
    "ci: say what the nightly is for",
    (
        Edit(
            "ci/pipeline.yml",
            "  nightly:\n    if: event.kind == 'schedule'\n",
            "  nightly:   # one process, no shards; for the duration table\n    if: event.kind == 'schedule'\n",
        ),
    ),
)
COUNTRY_LINE = Change(
    ADA,
    _at(7, 8, 58, 14),
    "labels: country line for parcels abroad",
    (
        Edit(
            "parcelrate/labels.py",
            "def label(name: str, street: str, postcode: str, city: str) -> str:\n"
            '    return "\\n".join([name.upper(), street, f"{postcode} {city}"])\n',
            'def label(name: str, street: str, postcode: str, city: str, country: str = "") -> str:\n'
            '    lines = [name.upper(), street, f"{postcode} {city}"]\n'
            "    if country:\n"
            "        lines.append(country.upper())\n"
            '    return "\\n".join(lines)\n',
        ),
    ),
)
FIND_LINE = Change(
    JONAS,
    _at(7, 9, 47, 55),
    "quotes: look a line up by its code",
    (
        Edit(
            "parcelrate/quotes.py",
            "        return sum(line.cents for line in self.lines)\n",
            "        return sum(line.cents for line in self.lines)\n\n"
            "    def find(self, code: str) -> Line | None:\n"
            "        return next((line for line in self.lines if line.code == code), None)\n",
        ),
        Edit(
            "tests/test_quotes.py",
            "def test_a_parcel_heavier",
            "def test_a_line_is_found_by_its_code():\n"
            '    found = quote(Parcel("20457", 500), load_book("south")).find("BASE-Z1")\n'
            "    assert found is not None and found.cents == 470\n\n\n"
            "def test_a_parcel_heavier",
        ),
    ),
)
PARSED_ONCE = Change(
    MIRA,
    _at(7, 11, 26, 38),
    "tariffs: less work per quote",
    (
        Edit(
            "parcelrate/tariffs.py",
            "def load_book(name: str) -> TariffBook:\n"
            '    """The book as shipped. It is the caller\'s own: change it freely."""\n'
            "    bands, extras = [], {}\n",
            "_READY: dict[str, TariffBook] = {}\n\n\n"
            "def load_book(name: str) -> TariffBook:\n"
            '    """The book as shipped. It is the caller\'s own: change it freely."""\n'
            "    if name not in _READY:\n"
            "        _READY[name] = _read(name)\n"
            "    return _READY[name]\n\n\n"
            "def _read(name: str) -> TariffBook:\n"
            "    bands, extras = [], {}\n",
        ),
    ),
    body="Batch of 10k parcels: 41.2 s -> 15.9 s",
)
SORTED_CODES = Change(
    ADA,
    _at(7, 15, 3, 26),
    "statements: codes in alphabetical order",
    (
        Edit(
            "parcelrate/statements.py",
            "    return Statement(month, totals)\n",
            "    return Statement(month, dict(sorted(totals.items())))\n",
        ),
    ),
)
KNOWN_ZONES = Change(
    JONAS,
    _at(8, 9, 20, 44),
    "tariffs: refuse a band for a zone that does not exist",
    (
        Edit(
            "parcelrate/tariffs.py",
            "    cents: int\n\n\n@dataclass(frozen=True)\nclass Extra:",
            "    cents: int\n\n"
            "    def __post_init__(self) -> None:\n"
            "        if self.zone not in ZONES:\n"
            '            raise ValueError(f"band for unknown zone {self.zone!r}")\n\n\n'
            "@dataclass(frozen=True)\nclass Extra:",
        ),
        Edit(
            "parcelrate/tariffs.py",
            "from parcelrate.books import TEXTS\n",
            "from parcelrate.books import TEXTS\nfrom parcelrate.zones import ZONES\n",
        ),
        Edit(
            "parcelrate/zones.py",
            "\n\nclass UnknownPostcode",
            "\nZONES = frozenset(_PREFIXES.values())\n\n\nclass UnknownPostcode",
        ),
    ),
)
BLANKS = Change(
    TOM,
    _at(8, 10, 44, 3),
    "zones: ignore blanks in postcodes",
    (
        Edit(
            "parcelrate/zones.py",
            "    for length in (2, 1):\n        zone = _PREFIXES.get(postcode[:length])\n",
            '    digits = postcode.replace(" ", "")\n'
            "    for length in (2, 1):\n        zone = _PREFIXES.get(digits[:length])\n",
        ),
        Edit(
            "tests/test_zones.py",
            "def test_an_unserved_postcode",
            "def test_blanks_do_not_matter():\n"
            '    assert zone_of(" 88 045") == "Z4"\n\n\n'
            "def test_an_unserved_postcode",
        ),
    ),
)
FUEL_REPLACES = Change(
    JONAS,
    _at(8, 13, 15, 51),
    "carrier_import: a fuel row replaces the last one of its code",
    (
        Edit(
            "parcelrate/carrier_import.py",
            "            book.extras.setdefault(zone, []).append(Extra(code, int(cents)))\n",
            "            extras = book.extras.setdefault(zone, [])\n"
            "            extras[:] = [extra for extra in extras if extra.code != code] + [Extra(code, int(cents))]\n",
        ),
        Edit(
            "tests/test_carrier_import.py",
            "def test_a_new_weight_limit_is_added",
            "def test_the_later_fuel_row_counts():\n"
            '    book = apply_file("north", "fuel;Z4;FUEL-17;145 fuel;Z4;FUEL-17;150")\n'
            '    assert [extra.cents for extra in book.extras["Z4"] if extra.code == "FUEL-17"] == [150]\n\n\n'
            "def test_a_new_weight_limit_is_added",
        ),
    ),
    body="Carriers send corrections in the same file.",
)
CHANGELOG = Change(
    ADA,
    _at(8, 17, 22, 17),
    "docs: changelog for 3.3",
    (
        Edit(
            "CHANGELOG.md",
            "## Unreleased\n",
            "## Unreleased\n- carrier files may hold fuel rows\n- north charges for islands\n- batches price faster\n",
        ),
    ),
)
POSITIVE_WEIGHT = Change(
    TOM,
    _at(9, 9, 5, 40),
    "quotes: refuse a parcel without weight",
    (
        Edit(
            "parcelrate/quotes.py",
            "    zone = zone_of(parcel.postcode)\n",
            "    if parcel.weight_g <= 0:\n"
            '        raise ValueError(f"parcel weighs {parcel.weight_g} g")\n'
            "    zone = zone_of(parcel.postcode)\n",
        ),
        Edit(
            "tests/test_quotes.py",
            "def test_a_parcel_heavier",
            "def test_a_parcel_weighs_something():\n"
            '    with pytest.raises(ValueError, match="weighs 0 g"):\n'
            '        quote(Parcel("20457", 0), load_book("south"))\n\n\n'
            "def test_a_parcel_heavier",
        ),
    ),
)
SHELF = Change(
    MIRA,
    _at(9, 10, 50, 29),
    "tariffs: put read books on a shelf",
    (
        Edit(
            "parcelrate/tariffs.py",
            "_READY: dict[str, TariffBook] = {}\n\n\n",
            "class Shelf(dict[str, TariffBook]):\n"
            "    def __missing__(self, name: str) -> TariffBook:\n"
            "        return self.setdefault(name, _read(name))\n\n\n"
            "_SHELF = Shelf()\n\n\n",
        ),
        Edit(
            "parcelrate/tariffs.py",
            "    if name not in _READY:\n        _READY[name] = _read(name)\n    return _READY[name]\n",
            "    return _SHELF[name]\n",
        ),
    ),
)
LABEL_BLANKS = Change(
    ADA,
    _at(9, 12, 34, 58),
    "labels: strip the street",
    (Edit("parcelrate/labels.py", "lines = [name.upper(), street, ", "lines = [name.upper(), street.strip(), "),),
)
REBALANCED = Change(
    TOM,
    _at(9, 14, 20, 36),
    "ci: shards by last week's durations",
    (
        Edit(
            "ci/shards.json",
            '  "shard-1": ["tests/test_carrier_import.py", "tests/test_labels.py", "tests/test_money.py"],\n'
            '  "shard-2": ["tests/test_quotes.py", "tests/test_statements.py"],\n'
            '  "shard-3": ["tests/test_tariffs.py", "tests/test_zones.py"]\n',
            '  "shard-1": ["tests/test_labels.py", "tests/test_quotes.py", "tests/test_tariffs.py"],\n'
            '  "shard-2": ["tests/test_carrier_import.py", "tests/test_statements.py"],\n'
            '  "shard-3": ["tests/test_money.py", "tests/test_zones.py"]\n',
        ),
    ),
)
COUNTED_TOTALS = Change(
    ADA,
    _at(9, 15, 2, 11),
    "statements: add the month up with a Counter",
    (
        Edit(
            "parcelrate/statements.py",
            "    totals: dict[str, int] = {}\n",
            "    totals: Counter[str] = Counter()\n",
        ),
        Edit(
            "parcelrate/statements.py",
            "            totals[line.code] = totals.get(line.code, 0) + line.cents\n",
            "            totals[line.code] += line.cents\n",
        ),
        Edit(
            "parcelrate/statements.py",
            "from collections.abc import Sequence\n",
            "from collections import Counter\nfrom collections.abc import Sequence\n",
        ),
    ),
)
TEST_TOOLS = Change(
    BOT,
    _at(9, 15, 41, 0),
    "deps: hypothesis 6.136.1, pytest 8.4.2",
    (
        Edit("requirements/test.lock", "hypothesis==6.135.26\n", "hypothesis==6.136.1\n"),
        Edit("requirements/test.lock", "pytest==8.4.1\n", "pytest==8.4.2\n"),
    ),
)
README_STATEMENTS = Change(
    MIRA,
    _at(9, 16, 10, 22),
    "docs: carrier files in the readme",
    (
        Edit(
            "README.md",
            "- one parcel: `parcelrate.quotes`\n",
            "- a carrier's monthly file: `parcelrate.carrier_import`\n- one parcel: `parcelrate.quotes`\n",
        ),
    ),
)

CHANGES = (
    EASTERN_ZONE,
    THOUSANDS,
    FUEL_ROWS,
    ISLAND,
    SCHEDULE_NOTE,
    COUNTRY_LINE,
    FIND_LINE,
    PARSED_ONCE,
    SORTED_CODES,
    KNOWN_ZONES,
    BLANKS,
    FUEL_REPLACES,
    CHANGELOG,
    POSITIVE_WEIGHT,
    SHELF,
    LABEL_BLANKS,
    REBALANCED,
    COUNTED_TOTALS,
    TEST_TOOLS,
    README_STATEMENTS,
)


@cache
def commits() -> dict[Change, Commit]:
    """Every commit by its change, oldest first."""
    return dict(zip(CHANGES, replay(PACKAGE, sources.load(PACKAGE), CHANGES), strict=True))
