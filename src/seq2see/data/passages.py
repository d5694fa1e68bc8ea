"""Running text as a stream of passages, which together are the text: no character is lost or added."""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from seq2see.data import formats
from seq2see.data.formats import Fields, Wanted
from seq2see.data.lines import read_lines, read_text
from seq2see.data.pairs import NO_TEXT, Check, Columns, Pair, PairFile, Problem
from seq2see.data.tasks import is_task
from seq2see.errors import DataError

if TYPE_CHECKING:
    from seq2see.text import Tokenizer

__all__ = ["BEGINS", "ENDS", "PromptFile", "TextFile", "cut", "packed"]

BEGINS, ENDS = "begins", "ends"
"""Stand in the extras of a passage that begins or ends a document."""

_LONGEST = 512
"""Characters of a passage at the most."""
_CHUNK = 1024
"""Passages that are cut into tokens together."""
_VERSION = 1
"""Of the way in which texts are cut, which decides what is encoded."""


class TextFile(PairFile):
    """A text, or documents (a line each, or the `text` of each line of JSON), as passages to be foretold."""

    running = True
    sampled = 2000

    def __init__(
        self,
        name: str | Path,
        columns: Columns,
        *,
        needs_target: bool = True,
        training: bool = False,
        check: Check | None = None,
    ) -> None:
        if is_task(str(name)):
            raise DataError(f"{name} makes pairs, and this goal learns from running text; name a text file")
        super().__init__(name, columns, needs_target=needs_target, training=training, check=check)
        self.paths = [Path(self.name)]
        self._by_line = self.format == "json" or columns.documents == "line"

    @property
    def shape(self) -> str:
        """What such a file should look like."""
        if self.format == "json":
            return f"a line should hold a JSON object with a text under {self._key!r}"
        return "a line should hold a document" if self._by_line else "it should hold text"

    @property
    def first_line(self) -> int:
        """The number of the first line: there are no headers."""
        return 1

    @property
    def _key(self) -> str:
        named = [one for one in (*self.columns.targets, self.columns.source) if isinstance(one, str)]
        return named[0] if named else "text"

    def fingerprint(self) -> str:
        """A digest of the file's contents and of how it is cut."""
        return f"{super().fingerprint()}-passages-{_VERSION}-{self.columns.documents}"

    def _items(self, open_: Callable[[Path], BinaryIO]) -> Iterator[Pair | Problem]:
        with open_(self.paths[0]) as stream:
            if self._by_line:
                yield from self.parse(read_lines(stream, self.name))
                return
            line = 1
            for passage in cut(read_text(stream, self.name)):
                yield Pair(line, "", passage, "")
                line += passage.count("\n")

    def parse(self, lines: Iterator[bytes]) -> Iterator[Pair | Problem]:
        """Lines with a document each, as passages or problems."""
        pick = formats.from_json(Wanted(self._key, (), None, ())) if self.format == "json" else _whole
        for number, line in enumerate(lines, 1):
            yield from self._line(number, line, pick)

    def _usable(self, number: int, fields: Fields) -> Iterator[Pair | Problem]:
        if NO_TEXT.search(fields.source):
            yield Problem(number, "not text", "\\u0000 or half of a surrogate pair in the text")
            return
        passages = list(cut([fields.source]))
        if not passages:
            yield Problem(number, "empty side", "the document is empty", fatal=False)
        for place, passage in enumerate(passages, 1):
            ends = (BEGINS,) * (place == 1) + (ENDS,) * (place == len(passages))
            yield Pair(number, "", passage, "", ends)


class PromptFile(PairFile):
    """Lines to go on with: tabs are part of them."""

    def parse(self, lines: Iterator[bytes]) -> Iterator[Pair | Problem]:
        """Every line as a source."""
        for number, line in enumerate(lines, 1):
            yield from self._line(number, line, _whole)


def cut(parts: Iterable[str]) -> Iterator[str]:
    """A text that comes in parts as passages, cut after a line or between words where that can be.

    Where it is cut does not depend on the parts.
    """
    rest = ""
    for part in parts:
        rest += part
        start = 0
        while len(rest) - start > _LONGEST:
            end = start + _place(rest[start : start + _LONGEST])
            yield rest[start:end]
            start = end
        rest = rest[start:]
    if rest:
        yield rest


def packed(passages: Iterable[Pair], tokenizer: "Tokenizer", most: int) -> Iterator[Pair]:
    """Passages of running text as sources of at most so many tokens.

    Passages of one document are joined as long as they fit, and cut where they do not; spaces and line feeds
    in a row count as one space. What is a source already stays as it is.
    """
    stream, together = iter(passages), _Together()
    while chunk := list(islice(stream, _CHUNK)):
        texts = [" ".join(one.target.split()) for one in chunk]
        for one, text, ids in zip(chunk, texts, tokenizer.encode_many(texts), strict=True):
            if one.source or BEGINS in one.extras or together.size + len(ids) + 1 > most:
                yield from together.empty()
            if one.source:
                yield one
            elif len(ids) > most:
                yield from (Pair(one.line, part, "", "") for part in _parts(text, tokenizer, most))
            elif text:
                together.add(one.line, text, len(ids))
            if ENDS in one.extras:
                yield from together.empty()
    yield from together.empty()


class _Together:
    """Texts that will be one source."""

    def __init__(self) -> None:
        self._line, self._texts, self.size = 0, list[str](), 0

    def add(self, line: int, text: str, size: int) -> None:
        """One more, of so many tokens; the space between two may be a token too."""
        self._line = self._line if self._texts else line
        self.size += size + bool(self._texts)
        self._texts.append(text)

    def empty(self) -> Iterator[Pair]:
        """The texts so far as one source, if there are any."""
        if self._texts:
            yield Pair(self._line, " ".join(self._texts), "", "")
        self._texts, self.size = [], 0


def _parts(text: str, tokenizer: "Tokenizer", most: int) -> Iterator[str]:
    """A text in parts of at most so many tokens, cut between words where that can be."""
    starts = [start for start, _ in tokenizer.spans(text)]
    room = max(1, most - 2)  # cut inside a word, its rest may have a token or two more
    first = 0
    while first < len(starts):
        last = min(first + room, len(starts))
        if last < len(starts):
            between = (
                place
                for place in range(last, first, -1)
                if " " in text[starts[place] - 1 : starts[place] + 1]
            )
            last = next(between, last)
        end = starts[last] if last < len(starts) else len(text)
        if part := text[starts[first] : end].strip():
            yield part
        first = last


def _place(text: str) -> int:
    """Where to cut: after the last line feed, before the last space, unless that leaves little."""
    places = (place for place in (text.rfind("\n") + 1, text.rfind(" ")) if place > _LONGEST // 2)
    return next(places, _LONGEST)


def _whole(text: str) -> Fields:
    return Fields(text, "", "")
