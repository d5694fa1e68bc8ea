"""Figures of all experiments in one style: lines or dots with intervals over seeds, labelled directly."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from seq2see.figures import COLOURS, MARKS, figure_bytes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Panel", "draw"]

_WIDTH, _HEIGHT = 4.6, 3.4
"""Of one panel, in inches: two of them side by side fill the text of a page."""
_APART = 0.075
"""The least distance of two labels, in heights of a panel."""
_GREY = "#555555"
_LARGE = 10_000
"""From here on numbers are shown as 10k, 2M."""
_DECADES = 2.5
"""With fewer powers of ten on an axis, there are numbers between them."""


@dataclass(frozen=True)
class Panel:
    """One picture: a measured column against one that was varied, a line for each value of a third."""

    across: str
    up: str
    by: str | None = None
    across_label: str = ""
    up_label: str = ""
    log_across: bool = False
    log_up: bool = False
    where: Mapping[str, str] | None = None
    """Only rows with these values."""
    reference: float | None = None
    """A thin line at this height."""
    reference_label: str = ""
    title: str = ""
    by_label: str = ""
    """A word before the name of each line."""


def draw(panels: Sequence[Panel], rows: Sequence[Mapping[str, Any]], title: str, kind: str) -> bytes:
    """All panels side by side, at most three in a row, as SVG, PNG or PDF."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    across = 2 if len(panels) == 4 else min(3, len(panels))
    down = math.ceil(len(panels) / across)
    style: Any = {"svg.hashsalt": "seq2see", "font.size": 10, "axes.titlesize": 10, "svg.fonttype": "none"}
    with rc_context(style):
        figure = Figure(figsize=(_WIDTH * across, _HEIGHT * down + 0.3), layout="constrained")
        wrapped = "\n".join(wrap(title, round(12.5 * _WIDTH * across)))
        figure.suptitle(wrapped, fontsize=11, x=0.01, ha="left")
        for place, panel in enumerate(panels, 1):
            _draw(figure.add_subplot(down, across, place), panel, rows)
        return figure_bytes(figure, kind)


def _draw(axes: "Axes", panel: Panel, rows: Sequence[Mapping[str, Any]]) -> None:
    rows = [row for row in rows if panel.up in row and panel.across in row and _chosen(panel, row)]
    names = list(dict.fromkeys(str(row[panel.by]) if panel.by else "" for row in rows))
    categories = list(dict.fromkeys(row[panel.across] for row in rows))
    numeric = all(isinstance(value, int | float) for value in categories)
    ends = []
    for place, name in enumerate(names):
        own = [row for row in rows if not panel.by or str(row[panel.by]) == name]
        values: dict[Any, list[float]] = {}
        for row in own:
            values.setdefault(row[panel.across], []).append(float(row[panel.up]))
        keys = sorted(values) if numeric else list(values)
        places = keys if numeric else [categories.index(key) for key in keys]
        colour, mark = COLOURS[place % len(COLOURS)], MARKS[place % len(MARKS)]
        label = f"{panel.by_label} {name}".strip()
        means = [fmean(values[key]) for key in keys]
        lows = [mean - min(values[key]) for mean, key in zip(means, keys, strict=True)]
        highs = [max(values[key]) - mean for mean, key in zip(means, keys, strict=True)]
        if numeric:
            axes.plot(places, means, marker=mark, markersize=4, color=colour, linewidth=1.4)
            bottom, top = ([min(values[key]) for key in keys], [max(values[key]) for key in keys])
            axes.fill_between(places, bottom, top, color=colour, alpha=0.18, linewidth=0)
            ends.append((label, colour, places[-1], means[-1]))
        else:
            shift = (place - (len(names) - 1) / 2) * min(0.16, 0.7 / len(names))
            shifted = [one + shift for one in places]
            bars: dict[str, Any] = {"capsize": 2, "linewidth": 1.2, "markersize": 5}
            axes.errorbar(shifted, means, [lows, highs], fmt=mark, color=colour, **bars)
            ends.append((label, colour, shifted[-1], means[-1]))
    if panel.log_across and numeric:
        axes.set_xscale("log", base=2)
    _scale_up(axes, panel)
    if not numeric:
        turned = max(map(len, map(str, categories))) * len(categories) > 40
        axes.set_xticks(range(len(categories)), [str(one) for one in categories])
        axes.tick_params(axis="x", labelrotation=30 if turned else 0)
        axes.set_xlim(-0.6, len(categories) - 0.4)
    elif panel.log_across or len(categories) <= 8:
        axes.set_xticks(sorted(categories), [f"{one:g}" for one in sorted(categories)])
        axes.xaxis.minorticks_off()
    if panel.reference is not None:
        axes.axhline(panel.reference, color=_GREY, linewidth=0.9, linestyle=(0, (4, 3)), zorder=0)
        ends.append((panel.reference_label, _GREY, axes.get_xlim()[1], panel.reference))
    axes.set(xlabel=panel.across_label or panel.across, ylabel=panel.up_label or panel.up)
    axes.set_title(panel.title, loc="left")
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", alpha=0.25, linewidth=0.6)
    _label(axes, [end for end in ends if end[0]])


def _scale_up(axes: "Axes", panel: Panel) -> None:
    """Few powers of ten get marks between them, and large numbers a letter instead of a power."""
    from matplotlib.ticker import EngFormatter, LogLocator, NullFormatter, StrMethodFormatter

    low, high = axes.get_ylim()
    short = EngFormatter(sep="") if max(abs(low), abs(high)) >= _LARGE else StrMethodFormatter("{x:g}")
    if not panel.log_up:
        axes.yaxis.set_major_formatter(short)
        return
    axes.set_yscale("log")
    low, high = axes.get_ylim()
    few = high / low < 10**_DECADES
    axes.yaxis.set_minor_locator(LogLocator(subs=(2, 5)))
    axes.yaxis.set_minor_formatter(short if few else NullFormatter())
    if few:
        axes.yaxis.set_major_formatter(short)


def _chosen(panel: Panel, row: Mapping[str, Any]) -> bool:
    return all(str(row.get(name)) == value for name, value in (panel.where or {}).items())


def _label(axes: "Axes", ends: Sequence[tuple[str, str, float, float]]) -> None:
    """The name of each line at its right end; names that would lie on each other are moved apart."""
    axes.autoscale_view()
    heights = []
    for name, colour, across, up in ends:
        shown = axes.transAxes.inverted().transform(axes.transData.transform((across, up)))
        heights.append((float(shown[1]), name, colour))
    heights.sort()
    placed: list[float] = []
    for height, _, _ in heights:
        placed.append(max(height, placed[-1] + _APART if placed else -1.0))
    over = max(0.0, placed[-1] - 1.0) if placed else 0.0
    for place in range(len(placed) - 1, -1, -1):  # what would stand above the frame pushes the others down
        above = placed[place + 1] - _APART if place + 1 < len(placed) else 1.0
        placed[place] = min(placed[place], above) if over else placed[place]
    for height, (_, name, colour) in zip(placed, heights, strict=True):
        axes.text(1.02, height, name, transform=axes.transAxes, color=colour, fontsize=8.5, va="center")
