"""How the fields of an example are found in a record of each format: TSV, CSV, JSONL, CoNLL, FASTA."""

import csv
import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from seq2see.data.values import many
from seq2see.errors import DataError
from seq2see.settings import near

__all__ = [
    "CONLLU",
    "FORMATS",
    "SHAPES",
    "BadRecordError",
    "Fields",
    "Record",
    "Wanted",
    "conll",
    "csv_records",
    "fasta",
]

Column = int | str
FORMATS = {
    ".csv": "csv",
    ".jsonl": "json",
    ".ndjson": "json",
    ".json": "json",
    ".conllu": "conllu",
    ".conll": "conll",
    ".bio": "conll",
    ".iob": "conll",
    ".fasta": "fasta",
    ".fa": "fasta",
    ".faa": "fasta",
}
"""Formats by the ending of a file; anything else is TSV."""
SHAPES = {
    "tsv": "a line should hold source, tab, target",
    "csv": "the first line should name the columns, and each further one hold their values",
    "json": "a line should hold a JSON object with a source and a target",
    "conllu": "a line should hold the ten columns of a word, and a blank line end each sentence",
    "conll": "a line should hold a word and its tag, and a blank line end each sentence",
    "fasta": "a line should hold >, a name and the target, and the sequence follow on the next lines",
}
"""What a file of each format should look like."""
CONLLU = ("id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")
SOURCES = ("source", "text", "sequence", "sentence", "input", "form", "word", "words", "image", "file")
TARGETS = ("target", "label", "labels", "output", "tags", "tag", "value", "class", "caption")
"""Names that stand for the source and the target where no column is named."""


class BadRecordError(Exception):
    """A record that holds no example; the message says why, and the kind what sort of mistake it is."""

    def __init__(self, message: str, kind: str = "missing column") -> None:
        super().__init__(message)
        self.kind = kind


class Fields(NamedTuple):
    """The texts of one example."""

    source: str
    target: str
    features: str
    extras: tuple[str, ...] = ()


class Record(NamedTuple):
    """What stands on one or several lines of a file, and the number of the first of them."""

    line: int
    text: str


class Wanted(NamedTuple):
    """Which columns are wanted, by number from 1 or by name; a target may have several."""

    source: Column
    target: tuple[Column, ...]
    features: Column | None
    extras: tuple[Column, ...]
    gaps: bool = False
    """Whether cells of the target may be missing."""

    @property
    def all(self) -> list[Column]:
        """Every wanted column."""
        features = () if self.features is None else (self.features,)
        return [self.source, *self.target, *features, *self.extras]

    @property
    def by_name(self) -> bool:
        """Whether any column is named rather than numbered."""
        return any(isinstance(column, str) for column in self.all)

    def guessed(self, names: Sequence[str]) -> "Wanted":
        """The usual names in place of the numbers 1 and 2, where the fields have such names."""
        source = next((name for name in SOURCES if name in names), self.source)
        target = next((name for name in TARGETS if name in names), None)
        return self._replace(
            source=source if self.source == 1 else self.source,
            target=(target,) if self.target == (2,) and target is not None else self.target,
        )


Pick = Callable[[str], Fields]


def from_tabs(wanted: Wanted, header: Sequence[str] | None, name: str) -> Pick:
    """Picks the fields of a line with tabs between them."""
    pick = from_list(wanted, header, name, "between tabs")
    return lambda text: pick(text.split("\t"))


def from_list(
    wanted: Wanted, header: Sequence[str] | None, name: str, where: str
) -> Callable[[Sequence[str]], Fields]:
    """Picks fields by their places; `where` says what stands between them."""
    source, *rest = (_place(column, header, name) for column in wanted.all)
    targets, rest = rest[: len(wanted.target)], rest[len(wanted.target) :]
    features = rest.pop(0) if wanted.features is not None else None
    needed = max([source, *rest, *([features] if features is not None else [])])
    alone = targets[0] if len(targets) == 1 else None
    if not wanted.gaps:
        needed = max([needed, *targets])

    def cell(fields: Sequence[str], place: int) -> str:
        return fields[place].replace("\t", " ") if place < len(fields) else ""

    def pick(fields: Sequence[str]) -> Fields:
        if len(fields) <= needed:
            raise BadRecordError(f"{many(len(fields), 'column')} {where}, column {needed + 1} is needed")
        return Fields(
            fields[source],
            fields[alone] if alone is not None else "\t".join([cell(fields, place) for place in targets]),
            fields[features] if features is not None else "",
            tuple([fields[place] for place in rest]) if rest else (),
        )

    return pick


def _place(column: Column, header: Sequence[str] | None, name: str) -> int:
    if isinstance(column, int):
        return column - 1
    if header is CONLLU and column not in header:
        raise DataError(f"{name} has no column {column!r}; those of CoNLL-U are {', '.join(CONLLU)}")
    if header is None:
        raise DataError(
            f"{name} has no names for its columns, so there is no {column!r}; name columns by number, from 1"
        )
    if column not in header:
        raise DataError(f"{name} has no column {column!r} in its first line; {near(column, header)}")
    return header.index(column)


