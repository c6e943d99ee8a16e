"""The second half of a warm start: the student plays, a tutor looks on, and what the tutor would have done is learnt.

    python -m training.dagger --base runs/base/smollm2-135m --adapter runs/sft/adapter --data runs/data/train \\
        --validation runs/data/validation.zip --out runs/dagger

Traces show the states that tutors get into. A student gets into others, by one wrong number, and in those it was never
told anything: it says the same again, or hands in what was never found. So it is asked where it is wrong by itself.
An iteration, top to bottom:

    draw      cases that a tutor has solved, each in one world and none twice before all had their turn
    play      all episodes at once, sampled at temperature 1 without a grammar; at each step a tutor is asked
    learn     the tutor's actions on the student's prompts, with the warm start's loss; the student's own are forgotten

A tutor remembers nothing and advises from an observation alone, whoever played so far (`tutor.py`): that is what makes
this possible. Here it is told nothing besides, unlike those whose traces are collected with notes: where the student
has gone wrong, such a one says what no prompt explains (ask again, it was the wrong segment), and the student learns to
ask again everywhere. Profile v2 only.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from statistics import fmean
from time import perf_counter

from TokenOptEnv.config import DEFAULT_WORLDS, Profile
from TokenOptEnv.errors import BadInput, CamreError
from TokenOptEnv.streams import Stream, word
from training.cases import BoxIndex, CaseBox
from training.curriculum import is_solvable
from training.env_pool import open_pool
from training.evaluate import evaluate
from training.learner import Learner
from training.options import add_common, model_of, room_of, sampling_of
from training.policy_model import PolicyModel, pick_device
from training.prefix_tree import Sample
from training.results import summarize, told
from training.rollouts import Played, Task, begin, play
from training.run_log import RunLog
from training.sampler import Sampler
from training.sft import height, imitate


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Warm start on what a tutor would do where the student gets to.")
    add_common(parser)
    parser.add_argument("--iterations", type=int, default=10)
    parser.add_argument("--episodes", type=int, default=512, help="an iteration, each of another case")
    parser.add_argument("--updates", type=int, default=16, help="gradient steps an iteration")
    parser.add_argument("--rate", type=float, default=4e-4, help="learning rate at its height")
    parser.add_argument("--check-every", type=int, default=5, help="iterations between two checks on validation")
    try:
        train(parser.parse_args(arguments))
    except CamreError as fault:
        raise SystemExit(f"dagger: {fault}") from None


def train(chosen: argparse.Namespace) -> None:
    began = perf_counter()
    box = CaseBox(chosen.data.with_suffix(".zip"))
    if not any(map(is_solvable, box.index.cases)):
        raise BadInput(f"no case of {str(box.file)!r} was solved; make it with traces: python -m training.collect")
    if chosen.profile != Profile.V2.value:
        raise BadInput(f"there is no tutor for profile {chosen.profile!r}; use v2")
    pool = open_pool(room_of(chosen, box.file), chosen.processes, block=1)
    check_pool = open_pool(room_of(chosen, chosen.validation), chosen.processes, block=1) if chosen.validation else None
    device = pick_device(chosen.device)
    model = model_of(chosen, device)
    learner = Learner(model, None, chosen.tree_tokens, chosen.batch_tokens)
    sampler = Sampler(model, sampling_of(chosen, 1.0), None)
    checker = Sampler(model, sampling_of(chosen, chosen.check_temperature), None)
    log = RunLog(chosen.out)
    first = 0
    if (state := log.resume(device)) is not None:
        learner.restore(state)
        first = state["iteration"] + 1

    tasks = drawn(first, box.index, chosen)
    begin(tasks, pool, is_advised=True)
    for iteration in range(first, chosen.iterations):
        sampler.seed(word("dagger sampling", chosen.seed, iteration))
        played, pace = play(tasks, pool, sampler, model.tokenizer)
        episodes = [advised(each, model) for each in played]
        tasks = drawn(iteration + 1, box.index, chosen)
        begin(tasks, pool, is_advised=True)  # the next cases are opened while the network learns from these

        started = perf_counter()
        updates = range(chosen.updates)
        rates = [
            chosen.rate * height(iteration * chosen.updates + update, chosen.iterations * chosen.updates)
            for update in updates
        ]
        learnt = [
            imitate(learner, share, rate)
            for update, rate in zip(updates, rates, strict=True)
            if (share := [samples for samples in episodes[update :: chosen.updates] if samples])
        ]
        model.refresh_sampled()
        learn_s = perf_counter() - started
        metrics = {
            **summarize([each.ended for each in played]),
            "agreed_share": agreed_share(episodes, played),
            "loss": fmean(each.loss for each in learnt),
            "entropy": fmean(each.entropy for each in learnt),
            "gradient": fmean(each.gradient for each in learnt),
            "rate": fmean(rates),
        }
        last = iteration + 1 == chosen.iterations
        is_late = chosen.minutes is not None and perf_counter() - began > 60 * chosen.minutes
        if check_pool is not None and ((iteration + 1) % chosen.check_every == 0 or last or is_late):
            metrics |= evaluate(CaseBox(chosen.validation), chosen.checks, check_pool, checker, model)
        log.metrics(iteration, metrics)
        log.timings(
            iteration,
            {
                "play_s": pace.seconds,
                "learn_s": learn_s,
                "env_share": pace.env_seconds / (pace.seconds + learn_s),
                "tree_tokens": sum(each.tree_tokens for each in learnt),
            },
        )
        tell(iteration, metrics, pace.seconds, learn_s)
        if (iteration + 1) % chosen.checkpoint_every == 0 or last or is_late:
            log.checkpoint(iteration, learner.state())
        if is_late:
            break

    model.save(chosen.out / "adapter")
    sys.stdout.write(f"written: {chosen.out / 'adapter'}\n")


def drawn(iteration: int, index: BoxIndex, chosen: argparse.Namespace) -> list[Task]:
    """What an iteration plays: a function of its number."""
    cases = [case.scenario_id for case in index.cases if is_solvable(case)]
    worlds = Stream("dagger worlds", chosen.seed, iteration)
    places = [divmod(iteration * chosen.episodes + number, len(cases)) for number in range(chosen.episodes)]
    orders = {turn: Stream("dagger", chosen.seed, turn).shuffled(cases) for turn in {turn for turn, _ in places}}
    return [Task(orders[turn][place], worlds.integer(0, DEFAULT_WORLDS - 1)) for turn, place in places]


def advised(played: Played, model: PolicyModel) -> list[Sample]:
    """The prompts that the student was shown, with what the tutor would have said."""
    return [
        Sample(sample.prompt_ids, model.action_ids(advice))
        for sample, advice in zip(played.samples, played.advice, strict=True)
        if advice is not None
    ]


def agreed_share(episodes: Sequence[Sequence[Sample]], played: Sequence[Played]) -> float:
    """Of steps: those at which the student said what the tutor would have said, to the letter."""
    advised_ids = [sample.action_ids.tolist() for samples in episodes for sample in samples]
    said_ids = [
        sample.action_ids.tolist()
        for each in played
        for sample, advice in zip(each.samples, each.advice, strict=True)
        if advice is not None
    ]
    return fmean(ours == theirs for ours, theirs in zip(said_ids, advised_ids, strict=True))


def tell(iteration: int, metrics: dict[str, float], play_s: float, learn_s: float) -> None:
    line = (
        f"iteration {iteration + 1} success {metrics['success']:.3f} sce {metrics['sce']:.3f}"
        f" steps {metrics['steps']:.1f} refused {metrics['refused_share']:.3f}"
        f" malformed {metrics['malformed_share']:.3f} agreed {metrics['agreed_share']:.3f}"
        f" loss {metrics['loss']:.4f} gradient {metrics['gradient']:.2f}"
        f" | play {play_s:.1f} s, learn {learn_s:.1f} s {told(metrics)}"
    )
    sys.stdout.write(f"{line.rstrip()}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
