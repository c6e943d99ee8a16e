"""What every plan of a scenario shares, whatever the world: knowledge, ways to surface, ways to hand over."""

from __future__ import annotations

from functools import lru_cache

from TokenOptEnv.config import EpisodeConfig, Profile
from TokenOptEnv.models import V1_ACTIONS, V2_ACTIONS, ActionType
from TokenOptEnv.plans.knowledge import know
from TokenOptEnv.plans.packing import Packer
from TokenOptEnv.plans.rates import Rates
from TokenOptEnv.plans.surfacing import Surfacer
from TokenOptEnv.scenario import CacheEntry, Scenario
from TokenOptEnv.simulators import terms
from TokenOptEnv.world import visible_world

_LONGEST_LOOKUP = 3


class Kit:
    def __init__(self, scenario: Scenario, config: EpisodeConfig, forbidden: frozenset[ActionType]) -> None:
        """`forbidden` actions are not used: what a plan costs without them tells what they are worth."""
        self.visible = visible_world(scenario, config)
        actions = V1_ACTIONS if config.profile is Profile.V1 else V2_ACTIONS
        self.tools = frozenset(actions) - forbidden
        self.knowledge = know(scenario, self.visible)
        self.rates = Rates(self.visible)
        self.packer = Packer(self.knowledge, self.visible, self.tools, self.rates)
        searches = ActionType.SEARCH_ARTIFACTS in self.tools
        self.surfacers = [Surfacer(phase, searches) for phase in self.visible.phases]
        self._lookups: dict[str, str] = {}

    @property
    def escalates(self) -> bool:
        return ActionType.ESCALATE_ROUTE in self.tools

    @property
    def goes_up(self) -> bool:
        """May a stronger model be asked where there is an answer? Where there is no escalation, by asking anew."""
        return self.escalates or self.visible.config.profile is Profile.V1

    def quotable(self, subtask_id: str, surface: tuple[str, ...], texts: tuple[str, ...]) -> bool:
        """Can searches quote these texts, and surface these segments?"""
        number = next(n for n, phase in enumerate(self.visible.phases) if subtask_id in phase.subtasks)
        return bool(self.surfacers[number].covers(surface, texts))

    def lookup(self, entry: CacheEntry) -> str:
        """The shortest query that finds this earlier result."""
        if entry.entry_id not in self._lookups:
            self._lookups[entry.entry_id] = self._shortest(entry)
        return self._lookups[entry.entry_id]

    def _shortest(self, entry: CacheEntry) -> str:
        cache = next(phase for phase in self.visible.phases if entry in phase.entries).semantic_cache
        words: list[str] = []
        pool = list(terms.distinct(entry.question))
        while pool and len(words) < _LONGEST_LOOKUP:
            scored = []
            for word in pool:
                matches = cache.nearest(" ".join([*words, word]))
                place = next((n for n, match in enumerate(matches) if match.entry.entry_id == entry.entry_id), None)
                if place is not None:
                    scored.append((len(matches), -matches[place].similarity, word))
            if scored:
                return " ".join([*words, min(scored)[2]])
            words.append(pool.pop(0))
        return entry.question


def kit_of(scenario: Scenario, config: EpisodeConfig, forbidden: frozenset[ActionType] = frozenset()) -> Kit:
    return _kit(scenario, config, forbidden)


@lru_cache(maxsize=64)
def _kit(scenario: Scenario, config: EpisodeConfig, forbidden: frozenset[ActionType]) -> Kit:
    """Kept, since all worlds share it."""
    return Kit(scenario, config, forbidden)
