"""What a student has learnt of its tutor and what it has not, without playing: an episode takes a second or two.

    python -m training.fidelity --base runs/base/smollm2-135m --adapter runs/sft/adapter --box runs/data/validation.zip

The tutor plays, and at each of its steps the student is asked token by token how likely it finds what the tutor says.
By verb, and for questions to models by what is told apart there: `agreement` counts a call as another action as soon as
one number differs, and this says which. A loss averaged over all actions hides it: that half of the models are chosen
wrongly is some hundredths of it.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from TokenOptEnv.config import EpisodeConfig, Profile
from TokenOptEnv.errors import CamreError
from TokenOptEnv.models import Effort
from training.cases import CaseBox
from training.episode import Episode, said
from training.guise import worn
from training.learner import Learner
from training.options import add_device, formats_of, room_of
from training.policy_model import PolicyModel, pick_device
from training.prefix_tree import Sample
from training.prompt_tokens import PromptTokens
from training.tutor import Tutor

_TREE_TOKENS = 8_192
_ACTION_TOKENS = 64
"""The longest action: prompts leave room for it."""
_CALL = "ask"
_PARTS_OF_A_CALL = {1: "ask: question", 2: "ask: model"}
"""By word; what comes after these are segments, and an effort."""
_EFFORTS = frozenset(each.value for each in Effort)


class Told(NamedTuple):
    """Of some tokens that the tutor says."""

    is_likeliest: bool
    """All of them, each after those before it: who takes the likeliest would say the same."""
    nats: float
    """What saying all of them is short of certain by."""


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="How likely a student finds what its tutor says, by verb.")
    parser.add_argument("--box", type=Path, required=True)
    parser.add_argument("--base", type=Path, required=True, help="the base model's folder")
    parser.add_argument("--adapter", type=Path)
    parser.add_argument("--cases", type=int, default=100, help="of the box, at most, spread over it")
    parser.add_argument("--guise", type=int, default=0, help="the guise that cases wear; 0 is none")
    parser.add_argument("--imitated", action="store_true", help="with such prices of models as traces have")
    parser.set_defaults(profile=Profile.V2.value, action_tokens=_ACTION_TOKENS)  # a tutor plays no other
    add_device(parser)
    try:
        sys.stdout.write(table(compare(parser.parse_args(arguments))) + "\n")
    except CamreError as fault:
        raise SystemExit(f"fidelity: {fault}") from None


def compare(chosen: argparse.Namespace) -> dict[str, list[Told]]:
    box = CaseBox(chosen.box)
    room = room_of(chosen, chosen.box)
    tokens = PromptTokens(room.tokenizer, room.most_prompt_tokens)
    model = PolicyModel(chosen.base, None, chosen.adapter, pick_device(chosen.device), formats_of(chosen))
    learner = Learner(model, None, _TREE_TOKENS, _TREE_TOKENS)
    names = list(box.cases)
    found: defaultdict[str, list[Told]] = defaultdict(list)
    for name in names[:: max(1, len(names) // chosen.cases)][: chosen.cases]:
        seen_as = worn(chosen.guise, name, 0, room.tokenizer, chosen.imitated)
        texts, prompts = zip(*advised(Episode(box, name, 0, EpisodeConfig(), seen_as)), strict=True)
        samples = [Sample(tokens.ids(each), model.action_ids(text)) for each, text in zip(prompts, texts, strict=True)]
        for text, (shares, likeliest) in zip(texts, heard(learner, samples), strict=True):
            for part, places in parts(text, model).items():
                found[part].append(Told(bool(likeliest[places].all()), float(-shares[places].sum())))
    return dict(found)


def advised(episode: Episode) -> Iterator[tuple[str, str]]:
    """What the tutor says, and the prompt that it says it to; what has no short form is played and left out."""
    tutor = Tutor()
    while not episode.done:
        action = tutor.act(episode.observation)
        text = said(action, episode.observation)
        if text is not None:
            yield text, episode.prompt
        episode.act(action)


@torch.no_grad()
def heard(learner: Learner, samples: Sequence[Sample]) -> list[tuple[NDArray[np.float32], NDArray[np.bool_]]]:
    """By sample: of each token of its action the log-probability, and whether none is likelier."""
    by_sample: dict[int, tuple[NDArray[np.float32], NDArray[np.bool_]]] = {}
    with learner.model.reading() as read:
        for lesson in learner.lessons(samples, 1.0, 0.0):
            scores = learner.scores([lesson], read)
            owners = np.asarray(lesson.tree.samples)
            for number in set(lesson.tree.samples):
                mine = owners == number
                by_sample[number] = (
                    scores.logprobs.cpu().numpy()[mine],
                    scores.are_likeliest.cpu().numpy()[mine],
                )
    return [by_sample[number] for number in range(len(samples))]


def parts(text: str, model: PolicyModel) -> dict[str, list[int]]:
    """Which tokens of an action are what: all of it by its verb, and of a call the question, the model and so on."""
    verb, *_ = words = text.split()
    encoded = model.tokenizer.encode(text)
    found = {verb: list(range(len(encoded.ids) + 1))}  # its end is said, too
    if verb != _CALL:
        return found
    for place, (start, end) in enumerate(encoded.offsets):
        number = len(text[:end].split()) - 1
        if not text[start:end].strip() or number == 0:
            continue
        part = _PARTS_OF_A_CALL.get(number, "ask: effort" if words[number] in _EFFORTS else "ask: segments")
        found.setdefault(part, []).append(place)
    return found


def table(found: dict[str, list[Told]]) -> str:
    lines = ["| the tutor says | times | the student's likeliest | nats |", "|---|---:|---:|---:|"]
    for name in sorted(found, key=lambda each: (each.split(":")[0], each)):
        told = found[name]
        likeliest = sum(each.is_likeliest for each in told) / len(told)
        nats = sum(each.nats for each in told) / len(told)
        lines.append(f"| {name} | {len(told)} | {likeliest:.2f} | {nats:.3f} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
