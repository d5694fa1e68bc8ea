"""Pairs of sequences, read as a stream from TSV, JSONL or parallel files."""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import zip_longest
from pathlib import Path
from typing import Literal, NamedTuple

from pydantic import field_validator

from seq2see.data.lines import LONGEST_LINE, fingerprint, open_bytes, read_lines
from seq2see.data.tasks import Task, is_task
from seq2see.errors import DataError, SettingsError
from seq2see.settings import Settings, near

__all__ = ["BadLines", "Columns", "Pair", "PairFile", "Problem", "columns_of"]

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]")
_SURROGATE = re.compile("[\ud800-\udfff]")


BadLines = Literal["refuse", "skip"]
"""What training does with lines that cannot be read."""


class Columns(Settings):
    """Where the sides of a pair stand: a number counted from 1, or the name in a header or JSON object."""

    source: int | str = 1
    target: int | str = 2
    features: int | str | None = None

    @field_validator("source", "target", "features")
    @classmethod
    def _from_one(cls, column: int | str | None) -> int | str | None:
        if isinstance(column, int) and column < 1:
            raise ValueError(f"there is no column {column}; columns are counted from 1")
        return column


def columns_of(base: Columns | None = None, **named: str | None) -> Columns:
    """Columns given as text, `3` or `lemma`, over those of a base."""
    own = base or Columns()
    values = {name: getattr(own, name) for name in Columns.model_fields}
    return Columns(**values | {name: _column(text) for name, text in named.items() if text is not None})


def _column(text: str) -> int | str:
    if not text.isdigit():
        return text
    if int(text) < 1:
        raise SettingsError(f"column {text}: columns count from 1")
    return int(text)


class Pair(NamedTuple):
    """One example and the line that it came from."""

    line: int
    source: str
    target: str
    features: str


class Problem(NamedTuple):
    """Something wrong with a line; fatal ones keep the line from being used."""

    line: int
    kind: str
    detail: str
    fatal: bool = True


class PairFile:
    """A file of pairs, several line-aligned files written `a,b`, which count as columns, or a task."""

    def __init__(
        self, name: str | Path, columns: Columns, *, needs_target: bool = True, training: bool = False
    ) -> None:
        self.name = str(name)
        self._task = Task.parse(self.name, training) if is_task(self.name) else None
        self.paths = [] if self._task else _paths(self.name)
        self.columns = columns
        self._needs_target = needs_target
        self._json = bool(self.paths) and _format(self.paths[0]) in (".jsonl", ".ndjson", ".json")

    def fingerprint(self) -> str:
        """A digest of the files' contents and of the columns taken."""
        columns = (self.columns.source, self.columns.target, self.columns.features)
        contents = [self._task.fingerprint()] if self._task else map(fingerprint, self.paths)
        return "-".join([*contents, *map(str, columns)])

    @property
    def first_line(self) -> int:
        """The number of the first line that can hold a pair."""
        return 2 if self._has_header else 1

    @property
    def _has_header(self) -> bool:
        named = any(isinstance(column, str) for column in self._wanted())
        return named and not self._json and len(self.paths) <= 1

    def pairs(self, bad_lines: BadLines = "refuse") -> Iterator[Pair]:
        """The usable pairs; with "refuse", the first bad line stops with all the bad ones named."""
        for item in self:
            if isinstance(item, Pair):
                yield item
            elif item.fatal and bad_lines == "refuse":
                raise self.refusal()

    def __iter__(self) -> Iterator[Pair | Problem]:
        """Every line as a pair or as problems."""
        if self._task:
            yield from self.parse(self._task.lines(self._has_header))
            return
        with ExitStack() as stack:
            streams = [read_lines(stack.enter_context(open_bytes(path)), str(path)) for path in self.paths]
            if len(streams) == 1:
                yield from self.parse(streams[0])
            else:
                yield from self._parallel(streams)

    def parse(self, lines: Iterator[bytes]) -> Iterator[Pair | Problem]:
        """Lines of a single file as pairs or problems."""
        if self._json:
            pick = _from_json(self.columns, self._needs_target)
        elif self._has_header:
            header = next(lines, b"").decode("utf-8", "replace").rstrip("\r").split("\t")
            pick = _from_fields([self._position(column, header) for column in self._all()])
        else:
            pick = _from_fields([column - 1 if isinstance(column, int) else None for column in self._all()])
        for number, line in enumerate(lines, self.first_line):
            yield from self._line(number, line, pick)

    def _parallel(self, streams: list[Iterator[bytes]]) -> Iterator[Pair | Problem]:
        for column in self._wanted():
            if isinstance(column, str):
                raise DataError(
                    f"{self.name} names parallel files, which have no header with a column {column!r}; "
                    "say which file it is by its number, counted from 1"
                )
        pick = _from_fields([column - 1 if isinstance(column, int) else None for column in self._all()])
        for number, fields in enumerate(zip_longest(*streams), 1):
            if None in fields:
                ended = self.paths[fields.index(None)]
                raise DataError(
                    f"{ended} ends after line {number - 1}, but its companion goes on; "
                    "parallel files need one line for each other's line"
                )
            sides = [field.removesuffix(b"\r").replace(b"\t", b" ") for field in fields]
            yield from self._line(number, b"\t".join(sides), pick)

    def _line(
        self, number: int, line: bytes, pick: Callable[[str], tuple[str, str, str] | str]
    ) -> Iterator[Pair | Problem]:
        if len(line) > LONGEST_LINE:
            yield Problem(number, "too long", f"more than {LONGEST_LINE:,} bytes")
            return
        try:
            text = line.decode("utf-8")
        except UnicodeDecodeError as error:
            yield Problem(number, "not UTF-8", f"byte 0x{line[error.start]:02x} at byte {error.start + 1}")
            return
        text = text.removesuffix("\r")
        if not text.strip():
            blank = Problem(number, "blank", "nothing on this line", fatal=False)
            yield blank if self._needs_target else Pair(number, "", "", "")
            return
        if found := _CONTROL.search(text):
            nul = found[0] == "\x00"
            yield Problem(
                number,
                "NUL byte" if nul else "control character",
                f"U+{ord(found[0]):04X} at character {found.start() + 1}",
                fatal=nul,
            )
            if nul:
                return
        picked = pick(text)
        if isinstance(picked, str):
            yield Problem(number, "missing column", picked)
            return
        if self._json and "\x00" in "".join(picked):  # escaped, so not to be seen in the line itself
            yield Problem(number, "NUL byte", "\\u0000 in a value")
            return
        source, target, features = picked
        if self._needs_target and not (source.strip() and target.strip()):
            side = "target" if source.strip() else "source"
            yield Problem(number, "empty side", f"the {side} is empty", fatal=False)
            return
        yield Pair(number, source, target, features)

    def _all(self) -> tuple[int | str | None, ...]:
        target = self.columns.target if self._needs_target else None
        return self.columns.source, target, self.columns.features

    def _wanted(self) -> list[int | str]:
        return [column for column in self._all() if column is not None]

    def _position(self, column: int | str | None, header: list[str]) -> int | None:
        if isinstance(column, str):
            if column not in header:
                raise DataError(
                    f"{self.name} has no column {column!r} in its first line; {near(column, header)}"
                )
            return header.index(column)
        return column - 1 if column is not None else None

    def refusal(self, way_out: str = "") -> DataError:
        """An error that names the first of the lines that cannot be used."""
        rows, count = [], 0
        for item in self:
            if isinstance(item, Problem) and item.fatal:
                count += 1
                if count <= 3:
                    rows.append(f"{self.name}, line {item.line}: {item.kind} ({item.detail})")
        many = f"{count:,} bad lines, the first 3 shown" if count > 3 else "these lines cannot be used"
        return DataError(
            "\n".join([*rows, f"{many}; 'seq2see check {self.name}' lists all problems{way_out}"])
        )


