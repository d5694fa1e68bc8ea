"""Fronts for images: a convolution that gives a map, or patches that become states."""

from typing import TYPE_CHECKING, Literal

import torch
from pydantic import Field
from torch import Tensor, nn
from torch.nn import functional as F

from seq2see.data.columns.contract import ImageShape
from seq2see.layers import augmenting
from seq2see.layers.dropout import Dropout
from seq2see.layers.maps import Convolved
from seq2see.layers.positions import Grid, sinusoidal
from seq2see.models.contracts import Sides, States, Vocabulary
from seq2see.models.encoders.resnet import ResNetSettings
from seq2see.models.encoders.transformer import TransformerSettings
from seq2see.models.parts import FrontSettings
from seq2see.settings import Settings

if TYPE_CHECKING:
    from seq2see.models.settings import ModelSettings

__all__ = [
    "AugmentSettings",
    "ImageFrontSettings",
    "PatchFront",
    "PatchFrontSettings",
    "StemFront",
    "StemFrontSettings",
]


class AugmentSettings(Settings):
    """How training changes images at random; by default it does not."""

    flip: bool = False
    """Mirror every other image: not for letters and digits."""
    shift: int = Field(default=0, ge=0, le=1024)
    """Pixels that an image is moved by at the most, each way."""
    crop: float = Field(default=0.0, ge=0, lt=1)
    """The share of each side that is cropped away at the most."""
    cut_out: int = Field(default=0, ge=0, le=1024)
    """The side of a square that is hidden, in pixels."""

    def __call__(self, images: Tensor) -> Tensor:
        """Images (B, C, H, W) whose mean is about zero, changed."""
        if self.flip:
            images = augmenting.flip(images)
        if self.crop:
            images = augmenting.crop(images, self.crop)
        if self.shift:
            images = augmenting.shift(images, self.shift)
        if self.cut_out:
            images = augmenting.cut_out(images, self.cut_out)
        return images


class ImageFrontSettings(FrontSettings):
    """What all fronts for images have."""

    augment: AugmentSettings = AugmentSettings()

    def check(self, model: "ModelSettings") -> None:
        for name, given in {"share_embeddings": model.share_embeddings, "pointer": model.pointer}.items():
            if given:
                raise ValueError(f"{name} is for sources that are texts, and these are images; leave it out")


class StemFrontSettings(ImageFrontSettings):
    """A first convolution over the pixels, for an encoder that reads maps."""

    kind: Literal["stem"] = "stem"
    width: int = Field(default=16, ge=1, le=65536)
    """The channels of the map."""
    kernel: int = Field(default=3, ge=1, le=63)
    stride: int = Field(default=1, ge=1, le=16)
    pool: bool = False
    """Halve the map by the largest of 3 x 3 values, as published networks for large images do."""

    def check(self, model: "ModelSettings") -> None:
        super().check(model)
        if not isinstance(model.encoder, ResNetSettings):
            raise ValueError(
                f"front.kind = 'stem' gives a map, which encoder.kind = {model.encoder.kind!r} cannot read; "
                "choose encoder.kind=resnet, or front.kind=patches"
            )
        if self.kernel % 2 == 0:
            raise ValueError(f"front.kernel = {self.kernel} has no middle; choose an odd number")


class PatchFrontSettings(ImageFrontSettings):
    """Patches of an image, each to a state ("An Image is Worth 16x16 Words", Dosovitskiy et al. 2021)."""

    kind: Literal["patches"] = "patches"
    patch: int = Field(default=4, ge=1, le=256)
    """The side of a patch in pixels; images that it does not divide are filled up."""
    overlap: int = Field(default=0, ge=0, le=256)
    """Pixels around a patch that its state is made of too."""
    class_token: bool = True
    """A learned state stands before those of the patches; head.pooling=first reads it."""
    positions: Literal["learned", "sinusoidal", "rotary", "none"] = "learned"
    """Rotary ones turn queries and keys of the encoder by row and column."""

    def check(self, model: "ModelSettings") -> None:
        super().check(model)
        if isinstance(model.encoder, ResNetSettings):
            raise ValueError(
                "encoder.kind = 'resnet' reads maps, and front.kind = 'patches' gives states in a row; "
                "choose front.kind=stem, or encoder.kind=transformer"
            )
        if self.positions == "rotary":
            self._check_rotary(model)
        if self.positions == "sinusoidal" and model.width % 4:
            raise ValueError(
                f"front.positions = 'sinusoidal' needs four features for each wave, and width {model.width} "
                f"cannot be divided by 4; try {model.width // 4 * 4 + 4}"
            )

    def _check_rotary(self, model: "ModelSettings") -> None:
        part = model.encoder
        if not isinstance(part, TransformerSettings) or part.positions != "none":
            raise ValueError(
                "front.positions = 'rotary' needs encoder.kind=transformer and encoder.positions=none; "
                "set both, or choose learned or sinusoidal"
            )
        if model.width // part.heads % 4:
            raise ValueError(
                f"front.positions = 'rotary' turns features four by four, but width {model.width} among "
                f"{part.heads} heads leaves {model.width // part.heads}; choose a multiple of 4"
            )


