"""Small images that are drawn at random, for experiments that need no data."""

import gzip
import struct
from pathlib import Path

import numpy as np

__all__ = ["small_images"]

_SIDE, _SHAPE = 12, 5


def small_images(folder: Path, seed: int, count: int) -> Path:
    """An IDX file of noisy images with a bar, a square, a cross or a frame, and its labels beside it."""
    draw = np.random.default_rng(seed)
    labels = draw.integers(4, size=count)
    images = 0.35 * draw.random((count, _SIDE, _SIDE))
    corners = draw.integers(_SIDE - _SHAPE, size=(count, 2))
    for image, label, (row, column) in zip(images, labels, corners, strict=True):
        image[row : row + _SHAPE, column : column + _SHAPE] += 0.6 * _shapes()[label]
    pixels = (255 * images.clip(0, 1)).astype(np.uint8)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "train-images-idx3-ubyte.gz"
    _write(path, struct.pack(">IIII", 0x803, count, _SIDE, _SIDE) + pixels.tobytes())
    _write(
        folder / "train-labels-idx1-ubyte.gz",
        struct.pack(">II", 0x801, count) + labels.astype(np.uint8).tobytes(),
    )
    return path


def _shapes() -> np.ndarray:
    """A bar, a square, a cross and a frame."""
    shapes = np.zeros((4, _SHAPE, _SHAPE))
    shapes[0, 2] = shapes[1, 1:4, 1:4] = shapes[2, 2] = shapes[2, :, 2] = shapes[3] = 1
    shapes[3, 1:4, 1:4] = 0
    return shapes


def _write(path: Path, content: bytes) -> None:
    path.write_bytes(gzip.compress(content, mtime=0))
