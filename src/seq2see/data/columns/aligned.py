"""Words cut into tokens, with the place of each word's last token kept."""

from collections.abc import Sequence

from seq2see.data.columns.contract import Array, Stored, fill
from seq2see.data.columns.text import SourceText
from seq2see.data.pairs import Pair
from seq2see.data.sides import Side
from seq2see.data.values import split_words, word_spans
from seq2see.text import Tokenizer

__all__ = ["AlignedText", "WordEnds"]


def tokens_of_words(tokenizer: Tokenizer, examples: Sequence[Pair]) -> list[list[list[int]]]:
    """The ids of each word of each example; a word that has none gets the unknown one."""
    words = [split_words(one.source) for one in examples]
    flat = iter(tokenizer.encode_many([word for sentence in words for word in sentence]))
    return [[next(flat) or [tokenizer.special.unknown] for _ in sentence] for sentence in words]


class AlignedText(SourceText):
    """The text that is read, word by word, then the end symbol."""

    kind = "aligned text"

    def encode(self, examples: Sequence[Pair]) -> list[list[int]]:
        sentences, first = tokens_of_words(self.codec.source, examples), self.codec.before
        return [
            [*first, *(token for word in words for token in word), self.special.end] for words in sentences
        ]

    def spans(self, example: Pair) -> list[tuple[int, int] | None]:
        found: list[tuple[int, int] | None] = [None] * len(self.codec.before)
        for start, end in word_spans(example.source):
            inside = self.codec.source.spans(example.source[start:end]) or [(0, end - start)]
            found += [(start + first, start + last) for first, last in inside]
        return [*found, None]


class WordEnds:
    """The place of the last token of each word, where a tag is read off, (B, words)."""

    limited = False
    dtype = "uint32"
    vocabulary = None

    def __init__(self, tokenizer: Tokenizer, begins: bool = False) -> None:
        self._tokenizer, self._begins = tokenizer, begins

    @classmethod
    def load(cls, stored: Stored) -> "WordEnds":
        """A column from what was kept of it."""
        return cls(Tokenizer.of_json(stored["source.json"], "source.json"), bool(stored.get("begins")))

    def encode(self, examples: Sequence[Pair]) -> list[list[int]]:
        rows = []
        for words in tokens_of_words(self._tokenizer, examples):
            ends, place = [], int(self._begins) - 1
            for word in words:
                place += len(word)
                ends.append(place)
            rows.append(ends)
        return rows

    def collate(self, rows: Sequence[Sequence[int] | Array]) -> Side:
        return Side(*fill(rows, 0))

    def unknown(self, values: Array) -> int:
        return 0

    def stored(self) -> Stored:
        begins = {"begins": True} if self._begins else {}
        return {"kind": "word ends", **begins, "source.json": self._tokenizer.to_json()}
