"""One episode of a text policy: prompts out, short actions in. What it shows is exactly what it is billed for."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace

from TokenOptEnv import segment_ranges
from TokenOptEnv.config import EpisodeConfig
from TokenOptEnv.episode_runtime import advance, start
from TokenOptEnv.models import ActionType, TokenOptEnvAction, TokenOptEnvObservation
from TokenOptEnv.policies import Policy
from TokenOptEnv.prompt import render_text
from TokenOptEnv.simulators.routing import SimulatedBackend
from TokenOptEnv.text_actions import Numbering, parse, referred
from TokenOptEnv.text_actions import write as short_form
from TokenOptEnv.world import build_world
from training.cases import CaseBox
from training.guise import Plain
from training.prospects import Expected, Overheard, expected
from training.standing import leaves_choices_out

LONGEST_ACTION_CHARACTERS = 240
_FEWEST_IN_RANGE = 3


@dataclass(frozen=True, slots=True)
class Outcome:
    """How an episode ended: what is learnt from it, and what a red team would look at."""

    scenario_id: str
    seed: int
    family: str
    difficulty: str
    total_return: float
    success: bool
    sce: float
    cost_nano_usd: int
    reference_nano_usd: int
    steps: int
    refused: int
    malformed: int
    submitted: bool
    ungrounded: bool
    """It submitted an answer that nothing it read stands behind."""
    process_reward: float
    guardrail_reward: float
    actions: dict[str, int]
    """By action type."""
    expected: Expected
    """On average over the draws that might have been."""


def said(action: TokenOptEnvAction, observation: TokenOptEnvObservation) -> str | None:
    """The short form of an action, where it means the same and fits what a policy may write in a step."""
    named = referred(action, observation, leaves_choices_out(observation))
    spelt_out = _as_spoken(short_form(named, Numbering.of(observation)), action.action_type)
    text = _as_range(action, observation) or spelt_out
    return text if len(text) <= LONGEST_ACTION_CHARACTERS and parse(text, observation) == action else None


def _as_range(action: TokenOptEnvAction, observation: TokenOptEnvObservation) -> str | None:
    """Where segments are loaded that are only part of what is wanted, or more than a few."""
    if action.action_type is not ActionType.HYDRATE_SEGMENTS:
        return None
    names = action.context_segment_ids
    widest = segment_ranges.widest(observation, names)
    if widest is None or (len(names) < _FEWEST_IN_RANGE and 1 + widest[1] - widest[0] <= len(names)):
        return None
    return f"load {widest[0]}-{widest[1]}"


def _as_spoken(text: str, action_type: ActionType) -> str:
    """As the grammar has it: no blank before a colon, and an item that holds several findings is named once."""
    match action_type:
        case ActionType.WRITE_CHECKPOINT:
            return text.replace(" : ", ": ", 1)
        case ActionType.SUBMIT_ANSWER if " with " not in text and ":" not in text:
            return " ".join(dict.fromkeys(text.split()))
        case _:
            return text


@dataclass(slots=True)
class _Tally:
    refused: int = 0
    malformed: int = 0
    actions: Counter[str] = field(default_factory=Counter)


class Episode:
    """Steps the engine itself, because a box brings its own reference costs; the bytes are `LocalEnv`'s."""

    def __init__(
        self, box: CaseBox, scenario_id: str, seed: int, config: EpisodeConfig, guise: Plain | None = None
    ) -> None:
        is_priced = config.catalog == box.index.catalog
        world = build_world(
            box.load(scenario_id),
            seed,
            config,
            reference=lambda: box.reference(scenario_id, seed) if is_priced else None,
        )
        assert isinstance(world.backend, SimulatedBackend)
        self._heard = Overheard(world.backend)
        self._world = replace(world, backend=self._heard)
        self._now = start(self._world, f"{scenario_id}@{seed}")
        self._guise = guise or Plain()
        self.observation: TokenOptEnvObservation = self._guise.show(self._now.observation)
        self._tally = _Tally()

    @property
    def prompt(self) -> str:
        return render_text(self.observation)

    @property
    def done(self) -> bool:
        return self.observation.done

    @property
    def was_refused(self) -> bool:
        """What was done last."""
        last = self.observation.last_tool_result
        return last is not None and last.refusal is not None

    def say(self, text: str) -> None:
        self.act(parse(text, self.observation))

    def act(self, action: TokenOptEnvAction) -> None:
        self._now = advance(self._now.state, self._guise.mean(action), self._world)
        self.observation = self._guise.show(self._now.observation)
        self._tally.actions[action.action_type.value] += 1
        self._tally.malformed += action.action_type is ActionType.MALFORMED
        self._tally.refused += self.was_refused

    def played_by(self, policy: Policy) -> Outcome:
        """To its end."""
        while not self.done:
            self.act(policy.act(self.observation))
        return self.outcome()

    def outcome(self) -> Outcome:
        last = self.observation
        assert last.score is not None
        terms = {term.term: term.value for term in last.score.terms}
        return Outcome(
            scenario_id=last.task.scenario_id,
            seed=last.seed,
            family=last.task.family,
            difficulty=last.task.difficulty.value,
            total_return=last.score.total_return,
            success=last.score.success,
            sce=last.score.sce,
            cost_nano_usd=last.score.cost_nano_usd,
            reference_nano_usd=last.score.reference_nano_usd,
            steps=last.step,
            refused=self._tally.refused,
            malformed=self._tally.malformed,
            submitted=last.terminated,
            ungrounded=any(event.guardrail_id == "ungrounded_submit" for event in last.guardrail_events),
            process_reward=terms["process_milestones"],
            guardrail_reward=terms["guardrails"],
            actions=dict(sorted(self._tally.actions.items())),
            expected=expected(self._now.state, last.score, self._world, self._heard),
        )
