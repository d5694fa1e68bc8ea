"""Counts of short pieces of a text: words, pairs of words, runs of letters."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import torch
from pydantic import Field

from seq2see.data.columns.contract import Array, Stored
from seq2see.data.pairs import Pair
from seq2see.data.sides import Side
from seq2see.settings import Settings

__all__ = ["Counts", "CountsSettings"]


class CountsSettings(Settings):
    """Which pieces of a text are counted."""

    letters: tuple[int, int] | None = (1, 2)
    """The shortest and the longest run of letters; none are counted where this is null."""
    words: int = Field(default=0, ge=0, le=5)
    """The longest run of words; 0 counts none."""
    lower: bool = True
    """Count capital letters as small ones."""
    least: int = Field(default=20, ge=1)
    """How many training texts must hold a piece."""
    most: int = Field(default=100_000, ge=1, le=1_000_000)
    """The most pieces; the commonest are taken."""
    by_class: bool = False
    """Weigh a piece by how unevenly it is spread over classes (Wang & Manning 2012), not by its spread."""
    hidden: int | None = Field(default=256, ge=1, le=65536)
    """The width of a layer over the counts; without one they go straight to the answer."""
    dropout: float = Field(default=0.5, ge=0, lt=1)
    """The share of pieces that training leaves out of each text."""


class Counts:
    """The weight of each piece of a text that training shows often enough: pairs of id and weight."""

    limited = False
    dtype = "float32"

    def __init__(self, settings: CountsSettings, pieces: Sequence[str], weights: Sequence[float]) -> None:
        self.settings, self.pieces = settings, list(pieces)
        self.weights = list(weights)
        self._ids = {piece: place for place, piece in enumerate(self.pieces)}

    @classmethod
    def learn(cls, examples: Iterable[Pair], settings: CountsSettings) -> "Counts":
        """The commonest pieces of texts, and how much each of them says."""
        texts = [(_counted(one.source, settings), one.target.strip()) for one in examples]
        holding: Counter[str] = Counter(piece for counts, _ in texts for piece in counts)
        common = [(piece, count) for piece, count in holding.items() if count >= settings.least]
        common.sort(key=lambda item: (-item[1], item[0]))
        pieces = [piece for piece, _ in common[: settings.most]]
        weigh = _by_class if settings.by_class else _by_spread
        return cls(settings, pieces, weigh(texts, pieces))

    @property
    def size(self) -> int:
        """How many pieces there are, and one that every text has for its length."""
        return len(self.pieces) + 1

    def encode(self, examples: Sequence[Pair]) -> list[list[float]]:
        return [self._row(one.source) for one in examples]

    def _row(self, text: str) -> list[float]:
        row: list[float] = [len(self.pieces), math.log1p(len(text)) / 5]
        find = self._ids.get
        for piece, value in _shares(_counted(text, self.settings), self.settings):
            if (place := find(piece)) is not None:
                row += (place, value * self.weights[place])
        return row

    def collate(self, rows: Sequence[Sequence[float] | Array]) -> Side:
        """Ids and weights, (B, N, 2)."""
        longest = max(map(len, rows), default=0) // 2
        values = np.zeros((len(rows), longest, 2), np.float32)
        for row, found in zip(values, rows, strict=True):
            row[: len(found) // 2] = np.asarray(found, np.float32).reshape(-1, 2)
        held = torch.from_numpy(values)
        return Side(held, held[..., 1] != 0)

    def unknown(self, values: Array) -> int:
        return 0

    def stored(self) -> Stored:
        settings = self.settings.model_dump(mode="json")
        return {"kind": "counts", "settings": settings, "pieces": self.pieces, "weights": self.weights}


def _counted(text: str, settings: CountsSettings) -> Counter[str]:
    """How often each piece stands in a text."""
    text = text.lower() if settings.lower else text
    return Counter(_pieces(text, settings))


def _pieces(text: str, settings: CountsSettings) -> Iterator[str]:
    if settings.words:
        words = text.split()
        for length in range(1, settings.words + 1):
            for start in range(len(words) - length + 1):
                # A tab stands in no run of letters, so that words are told apart from those.
                yield "\t" + " ".join(words[start : start + length])
    if settings.letters is not None:
        shortest, longest = settings.letters
        for length in range(shortest, longest + 1):
            for start in range(len(text) - length + 1):
                yield text[start : start + length]


def _shares(counts: Counter[str], settings: CountsSettings) -> Iterator[tuple[str, float]]:
    """What stands for a count: whether there is one, or the root of the share of all pieces of its length."""
    if settings.by_class:
        for piece in counts:
            yield piece, 1.0
        return
    length = max(1, counts.total())
    for piece, count in counts.items():
        yield piece, math.sqrt(count / length)


def _by_spread(texts: list[tuple[Counter[str], str]], pieces: list[str]) -> list[float]:
    """One over the deviation of each piece's share over the texts."""
    places = {piece: place for place, piece in enumerate(pieces)}
    sums, squares = np.zeros(len(pieces)), np.zeros(len(pieces))
    settings = CountsSettings()
    for counts, _ in texts:
        for piece, value in _shares(counts, settings):
            if (place := places.get(piece)) is not None:
                sums[place] += value
                squares[place] += value * value
    mean = sums / max(1, len(texts))
    spread = np.sqrt(np.maximum(squares / max(1, len(texts)) - mean**2, 1e-8))
    return [float(round(value, 5)) for value in 1 / spread]


def _by_class(texts: list[tuple[Counter[str], str]], pieces: list[str]) -> list[float]:
    """The largest log-ratio of a piece's share of the texts of a class to its share of the others."""
    labels = sorted({label for _, label in texts})
    places = {piece: place for place, piece in enumerate(pieces)}
    classes = {label: place for place, label in enumerate(labels)}
    table = np.ones((len(labels), len(pieces)))
    for counts, label in texts:
        row = table[classes[label]]
        for piece in counts:
            if (place := places.get(piece)) is not None:
                row[place] += 1
    total = table.sum(0)
    ratios = [np.log(own / own.sum()) - np.log((total - own) / (total - own).sum()) for own in table]
    return [float(round(value, 5)) for value in np.abs(np.stack(ratios)).max(0)]
