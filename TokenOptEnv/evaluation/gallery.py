"""The gallery: a page a family with one case told whole, and how its cases spread.

Only the frame of a page stands here; every name, number and text of a case is the case's own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from TokenOptEnv.config import SIZES, YARDSTICK, Difficulty
from TokenOptEnv.evaluation.case_profile import CaseProfile, profile
from TokenOptEnv.evaluation.held_out import Stock, stocks
from TokenOptEnv.evaluation.spread_plot import Panel, spread_plot
from TokenOptEnv.scenario import Fact, Scenario
from TokenOptEnv.scenario_store.splits import Case, split_size
from TokenOptEnv.task_defs.family import families
from TokenOptEnv.task_defs.generation import GENERATED_FAMILIES, TRAIN_NUMBERS, Split, outline

EXAMPLE = Difficulty.EASY
_MOST_LINES = 24
_MOST_CHARACTERS = 160
_QUANTITIES = ("tokens", "segments", "facts", "decoys", "templates")
_TITLES = {
    "tokens": "artifact tokens",
    "segments": "segments",
    "facts": "facts",
    "decoys": "decoys",
    "templates": "line templates (numbers and ids masked)",
}

Drawn = tuple[Case, Scenario]
Sample = Sequence[Drawn]


@dataclass(frozen=True, slots=True)
class Page:
    """One file of the gallery, by its path below the documentation's folder."""

    path: str
    text: str


def example(family: str) -> Case:
    """The first easy train case of a family in which something is at fault."""
    number = next(number for number in TRAIN_NUMBERS if not outline(family, EXAMPLE, number).no_fault)
    return Case(family, EXAMPLE, number)


def sample(family: str, each: int) -> list[Case]:
    """Train cases alone: what is shown here must not be what is tested."""
    return [Case(family, difficulty, number) for difficulty in Difficulty for number in TRAIN_NUMBERS[:each]]


def pages(examples: Mapping[str, Scenario], samples: Mapping[str, Sample]) -> list[Page]:
    profiles = {family: [profile(case, scenario) for case, scenario in found] for family, found in samples.items()}
    made = [Page("scenarios.md", _front())]
    for family in GENERATED_FAMILIES:
        made.append(Page(f"scenarios/{family}.md", _family_page(family, examples[family], profiles[family])))
        made.append(Page(f"scenarios/{family}.svg", _plot(family, profiles[family])))
    return made


def _front() -> str:
    known = families()
    return _FRONT.format(
        families=_table(
            ("family", "asks", "designed"),
            [(f"[{name}](scenarios/{name}.md)", each.asks, str(len(each.designed))) for name, each in known.items()],
        ),
        difficulties=_table(("difficulty", "artifact tokens", "memory, tokens", "steps"), _sizes()),
        designed=sum(len(family.designed) for family in known.values()),
        train=f"{split_size(Split.TRAIN):,}",
        validation=split_size(Split.VALIDATION),
        test=split_size(Split.TEST),
        held_out="\n".join(
            f"- {name}, {stock.kind}: {', '.join(sorted(stock.held_out))}" for name, stock in _held_out()
        ),
    )


def _sizes() -> list[tuple[str, str, str, str]]:
    rows = []
    for difficulty, sizes in SIZES.items():
        low, high = sizes.artifact_tokens
        rows.append((difficulty.value, f"{low:,} to {high:,}", f"{sizes.memory_tokens:,}", str(sizes.steps)))
    return rows


def _held_out() -> list[tuple[str, Stock]]:
    return [(family, stock) for family, found in stocks().items() for stock in found]


def _family_page(family: str, scenario: Scenario, profiles: Sequence[CaseProfile]) -> str:
    public, hidden = scenario.public, scenario.hidden
    facts = {fact.fact_id: fact for fact in hidden.facts}
    decisive = facts[hidden.fields[0].path[0]]
    answers = [
        (truth.name, _code(truth.accepted[0]), _cell("; ".join(facts[name].why for name in truth.path)))
        for truth in hidden.fields
    ]
    return _FAMILY.format(
        family=family,
        asks=families()[family].asks,
        scenario_id=public.scenario_id,
        title=_cell(public.title),
        brief=_cell(public.brief),
        artifacts=_table(("artifact", "kind", "segments", "tokens"), _artifacts(scenario)),
        questions="\n".join(f"- {_cell(each.question)} -> {', '.join(each.fields)}" for each in public.subtasks),
        segment_id=decisive.places[0].segment_id,
        excerpt="\n".join(_excerpt(scenario, decisive)),
        answers=_table(("field", "accepted", "rests on"), answers),
        cases=len(profiles),
    )


