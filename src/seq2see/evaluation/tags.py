"""Scores of tags, and of the spans that BIO tags draw."""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seq2see.evaluation.outcomes import Tags

__all__ = [
    "draw_spans",
    "has_unseen_words",
    "spans",
    "spans_in_common",
    "unseen_words_right",
    "whole_sentences",
]

_SPAN_TAG = re.compile(r"[BIES]-.+")

Span = tuple[str, int, int]
"""Its type, the place of its first word, the place after its last."""


def unseen_words_right(tags: Tags) -> NDArray[np.floating[Any]]:
    """Words that training never showed and that got their tag, and all such words: (sentences, 2)."""
    return tags.right(unseen=True)


def has_unseen_words(tags: Tags) -> bool:
    """Whether training's words are known, and some words are not among them."""
    known = tags.known
    return known is not None and any(word not in known for sentence in tags.words for word in sentence)


def whole_sentences(tags: Tags) -> NDArray[np.floating[Any]]:
    """1 for a sentence without a wrong tag, else 0; and 1: (sentences, 2)."""
    right = [(list(a) == list(b), 1) for a, b in zip(tags.truth, tags.predicted, strict=True)]
    return np.array(right, dtype=float).reshape(-1, 2)


def draw_spans(tags: Tags) -> bool:
    """Whether the true tags are BIO or BIOES tags with at least one span."""
    names = {tag for sentence in tags.truth for tag in sentence} - {"O"}
    return bool(names) and all(map(_SPAN_TAG.fullmatch, names))


def spans_in_common(tags: Tags) -> NDArray[np.floating[Any]]:
    """Twice the spans in common, and the spans of both sides: (sentences, 2)."""
    counted = []
    for truth, predicted in zip(tags.truth, tags.predicted, strict=True):
        true, found = spans(truth), spans(predicted)
        counted.append((2 * len(set(true) & set(found)), len(true) + len(found)))
    return np.array(counted, dtype=float).reshape(-1, 2)


def spans(tags: Sequence[str]) -> list[Span]:
    """The spans of one sentence, read as generously as CoNLL's script does.

    A span goes on while its type stays, until a tag begins another (B, S) or it was ended (E, S); one may
    begin without B.
    """
    found: list[Span] = []
    before = ("O", "")
    for place, tag in enumerate(tags):
        prefix, _, kind = tag.partition("-")
        if prefix != "O":
            if prefix in "BS" or before[0] in "OES" or before[1] != kind:
                found.append((kind, place, place + 1))
            else:
                found[-1] = (kind, found[-1][1], place + 1)
        before = (prefix, kind)
    return found
