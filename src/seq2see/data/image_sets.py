"""Where images lie: a folder, a zip or tar archive that stays packed, or an IDX file.

An image goes by a text `PLACE//NAME`, such as `photos.zip//cat/1.jpg`; a text without `//` is a file.
"""

import gzip
import hashlib
import os
import struct
import tarfile
import tempfile
import zipfile
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from pathlib import Path, PurePosixPath
from typing import BinaryIO

import numpy as np
import numpy.typing as npt
from PIL import Image

from seq2see.data.images import ENDINGS, MOST_BYTES, BadImageError, decode, open_image
from seq2see.data.lines import fingerprint, open_bytes
from seq2see.data.shapes import draw, is_shapes, parse
from seq2see.errors import DataError

__all__ = [
    "MARK",
    "ImageSet",
    "image_name",
    "image_set",
    "is_image_file",
    "is_image_set",
    "look_at_header",
    "read_image",
]

MARK = "//"
"""Stands between the place of an image and its name there."""
_IDX_IMAGES, _IDX_LABELS = 0x803, 0x801
_MOST_SIDE = 4096


def is_image_set(name: str) -> bool:
    """Whether a name means images themselves, not a table that names them."""
    path = Path(name)
    return path.is_dir() or _is_packed(path) or _is_idx(path) or is_image_file(name)


def is_image_file(name: str) -> bool:
    """Whether a name is that of one image."""
    return MARK not in name and PurePosixPath(name).suffix.lower() in ENDINGS


def _is_packed(path: Path) -> bool:
    return path.suffix.lower() in (".zip", ".tar", ".tgz") or ".tar" in map(str.lower, path.suffixes[:-1])


def _is_idx(path: Path) -> bool:
    return "idx3" in path.name


def image_name(source: str) -> str:
    """The name of an image in its place, which stays the same where the place is moved."""
    return source.rpartition(MARK)[2]


def read_image(source: str, size: tuple[int, int] | None = None) -> Image.Image:
    """An image by its text: upright, in 8 bits, grey or in colour."""
    place, mark, name = source.rpartition(MARK)
    if not mark:
        path = Path(source)
        if path.is_file() and path.stat().st_size > MOST_BYTES:
            raise BadImageError(_too_large(source))
        with open_bytes(path) as file:
            return decode(file.read(MOST_BYTES + 1), source, size)
    if is_shapes(place):
        return draw(name)
    return image_set(place).read(name, size)


def look_at_header(place: str, name: str) -> None:
    """Refuse an image of a place that is missing, is no image or is too large, without decoding it."""
    if is_shapes(place):
        parse(name)
    else:
        image_set(place).look_at_header(name)


class ImageSet(ABC):
    """Images by their names."""

    def __init__(self, place: str) -> None:
        self.place = place

    @abstractmethod
    def names(self) -> Iterator[str]:
        """The names of all files in a fixed order, other files too; hidden ones are left out."""

    @abstractmethod
    def data(self, name: str) -> bytes:
        """What the file of an image holds."""

    @abstractmethod
    def fingerprint(self) -> str:
        """A digest of all that the set holds."""

    def label(self, name: str) -> str | None:
        """The class of an image: the folder that it lies in."""
        parts = name.split("/")
        return parts[self.depth] if len(parts) > self.depth + 1 else None

    @cached_property
    def depth(self) -> int:
        """How many folders there are above those of the classes."""
        return 0

    def read(self, name: str, size: tuple[int, int] | None = None) -> Image.Image:
        """An image, upright and in 8 bits."""
        return decode(self.data(name), self.source(name), size)

    def look_at_header(self, name: str) -> None:
        """Refuse what is not there, or has no header of an image within bounds."""
        open_image(self.data(name), self.source(name))

    def source(self, name: str) -> str:
        """What an image goes by."""
        return f"{self.place}{MARK}{name}"

    def missing(self, name: str) -> BadImageError:
        """What is said of a name that the set does not have."""
        return BadImageError(
            f"there is no image {name!r} in {self.place}; say with --images where the images lie"
        )


