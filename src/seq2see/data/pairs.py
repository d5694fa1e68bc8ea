"""Examples, each a source with its target, read as a stream from files of several formats."""

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from io import BytesIO
from itertools import zip_longest
from pathlib import Path
from typing import BinaryIO, Literal, NamedTuple

from pydantic import field_validator

from seq2see.data import formats
from seq2see.data.formats import BadRecordError, Fields, Record, Wanted
from seq2see.data.lines import LONGEST_LINE, fingerprint, open_bytes, read_lines
from seq2see.data.tasks import Task, is_task
from seq2see.errors import DataError, SettingsError
from seq2see.settings import Settings

__all__ = [
    "NO_TEXT",
    "BadLines",
    "Check",
    "Columns",
    "Pair",
    "PairFile",
    "Problem",
    "columns_of",
    "refuse_repeats",
]

NO_TEXT = re.compile("[\x00\ud800-\udfff]")
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]")

BadLines = Literal["refuse", "skip"]
"""What training does with lines that cannot be read."""
Column = int | str


class Columns(Settings):
    """Where the parts of an example stand: a number counted from 1, or a name in a header or JSON object."""

    source: Column = 1
    target: Column | tuple[Column, ...] = 2
    """Several columns are several tags for each word."""
    features: Column | None = None
    numbers: tuple[Column, ...] = ()
    """Further columns of numbers, which a model that predicts a class or a number also gets."""
    categories: tuple[Column, ...] = ()
    """The same for columns of a few distinct words."""
    documents: Literal["file", "line"] = "file"
    """Of running text: whether a file is one text, or each line a document."""
    images: str | None = None
    """Where the images lie that sources name: a folder or an archive; without it sources are texts."""

    @field_validator("source", "target", "features", "numbers", "categories")
    @classmethod
    def _from_one(cls, column: Column | tuple[Column, ...] | None) -> Column | tuple[Column, ...] | None:
        for one in column if isinstance(column, tuple) else (column,):
            if isinstance(one, int) and one < 1:
                raise ValueError(f"there is no column {one}; columns are counted from 1")
        return column

    @property
    def targets(self) -> tuple[Column, ...]:
        """The columns of the target, of which there is usually one."""
        return self.target if isinstance(self.target, tuple) else (self.target,)


def columns_of(base: Columns | None = None, **named: str | None) -> Columns:
    """Columns given as text, `3`, `lemma` or `upos,xpos`, over those of a base."""
    own = base or Columns()
    values = {name: getattr(own, name) for name in Columns.model_fields}
    for name, text in named.items():
        if name == "images":
            values[name] = text or values[name]
        elif text is not None:
            several = tuple(_column(part.strip()) for part in text.split(","))
            listed = name in ("numbers", "categories") or (name == "target" and len(several) > 1)
            values[name] = several if listed else _column(text)
    return Columns(**values)


def refuse_repeats(columns: Columns) -> None:
    """Refuse a column that is named twice; as a further column, the target would tell itself."""
    named = [*columns.targets, *columns.numbers, *columns.categories]
    for column in (one for one in named if named.count(one) > 1):
        raise SettingsError(
            f"column {column!r} is named twice among --target, --numbers and --categories; name it once"
        )


def _column(text: str) -> Column:
    if not (text.isascii() and text.isdigit()) or len(text) > 9:
        return text
    if int(text) < 1:
        raise SettingsError(f"column {text}: columns count from 1")
    return int(text)


class Pair(NamedTuple):
    """One example and the line that it came from; several targets of one example have tabs between them."""

    line: int
    source: str
    target: str
    features: str
    extras: tuple[str, ...] = ()
    """What stands in the columns of numbers, then of categories."""
    into: str = ""
    """The name of the target, where each of several is an example of its own."""


class Problem(NamedTuple):
    """Something wrong with a line; fatal ones keep the line from being used."""

    line: int
    kind: str
    detail: str
    fatal: bool = True


Check = Callable[[Pair], Problem | None]
"""What is wrong with an example, by what is to be made of it."""


