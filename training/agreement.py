"""How often a policy did what the tutor would have done in its place, by what that was: where it goes astray.

    python -m training.agreement --box runs/boxes/validation.zip --actions results/actions/validation-trained.jsonl

A tutor goes on from anywhere (`tutor.py`), so it can be asked at every step of anybody's episode. Reinforcement departs
from it for good reasons, such as cheaper models; that a policy searches in other words, or does not search where a
search is due, is none.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from functools import partial
from multiprocessing import get_context
from pathlib import Path

from TokenOptEnv.config import EpisodeConfig
from TokenOptEnv.errors import BadInput, CamreError
from TokenOptEnv.policies.recorded_actions import SaidEpisode
from training.cases import opened
from training.episode import Episode, said
from training.guise import demand_words, worn
from training.tutor import Tutor

_ALL = "all"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Compare what a policy said with what the tutor would have said.")
    parser.add_argument("--box", type=Path, required=True, help="the cases that were played")
    parser.add_argument(
        "--actions", type=Path, required=True, help="what the policy said, as training.evaluate wrote it"
    )
    parser.add_argument("--guise", type=int, default=0, help="the guise that they were played under; 0 is none")
    parser.add_argument("--tokenizer", type=Path, help="a model's tokenizer.json, whose words the guise took")
    parser.add_argument("--processes", type=int, default=2)
    chosen = parser.parse_args(arguments)
    try:
        demand_words(chosen.guise, chosen.tokenizer)
        counts = compare(chosen.box, read(chosen.actions), chosen.processes, chosen.guise, chosen.tokenizer)
        sys.stdout.write(table(counts) + "\n")
    except CamreError as fault:
        raise SystemExit(f"agreement: {fault}") from None


def read(file: Path) -> list[SaidEpisode]:
    if not file.is_file():
        raise BadInput(f"there is no file of actions {str(file)!r}; make one: python -m training.evaluate --actions")
    return [SaidEpisode.model_validate_json(line) for line in file.read_text(encoding="utf-8").splitlines()]


def compare(
    box: Path, episodes: Sequence[SaidEpisode], processes: int, guise: int = 0, tokenizer: Path | None = None
) -> Counter[tuple[str, str]]:
    """By verb of the tutor, and `all`: how many steps, and in how many the verb and the whole action were the same."""
    with get_context("fork").Pool(max(1, processes)) as workers:
        counts = workers.map(partial(_one, box, guise, tokenizer), episodes, chunksize=16)
    return sum(counts, Counter())


def _one(box: Path, guise: int, tokenizer: Path | None, played: SaidEpisode) -> Counter[tuple[str, str]]:
    seen_as = worn(guise, played.scenario_id, played.seed, tokenizer)
    episode = Episode(opened(box), played.scenario_id, played.seed, EpisodeConfig(), seen_as)
    tutor = Tutor()
    counts: Counter[tuple[str, str]] = Counter()
    for text in played.actions:
        advice = said(tutor.act(episode.observation), episode.observation)
        if advice is not None:
            verb = advice.split()[0]
            for name in (verb, _ALL):
                counts[name, "steps"] += 1
                counts[name, "verb"] += text.split()[:1] == [verb]
                counts[name, "same"] += text.strip() == advice
        episode.say(text)
    return counts


def table(counts: Counter[tuple[str, str]]) -> str:
    lines = ["| the tutor would | steps | same verb | same action |", "|---|---:|---:|---:|"]
    for name in sorted({name for name, _ in counts}, key=lambda each: -counts[each, "steps"]):
        steps = counts[name, "steps"]
        lines.append(f"| {name} | {steps} | {counts[name, 'verb'] / steps:.2f} | {counts[name, 'same'] / steps:.2f} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
