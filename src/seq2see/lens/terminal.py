"""Attention in a terminal: in colours, or in shaded characters where there are no colours."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Console, ConsoleOptions, RenderResult
from rich.style import Style
from rich.table import Table
from rich.text import Text
from torch import Tensor

from seq2see.wording import visible

if TYPE_CHECKING:
    from seq2see.lens.view import View

__all__ = ["HeatMap", "PictureShades", "shades_of"]

_SHADES = " ░▒▓█"
_LABEL = 20
"""Columns for the label of a row in a map that is too large to label every cell."""


class HeatMap:
    """Rows of weights between 0 and 1, with a label for each row and column.

    A map that fits is drawn with all its labels. A larger one has two rows of cells in each line of text, by
    half blocks, and cells are put together (the highest counts) until it fits.
    """

    def __init__(
        self, weights: Sequence[Sequence[float]], rows: Sequence[str], columns: Sequence[str]
    ) -> None:
        self._weights = weights
        self._rows, self._columns = list(map(visible, rows)), list(map(visible, columns))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        label = max((len(row) for row in self._rows), default=0)
        fits = label + 1 + sum(len(column) + 2 for column in self._columns) <= options.max_width
        if fits and len(self._rows) <= 60:
            yield self._labelled()
        else:
            yield from self._compact(options.max_width, coloured=console.color_system is not None)

    def _labelled(self) -> Table:
        grid = Table(box=None, padding=(0, 0), pad_edge=False)
        grid.add_column("", justify="right")
        grid.add_column(" ")
        for column in self._columns:
            grid.add_column(Text(f" {column} "), justify="center")
        for label, weights in zip(self._rows, self._weights, strict=True):
            cells = [
                _cell(weight, len(column) + 2) for weight, column in zip(weights, self._columns, strict=True)
            ]
            grid.add_row(Text(label), "", *cells)
        return grid

    def _compact(self, width: int, coloured: bool) -> RenderResult:
        every = -(-len(self._columns) // max(1, width - _LABEL - 1))
        rows = [
            [max(row[start : start + every]) for start in range(0, len(row), every)] for row in self._weights
        ]
        together = 2 if coloured else 1
        for start in range(0, len(rows), together):
            line = Text(f"{self._rows[start][:_LABEL]:>{_LABEL}} ")
            upper, lower = rows[start], rows[start + 1] if start + 1 < len(rows) else [0.0] * len(rows[start])
            for above, below in zip(upper, lower, strict=True):
                if coloured:
                    line.append("▀", Style(color=_colour(above), bgcolor=_colour(below)))
                else:
                    line.append(_shade(above))
            yield line
        note = f"{len(self._columns)} columns" + (f", {every} to a character" if every > 1 else "")
        yield Text(f"{'':{_LABEL}} {note}: {self._columns[0]} … {self._columns[-1]}", style="dim")


class PictureShades:
    """Values of the places of an image, a small grid for each row, as many beside one another as fit."""

    def __init__(self, names: Sequence[str], values: Tensor, columns: int) -> None:
        self._names, self._columns = list(map(visible, names)), columns
        # A sign is a value's strength; the highest of a row is as dark as can be.
        strength = values.clamp(min=0)
        self._values = strength / strength.amax(1, keepdim=True).clamp(min=1e-9)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        coloured = console.color_system is not None
        wide = max(self._columns, 8)
        across = max(1, (options.max_width + 2) // (wide + 2))
        for start in range(0, len(self._names), across):
            yield Text("  ".join(f"{name[:wide]:{wide}}" for name in self._names[start : start + across]))
            grids = self._values[start : start + across].unflatten(1, (-1, self._columns)).tolist()
            together = 2 if coloured else 1
            for row in range(0, len(grids[0]), together):
                line = Text()
                for grid in grids:
                    below = grid[row + 1] if row + 1 < len(grid) else [0.0] * self._columns
                    for above, under in zip(grid[row], below, strict=True):
                        style = Style(color=_colour(above), bgcolor=_colour(under)) if coloured else None
                        line.append("▀" if coloured else _shade(above), style)
                    line.append(" " * (wide - self._columns + 2))
                yield line


def shades_of(view: "View") -> "HeatMap | PictureShades":
    """Where an output looked: all heads of the last attention, averaged."""
    if view.picture is not None:
        return PictureShades(*view.gazes(), view.grid.columns)
    return HeatMap(view.alignment().tolist(), view.row_names(), view.source)


def _cell(weight: float, width: int) -> Text:
    """A block whose shade is the weight; colour where there is some, characters where there is none."""
    return Text(_shade(weight) * width, Style(color=_colour(weight)))


def _shade(weight: float) -> str:
    return _SHADES[min(len(_SHADES) - 1, round(weight * (len(_SHADES) - 1)))]


def _colour(weight: float) -> str:
    light = round(40 + 215 * (1 - weight))
    return f"rgb({light // 3},{light // 2 + 60},255)"
