"""Raw lines of a file, a gzip file or standard input, in bounded memory."""

import codecs
import gzip
import hashlib
import io
import select
import shutil
import zlib
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, cast

from seq2see.errors import DataError
from seq2see.pipes import is_pipe, kept_pipe
from seq2see.wording import quoted

__all__ = [
    "LONGEST_LINE",
    "Arriving",
    "fingerprint",
    "open_bytes",
    "read_lines",
    "read_text",
    "save_standard_input",
]

LONGEST_LINE = 100_000
"""Bytes; a longer line is almost always a file of another format."""
_BLOCK = 1 << 20


def open_bytes(path: Path) -> BinaryIO:
    """Open a file for reading, unpacking `.gz`, or what came through a pipe; refusals say what is there."""
    try:
        if is_pipe(path):
            return kept_pipe(path)
        if path.is_dir():
            raise DataError(f"{path} is a directory; name a file of examples inside it")
        if path.exists() and not path.is_file():
            raise DataError(f"{path} is a device, which has no end; name a file of examples")
        if path.suffix == ".gz":
            return cast(BinaryIO, gzip.open(path, "rb"))
        return path.open("rb")
    except FileNotFoundError:
        raise DataError(f"there is no file {path}{_neighbour(path)}") from None
    except (OSError, ValueError) as error:  # a name with a NUL byte is a ValueError
        raise DataError(f"{quoted(str(path))} cannot be read: {getattr(error, 'strerror', error)}") from None


def read_lines(stream: BinaryIO, name: str) -> Iterator[bytes]:
    """Lines split at "\\n" alone, without it; of a line past the limit only the first bytes come."""
    for block in _blocks(lambda: stream.read(_BLOCK), name):
        yield from block


class Arriving:
    """Lines of a pipe as they arrive."""

    def __init__(self, pipe: BinaryIO, name: str) -> None:
        self._pipe = pipe
        self._blocks = _blocks(lambda: cast(io.BufferedReader, pipe).read1(_BLOCK), name)
        self._waiting: deque[bytes] = deque()

    def __iter__(self) -> Iterator[bytes]:
        for block in self._blocks:
            self._waiting.extend(block)
            while self._waiting:
                yield self._waiting.popleft()

    def ready(self) -> bool:
        """Whether the next line can be had without waiting for it."""
        if self._waiting:
            return True
        try:
            return bool(select.select([self._pipe.fileno()], [], [], 0)[0])
        except (OSError, ValueError):  # not a pipe, or one that cannot be asked
            return True


def _blocks(read: Callable[[], bytes], name: str) -> Iterator[list[bytes]]:
    """What each read brings, cut into lines; the unfinished last line waits for the next read."""
    rest, mark = b"", codecs.BOM_UTF8
    for block in _read(read, name):
        block, mark = block.removeprefix(mark), b""
        *whole, tail = block.split(b"\n")
        if whole:
            yield [rest + whole[0], *whole[1:]]
            rest = tail
        elif len(rest) <= LONGEST_LINE:
            rest += tail
    if rest:
        yield [rest]


def _read(read: Callable[[], bytes], name: str) -> Iterator[bytes]:
    """What each read brings; errors of the file become sentences."""
    try:
        while block := read():
            yield block
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise DataError(f"{name} is not a whole gzip file: {error}") from None
    except OSError as error:
        raise DataError(f"{name} cannot be read: {error.strerror}") from None


def read_text(stream: BinaryIO, name: str) -> Iterator[str]:
    """A text in parts, every character of it as it stands in the file; what is not UTF-8 is refused."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    done, lines = 0, 1  # bytes that are decoded
    try:
        for block in _read(lambda: stream.read(_BLOCK), name):
            part = decoder.decode(block)
            done += len(part.encode())
            lines += part.count("\n")
            yield part
        decoder.decode(b"", final=True)
    except UnicodeDecodeError as error:
        lines += error.object[: error.start].count(b"\n")
        raise DataError(
            f"{name} is not UTF-8: byte 0x{error.object[error.start]:02x} at byte {done + error.start + 1} "
            f"of the file, on line {lines}; save it as UTF-8, for instance with iconv"
        ) from None


def fingerprint(path: Path) -> str:
    """A digest of what a file holds."""
    digest = hashlib.blake2b(digest_size=16)
    with path.open("rb") as stream:
        while block := stream.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()


def save_standard_input(path: Path) -> None:
    """Leave what comes on standard input in a file."""
    with open_bytes(Path("-")) as pipe, path.open("wb") as file:
        shutil.copyfileobj(pipe, file)


def _neighbour(path: Path) -> str:
    near = [name for name in (path.with_name(path.name + ".gz"), path.with_suffix("")) if name.is_file()]
    return f"; did you mean {near[0]}?" if near else ""
