"""`camre compare-backends`: does a ranking hold with other models behind the same questions?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from TokenOptEnv.cli import live_settings, splits

if TYPE_CHECKING:
    from rich.table import Table

    from TokenOptEnv.evaluation.backend_comparison import BackendComparison


def compare_backends(
    b: Annotated[str, typer.Option("--b", help=live_settings.KINDS)],
    a: Annotated[str, typer.Option("--a", help=live_settings.KINDS)] = "simulated",
    policies: Annotated[
        list[str] | None, typer.Option(help="A policy; repeat, or separate by commas. All contestants else.")
    ] = None,
    split: Annotated[str, typer.Option(help=splits.ANY)] = "core",
    episodes: Annotated[int | None, typer.Option(help="So many scenarios of the split; all when left out.")] = None,
    scenario: Annotated[
        list[str] | None, typer.Option(help="A scenario id; repeat for more. Instead of a split.")
    ] = None,
    seeds: Annotated[str, typer.Option(help="Like 7, 0-3 or 0,2,5-7.")] = "0",
    profile: Annotated[str | None, typer.Option(help="v1 or v2.")] = None,
    catalog: Annotated[str | None, typer.Option(help="measured or current.")] = None,
    record: Annotated[Path | None, typer.Option(help="Where a live backend records; a run goes on from it.")] = None,
    cap_usd: Annotated[str | None, typer.Option(help=live_settings.CAP)] = None,
    served_as: Annotated[list[str] | None, typer.Option(help=live_settings.SERVED_AS)] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Machine output.")] = False,
) -> None:
    """Play the same policies on two backends, and compare rankings and scores."""
    from TokenOptEnv import backends, scenario_store
    from TokenOptEnv import policies as known_policies
    from TokenOptEnv.cli import screen
    from TokenOptEnv.cli import seeds as seed_list
    from TokenOptEnv.errors import BadInput
    from TokenOptEnv.evaluation import backend_comparison, suite
    from TokenOptEnv.simulators.backend import WaitingBackend

    named = [name.strip() for part in policies or () for name in part.split(",")]
    infos = [known_policies.info(name) for name in named or known_policies.names()]
    names = [info.name for info in infos if not info.knows_truth]
    if len(names) < 2:
        raise BadInput("a ranking takes two contestants; name two policies that do not know the truth")
    schemes = [backends.check(spec) for spec in (a, b)]
    if all(scheme.name == "live" for scheme in schemes):
        raise BadInput("both backends are live; record one first, then compare with recorded:FILE")
    settings = live_settings.told(record, cap_usd, served_as)
    options = suite.options(profile=profile, catalog=catalog)
    ids = [scenario_store.load(name).scenario_id for name in scenario or ()]
    played = ids or suite.scenarios_of(split, episodes)
    spec = suite.run_spec(names, suite.CHOSEN if ids else split, played, seed_list.parse(seeds), options)
    jobs = spec.jobs()
    with backends.opened(a, settings) as first, backends.opened(b, settings) as second:
        waits = any(isinstance(side, WaitingBackend) for side in (first, second))
        pairs = backend_comparison.play_pairs(jobs, first, second, options, settings.at_once if waits else 1)
        found = backend_comparison.compared(a, b, list(screen.progress(pairs, len(jobs), "Playing")))
    if as_json:
        screen.json(found)
    else:
        screen.show(_table(found), *_notes(found))


def _table(found: BackendComparison) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(
        title=f"a: {found.a}, b: {found.b}; {found.episodes} episodes a policy",
        title_justify="left",
        box=SIMPLE_HEAD,
        show_edge=False,
        padding=(0, 1, 0, 0),
    )
    table.add_column("policy", overflow="fold")
    for head in ("rank", "SCE a", "b", "gap", "solved", "$/task a", "b", "alike"):
        table.add_column(head, justify="right", no_wrap=True)
    for gap in found.gaps:
        a, b = gap.a, gap.b
        table.add_row(
            gap.policy,
            f"{a.rank}, {b.rank}",
            f"{a.sce:.3f}",
            f"{b.sce:.3f}",
            f"{b.sce - a.sce:+.3f}",
            f"{a.success:.0%}, {b.success:.0%}",
            f"{a.usd:.4f}",
            f"{b.usd:.4f}",
            f"{gap.agreement:.0%}",
        )
    return table


def _notes(found: BackendComparison) -> tuple[str, ...]:
    tau = "none: one of the rankings has a single place" if found.tau is None else f"{found.tau:.3f}"
    return (
        f"Kendall's tau of the two rankings: {tau} (1 is the same order, -1 the reverse)",
        "alike: episodes that end alike on both, solved or not",
    )
