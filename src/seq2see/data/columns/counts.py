"""Counts of short pieces of a text: words, pairs of words, runs of letters."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

import numpy as np
import torch
from pydantic import Field

from seq2see.data.columns.contract import Array, Stored
from seq2see.data.pairs import Pair
from seq2see.data.sides import Side
from seq2see.settings import Settings

__all__ = ["Counts", "CountsSettings"]

_WORD = "\t"
"""Stands before a run of words, and in no run of letters, so that the two are told apart."""
_SCALE = 3.0
"""The length of the words, and of the letters, of a text: enough for a few steps to tell them apart."""


class CountsSettings(Settings):
    """Which pieces of a text are counted, and what a count is worth."""

    letters: tuple[int, int] | None = (1, 2)
    """The shortest and the longest run of letters; none are counted where this is null."""
    words: int = Field(default=0, ge=0, le=5)
    """The longest run of words; 0 counts none. Where words are counted, runs of letters end with them."""
    lower: bool = True
    """Count capital letters as small ones."""
    least: int = Field(default=20, ge=1)
    """How many training texts must hold a piece."""
    most: int = Field(default=300_000, ge=1, le=1_000_000)
    """The most pieces; the commonest are taken."""
    weigh: Literal["spread", "rarity"] = "spread"
    """The share of a piece over its usual spread; or, for sentences, 1 + log(count) times its rarity
    (tf-idf), where the words and the letters of a text each have length 1."""
    hidden: int | None = Field(default=256, ge=1, le=65536)
    """The width of a layer over the counts; without one they go straight to the answer."""
    dropout: float = Field(default=0.5, ge=0, lt=1)
    """The share of pieces that training leaves out of each text."""


class Counts:
    """The weight of each piece of a text that training shows often enough: pairs of id and weight."""

    limited = False
    dtype = "float32"
    vocabulary = None

    def __init__(self, settings: CountsSettings, pieces: Sequence[str], weights: Sequence[float]) -> None:
        self.settings, self.pieces = settings, list(pieces)
        self.weights = list(weights)
        self._ids = {piece: place for place, piece in enumerate(self.pieces)}

    @classmethod
    def learn(cls, examples: Iterable[Pair], settings: CountsSettings) -> "Counts":
        """The commonest pieces of texts, and how much each of them says."""
        texts = [_counted(one.source, settings) for one in examples]
        holding: Counter[str] = Counter(piece for counts in texts for piece in counts)
        common = [(piece, count) for piece, count in holding.items() if count >= settings.least]
        common.sort(key=lambda item: (-item[1], item[0]))
        pieces = [piece for piece, _ in common[: settings.most]]
        if settings.weigh == "spread":
            return cls(settings, pieces, _spreads(texts, pieces))
        rarity = [1 + math.log((1 + len(texts)) / (1 + holding[piece])) for piece in pieces]
        return cls(settings, pieces, [round(value, 5) for value in rarity])

    @classmethod
    def load(cls, stored: Stored) -> "Counts":
        """A column from what was kept of it."""
        return cls(CountsSettings.model_validate(stored["settings"]), stored["pieces"], stored["weights"])

    @property
    def size(self) -> int:
        """How many pieces there are, and one that every text has for its length."""
        return len(self.pieces) + 1

    def encode(self, examples: Sequence[Pair]) -> list[list[float]]:
        return [self._row(one.source) for one in examples]

    def _row(self, text: str) -> list[float]:
        counts = _counted(text, self.settings)
        known = [
            (place, count) for piece, count in counts.items() if (place := self._ids.get(piece)) is not None
        ]
        row: list[float] = [len(self.pieces), math.log1p(len(text)) / 5]
        if self.settings.weigh == "spread":
            total = max(1, counts.total())
            for place, count in known:
                row += (place, math.sqrt(count / total) * self.weights[place])
            return row
        values = {place: (1 + math.log(count)) * self.weights[place] for place, count in known}
        for words in (True, False):
            group = [place for place in values if self.pieces[place].startswith(_WORD) == words]
            length = math.sqrt(sum(values[place] ** 2 for place in group)) or 1.0
            for place in group:
                row += (place, _SCALE * values[place] / length)
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
    words = text.split()
    for length in range(1, settings.words + 1):
        for start in range(len(words) - length + 1):
            yield _WORD + " ".join(words[start : start + length])
    if settings.letters is None:
        return
    shortest, longest = settings.letters
    for part in [f" {word} " for word in words] if settings.words else [text]:
        for length in range(shortest, longest + 1):
            for start in range(len(part) - length + 1):
                yield part[start : start + length]


def _spreads(texts: list[Counter[str]], pieces: list[str]) -> list[float]:
    """One over the deviation of each piece's share over the texts."""
    places = {piece: place for place, piece in enumerate(pieces)}
    sums, squares = np.zeros(len(pieces)), np.zeros(len(pieces))
    for counts in texts:
        total = max(1, counts.total())
        for piece, count in counts.items():
            if (place := places.get(piece)) is not None:
                sums[place] += math.sqrt(count / total)
                squares[place] += count / total
    mean = sums / max(1, len(texts))
    spread = np.sqrt(np.maximum(squares / max(1, len(texts)) - mean**2, 1e-8))
    return [float(round(value, 5)) for value in 1 / spread]
