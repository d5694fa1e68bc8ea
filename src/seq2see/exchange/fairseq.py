"""Transformers of fairseq: a checkpoint, a dictionary for each side, perhaps the codes of sub-words."""

import argparse
import codecs
import json
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy._core import multiarray
from torch import Tensor

from seq2see.errors import DataError
from seq2see.exchange.config import Config
from seq2see.exchange.family import ACTIVATIONS, output_layer
from seq2see.exchange.names import Names, linear, repeated, taken
from seq2see.exchange.reading import read_lines
from seq2see.exchange.seq2seq import block_names
from seq2see.exchange.texts import Texts
from seq2see.exchange.vocabularies import Vocabulary, library_tokenizer
from seq2see.goals import goal_named
from seq2see.goals.generate import columns_of
from seq2see.models.settings import ModelSettings
from seq2see.recipe import Recipe, compose
from seq2see.text import SPECIAL, Codec, Tokenizer, TokenizerSettings
from seq2see.wording import quoted

__all__ = ["is_fairseq", "read_fairseq"]

_SYMBOLS = ("<s>", "<pad>", "</s>", "<unk>")
"""The first rows of every table."""
_FIRST = [1, 2, 2, 3]
"""Rows of our padding, begin (the decoder begins with the end symbol), end and unknown."""
_OFFSET = 2
"""Places are counted from after the number of padding."""
_CODES = ("bpe.code", "bpe.codes", "bpecodes", "codes", "code")
_SAFE: list[Any] = [
    argparse.Namespace,
    np.ndarray,
    np.dtype,
    *(type(np.dtype(kind)) for kind in ("f4", "f8", "i4", "i8", "u4", "u8")),
    (multiarray._reconstruct, "numpy.core.multiarray._reconstruct"),
    (multiarray.scalar, "numpy.core.multiarray.scalar"),
    codecs.encode,
]
"""What a checkpoint holds besides tensors: settings, and figures of training."""


def is_fairseq(folder: Path) -> bool:
    """Whether a folder holds dictionaries of fairseq, in itself or under `data`."""
    return bool(_dictionaries(folder)) and not (folder / "config.json").exists()


def _dictionaries(folder: Path) -> list[Path]:
    return sorted(folder.glob("dict.*.txt")) or sorted(folder.glob("data/dict.*.txt"))


def read_fairseq(
    folder: Path, allow_pickle: bool, tell: Callable[[str], None]
) -> tuple[Recipe, Texts, dict[str, Tensor], int]:
    """Recipe, texts, weights and places of a folder of fairseq."""
    path = _checkpoint(folder)
    if not allow_pickle:
        raise DataError(
            f"{path} is a pickle, which can hold programs; if you trust where it comes from, allow the "
            "numbers and settings in it to be read with --allow-pickle"
        )
    settings, tensors = _unpickled(path)
    config = Config(settings, path)
    rows = {side: _rows(tensors, f"{side}.embed_tokens.weight", path) for side in ("encoder", "decoder")}
    texts = _texts(folder, config, rows, tell)
    recipe = _recipe(folder, config, texts)
    names = _names(recipe.model, config)
    with torch.device("meta"):
        network = goal_named("generate").network(recipe, texts.columns)
    shapes = {name: tuple(parameter.shape) for name, parameter in network.named_parameters()}
    given = dict(tensors)
    places, width = recipe.model.max_length, recipe.model.width
    for side in ("encoder", "decoder"):
        if not config.flag(f"{side}_learned_pos"):
            given[f"{side}.embed_positions.weight"] = _sinusoidal(places, width)
    weights = taken(names, shapes, texts.orders, given.get)
    used = {name for one in names for name in one.theirs}
    for name in sorted(tensors.keys() - used):
        if not name.endswith((".version", "._float_tensor", "output_projection.weight", "embed_out")):
            raise DataError(f"{path} has the weight {quoted(name)}, of a part that our model does not have")
    return recipe, texts, weights, places


def _checkpoint(folder: Path) -> Path:
    found = sorted([*folder.glob("*.pt"), *folder.glob("checkpoints/*.pt")])
    best = [path for path in found if path.name == "checkpoint_best.pt"]
    if not found or (len(found) > 1 and len(best) != 1):
        raise DataError(f"{folder} has {len(found)} checkpoints (*.pt); leave one, or one checkpoint_best.pt")
    return (best or found)[0]


