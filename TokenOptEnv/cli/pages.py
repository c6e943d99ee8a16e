"""Where the maintenance commands write: parameters and snapshots into the package, pages into the checkout's `docs`."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from TokenOptEnv.catalog.snapshot import BehavioursFile, CardsFile


def stale(parameters: Mapping[str, BehavioursFile], pages: Mapping[str, str]) -> tuple[str, ...]:
    """The files whose bytes are not these."""
    made = {_data() / f"{name}.behaviour.json": _text(each) for name, each in parameters.items()}
    folder = docs_folder()
    if folder is not None:
        made |= {folder / name: text for name, text in pages.items()}
    return tuple(
        f"{file.parent.name}/{file.name}"
        for file, text in made.items()
        if not file.is_file() or file.read_text(encoding="utf-8") != text
    )


def keep_snapshots(snapshots: Mapping[str, CardsFile]) -> None:
    for name, snapshot in snapshots.items():
        _write(_data() / f"{name}.json", _text(snapshot))
    if snapshots:
        _refill()


def keep_parameters(parameters: Mapping[str, BehavioursFile]) -> None:
    for name, made in parameters.items():
        _write(_data() / f"{name}.behaviour.json", _text(made))
    _refill()


def keep_pages(pages: Mapping[str, str]) -> None:
    """By path under `docs`. An installed package has no such folder: then there is nothing to keep up to date."""
    folder = docs_folder()
    if folder is not None:
        for name, text in pages.items():
            _write(folder / name, text)


def docs_folder() -> Path | None:
    folder = Path(str(files("TokenOptEnv"))).parent / "docs"
    return folder if (folder / "models.md").is_file() else None


def _refill() -> None:
    """The page on models shows the catalogs as they now are."""
    from TokenOptEnv.catalog import load_behaviours, load_catalog
    from TokenOptEnv.catalog.table import fill_page

    load_catalog.cache_clear()
    load_behaviours.cache_clear()
    folder = docs_folder()
    if folder is not None:
        page = folder / "models.md"
        _write(page, fill_page(page.read_text(encoding="utf-8")))


def _data() -> Path:
    return Path(str(files("TokenOptEnv.catalog") / "data"))


def _text(data: BehavioursFile | CardsFile) -> str:
    return data.model_dump_json(indent=1) + "\n"


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8", newline="\n")
