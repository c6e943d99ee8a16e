"""Which stock a split may draw from."""

from __future__ import annotations

from dataclasses import dataclass

from TokenOptEnv.task_defs.generation import Split
from TokenOptEnv.task_defs.incident.generator.formats import TEST_FORMATS, TRAIN_FORMATS, Format
from TokenOptEnv.task_defs.incident.generator.gateway import TEST_ACCESS, TRAIN_ACCESS, Access
from TokenOptEnv.task_defs.incident.generator.papers.style import Style
from TokenOptEnv.task_defs.incident.generator.papers.styles_test import TEST_STYLES
from TokenOptEnv.task_defs.incident.generator.papers.styles_train import TRAIN_STYLES
from TokenOptEnv.task_defs.incident.generator.stock import domains_test, domains_train, phrases_test, phrases_train
from TokenOptEnv.task_defs.incident.generator.stock.domain import Domain
from TokenOptEnv.task_defs.incident.generator.stock.phrases import Phrases


@dataclass(frozen=True, slots=True)
class Material:
    domains: tuple[Domain, ...]
    formats: tuple[Format, ...]
    access: tuple[Access, ...]
    styles: tuple[Style, ...]
    phrases: Phrases


_SEEN = Material(domains_train.DOMAINS, TRAIN_FORMATS, TRAIN_ACCESS, TRAIN_STYLES, phrases_train.PHRASES)
_HELD_OUT = Material(domains_test.DOMAINS, TEST_FORMATS, TEST_ACCESS, TEST_STYLES, phrases_test.PHRASES)


def material_of(split: Split) -> Material:
    return _HELD_OUT if split is Split.TEST else _SEEN
