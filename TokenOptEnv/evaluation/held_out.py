"""What the test split is made of that no other split has, family by family, as their generators mark it.

Named here once, so that the data card lists it and a test proves that the two sides share nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar

from TokenOptEnv.catalog import CATALOGS, HELD_OUT_MODELS, HELD_OUT_PRICE_TABLE, PRICE_TABLES, load_catalog
from TokenOptEnv.config import Difficulty
from TokenOptEnv.task_defs.bugfix.generator.library import packages_of
from TokenOptEnv.task_defs.ci.generator import libraries, planted, services
from TokenOptEnv.task_defs.ci.generator.plot import draw_plot
from TokenOptEnv.task_defs.generation import TEST_NUMBERS, TRAIN_NUMBERS, Split, outline
from TokenOptEnv.task_defs.incident.generator.faults import HELD_OUT, faults_of
from TokenOptEnv.task_defs.incident.generator.material import material_of

T = TypeVar("T")

EVERY_FAMILY = "every family"

_DRAWN_PLOTS = 400
"""Cases whose plot is drawn to see which there are: every plot has a share of at least a twentieth."""


@dataclass(frozen=True, slots=True)
class Stock:
    """One kind of material: what may be seen in training, and what only test has."""

    kind: str
    seen: frozenset[str]
    held_out: frozenset[str]


def stocks() -> dict[str, tuple[Stock, ...]]:
    """By family; what every family draws from comes first."""
    return {EVERY_FAMILY: _offers(), "bugfix": _bugfix(), "ci": _ci(), "incident": _incident()}


def _offers() -> tuple[Stock, ...]:
    models = [
        Stock(f"model of catalog {name}", frozenset(load_catalog(name).cards) - kept, kept)
        for name, kept in ((name, frozenset(HELD_OUT_MODELS[name])) for name in CATALOGS)
    ]
    tables = frozenset(PRICE_TABLES) - {HELD_OUT_PRICE_TABLE}
    return (*models, Stock("price table", tables, frozenset({HELD_OUT_PRICE_TABLE})))


def _bugfix() -> tuple[Stock, ...]:
    return (_packages(),)


def _ci() -> tuple[Stock, ...]:
    seen, held_out = _plots(TRAIN_NUMBERS), _plots(TEST_NUMBERS)
    return (
        _packages(),
        Stock("way to be red or to seem so", seen, held_out - seen),
        _stock("CI service", services.TRAIN, services.HELD_OUT, _class_name),
        _stock("pinned library", libraries.TRAIN, libraries.HELD_OUT, lambda library: library.name),
        _stock("unsteady test", planted.TRAIN_WOBBLES, planted.HELD_OUT_WOBBLES, lambda wobble: wobble.test),
    )


def _incident() -> tuple[Stock, ...]:
    seen, held_out = material_of(Split.TRAIN), material_of(Split.TEST)
    return (
        Stock(
            "fault class",
            frozenset(kind.fault_class.value for kind in faults_of(Split.TRAIN)),
            frozenset(fault_class.value for fault_class in HELD_OUT),
        ),
        _stock("business", seen.domains, held_out.domains, lambda domain: domain.name),
        _stock("log format", seen.formats, held_out.formats, _function_name),
        _stock("access log", seen.access, held_out.access, _function_name),
        _stock("layout of papers", seen.styles, held_out.styles, _class_name),
    )


def _packages() -> Stock:
    return _stock("source package", packages_of(Split.TRAIN), packages_of(Split.TEST), str)


def _plots(numbers: range) -> frozenset[str]:
    return frozenset(draw_plot(outline("ci", Difficulty.EASY, number)).value for number in numbers[:_DRAWN_PLOTS])


def _stock(kind: str, seen: Iterable[T], held_out: Iterable[T], name: Callable[[T], str]) -> Stock:
    return Stock(kind, frozenset(map(name, seen)), frozenset(map(name, held_out)))


def _class_name(thing: object) -> str:
    return type(thing).__name__


def _function_name(function: Callable[..., str]) -> str:
    return function.__name__.strip("_")
