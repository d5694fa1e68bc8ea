"""Llama and its kin ("LLaMA: Open and Efficient Foundation Language Models", Touvron et al. 2023)."""

import re
from collections.abc import Mapping
from typing import Any

from seq2see.errors import SettingsError
from seq2see.exchange.config import Config
from seq2see.exchange.family import Outline, output_layer
from seq2see.exchange.names import Names, linear
from seq2see.layers.positions import BASE
from seq2see.models.settings import ModelSettings, TransformerSettings

__all__ = ["Llama"]


class Llama:
    """A decoder alone: root mean square norms, rotary positions, SwiGLU, heads in groups."""

    goal = "complete"
    prefixes = ("model.",)
    ignored = re.compile(r".*rotary_emb\.inv_freq|lm_head\.weight")
    aliases: Mapping[str, tuple[str, ...]] = {}

    def outline(self, config: Config, shapes: Mapping[str, tuple[int, ...]]) -> Outline:
        width, heads = config.number("hidden_size"), config.number("num_attention_heads")
        config.only("hidden_act", "silu", "our gated layer has silu (swiglu)")
        config.only("rope_scaling", None, "our rotary positions turn by one base, unscaled")
        if config.get("sliding_window") is not None and config.get("use_sliding_window", True):
            config.refuse("sliding_window", "our attention looks at everything before")
        if config.number("head_dim", default=width // heads) * heads != width:
            config.refuse("head_dim", f"our {heads} heads split the width {width} evenly")
        groups = config.number("num_key_value_heads", default=heads)
        biases = [name for name in shapes if name.endswith("_proj.bias")]
        part = {
            "layers": config.number("num_hidden_layers"),
            "heads": heads,
            "groups": groups if groups != heads else None,
            "feedforward": config.number("intermediate_size"),
            "activation": "swiglu",
            "norm": "before",
            "norm_kind": "rms",
            "epsilon": config.share("rms_norm_eps", default=1e-6),
            "bias": bool(biases),
            "positions": "rotary",
            "rotary_base": _base(config),
        }
        model = {
            "width": width,
            "dropout": 0.0,
            "attention_dropout": config.share("attention_dropout"),
            "front": {"scale": False},
            "encoder": {"kind": "none"},
            "decoder": part,
            "tie_output": config.flag("tie_word_embeddings", False),
        }
        return Outline(model, config.number("max_position_embeddings", default=2048))

    def names(self, model: ModelSettings) -> list[Names]:
        part = model.decoder
        assert isinstance(part, TransformerSettings)
        found = [
            Names(("decoder.embed.weight",), ("model.embed_tokens.weight",), rows="target"),
            *linear("decoder.final_norm", "model.norm", bias=False),
            *output_layer(model, "lm_head.weight", "lm_head.bias"),
        ]
        for layer in range(part.layers):
            ours, theirs = f"decoder.blocks.{layer}", f"model.layers.{layer}"
            projections = {"query": "q", "key": "k", "value": "v", "output": "o"}
            for own, foreign in projections.items():
                there = f"{theirs}.self_attn.{foreign}_proj"
                found += linear(f"{ours}.attention.{own}", there, part.bias, optional_bias=True)
            gated = [f"{theirs}.mlp.{name}_proj" for name in ("gate", "up")]
            found += linear(f"{ours}.feedforward.enter", gated, part.bias, optional_bias=True)
            there = f"{theirs}.mlp.down_proj"
            found += linear(f"{ours}.feedforward.leave", there, part.bias, optional_bias=True)
            found += linear(f"{ours}.attention_residual.norm", f"{theirs}.input_layernorm", bias=False)
            there = f"{theirs}.post_attention_layernorm"
            found += linear(f"{ours}.feedforward_residual.norm", there, bias=False)
        return found

    def config(self, model: ModelSettings) -> dict[str, Any]:
        part = model.decoder
        assert isinstance(part, TransformerSettings)
        wanted = {
            "norm = before": part.norm == "before",
            "positions = rotary": part.positions.startswith("rotary"),
            "activation = swiglu": part.activation == "swiglu",
        }
        for name in (name for name, given in wanted.items() if not given):
            raise SettingsError(f"Llama has model.decoder.{name}, and this model has not")
        if model.front.embedding_norm(1) is not None:
            raise SettingsError("Llama has no norm over embeddings, and this model has (model.front.norm)")
        return {
            "architectures": ["LlamaForCausalLM"],
            "model_type": "llama",
            "hidden_size": model.width,
            "intermediate_size": part.feedforward,
            "num_hidden_layers": part.layers,
            "num_attention_heads": part.heads,
            "num_key_value_heads": part.groups or part.heads,
            "hidden_act": "silu",
            "rms_norm_eps": part.epsilon,
            "rope_theta": part.rotary_base,
            "rope_parameters": {"rope_type": "default", "rope_theta": part.rotary_base},
            "attention_bias": part.bias,
            "mlp_bias": part.bias,
            "attention_dropout": model.attention_dropout,
            "tie_word_embeddings": model.tie_output,
        }


def _base(config: Config) -> float:
    """The base of rotary positions: a value of its own, or (newer) among others."""
    base = config.get("rope_theta")
    parameters = config.get("rope_parameters")
    if isinstance(parameters, Mapping):
        if parameters.get("rope_type", "default") != "default":
            config.refuse("rope_parameters", "our rotary positions turn by one base, unscaled")
        if parameters.get("partial_rotary_factor", 1.0) != 1.0:
            config.refuse("rope_parameters", "our rotary positions turn all features")
        base = parameters.get("rope_theta", base)
    base = BASE if base is None else base
    if isinstance(base, bool) or not isinstance(base, int | float) or not 1 < base <= 1e12:
        config.refuse("rope_theta", "a number above 1 is needed")
    return float(base)