def _unpickled(path: Path) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """Settings and weights, by PyTorch's reader that runs no programs."""
    try:
        with torch.serialization.safe_globals(_SAFE):
            found = torch.load(path, map_location="cpu", weights_only=True)
        settings = found.get("args") or found["cfg"]["model"]
        settings = dict(settings) if isinstance(settings, Mapping) else vars(settings)
        weights = {str(name): tensor.float() for name, tensor in found["model"].items()}
    except Exception as error:  # whatever a file that somebody made up leads to
        raise DataError(f"{path} is not a checkpoint of fairseq: {quoted(str(error))}") from None
    return settings, weights


def _rows(tensors: Mapping[str, Tensor], name: str, path: Path) -> int:
    if name not in tensors or tensors[name].dim() != 2:
        raise DataError(f"{path} is not an encoder-decoder of fairseq: it has no table {name}")
    return len(tensors[name])


def _texts(folder: Path, config: Config, rows: Mapping[str, int], tell: Callable[[str], None]) -> Texts:
    """The dictionaries as tokenizers. With the codes of sub-words beside them, plain texts can be read."""
    source, target = _sides(folder, config, rows)
    codes = next((path for name in _CODES if (path := source.parent / name).is_file()), None)
    if codes is None:
        tell("texts are read and written as the dictionaries have them: tokens with spaces between them")
    made = [_vocabulary(path, rows[side], codes) for path, side in ((source, "encoder"), (target, "decoder"))]
    kind = {"kind": "symbols" if codes is None else "bpe"}
    if source == target:
        tokenizer = made[0].tokenizer
        orders = {"source": made[0].order, "target": made[0].order}
        both = {"source": kind, "target": kind, "shared": True}
        return Texts(columns_of(Codec(tokenizer, tokenizer)), orders, both)
    codec = Codec(made[0].tokenizer, made[1].tokenizer)
    orders = {"source": made[0].order, "target": made[1].order}
    return Texts(columns_of(codec), orders, {"source": kind, "target": kind})


def _sides(folder: Path, config: Config, rows: Mapping[str, int]) -> tuple[Path, Path]:
    """The dictionaries of sources and of targets: by the languages, or else by their sizes."""
    listed = {path.name.removeprefix("dict.").removesuffix(".txt"): path for path in _dictionaries(folder)}
    if config.flag("share_all_embeddings"):
        return (first := next(iter(listed.values()))), first
    languages = [config.get(f"{side}_lang") for side in ("source", "target")]
    if all(language in listed for language in languages):
        return listed[languages[0]], listed[languages[1]]
    fitting = {
        side: [path for path in listed.values() if abs(rows[side] - 4 - len(read_lines(path))) < 8]
        for side in rows
    }
    if len(fitting["encoder"]) == len(fitting["decoder"]) == 1:
        return fitting["encoder"][0], fitting["decoder"][0]
    raise DataError(
        f"{folder}: which of {', '.join(path.name for path in listed.values())} is that of the sources "
        "is not to be told; leave two dictionaries, of sizes that fit the tables of the checkpoint"
    )


def _vocabulary(path: Path, rows: int, codes: Path | None) -> Vocabulary:
    tokens = [line.rpartition(" ")[0] for line in read_lines(path)]
    if rows < len(_SYMBOLS) + len(tokens):
        raise DataError(
            f"{path} has {len(tokens):,} tokens, more than the checkpoint: it is of another model"
        )
    names = [*SPECIAL, "< <s> >"]
    order: list[int | None] = [*_FIRST, 0]
    for number, token in enumerate(tokens, len(_SYMBOLS)):
        if codes is not None:
            token = token.removesuffix("@@") if token.endswith("@@") else f"{token}</w>"
        names.append(token)
        order.append(number)
    for number in range(len(_SYMBOLS) + len(tokens), rows):  # which fill up a table
        names.append(f"< row {number} >")
        order.append(number)
    if codes is None:
        parts = json.loads(Tokenizer.learn(["a"], TokenizerSettings(kind="symbols")).to_json())
    else:
        parts, further = _sub_words(codes, names)
        names += further
        order += [_FIRST[3]] * len(further)  # a piece that the dictionary does not have is the unknown one
    if len(set(names)) < len(names):
        raise DataError(f"{path} has a token twice")
    parts["model"]["vocab"] = {name: place for place, name in enumerate(names)}
    return Vocabulary(Tokenizer(library_tokenizer(parts, str(path))), order)


