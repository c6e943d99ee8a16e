"""Make a box of cases and, from what was tried on them, traces for the warm start.

    python -m training.collect --split train --easy 300 --medium 150 --out runs/data/train
    python -m training.collect --split validation --easy 60 --medium 40 --out runs/data/validation --no-traces

Only policies that see observations alone are asked; plans that know the truth would teach what no prompt shows. Under
profile v2 that is a tutor (`tutor.py`); with `--policy`, and under v1, heuristics. Of a case's candidates the one with
the best *mean* return over the worlds is kept, which is choosing a way of working: the best single episode would mostly
be the luckiest. Of its episodes that succeeded the best become traces, `--most-traces` of them; `--least-return` lets
failures in, which teach at least the form where heuristics solve next to nothing.

With `--slips` the kept candidate plays each world once more, with mistakes on the way: some that the rules refuse
(`slips.py`) and some that go through. Where none happened it would be the same trace again, and is left out.

A trace is the short form of its actions and nothing else: the prompts come back when it is played again.

With `--guise` cases are played in other words (`guise.py`), so that a student learns to read them.

Making cases and planning them takes most of the time. `--box` takes those of earlier calls, and makes only traces.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count
from multiprocessing import get_context
from multiprocessing.pool import Pool
from pathlib import Path

from TokenOptEnv import policies, scenario_store
from TokenOptEnv.config import DEFAULT_WORLDS, Difficulty, EpisodeConfig, Profile
from TokenOptEnv.episode_runtime import advance, start
from TokenOptEnv.errors import BadInput, CamreError
from TokenOptEnv.models import TokenOptEnvObservation
from TokenOptEnv.models.base import Frozen
from TokenOptEnv.scenario import Scenario, dump_scenario
from TokenOptEnv.streams import Stream
from TokenOptEnv.text_actions import parse
from TokenOptEnv.version import SCORING_VERSION
from TokenOptEnv.world import ReferenceCosts, build_world
from training import cases
from training.cases import LONG_STEPS, BoxedCase, BoxIndex, CaseBox, Cost
from training.episode import said
from training.guise import demand_words, worn
from training.slips import slip
from training.tutor import TUTOR, teacher


class ExampleTrace(Frozen):
    scenario_id: str
    seed: int
    policy: str
    total_return: float
    actions: tuple[str, ...]
    slips: tuple[int, ...] = ()
    """Which of them are mistakes: played, and not learned."""
    guise: int = 0
    """Which of the case's guises was worn; 0 is none."""


_AGAIN_SHARE = 0.3
"""Of refused slips: said once more, as a policy does that has not noticed."""


@dataclass(frozen=True, slots=True)
class Job:
    scenario_id: str
    config: EpisodeConfig
    candidates: tuple[str, ...]
    least_return: float
    slip_share: float = 0.0
    box: Path | None = None
    """Where the case is, if it was made before."""
    most_traces: int = DEFAULT_WORLDS
    """Of each kind, with slips and without: more of one case teach less than the first of another."""
    guise: int = 0
    """Worn without slips; with slips it is the next."""
    tokenizer: Path | None = None
    """Whose words stand in for a case's own."""


