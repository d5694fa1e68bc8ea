"""The model of the package g2p-en: English letters to phonemes, GRUs on both sides without attention."""

import zipfile
from math import prod
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from seq2see.errors import DataError
from seq2see.exchange.texts import Texts
from seq2see.goals.generate import columns_of
from seq2see.recipe import Recipe
from seq2see.text import Codec, Tokenizer, TokenizerSettings

__all__ = ["CHECKPOINT", "LETTERS", "PHONEMES", "read_g2p_en"]

CHECKPOINT = "checkpoint20.npz"
LETTERS = ("<pad>", "<unk>", "</s>", *"abcdefghijklmnopqrstuvwxyz")
_VOWELS = ("AA", "AE", "AH", "AO", "AW", "AY", "EH", "ER", "EY", "IH", "IY", "OW", "OY", "UH", "UW")
_REST = (
    *("B", "CH", "D", "DH", "F", "G", "HH", "JH", "K", "L", "M", "N", "NG", "P", "R", "S", "SH", "T", "TH"),
    *("UW", "V", "W", "Y", "Z", "ZH"),
)
PHONEMES = (
    *("<pad>", "<unk>", "<s>", "</s>"),
    *sorted([*_REST, *(f"{vowel}{stress}" for vowel in _VOWELS for stress in "012")]),
)
"""Both in the order of the rows of the checkpoint."""
_LONGEST = 20
"""Phonemes that the package writes at the most."""
_LARGEST = 100_000_000


def read_g2p_en(path: Path) -> tuple[Recipe, Texts, dict[str, Tensor]]:
    """Recipe, texts and weights of the package's checkpoint, given by itself or by its folder."""
    path = path / CHECKPOINT if path.is_dir() else path
    found = _arrays(path)
    if "enc_w_hh" not in found or found["enc_w_hh"].ndim != 2:
        raise DataError(f"{path} is not the checkpoint of g2p-en: it has no matrix enc_w_hh")
    width = found["enc_w_hh"].shape[1]
    shapes: dict[str, tuple[int, ...]] = {"enc_emb": (len(LETTERS), width), "dec_emb": (len(PHONEMES), width)}
    for side in ("enc", "dec"):
        shapes |= {f"{side}_w_{part}": (3 * width, width) for part in ("ih", "hh")}
        shapes |= {f"{side}_b_{part}": (3 * width,) for part in ("ih", "hh")}
    shapes |= {"fc_w": (len(PHONEMES), width), "fc_b": (len(PHONEMES),)}
    for name, shape in shapes.items():
        if name not in found or found[name].shape != shape:
            raise DataError(f"{path} is not the checkpoint of g2p-en: {name} is not of the shape {shape}")
    texts = _texts()
    return _recipe(path, width), texts, _weights(found, texts, width)


def _arrays(path: Path) -> dict[str, Tensor]:
    """The arrays of a file, none of which claims more than it has."""
    found = {}
    try:
        with zipfile.ZipFile(path) as archive:
            listed = archive.infolist()
            if sum(one.file_size for one in listed) > _LARGEST:
                raise DataError(
                    f"{path} claims more than {_LARGEST:,} bytes, and is not the checkpoint of g2p-en"
                )
            for one in listed:
                with archive.open(one) as file:
                    version = np.lib.format.read_magic(file)
                    read = np.lib.format.read_array_header_1_0
                    shape, by_columns, kind = read(file) if version == (1, 0) else ((), False, np.dtype("O"))
                    if kind != np.float32 or by_columns or prod(shape) * 4 > one.file_size:
                        raise DataError(f"{path}: {one.filename} is not an array of 32 bits in its own size")
                    values = np.frombuffer(file.read(prod(shape) * 4), np.float32).reshape(shape)
                found[one.filename.removesuffix(".npy")] = torch.from_numpy(values.copy())
    except (zipfile.BadZipFile, ValueError, EOFError, NotImplementedError) as error:
        raise DataError(f"{path} is damaged: {error}") from None
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}") from None
    return found


def _texts() -> Texts:
    letters = Tokenizer.learn(LETTERS[3:], TokenizerSettings(kind="characters"))
    phonemes = Tokenizer.learn(PHONEMES[4:], TokenizerSettings(kind="symbols"))

    def order(tokenizer: Tokenizer, rows: tuple[str, ...]) -> list[int | None]:
        names = sorted(tokenizer.vocabulary, key=tokenizer.vocabulary.__getitem__)[4:]
        first = ("<pad>", "<s>", "</s>", "<unk>")
        return [rows.index(name) if name in rows else None for name in (*first, *names)]

    orders = {"source": order(letters, LETTERS), "target": order(phonemes, PHONEMES)}
    settings = {"source": {"kind": "characters"}, "target": {"kind": "symbols"}}
    return Texts(columns_of(Codec(letters, phonemes)), orders, settings)


def _recipe(path: Path, width: int) -> Recipe:
    part = {"kind": "recurrent", "cell": "gru"}
    return Recipe.model_validate(
        {
            "data": {"train": str(path.absolute())},
            "text": {"source": {"kind": "characters"}, "target": {"kind": "symbols"}},
            "model": {
                "width": width,
                "dropout": 0.0,
                "tie_output": False,
                "front": {"scale": False},
                "encoder": part | {"bidirectional": False},
                "decoder": part | {"attention": "none", "bridge": "none"},
            },
            "decoding": {"beam": 1, "max_length": _LONGEST + 1},
        }
    )


def _weights(found: dict[str, Tensor], texts: Texts, width: int) -> dict[str, Tensor]:
    def rows(name: str, side: str) -> Tensor:
        order = texts.orders[side]
        chosen = found[name][torch.tensor([0 if row is None else row for row in order])]
        chosen[torch.tensor([row is None for row in order])] = 0.0
        return chosen

    gates = {"weight_ih": "w_ih", "weight_hh": "w_hh", "bias_ih": "b_ih", "bias_hh": "b_hh"}
    weights = {"front.embed.weight": rows("enc_emb", "source")}
    for ours, theirs in gates.items():
        weights[f"encoder.layers.0.rightward.weights.{ours}_l0"] = found[f"enc_{theirs}"]
    weights["decoder.embed.weight"] = rows("dec_emb", "target")
    for ours, theirs in gates.items():
        weights[f"decoder.layers.0.weights.{ours}_l0"] = found[f"dec_{theirs}"]
    weights |= {"decoder.combine.weight": torch.eye(width), "decoder.combine.bias": torch.zeros(width)}
    return weights | {
        "head.output.weight": rows("fc_w", "target"),
        "head.output.bias": rows("fc_b", "target"),
    }
