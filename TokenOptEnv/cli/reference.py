"""`camre reference`: the reference pages, written from the code they describe."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def reference(
    out: Annotated[Path, typer.Option(help="The folder of the reference pages.")] = Path("docs/reference"),
    check: Annotated[bool, typer.Option("--check", help="Write nothing; fail where a page is out of date.")] = False,
) -> None:
    """Write docs/reference: every command with its options, and every field of actions and observations."""
    from TokenOptEnv.cli import screen
    from TokenOptEnv.cli.reference_commands import commands_page
    from TokenOptEnv.cli.reference_models import model_pages
    from TokenOptEnv.errors import BadInput

    pages = {"commands.md": commands_page(), **model_pages()}
    stale = [name for name, text in pages.items() if _read(out / name) != text]
    if check:
        if stale:
            raise BadInput(f"out of date in {str(out)!r}: {', '.join(stale)}; write them: camre reference")
        screen.line(f"{len(pages)} pages are up to date: {out}")
        return
    out.mkdir(parents=True, exist_ok=True)
    for name, text in pages.items():
        (out / name).write_text(text, encoding="utf-8", newline="\n")
    screen.line(f"{len(pages)} pages, {len(stale)} changed: {out}")


def _read(file: Path) -> str | None:
    return file.read_text(encoding="utf-8") if file.is_file() else None
