"""One more token for every row, over tensors that never move.

A library's forward decides anew at each token what to launch, and on a fast accelerator the deciding takes ten times as
long as the work. Here a step reads and writes fixed memory only and asks nothing of the host, so that it can be
recorded once (see `recording`) and played again for each token.

    Room      keys and values, one piece of memory for chunks of every shape
    Slate     what is known of a chunk's rows: a step reads it and writes it on
    StaticLlama   the network's layers, over a slate
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from training.llama import head_width, normed, require_plain, rotated, rotation


class Room:
    """Zeros at first, whatever chunks wrote before ever after: hidden values weigh nothing, but must be finite."""

    def __init__(self, config: Any, tokens: int, dtype: torch.dtype, device: torch.device) -> None:
        self.tokens = tokens
        self._heads, self._head_width = config.num_key_value_heads, head_width(config)
        size = tokens * self._heads * self._head_width
        self._flat = torch.zeros((config.num_hidden_layers, 2, size), dtype=dtype, device=device)

    @staticmethod
    def bytes_per_token(config: Any, dtype: torch.dtype) -> int:
        return int(2 * config.num_hidden_layers * config.num_key_value_heads * head_width(config) * dtype.itemsize)

    def shaped(self, rows: int, width: int) -> list[tuple[Tensor, Tensor]]:
        """By layer, keys and values of (rows, heads, width, head width), from the front of the memory."""
        shape = (rows, self._heads, width, self._head_width)
        size = rows * width * self._heads * self._head_width
        return [(keys[:size].view(shape), values[:size].view(shape)) for keys, values in self._flat]

    def clear(self) -> None:
        self._flat.zero_()


_BY_ROW = (
    *("hiding", "chosen", "positions", "said", "logprobs", "boldness", "count", "live", "states"),
    "temperatures",
)
"""What of a slate goes on with a row."""


@dataclass(frozen=True, slots=True)
class Slate:
    """By row, unless said otherwise. Only ever written in place."""

    layers: list[tuple[Tensor, Tensor]]
    hiding: Tensor
    """By row and key, additive: what stands after a prompt is hidden until something is said there."""
    slot: Tensor
    """One number: where the next token's keys go."""
    place: Tensor
    """One number: how many tokens have been said."""
    chosen: Tensor
    positions: Tensor
    said: Tensor
    logprobs: Tensor
    boldness: Tensor
    """By what the log-probability that a token was drawn with exceeds the network's own."""
    count: Tensor
    live: Tensor
    states: Tensor
    """Of the grammar."""
    temperatures: Tensor
    """Of the draws; 0 takes the likeliest token."""

    @classmethod
    def blank(cls, room: Room, rows: int, width: int, most_new: int) -> Slate:
        layers = room.shaped(rows, width)
        device, dtype = layers[0][0].device, layers[0][0].dtype

        def numbers(*shape: int) -> Tensor:
            return torch.zeros(shape, dtype=torch.long, device=device)

        return cls(
            layers=layers,
            hiding=torch.zeros((rows, width), dtype=dtype, device=device),
            slot=numbers(1),
            place=numbers(1),
            chosen=numbers(rows),
            positions=numbers(rows),
            said=numbers(rows, most_new),
            logprobs=torch.zeros((rows, most_new), device=device),
            boldness=torch.zeros((rows, most_new), device=device),
            count=numbers(rows),
            live=torch.zeros(rows, dtype=torch.bool, device=device),
            states=numbers(rows),
            temperatures=torch.zeros(rows, device=device),
        )

    def begin(self, lengths: Tensor, rows: int) -> None:
        """The first `rows` are prompts of these lengths; the rest only fill the shape and never live."""
        for each in (
            self.place,
            self.chosen,
            self.said,
            self.logprobs,
            self.boldness,
            self.count,
            self.live,
            self.states,
        ):
            each.zero_()
        self.live[:rows] = True
        self.positions.fill_(1)
        self.positions[:rows] = lengths
        self.slot.copy_(lengths.max())
        keys = torch.arange(self.hiding.shape[1], device=lengths.device)
        self.hiding.zero_().masked_fill_(keys[None] >= self.positions[:, None], torch.finfo(self.hiding.dtype).min)

    def copy_rows(self, rows: Tensor, tokens: int) -> None:
        """The first so many rows become copies of these: what is known of their first tokens."""
        for both in self.layers:
            for kept in both:
                kept[: len(rows), :, :tokens] = kept[rows, :, :tokens]

    def go_on_with(self, other: Slate, rows: Tensor) -> None:
        """With these rows of another slate of the same width and room. Rows beyond them only fill the shape."""
        count = len(rows)
        for mine, theirs in zip(self.layers, other.layers, strict=True):
            for kept, states in zip(mine, theirs, strict=True):
                kept[:count] = states[rows]
        for name in _BY_ROW:
            kept, states = getattr(self, name), getattr(other, name)
            kept[:count] = states[rows]
            kept[count:] = 0
        self.positions[count:] = 1
        self.hiding[count:, 1:] = torch.finfo(self.hiding.dtype).min
        self.slot.copy_(other.slot)
        self.place.copy_(other.place)


class StaticLlama:
    """Its weights are read where they lie, so a step that was recorded sees them change."""

    def __init__(self, causal: Any) -> None:
        require_plain(causal.config)
        self._decoder, self._head = causal.model, causal.lm_head
        self._scale = head_width(causal.config) ** -0.5

    def logits(self, slate: Slate) -> Tensor:
        """After the tokens chosen last, whose keys and values are written into the room."""
        hidden = self._decoder.embed_tokens(slate.chosen)
        cos, sin = (each[:, 0] for each in rotation(self._decoder, hidden, slate.positions[:, None]))
        slate.hiding.index_fill_(1, slate.slot, 0.0)
        for layer, (keys, values) in zip(self._decoder.layers, slate.layers, strict=True):
            read = normed(layer.input_layernorm, hidden)
            hidden = hidden + self._attended(layer.self_attn, read, cos, sin, keys, values, slate)
            hidden = hidden + layer.mlp(normed(layer.post_attention_layernorm, hidden))
        slate.slot.add_(1)
        slate.positions.add_(1)
        logits: Tensor = self._head(normed(self._decoder.norm, hidden))
        return logits

    def _attended(
        self, attention: Any, read: Tensor, cos: Tensor, sin: Tensor, keys: Tensor, values: Tensor, slate: Slate
    ) -> Tensor:
        """The heads that share a key head become its queries, so that keys are never repeated.

        As plain products: with so few queries a fused kernel gives too few threads something to do, and takes half as
        long again.
        """
        rows, heads, _, width = keys.shape
        query = rotated(attention.q_proj(read).view(rows, -1, width), cos, sin)
        key = rotated(attention.k_proj(read).view(rows, heads, width), cos, sin)
        keys.index_copy_(2, slate.slot, key[:, :, None])
        values.index_copy_(2, slate.slot, attention.v_proj(read).view(rows, heads, 1, width))
        scores = (query.view(rows, heads, -1, width) * self._scale) @ keys.mT + slate.hiding[:, None, None]
        found = scores.softmax(-1, dtype=torch.float32).to(read.dtype) @ values
        projected: Tensor = attention.o_proj(found.reshape(rows, -1))
        return projected
