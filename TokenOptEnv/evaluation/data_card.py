"""The data card of a pack: what is in it, counted from the pack itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import mean, median

from TokenOptEnv.config import Difficulty
from TokenOptEnv.errors import ScenarioInvalid
from TokenOptEnv.evaluation.case_profile import CaseProfile, profile
from TokenOptEnv.evaluation.held_out import stocks
from TokenOptEnv.plans.stored_plans import StoredPlans, load_plans
from TokenOptEnv.scenario_store.pack_archive import Pack
from TokenOptEnv.scenario_store.splits import case_named
from TokenOptEnv.task_defs.generation import Split

_NANO_PER_CENT = 10_000_000
_COUNTED: tuple[tuple[str, Callable[[CaseProfile], int]], ...] = (
    ("artifact tokens", lambda case: case.tokens),
    ("artifacts", lambda case: case.artifacts),
    ("segments", lambda case: case.segments),
    ("questions", lambda case: case.questions),
    ("facts", lambda case: case.facts),
    ("decoys", lambda case: case.decoys),
    ("line templates", lambda case: case.templates),
)
_SHARES: tuple[tuple[str, Callable[[CaseProfile], bool]], ...] = (
    ("nothing is at fault", lambda case: case.no_fault),
    ("a question has a slot", lambda case: case.slot),
    ("a question is wide", lambda case: case.wide),
    ("a valid earlier result", lambda case: case.valid_cache),
)


def card(pack: Pack) -> str:
    """In Markdown."""
    found = [_profile(pack, row.scenario_id) for row in pack.index.scenarios]
    plans = [load_plans(pack.plans_json(row.scenario_id), row.scenario_id) for row in pack.index.scenarios]
    index = pack.index
    return "\n".join(
        [
            f"# Data card: {index.name}",
            "",
            "Written by `camre scenarios build`; every number is counted from the pack.",
            "",
            f"- cases: {len(found)}, generator version {index.generator_version}",
            f"- plans: scoring version {index.scoring_version}, {_catalog(plans)}",
            f"- executed content: Python {index.python}; other versions read the bytes as they are",
            f"- hash of the canonical content: `{index.content_hash}`",
            "",
            "## Cases",
            "",
            *_table(("family", *(each.value for each in Difficulty), "all"), _counts(found)),
            "",
            "## Sizes",
            "",
            "Least, median and most.",
            "",
            *_table(("of a case", *(each.value for each in Difficulty)), _sizes(found)),
            "",
            "## Shares",
            "",
            *_table(("share of cases in which", *_families(found), "all"), _shares(found)),
            "",
            "## Plans",
            "",
            "Medians over cases and worlds, in cents.",
            "",
            *_table(("", *(each.value for each in Difficulty)), _costs(found, plans)),
            "",
            "## Material",
            "",
            *_material(index.name),
            "",
        ]
    )


def _profile(pack: Pack, scenario_id: str) -> CaseProfile:
    case = case_named(scenario_id)
    if case is None:
        raise ScenarioInvalid(f"{scenario_id!r} in pack {pack.index.name!r} is no generated case")
    return profile(case, pack.scenario(scenario_id))


def _catalog(plans: Sequence[StoredPlans]) -> str:
    made_for = {(each.catalog, each.catalog_version, each.controller_model) for each in plans}
    return "; ".join(f"catalog {name} {version}, controller {model}" for name, version, model in sorted(made_for))


def _families(found: Sequence[CaseProfile]) -> list[str]:
    return sorted({case.family for case in found})


def _of(found: Sequence[CaseProfile], difficulty: Difficulty) -> list[CaseProfile]:
    return [case for case in found if case.difficulty is difficulty]


def _counts(found: Sequence[CaseProfile]) -> list[list[str]]:
    rows = []
    for family in _families(found):
        mine = [case for case in found if case.family == family]
        rows.append([family, *(str(len(_of(mine, each))) for each in Difficulty), str(len(mine))])
    rows.append(["all", *(str(len(_of(found, each))) for each in Difficulty), str(len(found))])
    return rows


def _sizes(found: Sequence[CaseProfile]) -> list[list[str]]:
    return [
        [name, *(_spread([count(case) for case in _of(found, each)]) for each in Difficulty)]
        for name, count in _COUNTED
    ]


def _spread(numbers: Sequence[int]) -> str:
    return f"{min(numbers):,} / {round(median(numbers)):,} / {max(numbers):,}" if numbers else "-"


def _shares(found: Sequence[CaseProfile]) -> list[list[str]]:
    groups = [[case for case in found if case.family == family] for family in _families(found)]
    return [[name, *(f"{mean(map(holds, group)):.1%}" for group in [*groups, list(found)])] for name, holds in _SHARES]


def _costs(found: Sequence[CaseProfile], plans: Sequence[StoredPlans]) -> list[list[str]]:
    names: tuple[tuple[str, Callable[[int, int, int], float]], ...] = (
        ("reference", lambda reference, clairvoyant, bound: reference / _NANO_PER_CENT),
        ("clairvoyant", lambda reference, clairvoyant, bound: clairvoyant / _NANO_PER_CENT),
        ("bound", lambda reference, clairvoyant, bound: bound / _NANO_PER_CENT),
        ("clairvoyant / bound", lambda reference, clairvoyant, bound: clairvoyant / bound),
    )
    rows = []
    for name, number in names:
        row = [name]
        for difficulty in Difficulty:
            values = [
                number(world.reference.nano_usd, world.clairvoyant.nano_usd, world.bound_nano_usd)
                for case, stored in zip(found, plans, strict=True)
                if case.difficulty is difficulty
                for world in stored.worlds
            ]
            row.append(f"{median(values):.2f}" if values else "-")
        rows.append(row)
    return rows


def _material(split: str) -> list[str]:
    """Test is told from its own material and what it shares; the others from what they share alone."""
    is_test = split == Split.TEST.value
    lead = "In no other split:" if is_test else "Seen in train and validation; test has others:"
    lines = [lead, ""]
    for family, found in stocks().items():
        for stock in found:
            names = sorted(stock.held_out if is_test else stock.seen)
            lines.append(f"- {family}, {stock.kind}: {', '.join(names)}")
    return lines


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    return ["| " + " | ".join(row) + " |" for row in (heads, ["---"] * len(heads), *rows)]
