"""Warm start: imitate what heuristics did where it worked, on the prompts they would have been shown.

    python -m training.sft --base runs/base/smollm2-135m --data runs/data/train --out runs/sft

Without it a small model makes no valid move, every episode of a group ends alike, and reinforcement has nothing to
go on. The loss falls on action tokens alone, and every action counts the same: in `read 7` one token decides the
episode, and beside the forty of a list that is merely copied it would hardly be heard. No grammar helps here: what it
rules out would never be unlearnt, and be said wherever the policy plays without one. Traces are replayed to get their
prompts; one that no longer plays to the return it had is of another version of the engine, and is left out.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from time import perf_counter

from torch import Tensor

from TokenOptEnv.errors import BadInput, CamreError
from TokenOptEnv.streams import Stream
from training.cases import CaseBox
from training.collect import ExampleTrace, read_traces
from training.env_pool import EnvPool, Replay, Replayed, open_pool
from training.evaluate import checks_of, evaluate
from training.learner import Learner, Scores, laid_out
from training.options import add_common, model_of, room_of, sampling_of
from training.policy_model import PolicyModel, pick_device
from training.prefix_tree import Sample
from training.results import told
from training.run_log import RunLog
from training.sampler import Sampler

BLOCK = 4
"""Traces that are replayed in one process after another: those of a case are neighbours, and it is opened once."""


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Warm start on traces of heuristics.")
    add_common(parser)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--batch", type=int, default=32, help="episodes a step")
    parser.add_argument("--rate", type=float, default=4e-4, help="learning rate at its height")
    try:
        train(parser.parse_args(arguments))
    except CamreError as fault:
        raise SystemExit(f"sft: {fault}") from None


def train(chosen: argparse.Namespace) -> None:
    began = perf_counter()
    pool = open_pool(room_of(chosen, chosen.data.with_suffix(".zip")), chosen.processes, block=BLOCK)
    check_pool = checks_of(chosen)
    device = pick_device(chosen.device)
    model = model_of(chosen, device)
    learner = Learner(model, None, chosen.tree_tokens, chosen.batch_tokens)
    log = RunLog(chosen.out)
    first = 0
    if (state := log.resume(device)) is not None:
        learner.restore(state)
        first = state["iteration"] + 1

    traces = read_traces(chosen.data.with_suffix(".jsonl"))
    episodes = replayed(traces, pool, model)
    steps_an_epoch = max(1, len(episodes) // chosen.batch)
    last = chosen.epochs * steps_an_epoch
    sys.stdout.write(f"{len(episodes)} of {len(traces)} traces replay; {last} steps\n")

    for step in range(first, last):
        epoch, place = divmod(step, steps_an_epoch)
        order = Stream("sft", chosen.seed, epoch).shuffled(range(len(episodes)))
        chosen_episodes = [episodes[each] for each in order[place * chosen.batch : (place + 1) * chosen.batch]]
        rate = chosen.rate * height(step, last)
        started = perf_counter()
        learnt = imitate(learner, chosen_episodes, rate)
        log.metrics(step, {"loss": learnt.loss, "entropy": learnt.entropy, "gradient": learnt.gradient, "rate": rate})
        log.timings(step, {"seconds": perf_counter() - started, "tree_tokens": learnt.tree_tokens})
        is_late = chosen.minutes is not None and perf_counter() - began > 60 * chosen.minutes
        if step % 10 == 0 or step + 1 == last or is_late:
            told_so_far = f"loss {learnt.loss:.4f} gradient {learnt.gradient:.2f} rate {rate:.1e}"
            sys.stdout.write(f"step {step + 1}/{last} {told_so_far}\n")
            sys.stdout.flush()
        if (step + 1) % chosen.checkpoint_every == 0 or step + 1 == last or is_late:
            log.checkpoint(step, learner.state())
        if is_late:
            break

    model.refresh_sampled()
    model.save(chosen.out / "adapter")
    if check_pool is not None:
        sampler = Sampler(model, sampling_of(chosen, chosen.check_temperature), None)
        found = evaluate(CaseBox(chosen.validation), chosen.checks, check_pool, sampler, model)
        log.metrics(last, found)
        sys.stdout.write(f"{told(found)}\n")
    sys.stdout.write(f"written: {chosen.out / 'adapter'}\n")


def replayed(traces: tuple[ExampleTrace, ...], pool: EnvPool, model: PolicyModel) -> list[list[Sample]]:
    """The traces as prompts and actions."""
    pool.send(
        Replay(slot, trace.scenario_id, trace.seed, trace.actions, trace.guise) for slot, trace in enumerate(traces)
    )
    episodes: list[list[Sample]] = []
    for reply in pool.receive():
        assert isinstance(reply, Replayed)
        trace = traces[reply.slot]
        if reply.outcome is None or reply.outcome.total_return != trace.total_return:
            continue
        episodes.append(
            [
                Sample(prompt, model.action_ids(text))
                for place, (prompt, text) in enumerate(zip(reply.prompts, trace.actions, strict=True))
                if place not in trace.slips
            ]
        )
    if not episodes:
        raise BadInput(f"none of {len(traces)} traces plays as it did; make them again: python -m training.collect")
    return episodes


@dataclass(frozen=True, slots=True)
class Imitated:
    loss: float
    """By action."""
    entropy: float
    gradient: float
    tree_tokens: int


def imitate(learner: Learner, episodes: Sequence[Sequence[Sample]], rate: float) -> Imitated:
    """One step towards saying what the samples say, every action counting the same."""
    lessons = [
        lesson
        for samples in episodes
        for lesson in learner.lessons(samples, [1.0 / len(sample.action_ids) for sample in samples], 0.0)
    ]
    actions = sum(map(len, episodes))
    entropies: list[Tensor] = []

    def loss(scores: Scores, places: Sequence[int]) -> Tensor:
        entropies.append(scores.entropies.mean())
        weights = laid_out([lessons[place].weights for place in places], scores.logprobs.device)
        return -(weights * scores.logprobs).sum() / actions

    value, gradient = learner.step(lessons, loss, rate, 1.0)
    tree_tokens = sum(len(lesson.tree.tokens) for lesson in lessons)
    return Imitated(value, fmean(map(float, entropies)), gradient, tree_tokens)


def height(step: int, last: int) -> float:
    """A short climb, then half a cosine down to a tenth."""
    climb = max(1, last // 20)
    if step < climb:
        return (step + 1) / climb
    return 0.1 + 0.45 * (1.0 + math.cos(math.pi * (step - climb) / max(1, last - climb)))


if __name__ == "__main__":
    main()