def _from_fields(positions: list[int | None]) -> Callable[[str], tuple[str, str, str] | str]:
    needed = max((position for position in positions if position is not None), default=0)
    source, target, features = positions
    assert source is not None

    def pick(text: str) -> tuple[str, str, str] | str:
        fields = text.split("\t")
        if len(fields) <= needed:
            has = f"{len(fields)} column{'s' * (len(fields) != 1)}"
            return f"{has} between tabs, column {needed + 1} is needed"
        return (
            fields[source],
            fields[target] if target is not None else "",
            fields[features] if features is not None else "",
        )

    return pick


def _from_json(columns: Columns, needs_target: bool) -> Callable[[str], tuple[str, str, str] | str]:
    names = [
        name if isinstance(column, int) else column
        for name, column in (("source", columns.source), ("target", columns.target))
    ]

    def pick(text: str) -> tuple[str, str, str] | str:
        try:
            record = json.loads(text)
        except (ValueError, RecursionError) as error:
            return f"not JSON: {error}"
        if not isinstance(record, dict):
            return "not a JSON object"
        values = []
        for name in names[: 2 if needs_target else 1]:
            value = record.get(name)
            if not isinstance(value, str):
                return f"no text under {name!r}; it has {', '.join(map(repr, list(record)[:6])) or 'no keys'}"
            if _SURROGATE.search(value):
                return f"half of a surrogate pair under {name!r}, which is no character"
            values.append(value)
        label = "features" if isinstance(columns.features, int) else columns.features
        tags = (record.get(label) or "") if label is not None else ""
        joined = ";".join(map(str, tags)) if isinstance(tags, list) else str(tags)
        return values[0], values[1] if needs_target else "", joined

    return pick


def _paths(name: str) -> list[Path]:
    """A name with commas means parallel files, unless a file has just that name."""
    if "," in name and not Path(name).exists():
        return [Path(part) for part in name.split(",")]
    return [Path(name)]


def _format(path: Path) -> str:
    return (path.with_suffix("") if path.suffix == ".gz" else path).suffix.lower()
