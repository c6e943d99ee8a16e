"""A plain Llama's layers, written out: whole texts at once, to learn from them and to read prompts.

At this size launches and passes over memory take the time, not products. A library's forward computes an adapter beside
every linear layer, for every token; here it is added to the weight that it adapts before the texts come, a norm is one
pass, and keys are not repeated. Gradients flow through the sum into the adapter.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import linear, rms_norm, scaled_dot_product_attention, silu

from TokenOptEnv.errors import BadInput
from training import stretches
from training.stretches import Stretch

_FIXED_ROTATIONS = ("default", "linear", "llama3", "yarn")
"""Others look at the positions themselves, and the host would have to wait for them."""

KERNELS = [SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH]
"""Not cuDNN's, which plans anew for every shape that it meets."""

Sight = Tensor | tuple[Stretch, ...] | None
"""What tokens see, where that is not just all that stands before them."""

Keep = Callable[[int, Tensor, Tensor], tuple[Tensor, Tensor]]
"""Is given each layer's number, keys and values (rows, heads, tokens, head width), and gives those to attend to."""


class Llama:
    """Embeddings and the last norm are read where they lie; what the layers read is handed in."""

    def __init__(self, causal: Any, dtype: torch.dtype) -> None:
        """`dtype` is what is computed in, whatever the weights are kept in."""
        require_plain(causal.config)
        self._decoder, self._dtype = causal.model, dtype
        self._groups = causal.config.num_attention_heads // causal.config.num_key_value_heads

    def weights(self) -> list[LayerWeights]:
        """As they are now, adapters added, in what is computed in."""
        return [LayerWeights.of(layer, self._dtype) for layer in self._decoder.layers]

    def hidden(
        self,
        weights: Sequence[LayerWeights],
        tokens: Tensor,
        positions: Tensor,
        sight: Sight = None,
        keep: Keep | None = None,
    ) -> Tensor:
        """Of every token, after the last norm.

        A mask (rows, 1, queries, keys) is for the last tokens, as many as it has queries; the others see what stands
        before them. Stretches say of all tokens what they see.
        """
        if isinstance(sight, Tensor):
            sight = sight.repeat(1, 1, self._groups, 1)
        hidden = self._decoder.embed_tokens(tokens).to(self._dtype)
        cos, sin = rotation(self._decoder, hidden, positions)
        with sdpa_kernel(KERNELS):
            for number, layer in enumerate(weights):
                hidden = _layer(hidden, cos, sin, sight, layer, partial(keep, number) if keep else None)
        return normed(self._decoder.norm, hidden)


class Linear(NamedTuple):
    weight: Tensor
    bias: Tensor | None

    @classmethod
    def of(cls, dtype: torch.dtype, *modules: Any) -> Linear:
        """Of several that read the same, as one: fewer and larger products."""
        biases = [module.bias.to(dtype) for module in modules if module.bias is not None]
        weights = [merged(module).to(dtype) for module in modules]
        return cls(torch.cat(weights) if len(weights) > 1 else weights[0], torch.cat(biases) if biases else None)

    def __call__(self, read: Tensor) -> Tensor:
        return linear(read, self.weight, self.bias)

    def mapped(self, change: Callable[[Tensor], Tensor]) -> Linear:
        return Linear(change(self.weight), None if self.bias is None else change(self.bias))


class LayerWeights(NamedTuple):
    before: Tensor
    inward: Linear
    """Queries, keys and values."""
    out: Linear
    between: Tensor
    gated: Linear
    """The gate and what it lets through."""
    down: Linear
    epsilon: float
    head_width: int

    @classmethod
    def of(cls, layer: Any, dtype: torch.dtype) -> LayerWeights:
        attention, mlp = layer.self_attn, layer.mlp
        return cls(
            before=layer.input_layernorm.weight.to(dtype),
            inward=Linear.of(dtype, attention.q_proj, attention.k_proj, attention.v_proj),
            out=Linear.of(dtype, attention.o_proj),
            between=layer.post_attention_layernorm.weight.to(dtype),
            gated=Linear.of(dtype, mlp.gate_proj, mlp.up_proj),
            down=Linear.of(dtype, mlp.down_proj),
            epsilon=layer.input_layernorm.variance_epsilon,
            head_width=attention.head_dim,
        )

    def mapped(self, change: Callable[[Tensor], Tensor]) -> LayerWeights:
        return self._replace(
            before=change(self.before),
            inward=self.inward.mapped(change),
            out=self.out.mapped(change),
            between=change(self.between),
            gated=self.gated.mapped(change),
            down=self.down.mapped(change),
        )


class Borrowed:
    """The same weights for many batches: their gradients add up here, and are given back at once.

    Merging adapters takes as many launches as a batch, so it is done once a step.
    """

    def __init__(self, weights: Sequence[LayerWeights]) -> None:
        self._lent: list[tuple[Tensor, Tensor]] = []
        self.weights = [each.mapped(self._lend) for each in weights]

    def _lend(self, weight: Tensor) -> Tensor:
        if not weight.requires_grad:
            return weight
        copy = weight.detach().requires_grad_()
        self._lent.append((weight, copy))
        return copy

    def give_back(self) -> None:
        used = [(weight, copy.grad) for weight, copy in self._lent if copy.grad is not None]
        if used:
            torch.autograd.backward([weight for weight, _ in used], [gradient for _, gradient in used])


