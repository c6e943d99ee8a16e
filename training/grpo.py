"""Group-relative policy optimisation on memory-true rollouts.

    python -m training.grpo --base runs/base/smollm2-135m --adapter runs/sft/adapter --data runs/data/train \\
        --validation runs/data/validation.zip --out runs/grpo

An iteration, top to bottom:

    draw      some cases, each in one world, each played by a whole group
    play      all episodes at once, sampled at temperature 1 or --temperature, under the grammar unless told otherwise.
              With --drawn-share most steps take the likeliest token, and so does every step of a group's first episode:
              what one draw led to is then told from what the policy does anyway, and draws may be bolder
    compare   an episode's advantage is its worth less its group's mean; groups that are all worth the same are dropped.
              Worth is the return or, with --sce-share, partly cost efficiency: of a return success is so large a part
              that savings of a tenth are hardly heard beside it. With --worth expected both are averages over the
              draws that might have been (see `prospects`): less luck to learn from. With --refusal-cost each refused
              action costs that much: a policy that says the same again and again fails with its whole group, and alike
    credit    every token of an episode gets its advantage, or with --credit branch the part of it that was decided
              there (see `credit`)
    learn     clipped policy gradient on action tokens; each episode weighs the same, however long it is
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from statistics import fmean
from time import perf_counter

import numpy as np
import torch
from numpy.typing import NDArray

from TokenOptEnv import policies
from TokenOptEnv.config import Difficulty
from TokenOptEnv.errors import BadInput, CamreError
from TokenOptEnv.streams import Stream, word
from training.cases import BoxIndex, CaseBox
from training.credit import owed_by_branch, owed_by_episode, worth, worth_of
from training.curriculum import Curriculum, draw, upto
from training.env_pool import open_pool
from training.episode import Outcome
from training.evaluate import checks_of, evaluate
from training.learner import Learner, Lesson, Scores, laid_out
from training.options import add_common, grammar_of, model_of, room_of, sampling_of
from training.policy_model import pick_device
from training.results import reached, summarize, told
from training.rollouts import Played, Task, begin, begin_beside, beside, play
from training.run_log import RunLog
from training.sampler import Sampler

_CLIMB_UPDATES = 16
"""Over so many the rate grows: the first steps of a fresh optimizer are as long as any, and point anywhere."""
_PROCESSES_A_COMPARER = 8
"""A heuristic plays one episode of a group, and takes less time than the network by far."""
_NO_GAIN = 0.005
"""Of worth: what differs by less is as good."""
_MEASURED_LESSONS = 16
"""On so many the drift from the start is measured where it is not penalised."""


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Reinforce a warm-started policy.")
    add_common(parser)
    parser.add_argument("--iterations", type=int, default=100)
    parser.add_argument("--groups", type=int, default=32, help="cases an iteration")
    parser.add_argument("--group-size", type=int, default=16, help="episodes of each")
    parser.add_argument("--updates", type=int, default=4, help="gradient steps an iteration")
    parser.add_argument("--rate", type=float, default=1e-4)
    parser.add_argument("--end-rate", type=float, help="at the last iteration, in a straight line; else the same")
    parser.add_argument("--clip", type=float, default=0.2)
    parser.add_argument("--kl", type=float, default=0.0, help="weight of the drift from the start")
    parser.add_argument("--enough", type=float, default=0.5, help="success at which harder cases join")
    parser.add_argument(
        "--begin-with",
        choices=[each.value for each in Difficulty],
        help="the hardest cases at first; the easiest there are",
    )
    parser.add_argument(
        "--upto", choices=[each.value for each in Difficulty], help="the hardest cases at last; the hardest there are"
    )
    parser.add_argument("--solvable-share", type=float, default=0.75, help="of cases that a heuristic has solved")
    parser.add_argument("--long-share", type=float, default=1.0, help="of cases that take many steps; they cost most")
    parser.add_argument(
        "--worth",
        choices=("drawn", "expected"),
        default="drawn",
        help="what an episode is worth: what was drawn, or the average over all draws that might have been",
    )
    parser.add_argument("--sce-share", type=float, default=0.0, help="of an episode's worth; the rest is its return")
    parser.add_argument(
        "--least-advantage", type=float, default=0.0, help="what has less is not learned from: it costs as much"
    )
    parser.add_argument("--refusal-cost", type=float, default=0.0, help="taken off what an episode is worth, each time")
    parser.add_argument(
        "--credit",
        choices=("episode", "branch"),
        default="episode",
        help="what a token gets of its episode's advantage: all of it, or what was decided there",
    )
    parser.add_argument(
        "--grammar",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="draw nothing but actions; a policy that hardly says anything else learns more truly without",
    )
    parser.add_argument(
        "--temperature",
        type=float,
        default=1.0,
        help="of the draws; above 1 more is tried where a policy is sure already",
    )
    parser.add_argument(
        "--drawn-share", type=float, default=1.0, help="of steps that are drawn at all; others take the likeliest token"
    )
    parser.add_argument(
        "--least-share",
        type=float,
        default=0.0,
        help="tokens less likely than this share of the likeliest are not drawn",
    )
    parser.add_argument("--guise", type=int, default=0, help="the guise that training cases wear; 0 is none")
    parser.add_argument("--compare-with", default="expert", help="a heuristic that plays the same cases, beside it")
    parser.add_argument("--check-every", type=int, default=10, help="iterations between two checks on validation")
    try:
        train(parser.parse_args(arguments))
    except CamreError as fault:
        raise SystemExit(f"grpo: {fault}") from None


def train(chosen: argparse.Namespace) -> None:
    for name in ("sce_share", "drawn_share", "least_share"):
        if not 0.0 <= getattr(chosen, name) <= 1.0:
            option = f"--{name.replace('_', '-')}"
            raise BadInput(f"{option} is a share of 1, not {getattr(chosen, name):g}; give 0 to 1")
    if chosen.temperature <= 0.0:
        raise BadInput(f"--temperature {chosen.temperature:g} draws the likeliest token, always; give more than 0")
    policies.info(chosen.compare_with)
    began = perf_counter()
    box = CaseBox(chosen.data.with_suffix(".zip"))
    index = box.index if chosen.upto is None else upto(box.index, Difficulty(chosen.upto))
    pool = open_pool(room_of(chosen, box.file, chosen.guise), chosen.processes, block=max(1, chosen.group_size // 4))
    beside_pool = open_pool(room_of(chosen, box.file), -(-chosen.processes // _PROCESSES_A_COMPARER), block=1)
    check_pool = checks_of(chosen)
    device = pick_device(chosen.device)
    model = model_of(chosen, device)
    grammar = grammar_of(chosen, model) if chosen.grammar else None
    learner = Learner(model, grammar, chosen.tree_tokens, chosen.batch_tokens)
    sampler = Sampler(model, sampling_of(chosen, chosen.temperature, chosen.least_share), grammar)
    checker = Sampler(model, sampling_of(chosen, chosen.check_temperature), None)  # as the policy plays elsewhere
    log = RunLog(chosen.out)
    curriculum = Curriculum(Difficulty(chosen.begin_with)) if chosen.begin_with else Curriculum.begin(index)
    first, start_weights, best = 0, learner.weights(), -1.0
    if (state := log.resume(device)) is not None:
        learner.restore(state)
        first, best, start_weights = state["iteration"] + 1, state["best"], state["start_weights"]
        curriculum = Curriculum(Difficulty(state["reached"]), state["solved_share"])

    tasks = drawn(first, index, curriculum, chosen)
    begin(tasks, pool)
    begin_beside(tasks[:: chosen.group_size], beside_pool, chosen.compare_with)
    for iteration in range(first, chosen.iterations):
        sampler.seed(word("grpo sampling", chosen.seed, iteration))
        played, pace = play(tasks, pool, sampler, model.tokenizer, partial(temperature_at, iteration, chosen))
        owed = owed_by_branch(played, chosen) if chosen.credit == "branch" else owed_by_episode(played, chosen)
        lessons = [lesson for each in owed for lesson in learner.lessons(each.samples, each.weights, each.advantages)]

        curriculum = curriculum.after(
            [(each.ended.difficulty, each.ended.success) for each in played], index, chosen.enough
        )
        compared = beside(beside_pool)
        tasks = drawn(iteration + 1, index, curriculum, chosen)
        begin(tasks, pool)  # the next cases are opened while the network learns from these
        begin_beside(tasks[:: chosen.group_size], beside_pool, chosen.compare_with)

        started = perf_counter()
        learnt = learn(learner, lessons, start_weights, iteration, chosen)
        model.refresh_sampled()
        learn_s = perf_counter() - started
        metrics = {
            **summarize([each.ended for each in played]),
            **lengths(played),
            **undrawn(played, chosen),
            **comparison(compared),
            **learnt,
            # each once, however many took it
            "kept_share": sum(len(each.samples) for each in owed) / sum(len(each.samples) for each in played),
            "reached": curriculum.reached.value,
        }
        last = iteration + 1 == chosen.iterations
        is_late = chosen.minutes is not None and perf_counter() - began > 60 * chosen.minutes
        if check_pool is not None and ((iteration + 1) % chosen.check_every == 0 or last or is_late):
            found = evaluate(CaseBox(chosen.validation), chosen.checks, check_pool, checker, model)
            metrics |= found
            checked = worth(found["check_return"], found["check_sce"], chosen)
            if checked > best:
                best = checked
                model.save(chosen.out / "best")
        log.metrics(iteration, metrics)
        total_s = pace.seconds + learn_s
        log.timings(
            iteration,
            {
                "play_s": pace.seconds,
                "learn_s": learn_s,
                "env_share": pace.env_seconds / total_s,
                "env_steps_per_minute": 60 * pace.env_steps / total_s,
                "tree_tokens": sum(len(lesson.tree.tokens) for lesson in lessons),
            },
        )
        tell(iteration, metrics, pace.env_seconds / total_s, 60 * pace.env_steps / total_s)
        if (iteration + 1) % chosen.checkpoint_every == 0 or last or is_late:
            log.checkpoint(
                iteration,
                {
                    **learner.state(),
                    "start_weights": start_weights,
                    "best": best,
                    "reached": curriculum.reached.value,
                    "solved_share": curriculum.solved_share,
                },
            )
        if is_late:
            break

    model.save(chosen.out / "adapter")
    sys.stdout.write(f"written: {chosen.out / 'adapter'}\n")


def drawn(iteration: int, index: BoxIndex, curriculum: Curriculum, chosen: argparse.Namespace) -> list[Task]:
    """What an iteration plays: a function of its number and of what is in play by then."""
    stream = Stream("grpo", chosen.seed, iteration)
    shares = chosen.solvable_share, stream, chosen.long_share
    return draw(index, curriculum, chosen.groups, chosen.group_size, *shares)


def temperature_at(iteration: int, chosen: argparse.Namespace, slot: int, step: int) -> float:
    """Of what an episode says at this step."""
    if chosen.drawn_share >= 1.0:
        return float(chosen.temperature)
    draw = Stream("grpo temperature", chosen.seed, iteration, slot, step)
    is_drawn = slot % chosen.group_size > 0 and draw.chance(chosen.drawn_share)
    return float(chosen.temperature) if is_drawn else 0.0


@dataclass(slots=True)
class _Tally:
    """Sums over action tokens of an iteration's updates."""

    tokens: int = 0
    sums: list[torch.Tensor] = field(default_factory=list)
    """By batch: entropy, how many were clipped, and an estimate of the divergence from the policy that played."""

    def add(self, entropies: torch.Tensor, ratio: torch.Tensor, clip: float) -> None:
        """Asks nothing of the accelerator, which would have to be waited for."""
        self.tokens += len(ratio)
        clipped = ((ratio - 1.0).abs() > clip).float()
        self.sums.append(torch.stack([entropies.sum(), clipped.sum(), (ratio - 1.0 - ratio.log()).sum()]))

    def means(self) -> tuple[float, float, float]:
        entropy, clipped, moved = (torch.stack(self.sums).double().sum(0) / self.tokens).tolist()
        return entropy, clipped, moved