class _ImageFront(nn.Module):
    """Pixels to values whose mean is about zero, changed at random while training."""

    mean: Tensor
    scale: Tensor

    def __init__(self, shape: ImageShape, augment: AugmentSettings) -> None:
        super().__init__()
        self.augment = augment
        mean, deviation = torch.tensor(shape.mean), torch.tensor(shape.deviation)
        # Both come with the column of images, so that they are no weights.
        self.register_buffer("mean", mean[:, None, None], persistent=False)
        self.register_buffer("scale", 1 / deviation[:, None, None], persistent=False)

    @property
    def embed(self) -> nn.Embedding:
        """Images have no vectors of tokens."""
        raise AttributeError("images have no embedding")

    def pixels(self, sides: Sides) -> Tensor:
        """Images as the network sees them, (B, C, H, W)."""
        pixels = (sides["source"].values.to(self.mean.dtype) / 255 - self.mean) * self.scale
        return self.augment(pixels) if self.training else pixels


class StemFront(_ImageFront):
    """A convolution, a norm and a ReLU; its states are a map."""

    def __init__(self, shape: ImageShape, part: StemFrontSettings, encoder: ResNetSettings) -> None:
        super().__init__(shape, part.augment)
        self.stem = Convolved(shape.channels, part.width, part.kernel, part.stride, encoder.norm)
        self.pool = nn.MaxPool2d(3, 2, 1) if part.pool else None

    @classmethod
    def of(cls, settings: "ModelSettings", vocabularies: dict[str, Vocabulary]) -> "StemFront":
        """The front of a model."""
        assert isinstance(settings.front, StemFrontSettings) and isinstance(settings.encoder, ResNetSettings)
        shape = vocabularies["source"].image
        assert shape is not None
        return cls(shape, settings.front, settings.encoder)

    def forward(self, sides: Sides) -> States:
        maps = self.stem(self.pixels(sides))
        if self.pool is not None:
            maps = self.pool(maps)
        return States(maps, _everywhere(maps, maps.shape[2] * maps.shape[3]))


class PatchFront(_ImageFront):
    """Each patch of an image to a state by a linear layer, with a position."""

    positions: Tensor | None

    def __init__(self, shape: ImageShape, width: int, part: PatchFrontSettings, dropout: float = 0.0) -> None:
        super().__init__(shape, part.augment)
        self.patch = part.patch
        side = part.patch + 2 * part.overlap
        self.project = nn.Conv2d(shape.channels, width, side, part.patch, part.overlap)
        nn.init.xavier_uniform_(self.project.weight.view(width, -1))
        nn.init.zeros_(self.project.bias)  # type: ignore[arg-type]
        rows, columns = (-(-side // part.patch) for side in (shape.height, shape.width))
        self.grid = Grid(rows, columns, int(part.class_token)) if part.positions == "rotary" else None
        count = rows * columns + part.class_token
        self.first = nn.Parameter(torch.randn(width) * 0.02) if part.class_token else None
        if part.positions == "learned":
            self.positions = nn.Parameter(torch.randn(count, width) * 0.02)
        elif part.positions == "sinusoidal":
            self.register_buffer("positions", _grid(rows, columns, width, part.class_token), persistent=False)
        else:
            self.positions = None
        self.dropout = Dropout(dropout)

    @classmethod
    def of(cls, settings: "ModelSettings", vocabularies: dict[str, Vocabulary]) -> "PatchFront":
        """The front of a model."""
        assert isinstance(settings.front, PatchFrontSettings)
        shape = vocabularies["source"].image
        assert shape is not None
        return cls(shape, settings.width, settings.front, settings.dropout)

    def forward(self, sides: Sides) -> States:
        pixels = self.pixels(sides)
        bottom, right = (-side % self.patch for side in pixels.shape[2:])
        if bottom or right:
            pixels = F.pad(pixels, (0, right, 0, bottom))
        states = self.project(pixels).flatten(2).transpose(1, 2)  # (B, D, rows, columns) -> (B, S, D)
        if self.first is not None:
            states = torch.cat([self.first.expand(len(states), 1, -1), states], 1)
        if self.positions is not None:
            states = states + self.positions
        return States(self.dropout(states), _everywhere(states, states.shape[1]))


def _grid(rows: int, columns: int, width: int, class_token: bool) -> Tensor:
    """Waves of the row beside waves of the column, (S, D); zeros for the class token."""
    down = sinusoidal(torch.arange(rows), width // 2)[:, None].expand(rows, columns, -1)
    across = sinusoidal(torch.arange(columns), width // 2)[None].expand(rows, columns, -1)
    found = torch.cat([down, across], -1).flatten(0, 1)
    return F.pad(found, (0, 0, 1, 0)) if class_token else found


def _everywhere(states: Tensor, count: int) -> Tensor:
    """A mask without padding, (B, S)."""
    return torch.ones(len(states), count, dtype=torch.bool, device=states.device)
