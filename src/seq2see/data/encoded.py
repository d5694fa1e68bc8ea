"""Examples as numbers in memory-mapped flat arrays, made once for a file and its columns."""

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import accumulate, chain, islice
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from seq2see.data.columns.contract import Column, Keyed
from seq2see.data.pairs import Pair
from seq2see.digests import seal, whole
from seq2see.errors import DataError, SettingsError
from seq2see.files import publish
from seq2see.locks import held

__all__ = ["Columns", "Encoded", "Ragged", "cache_folder", "encode", "key_of"]

Columns = Mapping[str, Column]

_CHUNK = 4096
_CHUNK_BYTES = 1 << 26
_FORMAT = 4
_REMEMBERED = 1 << 16
"""Keys of rows that a further example can share."""


@dataclass(frozen=True)
class Ragged:
    """Rows of different lengths: row i is `values[offsets[i]:offsets[i+1]]`."""

    values: npt.NDArray[Any]
    offsets: npt.NDArray[np.int64]
    places: npt.NDArray[np.int64] | None = None
    """Where rows are kept once for several examples: the row of each example."""

    def __getitem__(self, row: Any) -> npt.NDArray[Any]:
        row = row if self.places is None else self.places[row]
        found: npt.NDArray[Any] = self.values[self.offsets[row] : self.offsets[row + 1]]
        return found

    def lengths_of(self, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """How long some of the rows are."""
        rows = rows if self.places is None else self.places[rows]
        return self.offsets[rows + 1] - self.offsets[rows]

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """How long each row is."""
        lengths = np.diff(self.offsets)
        return lengths if self.places is None else lengths[self.places]


@dataclass(frozen=True)
class Encoded:
    """A corpus in numbers: the rows of each column by its name, and the line of each example."""

    columns: dict[str, Ragged]
    lines: npt.NDArray[np.int64]
    left_out: int
    """Examples that were longer than allowed."""
    unknown: dict[str, int]
    """Numbers of each column that stand for something unknown."""

    def __len__(self) -> int:
        return len(self.lines)

    def __getitem__(self, name: str) -> Ragged:
        return self.columns[name]

    def with_shared_sources(self) -> "Encoded":
        """The same where examples of one line have one source, which a batch then reads once."""
        _, first, which = np.unique(self.lines, return_index=True, return_inverse=True)
        source = replace(self.columns["source"], places=first[which])
        return replace(self, columns={**self.columns, "source": source})

    @classmethod
    def open(cls, folder: Path) -> "Encoded":
        """Map the arrays that `encode` wrote."""
        about = json.loads((folder / "about.json").read_text())
        columns = {
            name: Ragged(
                _map(folder / f"{name}.bin", np.dtype(kind)),
                _map(folder / f"{name}.offsets.bin", np.dtype("int64")),
                _map(folder / f"{name}.places.bin", np.dtype("int64")) if name in about["keyed"] else None,
            )
            for name, kind in about["columns"].items()
        }
        lines = _map(folder / "lines.bin", np.dtype("int64"))
        return cls(columns, lines, about["left_out"], about["unknown"])


def cache_folder() -> Path:
    """Where encoded corpora are kept: `SEQ2SEE_CACHE`, or the user's cache folder."""
    if named := os.environ.get("SEQ2SEE_CACHE"):
        return Path(named)
    try:
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "seq2see"
    except RuntimeError:
        raise SettingsError(
            "nobody's home folder is known, where examples are kept; name a folder with SEQ2SEE_CACHE"
        ) from None


def key_of(fingerprint: str, columns: Columns, max_length: int, part: str) -> str:
    """The name of an encoded corpus: any change of file, columns or tokenizer changes it."""
    digest = hashlib.blake2b(digest_size=16)
    stored = [(name, json.dumps(column.stored(), sort_keys=True)) for name, column in columns.items()]
    for item in (str(_FORMAT), fingerprint, str(max_length), part, *stored):
        digest.update(repr(item).encode())
    return digest.hexdigest()


def encode(
    pairs: Callable[[], Iterable[Pair]],
    columns: Columns,
    max_length: int,
    folder: Path,
    progress: Callable[[int], None] | None = None,
) -> Encoded:
    """Open the corpus in `folder`, encoding the pairs into it first if it is not there."""
    if (found := _whole(folder)) is not None:
        return found

    def write(draft: Path) -> None:
        _write(pairs(), columns, max_length, draft, progress)
        seal(draft)

    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with held(folder.with_name(f".{folder.name}.lock")):
            # Another process may have made it while this one waited.
            if (found := _whole(folder)) is not None:
                return found
            publish(folder, write)
            return Encoded.open(folder)
    except OSError as error:
        raise DataError(
            f"the encoded corpus cannot be kept in {folder.parent}: {error.strerror or error}; "
            "set SEQ2SEE_CACHE to a folder with space"
        ) from None


def _whole(folder: Path) -> Encoded | None:
    """The corpus in a folder, if there is one and it was not damaged."""
    try:
        return Encoded.open(folder) if whole(folder) else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _write(
    pairs: Iterable[Pair],
    columns: Columns,
    max_length: int,
    folder: Path,
    progress: Callable[[int], None] | None,
) -> None:
    count = left_out = 0
    with ExitStack() as stack:
        writers = {
            name: (_KeyedWriter if isinstance(column, Keyed) else _Writer)(folder, name, column, stack)
            for name, column in columns.items()
        }
        lines = stack.enter_context((folder / "lines.bin").open("wb"))
        widest = max(np.dtype(column.dtype).itemsize for column in columns.values())
        for chunk in _chunks(pairs, max(1, min(_CHUNK, _CHUNK_BYTES // widest))):
            rows = {name: writer.encode(chunk) for name, writer in writers.items()}
            limited = [rows[name] for name, column in columns.items() if column.limited]
            kept = [row for row in range(len(chunk)) if all(len(side[row]) <= max_length for side in limited)]
            left_out += len(chunk) - len(kept)
            for name, writer in writers.items():
                writer.add([rows[name][row] for row in kept])
            np.asarray([chunk[row].line for row in kept], "int64").tofile(lines)
            count += len(chunk)
            if progress:
                progress(count)
    about = {
        "columns": {name: column.dtype for name, column in columns.items()},
        "keyed": [name for name, column in columns.items() if isinstance(column, Keyed)],
        "left_out": left_out,
        "unknown": {name: writer.unknown for name, writer in writers.items()},
    }
    (folder / "about.json").write_text(json.dumps(about))


class _Writer:
    """Appends the rows of one column to its two files."""

    def __init__(self, folder: Path, name: str, column: Column, stack: ExitStack) -> None:
        self._column = column
        self._values = stack.enter_context((folder / f"{name}.bin").open("wb"))
        self._offsets = stack.enter_context((folder / f"{name}.offsets.bin").open("wb"))
        np.zeros(1, "int64").tofile(self._offsets)
        self._end = 0
        self.unknown = 0

    def encode(self, chunk: Sequence[Pair]) -> list[Any]:
        """What is to be added for each example, if it is not left out."""
        return self._column.encode(chunk)

    def add(self, rows: list[Any]) -> None:
        values = np.fromiter(chain.from_iterable(rows), dtype=self._column.dtype)
        values.tofile(self._values)
        offsets = list(accumulate(map(len, rows), initial=self._end))
        np.asarray(offsets[1:], "int64").tofile(self._offsets)
        self._end = offsets[-1]
        self.unknown += self._column.unknown(values)


class _KeyedWriter(_Writer):
    """Writes a row when its key comes for the first time, or has not come for long; adds places of rows."""

    def __init__(self, folder: Path, name: str, column: Column, stack: ExitStack) -> None:
        super().__init__(folder, name, column, stack)
        self._places = stack.enter_context((folder / f"{name}.places.bin").open("wb"))
        self._known: dict[str, int] = {}
        self._count = 0

    def encode(self, chunk: Sequence[Pair]) -> list[Any]:
        assert isinstance(self._column, Keyed)
        keys = list(map(self._column.key, chunk))
        new = {key: one for key, one in zip(keys, chunk, strict=True) if key not in self._known}
        super().add(self._column.encode(list(new.values())))
        self._known |= {key: self._count + place for place, key in enumerate(new)}
        self._count += len(new)
        places = [self._known[key] for key in keys]
        for key in list(islice(self._known, max(0, len(self._known) - _REMEMBERED))):
            del self._known[key]
        return places

    def add(self, rows: list[Any]) -> None:
        np.asarray(rows, "int64").tofile(self._places)


def _chunks(pairs: Iterable[Pair], size: int) -> Iterator[Sequence[Pair]]:
    stream = iter(pairs)
    while chunk := list(islice(stream, size)):
        yield chunk


def _map(path: Path, kind: np.dtype[Any]) -> npt.NDArray[Any]:
    if path.stat().st_size == 0:
        return np.empty(0, kind)
    return np.memmap(path, dtype=kind, mode="r")