def learn(
    learner: Learner,
    lessons: list[Lesson],
    start_weights: dict[str, torch.Tensor],
    iteration: int,
    chosen: argparse.Namespace,
) -> dict[str, float]:
    """Some updates on what was just played. The old log-probabilities are recomputed by the network that is trained."""
    if not lessons:
        return {}
    old = learner.measured(lessons)
    measured = lessons if chosen.kl > 0.0 else lessons[:_MEASURED_LESSONS]
    with learner.swapped(start_weights):
        start = learner.measured(measured)
    drift = [_divergence(before, now) for before, now in zip(start, old[: len(start)], strict=True)]
    tally = _Tally()
    losses, gradients = [], []
    order = Stream("grpo order", chosen.seed, iteration).shuffled(range(len(lessons)))
    for update in range(chosen.updates):
        places = order[update :: chosen.updates]
        share = [lessons[place] for place in places]

        def loss(scores: Scores, at: Sequence[int], places: list[int] = places) -> torch.Tensor:
            picked = [places[each] for each in at]
            device = scores.logprobs.device
            weights = laid_out([lessons[place].weights for place in picked], device) * chosen.updates
            advantages = laid_out([lessons[place].advantages for place in picked], device)
            ratio = (scores.logprobs - laid_out([old[place] for place in picked], device)).exp()
            tally.add(scores.entropies, ratio.detach(), chosen.clip)
            clipped = ratio.clamp(1.0 - chosen.clip, 1.0 + chosen.clip)
            gain = torch.minimum(ratio * advantages, clipped * advantages)
            if chosen.kl > 0.0:
                gap = laid_out([start[place] for place in picked], device) - scores.logprobs
                gain = gain - chosen.kl * (gap.exp() - 1.0 - gap)
            total: torch.Tensor = -(weights * gain).sum()
            return total

        value, gradient = learner.step(share, loss, rate_at(iteration, update, chosen), 1.0)
        losses.append(value)
        gradients.append(gradient)
    entropy, clipped, moved = tally.means()
    return {
        "loss": fmean(losses),
        "gradient": fmean(gradients),
        "entropy": entropy,
        "clip_fraction": clipped,
        "kl_step": moved,
        "kl_start": fmean(drift),
    }


