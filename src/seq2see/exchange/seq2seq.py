"""Encoder-decoders of one layout: Marian, Pegasus and BART."""

import re
from collections.abc import Mapping
from typing import Any, Literal

from seq2see.errors import SettingsError
from seq2see.exchange.config import Config
from seq2see.exchange.family import ACTIVATIONS, Outline, output_layer
from seq2see.exchange.names import Names, linear
from seq2see.models.settings import ModelSettings, TransformerSettings

__all__ = ["EncoderDecoderFamily", "block_names"]

_OFFSET = 2
"""Rows that BART's position table has before its first place."""


class EncoderDecoderFamily:
    """An encoder and a decoder.

    Marian has norms after each sublayer and sinusoidal positions; Pegasus norms before, and one at the end;
    BART norms after, one over embeddings, and learned positions.
    """

    goal = "generate"
    prefixes = ("model.",)
    aliases: Mapping[str, tuple[str, ...]] = {
        "model.shared.weight": ("model.encoder.embed_tokens.weight", "lm_head.weight"),
        "model.encoder.embed_tokens.weight": ("model.shared.weight",),
        "model.decoder.embed_tokens.weight": ("model.shared.weight", "lm_head.weight"),
    }

    def __init__(self, kind: Literal["marian", "pegasus", "bart"], architecture: str) -> None:
        self.kind, self.architecture = kind, architecture
        # Sinusoidal tables are computed, tied layers are there again, and BART kept a number of a version.
        table = "" if kind == "bart" else r"|(en|de)coder\.embed_positions\.weight"
        rest = r"shared\.weight|(en|de)coder\.embed_tokens\.weight|(en|de)coder\.version"
        self.ignored = re.compile(rf"(model\.)?({rest}{table})|lm_head\.weight")

    def outline(self, config: Config, shapes: Mapping[str, tuple[int, ...]]) -> Outline:
        width = config.number("d_model")
        places = config.number("max_position_embeddings", default=1024)
        before = self.kind == "pegasus"
        config.only(
            "normalize_before", before, f"{self.kind} has its norms {'before' if before else 'after'}"
        )
        config.only("normalize_embedding", self.kind == "bart", "only BART's embeddings have a norm")
        config.only("add_final_layer_norm", before, "a norm at the end goes with norms before")
        config.only("static_position_embeddings", self.kind != "bart", "other positions than its family")
        if self.kind != "bart" and width % 2:
            config.refuse("d_model", "sines and cosines need an even number")
        shared = config.flag("share_encoder_decoder_embeddings", True)
        tied = config.flag("tie_word_embeddings", True)
        if self.kind != "marian":
            shared = tied

        def part(side: str) -> dict[str, Any]:
            return {
                "layers": config.number(f"{side}_layers"),
                "heads": config.number(f"{side}_attention_heads"),
                "feedforward": config.number(f"{side}_ffn_dim"),
                "activation": config.choice("activation_function", ACTIVATIONS, "gelu"),
                "norm": "before" if before else "after",
                "positions": "learned" if self.kind == "bart" else "sinusoidal",
            }

        model = {
            "width": width,
            "max_length": places,
            "dropout": config.share("dropout", default=0.1),
            "attention_dropout": config.share("attention_dropout"),
            "front": {"scale": config.flag("scale_embedding", False), "norm": self.kind == "bart"},
            "encoder": part("encoder"),
            "decoder": part("decoder"),
            "share_embeddings": shared,
            "tie_output": tied,
        }
        decoding = {"beam": min(config.number("num_beams", default=1), 1000), "length_penalty": 1.0}
        return Outline(model, places, self.kind != "bart", decoding=decoding)

    def names(self, model: ModelSettings) -> list[Names]:
        assert isinstance(model.encoder, TransformerSettings) and model.decoder is not None
        if model.share_embeddings:
            found = [Names(("front.embed.weight",), ("model.shared.weight",), rows="target")]
        else:
            found = [
                Names(("front.embed.weight",), ("model.encoder.embed_tokens.weight",), rows="source"),
                Names(("decoder.embed.weight",), ("model.decoder.embed_tokens.weight",), rows="target"),
            ]
        found += output_layer(model, "lm_head.weight", "final_logits_bias", row=True)
        sides = {"encoder": ("front", model.encoder.layers), "decoder": ("decoder", model.decoder.layers)}
        for side, (embedded, layers) in sides.items():
            if self.kind == "pegasus":
                found += linear(f"{side}.final_norm", f"model.{side}.layer_norm")
            if self.kind == "bart":
                table = f"model.{side}.embed_positions.weight"
                found.append(Names((f"{embedded}.positions.table",), (table,), offset=_OFFSET))
                found += linear(f"{embedded}.norm", f"model.{side}.layernorm_embedding")
            for layer in range(layers):
                found += block_names(
                    f"{side}.blocks.{layer}", f"model.{side}.layers.{layer}", side == "decoder"
                )
        return found

    def config(self, model: ModelSettings) -> dict[str, Any]:
        """The configuration of a model of ours, which goes out as Marian or Pegasus by its norms."""
        encoder, decoder = model.encoder, model.decoder
        assert isinstance(encoder, TransformerSettings) and isinstance(decoder, TransformerSettings)
        for side, part in (("encoder", encoder), ("decoder", decoder)):
            wanted = {
                "positions = sinusoidal": part.positions == "sinusoidal" and not part.join_positions,
                "norm_kind = layer": part.norm_kind == "layer",
                "bias = true": part.bias,
                "groups = heads": part.groups in (None, part.heads),
                "activation other than swiglu": part.activation != "swiglu",
                "epsilon = 1e-05": part.epsilon == 1e-5,
                f"norm = {encoder.norm}": part.norm == encoder.norm,
                f"activation = {encoder.activation}": part.activation == encoder.activation,
            }
            for name in (name for name, given in wanted.items() if not given):
                raise SettingsError(
                    f"an encoder-decoder goes out with model.{side}.{name}, and this model has not: Marian "
                    "and Pegasus, which transformers knows, have no other part there"
                )
        if model.front.embedding_norm(1) is not None:
            raise SettingsError(
                f"{self.kind} has no norm over embeddings, and this model has (model.front.norm)"
            )
        names = {ours: theirs for theirs, ours in reversed(ACTIVATIONS.items())}
        return {
            "architectures": [self.architecture],
            "model_type": self.kind,
            "is_encoder_decoder": True,
            "d_model": model.width,
            "max_position_embeddings": model.max_length,
            "encoder_layers": encoder.layers,
            "decoder_layers": decoder.layers,
            "encoder_attention_heads": encoder.heads,
            "decoder_attention_heads": decoder.heads,
            "encoder_ffn_dim": encoder.feedforward,
            "decoder_ffn_dim": decoder.feedforward,
            "activation_function": names[encoder.activation],
            "dropout": model.dropout,
            "attention_dropout": model.attention_dropout,
            "scale_embedding": model.front.embedding_scale(4) != 1.0,
            "tie_word_embeddings": model.tie_output,
        }


def block_names(ours: str, theirs: str, crosses: bool) -> list[Names]:
    """The weights of a block, which Marian and its kin have from fairseq."""
    found: list[Names] = []
    attentions = {"attention": "self_attn", "cross": "encoder_attn"}
    for own, foreign in list(attentions.items())[: 1 + crosses]:
        projections = {"query": "q_proj", "key": "k_proj", "value": "v_proj", "output": "out_proj"}
        for name, there in projections.items():
            found += linear(f"{ours}.{own}.{name}", f"{theirs}.{foreign}.{there}")
        found += linear(f"{ours}.{own}_residual.norm", f"{theirs}.{foreign}_layer_norm")
    found += linear(f"{ours}.feedforward.enter", f"{theirs}.fc1")
    found += linear(f"{ours}.feedforward.leave", f"{theirs}.fc2")
    found += linear(f"{ours}.feedforward_residual.norm", f"{theirs}.final_layer_norm")
    return found