def _layer(
    hidden: Tensor,
    cos: Tensor,
    sin: Tensor,
    sight: Sight,
    weights: LayerWeights,
    keep: Callable[[Tensor, Tensor], tuple[Tensor, Tensor]] | None,
) -> Tensor:
    """What goes on to the next layer."""
    read = _scaled(hidden, weights.before, weights.epsilon)
    heads = weights.inward(read).view(*hidden.shape[:2], -1, weights.head_width)
    queries = weights.out.weight.shape[1] // weights.head_width
    keys = (heads.shape[2] - queries) // 2
    turned, value = torch.split(heads, [queries + keys, keys], dim=2)
    query, key = torch.split(rotated(turned, cos, sin).transpose(1, 2), [queries, keys], dim=1)
    value = value.transpose(1, 2)
    if keep is not None:
        key, value = keep(key, value)
    hidden = hidden + weights.out(_attended(query, key, value, sight).transpose(1, 2).flatten(2))
    read = _scaled(hidden, weights.between, weights.epsilon)
    gate, passed = weights.gated(read).chunk(2, dim=-1)
    return hidden + weights.down(silu(gate) * passed)


def _attended(query: Tensor, key: Tensor, value: Tensor, sight: Sight) -> Tensor:
    """Heads that share a key head become its queries under a mask, so that keys are never repeated."""
    if isinstance(sight, tuple):
        return stretches.attended(query, key, value, sight)
    if sight is None:
        if not takes_groups(query.device):
            key, value = (each.repeat_interleave(query.shape[1] // key.shape[1], dim=1) for each in (key, value))
        return scaled_dot_product_attention(query, key, value, is_causal=True, enable_gqa=True)
    rows, heads, tokens, width = query.shape
    plain = tokens - sight.shape[2] * key.shape[1] // heads
    first, last = torch.split(query, [plain, tokens - plain], dim=2)
    before = _attended(first, key[:, :, :plain], value[:, :, :plain], None)
    after = scaled_dot_product_attention(last.reshape(rows, key.shape[1], -1, width), key, value, attn_mask=sight)
    return torch.cat((before, after.reshape(rows, heads, -1, width)), dim=2)


@cache
def takes_groups(device: torch.device) -> bool:
    """Whether there is a kernel for plain texts that reads a key head for several queries: on GPUs since Ampere.

    What others fall back to would lay out every query beside every key.
    """
    return device.type != "cuda" or torch.cuda.get_device_capability(device) >= (8, 0)


def merged(module: Any) -> Tensor:
    """A linear layer's weight with its adapter, if it has one, in full precision then."""
    weight: Tensor = module.weight
    if not hasattr(module, "lora_A"):
        return weight
    for name in module.active_adapters:
        down, up = module.lora_A[name].weight, module.lora_B[name].weight
        weight = torch.addmm(weight.float(), up.float(), down.float(), alpha=module.scaling[name])
    return weight


def normed(norm: Any, hidden: Tensor) -> Tensor:
    return _scaled(hidden, norm.weight.to(hidden.dtype), norm.variance_epsilon)


def _scaled(hidden: Tensor, weight: Tensor, epsilon: float) -> Tensor:
    """By the root of the mean square, and by the weight."""
    if hidden.device.type == "cuda" or weight.requires_grad:
        return rms_norm(hidden, hidden.shape[-1:], weight, epsilon)
    scaled: Tensor = _ScaledOnHost.apply(hidden, weight, epsilon)  # type: ignore[no-untyped-call]
    return scaled


class _ScaledOnHost(torch.autograd.Function):
    """Where a library goes over memory a dozen times for it, which takes four times as long; the weight stays."""

    @staticmethod
    def forward(context: Any, hidden: Tensor, weight: Tensor, epsilon: float) -> Tensor:
        length = torch.linalg.vector_norm(hidden, dim=-1, keepdim=True, dtype=torch.float32)
        scale = torch.rsqrt(length.square() / hidden.shape[-1] + epsilon).to(hidden.dtype)
        context.save_for_backward(hidden, scale, weight)
        return hidden * scale * weight

    @staticmethod
    def backward(context: Any, *gradients: Tensor) -> tuple[Tensor, None, None]:
        hidden, scale, weight = context.saved_tensors
        owed = gradients[0] * weight
        unit = hidden * scale
        return scale * (owed - unit * ((owed * unit).sum(-1, keepdim=True) / unit.shape[-1])), None, None


def rotation(decoder: Any, hidden: Tensor, positions: Tensor) -> tuple[Tensor, Tensor]:
    """By row and position, for every head: what `rotated` takes. Half of the sines are negative there."""
    cos, sin = decoder.rotary_emb(hidden, positions)
    left, right = sin.chunk(2, dim=-1)
    return cos[:, :, None], torch.cat((-left, right), dim=-1)[:, :, None]


def rotated(heads: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    return torch.addcmul(heads * cos, heads.roll(heads.shape[-1] // 2, dims=-1), sin)


def head_width(config: Any) -> int:
    return int(getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads)


def require_plain(config: Any) -> None:
    rotation = (getattr(config, "rope_parameters", None) or {}).get("rope_type", "default")
    if config.model_type != "llama" or rotation not in _FIXED_ROTATIONS or config.hidden_act != "silu":
        raise BadInput(
            f"a plain Llama's layers are written out here, and those of {config.model_type!r} with {rotation!r} "
            f"rotations and {config.hidden_act!r} are others; use a base model of type 'llama'"
        )
