"""GPT-2 ("Language Models are Unsupervised Multitask Learners", Radford et al. 2019)."""

import re
from collections.abc import Mapping
from typing import Any

from seq2see.errors import SettingsError
from seq2see.exchange.config import Config
from seq2see.exchange.family import ACTIVATIONS, Outline, output_layer
from seq2see.exchange.names import Names, linear
from seq2see.models.settings import ModelSettings, TransformerSettings

__all__ = ["GPT2"]


class GPT2:
    """A decoder alone with learned positions; linear layers are stored transposed, three of them as one."""

    goal = "complete"
    prefixes = ("transformer.",)
    ignored = re.compile(r"(transformer\.)?h\.\d+\.attn\.(masked_)?bias|lm_head\.weight")
    aliases: Mapping[str, tuple[str, ...]] = {}

    def outline(self, config: Config, shapes: Mapping[str, tuple[int, ...]]) -> Outline:
        config.only("scale_attn_weights", True, "our attention is scaled by the root of a head's width")
        config.only("scale_attn_by_inverse_layer_idx", False, "our attention is scaled alike in all layers")
        config.only("add_cross_attention", False, "a model that writes on has no source to look at")
        width, places = config.number("n_embd"), config.number("n_positions", "n_ctx")
        tied = config.flag("tie_word_embeddings", True)
        part = {
            "layers": config.number("n_layer"),
            "heads": config.number("n_head"),
            "feedforward": config.number("n_inner", default=4 * width),
            "activation": config.choice("activation_function", ACTIVATIONS, "gelu_new"),
            "norm": "before",
            "epsilon": config.share("layer_norm_epsilon", default=1e-5),
            "positions": "learned",
        }
        model = {
            "width": width,
            "max_length": places,
            "dropout": config.share("resid_pdrop", default=0.1),
            "attention_dropout": config.share("attn_pdrop", default=0.1),
            "front": {"scale": False},
            "encoder": {"kind": "none"},
            "decoder": part,
            "tie_output": tied,
        }
        return Outline(model, places)

    def names(self, model: ModelSettings) -> list[Names]:
        assert model.decoder is not None
        found = [
            Names(("decoder.embed.weight",), ("transformer.wte.weight",), rows="target"),
            Names(("decoder.positions.table",), ("transformer.wpe.weight",)),
            *linear("decoder.final_norm", "transformer.ln_f"),
            *output_layer(model, "lm_head.weight", "lm_head.bias"),
        ]
        for layer in range(model.decoder.layers):
            ours, theirs = f"decoder.blocks.{layer}", f"transformer.h.{layer}"
            joined = [f"{ours}.attention.{name}" for name in ("query", "key", "value")]
            found += linear(joined, f"{theirs}.attn.c_attn", transposed=True)
            found += linear(f"{ours}.attention.output", f"{theirs}.attn.c_proj", transposed=True)
            found += linear(f"{ours}.attention_residual.norm", f"{theirs}.ln_1")
            found += linear(f"{ours}.feedforward.enter", f"{theirs}.mlp.c_fc", transposed=True)
            found += linear(f"{ours}.feedforward.leave", f"{theirs}.mlp.c_proj", transposed=True)
            found += linear(f"{ours}.feedforward_residual.norm", f"{theirs}.ln_2")
        return found

    def config(self, model: ModelSettings) -> dict[str, Any]:
        part = model.decoder
        assert isinstance(part, TransformerSettings)
        wanted = {
            "norm = before": part.norm == "before",
            "norm_kind = layer": part.norm_kind == "layer",
            "bias = true": part.bias,
            "groups = heads": part.groups in (None, part.heads),
            "positions = learned": part.positions == "learned" and not part.join_positions,
            "activation other than swiglu": part.activation != "swiglu",
        }
        for name in (name for name, given in wanted.items() if not given):
            raise SettingsError(
                f"a decoder goes out as GPT-2 with model.decoder.{name}, and this one has not; as Llama it "
                "needs norm_kind = rms, norm = before, rotary positions and swiglu"
            )
        if model.front.embedding_norm(1) is not None:
            raise SettingsError("GPT-2 has no norm over embeddings, and this model has (model.front.norm)")
        names = {ours: theirs for theirs, ours in reversed(ACTIVATIONS.items())}
        return {
            "architectures": ["GPT2LMHeadModel"],
            "model_type": "gpt2",
            "n_embd": model.width,
            "n_positions": model.max_length,
            "n_layer": part.layers,
            "n_head": part.heads,
            "n_inner": part.feedforward,
            "activation_function": names[part.activation],
            "layer_norm_epsilon": part.epsilon,
            "resid_pdrop": model.dropout,
            "embd_pdrop": model.dropout,
            "attn_pdrop": model.attention_dropout,
            "tie_word_embeddings": model.tie_output,
        }
