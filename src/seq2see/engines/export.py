"""A Transformer's weights in the layout of CTranslate2."""

from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor, nn

from seq2see.goals.text_model import TextModel
from seq2see.layers.attention import MultiHeadAttention
from seq2see.layers.feedforward import FeedForward
from seq2see.layers.positions import BASE
from seq2see.models import EncoderDecoder
from seq2see.models.settings import TransformerSettings
from seq2see.recipe import Recipe
from seq2see.text import BEGIN, END, SPECIAL, UNKNOWN, Codec

__all__ = ["SIDES", "Side", "misfit", "source_names", "table_places", "target_names", "write_model"]

Side = Literal["encoder", "decoder"]
SIDES: tuple[Side, Side] = ("encoder", "decoder")


def misfit(recipe: Recipe) -> str | None:
    """What of a model CTranslate2 cannot do, if there is something."""
    settings = recipe.model
    if recipe.data.images is not None:
        return "images as sources (data.images)"
    if len(recipe.data.targets) > 1:
        return "several targets (data.target), each of which has a begin symbol of its own"
    for side, part in zip(SIDES, (settings.encoder, settings.decoder), strict=True):
        if not isinstance(part, TransformerSettings):
            return f"a {part.kind} {side}" if part is not None else "a model without a decoder"
        if unusual := _unusual(part):
            return f"{unusual[0]} (model.{side}.{unusual[1]})"
    if settings.pointer:
        return "copying from the source (model.pointer)"
    assert isinstance(settings.decoder, TransformerSettings)
    if settings.decoder.positions == "rotary":
        return "rotary positions in cross-attention (model.decoder.positions; rotary-self has none)"
    if settings.front.embedding_norm(1) is not None:
        return "a norm over embeddings (model.front.norm)"
    assert isinstance(settings.encoder, TransformerSettings)
    if settings.encoder.epsilon != settings.decoder.epsilon:
        return "norms that differ between the sides (model.encoder.epsilon, model.decoder.epsilon)"
    return None


def _unusual(part: TransformerSettings) -> tuple[str, str] | None:
    """What a stack has that is not written out here, and the setting of that."""
    if part.norm_kind != "layer":
        return "root mean square norms", "norm_kind"
    if part.activation == "relu-squared":
        return "squares in the feed-forward network", "activation"
    if not part.bias:
        return "layers without a bias", "bias"
    if part.groups not in (None, part.heads):
        return "heads in groups", "groups"
    if part.positions.startswith("rotary") and part.rotary_base != BASE:
        return "rotary positions with a base of their own", "rotary_base"
    return None


def table_places(model: TextModel, side: Side) -> int:
    """How many places are written out: far more than training showed, if there are as many."""
    longest = model.facts.longest_source if side == "encoder" else model.facts.longest_target
    far = max(1024, 2 * longest + 64)
    return min(model.recipe.model.length_limit(side) or far, far)


@torch.no_grad()
def write_model(network: EncoderDecoder, codec: Codec, places: dict[Side, int], folder: Path) -> None:
    """Write a model folder; weights stay in 32 bits, and what is computed in is chosen when loading."""
    from ctranslate2 import specs

    settings = network.settings
    encoder = specs.TransformerEncoderSpec(**_outline(settings.encoder))
    decoder = specs.TransformerDecoderSpec(**_outline(settings.decoder))
    front, reads, writes, head = _parts(network)
    _stack(encoder, front, reads, encoder.embeddings[0], places["encoder"])
    _stack(decoder, writes, writes, decoder.embeddings, places["decoder"], head.size)
    for layer, block in zip(encoder.layer, reads.blocks, strict=True):
        _self_attention(layer.self_attention, block)
        _feedforward(layer.ffn, block.feedforward, block.feedforward_residual.norm)
    for layer, block in zip(decoder.layer, writes.blocks, strict=True):
        _self_attention(layer.self_attention, block)
        _cross_attention(layer.attention, block)
        _feedforward(layer.ffn, block.feedforward, block.feedforward_residual.norm)
    if head.output is not None:
        _linear(decoder.projection, head.output)
    else:
        decoder.projection.weight = _numbers(writes.embed.weight[: head.size])
        if head.bias is not None:
            decoder.projection.bias = _numbers(head.bias)
    spec = specs.TransformerSpec(encoder, decoder)
    spec.config.layer_norm_epsilon = reads.blocks[0].attention_residual.norm.eps
    spec.config.unk_token, spec.config.eos_token = SPECIAL[UNKNOWN], SPECIAL[END]
    spec.config.bos_token = spec.config.decoder_start_token = SPECIAL[BEGIN]
    spec.register_source_vocabulary(source_names(codec))
    spec.register_target_vocabulary(target_names(codec))
    spec.validate()
    spec.optimize()
    spec.save(str(folder))