class Folder(ImageSet):
    """Images in a folder and the folders below it."""

    def __init__(self, place: str) -> None:
        super().__init__(place)
        self._root = Path(place).resolve()

    def names(self) -> Iterator[str]:
        for folder, folders, files in os.walk(self._root):
            folders[:] = sorted(one for one in folders if not _hidden(one))
            below = Path(folder).relative_to(self._root).as_posix()
            for file in sorted(files):
                if not _hidden(file):
                    yield file if below == "." else f"{below}/{file}"

    @cached_property
    def depth(self) -> int:
        folder, depth = self._root, 0
        while len(inside := [one for one in folder.iterdir() if not _hidden(one.name)]) == 1 and (
            inside[0].is_dir()
        ):
            folder, depth = inside[0], depth + 1
        if not any(one.is_dir() for one in inside):
            return max(0, depth - 1)  # of a single class, which has no folder inside
        return depth

    def data(self, name: str) -> bytes:
        path = (self._root / name).resolve()
        if not path.is_relative_to(self._root):
            raise BadImageError(f"{name!r} lies outside of {self.place}; images must be inside")
        try:
            if not path.is_file():
                raise self.missing(name)
            if path.stat().st_size > MOST_BYTES:
                raise BadImageError(_too_large(self.source(name)))
            return path.read_bytes()
        except (OSError, ValueError) as error:
            raise BadImageError(f"{self.source(name)} cannot be read: {error}") from None

    def fingerprint(self) -> str:
        digest = hashlib.blake2b(digest_size=16)
        for name in self.names():
            digest.update(os.fsencode(name) + b"\0" + fingerprint(self._root / name).encode())
        return digest.hexdigest()


class _Packed(ImageSet):
    """Files of an archive, which stays as it is."""

    files: dict[str, object]

    def names(self) -> Iterator[str]:
        return iter(sorted(name for name in self.files if not any(map(_hidden, name.split("/")))))

    @cached_property
    def depth(self) -> int:
        folders = [name.split("/")[:-1] for name in self.names()]
        shallow, deep = min(folders, default=[]), max(folders, default=[])
        same = next(
            (i for i, both in enumerate(zip(shallow, deep, strict=False)) if both[0] != both[1]), None
        )
        common = same if same is not None else min(len(shallow), len(deep))
        return max(0, common - 1) if shallow == deep else common

    def fingerprint(self) -> str:
        return fingerprint(Path(self.place))


class Zip(_Packed):
    """Images in a zip archive."""

    def __init__(self, place: str) -> None:
        super().__init__(place)
        with open_bytes(Path(place)):
            pass  # says what is wrong with the file itself
        try:
            self._zip = zipfile.ZipFile(place)
        except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
            raise DataError(f"{place} is not a whole zip archive: {error}") from None
        self.files = {one.filename: one for one in self._zip.infolist() if not one.is_dir()}

    def data(self, name: str) -> bytes:
        found = self.files.get(name)
        if not isinstance(found, zipfile.ZipInfo):
            raise self.missing(name)
        if found.file_size > MOST_BYTES:
            raise BadImageError(_too_large(self.source(name)))
        try:
            with self._zip.open(found) as file:
                return file.read(MOST_BYTES + 1)
        except (zipfile.BadZipFile, zlib.error, OSError, RuntimeError, EOFError, ValueError) as error:
            raise BadImageError(f"{self.source(name)} cannot be unpacked: {error}") from None


class Tar(_Packed):
    """Images in a tar archive that is not compressed."""

    def __init__(self, place: str) -> None:
        super().__init__(place)
        if not place.lower().endswith(".tar"):
            raise DataError(
                f"{place} is compressed as a whole, so no image can be read alone; unpack it, or make a .zip"
            )
        try:
            with open_bytes(Path(place)) as file, tarfile.open(fileobj=file, mode="r:") as tar:
                found = {one.name.removeprefix("./"): one for one in tar if one.isreg()}
        except (tarfile.TarError, OSError, ValueError, EOFError) as error:
            raise DataError(f"{place} is not a whole tar archive: {error}") from None
        self.files = {name: (one.offset_data, one.size) for name, one in found.items()}

    def data(self, name: str) -> bytes:
        found = self.files.get(name)
        if not isinstance(found, tuple):
            raise self.missing(name)
        start, size = found
        if size > MOST_BYTES:
            raise BadImageError(_too_large(self.source(name)))
        with open_bytes(Path(self.place)) as file:  # each thread has a place of its own in it
            file.seek(start)
            return file.read(size)


