"""Sampling actions for many prompts at once.

Prompts are sorted by length and padded on the right: a causal prefill then needs no mask at all and runs on the fastest
kernel. Decoding hides the gap between a short prompt and what follows it. Keys and values are written into room that
was set aside, and the query heads that share a key head are read as one, so that nothing is copied per token.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from transformers import AttentionInterface
from transformers.cache_utils import Cache, DynamicLayer
from transformers.integrations.sdpa_attention import sdpa_attention_forward

from TokenOptEnv.errors import BadInput
from training.grammar import TokenGrammar
from training.policy_model import PolicyModel

Ids = NDArray[np.int32]
_ATTENTION = "camre_grouped"
_ALIGNED = 16
_CHECK_EVERY = 8
"""Steps between two looks at whether all rows have ended: a look makes the accelerator wait."""


@dataclass(frozen=True, slots=True)
class Sampling:
    max_new_tokens: int = 64
    temperature: float = 1.0
    """0: the likeliest token, always."""
    most_rows: int = 512
    most_cached_tokens: int = 800_000
    """Of one chunk: rows times their padded length."""


@dataclass(frozen=True, slots=True)
class Said:
    ids: Ids
    """The end token included, where it was said."""
    logprobs: NDArray[np.float32]


class Sampler:
    def __init__(self, model: PolicyModel, sampling: Sampling, grammar: TokenGrammar | None) -> None:
        self._model, self._sampling, self._grammar = model, sampling, grammar
        self._generator = torch.Generator(device=model.device)
        AttentionInterface.register(_ATTENTION, _grouped_attention)
        model.sampled.set_attn_implementation(_ATTENTION)

    def seed(self, word: int) -> None:
        self._generator.manual_seed(word % (1 << 63))

    @torch.inference_mode()
    def say(self, prompts: Sequence[Ids], heard: Callable[[list[int], list[Said]], None]) -> None:
        """`heard` gets the places and actions of a chunk as soon as it is done, so that episodes can step meanwhile."""
        for places in self._chunks([len(prompt) for prompt in prompts]):
            heard(places, self._say_chunk([prompts[place] for place in places]))

    def _chunks(self, lengths: Sequence[int]) -> Iterator[list[int]]:
        """Long prompts first: the last chunk, whose episodes nobody steps meanwhile, is then the quickest."""
        order = sorted(range(len(lengths)), key=lambda place: -lengths[place])
        while order:
            rows = self._sampling.most_cached_tokens // (lengths[order[0]] + self._sampling.max_new_tokens)
            rows = max(1, min(self._sampling.most_rows, rows))
            yield order[:rows]
            order = order[rows:]

    def _say_chunk(self, prompts: Sequence[Ids]) -> list[Said]:
        device, most = self._model.device, self._sampling.max_new_tokens
        lengths = torch.tensor([len(prompt) for prompt in prompts], device=device)
        width = int(lengths.max())
        tokens = np.full((len(prompts), width), self._model.pad_id, dtype=np.int64)
        for row, prompt in enumerate(prompts):
            tokens[row, : len(prompt)] = prompt
        decoder, head = self._model.sampled.model, self._model.sampled.lm_head
        cache = RoomyCache(self._model.sampled.config.num_hidden_layers, width + most)
        hidden = decoder(input_ids=torch.from_numpy(tokens).to(device), past_key_values=cache).last_hidden_state
        logits = head(hidden[torch.arange(len(prompts), device=device), lengths - 1])
        hiding = _hiding(lengths, width + most, hidden.dtype)
        said = torch.full((len(prompts), most), self._model.pad_id, device=device)
        logprobs = torch.zeros((len(prompts), most), device=device)
        live = torch.ones(len(prompts), dtype=torch.bool, device=device)
        states = torch.zeros(len(prompts), dtype=torch.long, device=device)
        count = torch.zeros(len(prompts), dtype=torch.long, device=device)
        for step in range(most):
            chosen, logprob = self._choose(logits, states)
            said[:, step] = torch.where(live, chosen, said[:, step])
            logprobs[:, step] = torch.where(live, logprob, 0.0)
            count += live
            live = live & (chosen != self._model.eos_id)
            if self._grammar is not None:
                states = self._grammar.next_states(states, chosen)
            if step + 1 == most or (step % _CHECK_EVERY == _CHECK_EVERY - 1 and not bool(live.any())):
                break
            hiding[:, width + step] = 0.0
            hidden = decoder(
                input_ids=chosen[:, None],
                position_ids=(lengths + step)[:, None],
                attention_mask=hiding[:, None, None, : width + step + 1],
                past_key_values=cache,
            ).last_hidden_state
            logits = head(hidden[:, -1])
        ids, kept, sizes = said.cpu().numpy(), logprobs.cpu().numpy(), count.tolist()
        if not np.isfinite(kept).all():
            raise BadInput("the sampled network gave no finite numbers; lower the learning rate and resume")
        return [
            Said(ids[row, :size].astype(np.int32), kept[row, :size].astype(np.float32))
            for row, size in enumerate(sizes)
        ]

    def _choose(self, logits: Tensor, states: Tensor) -> tuple[Tensor, Tensor]:
        logits = logits.float()
        if self._grammar is not None:
            logits = self._grammar.masked(logits, states)
        if self._sampling.temperature == 0.0:
            chosen = logits.argmax(-1)
        else:
            logits = logits / self._sampling.temperature
            noise = torch.empty_like(logits).exponential_(generator=self._generator)
            chosen = (torch.softmax(logits, -1) / noise).argmax(-1)
        logprob = logits.gather(-1, chosen[:, None])[:, 0] - logits.logsumexp(-1)
        return chosen, logprob


def _hiding(lengths: Tensor, width: int, dtype: torch.dtype) -> Tensor:
    """Additive, by row and key: what stands after a prompt is hidden until something is said there.

    Padded to whole blocks, so that every slice of it is aligned as attention kernels want it.
    """
    keys = torch.arange(-(-width // _ALIGNED) * _ALIGNED, device=lengths.device)
    hiding = torch.zeros((len(lengths), len(keys)), dtype=dtype, device=lengths.device)
    return hiding.masked_fill_(keys[None] >= lengths[:, None], torch.finfo(dtype).min)


class RoomyCache(Cache):
    """Keys and values of prompts that are read once, with room for what is said after them."""

    def __init__(self, layers: int, tokens: int) -> None:
        super().__init__(layers=[_RoomyLayer(tokens) for _ in range(layers)])


class _RoomyLayer(DynamicLayer):  # type: ignore[no-untyped-call]
    def __init__(self, tokens: int) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._tokens = tokens
        self._used = 0
        self._room: tuple[Tensor, Tensor] | None = None

    def update(self, key_states: Tensor, value_states: Tensor, *args: Any, **kwargs: Any) -> tuple[Tensor, Tensor]:
        if self._room is None:
            self.lazy_initialization(key_states, value_states)
            rows, heads, _, width = key_states.shape
            shape = (rows, heads, self._tokens, width)
            self._room = key_states.new_empty(shape), value_states.new_empty(shape)
        keys, values = self._room
        first, self._used = self._used, self._used + key_states.shape[-2]
        keys[:, :, first : self._used] = key_states
        values[:, :, first : self._used] = value_states
        return keys[:, :, : self._used], values[:, :, : self._used]

    def get_seq_length(self) -> int:
        return self._used


def _grouped_attention(
    module: Any, query: Tensor, key: Tensor, value: Tensor, attention_mask: Tensor | None, **options: Any
) -> tuple[Tensor, None]:
    """One query a row: the heads that share a key head become its queries, so that keys are never repeated."""
    rows, heads, queries, width = query.shape
    if queries != 1:
        return sdpa_attention_forward(module, query, key, value, attention_mask, **options)
    grouped = query.view(rows, key.shape[1], heads // key.shape[1], width)
    found = torch.nn.functional.scaled_dot_product_attention(
        grouped, key, value, attn_mask=attention_mask, scale=options.get("scaling")
    )
    return found.reshape(rows, 1, heads, width), None
