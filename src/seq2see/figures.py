"""Figures for files, drawn without a display."""

import io
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = [
    "COLOURS",
    "MARKS",
    "Points",
    "change_figure",
    "figure_bytes",
    "line_figure",
    "points_figure",
    "table_figure",
]

Points = Sequence[tuple[str, Sequence[float]]]
"""Along the axis: a label, and one value for each repetition."""

# Told apart with any colour vision (Okabe and Ito), and in grey print by their marks.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKS = "osD^vP*"


def line_figure(
    series: Mapping[str, Points], title: str, across: str, up: str, kind: Literal["png", "svg"] = "png"
) -> bytes:
    """A line for each series: means, with a band from the least to the greatest value."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    # A fixed salt makes the same figure the same file.
    with rc_context({"svg.hashsalt": "seq2see", "font.size": 11}):
        figure = Figure(figsize=(7, 4.2), layout="constrained")
        axes = figure.add_subplot()
        labels = list(dict.fromkeys(label for points in series.values() for label, _ in points))
        for place, (name, points) in enumerate(series.items()):
            colour = COLOURS[place % len(COLOURS)]
            places = [labels.index(label) for label, _ in points]
            means = [fmean(values) for _, values in points]
            axes.plot(places, means, marker=MARKS[place % len(MARKS)], color=colour, label=name)
            lows, highs = [min(values) for _, values in points], [max(values) for _, values in points]
            axes.fill_between(places, lows, highs, color=colour, alpha=0.15, linewidth=0)
        axes.set_xticks(range(len(labels)), labels)
        axes.set(title=title, xlabel=across, ylabel=up)
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(axis="y", alpha=0.3)
        axes.legend(frameon=False)
        return figure_bytes(figure, kind)


def change_figure(changes: Mapping[str, Sequence[float]], title: str, kind: str) -> bytes:
    """A cell for each value of each row: blue where it is below zero, orange where it is above."""
    from matplotlib import rc_context
    from matplotlib.colors import LinearSegmentedColormap
    from matplotlib.figure import Figure

    widest = max(map(len, changes.values()))
    bound = max((abs(value) for row in changes.values() for value in row), default=0) or 1
    colours = LinearSegmentedColormap.from_list("change", [COLOURS[0], "#ffffff", COLOURS[1]])
    with rc_context({"svg.hashsalt": "seq2see", "font.size": 9}):
        figure = Figure(figsize=(2.2 + 0.8 * widest, 1.2 + 0.4 * len(changes)), layout="constrained")
        axes = figure.add_subplot()
        table = [[*row, *[float("nan")] * (widest - len(row))] for row in changes.values()]
        image = axes.imshow(table, cmap=colours, vmin=-bound, vmax=bound, aspect="auto")
        for place, row in enumerate(changes.values()):
            for column, value in enumerate(row):
                axes.text(column, place, f"{value:+.1f}", ha="center", va="center")
        axes.set_xticks(range(widest), [f"head {head}" for head in range(widest)])
        axes.set_yticks(range(len(changes)), list(changes))
        axes.set_title(title)
        figure.colorbar(image, ax=axes)
        return figure_bytes(figure, kind)


def table_figure(
    shades: Sequence[Sequence[float]],
    numbers: Sequence[Sequence[int]],
    labels: Sequence[str],
    title: str,
    across: str,
    up: str,
    kind: str,
) -> bytes:
    """A square table of numbers on cells whose shade is between 0 (white) and 1 (blue)."""
    from matplotlib import rc_context
    from matplotlib.colors import LinearSegmentedColormap
    from matplotlib.figure import Figure

    colours = LinearSegmentedColormap.from_list("share", ["#ffffff", COLOURS[0]])
    side = 1.6 + 0.48 * len(labels)
    with rc_context({"svg.hashsalt": "seq2see", "font.size": 9}):
        figure = Figure(figsize=(max(4.2, side), max(3.4, side)), layout="constrained")
        axes = figure.add_subplot()
        axes.imshow(shades, cmap=colours, vmin=0, vmax=1)
        for row, values in enumerate(numbers):
            for column, value in enumerate(values):
                ink = "white" if shades[row][column] > 0.6 else "black"
                if value:
                    axes.text(column, row, f"{value:,}", ha="center", va="center", color=ink, fontsize=8)
        turned = any(len(label) > 3 for label in labels)
        axes.set_xticks(range(len(labels)), labels, rotation=90 if turned else 0)
        axes.set_yticks(range(len(labels)), labels)
        axes.set(title=title, xlabel=across, ylabel=up)
        axes.spines[:].set_visible(False)
        axes.tick_params(which="both", length=0)
        for set_ticks in (axes.set_xticks, axes.set_yticks):
            set_ticks([place - 0.5 for place in range(1, len(labels))], minor=True)
        axes.grid(which="minor", color="#dddddd", linewidth=0.5)
        return figure_bytes(figure, kind)


def points_figure(
    across: Sequence[float], up: Sequence[float], title: str, across_name: str, up_name: str, kind: str
) -> bytes:
    """A point for each pair of values, and the line on which both are equal."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    low, high = min(*across, *up), max(*across, *up)
    edge = 0.04 * (high - low) or 1.0
    ends = (low - edge, high + edge)
    crowd = min(1.0, 40 / len(across) ** 0.5 / 4)
    with rc_context({"svg.hashsalt": "seq2see", "font.size": 11}):
        figure = Figure(figsize=(5.2, 5.2), layout="constrained")
        axes = figure.add_subplot()
        axes.plot(ends, ends, color=COLOURS[1], linewidth=1.2, zorder=3)
        axes.scatter(across, up, s=14, color=COLOURS[0], alpha=max(0.2, crowd), linewidths=0)
        axes.set(title=title, xlabel=across_name, ylabel=up_name, xlim=ends, ylim=ends, aspect="equal")
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(alpha=0.3)
        return figure_bytes(figure, kind)


def figure_bytes(figure: "Figure", kind: str, dots: int = 150) -> bytes:
    """A figure as a file without a date, so that the same figure is the same file."""
    drawn = io.BytesIO()
    undated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind, {})
    figure.savefig(drawn, format=kind, dpi=dots, metadata=undated)
    return drawn.getvalue()