def _sub_words(codes: Path, names: list[str]) -> tuple[dict[str, Any], list[str]]:
    """The tokenizer of subword-nmt, and the pieces on its way that are in no dictionary."""
    lines = [line for line in read_lines(codes) if line.strip() and not line.startswith("#version")]
    merges = [line.split(" ")[:2] for line in lines]
    if not all(len(merge) == 2 for merge in merges):
        raise DataError(f"{codes} is not a list of merges, two pieces on each line")
    known = set(names)
    wanted = dict.fromkeys(piece for first, second in merges for piece in (first, second, first + second))
    parts = json.loads(Tokenizer.learn(["a"], TokenizerSettings(kind="symbols")).to_json())
    parts["model"] = {
        "type": "BPE",
        "dropout": None,
        "unk_token": SPECIAL[3],
        "continuing_subword_prefix": None,
        "end_of_word_suffix": "</w>",
        "fuse_unk": False,
        "byte_fallback": False,
        "ignore_merges": False,
        "vocab": {},
        "merges": merges,
    }
    parts |= {
        "pre_tokenizer": {"type": "WhitespaceSplit"},
        "decoder": {"type": "BPEDecoder", "suffix": "</w>"},
    }
    return parts, [piece for piece in wanted if piece not in known]


def _recipe(folder: Path, config: Config, texts: Texts) -> Recipe:
    width = config.number("encoder_embed_dim")
    config.only("decoder_embed_dim", width, "our model has one width")
    for key in ("decoder_input_dim", "decoder_output_dim"):
        config.only(key, width, "our model has one width")
    config.only("no_token_positional_embeddings", False, "positions are part of our import")
    if config.get("adaptive_softmax_cutoff") is not None:
        config.refuse("adaptive_softmax_cutoff", "our output layer is a plain one")
    shared = config.flag("share_all_embeddings")
    tied = shared or config.flag("share_decoder_input_output_embed")
    places = min(config.number(f"max_{side}_positions", default=1024) for side in ("source", "target"))

    def part(side: str) -> dict[str, Any]:
        return {
            "layers": config.number(f"{side}_layers"),
            "heads": config.number(f"{side}_attention_heads"),
            "feedforward": config.number(f"{side}_ffn_embed_dim"),
            "activation": config.choice("activation_fn", ACTIVATIONS, "relu"),
            "norm": "before" if config.flag(f"{side}_normalize_before") else "after",
            "positions": "learned",
        }

    order = texts.orders["target"]
    model = {
        "width": width,
        "max_length": places,
        "dropout": config.share("dropout", default=0.1),
        "attention_dropout": config.share("attention_dropout"),
        "front": {"scale": not config.flag("no_scale_embedding"), "norm": config.flag("layernorm_embedding")},
        "encoder": part("encoder"),
        "decoder": part("decoder"),
        "share_embeddings": shared,
        "tie_output": tied,
        "output_bias": tied and bool(repeated(order).any()),
    }
    values = {
        "data": {"train": str(folder.absolute()), "max_length": min(512, places)},
        "text": texts.settings,
        "model": model,
        "decoding": {"beam": 5, "length_penalty": 1.0},
    }
    return compose([values], str(config.path))


def _names(model: ModelSettings, config: Config) -> list[Names]:
    found = [Names(("front.embed.weight",), ("encoder.embed_tokens.weight",), rows="source")]
    if not model.share_embeddings:
        found.append(Names(("decoder.embed.weight",), ("decoder.embed_tokens.weight",), rows="target"))
    found += output_layer(model, "decoder.output_projection.weight", "decoder.output_projection.bias")
    for side, embedded in (("encoder", "front"), ("decoder", "decoder")):
        table = f"{side}.embed_positions.weight"
        found.append(Names((f"{embedded}.positions.table",), (table,), offset=_OFFSET))
        if config.flag("layernorm_embedding"):
            found += linear(f"{embedded}.norm", f"{side}.layernorm_embedding")
        if config.flag(f"{side}_normalize_before"):
            found += linear(f"{side}.final_norm", f"{side}.layer_norm")
        for layer in range(config.number(f"{side}_layers")):
            found += block_names(f"{side}.blocks.{layer}", f"{side}.layers.{layer}", side == "decoder")
    return found


def _sinusoidal(places: int, width: int) -> Tensor:
    """The table that fairseq computes: all sines before all cosines, by rates of its own, (2 + T, D)."""
    half = width // 2
    rates = torch.exp(torch.arange(half) * (-math.log(10000.0) / max(1, half - 1)))
    angles = torch.arange(places + _OFFSET).unsqueeze(1) * rates
    table = torch.cat([angles.sin(), angles.cos()], 1)
    return torch.nn.functional.pad(table, (0, width - table.shape[1]))
