"""Examples that were parsed once, kept in a file that is gone with the process."""

import json
import os
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO

from seq2see.data.pairs import Pair
from seq2see.errors import DataError

__all__ = ["Spool"]

_BLOCK = 1 << 20


class Spool:
    """Takes examples one after another, and gives them back in order as often as they are asked for."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile("wb")  # noqa: SIM115
        self._count = 0
        weakref.finalize(self, _close, self._file)

    def append(self, example: Pair) -> None:
        """Keep one more."""
        with _writing():
            self._file.write(json.dumps(example).encode() + b"\n")
        self._count += 1

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Pair]:
        with _writing():
            self._file.flush()
        place, rest = 0, b""
        # Each reader has a place of its own, so that several can read at a time.
        while block := os.pread(self._file.fileno(), _BLOCK, place):
            place += len(block)
            *lines, rest = (rest + block).split(b"\n")
            for line in lines:
                number, source, target, features, extras, into = json.loads(line)
                yield Pair(number, source, target, features, tuple(extras), into)


@contextmanager
def _writing() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise DataError(
            f"examples cannot be kept in {tempfile.gettempdir()} while they are read: "
            f"{error.strerror or error}; set TMPDIR to a folder with space"
        ) from None


def _close(file: IO[bytes]) -> None:
    with suppress(OSError):  # what was not written is not needed any more
        file.close()
