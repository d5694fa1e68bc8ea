"""Marian's vocabularies: a SentencePiece model for each side, and the numbers of pieces beside them."""

import base64
import json
from pathlib import Path
from typing import Any

from seq2see.errors import DataError
from seq2see.exchange.reading import read_json
from seq2see.exchange.sentencepiece import Pieces, read_pieces
from seq2see.exchange.vocabularies import Vocabulary, library_tokenizer
from seq2see.text import SPECIAL, UNKNOWN, Tokenizer

__all__ = ["marian_vocabularies"]


def marian_vocabularies(
    folder: Path, pad: int | None, start: int | None, end: int | None
) -> tuple[Vocabulary, Vocabulary]:
    """What the sources and the targets of a Marian folder are cut into."""
    numbers = _numbers(folder / "vocab.json")
    other = folder / "target_vocab.json"
    targets = _numbers(other) if other.is_file() else numbers
    source, target = (read_pieces(folder / f"{side}.spm") for side in ("source", "target"))
    first = [pad, start, end]
    return _vocabulary(source, numbers, first, folder, all_tokens=False), _vocabulary(
        target, targets, first, folder, all_tokens=True
    )


def _numbers(path: Path) -> dict[str, int]:
    found = read_json(path)
    if not all(type(number) is int and number >= 0 for number in found.values()):
        raise DataError(f"{path} is not a list of pieces and their numbers")
    return found


def _vocabulary(
    pieces: Pieces, numbers: dict[str, int], first: list[int | None], folder: Path, all_tokens: bool
) -> Vocabulary:
    """One side. A piece without a number has the vector of the unknown one, but its own id and text.

    A token that is no piece of this side (one of the other side's) is never cut out of a text, as no text
    has the space at the beginning of its name; the decoder takes that away. Languages as `>>deu<<` are found.
    """
    unknown = numbers.get("<unk>")
    if unknown is None:
        raise DataError(f"{folder}: the vocabulary lacks <unk>")
    used = {*first, unknown}
    languages = [name for name in numbers if name.startswith(">>") and name.endswith("<<")]
    names, order = list(SPECIAL), [*first, unknown]
    scores = [0.0] * len(names)
    for name, number in sorted(numbers.items(), key=lambda pair: pair[1]):
        if number in used or not (all_tokens or name in pieces.scores or name in languages):
            continue
        own = name in pieces.scores or name in languages
        names.append(name if own else f" {name}")
        scores.append(pieces.scores.get(name, 0.0))
        order.append(number)
    for name, score in pieces.scores.items():
        if name not in numbers:
            names.append(name)
            scores.append(score)
            order.append(unknown)
    model = {
        "type": "Unigram",
        "unk_id": UNKNOWN,
        "vocab": [[name, score] for name, score in zip(names, scores, strict=True)],
        "byte_fallback": False,
    }
    places = {name: place for place, name in enumerate(names)}
    parts = _description(pieces, model) | {
        "added_tokens": [
            {"id": places[name], "content": name, "special": False, "normalized": False} | _PLAIN
            for name in languages
            if name in places
        ]
    }
    return Vocabulary(Tokenizer(library_tokenizer(parts, str(folder))), order)


_PLAIN = {"single_word": False, "lstrip": False, "rstrip": False}


def _description(pieces: Pieces, model: dict[str, Any]) -> dict[str, Any]:
    changed = base64.b64encode(pieces.characters).decode("ascii")
    steps: list[dict[str, Any]] = (
        [{"type": "Precompiled", "precompiled_charsmap": changed}] if changed else []
    )
    steps += [
        {"type": "Strip", "strip_left": True, "strip_right": True},
        {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "},
    ]
    spaces = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True}
    own = {"type": "Replace", "pattern": {"String": " "}, "content": ""}
    found: dict[str, Any] = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "normalizer": {"type": "Sequence", "normalizers": steps},
        "pre_tokenizer": spaces,
        "post_processor": None,
        "decoder": {"type": "Sequence", "decoders": [own, spaces]},
        "model": model,
    }
    return json.loads(json.dumps(found))  # type: ignore[no-any-return]
