"""Residual blocks over maps ("Deep Residual Learning for Image Recognition", He et al. 2016)."""

from typing import TYPE_CHECKING, Annotated, Literal

import torch
from pydantic import Field
from torch import Tensor, nn
from torch.nn import functional as F

from seq2see.layers.attention import Watch
from seq2see.layers.maps import BLOCKS, BlockKind, MapNorm
from seq2see.models.contracts import Memory
from seq2see.models.parts import EncoderSettings

if TYPE_CHECKING:
    from seq2see.models.settings import ModelSettings

__all__ = ["ResNetEncoder", "ResNetSettings"]

Count = Annotated[int, Field(ge=1, le=65536)]


class ResNetSettings(EncoderSettings):
    """Stages of residual blocks, each of which halves the map that the one before it gives."""

    kind: Literal["resnet"] = "resnet"
    block: BlockKind = "basic"
    widths: tuple[Count, ...] = (16, 32, 64)
    """The channels of each stage."""
    depths: tuple[Count, ...] = (2, 2, 2)
    """The blocks of each stage."""
    maps: int = Field(default=1, ge=1)
    """The maps of so many last stages are read together: places of the finest, with what lies over them."""
    norm: MapNorm = "batch"
    residual: bool = True
    """Add what goes into a block to what comes out of it."""
    project: bool = False
    """A linear layer brings the states to the model's width, which a transformer decoder needs."""

    @property
    def read_width(self) -> int:
        """The features of a place of all maps that are read together."""
        return sum(self.widths[-self.maps :])

    def memory_width(self, width: int) -> int:
        return width if self.project else self.read_width

    def check(self, model: "ModelSettings") -> None:
        if not self.widths or len(self.widths) != len(self.depths):
            raise ValueError(
                f"encoder.widths has {len(self.widths)} stages and encoder.depths {len(self.depths)}; "
                "give each stage a width and a depth"
            )
        if self.maps > len(self.widths):
            raise ValueError(
                f"encoder.maps = {self.maps}, but there are {len(self.widths)} stages of "
                "encoder.widths, each of which gives one map"
            )
        for width in self.widths:
            if self.block != "basic" and width % 4:
                raise ValueError(f"encoder.block = {self.block!r} divides widths by 4, which {width} is not")
        if model.front.kind != "stem":
            raise ValueError(
                f"encoder.kind = 'resnet' reads maps of images, and front.kind is {model.front.kind!r}; "
                "choose front.kind=stem"
            )


class ResNetEncoder(nn.Module):
    """Each place of the last map is a state of the memory; their mean is the summary.

    Of several maps the finest has the places, and a place also has the features of the coarser ones above it,
    as in feature pyramids (Lin et al. 2017): what a thing is, and what it looks like just there.
    """

    def __init__(self, settings: "ModelSettings", part: ResNetSettings) -> None:
        super().__init__()
        channels = getattr(settings.front, "width", part.widths[0])
        make, stages = BLOCKS[part.block], []
        for stage, (width, depth) in enumerate(zip(part.widths, part.depths, strict=True)):
            blocks = []
            for place in range(depth):
                stride = 2 if stage and not place else 1
                blocks.append(make(channels, width, stride, part.norm, part.residual))
                channels = width
            stages.append(nn.Sequential(*blocks))
        self.stages = nn.ModuleList(stages)
        self.maps = part.maps
        self.project = nn.Linear(part.read_width, settings.width) if part.project else None

    def forward(self, states: Tensor, mask: Tensor, watch: Watch | None = None) -> Memory:
        maps = []
        for stage in self.stages:
            states = stage(states)
            maps.append(states)
        if self.maps > 1:
            finest, *coarser = maps[-self.maps :]
            rows, columns = finest.shape[2:]
            spread = [F.interpolate(one, scale_factor=2**level) for level, one in enumerate(coarser, 1)]
            states = torch.cat([finest, *(one[:, :, :rows, :columns] for one in spread)], 1)
        states = states.flatten(2).transpose(1, 2)  # (B, C, H, W) -> (B, S, D)
        if self.project is not None:
            states = self.project(states)
        everywhere = torch.ones(states.shape[:2], dtype=torch.bool, device=states.device)
        return Memory(states, everywhere, states.mean(1))
