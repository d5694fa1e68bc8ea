"""Examples that were parsed once, kept in a file that is gone with the process."""

import json
import os
import tempfile
import weakref
from collections.abc import Iterator

from seq2see.data.pairs import Pair

__all__ = ["Spool"]

_BLOCK = 1 << 20


class Spool:
    """Takes examples one after another, and gives them back in order as often as they are asked for."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile("wb")  # noqa: SIM115
        self._count = 0
        weakref.finalize(self, self._file.close)

    def append(self, example: Pair) -> None:
        """Keep one more."""
        self._file.write(json.dumps(example).encode() + b"\n")
        self._count += 1

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Pair]:
        self._file.flush()
        place, rest = 0, b""
        # Each reader has a place of its own, so that several can read at a time.
        while block := os.pread(self._file.fileno(), _BLOCK, place):
            place += len(block)
            *lines, rest = (rest + block).split(b"\n")
            for line in lines:
                number, source, target, features, extras = json.loads(line)
                yield Pair(number, source, target, features, tuple(extras))
