"""Images as pixels in 8 bits, all at one size."""

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import chain

import numpy as np
import numpy.typing as npt
import torch

from seq2see.data.columns.contract import Array, ImageShape, Stored, Vocabulary
from seq2see.data.image_sets import read_image
from seq2see.data.images import Fit, fitted
from seq2see.data.pairs import Pair
from seq2see.data.sides import Side
from seq2see.text.special import STANDARD

__all__ = ["Images", "evenly"]

_LOOKED_AT = 500
"""Images of which mean and deviation are taken."""
_WORKERS = 2
_GROUP = 32
"""Images that a worker decodes one after another: giving out each of them alone takes too long."""


class Images:
    """Each image is one position, whose values are all of its pixels."""

    limited = False

    def __init__(self, shape: ImageShape, fit: Fit) -> None:
        self.shape, self.fit = shape, fit

    @classmethod
    def learn(cls, examples: Iterable[Pair], size: tuple[int, int], channels: int, fit: Fit) -> "Images":
        """Take mean and deviation of the channels of some images."""
        plain = cls(ImageShape(channels, *size, (0.0,) * channels, (1.0,) * channels), fit)
        pixels = np.concatenate(plain.encode(evenly(examples, _LOOKED_AT))).reshape(
            -1, channels, size[0] * size[1]
        )
        values = pixels.astype(np.float64) / 255
        mean, spread = values.mean((0, 2)), values.std((0, 2))
        deviation = (round(max(one, 0.01), 4) for one in spread.tolist())  # images may all be of one colour
        return cls(
            ImageShape(channels, *size, tuple(round(one, 4) for one in mean.tolist()), tuple(deviation)), fit
        )

    @classmethod
    def load(cls, stored: Stored) -> "Images":
        """A column from what was kept of it."""
        mean, deviation = (tuple(map(float, stored[name])) for name in ("mean", "deviation"))
        shape = ImageShape(stored["channels"], stored["height"], stored["width"], mean, deviation)
        return cls(shape, stored["fit"])

    @property
    def vocabulary(self) -> Vocabulary:
        return Vocabulary(256, STANDARD, image=self.shape)

    @property
    def dtype(self) -> str:
        """A row has one number, which is a list of all the pixels."""
        return f"({self.shape.channels * self.shape.height * self.shape.width},)u1"

    def key(self, example: Pair) -> str:
        """Several captions of an image share its pixels."""
        return example.source

    def encode(self, examples: Sequence[Pair]) -> list[npt.NDArray[np.uint8]]:
        sources = list(dict.fromkeys(one.source for one in examples))
        # Pillow decodes without holding up other threads.
        with ThreadPoolExecutor(_WORKERS) as pool:
            groups = [sources[start : start + _GROUP] for start in range(0, len(sources), _GROUP)]
            rows = dict(zip(sources, chain.from_iterable(pool.map(self._rows, groups)), strict=True))
        return [rows[one.source] for one in examples]

    def _rows(self, sources: Sequence[str]) -> list[npt.NDArray[np.uint8]]:
        return list(map(self._row, sources))

    def _row(self, source: str) -> npt.NDArray[np.uint8]:
        size = self.shape.height, self.shape.width
        return fitted(read_image(source, size), self.shape.channels, size, self.fit).reshape(1, -1)

    def collate(self, rows: Sequence[Sequence[int] | Array]) -> Side:
        pixels = torch.from_numpy(np.concatenate(rows))
        return Side(pixels.view(-1, self.shape.channels, self.shape.height, self.shape.width))

    def unknown(self, values: Array) -> int:
        return 0

    def stored(self) -> Stored:
        return {"kind": "images", **self.shape._asdict(), "fit": self.fit}


def evenly(examples: Iterable[Pair], least: int) -> list[Pair]:
    """At least so many of a stream of examples, if it has as many, as far apart as one another."""
    kept: list[Pair] = []
    stride = 1
    for place, one in enumerate(examples):
        if place % stride == 0:
            kept.append(one)
            if len(kept) >= 2 * least:
                kept, stride = kept[::2], stride * 2
    return kept