class PairFile:
    """A file of examples, several line-aligned files written `a,b`, which count as columns, or a task."""

    running = False
    """Whether examples are passages of running text, each going on where the one before it ends."""
    named = False
    """Whether sources are names in a place, which may be moved."""
    sampled = 50_000
    """How many examples a sample of it has at least, where it has as many."""

    def __init__(
        self,
        name: str | Path,
        columns: Columns,
        *,
        needs_target: bool = True,
        training: bool = False,
        check: Check | None = None,
    ) -> None:
        self.name = str(name)
        self._task = Task.parse(self.name, training) if is_task(self.name) else None
        self.paths = [] if self._task else _paths(self.name)
        self.columns = columns
        self.taken: str | None = None
        """The columns that were taken of a file with a header, once it has been read."""
        self._needs_target = needs_target
        self._check = check
        self.format = formats.FORMATS.get(_ending(self.paths[0]), "tsv") if self.paths else "tsv"

    @property
    def shape(self) -> str:
        """What the lines of such a file should look like."""
        return formats.SHAPES[self.format]

    def fingerprint(self) -> str:
        """A digest of the files' contents and of the columns taken."""
        parts = [self.columns.source, self.columns.target, self.columns.features]
        parts += [extra for extra in (self.columns.numbers, self.columns.categories) if extra]
        contents = [self._task.fingerprint()] if self._task else map(fingerprint, self.paths)
        return "-".join([*contents, *map(str, parts)])

    @property
    def first_line(self) -> int:
        """The number of the first line that can hold an example."""
        return 2 if self._has_header else 1

    @property
    def _has_header(self) -> bool:
        if len(self.paths) > 1:
            return False
        return self.format == "csv" or (self.format == "tsv" and self._wanted().by_name)

    def pairs(self, bad_lines: BadLines = "refuse") -> Iterator[Pair]:
        """The usable examples; with "refuse", the first bad line stops with all the bad ones named."""
        for item in self:
            if isinstance(item, Pair):
                yield item
            elif item.fatal and bad_lines == "refuse":
                raise self.refusal()

    def __iter__(self) -> Iterator[Pair | Problem]:
        """Every line as an example or as problems."""
        return self._items(open_bytes)

    def beginning(self, size: int) -> Iterator[Pair | Problem]:
        """The same for the first bytes of each file; anything but a regular file is refused."""

        def open_part(path: Path) -> BinaryIO:
            if not path.is_file():
                raise DataError(f"{path} is not a regular file")
            with open_bytes(path) as file:
                return BytesIO(file.read(size))

        return self._items(open_part)

    def _items(self, open_: Callable[[Path], BinaryIO]) -> Iterator[Pair | Problem]:
        if self._task:
            yield from self.parse(self._task.lines(self._has_header))
            return
        with ExitStack() as stack:
            streams = [read_lines(stack.enter_context(open_(path)), str(path)) for path in self.paths]
            if len(streams) == 1:
                yield from self.parse(streams[0])
            else:
                yield from self._parallel(streams)

    def parse(self, lines: Iterator[bytes]) -> Iterator[Pair | Problem]:
        """Lines of a single file as examples or problems."""
        if self.format in ("csv", "conllu", "conll", "fasta"):
            yield from self._records(lines)
            return
        wanted = self._wanted()
        if self.format == "json":
            pick = formats.from_json(wanted)
        else:
            header = _header(next(lines, b"")).split("\t") if self._has_header else None
            pick = formats.from_tabs(wanted, header, self.name)
        for number, line in enumerate(lines, self.first_line):
            yield from self._line(number, line, pick)

    def _parallel(self, streams: list[Iterator[bytes]]) -> Iterator[Pair | Problem]:
        wanted = self._wanted()
        endings = [_ending(path)[1:] for path in self.paths]
        for column in wanted.all:
            if isinstance(column, str) and endings.count(column) != 1:
                raise DataError(
                    f"{self.name} names parallel files, and not one of them ends in .{column}; "
                    "say which file it is by its ending, or by its number, counted from 1"
                )
        pick = formats.from_tabs(wanted, endings, self.name)
        for number, fields in enumerate(zip_longest(*streams), 1):
            if None in fields:
                ended = self.paths[fields.index(None)]
                raise DataError(
                    f"{ended} ends after line {number - 1}, but its companion goes on; "
                    "parallel files need one line for each other's line"
                )
            sides = [field.removesuffix(b"\r").replace(b"\t", b" ") for field in fields]
            yield from self._line(number, b"\t".join(sides), pick)

    def _records(self, lines: Iterator[bytes]) -> Iterator[Pair | Problem]:
        """Examples that may stand on several lines."""
        problems: list[Problem] = []
        texts = self._texts(lines, problems)
        wanted = self._wanted()
        found: Iterator[tuple[int, Fields | BadRecordError]]
        if self.format == "fasta":
            if wanted.features is not None or wanted.extras:
                raise DataError(
                    f"{self.name} is FASTA, which has a sequence and a target alone; leave --features, "
                    "--numbers and --categories out, or write the columns as TSV or CSV"
                )
            found = formats.fasta(texts)
        elif self.format == "csv":
            found = self._csv(texts, wanted)
        else:
            found = formats.conll(texts, wanted, self.format == "conllu", self.name)
        for line, fields in found:
            yield from problems
            problems.clear()
            if isinstance(fields, BadRecordError):
                yield Problem(line, fields.kind, str(fields))
            else:
                yield from self._usable(line, fields)
        yield from problems

    def _csv(self, texts: Iterator[Record], wanted: Wanted) -> Iterator[tuple[int, Fields | BadRecordError]]:
        records = formats.csv_records(texts, self.name)
        header = next(records, (1, []))[1]
        names = header if isinstance(header, list) else []
        if len(names) == 1 and ";" in names[0]:
            raise DataError(
                f"{self.name} has semicolons between its columns, and CSV has commas; save it with commas, "
                "or as a .tsv file with tabs"
            )
        chosen = wanted.guessed(names)
        pick = formats.from_list(chosen, names, self.name, "between commas")
        source, *targets = (
            names[one - 1] if isinstance(one, int) and one <= len(names) else str(one)
            for one in (chosen.source, *chosen.target)
        )
        self.taken = f"{source} (source) and {', '.join(targets)} (target)" if targets else None
        for line, fields in records:
            if isinstance(fields, BadRecordError):
                yield line, fields
                continue
            if any(fields[len(names) :]):
                has = f"{len(fields)} columns between commas, and the header has {len(names)}"
                yield line, BadRecordError(f"{has}; a text with commas needs quotes around it", "not CSV")
                continue
            try:
                yield line, pick(fields)
            except BadRecordError as error:
                yield line, error

    def _texts(self, lines: Iterator[bytes], problems: list[Problem]) -> Iterator[Record]:
        """Lines as text; those that are none are noted as problems."""
        for number, line in enumerate(lines, 1):
            text, found = _text_of(number, line)
            problems += found
            if text is not None:
                yield Record(number, text)

    def _line(self, number: int, line: bytes, pick: Callable[[str], Fields]) -> Iterator[Pair | Problem]:
        text, problems = _text_of(number, line)
        yield from problems
        if text is None:
            return
        if not text.strip():
            blank = Problem(number, "blank", "nothing on this line", fatal=False)
            yield blank if self._needs_target else Pair(number, "", "", "")
            return
        try:
            fields = pick(text)
        except BadRecordError as error:
            yield Problem(number, error.kind, str(error))
            return
        yield from self._usable(number, fields)

    def _usable(self, number: int, fields: Fields) -> Iterator[Pair | Problem]:
        if found := NO_TEXT.search("".join((*fields[:3], *fields.extras))):
            # In JSON it was escaped, so that it was not to be seen in the line.
            nul = found[0] == "\x00"
            kind, what = ("NUL byte", "\\u0000") if nul else ("not JSON", "half of a surrogate pair")
            yield Problem(number, kind, f"{what} in a value")
            return
        source, target = fields.source, fields.target
        if self._needs_target and not (source.strip() and target.strip()):
            side = "target" if source.strip() else "source"
            yield Problem(number, "empty side", f"the {side} is empty", fatal=False)
            return
        example = Pair(number, *fields)
        problem = self._check(example) if self._check is not None else None
        yield problem or example

    def _wanted(self) -> Wanted:
        columns = self.columns
        targets = columns.targets if self._needs_target else ()
        return Wanted(columns.source, targets, columns.features, (*columns.numbers, *columns.categories))

    def refusal(self, way_out: str = "") -> DataError:
        """An error that names the first of the lines that cannot be used."""
        rows, count = [], 0
        for item in self:
            if isinstance(item, Problem) and item.fatal:
                count += 1
                if count <= 3:
                    rows.append(f"{self.name}, line {item.line}: {item.kind} ({item.detail})")
        if self.paths and _ending(self.paths[0]) == ".txt" and not self.running:
            way_out += "; a text that a model is to go on with needs --goal complete"
        many = f"{count:,} bad lines, the first 3 shown" if count > 3 else "these lines cannot be used"
        return DataError(
            "\n".join(
                [*rows, f"{many}; {self.shape}; 'seq2see check {self.name}' lists all problems{way_out}"]
            )
        )


def _text_of(number: int, line: bytes) -> tuple[str | None, list[Problem]]:
    """A line as text, if it is one, and what is wrong with it."""
    if len(line) > LONGEST_LINE:
        return None, [Problem(number, "too long", f"more than {LONGEST_LINE:,} bytes")]
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        where = f"byte 0x{line[error.start]:02x} at byte {error.start + 1}"
        return None, [Problem(number, "not UTF-8", where)]
    text = text.removesuffix("\r")
    if not (found := _CONTROL.search(text)) or not text.strip():
        return text, []
    nul = found[0] == "\x00"
    where = f"U+{ord(found[0]):04X} at character {found.start() + 1}"
    problem = Problem(number, "NUL byte" if nul else "control character", where, fatal=nul)
    return None if nul else text, [problem]


def _header(line: bytes) -> str:
    return line.decode("utf-8", "replace").rstrip("\r")


def _paths(name: str) -> list[Path]:
    """A name with commas means parallel files, unless a file has just that name."""
    if "," in name and not Path(name).exists():
        return [Path(part) for part in name.split(",")]
    return [Path(name)]


def _ending(path: Path) -> str:
    return (path.with_suffix("") if path.suffix == ".gz" else path).suffix.lower()
