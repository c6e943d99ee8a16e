"""A random model of some hundred thousand weights: the recipes run on it in seconds, and learn nothing worth keeping.

python -m training.tiny_model --out runs/base/tiny
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import AutoModelForCausalLM, LlamaConfig

from TokenOptEnv import LocalEnv, render_text, scenario_store

_SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
_PAD_ID, _BOS_ID, _EOS_ID = range(3)
_VOCABULARY = 1_536
_WINDOW = 8_192
_ACTIONS = (
    "read 1\nfind words k8\nload 1 2\ndrop 3\nask 1 2 4 low\nask 2 3 medium\nask 1 1 high\nsubmit 1 with 2\n"
    "cache words\nsqueeze 1 extract 0.5: words\nup 1 2\nnote 1: text\nrecall 1\n"
)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Make a tiny random model to try the recipes on.")
    parser.add_argument("--out", type=Path, default=Path("runs/base/tiny"))
    chosen = parser.parse_args(arguments)
    make(chosen.out)
    sys.stdout.write(f"written: {chosen.out}\n")


def make(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    _tokenizer().save(str(folder / "tokenizer.json"))
    named = dict(zip(("pad_token", "bos_token", "eos_token"), _SPECIAL, strict=True))
    settings = {"tokenizer_class": "PreTrainedTokenizerFast", **named}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings) + "\n", encoding="utf-8")
    torch.manual_seed(0)
    model = AutoModelForCausalLM.from_config(_config())  # type: ignore[no-untyped-call]
    model.save_pretrained(str(folder))


def _tokenizer() -> Tokenizer:
    """Byte-level and digit by digit, like the base model's, learnt from the shipped cases' first prompts."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    tokenizer.decoder = decoders.ByteLevel()
    prompts = [render_text(LocalEnv().reset(scenario_id=name)) for name in scenario_store.ids("core")]
    trainer = trainers.BpeTrainer(
        vocab_size=_VOCABULARY,
        special_tokens=_SPECIAL,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator([*prompts, *[_ACTIONS] * len(prompts)], trainer)
    return tokenizer


def _config() -> LlamaConfig:
    return LlamaConfig(
        vocab_size=_VOCABULARY,
        initializer_range=0.15,
        hidden_size=48,
        intermediate_size=96,
        num_hidden_layers=2,
        num_attention_heads=6,
        num_key_value_heads=2,
        max_position_embeddings=_WINDOW,
        pad_token_id=_PAD_ID,
        bos_token_id=_BOS_ID,
        eos_token_id=_EOS_ID,
        tie_word_embeddings=True,
    )


if __name__ == "__main__":
    main()
