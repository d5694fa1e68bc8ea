"""Texts as ids of a tokenizer."""

from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar, Self

from seq2see.data.columns.contract import Array, Stored, Vocabulary, fill, smallest
from seq2see.data.pairs import Pair
from seq2see.data.passages import packed
from seq2see.data.sides import Side
from seq2see.text import SourceCodec, Special, Tokenizer

__all__ = ["SourceText", "TargetText"]


class SourceText:
    """The text that is read: its features first, then its tokens, then the end symbol.

    With `text.begins` the begin symbol stands before all.
    """

    limited = True
    kind: ClassVar[str] = "text"

    def __init__(self, codec: SourceCodec) -> None:
        self.codec = codec

    @classmethod
    def load(cls, stored: Stored) -> Self:
        """A column from what was kept of it."""
        return cls(SourceCodec.of_files(stored))

    @property
    def special(self) -> Special:
        """The ids of the special symbols."""
        return self.codec.source.special

    @property
    def size(self) -> int:
        """How many ids there are."""
        return self.codec.source_size

    @property
    def vocabulary(self) -> Vocabulary:
        return Vocabulary(self.size, self.special)

    @property
    def dtype(self) -> str:
        return smallest(self.size)

    def spans(self, example: Pair) -> list[tuple[int, int] | None]:
        """Where each id of a row stands in the text; features and special symbols stand nowhere in it."""
        found: list[tuple[int, int] | None] = list(self.codec.source.spans(example.source))
        features = self.codec.features
        before = len(features.encode(example.features)) if features is not None else 0
        before += len(self.codec.before)
        return [*[None] * before, *found, None]

    def encode(self, examples: Sequence[Pair]) -> list[list[int]]:
        return self.codec.encode_sources([one.source for one in examples], [one.features for one in examples])

    def packed(self, passages: Iterable[Pair], longest: int) -> Iterator[Pair]:
        """Passages of running text as sources whose rows have at most so many ids."""
        return packed(passages, self.codec.source, longest - len(self.codec.before) - 1)

    def collate(self, rows: Sequence[Sequence[int] | Array]) -> Side:
        return Side(*fill(rows, self.special.pad))

    def unknown(self, values: Array) -> int:
        return int((values == self.special.unknown).sum())

    def stored(self) -> Stored:
        begins = {"begins": True} if self.codec.begins else {}
        return {"kind": self.kind, **begins, **self.codec.files()}


class TargetText:
    """The text that is written: the begin symbol, its tokens, then the end symbol.

    With several targets, the symbol of an example's target stands in place of the begin symbol.
    """

    limited = True

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer = tokenizer

    @classmethod
    def load(cls, stored: Stored) -> Self:
        """A column from what was kept of it."""
        return cls(Tokenizer.of_json(stored["target.json"], "target.json"))

    @property
    def size(self) -> int:
        """How many ids there are."""
        return self.tokenizer.size

    @property
    def vocabulary(self) -> Vocabulary:
        return Vocabulary(self.size, self.tokenizer.special)

    @property
    def dtype(self) -> str:
        return smallest(self.size)

    def encode(self, examples: Sequence[Pair]) -> list[list[int]]:
        end, targets = self.tokenizer.special.end, self.tokenizer.targets
        rows = self.tokenizer.encode_many([one.target for one in examples])
        if not targets:
            return [[*ids, end] for ids in rows]
        return [
            [self.tokenizer.opening(one.into), *ids, end] for one, ids in zip(examples, rows, strict=True)
        ]

    def collate(self, rows: Sequence[Sequence[int] | Array]) -> Side:
        special = self.tokenizer.special
        return Side(*fill(rows, special.pad, special.begin if not special.targets else None))

    def unknown(self, values: Array) -> int:
        return int((values == self.tokenizer.special.unknown).sum())

    def stored(self) -> Stored:
        return {"kind": "target text", "target.json": self.tokenizer.to_json()}