@dataclass(frozen=True, slots=True)
class Collected:
    case: BoxedCase
    data: bytes
    traces: tuple[ExampleTrace, ...]
    candidate: str
    solved: int


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Make a box of cases and traces for the warm start.")
    parser.add_argument("--split", default="train")
    for difficulty in Difficulty:
        parser.add_argument(f"--{difficulty.value}", type=int, default=0, help=f"how many {difficulty.value} cases")
    parser.add_argument("--first", type=int, default=0, help="the place in the split to start at")
    parser.add_argument("--box", type=Path, action="append", help="only its cases, made before; repeat for more")
    parser.add_argument("--profile", default="v2", choices=[each.value for each in Profile])
    parser.add_argument("--policy", action="append", help="learn from this heuristic alone; repeat for more")
    parser.add_argument("--least-return", type=float, default=0.25, help="of a trace; failures have less than that")
    parser.add_argument("--slips", type=float, default=0.0, help="share of steps spoiled in a second play; none if 0")
    parser.add_argument("--most-traces", type=int, default=DEFAULT_WORLDS, help="of a case, and as many with slips")
    parser.add_argument(
        "--guise", type=int, default=0, help="the guise that cases wear, and the next where there are slips"
    )
    parser.add_argument("--tokenizer", type=Path, help="a model's tokenizer.json, whose words a guise takes")
    parser.add_argument("--no-traces", action="store_true", help="only the box, as for validation")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--out", type=Path, required=True, help="OUT.zip and OUT.jsonl are written")
    chosen = parser.parse_args(arguments)
    wanted = {difficulty: getattr(chosen, difficulty.value) for difficulty in Difficulty}
    config = EpisodeConfig(profile=Profile(chosen.profile))
    try:
        demand_words(chosen.guise, chosen.tokenizer)
        candidates = _candidates(chosen.policy, config.profile)
        boxes = [CaseBox(file) for file in chosen.box or ()]
        made: dict[str, Path] = {name: box.file for box in boxes for name in box.cases}
        jobs = [
            Job(
                scenario_id=name,
                config=config,
                candidates=() if chosen.no_traces else candidates,
                least_return=chosen.least_return,
                slip_share=chosen.slips,
                box=made.get(name),
                most_traces=chosen.most_traces,
                guise=chosen.guise,
                tokenizer=chosen.tokenizer,
            )
            for name in made or _places(chosen.split, chosen.first, wanted)
        ]
        with get_context("fork").Pool(chosen.processes) as pool:
            collected = list(_collect(jobs, pool))
    except CamreError as fault:
        raise SystemExit(f"collect: {fault}") from None
    index = BoxIndex(
        scoring_version=SCORING_VERSION,
        split=boxes[0].index.split if boxes else chosen.split,
        profile=chosen.profile,
        cases=tuple(each.case for each in collected),
    )
    cases.write(chosen.out.with_suffix(".zip"), index, ((each.case.scenario_id, each.data) for each in collected))
    sys.stdout.write(f"written: {chosen.out.with_suffix('.zip')}, {len(collected)} cases\n")
    if not chosen.no_traces:
        traces = [trace for each in collected for trace in each.traces]
        write_traces(chosen.out.with_suffix(".jsonl"), traces)
        sys.stdout.write(f"written: {chosen.out.with_suffix('.jsonl')}, {len(traces)} traces\n")


def read_traces(file: Path) -> tuple[ExampleTrace, ...]:
    if not file.is_file():
        raise BadInput(f"there is no file of traces {str(file)!r}; make one: python -m training.collect")
    return tuple(ExampleTrace.model_validate_json(line) for line in file.read_text(encoding="utf-8").splitlines())


def write_traces(file: Path, traces: list[ExampleTrace]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(trace.model_dump_json() + "\n" for trace in traces), encoding="utf-8")


def _candidates(names: list[str] | None, profile: Profile) -> tuple[str, ...]:
    infos = [policies.info(name) for name in names or policies.names()]
    known = [info.name for info in infos if info.knows_truth]
    if known and names:
        raise BadInput(f"policy {known[0]!r} knows the truth and is no teacher; choose another")
    if profile is Profile.V2 and not names:
        return (TUTOR,)
    return tuple(info.name for info in infos if not info.knows_truth)


def _places(split: str, first: int, wanted: dict[Difficulty, int]) -> Iterator[str]:
    """The first cases of each difficulty, in the order of the split."""
    left = dict(wanted)
    for place in range(first, scenario_store.size(split)) if split != "train" else count(first):
        if not any(left.values()):
            return
        scenario_id = scenario_store.at(split, place)
        difficulty = Difficulty(scenario_id.split("-")[1])
        if left[difficulty] > 0:
            left[difficulty] -= 1
            yield scenario_id


def _collect(jobs: list[Job], pool: Pool) -> Iterator[Collected]:
    solved = traces = 0
    for number, each in enumerate(pool.imap(collect_case, jobs, chunksize=1), start=1):
        solved += each.solved > 0
        traces += len(each.traces)
        if number % 10 == 0 or number == len(jobs):
            sys.stdout.write(f"{number}/{len(jobs)} cases, {solved} solved, {traces} traces\n")
            sys.stdout.flush()
        yield each


