"""Pairs as ids in memory-mapped flat arrays, made once for a file and its tokenizers."""

import hashlib
import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import accumulate, chain, islice
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from seq2see.data.pairs import Pair
from seq2see.errors import DataError
from seq2see.text import UNKNOWN, Codec

__all__ = ["Encoded", "cache_folder", "encode", "key_of"]

_CHUNK = 4096
_FORMAT = 1
_STALE = 24 * 3600


@dataclass(frozen=True)
class Encoded:
    """A corpus in ids: `tokens[offsets[i]:offsets[i+1]]` is side i, for each side."""

    source: npt.NDArray[Any]
    source_offsets: npt.NDArray[np.int64]
    target: npt.NDArray[Any]
    target_offsets: npt.NDArray[np.int64]
    lines: npt.NDArray[np.int64]
    left_out: int
    """Pairs that were longer than allowed."""
    unknown: tuple[int, int]
    """Unknown tokens on the source and on the target side."""

    def __len__(self) -> int:
        return len(self.lines)

    @property
    def source_lengths(self) -> npt.NDArray[np.int64]:
        """Tokens of each source."""
        return np.diff(self.source_offsets)

    @property
    def target_lengths(self) -> npt.NDArray[np.int64]:
        """Tokens of each target."""
        return np.diff(self.target_offsets)

    @classmethod
    def open(cls, folder: Path) -> "Encoded":
        """Map the arrays that `encode` wrote."""
        about = json.loads((folder / "about.json").read_text())
        kinds = {name: np.dtype(kind) for name, kind in about["arrays"].items()}
        arrays = {name: _map(folder / f"{name}.bin", kind) for name, kind in kinds.items()}
        return cls(**arrays, left_out=about["left_out"], unknown=tuple(about["unknown"]))


def cache_folder() -> Path:
    """Where encoded corpora are kept: `SEQ2SEE_CACHE`, or the user's cache folder."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(os.environ.get("SEQ2SEE_CACHE") or Path(base) / "seq2see")


def key_of(fingerprint: str, codec: Codec, max_length: int, part: str) -> str:
    """The name of an encoded corpus: any change of file, columns or tokenizer changes it."""
    digest = hashlib.blake2b(digest_size=16)
    for item in (str(_FORMAT), fingerprint, str(max_length), part, *sorted(codec.files().items())):
        digest.update(repr(item).encode())
    return digest.hexdigest()


def encode(
    pairs: Callable[[], Iterable[Pair]],
    codec: Codec,
    max_length: int,
    folder: Path,
    progress: Callable[[int], None] | None = None,
) -> Encoded:
    """Open the corpus in `folder`, encoding the pairs into it first if it is not there."""
    if (found := _whole(folder)) is not None:
        return found
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        _sweep(folder.parent)
        shutil.rmtree(folder, ignore_errors=True)
        draft = Path(tempfile.mkdtemp(prefix=".draft-", dir=folder.parent))
        try:
            _write(pairs(), codec, max_length, draft, progress)
            _put(draft, folder)
        finally:
            shutil.rmtree(draft, ignore_errors=True)
    except OSError as error:
        raise DataError(
            f"the encoded corpus cannot be kept in {folder.parent}: {error.strerror or error}; "
            "set SEQ2SEE_CACHE to a folder with space"
        ) from None
    return Encoded.open(folder)


def _whole(folder: Path) -> Encoded | None:
    """The corpus in a folder, if there is one and it was not damaged."""
    try:
        found = Encoded.open(folder)
    except (OSError, ValueError, KeyError, TypeError):
        return None
    ends = [(found.source, found.source_offsets), (found.target, found.target_offsets)]
    fits = all(len(offsets) == len(found) + 1 and len(ids) == offsets[-1] for ids, offsets in ends)
    return found if fits else None


def _sweep(cache: Path) -> None:
    """Remove what kills in the middle of encoding have left behind."""
    for draft in cache.glob(".draft-*"):
        if time.time() - draft.stat().st_mtime > _STALE:
            shutil.rmtree(draft, ignore_errors=True)


def _write(
    pairs: Iterable[Pair],
    codec: Codec,
    max_length: int,
    folder: Path,
    progress: Callable[[int], None] | None,
) -> None:
    kinds = {
        "source": _smallest(codec.source_size),
        "source_offsets": "int64",
        "target": _smallest(codec.target_size),
        "target_offsets": "int64",
        "lines": "int64",
    }
    ends = {"source": 0, "target": 0}
    unknown = {"source": 0, "target": 0}
    count = left_out = 0
    with ExitStack() as stack:
        files = {name: stack.enter_context((folder / f"{name}.bin").open("wb")) for name in kinds}
        for name in ends:
            np.zeros(1, "int64").tofile(files[f"{name}_offsets"])
        for chunk in _chunks(pairs):
            sides = {
                "source": codec.encode_sources([p.source for p in chunk], [p.features for p in chunk]),
                "target": codec.encode_targets([p.target for p in chunk]),
            }
            kept = [
                row for row in range(len(chunk)) if all(len(ids[row]) <= max_length for ids in sides.values())
            ]
            left_out += len(chunk) - len(kept)
            for name, ids in sides.items():
                rows = [ids[row] for row in kept]
                tokens = np.fromiter(chain.from_iterable(rows), dtype=kinds[name])
                tokens.tofile(files[name])
                offsets = list(accumulate(map(len, rows), initial=ends[name]))
                np.asarray(offsets[1:], "int64").tofile(files[f"{name}_offsets"])
                ends[name] = offsets[-1]
                unknown[name] += int((tokens == UNKNOWN).sum())
            np.asarray([chunk[row].line for row in kept], "int64").tofile(files["lines"])
            count += len(chunk)
            if progress:
                progress(count)
    about = {"arrays": kinds, "left_out": left_out, "unknown": list(unknown.values())}
    (folder / "about.json").write_text(json.dumps(about))


def _put(draft: Path, folder: Path) -> None:
    try:
        draft.rename(folder)
    except OSError:
        if not (folder / "about.json").exists():
            raise
        # Another process has put the same corpus there in the meantime.


def _chunks(pairs: Iterable[Pair]) -> Iterator[Sequence[Pair]]:
    stream = iter(pairs)
    while chunk := list(islice(stream, _CHUNK)):
        yield chunk


def _map(path: Path, kind: np.dtype[Any]) -> npt.NDArray[Any]:
    if path.stat().st_size == 0:
        return np.empty(0, kind)
    return np.memmap(path, dtype=kind, mode="r")


def _smallest(size: int) -> str:
    return "uint16" if size <= np.iinfo(np.uint16).max else "uint32"
