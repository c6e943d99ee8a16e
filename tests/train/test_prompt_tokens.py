"""Lines encoded apart are the prompt encoded whole, or it is encoded whole."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from TokenOptEnv.config import EpisodeConfig
from training.cases import CaseBox
from training.episode import Episode
from training.prompt_tokens import PromptTokens
from training.tutor import Tutor

AWKWARD = ("\n", "a\n\nb\n \n c\n\td", " a\nb ", "a \nb", "1\n2\n\n\n3", "it's\n's\nß\n'", "a\r\nb", "")


def prompts_of(box: CaseBox) -> list[str]:
    found: list[str] = []
    for case, world in product(box.index.cases, range(4)):
        episode = Episode(box, case.scenario_id, world, EpisodeConfig())
        tutor = Tutor()
        while not episode.done:
            found.append(episode.prompt)
            episode.act(tutor.act(episode.observation))
    return found


def test_ids_are_those_of_the_whole_prompt(tiny: Path, data: Path) -> None:
    prompts = [*prompts_of(CaseBox(data.with_suffix(".zip"))), *AWKWARD]
    assert len(prompts) > 20
    tokens, plain = PromptTokens(tiny / "tokenizer.json", 100_000), Tokenizer.from_file(str(tiny / "tokenizer.json"))
    assert tokens.by_lines
    for prompt in prompts:
        assert tokens.ids(prompt).tolist() == plain.encode(prompt, add_special_tokens=False).ids


def test_a_tokenizer_that_marks_beginnings_is_not_given_lines(tmp_path: Path) -> None:
    marking = Tokenizer(models.BPE(unk_token="?"))
    marking.pre_tokenizer = pre_tokenizers.Metaspace()
    marking.decoder = decoders.Metaspace()
    marking.train_from_iterator(["one two three\nfour five six\n"] * 9, trainers.BpeTrainer(special_tokens=["?"]))
    marking.save(str(tmp_path / "tokenizer.json"))
    tokens = PromptTokens(tmp_path / "tokenizer.json", 100)
    assert not tokens.by_lines
    assert tokens.ids("one two\nthree").tolist() == marking.encode("one two\nthree").ids


@pytest.mark.parametrize("most", [4, 5])
def test_the_middle_of_what_is_too_long_is_left_out(tiny: Path, most: int) -> None:
    whole = PromptTokens(tiny / "tokenizer.json", 1_000).ids("a 1\nb 2\nc 3\nd 4\n")
    kept = PromptTokens(tiny / "tokenizer.json", most).ids("a 1\nb 2\nc 3\nd 4\n")
    assert len(whole) > most
    np.testing.assert_array_equal(kept, [*whole[: most // 2], *whole[len(whole) - (most - most // 2) :]])
