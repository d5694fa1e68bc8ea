"""Running text as a stream of passages, which together are the text: no character is lost or added."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from seq2see.data import formats
from seq2see.data.formats import Fields, Wanted
from seq2see.data.lines import read_lines, read_text
from seq2see.data.pairs import NO_TEXT, Check, Columns, Pair, PairFile, Problem
from seq2see.data.tasks import is_task
from seq2see.errors import DataError

__all__ = ["BEGINS", "ENDS", "PromptFile", "TextFile", "cut"]

BEGINS, ENDS = "begins", "ends"
"""Stand in the extras of a passage that begins or ends a document."""

_LONGEST = 512
"""Characters of a passage at the most."""
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
            raise DataError(f"{name} makes pairs, and --goal complete goes on with a text; name a text file")
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


def _place(text: str) -> int:
    """Where to cut: after the last line feed, before the last space, unless that leaves little."""
    places = (place for place in (text.rfind("\n") + 1, text.rfind(" ")) if place > _LONGEST // 2)
    return next(places, _LONGEST)


def _whole(text: str) -> Fields:
    return Fields(text, "", "")