def _outline(part: Any) -> dict[str, Any]:
    """What a stack is made of, in CTranslate2's words."""
    from ctranslate2.specs import Activation

    activations = {
        "relu": Activation.RELU,
        "gelu": Activation.GELU,
        "gelu-tanh": Activation.GELUTanh,
        "silu": Activation.SWISH,
        "swiglu": Activation.SWISH,
    }
    rotary = {"rotary_dim": 0, "rotary_interleave": False} if part.positions.startswith("rotary") else {}
    return {
        "num_layers": part.layers,
        "num_heads": part.heads,
        "pre_norm": part.norm == "before",
        "activation": activations[part.activation],
        "ffn_glu": part.activation == "swiglu",
        **rotary,
    }


def _parts(network: EncoderDecoder) -> tuple[Any, Any, Any, Any]:
    """Front, encoder, decoder and head, whose weights are looked at one by one."""
    return network.front, network.encoder, network.decoder, network.head


def _stack(spec: Any, front: Any, stack: Any, embeddings: Any, places: int, size: int | None = None) -> None:
    """The embedding with its scale, the table of places, and the norm at the end."""
    embedded = front.embed.weight[:size] * front.scale
    # W [e; p] + b = W_e e + (W_p p + b): a place that is joined on can be added too.
    named = front.positions(embedded.new_zeros(1, places, embedded.shape[1]))[0]
    if front.positions.join is not None:
        embedded = embedded @ front.positions.join.weight[:, : embedded.shape[1]].T
    embeddings.weight = _numbers(embedded)
    spec.scale_embeddings = False
    if not front.positions.kind.startswith("rotary"):
        spec.position_encodings.encodings = _numbers(named)
    if isinstance(stack.final_norm, nn.LayerNorm):
        _norm(spec.layer_norm, stack.final_norm)


def _self_attention(spec: Any, block: Any) -> None:
    attention: MultiHeadAttention = block.attention
    _joined(spec.linear[0], [attention.query, attention.key, attention.value])
    _linear(spec.linear[1], attention.output)
    _norm(spec.layer_norm, block.attention_residual.norm)


def _cross_attention(spec: Any, block: Any) -> None:
    attention: MultiHeadAttention = block.cross
    _linear(spec.linear[0], attention.query)
    _joined(spec.linear[1], [attention.key, attention.value])
    _linear(spec.linear[2], attention.output)
    _norm(spec.layer_norm, block.cross_residual.norm)


def _feedforward(spec: Any, feedforward: FeedForward, norm: nn.LayerNorm) -> None:
    _norm(spec.layer_norm, norm)
    entries = [spec.linear_0, spec.linear_0_noact] if feedforward.activation == "swiglu" else [spec.linear_0]
    weights, biases = (
        part.chunk(len(entries)) for part in (feedforward.enter.weight, feedforward.enter.bias)
    )
    for entry, weight, bias in zip(entries, weights, biases, strict=True):
        entry.weight, entry.bias = _numbers(weight), _numbers(bias)
    _linear(spec.linear_1, feedforward.leave)


def _joined(spec: Any, layers: list[nn.Linear]) -> None:
    spec.weight = _numbers(torch.cat([layer.weight for layer in layers]))
    spec.bias = _numbers(torch.cat([layer.bias for layer in layers]))


def _linear(spec: Any, layer: nn.Linear) -> None:
    spec.weight, spec.bias = _numbers(layer.weight), _numbers(layer.bias)


def _norm(spec: Any, norm: nn.LayerNorm) -> None:
    spec.gamma, spec.beta = _numbers(norm.weight), _numbers(norm.bias)


def _numbers(tensor: Tensor) -> Any:
    return tensor.detach().float().cpu().contiguous().numpy()


def source_names(codec: Codec) -> list[str]:
    """Source tokens by id; features get names with a space inside, as no token of a text has one."""
    features = _names(codec.features.vocabulary) if codec.features is not None else []
    return _names(codec.source.vocabulary) + [f"< feature {name} >" for name in features]


def target_names(codec: Codec) -> list[str]:
    """Target tokens by id."""
    return _names(codec.target.vocabulary)


def _names(vocabulary: dict[str, int]) -> list[str]:
    return sorted(vocabulary, key=vocabulary.__getitem__)
