"""The least of all choices: which findings carry the answer, and how many steps are spent beyond what they force."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, combinations
from math import ceil, inf
from typing import TypeAlias

from TokenOptEnv.config import EpisodeConfig
from TokenOptEnv.plans.bound.bargains import Bargains, Terms
from TokenOptEnv.plans.bound.evidence import Evidence
from TokenOptEnv.plans.bound.freedom import FREEDOMS, Freedom
from TokenOptEnv.plans.bound.legs import Leg, legs_of
from TokenOptEnv.plans.bound.prompts import cold_pico_usd, warm_pico_usd
from TokenOptEnv.plans.bound.question import Question
from TokenOptEnv.plans.bound.sources import Origin, Source, Sources, slot_values
from TokenOptEnv.plans.bound.wording import LEAST_ACTION_TOKENS, Frame, Growth
from TokenOptEnv.scenario import Scenario
from TokenOptEnv.world import build_world, text_tokens, visible_world

_PICO_PER_NANO = 1_000

Duties: TypeAlias = dict[str, frozenset[str]]
"""By subtask: facts of the evidence that its call reads, because no other does."""


@dataclass(frozen=True, slots=True)
class _Reading:
    """Who reads what the evidence rests on, given who is asked."""

    duties: Duties
    shared: dict[str, tuple[str, ...]]
    """By fact that several calls can read: whose."""
    unread: tuple[str, ...]
    """Facts that no right answer's call reads."""


