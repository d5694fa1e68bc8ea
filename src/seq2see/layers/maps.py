"""Convolutions over maps of features (B, C, H, W), and the residual blocks that are made of them."""

from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional as F

__all__ = [
    "BLOCKS",
    "BasicBlock",
    "BlockKind",
    "Bottleneck",
    "Convolved",
    "MapNorm",
    "OriginalBottleneck",
    "make_map_norm",
]

MapNorm = Literal["batch", "layer", "group"]
"""Over a batch (Ioffe and Szegedy 2015), over all of one map (Ba et al. 2016), or over groups of its channels
(Wu and He 2018)."""
BlockKind = Literal["basic", "bottleneck", "bottleneck-v1"]
_GROUPS = 32


def make_map_norm(kind: MapNorm, channels: int) -> nn.Module:
    """A norm for maps of so many channels."""
    if kind == "batch":
        return nn.BatchNorm2d(channels)
    if kind == "layer":
        return nn.GroupNorm(1, channels)
    groups = next(groups for groups in range(min(_GROUPS, channels), 0, -1) if channels % groups == 0)
    return nn.GroupNorm(groups, channels)


class Convolved(nn.Module):
    """A convolution that keeps the size, or divides it by the stride, and a norm, and maybe a ReLU."""

    def __init__(
        self, channels: int, outputs: int, kernel: int, stride: int, norm: MapNorm, activation: bool = True
    ) -> None:
        super().__init__()
        self.convolution = nn.Conv2d(channels, outputs, kernel, stride, kernel // 2, bias=False)
        nn.init.kaiming_normal_(self.convolution.weight, mode="fan_out", nonlinearity="relu")
        self.norm = make_map_norm(norm, outputs)
        self.activation = activation

    def forward(self, maps: Tensor) -> Tensor:
        """(B, C, H, W) -> (B, outputs, H / stride, W / stride)."""
        one = self.convolution
        if one.kernel_size == (1, 1) and one.stride != (1, 1):
            # The same, and safe: with steps, oneDNN writes past its memory where a map has few channels.
            rows, columns = one.stride
            # Cut with the channels last, so that the gradient, mostly zeros, is laid out as the map is.
            maps = F.conv2d(maps.movedim(1, -1)[:, ::rows, ::columns].movedim(-1, 1), one.weight)
        else:
            maps = one(maps)
        # With the channels of a place side by side, convolutions take two thirds of the time on a CPU.
        found: Tensor = self.norm(maps.contiguous(memory_format=torch.channels_last))
        return F.relu(found, inplace=True) if self.activation else found


class BasicBlock(nn.Module):
    """relu(F(x) + x), where F is two convolutions ("Deep Residual Learning", He et al. 2016, figure 2).

    Where F changes the shape, x passes a convolution of 1 x 1. Without `residual` there is F alone.
    """

    def __init__(
        self, channels: int, outputs: int, stride: int, norm: MapNorm = "batch", residual: bool = True
    ) -> None:
        super().__init__()
        self.layers = nn.Sequential(*self._layers(channels, outputs, stride, norm))
        self.residual, self.shortcut = residual, None
        if residual and (channels != outputs or stride != 1):
            self.shortcut = Convolved(channels, outputs, 1, stride, norm, activation=False)

    def _layers(self, channels: int, outputs: int, stride: int, norm: MapNorm) -> list[nn.Module]:
        return [
            Convolved(channels, outputs, 3, stride, norm),
            Convolved(outputs, outputs, 3, 1, norm, activation=False),
        ]

    def forward(self, maps: Tensor) -> Tensor:
        """(B, C, H, W) -> (B, outputs, H / stride, W / stride)."""
        found: Tensor = self.layers(maps)
        if self.residual:
            found += self.shortcut(maps) if self.shortcut is not None else maps
        return F.relu(found, inplace=True)


class Bottleneck(BasicBlock):
    """The same with a convolution of 3 x 3 between two of 1 x 1 that narrow and widen by four (figure 5)."""

    strided = 1
    """Which of the three layers halves the map."""

    def _layers(self, channels: int, outputs: int, stride: int, norm: MapNorm) -> list[nn.Module]:
        inner = outputs // 4
        strides = [stride if layer == self.strided else 1 for layer in range(3)]
        return [
            Convolved(channels, inner, 1, strides[0], norm),
            Convolved(inner, inner, 3, strides[1], norm),
            Convolved(inner, outputs, 1, strides[2], norm, activation=False),
        ]


class OriginalBottleneck(Bottleneck):
    """As first published: its first layer halves the map, not the one of 3 x 3, which sees all of it."""

    strided = 0


BLOCKS: dict[BlockKind, type[BasicBlock]] = {
    "basic": BasicBlock,
    "bottleneck": Bottleneck,
    "bottleneck-v1": OriginalBottleneck,
}
