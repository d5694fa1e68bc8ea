"""Residual blocks seen and switched off one by one, and the maps of features that stages of them give."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

import torch
from torch import Tensor, nn

from seq2see.errors import SettingsError
from seq2see.layers.maps import BasicBlock
from seq2see.lens.edits import Edit, Hide, Skip
from seq2see.models.encoders.resnet import ResNetEncoder
from seq2see.models.fronts.images import PatchFront, StemFront
from seq2see.settings import near

__all__ = ["BlockWorth", "FeatureMaps", "blocks_of", "check_parts", "feature_maps", "skipping", "worths"]

_CHANNELS = 16
"""Of each stage so many maps are shown, the strongest."""
_SIDE = 64
"""Rows and columns of a map that is shown at the most."""


class BlockWorth(NamedTuple):
    """What is left of an answer without a block: its log-probability, or the number itself."""

    block: str
    skipped: bool
    """Whether an edit has left it out already."""
    answer: str
    """What the model says without it."""
    value: float | None
    change: float | None
    """Of the log-probability or the number of the answer that the model gives with it."""


class FeatureMaps(NamedTuple):
    """The strongest channels of a stage: their numbers, and their maps (N, H, W) from 0 to 1."""

    stage: str
    channels: list[int]
    maps: Tensor


def blocks_of(network: nn.Module) -> dict[str, BasicBlock]:
    """The residual blocks of a network: `encoder.1.0` is the first of the second stage."""
    return {
        f"encoder.{stage}.{place}": block
        for stage, blocks in enumerate(_stages(network))
        for place, block in enumerate(blocks.children())
        if isinstance(block, BasicBlock) and block.residual
    }


def _stages(network: nn.Module) -> list[nn.Module]:
    encoder = getattr(network, "encoder", None)
    return list(encoder.stages) if isinstance(encoder, ResNetEncoder) else []


def check_parts(edits: Sequence[Edit], network: nn.Module) -> None:
    """Refuse edits that name a residual block or a place of an image where a network has none."""
    known = blocks_of(network)
    for edit in edits:
        if isinstance(edit, Hide) and not isinstance(getattr(network, "front", None), PatchFront | StemFront):
            raise SettingsError("this model reads texts, which have no places to hide; use block")
        if isinstance(edit, Skip) and edit.block not in known:
            hint = near(edit.block, known) if known else "it has none"
            raise SettingsError(f"no residual block of this model is {edit.block!r}; {hint}")


@contextmanager
def skipping(network: nn.Module, edits: Sequence[Edit]) -> Iterator[None]:
    """While entered, of some residual blocks only the skip is left."""
    known = blocks_of(network)
    named = {edit.block for edit in edits if isinstance(edit, Skip)}
    hooks = [known[name].register_forward_hook(_only_skip) for name in named]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()


def _only_skip(block: BasicBlock, given: tuple[Tensor], found: Tensor) -> Tensor:
    (maps,) = given
    return torch.relu(block.shortcut(maps) if block.shortcut is not None else maps)


def worths(
    network: nn.Module, edits: Sequence[Edit], answers: Callable[[], tuple[str, float | None, float]]
) -> list[BlockWorth]:
    """What each residual block is worth beside the edits.

    `answers` asks the network: what it says, the log-probability of that (or the number), and that of the
    answer which it gives with all blocks.
    """
    off = {edit.block for edit in edits if isinstance(edit, Skip)}
    found = []
    with skipping(network, edits):
        _, _, whole = answers() if blocks_of(network) else ("", None, 0.0)
        for name in blocks_of(network):
            if name in off:
                found.append(BlockWorth(name, True, "", None, None))
                continue
            with skipping(network, [Skip(block=name)]):
                said, value, left = answers()
            found.append(BlockWorth(name, False, said, value, left - whole))
    return found


@contextmanager
def feature_maps(network: nn.Module) -> Iterator[list[FeatureMaps]]:
    """While entered, a list gets the maps that each stage gives for the first image of a batch."""
    seen: list[FeatureMaps] = []

    def keep(name: str) -> Callable[..., None]:
        def kept(module: object, given: object, maps: Tensor) -> None:
            seen.append(_strongest(name, maps[0].detach().float().cpu()))

        return kept

    hooks = [
        stage.register_forward_hook(keep(f"encoder.{number}"))
        for number, stage in enumerate(_stages(network))
    ]
    try:
        yield seen
    finally:
        for hook in hooks:
            hook.remove()


def _strongest(stage: str, maps: Tensor) -> FeatureMaps:
    """The channels with the highest mean, each scaled by the highest value of all of them."""
    channels = maps.mean((1, 2)).topk(min(_CHANNELS, len(maps))).indices
    chosen = maps[channels]
    if max(chosen.shape[1:]) > _SIDE:
        rows, columns = (min(_SIDE, side) for side in chosen.shape[1:])
        chosen = nn.functional.adaptive_max_pool2d(chosen, (rows, columns))
    return FeatureMaps(stage, channels.tolist(), chosen / chosen.max().clamp(min=1e-9))