def lower_bound(scenario: Scenario, seed: int, config: EpisodeConfig) -> int:
    """In nano-dollars. No successful episode in this world costs less."""
    return int(Bound(scenario, seed, config).pico_usd // _PICO_PER_NANO)


class Bound:
    def __init__(self, scenario: Scenario, seed: int, config: EpisodeConfig) -> None:
        world = build_world(scenario, seed, config)
        self._visible = world.visible
        shared = _shared(scenario, config)
        self._evidence, self._frame, self._growth = shared.evidence, shared.frame, shared.growth
        truths = {truth.subtask_id: truth for truth in scenario.hidden.subtasks}
        self._questions = {
            subtask.subtask_id: Question(
                world,
                subtask,
                truths[subtask.subtask_id],
                shared.evidence,
                shared.bargains[subtask.subtask_id],
                shared.frame,
                slot_values(scenario, subtask),
            )
            for subtask in scenario.public.subtasks
        }
        self._needs = {truth.subtask_id: frozenset(truth.needs) for truth in scenario.hidden.subtasks}
        self._sources = Sources(scenario, world, self._questions)
        self._least_call_pico_usd = min(question.least_call_pico_usd() for question in self._questions.values())

    @property
    def pico_usd(self) -> float:
        return min(self.least(choice, freedom) for choice in self._sources.choices() for freedom in FREEDOMS)

    def least(self, choice: frozenset[Source], freedom: Freedom) -> float:
        """With these sources and so much freedom."""
        legs = legs_of(choice, self._visible)
        reading = self._reading(choice, len(legs))
        apart = self._apart_pico_usd(reading.unread, choice, freedom)
        if apart == inf:
            return inf
        costs = [self._leg_pico_usd(leg, freedom, 0, reading, apart) for leg in legs]
        least = sum(costs)
        if freedom.extra_steps and least < inf:
            longer = [self._leg_pico_usd(leg, freedom, freedom.extra_steps, reading, apart) for leg in legs]
            least += min(more - less for more, less in zip(longer, costs, strict=True))
        return least + self._least_call_pico_usd if freedom.asks else least

    def _reading(self, choice: frozenset[Source], phases: int) -> _Reading:
        """A wrong answer may cite anything, and so take a duty over.

        What is loaded at the last step of a phase is never shown again: in several phases, what no single call must
        read may cost nothing.
        """
        right = [source.subtask_id for source in choice if source.origin is Origin.RIGHT]
        readers = {
            name: tuple(each for each in right if name in self._needs[each]) for name in self._evidence.seen.path
        }
        unread = tuple(name for name, who in readers.items() if not who) if phases == 1 else ()
        if any(source.origin is Origin.WRONG for source in choice):
            return _Reading(dict.fromkeys(right, frozenset[str]()), {}, unread)
        duties = {
            each: frozenset(name for name, who in readers.items() if who == (each,) and self._is_read_here(name, each))
            for each in right
        }
        shared = {name: who for name, who in readers.items() if len(who) > 1} if phases == 1 else {}
        return _Reading(duties, shared, unread)

    def _is_read_here(self, name: str, subtask_id: str) -> bool:
        """Can it be read in the phase of this question alone?"""
        phase = next(phase for phase in self._visible.phases if subtask_id in phase.subtasks)
        return all(segment_id in phase.segments for segment_id in self._evidence.seen.places[name])

    def _apart_pico_usd(self, unread: tuple[str, ...], choice: frozenset[Source], freedom: Freedom) -> float:
        """For evidence that no right answer's call reads: loaded, or read by somebody else.

        An answer that rests on nothing cites one segment, whichever that is.
        """
        evidence = self._evidence
        nothing = sum(
            source.origin is Origin.LUCKY or (source.origin is Origin.RIGHT and not self._needs[source.subtask_id])
            for source in choice
        )
        others = freedom.asks or any(source.origin is Origin.WRONG for source in choice)
        left = [name for name in unread if not (freedom.loads or others or evidence.grounds_small(name))]
        if evidence.fewest_grounding(left) > nothing:
            return inf
        price = self._visible.controller.input_pico_usd
        total = 0.0
        for name in unread:
            loads = freedom.loads or evidence.grounds_small(name)
            asks = others or nothing > 0
            own = evidence.loaded_to_ground_tokens(name) * price if loads else inf
            total += min(own, evidence.least_read_pico_usd[name] if asks else inf)
        return total

    def _leg_pico_usd(self, leg: Leg, freedom: Freedom, extra_steps: int, reading: _Reading, apart: float) -> float:
        played = self._played_pico_usd(leg, freedom, extra_steps, reading, apart)
        return played if leg.last else min(played, self._sat_out_pico_usd(leg))

    def _played_pico_usd(self, leg: Leg, freedom: Freedom, extra_steps: int, reading: _Reading, apart: float) -> float:
        card, frame = self._visible.controller, self._frame
        fresh, written = card.input_pico_usd, card.output_pico_usd
        cites_free = leg.look_ups > 0 or not freedom.lines_stay
        surfacing = self._surfacing_steps(leg, freedom, reading, cites_free)
        prompts = surfacing + leg.least_steps + extra_steps
        ask = frame.escalate_words if freedom.asks else frame.ask_words
        words = LEAST_ACTION_TOKENS * (prompts - len(leg.asked) - 1) + ask * len(leg.asked)
        words += frame.submit_words if leg.last else LEAST_ACTION_TOKENS
        tails = (prompts - 1) * frame.tail + (frame.first_tail if leg.number == 0 else frame.tail)
        fixed = (tails + leg.restored_tokens) * fresh + words * written + sum(source.pico_usd for source in leg.asked)
        held, once = list(leg.held), apart
        if freedom.extra_steps:
            once += sum(leg.passing) * fresh
        else:
            held += leg.passing
        head, stay = frame.heads[leg.number], freedom.findings_stay
        kept = self._line_prompts(leg, freedom, surfacing, cites_free) * fresh
        terms = Terms(kept, 0 if cites_free else kept, fresh, written)
        total = cold_pico_usd(card, head, prompts, held, stay) + once + self._asked(leg, freedom, reading, terms)
        most_held = self._most_held(prompts, surfacing, extra_steps, leg, freedom)
        warm = warm_pico_usd(card, head, prompts, held, stay, most_held, freedom.notes)
        if warm:
            terms = Terms(fresh, 0 if cites_free else fresh, fresh, written)
            paid = once + self._asked(leg, freedom, reading, terms)
            free = self._asked(leg, freedom, reading, None)
            total = min(total, *(each.pico_usd + max(paid - each.filling_pico_usd, free) for each in warm))
        return fixed + total

    def _surfacing_steps(self, leg: Leg, freedom: Freedom, reading: _Reading, cites_free: bool) -> int:
        """One step surfaces only so many segments; and what nobody is handed is read with its artifact."""
        segments = sum(
            self._questions[source.subtask_id].fewest_segments(freedom, reading.duties[source.subtask_id], cites_free)
            for source in leg.right
        )
        on_evidence = sum(bool(self._needs[source.subtask_id]) for source in leg.right)
        handed = freedom.loads or freedom.asks or len(leg.asked) > on_evidence
        segments += sum(self._evidence.surfaced_share(name, cites_free and handed) for name in reading.unread)
        if len(self._visible.phases) == 1:
            segments = max(segments, self._evidence.grounding_segments(cites_free))
        return ceil(round(segments / self._evidence.most_surfaced, 6))

    def _line_prompts(self, leg: Leg, freedom: Freedom, surfacing: int, cites_free: bool) -> int:
        """In how many prompts stands what surfaced a segment: in those of all who need such lines, and in the last."""
        if not freedom.lines_stay or freedom.notes or surfacing > 1:
            return 1
        return 1 + sum(self._questions[source.subtask_id].needs_lines(cites_free) for source in leg.right)

    def _sat_out_pico_usd(self, leg: Leg) -> float:
        """A phase that ends with its steps instead of a note; what is loaded at its last step is read for nothing."""
        card, phases = self._visible.controller, self._visible.phases
        prompts = phases[leg.number].ends_at_step - (phases[leg.number - 1].ends_at_step if leg.number else 0)
        head = self._frame.heads[leg.number]
        anything = [0.0] + [inf] * prompts
        chains = [cold_pico_usd(card, head, prompts, [], stay=True)]
        chains += [each.pico_usd for each in warm_pico_usd(card, head, prompts, [], True, anything)]
        fixed = prompts * (self._frame.first_tail * card.input_pico_usd + LEAST_ACTION_TOKENS * card.output_pico_usd)
        unbound = {source.subtask_id: frozenset[str]() for source in leg.right}
        asked = self._answers_pico_usd(leg, FREEDOMS[-1], unbound, None)
        return min(chains) + fixed + asked + sum(source.pico_usd for source in leg.asked)

    def _most_held(self, prompts: int, surfacing: int, extra_steps: int, leg: Leg, freedom: Freedom) -> list[float]:
        """What memory can hold at the most after none, one, two steps; a note may hold all of it once more."""
        growth = self._growth
        grown = [growth.surfacing] * (surfacing + extra_steps) + [growth.noted] * leg.restores
        grown += [growth.looking_up] * (leg.look_ups + leg.handed_over) + [growth.finding] * prompts
        if freedom.notes:
            grown = grown[min(extra_steps, 2) :]
        most = [0.0, *accumulate(sorted(grown, reverse=True))][:prompts]
        if freedom.notes:
            most[3:] = [max(most[steps], 2 * most[steps - 2]) for steps in range(3, prompts)]
        if freedom.loads:
            most[2:] = [inf] * (prompts - 2)
        return most

    def _asked(self, leg: Leg, freedom: Freedom, reading: _Reading, terms: Terms | None) -> float:
        """What the right answers cost. Each fact that several calls can read is read by one of them, or elsewhere.

        Only the dearest such fact is counted: two of them may come with one segment.
        """
        duties = reading.duties
        least = base = self._answers_pico_usd(leg, freedom, duties, terms)
        for name, readers in reading.shared.items():
            taken = [
                self._answers_pico_usd(leg, freedom, {**duties, each: duties[each] | {name}}, terms) for each in readers
            ]
            least = max(least, min([base + self._elsewhere_pico_usd(name, freedom, terms), *taken]))
        return least

    def _elsewhere_pico_usd(self, name: str, freedom: Freedom, terms: Terms | None) -> float:
        found = inf
        if freedom.loads or self._evidence.grounds_small(name):
            found = self._evidence.loaded_to_ground_tokens(name) * (terms.load if terms is not None else 0)
        return min(found, self._evidence.least_read_pico_usd[name]) if freedom.asks else found

    def _answers_pico_usd(self, leg: Leg, freedom: Freedom, duties: Duties, terms: Terms | None) -> float:
        """Everybody asks whom it is cheapest to ask; who is asked before may have head and evidence in cache."""
        tables = [
            self._questions[source.subtask_id].prices(freedom, duties[source.subtask_id], terms) for source in leg.right
        ]
        cold = [min((price.cold for price in table.values()), default=inf) for table in tables]
        pairs = list(zip(tables, cold, strict=True))
        best = sum(cold)
        able = [
            model_id
            for model_id in self._visible.cards
            if any(model_id in table and table[model_id].hot < least for table, least in pairs)
        ]
        for size in range(1, len(able) + 1):
            for models in combinations(able, size):
                total = float(sum(self._heating_pico_usd(model_id) for model_id in models))
                for table, least in pairs:
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


class _Shared:
    """What all worlds of a scenario have in common."""

    def __init__(self, scenario: Scenario, config: EpisodeConfig) -> None:
        visible = visible_world(scenario, config)
        self.evidence = Evidence(scenario, visible)
        self.frame = Frame(visible)
        self.growth = Growth(scenario, visible)
        self.bargains = {
            truth.subtask_id: Bargains(visible, truth, self.evidence, self.frame) for truth in scenario.hidden.subtasks
        }


@lru_cache(maxsize=16)
def _shared(scenario: Scenario, config: EpisodeConfig) -> _Shared:
    return _Shared(scenario, config)
