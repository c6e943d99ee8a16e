"""The converter, on a GGUF file written here: every kind of block, the rotary halves, the tokenizer."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from safetensors.torch import load_file
from tokenizers import Tokenizer
from transformers import AutoModelForCausalLM, AutoTokenizer

from TokenOptEnv.errors import BadInput
from training import base_model, gguf

_WIDTH, _HEADS, _KEY_HEADS, _INNER, _LAYERS = 64, 4, 2, 96, 2
_LETTERS = sorted({chr(byte) for byte in range(33, 127)} | {"Ġ", "Ċ"})
_TOKENS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", *_LETTERS, "as", "ask", "12"]


def text(value: str) -> bytes:
    return struct.pack("<Q", len(value.encode())) + value.encode()


def setting(name: str, value: object) -> bytes:
    return text(name) + typed(value)


def typed(value: object) -> bytes:
    match value:
        case bool():
            return struct.pack("<I?", 7, value)
        case int():
            return struct.pack("<II", 4, value)
        case float():
            return struct.pack("<If", 6, value)
        case str():
            return struct.pack("<I", 8) + text(value)
        case list():
            parts = [typed(each) for each in value]
            return struct.pack("<I", 9) + parts[0][:4] + struct.pack("<Q", len(parts)) + b"".join(p[4:] for p in parts)
        case _:
            raise TypeError(value)


def blocks(values: NDArray[np.float32], kind: gguf.Quantization) -> bytes:
    """Values that the kind holds exactly, as it stores them."""
    if kind is gguf.Quantization.F32:
        return values.astype("<f4").tobytes()
    stored = b""
    for row in values.reshape(-1, 32):
        if kind is gguf.Quantization.Q8_0:
            stored += np.float16(0.125).tobytes() + (row / 0.125).astype(np.int8).tobytes()
        else:
            whole = ((row + 1.0) / 0.125).astype(np.uint8)
            stored += np.float16(0.125).tobytes() + np.float16(-1.0).tobytes()
            stored += (whole[:16] | (whole[16:] << 4)).tobytes()
    return stored


def weights(seed: int, *shape: int) -> NDArray[np.float32]:
    """Sixteenths of two, so that every kind holds them."""
    return (np.random.default_rng(seed).integers(0, 16, shape) * 0.125 - 1.0).astype(np.float32)


def tensors() -> dict[str, tuple[NDArray[np.float32], gguf.Quantization]]:
    small, large, plain = gguf.Quantization.Q4_1, gguf.Quantization.Q8_0, gguf.Quantization.F32
    found = {"token_embd.weight": (weights(0, len(_TOKENS), _WIDTH), large)}
    for layer in range(_LAYERS):
        parts = {
            "attn_q": (_WIDTH, _WIDTH),
            "attn_k": (_WIDTH * _KEY_HEADS // _HEADS, _WIDTH),
            "attn_v": (_WIDTH * _KEY_HEADS // _HEADS, _WIDTH),
            "attn_output": (_WIDTH, _WIDTH),
            "ffn_gate": (_INNER, _WIDTH),
            "ffn_up": (_INNER, _WIDTH),
            "ffn_down": (_WIDTH, _INNER),
        }
        for seed, (name, shape) in enumerate(parts.items(), start=10 * layer + 1):
            found[f"blk.{layer}.{name}.weight"] = (weights(seed, *shape), small)
        for name in ("attn_norm", "ffn_norm"):
            found[f"blk.{layer}.{name}.weight"] = (weights(90 + layer, _WIDTH), plain)
    found["output_norm.weight"] = (weights(99, _WIDTH), plain)
    return found


def settings() -> Iterable[bytes]:
    shape = {
        "block_count": _LAYERS,
        "context_length": 256,
        "embedding_length": _WIDTH,
        "feed_forward_length": _INNER,
        "attention.head_count": _HEADS,
        "attention.head_count_kv": _KEY_HEADS,
        "attention.layer_norm_rms_epsilon": 1e-5,
        "rope.freq_base": 10_000.0,
        "vocab_size": len(_TOKENS),
    }
    yield from (setting(f"llama.{name}", value) for name, value in shape.items())
    vocabulary = {
        "tokens": _TOKENS,
        "token_type": [3] * 3 + [1] * (len(_TOKENS) - 3),
        "merges": ["a s", "as k", "1 2"],
        "bos_token_id": 1,
        "eos_token_id": 2,
        "unknown_token_id": 0,
        "padding_token_id": 2,
    }
    yield from (setting(f"tokenizer.ggml.{name}", value) for name, value in vocabulary.items())
    yield setting("tokenizer.chat_template", "{{ messages }}")


@pytest.fixture(scope="module")
def converted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("gguf")
    head, body = b"", b""
    for name, (values, kind) in tensors().items():
        head += text(name) + struct.pack("<I", values.ndim) + struct.pack(f"<{values.ndim}Q", *reversed(values.shape))
        head += struct.pack("<IQ", kind, len(body))
        body += blocks(values, kind)
        body += b"\0" * (-len(body) % 32)
    told = list(settings())
    start = b"GGUF" + struct.pack("<IQQ", 3, len(tensors()), len(told)) + b"".join(told) + head
    (folder / "model.gguf").write_bytes(start + b"\0" * (-len(start) % 32) + body)
    base_model.convert(folder / "model.gguf", folder / "out")
    return folder / "out"


def test_every_weight_comes_back(converted: Path) -> None:
    state = load_file(converted / "model.safetensors")
    known = tensors()
    assert torch.equal(state["model.embed_tokens.weight"].float(), torch.from_numpy(known["token_embd.weight"][0]))
    assert torch.equal(
        state["model.layers.1.mlp.down_proj.weight"].float(), torch.from_numpy(known["blk.1.ffn_down.weight"][0])
    )
    assert len(state) == len(known)


def test_the_halves_that_turn_together_are_taken_apart(converted: Path) -> None:
    """Row 2i of a head goes to its place i, row 2i+1 to the second half."""
    given = tensors()["blk.0.attn_k.weight"][0]
    found = load_file(converted / "model.safetensors")["model.layers.0.self_attn.k_proj.weight"].float().numpy()
    head = _WIDTH // _HEADS
    for row in range(head // 2):
        np.testing.assert_array_equal(found[row], given[2 * row])
        np.testing.assert_array_equal(found[head // 2 + row], given[2 * row + 1])


def test_the_folder_loads_and_speaks(converted: Path) -> None:
    model = AutoModelForCausalLM.from_pretrained(str(converted), dtype=torch.float32)
    tokenizer = AutoTokenizer.from_pretrained(str(converted))
    out = model.generate(**tokenizer("ask 1", return_tensors="pt"), max_new_tokens=3, do_sample=False)
    assert out.shape[1] > 4
    assert model.config.tie_word_embeddings and tokenizer.eos_token == "<|im_end|>"
    assert tokenizer.pad_token_id != tokenizer.eos_token_id


def test_digits_are_taken_apart_though_a_merge_would_join_them(converted: Path) -> None:
    tokenizer = Tokenizer.from_file(str(converted / "tokenizer.json"))
    assert tokenizer.encode("ask 12").tokens == ["ask", "Ġ", "1", "2"]
    assert tokenizer.decode(tokenizer.encode("ask 12\nask").ids) == "ask 12\nask"
    assert tokenizer.encode("<|im_end|>").ids == [2]


def test_another_file_is_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "x.gguf").write_bytes(b"PK\3\4" + b"\0" * 60)
    with pytest.raises(BadInput, match="is not a GGUF file"):
        gguf.read(tmp_path / "x.gguf")


def test_the_config_is_plain_json(converted: Path) -> None:
    config = json.loads((converted / "config.json").read_text(encoding="utf-8"))
    assert config["model_type"] == "llama" and config["num_key_value_heads"] == _KEY_HEADS