def collect_case(job: Job) -> Collected:
    scenario, costs = _made_before(job.box, job.scenario_id) if job.box is not None else _made(job)
    best: list[_Played] = []
    winner = ""
    for candidate in job.candidates:
        played = [_play(candidate, job, scenario, seed, costs[seed]) for seed in range(DEFAULT_WORLDS)]
        if not best or _mean_return(played) > _mean_return(best):
            best, winner = played, candidate
    case = BoxedCase(
        scenario_id=scenario.scenario_id,
        family=scenario.public.family,
        difficulty=scenario.public.difficulty,
        costs=costs,
        best_return=round(_mean_return(best), 6) if best else 0.0,
        steps=max((len(each.actions) for each in best), default=0),
    )
    clean = _worth_showing(enumerate(best), job)
    slipped: list[tuple[int, _Played]] = []
    if job.slip_share > 0.0 and best:
        spoiled = replace(job, guise=job.guise + 1 if job.guise else 0)
        again = [_play(winner, spoiled, scenario, seed, costs[seed], job.slip_share) for seed in range(DEFAULT_WORLDS)]
        slipped = _worth_showing(((seed, each) for seed, each in enumerate(again) if each.slips), job)
    traces = tuple(
        ExampleTrace(
            scenario_id=scenario.scenario_id,
            seed=seed,
            policy=winner,
            total_return=each.total_return,
            actions=each.actions,
            slips=each.slips,
            guise=each.guise,
        )
        for seed, each in (*clean, *slipped)
    )
    return Collected(case, dump_scenario(scenario), traces, winner, sum(each.success for each in best))


def _made(job: Job) -> tuple[Scenario, tuple[Cost | None, ...]]:
    scenario = scenario_store.load(job.scenario_id)
    return scenario, cases.plan_costs(scenario, job.config)


def _made_before(file: Path, scenario_id: str) -> tuple[Scenario, tuple[Cost | None, ...]]:
    box = cases.opened(file)
    return box.load(scenario_id), box.cases[scenario_id].costs


def _worth_showing(played: Iterable[tuple[int, _Played]], job: Job) -> list[tuple[int, _Played]]:
    """The best by return, and twice as many of episodes that are long: there is more in them to get wrong."""
    good = [(seed, each) for seed, each in played if each.total_return >= job.least_return and each.actions]
    is_long = bool(good) and len(good[0][1].actions) >= LONG_STEPS
    best = sorted(good, key=lambda each: -each[1].total_return)[: job.most_traces * (2 if is_long else 1)]
    return sorted(best, key=lambda each: each[0])


@dataclass(frozen=True, slots=True)
class _Played:
    success: bool
    total_return: float
    actions: tuple[str, ...]
    """Empty where an action has no short form that means the same."""
    slips: tuple[int, ...] = ()
    guise: int = 0


def _mean_return(played: list[_Played]) -> float:
    return sum(each.total_return for each in played) / len(played)


def _play(
    candidate: str, job: Job, scenario: Scenario, seed: int, cost: Cost | None, slip_share: float = 0.0
) -> _Played:
    reference = None if cost is None else ReferenceCosts(cost.nano_usd, cost.routed_nano_usd)
    world = build_world(scenario, seed, job.config, reference=lambda: reference)
    guise = worn(job.guise, scenario.scenario_id, seed, job.tokenizer, is_imitated=True)
    draw = Stream("slips", scenario.scenario_id, seed)
    is_at_home = candidate == TUTOR
    """A tutor goes on from wherever a slip has led."""
    policy = teacher(candidate, seed)
    now = start(world, f"{scenario.scenario_id}@{seed}")
    observation = guise.show(now.observation)
    texts: list[str] = []
    slips: list[int] = []
    is_sayable = True
    while not observation.done:
        action = policy.act(observation)
        spoiled = slip(action, observation, draw, is_at_home) if draw.chance(slip_share) else None
        while spoiled is not None:
            after = advance(now.state, guise.mean(parse(spoiled, observation)), world)
            is_refused = _is_refused(after.observation)
            if after.observation.done or not (is_at_home or is_refused):
                break
            slips.append(len(texts))
            texts.append(spoiled)
            now, observation = after, guise.show(after.observation)
            action = policy.act(observation) if is_at_home else action
            if not (is_refused and draw.chance(_AGAIN_SHARE)):
                break
        text = said(action, observation)
        is_sayable = is_sayable and text is not None
        texts.append(text or "")
        now = advance(now.state, guise.mean(action), world)
        observation = guise.show(now.observation)
    assert observation.score is not None
    told = tuple(texts) if is_sayable else ()
    return _Played(observation.score.success, observation.score.total_return, told, tuple(slips), job.guise)


def _is_refused(observation: TokenOptEnvObservation) -> bool:
    return observation.last_tool_result is not None and observation.last_tool_result.refusal is not None


if __name__ == "__main__":
    main()
