"""Play a box of cases with a trained policy (greedily, unless told otherwise) or a heuristic; the same table for both.

python -m training.evaluate --base runs/base/smollm2-135m --adapter runs/grpo/adapter --box runs/data/validation.zip
python -m training.evaluate --policy expert --policy cascade --box runs/data/validation.zip
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from functools import partial
from io import StringIO
from multiprocessing import get_context
from pathlib import Path
from typing import TextIO

from TokenOptEnv import policies
from TokenOptEnv.config import DEFAULT_CONTROLLERS, DEFAULT_WORLDS, EpisodeConfig, Profile
from TokenOptEnv.errors import BadInput, CamreError
from TokenOptEnv.policies.recorded_actions import SaidEpisode
from TokenOptEnv.streams import word
from training.cases import CaseBox, opened
from training.env_pool import EnvPool, open_pool
from training.episode import Episode, Outcome
from training.guise import demand_words, worn
from training.options import add_cache, add_device, config_of, formats_of, grammar_of, room_of, sampling_of
from training.policy_model import PolicyModel, pick_device
from training.results import summarize
from training.rollouts import Played, Task, play_in_turn
from training.sampler import Sampler
from training.tutor import TUTOR, teacher


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Play a box of cases and sum up.")
    parser.add_argument("--box", type=Path, required=True)
    parser.add_argument("--base", type=Path, help="the base model's folder")
    parser.add_argument("--adapter", type=Path)
    parser.add_argument("--policy", action="append", default=[], help="a heuristic, or the tutor; repeat for more")
    parser.add_argument("--episodes", type=int, default=10_000, help="at most; each case in each world when fewer")
    parser.add_argument("--profile", default="v2", choices=[each.value for each in Profile])
    parser.add_argument(
        "--catalog",
        default="measured",
        choices=list(DEFAULT_CONTROLLERS),
        help="prices to play under; where the box has others, no cost is compared and --actions alone is of use",
    )
    parser.add_argument("--guise", type=int, default=0, help="play under this guise of each case; 0 is none")
    parser.add_argument("--tokenizer", type=Path, help="whose words a guise takes where heuristics play")
    parser.add_argument("--action-tokens", type=int, default=64, help="the longest action")
    parser.add_argument("--temperature", type=float, default=0.0, help="of the draws; 0 takes the likeliest token")
    add_cache(parser)
    parser.add_argument("--grammar", action="store_true", help="let the policy say nothing but actions")
    parser.add_argument("--processes", type=int, default=2)
    add_device(parser)
    parser.add_argument("--out", type=Path, help="a line for every episode, added to what is there")
    parser.add_argument("--actions", type=Path, help="what the model said, a line an episode, for actions:FILE")
    parser.add_argument("--summary", type=Path, help="a JSON file of means by policy")
    chosen = parser.parse_args(arguments)
    summary: dict[str, dict[str, float]] = {}
    try:
        for name, outcomes in _outcomes(chosen):
            _tell(name, outcomes)
            summary[name] = {key: round(value, 6) for key, value in summarize(outcomes).items()}
            if chosen.out is not None:
                chosen.out.parent.mkdir(parents=True, exist_ok=True)
                with chosen.out.open("a", encoding="utf-8") as lines:
                    lines.writelines(json.dumps({"policy": name, **asdict(each)}) + "\n" for each in outcomes)
    except CamreError as fault:
        raise SystemExit(f"evaluate: {fault}") from None
    if chosen.summary is not None:
        chosen.summary.parent.mkdir(parents=True, exist_ok=True)
        chosen.summary.write_text(json.dumps(summary, indent=1) + "\n", encoding="utf-8")


def tasks_of(box: CaseBox, most: int) -> list[Task]:
    """World by world, so that few episodes still cover many cases."""
    every = [Task(case.scenario_id, seed) for seed in range(DEFAULT_WORLDS) for case in box.index.cases]
    return every[:most]


def evaluate(box: CaseBox, most: int, pool: EnvPool, sampler: Sampler, model: PolicyModel) -> dict[str, float]:
    """The check during training: the same draws at every check, where there are any."""
    sampler.seed(word("check"))
    portions = play_in_turn(tasks_of(box, most), pool, sampler, model.tokenizer)
    return summarize([each.ended for played, _ in portions for each in played], prefix="check_")


def checks_of(chosen: argparse.Namespace) -> EnvPool | None:
    """Where a run checks itself, if it does."""
    if chosen.validation is None:
        return None
    return open_pool(room_of(chosen, chosen.validation, chosen.check_guise), chosen.processes, block=1)


def _outcomes(chosen: argparse.Namespace) -> Iterator[tuple[str, list[Outcome]]]:
    box = CaseBox(chosen.box)
    tasks = tasks_of(box, chosen.episodes)
    config = config_of(chosen)
    if chosen.policy:
        demand_words(chosen.guise, chosen.tokenizer)
    for name in chosen.policy:
        if name != TUTOR:
            policies.info(name)
        play = partial(play_heuristic, name, chosen.box, config, chosen.guise, chosen.tokenizer)
        with get_context("fork").Pool(max(1, chosen.processes)) as workers:
            yield name, workers.map(play, tasks, chunksize=8)
    if chosen.base is None and not chosen.policy:
        raise BadInput("nothing to play; name a heuristic with --policy or a model with --base")
    if chosen.base is not None:
        pool = open_pool(room_of(chosen, chosen.box, chosen.guise), chosen.processes, block=1)
        model = PolicyModel(chosen.base, None, chosen.adapter, pick_device(chosen.device), formats_of(chosen))
        grammar = grammar_of(chosen, model) if chosen.grammar else None
        sampler = Sampler(model, sampling_of(chosen, chosen.temperature), grammar)
        sampler.seed(word("evaluate"))
        outcomes: list[Outcome] = []
        with _opened(chosen.actions) as lines:
            for played, pace in play_in_turn(tasks, pool, sampler, model.tokenizer):
                outcomes += [each.ended for each in played]
                lines.writelines(_said(each, model) for each in played)
                lines.flush()
                speed = f"{pace.steps_per_minute:,.0f} steps a minute, {pace.env_share:.1%} of it the environment's"
                sys.stdout.write(f"{len(outcomes)} of {len(tasks)} episodes, {speed}\n")
                sys.stdout.flush()
        yield str(chosen.adapter or chosen.base), outcomes


def _opened(file: Path | None) -> TextIO:
    if file is None:
        return StringIO()
    file.parent.mkdir(parents=True, exist_ok=True)
    return file.open("w", encoding="utf-8")


def _said(played: Played, model: PolicyModel) -> str:
    texts = model.tokenizer.decode_batch(
        [each.action_ids.tolist() for each in played.samples], skip_special_tokens=True
    )
    said = SaidEpisode(scenario_id=played.task.scenario_id, seed=played.task.seed, actions=tuple(texts))
    return said.model_dump_json() + "\n"


def play_heuristic(
    name: str, file: Path, config: EpisodeConfig, guise: int, tokenizer: Path | None, task: Task
) -> Outcome:
    seen_as = worn(guise, task.scenario_id, task.seed, tokenizer)
    episode = Episode(opened(file), task.scenario_id, task.seed, config, seen_as)
    return episode.played_by(teacher(name, task.seed))


def _tell(name: str, outcomes: list[Outcome]) -> None:
    found = summarize(outcomes)
    keys = ("sce", "success", "return", "expected_sce", "expected_success", "usd", "steps", "refused_share")
    shown = " ".join(f"{key} {found[key]:.4f}" for key in keys)
    sys.stdout.write(f"{name}: {len(outcomes)} episodes, {shown}\n")
    for part in ("difficulty", "family"):
        for value in sorted({getattr(each, part) for each in outcomes}):
            of = summarize([each for each in outcomes if getattr(each, part) == value])
            sys.stdout.write(f"  {value}: success {of['success']:.3f} return {of['return']:.3f} sce {of['sce']:.3f}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