def rate_at(iteration: int, update: int, chosen: argparse.Namespace) -> float:
    end: float = chosen.rate if chosen.end_rate is None else chosen.end_rate
    level = chosen.rate + (end - chosen.rate) * iteration / max(1, chosen.iterations - 1)
    climbed = min(1.0, (iteration * chosen.updates + update + 1) / _CLIMB_UPDATES)
    return float(level * climbed)


def _divergence(before: NDArray[np.float32], now: NDArray[np.float32]) -> float:
    gap = before - now
    return float((np.exp(gap) - 1.0 - gap).mean())


def lengths(played: list[Played]) -> dict[str, float]:
    samples = [sample for each in played for sample in each.samples]
    return {
        "prompt_tokens": fmean(len(sample.prompt_ids) for sample in samples),
        "action_tokens": fmean(len(sample.action_ids) for sample in samples),
        "sampled_nats": -fmean(float(row.sum()) for each in played for row in each.logprobs),
    }


def undrawn(played: list[Played], chosen: argparse.Namespace) -> dict[str, float]:
    """What was reached without a draw, where the first of each group took none, and what draws changed about that.

    Draws that change nothing teach nothing, and those that mostly do worse teach little: options are chosen by that.
    """
    if chosen.drawn_share >= 1.0 or chosen.group_size < 2:
        return {}
    firsts = [each.ended for each in played[:: chosen.group_size]]
    worths = np.reshape([worth_of(each, chosen) for each in played], (-1, chosen.group_size))
    gains = worths[:, 1:] - worths[:, :1]
    return {
        **reached(firsts, "undrawn_"),
        "undrawn_refused_share": summarize(firsts)["refused_share"],
        "draws_better_share": float((gains > _NO_GAIN).mean()),
        "draws_worse_share": float((gains < -_NO_GAIN).mean()),
        "draws_best_gain": float(gains.max(axis=1).clip(min=0.0).mean()),
    }


def comparison(found: list[Outcome]) -> dict[str, float]:
    """What a heuristic reached on the same cases: returns of an iteration rise and fall with what it drew."""
    return reached(found, "compared_")


def tell(iteration: int, metrics: dict[str, float | str], env_share: float, steps_per_minute: float) -> None:
    line = (
        f"iteration {iteration + 1} return {metrics['return']:.3f} success {metrics['success']:.3f}"
        f" ({metrics['compared_success']:.3f} beside it) sce {metrics['sce']:.3f} ({metrics['compared_sce']:.3f})"
        f" steps {metrics['steps']:.1f} refused {metrics['refused_share']:.3f}"
        f" entropy {metrics.get('entropy', 0.0):.3f} kept {metrics['kept_share']:.2f} {metrics['reached']}"
        f" | {steps_per_minute:,.0f} env steps/min, environment {env_share:.1%} {told(metrics)}"
    )
    sys.stdout.write(f"{line.rstrip()}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
