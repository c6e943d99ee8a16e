"""The policy's network, twice: one to train, and its weights merged into one that is fast to sample from.

Merging a small update into bfloat16 weights would round most of it away, so the sampled copy is kept in a finer
format where there is one that is as fast: float16 on a GPU, float32 elsewhere. What is learnt from is always recomputed
by the network that is trained.
That one does compute with merged bfloat16 weights, no less exactly than with an adapter beside them, since all else is
bfloat16 too; but they are rounded anew at each step from an adapter in full precision, in which updates add up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from peft import LoraConfig, PeftModel, get_peft_model
from tokenizers import Tokenizer
from torch import Tensor, nn
from transformers import AutoModelForCausalLM
from transformers.utils import logging as transformers_logging

from TokenOptEnv.errors import BadInput
from training.base_model import HUB_NAME
from training.llama import Borrowed, LayerWeights, Llama, merged
from training.prefix_tree import TreeBatch
from training.stretches import FlatTrees

Reader = Callable[[TreeBatch | FlatTrees], Tensor]
"""The logits of every action token's predecessor, in full precision; nothing else is projected onto the vocabulary."""


@dataclass(frozen=True, slots=True)
class Lora:
    """Low-rank updates of every linear layer: small enough to carry, large enough to learn a protocol."""

    rank: int = 16
    alpha: int = 32


class Formats(NamedTuple):
    trained: torch.dtype
    sampled: torch.dtype


WHOLE = Formats(torch.float32, torch.float32)
ON_GPU = Formats(torch.bfloat16, torch.float16)
HALVED = Formats(torch.bfloat16, torch.bfloat16)
"""On a processor, if it has instructions for it: a quarter of the time."""


class PolicyModel:
    def __init__(
        self,
        base: Path,
        lora: Lora | None,
        adapter: Path | None,
        device: torch.device,
        formats: Formats | None = None,
    ) -> None:
        """`lora=None` trains every weight; `adapter` continues from an earlier one; formats are the device's, if left
        out."""
        if not (base / "config.json").is_file():
            raise BadInput(f"there is no model in {str(base)!r}; make one: python -m training.base_model --out {base}")
        if adapter is not None and not (adapter / "adapter_config.json").is_file():
            raise BadInput(f"there is no adapter in {str(adapter)!r}; name the folder that a recipe wrote")
        _settle_functions()
        self.base = base
        self.device = device
        self.tokenizer: Tokenizer = Tokenizer.from_file(str(base / "tokenizer.json"))
        if formats is None:
            formats = ON_GPU if device.type == "cuda" else WHOLE
        self._dtype = formats.trained
        plain = _load(base, self._dtype if lora or adapter else torch.float32)
        self.eos_id: int = _end_token(plain.config.eos_token_id)
        self.pad_id: int = plain.config.pad_token_id or 0
        self.longest_tokens: int = plain.config.max_position_embeddings
        if adapter is not None:
            self.net: nn.Module = PeftModel.from_pretrained(plain, str(adapter), is_trainable=True)
        elif lora is not None:
            self.net = get_peft_model(plain, _lora_config(lora))
        else:
            self.net = plain
        self.net.to(device)
        self.net.train()
        self._llama = Llama(self.causal, self._dtype)
        self.sampled = _load(base, formats.sampled).to(device).eval()
        self.sampled.requires_grad_(False)
        self.refresh_sampled()

    def action_ids(self, text: str) -> NDArray[np.int32]:
        """An action as it is said, its end included."""
        return np.asarray([*self.tokenizer.encode(text).ids, self.eos_id], dtype=np.int32)

    @property
    def causal(self) -> Any:
        """The network without the adapter's wrapper: a decoder and its head."""
        return self.net.get_base_model() if isinstance(self.net, PeftModel) else self.net

    def trainable(self) -> Iterator[tuple[str, nn.Parameter]]:
        return ((name, each) for name, each in self.net.named_parameters() if each.requires_grad)

    @torch.no_grad()
    def refresh_sampled(self) -> None:
        """Bring the copy that is sampled from up to date with the one that is trained."""
        causal = self.causal
        for name, copied in self.sampled.named_parameters():
            place, _, attribute = name.rpartition(".")
            module = causal.get_submodule(place)
            copied.copy_(merged(module) if attribute == "weight" else getattr(module, attribute))

    @contextmanager
    def reading(self) -> Iterator[Reader]:
        """For many batches of one step; gradients reach the adapter when it is left."""
        borrowed = Borrowed(self._llama.weights())
        yield lambda trees: self._logits(borrowed.weights, trees)
        borrowed.give_back()

    def _logits(self, weights: Sequence[LayerWeights], trees: TreeBatch | FlatTrees) -> Tensor:
        hidden = self._llama.hidden(weights, trees.tokens, trees.positions, trees.sight(self._dtype))
        chosen = hidden[trees.rows, trees.predictors]
        head: Tensor = self.causal.lm_head.weight
        logits: Tensor = chosen.float() @ head.float().T
        return logits

    def save(self, folder: Path) -> None:
        """In the usual form: an adapter that names its base by a name that holds on every machine, or a whole model."""
        if isinstance(self.net, PeftModel):
            for config in self.net.peft_config.values():
                config.base_model_name_or_path = HUB_NAME
            halved = {name: each.detach().to(torch.float16) for name, each in self.trainable()}
            self.net.save_pretrained(str(folder), state_dict=halved, save_embedding_layers=False)
        else:
            self.causal.save_pretrained(str(folder))
            self.tokenizer.save(str(folder / "tokenizer.json"))


def _settle_functions() -> None:
    """Call each once with a single number, which is not shared out between threads.

    The first call of a process chooses how a function is computed. Made by two threads at once, one of them may compute
    its half to four digits: one process in ten then begins a run that no other repeats.
    """
    for function in (torch.cos, torch.sin, torch.exp, torch.log):
        function(torch.ones(1))


def pick_device(name: str | None) -> torch.device:
    return torch.device(name or ("cuda" if torch.cuda.is_available() else "cpu"))


def _load(folder: Path, dtype: torch.dtype) -> Any:
    transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    return AutoModelForCausalLM.from_pretrained(str(folder), dtype=dtype, attn_implementation="sdpa")


def _lora_config(lora: Lora) -> LoraConfig:
    return LoraConfig(
        r=lora.rank, lora_alpha=lora.alpha, lora_dropout=0.0, target_modules="all-linear", task_type="CAUSAL_LM"
    )


def _end_token(given: int | list[int] | None) -> int:
    if given is None:
        raise BadInput("the model's config names no end token; a policy could not say where its action ends")
    return given[0] if isinstance(given, list) else given
