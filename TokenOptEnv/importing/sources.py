"""What an import reads: files that were named, files found in folders, and texts that another source gave."""

from __future__ import annotations

import codecs
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from TokenOptEnv.errors import BadInput, UnknownName
from TokenOptEnv.importing.text_blocks import Block, file_blocks, text_blocks
from TokenOptEnv.models import ArtifactKind

_PACKED: Final = (".gz", ".bz2", ".xz", ".zst")
_KINDS: Final = {
    ArtifactKind.CODE: "py pyi js jsx ts tsx go rs java kt c h cc cpp hpp cs rb php swift scala sh sql lua",
    ArtifactKind.CONFIG: "toml yaml yml ini cfg conf json properties env xml tf",
    ArtifactKind.DIFF: "diff patch",
    ArtifactKind.RUNBOOK: "md rst adoc",
    ArtifactKind.METRICS: "csv tsv",
}
_KIND_OF: Final = {f".{ending}": kind for kind, endings in _KINDS.items() for ending in endings.split()}


@dataclass(frozen=True, slots=True)
class Source:
    """One text. `path` is where it lies; a text that lies nowhere is given as it is."""

    name: str
    """What facts and errors call it: its path below the folder that was given."""
    kind: ArtifactKind
    path: Path | None = None
    text: str = ""
    was_named: bool = True
    """Asked for by name, and not found in a folder."""
    encoding: str | None = None

    def blocks(self) -> Iterator[Block]:
        return text_blocks(self.text) if self.path is None else file_blocks(self.path, self.name, self.encoding)


def find_sources(places: Sequence[Path], encoding: str | None = None) -> tuple[Source, ...]:
    """Every file at these places, in the order given; in a folder by name, hidden and empty files left out."""
    if encoding is not None:
        _check_encoding(encoding)
    found: dict[str, Source] = {}
    seen: set[Path] = set()
    for place in places:
        if place.is_dir():
            inside = sorted(file for file in place.rglob("*") if _counts(file, place))
            if not inside:
                raise BadInput(f"folder {str(place)!r} holds no file to import; put logs or other texts into it")
            named = [(file.relative_to(place).as_posix(), file, False) for file in inside]
        elif place.is_file():
            named = [(place.name, place, True)]
        else:
            raise BadInput(f"there is no file or folder {str(place)!r}; paths are relative to the file that names them")
        for name, file, was_named in named:
            if file.resolve() in seen:
                continue
            seen.add(file.resolve())
            free = _free(name, place, found)
            found[free] = Source(free, kind_of(name), file, was_named=was_named, encoding=encoding)
    return tuple(found.values())


def _free(name: str, place: Path, taken: Collection[str]) -> str:
    """The name, or one that no file of another folder has."""
    known_as = name
    for folder in (place if place.is_dir() else place.parent, *place.absolute().parents):
        if known_as not in taken:
            return known_as
        known_as = f"{folder.name}/{known_as}"
    raise BadInput(f"two files are called {name!r}; rename one")


def kind_of(name: str) -> ArtifactKind:
    """By the ending of its name; what has none, or none of those known, is a log."""
    path = PurePosixPath(name)
    if path.suffix in _PACKED:
        path = path.with_suffix("")
    return _KIND_OF.get(path.suffix.lower(), ArtifactKind.LOG)


def source_named(name: str, sources: Sequence[Source]) -> Source:
    """By its whole name, or by as much of its end as names one alone."""
    exact = [source for source in sources if source.name == name]
    ending = exact or [source for source in sources if f"/{_bare(source.name)}".endswith(f"/{_bare(name)}")]
    if len(ending) == 1:
        return ending[0]
    if ending:
        raise BadInput(f"file {name!r} may be any of {', '.join(source.name for source in ending[:4])}; say which")
    raise UnknownName("file", name, [source.name for source in sources], "the folder that is imported")


def _bare(name: str) -> str:
    """`app.log` names `app.log.gz` too."""
    return name.removesuffix(next((ending for ending in _PACKED if name.endswith(ending)), ""))


def _counts(file: Path, folder: Path) -> bool:
    hidden = any(part.startswith(".") for part in file.relative_to(folder).parts)
    return not hidden and file.is_file() and file.stat().st_size > 0


def _check_encoding(encoding: str) -> None:
    try:
        codecs.lookup(encoding)
    except LookupError:
        raise BadInput(
            f"there is no encoding {encoding[:40]!r}; common ones are utf-8, utf-16, cp1252, shift_jis"
        ) from None
