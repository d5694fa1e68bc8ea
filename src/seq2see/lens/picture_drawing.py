"""Figures of images with what a model looks at drawn over them, cell by cell."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from seq2see.errors import SettingsError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from seq2see.lens.pictures import Picture
    from seq2see.lens.view import View

__all__ = ["head_grid", "picture_strip"]

_TINT = (1.0, 0.69, 0.0)
_ABOVE, _BELOW = (0.22, 0.65, 1.0), (1.0, 0.48, 0.1)
_STRONGEST = 0.78
_LEAST = 1.0
"""Inches of a panel at the least."""
_MOST = 64
"""Panels of a figure at the most."""


def picture_strip(
    view: "View", at: str | None, head: int | None, width: float, font: float, over: Tensor | None
) -> Any:
    """The image alone, then once for each word of a caption, or for the answer ("Show, Attend and Tell").

    `over` are values of each place, such as an attribution, instead of weights.
    """
    names, values = view.gazes(at, head) if over is None else _given(view, over)
    title = view.output if over is not None else f"{at or view._last_cross()}{_which(head)}: {view.output}"
    panels = [("", None), *zip(names, values, strict=True)][:_MOST]
    return _panels(view, panels, width, font, title)


def head_grid(view: "View", at: str | None, width: float, font: float) -> Any:
    """A panel for each head of an address, or of all; steps and places that look are averaged."""
    addresses = [at] if at else [one for one in view.weights if view.columns(one) is view.source]
    panels = []
    for address in addresses:
        view.at(address)
        for head in range(len(view.weights[address])):
            panels.append((f"{address} {head}", view.gazes(address, head)[1].mean(0)))
    return _panels(view, panels[:_MOST], width, font, None)


def _given(view: "View", over: Tensor) -> tuple[list[str], Tensor]:
    if over.shape != (len(view.predicted), len(view.source)):
        raise SettingsError(
            f"over has the shape {tuple(over.shape)}, and this view {len(view.predicted)} answers and "
            f"{len(view.source)} places; give what model.attribution gives for the same image"
        )
    return view.answer_names(), over[:, view.grid.first :]


def _which(head: int | None) -> str:
    return f", head {head}" if head is not None else ", mean of the heads"


def _panels(
    view: "View", panels: Sequence[tuple[str, Tensor | None]], width: float, font: float, title: str | None
) -> Any:
    from matplotlib.figure import Figure

    assert view.picture is not None
    across = min(len(panels), max(1, int(width / _LEAST)))
    lines = -(-len(panels) // across)
    height, wide = view.picture.pixels.shape[1:]
    each = width / across
    tall = lines * (each * float(height) / float(wide) + 0.28) + 0.4
    figure = Figure(figsize=(width, min(20.0, tall)), layout="constrained")
    cells = figure.subplots(lines, across, squeeze=False).flatten()
    for axes, (name, values) in zip(cells, panels, strict=False):
        _draw(axes, view.picture, values)
        axes.set_title(name, fontsize=font)
    for axes in cells:
        axes.set_axis_off()
    if title:
        figure.suptitle(title, fontsize=font + 2)
    return figure


def _draw(axes: "Axes", picture: "Picture", values: Tensor | None) -> None:
    pixels = picture.pixels.permute(1, 2, 0).float() / 255
    if values is not None:
        cells = picture.grid.cells(*pixels.shape[:2]) - picture.grid.first
        limit = values.abs().max().clamp(min=1e-9)
        alpha = (values.abs() / limit * _STRONGEST)[cells].unsqueeze(-1)
        signed = bool((values < 0).any())
        tints = torch.tensor([_BELOW, _ABOVE] if signed else [_TINT, _TINT])
        tint = tints[(values >= 0).long()[cells]]
        pixels = pixels.expand(*pixels.shape[:2], 3) * (1 - alpha) + tint * alpha
    axes.imshow(pixels.expand(*pixels.shape[:2], 3).numpy(), interpolation="nearest", vmin=0, vmax=1)
