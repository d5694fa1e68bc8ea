"""An image as a model sees it: its pixels, and the grid of places that attention and maps have over it."""

import base64
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import Any

import torch
from PIL import Image
from torch import Tensor
from torch.nn import functional as F

from seq2see.data.columns.contract import ImageShape
from seq2see.errors import SettingsError
from seq2see.models import Network
from seq2see.models.encoders.resnet import ResNetEncoder
from seq2see.models.fronts.images import PatchFront, StemFront

__all__ = ["Grid", "Picture", "gradient", "grid_of", "occlusion"]

_TOGETHER = 1 << 24
"""Values of pixels of copies of an image that go through a network at once."""
_LONGEST = 512
"""Pixels of the longer side of a picture that is shown."""
CLASS = "<class>"
"""What the class token is called, which stands before all places."""

Scores = Callable[[Tensor], Tensor]
"""Log-probabilities of some answers (B, A) for images (B, C, H, W), whose values are from 0 to 255."""


@dataclass(frozen=True)
class Grid:
    """Rows and columns of places over an image; a cell has `down` x `across` pixels, the last maybe fewer."""

    rows: int
    columns: int
    down: float
    across: float
    first: int
    """How many states stand before those of the places: 1 with a class token."""

    @property
    def names(self) -> list[str]:
        """A name for each state: `r2c5` is in row 2 and column 5, counted from 0."""
        places = [f"r{row}c{column}" for row in range(self.rows) for column in range(self.columns)]
        return [CLASS] * self.first + places

    def __len__(self) -> int:
        return self.first + self.rows * self.columns

    def cells(self, height: int, width: int) -> Tensor:
        """The state that each pixel belongs to, (H, W)."""
        rows = (torch.arange(height) / self.down).long().clamp(max=self.rows - 1)
        columns = (torch.arange(width) / self.across).long().clamp(max=self.columns - 1)
        return self.first + rows[:, None] * self.columns + columns

    def check(self, places: Sequence[int]) -> None:
        """Refuse places that are not in the image."""
        for place in places:
            if not self.first <= place < len(self):
                raise SettingsError(
                    f"place {place} cannot be hidden: places of this image are numbered from {self.first} "
                    f"to {len(self) - 1}"
                )


def grid_of(network: Network, shape: ImageShape) -> Grid:
    """The places of a network: patches, or those of the finest map that a residual network gives."""
    front, encoder = network.front, network.encoder
    size = shape.height, shape.width
    if isinstance(front, PatchFront):
        rows, columns = (-(-side // front.patch) for side in size)
        return Grid(rows, columns, front.patch, front.patch, int(front.first is not None))
    assert isinstance(front, StemFront) and isinstance(encoder, ResNetEncoder)
    (stride, _) = front.stem.convolution.stride
    halvings = len(encoder.stages) - encoder.maps + (front.pool is not None)

    def left(side: int) -> int:
        side = -(-side // stride)
        for _ in range(halvings):
            side = -(-side // 2)
        return side

    rows, columns = map(left, size)
    return Grid(rows, columns, size[0] / rows, size[1] / columns, 0)


@dataclass(frozen=True, eq=False)
class Picture:
    """Pixels (C, H, W) in 8 bits, what is put where a place is hidden, and the grid."""

    pixels: Tensor
    grey: tuple[int, ...]
    grid: Grid

    def hiding(self, places: Sequence[int]) -> "Picture":
        """The same with places that are grey."""
        self.grid.check(places)
        cells = self.grid.cells(*self.pixels.shape[1:])
        hidden = torch.isin(cells, torch.tensor(list(places), dtype=cells.dtype))
        return Picture(torch.where(hidden, self._grey(), self.pixels), self.grey, self.grid)

    def each_hidden(self, places: Sequence[int]) -> Tensor:
        """A copy for each place, in which it is grey, (places, C, H, W)."""
        cells = self.grid.cells(*self.pixels.shape[1:])
        hidden = cells == torch.tensor(places)[:, None, None]
        return torch.where(hidden[:, None], self._grey(), self.pixels)

    def image(self) -> Image.Image:
        """As an image that can be shown; a large one is made smaller."""
        channels = self.pixels.permute(1, 2, 0).numpy()
        image = Image.fromarray(channels[..., 0] if channels.shape[2] == 1 else channels)
        image.thumbnail((_LONGEST, _LONGEST))
        return image

    def described(self) -> dict[str, Any]:
        """Plain values for a page."""
        height, width = self.pixels.shape[1:]
        grid = self.grid
        return {
            "image": _data_url(self.image()),
            "height": height,
            "width": width,
            "rows": grid.rows,
            "columns": grid.columns,
            "down": grid.down,
            "across": grid.across,
            "first": grid.first,
        }

    def _grey(self) -> Tensor:
        return torch.tensor(self.grey, dtype=torch.uint8)[:, None, None]


def _data_url(image: Image.Image) -> str:
    file = BytesIO()
    image.save(file, "PNG")
    return f"data:image/png;base64,{base64.b64encode(file.getvalue()).decode()}"


@torch.inference_mode()
def occlusion(picture: Picture, scores: Scores) -> Tensor:
    """The log-probability of each answer less what is left of it when a place is grey, (A, S)."""
    (whole,) = scores(picture.pixels[None])
    places = torch.arange(picture.grid.first, len(picture.grid))
    lost = [
        whole - scores(picture.each_hidden(part.tolist()))
        for part in places.split(max(1, _TOGETHER // picture.pixels.numel()))
    ]
    return F.pad(torch.cat(lost).T, (picture.grid.first, 0))


def gradient(picture: Picture, scores: Scores, device: torch.device) -> Tensor:
    """d log p / d x . (x - grey), summed over the pixels of each place, (A, S).

    To first order, how much the log-probability of an answer owes to what a place shows.
    """
    with torch.enable_grad(), torch.backends.cudnn.flags(enabled=False):
        values = picture.pixels[None].float().to(device).requires_grad_()
        (found,) = scores(values)
        slopes = [torch.autograd.grad(one, values, retain_graph=True)[0] for one in found]
    shown = values.detach() - picture._grey().to(values)
    owed = torch.stack([(slope * shown).sum((0, 1)) for slope in slopes])  # (A, H, W)
    cells = picture.grid.cells(*owed.shape[1:]).to(device).flatten()
    return owed.new_zeros(len(owed), len(picture.grid)).index_add_(1, cells, owed.flatten(1))
