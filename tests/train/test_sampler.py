"""What is sampled is what the network says, whatever it is batched with; the grammar keeps it to actions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import torch

from TokenOptEnv import ActionType, LocalEnv, policies
from TokenOptEnv.config import Profile
from TokenOptEnv.text_actions import Numbering, parse, write
from training.decode_step import Slate
from training.grammar import TokenGrammar
from training.learner import Learner
from training.policy_model import Lora, PolicyModel
from training.prefix_tree import Sample
from training.prompt_tokens import Ids
from training.sampler import Said, Sampler, Sampling

CPU = torch.device("cpu")
EASY = "bugfix-easy-shelflife-regional-prices"


@pytest.fixture(scope="module")
def model(tiny: Path) -> PolicyModel:
    return PolicyModel(tiny, Lora(4, 8), None, CPU)


@pytest.fixture(scope="module")
def grammar(model: PolicyModel) -> TokenGrammar:
    return TokenGrammar.of_actions(Profile.V2, model.tokenizer, model.eos_id, model.causal.config.vocab_size)


@pytest.fixture(scope="module")
def prompts() -> list[Ids]:
    draw = np.random.default_rng(0)
    return [draw.integers(3, 1_000, 20 + 13 * size).astype(np.int32) for size in (4, 0, 2, 1, 3)]


def said(model: PolicyModel, prompts: list[Ids], sampling: Sampling, grammar: TokenGrammar | None) -> list[Said]:
    sampler = Sampler(model, sampling, grammar)
    sampler.seed(5)
    heard: dict[int, Said] = {}
    sampler.say(prompts, lambda places, each: heard.update(zip(places, each, strict=True)))
    return [heard[place] for place in range(len(prompts))]


def test_the_likeliest_tokens_are_those_of_plain_generation(model: PolicyModel, prompts: list[Ids]) -> None:
    found = said(model, prompts, Sampling(12, temperature=0.0, most_rows=2), None)
    for prompt, each in zip(prompts, found, strict=True):
        given = torch.from_numpy(prompt.astype(np.int64))[None]
        plain = model.sampled.generate(given, max_new_tokens=12, do_sample=False, pad_token_id=model.pad_id)
        assert plain[0, len(prompt) :].tolist()[: len(each.ids)] == each.ids.tolist()


def test_sampled_log_probabilities_are_those_that_are_learnt_from(
    model: PolicyModel, prompts: list[Ids], grammar: TokenGrammar
) -> None:
    for mask in (None, grammar):
        found = said(model, prompts, Sampling(12, most_rows=3), mask)
        learner = Learner(model, mask, 10_000, 10_000)
        samples = [Sample(prompt, each.ids) for prompt, each in zip(prompts, found, strict=True)]
        measured = np.concatenate(learner.measured(learner.lessons(samples, 1.0, 0.0)))
        np.testing.assert_allclose(np.concatenate([each.logprobs for each in found]), measured, atol=2e-5)


def test_what_is_shown_to_many_is_read_once_and_each_says_its_own(
    model: PolicyModel, prompts: list[Ids], monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[int] = []
    plain = Sampler._read

    def counted(sampler: Sampler, shown: Sequence[Ids], slate: Slate) -> torch.Tensor:
        read.append(len(shown))
        return plain(sampler, shown, slate)

    monkeypatch.setattr(Sampler, "_read", counted)
    many = [prompts[place] for place in (2, 0, 2, 1, 0, 2, 4)]
    likeliest = said(model, many, Sampling(12, temperature=0.0), None)
    assert read == [4]
    alone = [said(model, [prompt], Sampling(12, temperature=0.0), None)[0] for prompt in many]
    assert [each.ids.tolist() for each in likeliest] == [each.ids.tolist() for each in alone]
    drawn = said(model, many, Sampling(12), None)
    assert len({tuple(drawn[place].ids.tolist()) for place in (0, 2, 5)}) == 3
    learner = Learner(model, None, 10_000, 10_000)
    samples = [Sample(prompt, each.ids) for prompt, each in zip(many, drawn, strict=True)]
    measured = np.concatenate(learner.measured(learner.lessons(samples, 1.0, 0.0)))
    np.testing.assert_allclose(np.concatenate([each.logprobs for each in drawn]), measured, atol=2e-5)


def test_each_prompt_may_have_a_temperature_of_its_own(model: PolicyModel, prompts: list[Ids]) -> None:
    likeliest = said(model, prompts, Sampling(12, temperature=0.0), None)
    sampler, heard = Sampler(model, Sampling(12, most_rows=3), None), dict[int, Said]()
    sampler.seed(5)
    sampler.say(prompts, lambda places, each: heard.update(zip(places, each, strict=True)), [0.0, 1.0, 0.0, 2.0, 0.0])
    same = [heard[place].ids.tolist() == likeliest[place].ids.tolist() for place in range(len(prompts))]
    assert same == [True, False, True, False, True]
    at_one, bold = heard[1], heard[3]
    np.testing.assert_allclose(at_one.boldness, np.zeros(len(at_one.ids)), atol=1e-5)
    for place in (0, 2, 4):  # what is certain to be said was bold by all that the network was in doubt
        np.testing.assert_allclose(heard[place].boldness, -heard[place].logprobs, atol=1e-5)
    assert np.abs(bold.boldness).max() > 0.1
    learner = Learner(model, None, 10_000, 10_000)
    samples = [Sample(prompt, heard[place].ids) for place, prompt in enumerate(prompts)]
    measured = np.concatenate(learner.measured(learner.lessons(samples, 1.0, 0.0)))
    found = np.concatenate([heard[place].logprobs for place in range(len(prompts))])
    np.testing.assert_allclose(found, measured, atol=2e-5)


def test_what_is_much_less_likely_than_the_likeliest_is_not_drawn(model: PolicyModel, prompts: list[Ids]) -> None:
    likeliest = said(model, prompts, Sampling(12, temperature=0.0), None)
    narrow = said(model, prompts, Sampling(12, temperature=50.0, least_share=1.0), None)
    wide = said(model, prompts, Sampling(12, temperature=50.0), None)
    assert [each.ids.tolist() for each in narrow] == [each.ids.tolist() for each in likeliest]
    assert [each.ids.tolist() for each in wide] != [each.ids.tolist() for each in likeliest]


def test_the_same_seed_says_the_same(model: PolicyModel, prompts: list[Ids], grammar: TokenGrammar) -> None:
    first, again = (said(model, prompts, Sampling(12), grammar) for _ in range(2))
    assert [each.ids.tolist() for each in first] == [each.ids.tolist() for each in again]


def test_whatever_ends_under_the_grammar_is_an_action(
    model: PolicyModel, prompts: list[Ids], grammar: TokenGrammar
) -> None:
    observation = LocalEnv().reset(scenario_id=EASY)
    found = said(model, prompts * 12, Sampling(40), grammar)
    texts = [model.tokenizer.decode(each.ids.tolist()) for each in found if each.ids[-1] == model.eos_id]
    assert len(texts) > 20
    assert {parse(text, observation).action_type for text in texts}.isdisjoint({ActionType.MALFORMED})


def test_every_action_of_a_heuristic_is_in_the_grammar(model: PolicyModel, grammar: TokenGrammar) -> None:
    for name in ("expert", "rag", "cascade", "cache-first"):
        env, policy = LocalEnv(), policies.make(name, 0)
        observation = env.reset(scenario_id=EASY)
        while not observation.done:
            action = policy.act(observation)
            text = write(action, Numbering.of(observation))
            if parse(text, observation) == action:
                ids = model.tokenizer.encode(text).ids
                assert grammar.states([*ids, model.eos_id]) is not None, text
            observation = env.step(action)


def test_the_grammar_of_v1_has_no_verbs_of_v2(model: PolicyModel) -> None:
    grammar = TokenGrammar.of_actions(Profile.V1, model.tokenizer, model.eos_id, model.causal.config.vocab_size)
    assert grammar.states(model.tokenizer.encode("ask 1 2 3").ids) is not None
    assert grammar.states(model.tokenizer.encode("load 1").ids) is None