class Idx(ImageSet):
    """Grey images of one size in an IDX file, as MNIST has them; labels lie in a file beside it."""

    def __init__(self, place: str) -> None:
        super().__init__(place)
        self._images = _idx(Path(place), _IDX_IMAGES, 3)
        height, width = self._images.shape[1:]
        if not (0 < height <= _MOST_SIDE and 0 < width <= _MOST_SIDE):
            raise DataError(f"{place} says that its images have {height:,} x {width:,} pixels")
        self._labels: npt.NDArray[np.uint8] | None = None

    def names(self) -> Iterator[str]:
        return map(str, range(len(self._images)))

    def data(self, name: str) -> bytes:
        raise NotImplementedError  # images of IDX files are pixels already

    def read(self, name: str, size: tuple[int, int] | None = None) -> Image.Image:
        if not (name.isascii() and name.isdigit() and int(name) < len(self._images)):
            raise self.missing(name)
        return Image.fromarray(np.asarray(self._images[int(name)]))

    def look_at_header(self, name: str) -> None:
        self.read(name)

    def label(self, name: str) -> str | None:
        if self._labels is None:
            self._labels = self._read_labels()
        return str(self._labels[int(name)])

    def _read_labels(self) -> npt.NDArray[np.uint8]:
        path = self._beside
        labels = _idx(path, _IDX_LABELS, 1)
        if len(labels) != len(self._images):
            raise DataError(
                f"{path} has {len(labels):,} labels, and {self.place} {len(self._images):,} images"
            )
        return labels

    @property
    def _beside(self) -> Path:
        path = Path(self.place)
        stem = path.name.removesuffix(".gz").replace("images", "labels").replace("idx3", "idx1")
        found = [path.with_name(one) for one in (stem, f"{stem}.gz") if path.with_name(one).is_file()]
        if not found or found[0] == path:
            raise DataError(f"the labels of {path} are missing: there is no {stem} beside it")
        return found[0]

    def fingerprint(self) -> str:
        return f"{fingerprint(Path(self.place))}-{fingerprint(self._beside)}"


def _idx(path: Path, magic: int, sides: int) -> npt.NDArray[np.uint8]:
    """The numbers of an IDX file, mapped into memory; a compressed one is unpacked into a temporary file."""
    with open_bytes(path) as file:
        try:
            header = file.read(4 + 4 * sides)
            found, *shape = struct.unpack(f">{1 + sides}I", header)
            if found != magic:
                raise ValueError(f"it begins with {found:#x}, not {magic:#x}")
            return _mapped(file, path, shape, len(header))
        except (struct.error, ValueError, OSError, EOFError, zlib.error) as error:
            raise DataError(f"{path} is not a whole IDX file: {error}") from None


def _mapped(file: BinaryIO, path: Path, shape: Sequence[int], start: int) -> npt.NDArray[np.uint8]:
    size = int(np.prod(shape, dtype=object))
    if not isinstance(file, gzip.GzipFile):
        if path.stat().st_size < start + size:
            raise ValueError("it ends too early")
        return np.memmap(path, np.uint8, "r", start, tuple(shape))
    with tempfile.TemporaryFile() as unpacked:
        left = size
        while left and (block := file.read(min(left, 1 << 20))):
            unpacked.write(block)
            left -= len(block)
        if left:
            raise ValueError("it ends too early")
        unpacked.flush()
        return np.memmap(unpacked, np.uint8, "r", 0, tuple(shape))


def image_set(place: str) -> ImageSet:
    """The images of a place, whatever it is; archives stay open."""
    try:
        stamp = os.stat(place)  # noqa: PTH116 - a path would take longer than the rest of this
    except (OSError, ValueError):
        raise DataError(
            f"there is no {place}, where images should lie; name a folder, a zip or a tar"
        ) from None
    return _opened(place, stamp.st_mtime_ns, stamp.st_size)


@lru_cache(maxsize=8)
def _opened(place: str, changed: int, size: int) -> ImageSet:
    path = Path(place)
    if path.is_dir():
        return Folder(place)
    if _is_packed(path):
        return Zip(place) if path.suffix.lower() == ".zip" else Tar(place)
    if _is_idx(path):
        return Idx(place)
    raise DataError(f"{place} holds no images; name a folder, a zip, a tar or an IDX file")


def _hidden(name: str) -> bool:
    return name.startswith(".") or name == "__MACOSX"


def _too_large(name: str) -> str:
    return f"{name} has more than {MOST_BYTES:,} bytes; make the image smaller"
