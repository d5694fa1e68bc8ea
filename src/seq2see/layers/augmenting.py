"""Random changes of images that leave what they show as it is; torch's own generator decides on them."""

import torch
from torch import Tensor
from torch.nn import functional as F

__all__ = ["crop", "cut_out", "flip", "shift"]


def flip(images: Tensor) -> Tensor:
    """Every other image mirrored, on the average, (B, C, H, W)."""
    chosen = torch.rand(len(images), 1, 1, 1, device=images.device) < 0.5
    return torch.where(chosen, images.flip(-1), images)


def shift(images: Tensor, most: int) -> Tensor:
    """Each image moved by up to so many pixels each way; its border comes in at the sides."""
    count, _, height, width = images.shape
    down, right = torch.randint(-most, most + 1, (2, count, 1), device=images.device)
    rows = (down + torch.arange(height, device=images.device)).clamp(0, height - 1)  # (B, H)
    columns = (right + torch.arange(width, device=images.device)).clamp(0, width - 1)
    each = torch.arange(count, device=images.device)[:, None, None]
    # Indices before and after the channels put the channels last. With such strides, torch 2.13 writes past
    # its memory in the gradients of convolutions of few channels.
    return images[each, :, rows[:, :, None], columns[:, None]].permute(0, 3, 1, 2).contiguous()


def crop(images: Tensor, most: float) -> Tensor:
    """A part of each image at its full size; up to such a share of each side is lost."""
    scale = 1 - most * torch.rand(len(images), device=images.device)
    across, down = (2 * torch.rand(2, len(images), device=images.device) - 1) * (1 - scale)
    zero = torch.zeros_like(scale)
    moves = torch.stack([torch.stack([scale, zero, across], -1), torch.stack([zero, scale, down], -1)], 1)
    grid = F.affine_grid(moves, list(images.shape), align_corners=False)
    return F.grid_sample(images, grid, padding_mode="border", align_corners=False)


def cut_out(images: Tensor, side: int) -> Tensor:
    """A square of zeros anywhere in each image (DeVries and Taylor 2017); some of it may lie outside."""
    count, _, height, width = images.shape
    hidden = []
    for length in (height, width):
        start = torch.randint(1 - side, length, (count, 1), device=images.device)
        places = torch.arange(length, device=images.device)
        hidden.append((places >= start) & (places < start + side))  # (B, length)
    return images.masked_fill((hidden[0][:, :, None] & hidden[1][:, None])[:, None], 0)
