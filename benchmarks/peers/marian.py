"""Hugging Face's Marian model: a new one by sizes, or one with the weights of a seq2see run."""

import json
import math
from pathlib import Path

import torch
from clock import read_lines
from safetensors.torch import load_file
from torch import Tensor, nn
from transformers import MarianConfig, MarianMTModel

__all__ = ["BEGIN", "END", "PAD", "SPECIAL", "UNKNOWN", "carried_over", "new_model", "read_tokens"]

# The ids of seq2see, so that its embeddings keep their order.
SPECIAL = ("<pad>", "<s>", "</s>", "<unk>")
PAD, BEGIN, END, UNKNOWN = range(len(SPECIAL))
_PLACES = 512

# Names in the blocks of seq2see, and what Marian calls the same.
_ATTENTION = {"query": "q_proj", "key": "k_proj", "value": "v_proj", "output": "out_proj"}
_NAMES = {
    **{f"attention.{ours}": f"self_attn.{theirs}" for ours, theirs in _ATTENTION.items()},
    **{f"cross.{ours}": f"encoder_attn.{theirs}" for ours, theirs in _ATTENTION.items()},
    "attention_residual.norm": "self_attn_layer_norm",
    "cross_residual.norm": "encoder_attn_layer_norm",
    "feedforward.enter": "fc1",
    "feedforward.leave": "fc2",
    "feedforward_residual.norm": "final_layer_norm",
}


def read_tokens(path: Path) -> list[list[str]]:
    """Symbols of each line."""
    return [line.split(" ") for line in read_lines(path)]


def new_model(
    types: int, layers: int, width: int, feedforward: int, heads: int, dropout: float = 0.0
) -> MarianMTModel:
    """An untrained model with shared embeddings, tied output and norms after each residual."""
    config = MarianConfig(
        vocab_size=types,
        d_model=width,
        encoder_layers=layers,
        decoder_layers=layers,
        encoder_ffn_dim=feedforward,
        decoder_ffn_dim=feedforward,
        encoder_attention_heads=heads,
        decoder_attention_heads=heads,
        dropout=dropout,
        attention_dropout=0.0,
        activation_dropout=0.0,
        activation_function="relu",
        scale_embedding=True,
        max_position_embeddings=_PLACES,
        pad_token_id=PAD,
        bos_token_id=BEGIN,
        eos_token_id=END,
        decoder_start_token_id=BEGIN,
        forced_eos_token_id=None,
        share_encoder_decoder_embeddings=True,
        init_std=width**-0.5,
    )
    model = MarianMTModel(config)
    for name, weight in model.named_parameters():
        if weight.dim() > 1 and "embed" not in name and "shared" not in name:
            nn.init.xavier_uniform_(weight)
    return model


def carried_over(run: Path) -> tuple[MarianMTModel, list[str]]:
    """The model of a run, and the symbols of its vocabulary by id."""
    known = json.loads((run / "tokenizers" / "shared.json").read_text(encoding="utf-8"))["model"]["vocab"]
    symbols = [*SPECIAL, *sorted(known, key=known.__getitem__)[len(SPECIAL) :]]
    ours = load_file(run / "model.safetensors")
    embed = ours.pop("encoder.embed.weight")
    feedforward, width = ours["encoder.blocks.0.feedforward.enter.weight"].shape
    layers = len({name.split(".")[2] for name in ours if name.startswith("encoder.blocks.")})
    model = new_model(len(symbols), layers, width, feedforward, heads=_heads(run))
    theirs = {_their_name(name): tensor for name, tensor in ours.items()}
    for side in ("encoder", "decoder"):
        theirs[f"model.{side}.embed_positions.weight"] = _positions(width)
        theirs[f"model.{side}.embed_tokens.weight"] = embed
    theirs |= {"model.shared.weight": embed, "lm_head.weight": embed}
    missing, unknown = model.load_state_dict(theirs, strict=False)
    if unknown or set(missing) - {"final_logits_bias"}:
        raise ValueError(f"the weights of {run} do not fit Marian: {unknown} unknown, {missing} missing")
    return model.eval(), symbols


def _heads(run: Path) -> int:
    # The recipe holds nothing else that the weights do not tell.
    line = next(line for line in (run / "recipe.yaml").read_text().splitlines() if "heads:" in line)
    return int(line.split("heads:")[1].split(",")[0])


def _their_name(name: str) -> str:
    side, _, layer, *rest, kind = name.split(".")
    return f"model.{side}.layers.{layer}.{_NAMES['.'.join(rest)]}.{kind}"


def _positions(width: int) -> Tensor:
    """Sines in even columns, as seq2see has them; Marian's own table has them in the first half."""
    rates = torch.exp(torch.arange(0, width, 2) * (-math.log(10000.0) / width))
    angles = torch.arange(_PLACES).unsqueeze(1) * rates
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(1)
