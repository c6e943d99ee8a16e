"""The assumptions a ranking rests on, each turned up or down alone: the worlds of `camre sensitivity`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from TokenOptEnv.catalog import LIST_PRICES, PRICE_TABLES, Behaviour, SimulatorConstants
from TokenOptEnv.config import DEFAULT_CONTROLLERS, EpisodeConfig
from TokenOptEnv.models import ModelCard
from TokenOptEnv.scenario import Scenario
from TokenOptEnv.simulators.backend import Backend
from TokenOptEnv.simulators.routing import SimulatedBackend
from TokenOptEnv.world import ReferenceCosts, World, build_world, world_index

Reference = Callable[[], ReferenceCosts | None]
_AS_SHIPPED: Final = EpisodeConfig()


@dataclass(frozen=True)
class Variation:
    """What is assumed instead. The rest stays as it is, the draws included."""

    about: str
    name: str
    config: EpisodeConfig = _AS_SHIPPED
    price_table: str | None = None
    controller_times: float = 1.0
    """The price of the policy's own prompts and actions."""
    rho_times: float = 1.0
    """How far models fail on the same questions."""
    signal_times: float = 1.0
    """How much a stated confidence tells right from wrong."""
    noise_times: float = 1.0

    def world(self, scenario: Scenario, seed: int, reference: Reference | None = None) -> World:
        if self.price_table is not None:
            scenario = _at_prices(scenario, self.price_table)
        world = build_world(scenario, seed, self.config, reference, self._backend(scenario, seed))
        if self.controller_times == 1.0:
            return world
        dearer = _dearer(world.visible.controller, self.controller_times)
        return replace(world, visible=replace(world.visible, controller=dearer))

    def _backend(self, scenario: Scenario, seed: int) -> Backend | None:
        if self.rho_times == self.signal_times == self.noise_times == 1.0:
            return None
        return _VariedBackend(scenario, world_index(seed), self)


class _VariedBackend(SimulatedBackend):
    """The same worlds and draws under other constants."""

    def __init__(self, scenario: Scenario, index: int, variation: Variation) -> None:
        catalog = variation.config.catalog
        super().__init__(scenario, index, catalog, scenario.public.menus[catalog])
        self._constants: SimulatorConstants = self._constants.model_copy(
            update={"rho": min(0.99, self._constants.rho * variation.rho_times)}
        )
        self._behaviours: dict[str, Behaviour] = {
            name: behaviour.model_copy(
                update={
                    "confidence_signal": behaviour.confidence_signal * variation.signal_times,
                    "confidence_noise": behaviour.confidence_noise * variation.noise_times,
                }
            )
            for name, behaviour in self._behaviours.items()
        }


def _at_prices(scenario: Scenario, table: str) -> Scenario:
    return replace(scenario, public=scenario.public.model_copy(update={"price_table": table}))


def _dearer(card: ModelCard, times: float) -> ModelCard:
    prices = ("input_pico_usd", "output_pico_usd", "cache_read_pico_usd", "cache_write_pico_usd")
    return card.model_copy(update={name: max(1, round(getattr(card, name) * times)) for name in prices})


_CURRENT: Final = EpisodeConfig(catalog="current", controller_model=DEFAULT_CONTROLLERS["current"])
DEFAULT: Final = Variation("default", "as shipped")
VARIATIONS: Final = (
    DEFAULT,
    Variation("rho", "half of it", rho_times=0.5),
    Variation("rho", "half as much again", rho_times=1.5),
    Variation("confidence", "tells nothing", signal_times=0.0),
    Variation("confidence", "tells twice as much", signal_times=2.0),
    Variation("confidence", "twice as noisy", noise_times=2.0),
    Variation("controller price", "a quarter", controller_times=0.25),
    Variation("controller price", "four times", controller_times=4.0),
    *(Variation("price table", name, price_table=name) for name in PRICE_TABLES if name != LIST_PRICES),
    Variation("catalog", "current", config=_CURRENT),
)
