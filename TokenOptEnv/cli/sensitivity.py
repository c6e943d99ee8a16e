"""`camre sensitivity`: does the ranking hold when the assumptions move?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from TokenOptEnv.cli import splits


def sensitivity(
    policy: Annotated[list[str] | None, typer.Option(help="A policy; repeat for more. All contestants else.")] = None,
    split: Annotated[str, typer.Option(help=splits.ANY)] = "core",
    episodes: Annotated[int | None, typer.Option(help="So many scenarios of the split; all when left out.")] = None,
    seeds: Annotated[str, typer.Option(help="Like 7, 0-3 or 0,2,5-7.")] = "0-3",
    workers: Annotated[int | None, typer.Option(help="Processes; one for each core when left out.")] = None,
    readme: Annotated[Path | None, typer.Option(help="Write the table into this file, between its marks.")] = None,
    block: Annotated[str, typer.Option(help="The name of these marks.")] = "sensitivity",
    as_json: Annotated[bool, typer.Option("--json", help="Machine output.")] = False,
) -> None:
    """Play again under other correlations, confidences, prices and catalogs, and compare the rankings."""
    from rich.table import Table

    from TokenOptEnv import policies
    from TokenOptEnv.cli import screen
    from TokenOptEnv.cli import seeds as seed_list
    from TokenOptEnv.errors import BadInput
    from TokenOptEnv.evaluation import marked_block, runner, sensitivity, suite
    from TokenOptEnv.evaluation.variations import VARIATIONS

    named = [policies.info(name) for name in policy or policies.names()]
    names = [each.name for each in named if not each.knows_truth]
    if len(names) < 2:
        raise BadInput("a ranking takes two contestants; name two policies that do not know the truth")
    ids, chosen = suite.scenarios_of(split, episodes), seed_list.parse(seeds)
    total = len(names) * len(ids) * len(chosen) * len(VARIATIONS)
    crew = workers if workers is not None else runner.crew(total)
    cells = list(screen.progress(sensitivity.study(names, ids, chosen, crew), total, "Playing"))
    rows = sensitivity.rows(cells)
    title = f"{split}: {len(ids)} scenarios, seeds {seeds}"
    if readme is not None:
        marked_block.rewrite(readme, block, sensitivity.markdown(rows, title))
    if as_json:
        screen.json(rows)
        return
    table = Table("assumption", "instead", title=title, title_justify="left")
    table.add_column("tau", justify="right")
    table.add_column("best")
    table.add_column("its SCE", justify="right")
    for row in rows:
        tau = "-" if row.tau is None else f"{row.tau:.2f}"
        table.add_row(row.about, row.variation, tau, row.best, f"{row.mean_sce[row.best]:.3f}")
    screen.show(table, "tau: Kendall's, of the ranking of all contestants with the default's; 1 is the same order")
