"""Examples whose sources are images: folders by class, archives, IDX, COCO, and tables that name them."""

from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import BinaryIO, Literal

from seq2see.data.formats import Fields
from seq2see.data.image_coco import COCO_SHAPE, coco_rows, is_coco
from seq2see.data.image_sets import (
    MARK,
    Idx,
    image_set,
    is_image_file,
    is_image_set,
    look_at_header,
    read_image,
)
from seq2see.data.images import ENDINGS
from seq2see.data.pairs import Check, Columns, Pair, PairFile, Problem
from seq2see.data.shapes import is_shapes
from seq2see.data.tasks import is_task
from seq2see.errors import DataError

__all__ = ["ImageFile"]

_ANY_SIZE = (1, 1)
"""Whether an image is whole is told as well by a smaller one, which comes sooner of a large JPEG."""


class ImageFile(PairFile):
    """Images with their targets; those that cannot be decoded are problems, where examples are checked."""

    named = True

    def __init__(
        self,
        name: str | Path,
        columns: Columns,
        *,
        needs_target: bool = True,
        training: bool = False,
        check: Check | None = None,
    ) -> None:
        super().__init__(name, columns, needs_target=needs_target, training=training, check=check)
        if columns.features is not None:
            raise DataError("features are words before a text, and images have none; use --categories")
        self.by_class = not is_task(self.name) and is_image_set(self.name)
        if self.by_class:
            self.paths = [Path(self.name)]
        self._coco = not self.by_class and len(self.paths) == 1 and is_coco(self.paths[0])
        self._place = self._where()
        self.looks_at: Literal["pixels", "header", "name"] = "pixels" if check is not None else "name"
        """How much of an image is looked at: pixels take most time, and only they show what is cut short."""
        self._seen = ""

    def _where(self) -> str:
        """Where the images lie."""
        if self._task is not None:
            return f"task:{self._task.kind}"
        if is_image_file(self.name):
            return str(Path(self.name).parent)
        if self.by_class:
            return self.name
        return self.columns.images or str(Path(self.name).parent)

    @property
    def shape(self) -> str:
        """What such a file should look like."""
        if self.by_class:
            return "images of each class should lie in a folder of its own"
        if self._coco:
            return COCO_SHAPE
        return f"{super().shape}, where the source is the name of an image in {self._place}"

    @property
    def first_line(self) -> int:
        """The number of the first image or line."""
        return 1 if self.by_class else super().first_line

    def fingerprint(self) -> str:
        """A digest of the images, and of the table that names them."""
        if self.by_class:
            return image_set(self.name).fingerprint()
        drawn = is_shapes(self._place)
        return super().fingerprint() + ("" if drawn else f"-{image_set(self._place).fingerprint()}")

    def refusal(self, way_out: str = "") -> DataError:
        """An error that names the first images that cannot be used, by a look at the pixels of all."""
        self.looks_at = "pixels"
        return super().refusal(way_out)

    def _items(self, open_: Callable[[Path], BinaryIO]) -> Iterator[Pair | Problem]:
        if self._coco:
            yield from self._annotated(open_)
            return
        if not self.by_class:
            yield from super()._items(open_)
            return
        place = image_set(self._place)
        one = Path(self.name).name if is_image_file(self.name) else None
        found = False
        for number, name in enumerate([one] if one is not None else place.names(), 1):
            if not isinstance(place, Idx) and PurePosixPath(name).suffix.lower() not in ENDINGS:
                yield Problem(number, "no image", f"{name!r} is left out", fatal=False)
                continue
            found = True
            label = (place.label(name) if one is None else "") if self._needs_target else ""
            if self._needs_target and not label:
                detail = f"{name!r} lies in no folder, so that its class is not known"
                yield Problem(number, "no class", detail)
                continue
            yield from self._usable(number, Fields(name, label or "", ""))
        if not found:
            what = "is a directory without" if Path(self.name).is_dir() else "has no"
            raise DataError(f"{self.name} {what} images; name a file of examples, or a folder of images")

    def _annotated(self, open_: Callable[[Path], BinaryIO]) -> Iterator[Pair | Problem]:
        with open_(self.paths[0]) as file:
            for number, row in coco_rows(file, self.name, self._needs_target):
                yield from [row] if isinstance(row, Problem) else self._usable(number, row)

    def _usable(self, number: int, fields: Fields) -> Iterator[Pair | Problem]:
        for item in super()._usable(number, fields):
            yield self._located(item) if isinstance(item, Pair) and item.source.strip() else item

    def _located(self, example: Pair) -> Pair | Problem:
        """An example with its image's place before the name, once the image is known to be whole."""
        name = example.source.strip().removeprefix("./")
        source = f"{self._place}{MARK}{name}"
        try:
            source.encode()
            if MARK in name:
                raise DataError(f"{name!r} is no name of an image in {self._place}")
            if self.looks_at == "pixels" and source != self._seen:
                read_image(source, _ANY_SIZE)
            elif self.looks_at == "header" and source != self._seen:
                look_at_header(self._place, name)
            self._seen = source
        except UnicodeEncodeError:
            return Problem(example.line, "unreadable image", f"{name!r} is no name in UTF-8")
        except DataError as error:
            return Problem(example.line, "unreadable image", str(error))
        return example._replace(source=source)
