"""Images with what is said of them, as one figure."""

from pathlib import Path
from typing import Any

import numpy as np

from seq2see.cli.console import figure_kind, say, write_figure
from seq2see.data.image_sets import read_image
from seq2see.errors import SettingsError
from seq2see.figures import sheet_figure

__all__ = ["Sheet"]

_MOST = 120
_SIDE = 256


class Sheet:
    """Takes images one after another, and draws the first of them."""

    def __init__(self, path: Path) -> None:
        self._path, self._kind = path, figure_kind(path)
        self._cells: list[tuple[Any, str]] = []
        self._count = 0

    def add(self, source: str, text: str) -> None:
        """Show one more image, if there is room, above a text."""
        self._count += 1
        if len(self._cells) < _MOST and source.strip():
            image = read_image(source, (_SIDE, _SIDE))
            image.thumbnail((_SIDE, _SIDE))
            self._cells.append((np.asarray(image), text))

    def draw(self) -> None:
        """Leave the figure, and say where."""
        if not self._cells:
            raise SettingsError(f"there is no image to draw in {self._path}")
        if self._count > len(self._cells):
            say(f"{self._path} shows the first {len(self._cells):,} of {self._count:,} images")
        write_figure(self._path, sheet_figure(self._cells, self._kind))
