"""Attention as shades in a terminal."""

from collections.abc import Sequence

from rich.console import Console, ConsoleOptions, RenderResult
from rich.style import Style
from rich.table import Table
from rich.text import Text

__all__ = ["HeatMap", "alignments"]

_SHADES = " ░▒▓█"


class HeatMap:
    """Rows of weights between 0 and 1, with a label for each row and column."""

    def __init__(
        self, weights: Sequence[Sequence[float]], rows: Sequence[str], columns: Sequence[str]
    ) -> None:
        self._weights, self._rows, self._columns = weights, rows, columns

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
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
        yield grid


def alignments(weights: Sequence[Sequence[float]], rows: Sequence[str], columns: Sequence[str]) -> list[str]:
    """For each row the column it looks at most, as `k <- K .83`."""
    best = [max(range(len(row)), key=row.__getitem__) for row in weights]
    return [
        f"{label} <- {columns[place]} {row[place]:.2f}".replace(" 0.", " .")
        for label, row, place in zip(rows, weights, best, strict=True)
    ]


def _cell(weight: float, width: int) -> Text:
    """A block whose shade is the weight; colour where there is some, characters where there is none."""
    shade = _SHADES[min(len(_SHADES) - 1, round(weight * (len(_SHADES) - 1)))]
    light = round(40 + 215 * (1 - weight))
    return Text(shade * width, Style(color=f"rgb({light // 3},{light // 2 + 60},255)"))
