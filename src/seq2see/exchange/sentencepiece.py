"""The file of a SentencePiece model, as far as cutting texts needs it.

Such a file is a protocol buffer: fields, each with its number, its wire type and its value.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from seq2see.errors import DataError

__all__ = ["Pieces", "read_pieces"]

_LARGEST = 50_000_000
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_UNIGRAM = 1


@dataclass(frozen=True)
class Pieces:
    """The pieces of a unigram model with their scores, and the table of characters that change before."""

    scores: dict[str, float]
    """Of pieces that are found in texts."""
    unknown: float
    """The score of the piece for what no other piece has."""
    characters: bytes


def read_pieces(path: Path) -> Pieces:
    """Read a `.spm` file."""
    try:
        if (size := path.stat().st_size) > _LARGEST:
            raise DataError(f"{path} has {size:,} bytes, and a SentencePiece model {_LARGEST:,} at the most")
        return _parsed(path.read_bytes())
    except (IndexError, struct.error, UnicodeDecodeError, ValueError) as error:
        raise DataError(f"{path} is not a SentencePiece model of the kind unigram: {error}") from None
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}") from None


def _parsed(data: bytes) -> Pieces:
    scores: dict[str, float] = {}
    characters, unknown = b"", 0.0
    for number, value in _fields(data):
        if number == 1 and isinstance(value, bytes):
            piece, score, kind = "", 0.0, 1
            for part, found in _fields(value):
                if part == 1 and isinstance(found, bytes):
                    piece = found.decode("utf-8")
                elif part == 2 and isinstance(found, float):
                    score = found
                elif part == 3 and isinstance(found, int):
                    kind = found
            if kind in (1, 4):  # ordinary pieces, and those that a user defined
                scores[piece] = score
            elif kind == 2:
                unknown = score
        elif number == 2 and isinstance(value, bytes):
            for part, found in _fields(value):
                if part == 3 and found != _UNIGRAM:
                    raise ValueError(f"its kind is number {found!r}")
        elif number == 3 and isinstance(value, bytes):
            tables = [found for part, found in _fields(value) if part == 2 and isinstance(found, bytes)]
            characters = tables[0] if tables else b""
    if not scores:
        raise ValueError("it has no pieces")
    return Pieces(scores, unknown, characters)


def _fields(data: bytes) -> Iterator[tuple[int, int | float | bytes]]:
    """Number and value of each field of a message."""
    place = 0
    while place < len(data):
        key, place = _varint(data, place)
        number, wire = key >> 3, key & 7
        if wire == _VARINT:
            value, place = _varint(data, place)
            yield number, value
        elif wire == _BYTES:
            length, place = _varint(data, place)
            if place + length > len(data):
                raise ValueError(f"a field ends at byte {place + length:,} of {len(data):,}")
            yield number, data[place : place + length]
            place += length
        elif wire == _FIXED32:
            yield number, struct.unpack_from("<f", data, place)[0]
            place += 4
        elif wire == _FIXED64:
            yield number, struct.unpack_from("<d", data, place)[0]
            place += 8
        else:
            raise ValueError(f"a field has the wire type {wire}")


def _varint(data: bytes, place: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        byte = data[place]
        place += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, place
    raise ValueError("a number has no end")
