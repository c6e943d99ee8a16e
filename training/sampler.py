"""Sampling actions for many prompts at once.

Prompts are sorted by length and padded on the right: a causal prefill then needs no mask at all and runs on the fastest
kernel. Decoding hides the gap between a short prompt and what follows it. A chunk's rows and width are rounded up to
one of few sizes, so that a step recorded for one chunk serves many.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import log
from typing import Any
from weakref import WeakKeyDictionary, WeakSet

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from TokenOptEnv.errors import BadInput
from training import stretches
from training.decode_step import Room, Slate, StaticLlama
from training.grammar import TokenGrammar
from training.kept_prompts import KeptPrompts, Layers
from training.llama import Llama
from training.policy_model import PolicyModel
from training.prompt_tokens import Ids
from training.recording import Recorder, Step

_CHECK_EVERY = 8
"""Steps between two looks at which rows have ended: a look makes the accelerator wait."""
_PREFILL_TOKENS = 262_144
"""Read at once: enough to keep an accelerator busy, little enough that what it holds meanwhile stays small."""
_STEP_TOKENS = 300_000
"""An accelerator reads so many from its cache in the time that a step takes beside that: the weights, the launches."""
_ROOM_SHARE = 0.5
"""Of the memory that is free before sampling begins."""
_HOST_BYTES = 8 << 30
"""Counted as free where there is no accelerator: larger chunks are no faster there."""
_KEPT_BYTES = 4 << 30
"""Of prompts, where they are kept."""
_MOST_LIVE = 64
_LEAST_NOISE = 1e-30
"""Of exponential draws: nothing is drawn for being drawn at no cost."""
_LEAST_TEMPERATURE = 1e-4
"""Below it the likeliest token is as good as certain."""
_MOST_RECORDINGS = 128


@dataclass(frozen=True, slots=True)
class Sampling:
    max_new_tokens: int = 64
    temperature: float = 1.0
    """0: the likeliest token, always."""
    least_share: float = 0.0
    """What is less likely than this share of the likeliest token is never drawn."""
    most_rows: int = 2_048
    most_cached_tokens: int = 2_500_000
    """Of one chunk: rows times their padded length. Halved until it fits the accelerator."""


@dataclass(frozen=True, slots=True)
class Blocks:
    """A chunk's rows and width are multiples of these; of more than that where it is large, to have few sizes.

    A block of one leaves them as they are.
    """

    rows: int
    width: int

    @classmethod
    def of(cls, device: torch.device) -> Blocks:
        """Where nothing is recorded, filled-up rows would be work for nothing."""
        return cls(64, 256) if device.type == "cuda" else cls(1, 1)

    def padded_rows(self, rows: int) -> int:
        return _rounded_up(rows, self.rows)

    def padded_width(self, width: int) -> int:
        return _rounded_up(width, self.width)


@dataclass(frozen=True, slots=True)
class Said:
    ids: Ids
    """The end token included, where it was said."""
    logprobs: NDArray[np.float32]
    """The network's own, whatever the temperature was."""
    boldness: NDArray[np.float32]
    """By what those that the tokens were drawn with exceed them."""


class SharedRoom:
    """A network's room for keys and values. Its samplers take turns: the one that draws and the one that checks."""

    def __init__(self, model: PolicyModel) -> None:
        self._config, self._device = model.sampled.config, model.device
        self._dtype: torch.dtype = model.sampled.dtype
        self._room: Room | None = None
        self._fits = _free_bytes(model.device) * _ROOM_SHARE / Room.bytes_per_token(self._config, self._dtype)
        self.users: WeakSet[Sampler] = WeakSet()

    def allowed_tokens(self, wanted: int) -> int:
        """By halves, so that a little more or less of free memory does not change what is sampled together."""
        while wanted > max(1.0, self._fits):
            wanted //= 2
        return wanted

    def of(self, tokens: int, most_tokens: int) -> Room:
        """Grown by powers of two; recordings made for a smaller room must go first, because they hold it."""
        if self._room is None or self._room.tokens < tokens:
            for user in self.users:
                user.forget()
            self._room = None
            grown = max(tokens, min(most_tokens, _power_of_two(tokens)))
            self._room = Room(self._config, grown, self._dtype, self._device)
        return self._room

    def clear(self) -> None:
        if self._room is not None:
            self._room.clear()


_ROOMS: WeakKeyDictionary[Any, SharedRoom] = WeakKeyDictionary()


@dataclass(frozen=True, slots=True)
class _Shape:
    slate: Slate
    advance: Step

    @property
    def rows(self) -> int:
        return len(self.slate.live)


