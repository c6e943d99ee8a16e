"""Warm start, second part: imitate a tutor in the states that the student itself gets into.

    python -m training.follow --base runs/base/smollm2-135m --adapter runs/sft/adapter --data runs/data/train \\
        --out runs/follow

Traces show how to go on where a tutor has been. A student strays, and what it does then nobody has shown it: it says
the same again until its steps are gone. So it plays, a tutor says at every step what would have been right there, and
that is learned (`tutor.py`). As in the warm start the loss falls on action tokens alone, every one counting the same.

What a student does changes with every iteration, and so do the states that it is taught in: alone they would teach it
to leave one rut for another. Traces are learned again beside them, and where it repeats itself it is told once.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from statistics import fmean
from time import perf_counter

import numpy as np
from torch import Tensor

from TokenOptEnv.config import Profile
from TokenOptEnv.errors import BadInput, CamreError
from TokenOptEnv.streams import Stream, word
from training.cases import CaseBox
from training.collect import read_traces
from training.curriculum import Curriculum, draw, hardest
from training.env_pool import open_pool
from training.evaluate import evaluate
from training.learner import Learner, Lesson, Scores
from training.options import add_common, grammar_of, model_of, room_of
from training.policy_model import PolicyModel, pick_device
from training.prefix_tree import Sample
from training.results import summarize, told
from training.rollouts import Played, Task, begin, play
from training.run_log import RunLog
from training.sampler import Sampler, Sampling
from training.sft import BLOCK, height, replayed


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Imitate a tutor in the student's own states.")
    add_common(parser)
    parser.add_argument("--iterations", type=int, default=20)
    parser.add_argument("--episodes", type=int, default=256, help="of an iteration, each of a case of its own")
    parser.add_argument("--updates", type=int, default=4, help="gradient steps an iteration")
    parser.add_argument("--rate", type=float, default=1e-4, help="learning rate at its height")
    parser.add_argument("--traces", type=int, default=128, help="of the warm start, learned again an iteration")
    parser.add_argument("--temperature", type=float, default=0.7, help="of the student's play")
    try:
        train(parser.parse_args(arguments))
    except CamreError as fault:
        raise SystemExit(f"follow: {fault}") from None


def train(chosen: argparse.Namespace) -> None:
    if chosen.profile != Profile.V2.value:
        raise BadInput(f"a tutor knows profile v2 alone, not {chosen.profile!r}; leave --profile out")
    began = perf_counter()
    box = CaseBox(chosen.data.with_suffix(".zip"))
    pool = open_pool(room_of(chosen, box.file, is_advised=True), chosen.processes, block=BLOCK)
    check_pool = open_pool(room_of(chosen, chosen.validation), chosen.processes, block=1) if chosen.validation else None
    device = pick_device(chosen.device)
    model = model_of(chosen, device)
    grammar = grammar_of(chosen, model)
    learner = Learner(model, grammar, chosen.tree_tokens, chosen.batch_tokens)
    sampler = Sampler(model, Sampling(chosen.action_tokens, chosen.temperature), grammar)
    log = RunLog(chosen.out)
    first = 0
    if (state := log.resume(device)) is not None:
        learner.restore(state)
        first = state["iteration"] + 1

    shown = replayed(read_traces(chosen.data.with_suffix(".jsonl")), pool, model) if chosen.traces else []
    tasks = drawn(first, box, chosen)
    begin(tasks, pool)
    for iteration in range(first, chosen.iterations):
        sampler.seed(word("follow sampling", chosen.seed, iteration))
        played, pace = play(tasks, pool, sampler, model.tokenizer)
        again = Stream("follow traces", chosen.seed, iteration).shuffled(shown)[: chosen.traces]
        taught = [*(advised(each, model) for each in played), *again]
        lessons = [lesson for samples in taught for lesson in learner.lessons(samples, 1.0, 0.0)]
        tasks = drawn(iteration + 1, box, chosen)
        begin(tasks, pool)  # the next cases are opened while the network learns from these

        started = perf_counter()
        losses = learn(learner, lessons, iteration, chosen)
        model.refresh_sampled()
        learn_s = perf_counter() - started
        metrics = {**summarize([each.ended for each in played]), "loss": fmean(losses), "agreed": agreed(played, model)}
        last = iteration + 1 == chosen.iterations
        is_late = chosen.minutes is not None and perf_counter() - began > 60 * chosen.minutes
        log.metrics(iteration, metrics)
        log.timings(iteration, {"play_s": pace.seconds, "learn_s": learn_s})
        sys.stdout.write(
            f"iteration {iteration + 1} return {metrics['return']:.3f} success {metrics['success']:.3f}"
            f" refused {metrics['refused_share']:.3f} agreed {metrics['agreed']:.3f} loss {metrics['loss']:.4f}\n"
        )
        sys.stdout.flush()
        if (iteration + 1) % chosen.checkpoint_every == 0 or last or is_late:
            log.checkpoint(iteration, learner.state())
        if is_late:
            break

    model.save(chosen.out / "adapter")
    if check_pool is not None:
        greedy = Sampler(model, Sampling(chosen.action_tokens, temperature=0.0), grammar)
        found = evaluate(CaseBox(chosen.validation), chosen.checks, check_pool, greedy, model)
        log.metrics(chosen.iterations, found)
        sys.stdout.write(f"{told(found)}\n")
    sys.stdout.write(f"written: {chosen.out / 'adapter'}\n")


def drawn(iteration: int, box: CaseBox, chosen: argparse.Namespace) -> list[Task]:
    """Cases as they come, each once: a second episode of one teaches less than the first of another."""
    stream = Stream("follow", chosen.seed, iteration)
    return draw(box.index, Curriculum(hardest(box.index)), chosen.episodes, 1, 0.0, stream)


def advised(played: Played, model: PolicyModel) -> list[Sample]:
    """What was shown, with what should have been said; once where the student says the same again and again."""
    steps = [
        (sample.action_ids.tolist(), advice, Sample(sample.prompt_ids, model.action_ids(advice)))
        for sample, advice in zip(played.samples, played.advice, strict=True)
        if advice is not None
    ]
    return [step[2] for place, step in enumerate(steps) if place == 0 or step[:2] != steps[place - 1][:2]]


def agreed(played: Sequence[Played], model: PolicyModel) -> float:
    """The share of steps at which the student said what the tutor would have."""
    alike = [
        np.array_equal(sample.action_ids, model.action_ids(advice))
        for each in played
        for sample, advice in zip(each.samples, each.advice, strict=True)
        if advice is not None
    ]
    return fmean(alike) if alike else 0.0


def learn(learner: Learner, lessons: list[Lesson], iteration: int, chosen: argparse.Namespace) -> list[float]:
    losses: list[float] = []
    order = Stream("follow order", chosen.seed, iteration).shuffled(range(len(lessons)))
    for update in range(chosen.updates):
        share = [lessons[place] for place in order[update :: chosen.updates]]
        tokens = sum(len(lesson.tree.targets) for lesson in share)
        if not tokens:
            continue

        def loss(scores: Scores, _: Sequence[int], tokens: int = tokens) -> Tensor:
            return -scores.logprobs.sum() / tokens

        rate = chosen.rate * height(iteration * chosen.updates + update, chosen.iterations * chosen.updates)
        losses.append(learner.step(share, loss, rate, 1.0)[0])
    return losses or [0.0]


if __name__ == "__main__":
    main()
