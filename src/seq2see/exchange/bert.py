"""BERT and its kin ("BERT: Pre-training of Deep Bidirectional Transformers", Devlin et al. 2019)."""

import re
from collections.abc import Mapping
from typing import Any, Literal

from seq2see.errors import SettingsError
from seq2see.exchange.config import Config
from seq2see.exchange.family import ACTIVATIONS, Outline
from seq2see.exchange.names import Names, linear
from seq2see.models.settings import ModelSettings, TransformerSettings

__all__ = ["Bert"]


class Bert:
    """An encoder alone, which fills gaps; RoBERTa counts its places from 2 on, and has other names."""

    goal = "fill"

    def __init__(self, kind: Literal["bert", "roberta"]) -> None:
        self.kind = kind
        self.prefixes = (f"{kind}.",)
        self._offset = 2 if kind == "roberta" else 0
        self._head = "lm_head" if kind == "roberta" else "cls.predictions"
        # Pooler and next-sentence head belong to another task; the rest is no weight, or is there again.
        left = r"pooler\.dense\.(weight|bias)|embeddings\.position_ids"
        again = rf"{re.escape(self._head)}\.decoder\.(weight|bias)|cls\.seq_relationship\.(weight|bias)"
        self.ignored = re.compile(rf"({kind}\.)?({left})|{again}")
        self.aliases: Mapping[str, tuple[str, ...]] = {f"{self._head}.bias": (f"{self._head}.decoder.bias",)}

    def outline(self, config: Config, shapes: Mapping[str, tuple[int, ...]]) -> Outline:
        config.only("is_decoder", False, "a model that fills gaps looks both ways")
        config.only("add_cross_attention", False, "a model that fills gaps has one text")
        config.only("position_embedding_type", "absolute", "our learned positions are absolute")
        if self.kind == "roberta":
            config.only("pad_token_id", 1, "RoBERTa's places begin after the number of its padding, at 2")
        config.only("embedding_size", config.get("hidden_size"), "our embedding has the model's width")
        epsilon = config.share("layer_norm_eps", default=1e-12)
        activation = config.choice("hidden_act", ACTIVATIONS, "gelu")
        places = config.number("max_position_embeddings", default=512) - self._offset
        headed = any(name.startswith(self._head) for name in shapes)
        notes = []
        if any("token_type_embeddings" in name for name in shapes):
            notes.append("the vector of token type 0 is part of each position's: a text is one segment")
        if any("pooler" in name for name in shapes):
            notes.append("the pooler, a layer over the first state for another task, is left out")
        if not headed:
            notes.append(
                "there are no weights of a head that fills gaps: what the model says of masked tokens means "
                "nothing until it is trained; its states, attention and fine-tuning are whole"
            )
        part = {
            "layers": config.number("num_hidden_layers"),
            "heads": config.number("num_attention_heads"),
            "feedforward": config.number("intermediate_size"),
            "activation": activation,
            "norm": "after",
            "epsilon": epsilon,
            "positions": "learned",
        }
        model = {
            "width": config.number("hidden_size"),
            "max_length": places,
            "dropout": config.share("hidden_dropout_prob", default=0.1),
            "attention_dropout": config.share("attention_probs_dropout_prob", default=0.1),
            "front": {"scale": False, "norm": True, "epsilon": epsilon},
            "encoder": part,
            "decoder": None,
            "head": {"transform": {"activation": self._activation(activation), "epsilon": epsilon}}
            if headed
            else {},
        }
        return Outline(model, places, notes=notes)

    def _activation(self, activation: str) -> str:
        """Of the head; RoBERTa's is always the same."""
        return "gelu" if self.kind == "roberta" else activation

    def names(self, model: ModelSettings) -> list[Names]:
        assert isinstance(model.encoder, TransformerSettings)
        embeddings, head = f"{self.kind}.embeddings", self._head
        table, types = (
            f"{embeddings}.position_embeddings.weight",
            f"{embeddings}.token_type_embeddings.weight",
        )
        found = [
            Names(("front.embed.weight",), (f"{embeddings}.word_embeddings.weight",), rows="source"),
            Names(("front.positions.table",), (table,), offset=self._offset, added=types),
            *linear("front.norm", f"{embeddings}.LayerNorm"),
            Names(("head.bias",), (f"{head}.bias",), rows="source", optional=True),
        ]
        if model.head.transform is not None:
            dense, norm = (
                ("dense", "layer_norm") if self._offset else ("transform.dense", "transform.LayerNorm")
            )
            found += linear("head.transform", f"{head}.{dense}")
            found += linear("head.norm", f"{head}.{norm}")
        for layer in range(model.encoder.layers):
            ours, theirs = f"encoder.blocks.{layer}", f"{self.kind}.encoder.layer.{layer}"
            for name in ("query", "key", "value"):
                found += linear(f"{ours}.attention.{name}", f"{theirs}.attention.self.{name}")
            found += linear(f"{ours}.attention.output", f"{theirs}.attention.output.dense")
            found += linear(f"{ours}.attention_residual.norm", f"{theirs}.attention.output.LayerNorm")
            found += linear(f"{ours}.feedforward.enter", f"{theirs}.intermediate.dense")
            found += linear(f"{ours}.feedforward.leave", f"{theirs}.output.dense")
            found += linear(f"{ours}.feedforward_residual.norm", f"{theirs}.output.LayerNorm")
        return found

    def config(self, model: ModelSettings) -> dict[str, Any]:
        part = model.encoder
        if not isinstance(part, TransformerSettings):
            raise SettingsError(f"BERT is a Transformer, and this model has a {part.kind} encoder")
        transform, front = model.head.transform, model.front
        wanted = {
            "encoder.norm = after": part.norm == "after",
            "encoder.norm_kind = layer": part.norm_kind == "layer",
            "encoder.bias = true": part.bias,
            "encoder.groups = heads": part.groups in (None, part.heads),
            "encoder.positions = learned": part.positions == "learned" and not part.join_positions,
            "encoder.activation other than swiglu": part.activation != "swiglu",
            "front.scale = false": front.embedding_scale(4) == 1.0,
            "front.norm = true": front.embedding_norm(1) is not None,
            "front.epsilon = encoder.epsilon": getattr(front, "epsilon", None) == part.epsilon,
            "head.transform": transform is not None,
            "head.transform.epsilon = encoder.epsilon": transform is None
            or transform.epsilon == part.epsilon,
            "head.transform.activation = encoder.activation": transform is None
            or transform.activation == part.activation,
            "tie_output = true": model.tie_output,
        }
        for name in (name for name, given in wanted.items() if not given):
            raise SettingsError(
                f"BERT has model.{name}, and this model has not; the presets bert-tiny, bert-small and "
                "bert-base go out as BERT"
            )
        names = {ours: theirs for theirs, ours in reversed(ACTIVATIONS.items())}
        return {
            "architectures": ["BertForMaskedLM"],
            "model_type": "bert",
            "hidden_size": model.width,
            "num_hidden_layers": part.layers,
            "num_attention_heads": part.heads,
            "intermediate_size": part.feedforward,
            "hidden_act": names[part.activation],
            "hidden_dropout_prob": model.dropout,
            "attention_probs_dropout_prob": model.attention_dropout,
            "max_position_embeddings": model.max_length,
            "type_vocab_size": 1,
            "layer_norm_eps": part.epsilon,
            "tie_word_embeddings": True,
        }