def csv_records(records: Iterator[Record], name: str) -> Iterator[tuple[int, list[str] | BadRecordError]]:
    """Records of a CSV file, which may run over several lines inside quotes."""
    waiting: Record | None = None
    for record in records:
        if waiting is not None:
            record = Record(waiting.line, f"{waiting.text}\n{record.text}")
        waiting = record if record.text.count('"') % 2 else None
        if waiting is not None and len(waiting.text) < _LONGEST_RECORD:
            continue
        unclosed, waiting = waiting is not None, None
        if not record.text.strip():
            continue
        yield (
            record.line,
            _csv_fields(record.text) if not unclosed else BadRecordError("a quote is not closed", "not CSV"),
        )
    if waiting is not None:
        yield waiting.line, BadRecordError("a quote is not closed", "not CSV")


_LONGEST_RECORD = 100_000


def _csv_fields(text: str) -> list[str] | BadRecordError:
    try:
        return next(csv.reader([text], strict=True), [])
    except csv.Error as error:
        return BadRecordError(str(error), "not CSV")


def from_json(wanted: Wanted) -> Pick:
    """Picks the fields of a JSON object by its keys."""

    def pick(text: str) -> Fields:
        try:
            record = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise BadRecordError(str(error), "not JSON") from None
        if not isinstance(record, dict):
            raise BadRecordError("not a JSON object", "not JSON")
        here = wanted.guessed(list(record))
        source = "source" if isinstance(here.source, int) else here.source
        targets = ["target" if isinstance(column, int) else column for column in here.target]
        label = "features" if isinstance(here.features, int) else here.features
        tags = (record.get(label) or "") if label is not None else ""
        if isinstance(tags, dict):
            raise BadRecordError(f"no text under {label!r}, but an object")
        return Fields(
            _text(record, source),
            "\t".join(_text(record, name, wanted.gaps).replace("\t", " ") for name in targets)
            if len(targets) > 1
            else "".join(_text(record, name) for name in targets),
            ";".join(map(str, tags)) if isinstance(tags, list) else str(tags),
            tuple(_text(record, str(name)) for name in here.extras),
        )

    return pick


def _text(record: dict[str, Any], name: str, gap: bool = False) -> str:
    """The text under a name; words and labels may come as a list, numbers as numbers, a gap as nothing."""
    value = record.get(name)
    if value is None and gap:
        return ""
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        value = " ".join(part.replace(" ", "\u00a0") for part in value)
    if isinstance(value, bool) or (isinstance(value, int | float) and name not in SOURCES):
        value = str(value)
    if not isinstance(value, str):
        has = ", ".join(map(repr, list(record)[:6])) or "no keys"
        raise BadRecordError(f"no text under {name!r}; it has {has}")
    return value


def conll(
    records: Iterator[Record], wanted: Wanted, universal: bool, name: str
) -> Iterator[tuple[int, Fields | BadRecordError]]:
    """Sentences of a CoNLL file: a word a line with its columns, blank lines between sentences.

    The words, and the tags of each column, are joined by spaces; one inside a word becomes a no-break space.
    """
    header = CONLLU if universal else None
    if universal:
        wanted = wanted._replace(
            source="form" if wanted.source == 1 else wanted.source,
            target=("upos",) if wanted.target == (2,) else wanted.target,
        )
    pick = from_list(wanted, header, name, "on the line of a word")
    words: list[Fields] = []
    start, problem = 0, None
    for record in _sentinel(records):
        text = record.text if record is not None else ""
        if text.strip() and not text.startswith("#"):
            start = start if words or problem else record.line if record else 0
            fields = text.split("\t") if "\t" in text else text.split()
            if universal and not fields[0].isdigit():
                continue  # a range such as 3-4 or an empty node such as 5.1
            try:
                words.append(pick([field.replace(" ", "\u00a0") for field in fields]))
            except BadRecordError as error:
                problem = problem or (record.line if record else 0, error)
        elif not text.strip() and (words or problem):
            yield problem or (start, _sentence(words))
            words, problem = [], None


def _sentinel(records: Iterator[Record]) -> Iterator[Record | None]:
    yield from records
    yield None


def _sentence(words: list[Fields]) -> Fields:
    targets = zip(*(word.target.split("\t") for word in words), strict=True)
    return Fields(
        " ".join(word.source for word in words),
        "\t".join(" ".join(column) for column in targets),
        words[0].features,
        words[0].extras,
    )


def fasta(records: Iterator[Record]) -> Iterator[tuple[int, Fields | BadRecordError]]:
    """Sequences of a FASTA file; the target is the last word of the line that begins with `>`."""
    header: Record | None = None
    parts: list[str] = []

    def made() -> tuple[int, Fields | BadRecordError]:
        assert header is not None
        words = header.text[1:].split()
        if not parts:
            return header.line, BadRecordError("no sequence follows this line", "not FASTA")
        return header.line, Fields("".join(parts), words[-1] if len(words) > 1 else "", "")

    for record in records:
        text = record.text.strip()
        if text.startswith(">"):
            if header is not None:
                yield made()
            header, parts = record, []
        elif text and header is None:
            yield (
                record.line,
                BadRecordError("a line that begins with > comes before a sequence", "not FASTA"),
            )
        elif text and not text.startswith(";"):
            parts.append(text)
    if header is not None:
        yield made()
