"""A step over fixed memory says what the library says, whatever that memory held and however a chunk is filled up."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import AutoModelForCausalLM, LlamaConfig, Qwen2Config

from TokenOptEnv.config import Profile
from TokenOptEnv.errors import BadInput
from training.decode_step import Room, Slate, StaticLlama
from training.grammar import TokenGrammar
from training.kept_prompts import KeptPrompts
from training.llama import Llama
from training.policy_model import WHOLE, PolicyModel
from training.prompt_tokens import Ids
from training.recording import Recorder
from training.sampler import Blocks, Said, Sampler, Sampling, SharedRoom

CPU = torch.device("cpu")
COARSE = Blocks(4, 64)
GREEDY = Sampling(12, temperature=0.0)


@pytest.fixture
def model(tiny: Path) -> PolicyModel:
    return PolicyModel(tiny, None, None, CPU)


@pytest.fixture
def grammar(model: PolicyModel) -> TokenGrammar:
    return TokenGrammar.of_actions(Profile.V2, model.tokenizer, model.eos_id, model.causal.config.vocab_size)


def prompts_of(*lengths: int) -> list[Ids]:
    draw = np.random.default_rng(0)
    return [draw.integers(3, 1_000, length).astype(np.int32) for length in lengths]


def heard(sampler: Sampler, prompts: list[Ids]) -> list[Said]:
    found: dict[int, Said] = {}
    sampler.say(prompts, lambda places, said: found.update(zip(places, said, strict=True)))
    return [found[place] for place in range(len(prompts))]


def ids(said: list[Said]) -> list[list[int]]:
    return [each.ids.tolist() for each in said]


@torch.inference_mode()
def plain_logprobs(model: PolicyModel, prompt: Ids, said: Ids) -> np.ndarray:
    tokens = torch.from_numpy(np.concatenate([prompt, said]).astype(np.int64))
    scores = model.sampled(tokens[None]).logits[0].float().log_softmax(-1)
    return scores[torch.arange(len(prompt) - 1, len(tokens) - 1), tokens[len(prompt) :]].numpy()


@torch.inference_mode()
def test_a_step_gives_the_logits_of_the_library() -> None:
    torch.manual_seed(1)
    config = LlamaConfig(
        vocab_size=97,
        hidden_size=60,
        head_dim=8,
        intermediate_size=80,
        num_hidden_layers=3,
        num_attention_heads=6,
        num_key_value_heads=2,
        initializer_range=0.3,
        attention_bias=True,
    )
    causal = AutoModelForCausalLM.from_config(config).eval()
    tokens = torch.randint(0, 97, (3, 9))
    room = Room(config, 100, torch.float32, CPU)
    slate = Slate.blank(room, 3, 20, 9)
    slate.begin(torch.zeros(3, dtype=torch.long), 3)
    for keys, values in slate.layers:
        keys.uniform_(), values.uniform_()
    for place in range(tokens.shape[1]):
        slate.chosen.copy_(tokens[:, place])
        stepped = StaticLlama(causal).logits(slate)
        plain = causal(tokens[:, : place + 1]).logits[:, -1]
        assert plain.abs().max() > 1.0
        torch.testing.assert_close(stepped, plain, atol=1e-4, rtol=0.0)


def test_filling_a_chunk_up_changes_nothing_that_is_said(model: PolicyModel, grammar: TokenGrammar) -> None:
    prompts = prompts_of(70, 20, 46, 33, 59)
    for mask in (None, grammar):
        plain = heard(Sampler(model, GREEDY, mask), prompts)
        filled = heard(Sampler(model, GREEDY, mask, COARSE), prompts)
        assert ids(filled) == ids(plain)
        for one, other in zip(filled, plain, strict=True):
            np.testing.assert_allclose(one.logprobs, other.logprobs, atol=1e-4)


@pytest.mark.parametrize("blocks", [None, COARSE])
def test_rows_that_go_on_alone_say_what_they_would_have_said(
    model: PolicyModel, grammar: TokenGrammar, blocks: Blocks | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    gathered: list[int] = []
    go_on_with = Slate.go_on_with

    def counted(slate: Slate, other: Slate, rows: torch.Tensor) -> None:
        gathered.append(len(rows))
        go_on_with(slate, other, rows)

    monkeypatch.setattr(Slate, "go_on_with", counted)
    prompts, greedy = prompts_of(*range(20, 116, 4)), Sampling(40, temperature=0.0)
    alone = [heard(Sampler(model, greedy, grammar), [prompt])[0] for prompt in prompts]
    lengths = [len(each.ids) for each in alone]
    assert min(lengths) < 8 < max(lengths), lengths
    assert gathered == []
    together = heard(Sampler(model, greedy, grammar, blocks), prompts)
    assert gathered and gathered == sorted(gathered, reverse=True)
    assert ids(together) == ids(alone)
    for one, other in zip(together, alone, strict=True):
        np.testing.assert_allclose(one.logprobs, other.logprobs, atol=1e-4)


def test_what_prompts_begin_with_alike_is_read_once(model: PolicyModel, monkeypatch: pytest.MonkeyPatch) -> None:
    """By later prompts of an episode and by others beside it; a prompt that was said whole is read again at its end."""
    read: list[int] = []
    hidden = Llama.hidden

    def counted(llama: Llama, weights: object, tokens: torch.Tensor, *others: object, **named: object) -> torch.Tensor:
        read.append(tokens.shape[1])
        return hidden(llama, weights, tokens, *others, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(Llama, "hidden", counted)
    (text,) = prompts_of(400)
    first = [text[:60], np.concatenate([text[:50], text[:30]])]
    second = [text[:380], np.concatenate([text[:200], text[:9]]), text[:60]]
    alone = [heard(Sampler(model, GREEDY, None, COARSE), [prompt])[0] for prompt in (*first, *second)]
    read.clear()
    sampler = Sampler(model, GREEDY, None)
    together = [*heard(sampler, first), *heard(sampler, second)]
    assert read == [80, 10, 320, 9, 1]
    assert ids(together) == ids(alone)
    for one, other in zip(together, alone, strict=True):
        np.testing.assert_allclose(one.logprobs, other.logprobs, atol=1e-4)


def test_what_was_read_with_other_weights_is_forgotten(model: PolicyModel) -> None:
    prompts = prompts_of(70, 20)
    sampler = Sampler(model, GREEDY, None)
    sampler.seed(0)
    before = ids(heard(sampler, prompts))
    with torch.no_grad():
        for weight in model.sampled.parameters():
            weight.neg_()
    sampler.seed(0)
    after = ids(heard(sampler, prompts))
    assert after != before and after == ids(heard(Sampler(model, GREEDY, None, COARSE), prompts))


def test_of_prompts_that_are_kept_the_oldest_make_room() -> None:
    kept = KeptPrompts(100)
    layers = [(torch.zeros(1, 200, 2), torch.zeros(1, 200, 2))]
    old, new, newest = prompts_of(40, 50, 45)
    for prompt in (old, new):
        kept.keep(prompt, layers)
    assert kept.take_up(np.append(old, 7), layers) == 40
    kept.keep(newest, layers)
    assert kept.take_up(np.append(new, 7), layers) == 0
    assert kept.take_up(np.append(old, 7), layers) == 40
    assert kept.take_up(newest, layers) == 44


def test_log_probabilities_in_a_filled_chunk_are_those_of_a_plain_forward(model: PolicyModel) -> None:
    prompts = prompts_of(70, 20, 46, 33, 59)
    sampler = Sampler(model, Sampling(12), None, COARSE)
    sampler.seed(3)
    for prompt, said in zip(prompts, heard(sampler, prompts), strict=True):
        np.testing.assert_allclose(said.logprobs, plain_logprobs(model, prompt, said.ids), atol=1e-4)


def test_what_an_earlier_chunk_left_is_not_seen(model: PolicyModel) -> None:
    small, large = prompts_of(20, 46), prompts_of(200, 150, 120, 90, 80, 75)
    sampler = Sampler(model, GREEDY, None, COARSE)
    first = heard(sampler, small)
    heard(sampler, large)
    assert ids(heard(sampler, small)) == ids(first)


def test_two_samplers_of_a_network_take_turns_in_one_room(model: PolicyModel) -> None:
    prompts, longer = prompts_of(20, 46), prompts_of(200, 150, 120)
    alone = ids(heard(Sampler(model, GREEDY, None), prompts)), ids(heard(Sampler(model, GREEDY, None), longer))
    greedy, drawing = Sampler(model, GREEDY, None), Sampler(model, Sampling(12), None)
    turns = []
    for given in (prompts, longer, prompts):
        turns.append(ids(heard(greedy, given)))
        heard(drawing, longer)
    assert turns == [alone[0], alone[1], alone[0]]


def test_a_seed_means_the_same_whether_a_shape_was_met_before_or_not(model: PolicyModel, grammar: TokenGrammar) -> None:
    sampler, prompts = Sampler(model, Sampling(12), grammar, COARSE), prompts_of(70, 20, 46)
    sampler.seed(5)
    first = ids(heard(sampler, prompts))
    heard(sampler, prompts_of(200, 150, 120, 90, 80, 75))
    sampler.seed(5)
    assert ids(heard(sampler, prompts)) == first
    sampler.seed(6)
    assert ids(heard(sampler, prompts)) != first


def test_a_sampler_sees_the_weights_change(model: PolicyModel) -> None:
    sampler, prompts = Sampler(model, GREEDY, None, COARSE), prompts_of(70, 20, 46)
    before = ids(heard(sampler, prompts))
    with torch.no_grad():
        for weight in model.causal.parameters():
            weight.add_(0.2 * torch.randn_like(weight))
    model.refresh_sampled()
    after = ids(heard(sampler, prompts))
    assert after != before
    assert after == ids(heard(Sampler(model, GREEDY, None), prompts))


def test_a_network_that_gives_no_numbers_is_told_and_leaves_no_trace(model: PolicyModel) -> None:
    sampler, prompts = Sampler(model, GREEDY, None, COARSE), prompts_of(70, 20, 46)
    before = ids(heard(sampler, prompts))
    broken = model.sampled.model.layers[0].self_attn.v_proj.weight
    whole = broken.clone()
    broken.fill_(float("nan"))
    with pytest.raises(BadInput, match="no finite numbers"):
        heard(sampler, prompts)
    broken.copy_(whole)
    assert ids(heard(sampler, prompts)) == before


def test_chunks_keep_to_their_rows_and_tokens(model: PolicyModel) -> None:
    sampler = Sampler(model, Sampling(12, temperature=0.0, most_rows=6, most_cached_tokens=640), None, COARSE)
    sizes: list[int] = []
    sampler.say(prompts_of(*[100] * 8, *[20] * 9), lambda places, _: sizes.append(len(places)))
    assert sizes == [5, 5, 6, 1]


def test_few_long_prompts_do_not_widen_many_short_ones(model: PolicyModel) -> None:
    sampler = Sampler(model, Sampling(64, most_cached_tokens=10_000_000), None)
    sampler._allowed_tokens = 10_000_000
    assert [len(places) for places, *_ in sampler._chunks([6_000] * 10 + [700] * 300)] == [10, 300]
    assert [len(places) for places, *_ in sampler._chunks([6_000] * 10 + [700] * 30)] == [40]


def test_a_chunk_that_memory_does_not_allow_is_halved_until_it_does(model: PolicyModel) -> None:
    room = SharedRoom(model)
    fitting = (8 << 30) // 2 // Room.bytes_per_token(model.sampled.config, torch.float32)
    assert room.allowed_tokens(fitting) == fitting
    assert room.allowed_tokens(6 * fitting) == 6 * fitting // 8


def test_a_room_goes_with_its_network(tiny: Path) -> None:
    model = PolicyModel(tiny, None, None, CPU)
    sampler = Sampler(model, GREEDY, None)
    heard(sampler, prompts_of(20))
    network = weakref.ref(model.sampled)
    room = weakref.ref(sampler._room)
    assert room() is not None
    del model, sampler
    gc.collect()
    assert (network(), room()) == (None, None)


def test_chunks_of_all_sizes_are_padded_to_few_and_by_little() -> None:
    blocks = Blocks(64, 256)
    rows = {size: blocks.padded_rows(size) for size in range(1, 2_049)}
    assert len(set(rows.values())) == 16
    assert all(size <= padded <= max(64 * -(-size // 64), 1.25 * size) for size, padded in rows.items())
    assert all(blocks.padded_width(size) % 256 == 0 for size in range(1, 8_000))


def test_another_kind_of_network_is_refused_in_one_line() -> None:
    other = AutoModelForCausalLM.from_config(
        Qwen2Config(vocab_size=9, hidden_size=8, num_hidden_layers=1, num_attention_heads=2, num_key_value_heads=1)
    )
    with pytest.raises(BadInput, match=r"'qwen2'.*use a base model of type 'llama'"):
        StaticLlama(other)


@pytest.mark.skipif(torch.cuda.is_available(), reason="recording works here")
def test_a_step_that_cannot_be_recorded_is_played_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    recorder, played = Recorder(torch.device("cuda")), []
    for name in ("one", "two"):
        recorder.recorded(lambda name=name: played.append(name), lambda: None)()
    assert played == ["one", "two"]
    assert capsys.readouterr().out.count("decoding is not recorded") == 1


@pytest.mark.gpu
@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_a_recorded_step_says_what_the_step_says(
    tiny: Path, temperature: float, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    model = PolicyModel(tiny, None, None, torch.device("cuda"), WHOLE)
    grammar = TokenGrammar.of_actions(Profile.V2, model.tokenizer, model.eos_id, model.causal.config.vocab_size)
    prompts, sampling = prompts_of(70, 20, 46, 300), Sampling(24, temperature=temperature)

    def twice() -> list[list[list[int]]]:
        sampler, found = Sampler(model, sampling, grammar), []
        for word in (5, 6):
            sampler.seed(word)
            found.append(ids(heard(sampler, prompts)))
        return found

    recorded = twice()
    monkeypatch.setattr(Recorder, "recorded", lambda _, step, __: step)
    assert recorded == twice()
    assert "not recorded" not in capsys.readouterr().out
