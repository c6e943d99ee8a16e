"""A checkpoint on disk as a policy: `hf:FOLDER`, or `hf:ADAPTER@BASE` for an adapter and the model it was trained on.

It reads `render_text(observation)` and writes the short form of an action; what cannot be read as an action is sent as
it is and refused. It takes the likeliest token each time, unless an adapter brings a `generation_config.json` that says
how to draw; what is drawn follows from the episode's seed and the prompt. The network is loaded once and shared by all
episodes; torch and transformers are loaded with it, never before. An adapter without `@BASE` stands on the model that
it names itself.

Most of a prompt stood in the one before: what the network made of that is kept, and only the rest is read.
"""

from __future__ import annotations

import json
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from TokenOptEnv.errors import BadInput
from TokenOptEnv.models import TokenOptEnvAction, TokenOptEnvObservation
from TokenOptEnv.policies.base import ModelUsage, PolicyInfo, PolicyScheme
from TokenOptEnv.prompt import render_text
from TokenOptEnv.streams import word
from TokenOptEnv.text_actions import parse

_LONGEST_ACTION_TOKENS = 64
_ADAPTER = "adapter_config.json"
_MODEL = "config.json"
_GENERATION = "generation_config.json"
_LIKELIEST: dict[str, Any] = {"do_sample": False}
_FROM_ALL_TOKENS = {"temperature": 1.0, "top_k": 0, "top_p": 1.0}
_NAMED = 40


class Reading:
    """What a network has read and said last in an episode, and what it made of that."""

    def __init__(self) -> None:
        self._tokens: list[int] = []
        self._made: Any = None

    def upto(self, prompt: list[int]) -> tuple[int, Any]:
        """How much of this prompt the last one began with, and what was made of that; never all: the end is read."""
        tokens, made = self._tokens, self._made
        self._tokens, self._made = [], None  # until all is read: a fault on the way must not leave half
        differs = (place for place, (before, now) in enumerate(zip(tokens, prompt, strict=False)) if before != now)
        shared = min(next(differs, len(tokens)), len(prompt) - 1)
        if made is None or shared <= 0:
            return 0, None
        if surplus := len(tokens) - shared:
            made.crop(-surplus)
        return shared, made

    def keep(self, tokens: list[int], made: Any) -> None:
        """The last token was said and not read yet. What cannot be cut anywhere, as a moving window, is not kept."""
        layers = getattr(made, "layers", ())
        if layers and all(type(layer).__name__ == "DynamicLayer" for layer in layers):
            self._tokens, self._made = tokens[:-1], made


class Checkpoint:
    """A network and its tokenizer: text in, text out. `drawing` is how tokens are chosen."""

    def __init__(self, network: Any, tokenizer: Any, drawing: dict[str, Any]) -> None:
        self._network, self._tokenizer, self._drawing = network, tokenizer, drawing

    def complete(self, prompt: str, seed: int, reading: Reading) -> tuple[str, ModelUsage]:
        """What follows the prompt."""
        given = self._tokenizer(prompt, return_tensors="pt", add_special_tokens=False)
        size = int(given["input_ids"].shape[1])
        room = self._network.config.max_position_embeddings - _LONGEST_ACTION_TOKENS
        if size > room:
            raise BadInput(f"a prompt of {size} tokens is too long for this model, which takes {room}; play profile v2")
        shared, made = reading.upto(given["input_ids"][0].tolist())
        random = import_module("torch").random
        with random.fork_rng():
            random.manual_seed(word("hf", seed, prompt) >> 1)
            done = self._network.generate(
                **given,
                past_key_values=made,
                max_new_tokens=_LONGEST_ACTION_TOKENS,
                pad_token_id=self._tokenizer.pad_token_id,
                return_dict_in_generate=True,
                **self._drawing,
            )
        tokens = done.sequences[0]
        reading.keep(tokens.tolist(), done.past_key_values)
        used = ModelUsage(calls=1, prompt_tokens=size, cached_tokens=shared, completion_tokens=len(tokens) - size)
        return self._tokenizer.decode(tokens[size:], skip_special_tokens=True), used


class HfPolicy:
    def __init__(self, checkpoint: Checkpoint, seed: int) -> None:
        self._checkpoint, self._seed, self._reading = checkpoint, seed, Reading()
        self.usage = ModelUsage.total()

    def act(self, observation: TokenOptEnvObservation) -> TokenOptEnvAction:
        text, used = self._checkpoint.complete(render_text(observation), self._seed, self._reading)
        self.usage = ModelUsage.total(self.usage, used)
        return parse(text, observation)


def _resolve(rest: str) -> PolicyInfo:
    folder, _, base = rest.partition("@")
    names = {name: Path(name) for name in (folder, *([base] if base else []))}
    for name, path in names.items():
        if not any((path / file).is_file() for file in (_ADAPTER, _MODEL)):
            raise BadInput(
                f"no checkpoint in {_shown(name)!r}: neither {_MODEL} nor {_ADAPTER} is there; name its folder"
            )
    if base and not (names[folder] / _ADAPTER).is_file():
        raise BadInput(f"{_shown(folder)!r} is a whole model and stands on no other; name it without '@'")
    is_adapter = (names[folder] / _ADAPTER).is_file()
    for package in ("torch", "transformers", *(["peft"] if is_adapter else [])):
        if find_spec(package) is None:
            raise BadInput(f"policy 'hf:{_shown(rest)}' needs {package}; install it: pip install {package}")
    return PolicyInfo(f"hf:{rest}", "a checkpoint on disk", lambda seed: HfPolicy(_load(folder, base), seed))


def _shown(name: str) -> str:
    return name if len(name) <= _NAMED else f"...{name[-_NAMED:]}"


@lru_cache(maxsize=2)
def _load(folder: str, base: str) -> Checkpoint:
    transformers = import_module("transformers")
    adapter = Path(folder) / _ADAPTER
    model = folder
    if adapter.is_file():
        model = base or json.loads(adapter.read_text(encoding="utf-8"))["base_model_name_or_path"]
    try:
        network = transformers.AutoModelForCausalLM.from_pretrained(model, dtype="float32")
        tokenizer = transformers.AutoTokenizer.from_pretrained(model)
    except OSError:
        raise BadInput(f"model {_shown(model)!r} cannot be loaded; name its folder: hf:{_shown(folder)}@BASE") from None
    if adapter.is_file():
        network = import_module("peft").PeftModel.from_pretrained(network, folder).merge_and_unload()
    return Checkpoint(network.eval(), tokenizer, _drawing(Path(folder)) if adapter.is_file() else _LIKELIEST)


def _drawing(folder: Path) -> dict[str, Any]:
    """As an adapter's makers draw from it: from all tokens, unless they say otherwise."""
    file = folder / _GENERATION
    try:
        said = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    except ValueError:
        said = None
    if not isinstance(said, dict):
        raise BadInput(f"{_shown(str(file))!r} is not a JSON object; mend it or remove it")
    if not said.get("do_sample"):
        return _LIKELIEST
    return {"do_sample": True, **{name: said.get(name, plain) for name, plain in _FROM_ALL_TOKENS.items()}}


SCHEME = PolicyScheme("hf", "FOLDER[@BASE]", "a checkpoint on disk (needs torch and transformers)", _resolve)
