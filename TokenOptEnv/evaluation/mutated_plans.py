"""Does the bound hold? Plans, changed at random: none that still succeeds may cost less.

A mutation drops, doubles, swaps or changes actions: another model, effort, context, number of hits, other words. What
is refused is billed and played on, and the end is mended: every plan submits the right findings it has come to hold. A
success that is cheaper than the plan it came from is mutated next, so the search drifts towards the bound.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from TokenOptEnv.config import SEARCH_MAX_TOP_K, EpisodeConfig
from TokenOptEnv.episode_runtime import advance, start
from TokenOptEnv.episode_state import EpisodeState
from TokenOptEnv.grading import accepts
from TokenOptEnv.models import ActionType, Effort, Finding, TokenOptEnvAction
from TokenOptEnv.plans import bound_nano_usd, clairvoyant_plan, reference_plan
from TokenOptEnv.scenario import Scenario
from TokenOptEnv.simulators import terms
from TokenOptEnv.simulators.compression import methods
from TokenOptEnv.streams import Stream
from TokenOptEnv.world import World, build_world

Actions = tuple[TokenOptEnvAction, ...]

_MOST_CHANGES = 3
_RATIOS = (0.05, 0.1, 0.2, 0.4)


@dataclass(frozen=True, slots=True)
class Mutant:
    """A mutated plan, played."""

    scenario_id: str
    world_index: int
    solved: bool
    nano_usd: int
    bound_nano_usd: int
    actions: Actions

    @property
    def breaks_bound(self) -> bool:
        return self.solved and self.nano_usd < self.bound_nano_usd


def mutants(scenario: Scenario, index: int, count: int, config: EpisodeConfig | None = None) -> Iterator[Mutant]:
    """So many mutations of the reference and the clairvoyant plan of one world, the same in every process."""
    config = config or EpisodeConfig()
    world = build_world(scenario, index, config)
    bound = bound_nano_usd(scenario, index, config)
    plans = [reference_plan(scenario, index, config), clairvoyant_plan(scenario, index, config)]
    ancestors = [(plan.nano_usd, plan.actions) for plan in plans]
    materials = _Materials(scenario, world)
    for number in range(count):
        stream = Stream("mutation", scenario.scenario_id, index, number)
        cost, actions = ancestors[number % len(ancestors)]
        for _ in range(stream.integer(1, _MOST_CHANGES)):
            actions = materials.changed(actions, stream)
        played, solved, spent = _played(actions, world)
        if solved and spent < cost:
            ancestors[number % len(ancestors)] = (spent, played)
        yield Mutant(scenario.scenario_id, index, solved, spent, bound, played)


class _Materials:
    """What an action can be changed into in this world."""

    def __init__(self, scenario: Scenario, world: World) -> None:
        visible = world.visible
        self._models = visible.model_ids
        self._subtasks = tuple(name for phase in visible.phases for name in phase.subtasks)
        shows = [place for fact in scenario.hidden.facts for place in fact.places]
        self._segments = tuple(dict.fromkeys(place.segment_id for place in shows))
        self._words = tuple(dict.fromkeys(term for place in shows for term in terms.distinct(place.text)))
        self._texts = tuple(dict.fromkeys(place.text for place in shows))
        self._artifacts = tuple(name for phase in visible.phases for name in phase.artifacts)
        self._questions = tuple(entry.question for entry in scenario.public.cache_entries)

    def changed(self, actions: Actions, stream: Stream) -> Actions:
        place = stream.integer(0, len(actions) - 1)
        before, action, after = actions[:place], actions[place], actions[place + 1 :]
        match stream.integer(0, 5):
            case 0:
                return (*before, *after) or actions
            case 1:
                return (*before, action, action, *after)
            case 2:
                other = stream.integer(0, len(actions) - 1)
                swapped = list(actions)
                swapped[place], swapped[other] = swapped[other], swapped[place]
                return tuple(swapped)
            case 3:
                return (*before, self._new(stream), action, *after)
            case _:
                return (*before, self._altered(action, stream), *after)

    def _new(self, stream: Stream) -> TokenOptEnvAction:
        kind = stream.choice(
            (
                ActionType.READ_ARTIFACT,
                ActionType.SEARCH_ARTIFACTS,
                ActionType.QUERY_CACHE,
                ActionType.HYDRATE_SEGMENTS,
                ActionType.ROUTE_SUBTASK,
                ActionType.WRITE_CHECKPOINT,
                ActionType.RESTORE_CHECKPOINT,
                ActionType.ESCALATE_ROUTE,
            )
        )
        fields: dict[str, object] = {}
        match kind:
            case ActionType.READ_ARTIFACT:
                fields = {"artifact_id": stream.choice(self._artifacts)}
            case ActionType.SEARCH_ARTIFACTS:
                fields = {"query": self._query(stream), "top_k": stream.integer(1, SEARCH_MAX_TOP_K)}
            case ActionType.QUERY_CACHE:
                fields = {"query": stream.choice(self._questions or self._words)}
            case ActionType.HYDRATE_SEGMENTS:
                fields = {"context_segment_ids": self._some(self._segments, stream)}
            case ActionType.ROUTE_SUBTASK:
                fields = {
                    "subtask_id": stream.choice(self._subtasks),
                    "model_id": stream.choice(self._models),
                    "context_segment_ids": self._some(self._segments, stream),
                    "effort": stream.choice(tuple(Effort)).value,
                }
            case ActionType.WRITE_CHECKPOINT:
                fields = {"note": " ".join(self._some(self._texts, stream))}
            case ActionType.RESTORE_CHECKPOINT:
                fields = {"checkpoint_id": "checkpoint-1"}
            case _:
                fields = {"route_id": f"route-{stream.integer(1, 3)}"}
        return TokenOptEnvAction.model_validate({"action_type": kind, **fields})

    def _altered(self, action: TokenOptEnvAction, stream: Stream) -> TokenOptEnvAction:
        """One field, changed; an action without any that can change stays as it is."""
        options: list[dict[str, object]] = []
        if action.model_id is not None:
            options.append({"model_id": stream.choice(self._models)})
            options.append({"effort": stream.choice(tuple(Effort)).value})
        if action.context_segment_ids:
            options.append({"context_segment_ids": self._some(action.context_segment_ids, stream)})
            added = stream.choice((*self._segments, "search-2", "search-3", "compressed-4", "checkpoint-5"))
            options.append({"context_segment_ids": (*action.context_segment_ids, added)})
        if action.top_k is not None:
            options.append({"top_k": stream.integer(1, SEARCH_MAX_TOP_K)})
        if action.query is not None:
            words = action.query.split()
            options.append({"query": " ".join(self._some(words, stream)) or action.query})
            options.append({"query": self._query(stream)})
        if action.method is not None:
            options.append({"method": stream.choice(tuple(methods()))})
            options.append({"target_ratio": stream.choice(_RATIOS)})
        if action.page is not None:
            options.append({"page": stream.integer(1, 3)})
        return action.model_copy(update=stream.choice(options)) if options else action

    def _query(self, stream: Stream) -> str:
        return " ".join(stream.choice(self._words) for _ in range(stream.integer(1, 4)))

    def _some(self, names: tuple[str, ...] | list[str], stream: Stream) -> tuple[str, ...]:
        """Not all, in another order; at least one where there is one."""
        kept = [name for name in stream.shuffled(names) if stream.chance(0.6)]
        return tuple(kept or names[:1])


def _played(actions: Actions, world: World) -> tuple[Actions, bool, int]:
    """The plan as it was played in the end, whether it succeeded, and at what cost."""
    outcome = start(world, "mutant")
    done: list[TokenOptEnvAction] = []
    last_step = world.visible.limits.steps - 1
    for action in actions:
        if (
            action.action_type is ActionType.SUBMIT_ANSWER
            or outcome.state.step >= last_step
            or outcome.state.must_submit
        ):
            continue
        outcome = advance(outcome.state, action, world)
        done.append(action)
    submission = right_submission(outcome.state, world)
    done.append(submission)
    outcome = advance(outcome.state, submission, world)
    solved = outcome.score is not None and outcome.score.success
    return tuple(done), solved, outcome.state.spent.nano_usd


def right_submission(state: EpisodeState, world: World) -> TokenOptEnvAction:
    """Of what is held, one right finding for each field; with the evidence spelt out where they do not cite it."""
    hidden = world.hidden
    chosen: dict[str, Finding] = {}
    answer: dict[str, str] = {}
    for truth in hidden.fields:
        for finding in state.held_findings:
            value = finding.values.get(truth.name)
            if value is not None and accepts(world.scenario, truth.name, value):
                chosen[finding.finding_id] = finding
                answer[truth.name] = value
                break
    told = {name: value for finding in chosen.values() for name, value in finding.values.items()}
    facts = {fact.fact_id: fact for fact in hidden.facts}
    cited = {cite for finding in chosen.values() for cite in finding.cites}
    read = state.read_ids | {cite for finding in chosen.values() if finding.source == "route" for cite in finding.cites}
    named: dict[str, None] = {}
    for truth in hidden.fields:
        for name in truth.path:
            places = [place.segment_id for place in facts[name].places if place.segment_id in read]
            named.update(dict.fromkeys(places[:1]))
    return TokenOptEnvAction(
        action_type=ActionType.SUBMIT_ANSWER,
        finding_ids=tuple(chosen),
        answer={name: value for name, value in answer.items() if told[name] != value} or None,
        evidence_segment_ids=() if cited.issuperset(named) else tuple(named),
    )