def _artifacts(scenario: Scenario) -> list[tuple[str, str, str, str]]:
    counts = iter(scenario.public.segment_tokens[YARDSTICK])
    rows = []
    for artifact in scenario.public.artifacts:
        tokens = sum(next(counts) for _ in artifact.segments)
        rows.append((_cell(artifact.title), artifact.kind.value, str(len(artifact.segments)), f"{tokens:,}"))
    return rows


def _excerpt(scenario: Scenario, fact: Fact) -> list[str]:
    """The lines around the telling one, cut to what a page can show."""
    place = fact.places[0]
    segments = {s.segment_id: s.text for artifact in scenario.public.artifacts for s in artifact.segments}
    text = segments[place.segment_id]
    lines = text.splitlines()
    at = text[: text.index(place.text)].count("\n")
    first = max(0, min(at - _MOST_LINES // 2, len(lines) - _MOST_LINES))
    return [_cut(line) for line in lines[first : first + _MOST_LINES]]


def _cut(line: str) -> str:
    return line if len(line) <= _MOST_CHARACTERS else line[: _MOST_CHARACTERS - 1] + "…"


def _plot(family: str, profiles: Sequence[CaseProfile]) -> str:
    panels = [
        Panel(
            _TITLES[quantity],
            {
                difficulty.value: [getattr(case, quantity) for case in profiles if case.difficulty is difficulty]
                for difficulty in Difficulty
            },
        )
        for quantity in _QUANTITIES
    ]
    return spread_plot(f"Distributions of {family} cases", panels)


def _code(value: str) -> str:
    """A patch has lines, and a cell of a table has none."""
    return "<br>".join(f"`{line}`" for line in _cell_lines(value))


def _cell_lines(value: str) -> list[str]:
    return [line.replace("|", "\\|") for line in value.splitlines() if line.strip()]


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return "\n".join("| " + " | ".join(row) + " |" for row in (heads, ["---"] * len(heads), *rows))


_FRONT = """\
# Scenarios

Written by `camre scenarios gallery --out docs`.

A scenario is a frozen task: a brief, artifacts cut into segments, questions that can be routed to models, earlier
results of which some are outdated, a menu of models, and a hidden truth. Cases are designed by hand (`core`) or
generated from a number, without end.

{families}

## Difficulties

{difficulties}

Hard bug fixes are smaller: packages come in the sizes they have. A marathon has several phases, and what is not
written down is gone at the end of each.

## Splits

| split | cases | where they come from |
| --- | --- | --- |
| core | {designed} | designed by hand, shipped |
| train | {train} | generated when asked for, and kept in `CAMRE_CACHE_DIR` |
| validation | {validation} | a pack, made of train's material |
| test | {test} | a pack, with material that no other split has |

Families take turns; of twenty cases of a family seven are easy, eight medium, four hard and one is a marathon. A
number belongs to one split alone, so no id is in two. Held out for test:

{held_out}

## Checks

| command | what it does |
| --- | --- |
| `camre scenarios build --split test --check` | builds the pack again and compares every hash |
| `camre scenarios validate --split test --execute` | every check on every case; replays plans, runs claims again |
| `camre scenarios audit --split test` | looks for near-duplicates of train, and for guessers that get by |
| `camre scenarios ablate --split test --out docs/scenarios` | plans without one action after the other |

The last one's table: [what each action is worth](scenarios/ablation.md).
"""

_FAMILY = """\
# {family}

{asks}

## One case: `{scenario_id}`

**{title}**

> {brief}

{artifacts}

Questions that can be routed:

{questions}

From `{segment_id}`, which shows a decisive fact:

```text
{excerpt}
```

The answer, which no agent is shown:

{answers}

## How cases spread

{cases} train cases, a dot each; the bar is the median.

![Distributions of {family} cases]({family}.svg)
"""