class Sampler:
    def __init__(
        self, model: PolicyModel, sampling: Sampling, grammar: TokenGrammar | None, blocks: Blocks | None = None
    ) -> None:
        self._model, self._sampling, self._grammar = model, sampling, grammar
        self._blocks = blocks or Blocks.of(model.device)
        self._generator = torch.Generator(device=model.device)
        self._reader, self._llama = Llama(model.sampled, model.sampled.dtype), StaticLlama(model.sampled)
        self._recorder = Recorder(model.device)
        self._shapes: dict[tuple[int, int], _Shape] = {}
        self._noise: Tensor | None = None
        self._room = _ROOMS.setdefault(model.sampled, SharedRoom(model))
        self._room.users.add(self)
        self._allowed_tokens = self._room.allowed_tokens(sampling.most_cached_tokens)
        self._known: KeptPrompts | None = None
        if model.device.type == "cpu" and blocks is None:
            self._known = KeptPrompts(_KEPT_BYTES // Room.bytes_per_token(model.sampled.config, model.sampled.dtype))

    def seed(self, word: int) -> None:
        """A new round: draws begin anew, and the network may be another."""
        if self._known is not None:
            self._known.clear()
        self._generator.manual_seed(word % (1 << 63))

    @property
    def most_live(self) -> int:
        """Episodes that are best played at a time: where prompts are kept, as many as are still there a step later."""
        return sys.maxsize if self._known is None else _MOST_LIVE

    def forget(self) -> None:
        """What was recorded, and the memory that it holds."""
        self._shapes.clear()
        self._recorder.forget()

    @torch.inference_mode()
    def say(
        self,
        prompts: Sequence[Ids],
        heard: Callable[[list[int], list[Said]], None],
        temperatures: Sequence[float] | None = None,
    ) -> None:
        """`heard` gets places and actions soon after these have ended, so that episodes can step meanwhile.

        `temperatures` are those of each prompt, where they are not the sampler's.
        """
        given = [self._sampling.temperature] * len(prompts) if temperatures is None else temperatures
        for places, width, rows in self._chunks([len(prompt) for prompt in prompts]):
            heat = [given[place] for place in places]
            for ended, said in self._said([prompts[place] for place in places], heat, width, rows):
                heard([places[each] for each in ended], said)

    def _chunks(self, lengths: Sequence[int]) -> Iterator[tuple[list[int], int, int]]:
        """With their padded width and rows.

        Long prompts first: the last chunk, whose episodes nobody steps meanwhile, is then the quickest. Prompts that
        fill less than half the width wait for the next chunk where that is quicker: a step reads rows in their whole
        width.
        """
        order = sorted(range(len(lengths)), key=lambda place: -lengths[place])
        while order:
            width = self._blocks.padded_width(lengths[order[0]] + self._sampling.max_new_tokens)
            most = max(1, min(self._sampling.most_rows, self._allowed_tokens // width))
            rows = min(most, len(order))
            long = sum(2 * (lengths[place] + self._sampling.max_new_tokens) > width for place in order[:rows])
            apart = _step_tokens(long, width) + _step_tokens(rows - long, width // 2)
            rows = long if apart < _step_tokens(rows, width) else rows
            yield order[:rows], width, min(most, self._blocks.padded_rows(rows))
            order = order[rows:]

    def _said(
        self, prompts: Sequence[Ids], temperatures: Sequence[float], width: int, rows: int
    ) -> Iterator[tuple[list[int], list[Said]]]:
        """Which prompts of a chunk are answered, and how, as they come.

        Most rows end long before the last; those that go on are gathered into fewer rows.
        """
        shapes = self._shapes_down_from(rows, width)
        shape = shapes.pop()
        shape.slate.begin(torch.tensor([len(prompt) for prompt in prompts], device=self._model.device), len(prompts))
        shape.slate.temperatures[: len(prompts)] = torch.tensor(temperatures, device=self._model.device)
        logits = self._read_each_once(prompts, shape.slate)
        self._draw(shape.rows)
        self._note(logits, shape.slate)
        del logits
        places, is_open = np.arange(len(prompts)), np.ones(len(prompts), dtype=bool)
        for step in range(1, self._sampling.max_new_tokens):
            if step % _CHECK_EVERY == 0:
                is_live = shape.slate.live[: len(places)].cpu().numpy().copy()
                if (is_open & ~is_live).any():
                    yield self._heard(shape.slate, places, is_open & ~is_live)
                    is_open = is_live
                live = is_live.nonzero()[0]
                if not len(live):
                    return
                if shapes and len(live) <= shapes[-1].rows:
                    while len(shapes) > 1 and len(live) <= shapes[-2].rows:
                        shapes.pop()
                    smaller = shapes.pop()
                    smaller.slate.go_on_with(shape.slate, torch.from_numpy(live).to(self._model.device))
                    shape, places, is_open = smaller, places[live], is_open[live]
            self._draw(shape.rows)
            shape.advance()
        if is_open.any():
            yield self._heard(shape.slate, places, is_open)

    def _heard(self, slate: Slate, places: NDArray[np.int64], asked: NDArray[np.bool_]) -> tuple[list[int], list[Said]]:
        """What a slate's first rows, which are for these places, have said: those that are asked."""
        ids, kept, bold = (each.cpu().numpy() for each in (slate.said, slate.logprobs, slate.boldness))
        sizes = slate.count.tolist()
        if not np.isfinite(kept).all():
            self._room.clear()
            raise BadInput("the sampled network gave no finite numbers; lower the learning rate and resume")
        rows = asked.nonzero()[0].tolist()
        said = [
            Said(
                ids[row, : sizes[row]].astype(np.int32),
                kept[row, : sizes[row]].astype(np.float32),
                bold[row, : sizes[row]].astype(np.float32),
            )
            for row in rows
        ]
        return places[rows].tolist(), said

    def _shapes_down_from(self, rows: int, width: int) -> list[_Shape]:
        """This one, last, and those that rows may be gathered into, each half as large as the next.

        All are there before a chunk is read, because rehearsals scribble over the slate and the room.
        """
        sizes = [rows]
        while (half := self._blocks.padded_rows(-(-sizes[-1] // 2))) < sizes[-1]:
            sizes.append(half)
        return [self._shape(each, width) for each in sizes][::-1]

    def _shape(self, rows: int, width: int) -> _Shape:
        room = self._room.of(rows * width, self._allowed_tokens)
        self._make_noise_room(rows)
        shape = self._shapes.pop((rows, width), None)
        if shape is None:
            if len(self._shapes) == _MOST_RECORDINGS:
                del self._shapes[next(iter(self._shapes))]
            slate = Slate.blank(room, rows, width, self._sampling.max_new_tokens)
            lengths = torch.ones(rows, dtype=torch.long, device=self._model.device)
            advance = self._recorder.recorded(lambda: self._advance(slate), lambda: slate.begin(lengths, rows))
            shape = _Shape(slate, advance)
        self._shapes[rows, width] = shape
        return shape

    def _read_each_once(self, prompts: Sequence[Ids], slate: Slate) -> Tensor:
        """Episodes of a group show the same until they part: what is the same is read once and copied."""
        texts = [prompt.tobytes() for prompt in prompts]
        rows = {text: row for row, text in enumerate(dict.fromkeys(texts))}
        different = dict(zip(texts, prompts, strict=True))
        logits = self._read([different[text] for text in rows], slate)
        if len(rows) < len(prompts):
            read_in = torch.tensor([rows[text] for text in texts], device=self._model.device)
            slate.copy_rows(read_in, len(prompts[0]))
            logits[: len(prompts)] = logits[read_in]
        return logits

    def _read_on(self, prompts: Sequence[Ids], slate: Slate, known: KeptPrompts) -> Tensor:
        """Each from where it parts from what was read before."""
        head, weights = self._model.sampled.lm_head, self._reader.weights()
        logits = torch.zeros((len(slate.live), head.out_features), dtype=self._model.sampled.dtype)
        for row, prompt in enumerate(prompts):
            layers = [(keys[row], values[row]) for keys, values in slate.layers]
            first, size = known.take_up(prompt, layers), len(prompt)

            def keep(
                layer: int, key: Tensor, value: Tensor, layers: Layers = layers, first: int = first, size: int = size
            ) -> tuple[Tensor, Tensor]:
                keys, values = layers[layer]
                keys[:, first:size], values[:, first:size] = key[0], value[0]
                return keys[None, :, :size], values[None, :, :size]

            tokens = torch.from_numpy(prompt[first:].astype(np.int64))[None]
            places = torch.arange(first, size)[None]
            hidden = self._reader.hidden(weights, tokens, places, stretches.going_on(first, size), keep)
            logits[row] = head(hidden[0, -1])
            known.keep(prompt, layers)
        return logits

    def _read(self, prompts: Sequence[Ids], slate: Slate) -> Tensor:
        """The prompts' keys and values go into the room; what the network says after each comes back."""
        if self._known is not None:
            return self._read_on(prompts, slate, self._known)
        device = self._model.device
        head, weights = self._model.sampled.lm_head, self._reader.weights()
        logits = torch.zeros((len(slate.live), head.out_features), dtype=self._model.sampled.dtype, device=device)
        first = 0
        while first < len(prompts):
            part = prompts[first : first + max(1, _PREFILL_TOKENS // len(prompts[first]))]
            last = first + len(part)
            tokens = np.full((len(part), len(part[0])), self._model.pad_id, dtype=np.int64)
            for row, prompt in enumerate(part):
                tokens[row, : len(prompt)] = prompt
            rows = [(keys[first:last], values[first:last]) for keys, values in slate.layers]
            places = torch.arange(tokens.shape[1], device=device)[None]

            def keep(
                layer: int, key: Tensor, value: Tensor, rows: list[tuple[Tensor, Tensor]] = rows
            ) -> tuple[Tensor, Tensor]:
                for kept, states in zip(rows[layer], (key, value), strict=True):
                    kept[:, :, : states.shape[-2]] = states
                return key, value

            hidden = self._reader.hidden(weights, torch.from_numpy(tokens).to(device), places, keep=keep)
            ends = torch.tensor([len(prompt) - 1 for prompt in part], device=device)
            logits[first:last] = head(hidden[torch.arange(len(part), device=device), ends])
            first = last
        return logits

    def _draw(self, rows: int) -> None:
        """Outside of what is recorded, so that a recording draws nothing and a seed means the same with and without."""
        if self._noise is not None:
            self._noise[:rows].exponential_(generator=self._generator)

    def _make_noise_room(self, rows: int) -> None:
        is_small = self._noise is None or len(self._noise) < rows
        if is_small and self._sampling.temperature > 0.0:
            self.forget()
            shape = _power_of_two(rows), self._model.sampled.config.vocab_size
            self._noise = torch.ones(shape, device=self._model.device)

    def _advance(self, slate: Slate) -> None:
        self._note(self._llama.logits(slate), slate)

    def _note(self, logits: Tensor, slate: Slate) -> None:
        """Choose a token for each row and write it down. No host is asked here, and nothing is allocated to stay."""
        chosen, logprob, boldness = self._choose(logits, slate)
        ended = ~slate.live
        slate.said.index_copy_(1, slate.place, chosen.masked_fill(ended, self._model.pad_id)[:, None])
        slate.logprobs.index_copy_(1, slate.place, logprob.masked_fill(ended, 0.0)[:, None])
        slate.boldness.index_copy_(1, slate.place, boldness.masked_fill(ended, 0.0)[:, None])
        slate.count.add_(slate.live)
        slate.live.logical_and_(chosen != self._model.eos_id)
        if self._grammar is not None:
            slate.states.copy_(self._grammar.next_states(slate.states, chosen))
        slate.chosen.copy_(chosen)
        slate.place.add_(1)

    def _choose(self, logits: Tensor, slate: Slate) -> tuple[Tensor, Tensor, Tensor]:
        """With the log-probability that the network itself has, and by what that of the draw exceeds it."""
        logits = logits.float()
        if self._grammar is not None:
            logits = self._grammar.masked(logits, slate.states)
        if self._noise is None:
            chosen = logits.argmax(-1)
            own = _log_share(logits, chosen)
            return chosen, own, -own
        noise = self._noise[: len(logits)].clamp_min(_LEAST_NOISE).log()
        drawable, temperatures = self._drawable(logits), slate.temperatures[:, None]
        chosen = (drawable - temperatures * noise).argmax(-1)
        own = _log_share(logits, chosen)
        return chosen, own, _log_share(drawable / temperatures.clamp_min(_LEAST_TEMPERATURE), chosen) - own

    def _drawable(self, logits: Tensor) -> Tensor:
        if self._sampling.least_share <= 0.0:
            return logits
        least = logits.amax(-1, keepdim=True) + log(self._sampling.least_share)
        return logits.masked_fill(logits < least, float("-inf"))


def _log_share(logits: Tensor, chosen: Tensor) -> Tensor:
    return logits.gather(-1, chosen[:, None])[:, 0] - logits.logsumexp(-1)


def _step_tokens(rows: int, width: int) -> int:
    """What a step of decoding takes, in tokens read."""
    return _STEP_TOKENS + rows * width


def _power_of_two(size: int) -> int:
    """The least that is not below."""
    return 1 << (size - 1).bit_length()


def _rounded_up(size: int, block: int) -> int:
    """To blocks, or to quarters of the power of two below where that is coarser: at most a quarter is for nothing."""
    if block == 1:
        return size
    block = max(block, (1 << (size.bit_length() - 1)) // 4)
    return -(-size // block) * block


def _free_bytes(device: torch.device) -> int:
    """What the allocator holds without using it is free too."""
    if device.type != "cuda":
        return _HOST_BYTES
    held = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
    return int(torch.cuda.mem_get_info(device)[0]) + held
