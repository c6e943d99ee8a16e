"""Attention over prefix trees that skips what their mask hides.

In a tree most pairs of tokens do not see each other, and half of the rest lies ahead. A kernel that is told so by
blocks computes a fraction of what one with a dense mask does. It is compiled for a GPU when first used, and learns
nowhere else.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.attention.flex_attention import BlockMask, create_block_mask, flex_attention
from torch.nn.functional import scaled_dot_product_attention
from transformers import AttentionInterface

NAME = "prefix_trees"
BLOCK = 128
"""Tokens; trees are padded to a multiple."""
_TILES = {"BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_M1": 32, "BLOCK_N1": 64, "BLOCK_M2": 64, "BLOCK_N2": 32, "num_stages": 2}
"""Small ones: what is chosen otherwise did not fit an H200's shared memory."""


def register() -> str:
    """The name by which a network asks for this attention."""
    AttentionInterface.register(NAME, attend)
    return NAME


def block_mask(branches: Tensor, offsets: Tensor, reach: Tensor) -> BlockMask:
    """As `TreeBatch.mask` has it: a token sees those on its way to the root."""

    def sees(row: Tensor, head: Tensor, query: Tensor, key: Tensor) -> Tensor:
        own, other = branches[row, query], branches[row, key]
        standing = torch.where(own == other, offsets[row, query] + 1, reach[row, own, other])
        return offsets[row, key] < standing

    rows, length = branches.shape
    return create_block_mask(sees, rows, None, length, length, device=str(branches.device), BLOCK_SIZE=BLOCK)


def attend(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | BlockMask | None,
    scaling: float | None = None,
    dropout: float = 0.0,
    **_: Any,
) -> tuple[Tensor, None]:
    """A plain text goes to the library's own kernel."""
    query, key = query.to(value.dtype), key.to(value.dtype)
    if isinstance(attention_mask, BlockMask):
        kernel, options = (_compiled(), _TILES) if query.is_cuda else (flex_attention, None)
        found = kernel(
            query, key, value, block_mask=attention_mask, scale=scaling, enable_gqa=True, kernel_options=options
        )
    else:
        is_causal = attention_mask is None and query.shape[2] > 1
        found = scaled_dot_product_attention(
            query, key, value, attn_mask=attention_mask, is_causal=is_causal, scale=scaling, enable_gqa=True
        )
    return found.transpose(1, 2).contiguous(), None


@lru_cache(maxsize=1)
def _compiled() -> Any:
    return torch.compile(flex_attention)
