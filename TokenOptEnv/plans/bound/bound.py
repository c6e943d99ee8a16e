"""The least of all choices: which findings carry the answer, and how many steps are spent beyond what they force."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, combinations
from math import ceil, inf

from TokenOptEnv.config import CACHE_MAX_HITS, PREVIEW_PAGE_SEGMENTS, SEARCH_MAX_TOP_K, EpisodeConfig
from TokenOptEnv.plans.bound.evidence import Evidence
from TokenOptEnv.plans.bound.freedom import FREEDOMS, Freedom
from TokenOptEnv.plans.bound.prompts import cold_pico_usd, warm_pico_usd
from TokenOptEnv.plans.bound.question import Question, Terms
from TokenOptEnv.plans.bound.sources import Origin, Source, Sources
from TokenOptEnv.plans.bound.wording import LEAST_ACTION_TOKENS, Frame, Growth
from TokenOptEnv.scenario import Scenario
from TokenOptEnv.world import build_world, text_tokens, visible_world

_PICO_PER_NANO = 1_000
_LARGEST_PAGE = max(PREVIEW_PAGE_SEGMENTS, SEARCH_MAX_TOP_K)


def lower_bound(scenario: Scenario, seed: int, config: EpisodeConfig) -> int:
    """In nano-dollars. No successful episode in this world costs less."""
    return int(Bound(scenario, seed, config).pico_usd // _PICO_PER_NANO)


@dataclass(frozen=True)
class _Leg:
    """What a choice of sources makes of one phase."""

    number: int
    asked: tuple[Source, ...]
    right: tuple[Source, ...]
    looked_up: int
    missing: int
    """Findings of other questions that must be handed over, too."""
    restores: bool
    restored_tokens: int
    last: bool
    findings: tuple[int, ...]


class Bound:
    def __init__(self, scenario: Scenario, seed: int, config: EpisodeConfig) -> None:
        world = build_world(scenario, seed, config)
        self._visible = world.visible
        self._evidence, self._frame, self._growth = _shared(scenario, config)
        subtasks = {subtask.subtask_id: subtask for subtask in scenario.public.subtasks}
        self._questions = {
            truth.subtask_id: Question(world, subtasks[truth.subtask_id], truth, self._evidence, self._frame)
            for truth in scenario.hidden.subtasks
        }
        self._needs = {truth.subtask_id: frozenset(truth.needs) for truth in scenario.hidden.subtasks}
        self._sources = Sources(scenario, world, self._questions)
        self._least_call_pico_usd = min(question.least_call_pico_usd() for question in self._questions.values())
        self._phase_of = {name: number for number, phase in enumerate(world.visible.phases) for name in phase.subtasks}

    @property
    def pico_usd(self) -> float:
        return min(
            (self.least(choice, freedom) for choice in self._sources.choices() for freedom in FREEDOMS), default=0
        )

    def least(self, choice: frozenset[Source], freedom: Freedom) -> float:
        """With these sources and so much freedom."""
        right = [source for source in choice if source.origin is Origin.RIGHT]
        homes = {
            name: [source.subtask_id for source in right if name in self._needs[source.subtask_id]]
            for name in self._evidence.path
        }
        duties = {
            source.subtask_id: frozenset(name for name, at in homes.items() if at == [source.subtask_id])
            for source in right
        }
        unread = [name for name, at in homes.items() if not at]
        legs = self._legs(choice)
        reading = self._reading_pico_usd(unread, choice, freedom, len(legs) > 1)
        if reading == inf:
            return inf
        shared_out = [
            self._leg_pico_usd(leg, freedom, 0, duties, reading if leg.last else 0.0, unread if leg.last else [])
            for leg in legs
        ]
        if freedom.extra_steps == 0 or sum(shared_out) == inf:
            return sum(shared_out)
        with_extra = [
            self._leg_pico_usd(
                leg, freedom, freedom.extra_steps, duties, reading if leg.last else 0.0, unread if leg.last else []
            )
            for leg in legs
        ]
        least = sum(shared_out) + min(more - less for more, less in zip(with_extra, shared_out, strict=True))
        return least + self._least_call_pico_usd if freedom.asks else least

    def _legs(self, choice: frozenset[Source]) -> list[_Leg]:
        last = max((self._phase_of[source.subtask_id] for source in choice), default=0)
        legs: list[_Leg] = []
        for number in range(last + 1):
            here = [source for source in choice if self._phase_of[source.subtask_id] == number]
            before = [source for source in choice if self._phase_of[source.subtask_id] < number]
            given = frozenset[str]().union(*(source.gives for source in here))
            wanted = frozenset[str]().union(*(source.wants for source in here))
            cached = sum(source.origin is Origin.CACHED for source in here)
            asked = tuple(source for source in here if source.origin is not Origin.CACHED)
            questions = {source.subtask_id for source in here}
            legs.append(
                _Leg(
                    number=number,
                    asked=asked,
                    right=tuple(source for source in asked if source.origin is Origin.RIGHT),
                    looked_up=ceil(cached / CACHE_MAX_HITS),
                    missing=0 if number == last else len(self._visible.phases[number].subtasks) - len(questions),
                    restores=bool(before) and (number == last or bool(wanted - given)),
                    restored_tokens=sum(source.saved_tokens for source in before) if number == last else 0,
                    last=number == last,
                    findings=tuple(source.held_tokens for source in here),
                )
            )
        return legs

    def _reading_pico_usd(self, unread: list[str], choice: frozenset[Source], freedom: Freedom, phases: bool) -> float:
        """For evidence that no right answer's call reads: loaded, or read by somebody else.

        At the last step of a phase, what is loaded is never shown again, so that it costs nothing.
        """
        if phases:
            return 0.0
        card = self._visible.controller
        wrong = frozenset[str]().union(
            *(self._needs[source.subtask_id] for source in choice if source.origin is Origin.WRONG)
        )
        lucky = sum(source.origin is Origin.LUCKY for source in choice)
        somehow = freedom.loads or freedom.asks
        left = [name for name in unread if not (somehow or name in self._evidence.small or name in wrong)]
        if self._evidence.fewest_segments(left) > lucky:
            return inf
        total = 0.0
        for name in unread:
            ways = [inf]
            if freedom.asks or name in left or name in wrong:
                ways.append(self._evidence.least_read_pico_usd[name])
            if freedom.loads or name in self._evidence.small:
                ways.append(self._evidence.loaded_tokens(name) * card.input_pico_usd)
            total += min(ways)
        return total

    def _leg_pico_usd(
        self,
        leg: _Leg,
        freedom: Freedom,
        extra_steps: int,
        duties: dict[str, frozenset[str]],
        reading: float,
        unread: list[str],
    ) -> float:
        played = self._played_pico_usd(leg, freedom, extra_steps, duties, reading, unread)
        if leg.last:
            return played
        return min(played, self._sat_out_pico_usd(leg))

    def _played_pico_usd(
        self,
        leg: _Leg,
        freedom: Freedom,
        extra_steps: int,
        duties: dict[str, frozenset[str]],
        reading: float,
        unread: list[str],
    ) -> float:
        card = self._visible.controller
        evidence = self._evidence
        cites_free = leg.looked_up > 0 or not freedom.lines_stay
        segments = sum(
            self._questions[source.subtask_id].fewest_segments(freedom, duties[source.subtask_id], cites_free)
            for source in leg.right
        )
        segments += sum(
            0.0 if cites_free and name in evidence.cited else evidence.surfaced_share[name] for name in unread
        )
        surfacing = ceil(round(segments / _LARGEST_PAGE, 6))
        prompts = surfacing + leg.looked_up + len(leg.asked) + ceil(leg.missing / CACHE_MAX_HITS) + leg.restores + 1
        prompts += extra_steps
        head = self._frame.heads[leg.number]
        fresh, written = card.input_pico_usd, card.output_pico_usd
        words = LEAST_ACTION_TOKENS * (prompts - len(leg.asked) - 1) + self._frame.ask_words * len(leg.asked)
        words += self._frame.submit_words if leg.last else LEAST_ACTION_TOKENS
        tails = (prompts - 1) * self._frame.tail + (self._frame.first_tail if leg.number == 0 else self._frame.tail)
        fixed = (tails + leg.restored_tokens) * fresh + words * written + sum(source.pico_usd for source in leg.asked)
        findings = list(leg.findings)
        stays = len(leg.right) + 1 if freedom.lines_stay and surfacing <= 1 else 1
        cold_terms = Terms(stays * fresh, 0 if cites_free else stays * fresh, fresh, written)
        total = (
            cold_pico_usd(card, head, prompts, findings, freedom.findings_stay)
            + reading
            + self._answers_pico_usd(leg, freedom, duties, cold_terms)
        )
        warm = warm_pico_usd(
            card,
            head,
            prompts,
            findings,
            freedom.findings_stay,
            self._most_held(prompts, surfacing + extra_steps, leg, freedom),
        )
        if warm:
            warm_terms = Terms(fresh, 0 if cites_free else fresh, fresh, written)
            paid = reading + self._answers_pico_usd(leg, freedom, duties, warm_terms)
            free = self._answers_pico_usd(leg, freedom, duties, None)
            total = min(total, *(each.pico_usd + max(paid - each.filling_pico_usd, free) for each in warm))
        return fixed + total

    def _sat_out_pico_usd(self, leg: _Leg) -> float:
        """A phase that ends with its steps instead of a note; what is loaded at its last step is read for nothing."""
        card = self._visible.controller
        phases = self._visible.phases
        before = phases[leg.number - 1].ends_at_step if leg.number else 0
        prompts = phases[leg.number].ends_at_step - before
        head = self._frame.heads[leg.number]
        unbounded = [0.0] + [inf] * prompts
        chains = [cold_pico_usd(card, head, prompts, [], stay=True)]
        chains += [each.pico_usd for each in warm_pico_usd(card, head, prompts, [], True, unbounded)]
        fixed = prompts * (self._frame.first_tail * card.input_pico_usd + LEAST_ACTION_TOKENS * card.output_pico_usd)
        none = {source.subtask_id: frozenset[str]() for source in leg.right}
        answers = self._answers_pico_usd(leg, FREEDOMS[-1], none, None)
        return min(chains) + fixed + answers + sum(source.pico_usd for source in leg.asked)

    def _most_held(self, prompts: int, surfacing: int, leg: _Leg, freedom: Freedom) -> list[float]:
        growth = [self._growth.surfacing] * surfacing + [self._growth.looking_up] * leg.looked_up
        growth += [self._growth.noted] * leg.restores + [self._growth.finding] * prompts
        most = [0.0, *accumulate(sorted(growth, reverse=True))][:prompts]
        if freedom.loads:
            most[2:] = [inf] * (prompts - 2)
        return most

    def _answers_pico_usd(
        self, leg: _Leg, freedom: Freedom, duties: dict[str, frozenset[str]], terms: Terms | None
    ) -> float:
        """Everybody asks whom it is cheapest to ask; who is asked more than once may have the head in cache."""
        tables = [
            self._questions[source.subtask_id].prices(freedom, duties[source.subtask_id], terms) for source in leg.right
        ]
        cold = [min((price.cold for price in table.values()), default=inf) for table in tables]
        best = sum(cold)
        able = [
            model_id
            for model_id in self._visible.cards
            if sum(model_id in table and table[model_id].hot < least for table, least in zip(tables, cold, strict=True))
            > 1
        ]
        for size in range(1, len(able) + 1):
            for models in combinations(able, size):
                total = float(sum(self._heating_pico_usd(model_id) for model_id in models))
                for table, least in zip(tables, cold, strict=True):
                    total += min([least, *(table[model_id].hot for model_id in models if model_id in table)])
                best = min(best, total)
        return best

    def _heating_pico_usd(self, model_id: str) -> int:
        """The head of a model's first call is fresh."""
        card = self._visible.cards[model_id]
        assert card.cache_rule is not None
        head = text_tokens(card, self._visible.worker_head)
        cached = max(card.cache_rule.min_tokens, head) * min(card.cache_read_pico_usd, card.input_pico_usd)
        return max(0, head * card.input_pico_usd - cached)


@lru_cache(maxsize=64)
def _shared(scenario: Scenario, config: EpisodeConfig) -> tuple[Evidence, Frame, Growth]:
    """What all worlds share."""
    visible = visible_world(scenario, config)
    return Evidence(scenario, visible), Frame(visible), Growth(visible)
