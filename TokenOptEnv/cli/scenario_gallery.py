"""`camre scenarios gallery`: the pages about scenarios, written from the scenarios themselves."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def gallery(
    out: Annotated[Path, typer.Option(help="The documentation's folder.")] = Path("docs"),
    each: Annotated[int, typer.Option(help="Cases of each family and difficulty in the plots.")] = 6,
) -> None:
    """Write docs/scenarios.md, a page a family with one case told whole, and plots of how cases spread."""
    from TokenOptEnv.cli import screen
    from TokenOptEnv.errors import BadInput
    from TokenOptEnv.evaluation import gallery as made
    from TokenOptEnv.scenario_store.splits import generate
    from TokenOptEnv.task_defs.generation import GENERATED_FAMILIES

    if each < 1:
        raise BadInput(f"{each} cases make no plot; give 1 or more")
    wanted = [(family, case) for family in GENERATED_FAMILIES for case in made.sample(family, each)]
    samples: dict[str, list[made.Drawn]] = {family: [] for family in GENERATED_FAMILIES}
    for family, case in screen.progress(wanted, len(wanted), "Generating"):
        samples[family].append((case, generate(case)))
    examples = {family: generate(made.example(family)) for family in GENERATED_FAMILIES}
    pages = made.pages(examples, samples)
    for page in pages:
        file = out / page.path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(page.text, encoding="utf-8", newline="\n")
    screen.line(f"{len(pages)} files: {out}")
