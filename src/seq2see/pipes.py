"""Inputs that can be read only once: standard input (`-`), a named pipe, `<(command)`.

Whoever needs a file more than once would find the second reading empty. So what comes through a pipe is kept
on disk, once for each pipe and process, and read from there as often as it is asked for.
"""

import atexit
import io
import os
import shutil
import stat
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, BinaryIO, cast

from seq2see.errors import DataError

__all__ = ["is_pipe", "kept_pipe", "open_pipe"]

_PATIENCE = 5.0
"""Seconds that somebody has to open the other end of a named pipe."""
_kept: dict[object, BinaryIO] = {}
"""Files on disk, by what tells their pipes apart."""


def is_pipe(path: Path) -> bool:
    """Whether a name stands for standard input or a pipe."""
    return str(path) == "-" or path.is_fifo() or path.is_socket()


def open_pipe(path: Path) -> BinaryIO:
    """The reading end of a pipe; one that nobody writes to is refused after a while."""
    if str(path) == "-":
        return _standard_input()
    try:
        end = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}") from None
    deadline = time.monotonic() + _PATIENCE
    while (first := _waiting(end)) == b"":  # the end, for as long as nobody has opened the other side
        if time.monotonic() > deadline:
            os.close(end)
            raise DataError(f"nobody writes to the pipe {path}; begin to write there first, or name a file")
        time.sleep(0.01)
    os.set_blocking(end, True)
    return cast(BinaryIO, io.BufferedReader(_Resumed(end, first or b"")))


def _waiting(end: int) -> bytes | None:
    """What waits in a pipe; None if somebody is there who has not written yet."""
    try:
        return os.read(end, 1 << 16)
    except BlockingIOError:
        return None


def kept_pipe(path: Path) -> BinaryIO:
    """All that comes through a pipe, from the beginning, however often it is asked for."""
    name = _standard_input() if str(path) == "-" else (str(path), path.stat().st_ino)
    if name not in _kept:
        file = tempfile.TemporaryFile("w+b")  # noqa: SIM115
        try:
            shutil.copyfileobj(open_pipe(path), file)
            file.flush()
        except OSError as error:
            what = "standard input" if str(path) == "-" else path
            raise DataError(f"{what} cannot be read, or be kept on disk: {error.strerror}") from None
        atexit.register(file.close)
        _kept[name] = cast(BinaryIO, file)
    return cast(BinaryIO, io.BufferedReader(_FromStart(_kept[name].fileno())))


def _standard_input() -> BinaryIO:
    stream = getattr(sys.stdin, "buffer", None)
    if stream is None:
        raise DataError("there is no standard input; name a file")
    if _endless(stream):
        raise DataError("standard input is a device, which has no end; give it a file or a pipe")
    return cast(BinaryIO, stream)


def _endless(stream: BinaryIO) -> bool:
    """Whether a stream comes from a device such as /dev/zero; a terminal is one at which people end it."""
    try:
        about = os.fstat(stream.fileno())
    except (OSError, ValueError):  # a stand-in for standard input, as in a notebook
        return False
    special = stat.S_ISCHR(about.st_mode) and not stream.isatty()
    return special and about.st_rdev != Path(os.devnull).stat().st_rdev


class _Resumed(io.RawIOBase):
    """A file from which some bytes have been read already; they come first."""

    def __init__(self, number: int, first: bytes) -> None:
        self._number, self._first = number, first

    def readable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._number

    def readinto(self, buffer: Any) -> int:
        found = self._first[: len(buffer)] or os.read(self._number, len(buffer))
        self._first = self._first[len(found) :]
        buffer[: len(found)] = found
        return len(found)

    def close(self) -> None:
        if not self.closed:
            os.close(self._number)
        super().close()


class _FromStart(io.RawIOBase):
    """A reader of an open file with a place of its own, so that several can read at a time."""

    def __init__(self, number: int) -> None:
        self._number, self._place = number, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        found = os.pread(self._number, len(buffer), self._place)
        self._place += len(found)
        buffer[: len(found)] = found
        return len(found)
