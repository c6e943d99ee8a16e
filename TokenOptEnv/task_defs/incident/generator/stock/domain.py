"""What a business is made of, in names."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Part:
    name: str
    alias: str = ""
    does: str = ""
    """What one unit of its work is called in its log, in the past: `rates read`."""


@dataclass(frozen=True, slots=True)
class Domain:
    name: str
    unit: str
    """What customers ask for, in the plural: `renewals`."""
    path: str
    """Of such a request; `{tenant}` is drawn."""
    other_path: str
    """Of a slow request of the kind that customers break off: an export."""
    tenant: str
    """How a customer's id begins."""
    cells: tuple[str, ...]
    gateway: Part
    front: Part
    apis: tuple[Part, ...]
    workers: tuple[Part, ...]
    batches: tuple[Part, ...]
    stores: tuple[Part, ...]
    caches: tuple[Part, ...]
    resolvers: tuple[Part, ...]
    others: tuple[Part, ...]
    """Filler for large systems."""


def parts(text: str) -> tuple[Part, ...]:
    """`name alias what it did` per line: a pack of names reads as a table."""
    rows = (line.split(maxsplit=2) for line in text.strip().splitlines())
    return tuple(Part(*(cell.strip() for cell in row)) for row in rows)
