"""Examples that were parsed once, kept in a file that is gone with the process."""

import json
import tempfile
import weakref
from collections.abc import Iterator

from seq2see.data.pairs import Pair

__all__ = ["Spool"]


class Spool:
    """Takes examples one after another, and gives them back in order as often as they are asked for."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile("w+", encoding="utf-8", newline="\n")  # noqa: SIM115
        self._count = 0
        weakref.finalize(self, self._file.close)

    def append(self, example: Pair) -> None:
        """Keep one more."""
        self._file.write(json.dumps(example, ensure_ascii=False) + "\n")
        self._count += 1

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Pair]:
        self._file.flush()
        # Each reader has a place of its own, so that several can read at a time.
        with open(self._file.fileno(), encoding="utf-8", newline="\n", closefd=False) as again:
            place = 0
            while True:
                again.seek(place)
                lines = again.readlines(1 << 20)
                place = again.tell()
                if not lines:
                    return
                for line in lines:
                    number, source, target, features, extras = json.loads(line)
                    yield Pair(number, source, target, features, tuple(extras))
