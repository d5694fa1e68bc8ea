"""Views of a model that reads images and does not write."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import torch
from PIL import Image
from torch import Tensor

from seq2see.data import Pair
from seq2see.data.columns import Images
from seq2see.data.image_sets import read_image
from seq2see.data.images import fitted
from seq2see.data.sides import Side
from seq2see.errors import DataError
from seq2see.lens import pictures
from seq2see.lens.attribution import Watching
from seq2see.lens.blocks import feature_maps, skipping, worths
from seq2see.lens.edits import Edit, Hide
from seq2see.lens.pictures import Grid, Picture, Scores, grid_of
from seq2see.lens.reading import Reader, ReaderLens
from seq2see.lens.view import View
from seq2see.models import Network

__all__ = ["Eye", "ImageLens", "ReadImage"]

ReadImage = Callable[[str], Image.Image]
"""Finds an image by its name."""


class Eye:
    """Turns names of images into pictures as a network sees them."""

    def __init__(self, network: Network, column: Images, read: ReadImage | None = None) -> None:
        self._column, self._read = column, read or read_image
        self.grid: Grid = grid_of(network, column.shape)

    def see(self, name: str, edits: Sequence[Edit] = ()) -> Picture:
        """An image by its name, where edits may hide places."""
        if not name.strip():
            raise DataError("there is no image to look at")
        shape = self._column.shape
        size = shape.height, shape.width
        pixels = fitted(self._read(name), shape.channels, size, self._column.fit)
        picture = self.holding(torch.from_numpy(pixels.copy()))
        hidden = [place for edit in edits if isinstance(edit, Hide) for place in edit.places]
        return picture.hiding(hidden) if hidden else picture

    def holding(self, pixels: Tensor) -> Picture:
        """Pixels (C, H, W) as a picture."""
        return Picture(pixels, tuple(round(255 * one) for one in self._column.shape.mean), self.grid)


class ImageLens(ReaderLens):
    """Makes views of a model that reads images."""

    def __init__(self, model: Reader, read: ReadImage | None = None) -> None:
        super().__init__(model)
        column = model.inputs["source"]
        assert isinstance(column, Images)
        self._eye = Eye(self.network, column, read)

    def _finished(self, view: View, example: Pair, watching: Watching, edits: Sequence[Edit]) -> View:
        best: list[Tensor] = []

        def answers() -> tuple[str, float | None, float]:
            reading, _ = self._pass(example, watching(), edits)
            best[:] = best or [reading.scores.argmax(1, keepdim=True)]
            value = float(reading.scores[0, 0]) if reading.kind == "number" else reading.log_probability
            return reading.output, value, float(reading.scores.gather(1, best[0]).sum())

        found = worths(self.network, edits, answers)
        with skipping(self.network, edits), feature_maps(self.network) as features:
            if found:
                self._pass(example, watching(), edits)
        picture = self._eye.see(example.source, edits)
        return replace(view, picture=picture, blocks=found, features=features)

    def _rows(self, example: Pair, edits: Sequence[Edit] = ()) -> dict[str, list[Any]]:
        rows = {
            name: column.encode([example]) for name, column in self._model.inputs.items() if name != "source"
        }
        return {"source": [self._eye.see(example.source, edits).pixels.reshape(1, -1).numpy()], **rows}

    def _scores(
        self, example: Pair, watching: Watching, edits: Sequence[Edit]
    ) -> tuple[Picture, Scores, torch.device]:
        """A picture, and what gives the log-probability (or the number) of its answer for copies of it."""
        rows = self._rows(example, edits)
        reading, _ = self._pass(example, watching(), edits)
        best = reading.scores.argmax(1)
        device = next(self.network.parameters()).device

        def scores(values: Tensor) -> Tensor:
            sides = self._collated({name: [*column] * len(values) for name, column in rows.items()})
            outputs = self._model.head_outputs({**sides, "source": Side(values.to(device))}, watching())
            found = torch.stack([self._model.read(example, one).scores for one in outputs])
            return found.gather(2, best.expand(len(values), 1)[..., None])[..., 0]

        return self._eye.see(example.source, edits), scores, device

    def _gradient(self, example: Pair, watching: Watching, edits: Sequence[Edit]) -> Tensor:
        return pictures.gradient(*self._scores(example, watching, edits))

    def _occlusion(self, example: Pair, watching: Watching, edits: Sequence[Edit]) -> Tensor:
        picture, scores, _ = self._scores(example, watching, edits)
        return pictures.occlusion(picture, scores)
