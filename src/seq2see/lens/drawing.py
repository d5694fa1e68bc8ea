"""Views as figures, as pages and in a terminal."""

import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from seq2see.errors import SettingsError
from seq2see.figures import figure_bytes
from seq2see.files import replace_bytes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from torch import Tensor

    from seq2see.lens.view import View

__all__ = ["save", "show"]

Preset = Literal["one-column", "two-column", "screen"]
_WIDTHS: dict[Preset, float] = {"one-column": 3.4, "two-column": 7.0, "screen": 8.0}
_FONT = 7.0
_KINDS = (".svg", ".png", ".pdf", ".html")


def save(
    view: "View",
    path: Path,
    at: str | None,
    head: int | None,
    *,
    grid: bool = False,
    preset: Preset = "screen",
    title: str | None = None,
    over: "Tensor | None" = None,
) -> Path:
    """One map, all heads of an address (or of all addresses) as a grid, or the whole view as a page.

    Of an image it is drawn over the image, once for each word of a caption. `over` is what is drawn there
    instead of weights, as `model.attribution` gives it.
    """
    if path.suffix not in _KINDS:
        raise SettingsError(f"{path.name}: a view is saved as {', '.join(_KINDS)}")
    if preset not in _WIDTHS:
        raise SettingsError(f"preset {preset!r}: choose from {', '.join(_WIDTHS)}")
    if path.suffix == ".html":
        from seq2see.lens.page import saved_page

        replace_bytes(path, saved_page(view).encode())
        return path
    if view.picture is not None:
        drawn = _picture(view, at, head, grid, preset, title, over)
    elif over is not None:
        raise SettingsError("over is drawn on an image, and this is the view of a text; leave it out")
    else:
        drawn = _grid(view, at, preset, title) if grid else _map(view, at, head, preset, title)
    replace_bytes(path, _written(drawn, path.suffix[1:]))
    return path


def show(view: "View", at: str | None, head: int | None) -> None:
    """Show a view: in a notebook as the page, elsewhere as a map in shades."""
    if "ipykernel" in sys.modules:
        from IPython import get_ipython
        from IPython.display import display

        if get_ipython() is not None:  # a process that only starts kernels has none
            display(view)
            return
    from rich.console import Console

    from seq2see.lens.terminal import HeatMap, PictureShades

    at = at or view._last_cross()
    console = Console(highlight=False)
    name = f"{at}, head {head}" if head is not None else f"{at}, all heads averaged"
    console.print(f"{name}: {view.output}", markup=False)
    if view.picture is not None:
        console.print(PictureShades(*view.gazes(at, head), view.grid.columns))
    else:
        console.print(HeatMap(view.at(at, head).tolist(), view.rows(at), view.columns(at)))


def _picture(
    view: "View",
    at: str | None,
    head: int | None,
    grid: bool,
    preset: Preset,
    title: str | None,
    over: "Tensor | None",
) -> Any:
    from seq2see.lens.picture_drawing import head_grid, picture_strip

    width = _WIDTHS[preset]
    drawn = head_grid(view, at, width, _FONT) if grid else picture_strip(view, at, head, width, _FONT, over)
    if title is not None:
        drawn.suptitle(title, fontsize=_FONT + 2)
    return drawn


def _map(view: "View", at: str | None, head: int | None, preset: Preset, title: str | None) -> Any:
    from matplotlib.figure import Figure

    address = at or view._last_cross()
    weights = view.at(address, head)
    width = _WIDTHS[preset]
    height = min(10.0, max(1.6, 1.0 + width * 0.8 * weights.shape[0] / max(1, weights.shape[1])))
    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.subplots()
    image = _heat(axes, weights, view.rows(address), view.columns(address))
    name = (
        f"{address}, head {head}"
        if head is not None
        else f"{address}, mean of {len(view.weights[address])} heads"
    )
    axes.set_title(title if title is not None else name, fontsize=_FONT + 2)
    figure.colorbar(image, ax=axes, shrink=0.8, aspect=30).ax.tick_params(labelsize=_FONT)
    return figure


def _grid(view: "View", at: str | None, preset: Preset, title: str | None) -> Any:
    from matplotlib.figure import Figure

    addresses = [at] if at else list(view.weights)
    for address in addresses:
        view.at(address)
    heads = max(len(view.weights[address]) for address in addresses)
    width = _WIDTHS[preset]
    each = width / heads
    figure = Figure(figsize=(width, min(20.0, (each + 0.3) * len(addresses) + 0.3)), layout="constrained")
    cells = figure.subplots(len(addresses), heads, squeeze=False)
    for row, address in zip(cells, addresses, strict=True):
        for head, axes in enumerate(row):
            if head >= len(view.weights[address]):
                axes.set_visible(False)
                continue
            axes.imshow(view.weights[address][head].numpy(), cmap="Blues", vmin=0, vmax=1, aspect="auto")
            axes.set_xticks([])
            axes.set_yticks([])
            axes.set_title(f"{address} {head}", fontsize=_FONT - 1)
    if title:
        figure.suptitle(title, fontsize=_FONT + 2)
    return figure


def _heat(axes: "Axes", weights: "Tensor", rows: Sequence[str], columns: Sequence[str]) -> Any:
    image = axes.imshow(weights.numpy(), cmap="Blues", vmin=0, vmax=1, aspect="auto", interpolation="nearest")
    figure = axes.get_figure()
    assert figure is not None
    inches = figure.get_size_inches()  # type: ignore[union-attr]
    across, down = _thinned(columns, inches[0] * 0.75), _thinned(rows, inches[1] * 0.7)
    room = inches[0] * 0.75 * 72 / max(1, len(columns))
    long = max((len(label) for label in columns), default=0) * _FONT * 0.65 > room
    axes.set_xticks(
        across, [_short(columns[place]) for place in across], fontsize=_FONT, rotation=90 if long else 0
    )
    axes.set_yticks(down, [_short(rows[place], 24) for place in down], fontsize=_FONT)
    axes.xaxis.tick_top()
    axes.tick_params(length=2)
    return image


def _thinned(labels: Sequence[str], inches: float) -> list[int]:
    """Places whose labels fit beside one another."""
    room = max(2, int(inches * 72 / (_FONT * 1.25)))
    every = -(-len(labels) // room)
    return list(range(0, len(labels), max(1, every)))


def _short(label: str, longest: int = 16) -> str:
    """A long label without its middle."""
    if len(label) <= longest:
        return label
    half = (longest - 1) // 2
    return f"{label[:half]}…{label[-half:]}"


def _written(figure: Any, kind: str) -> bytes:
    """The same figure is the same file; glyphs that no font has are named once."""
    from matplotlib import rc_context

    with rc_context({"svg.hashsalt": "seq2see"}), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        drawn = figure_bytes(figure, kind, dots=200)
    missing = {str(one.message).split(" missing")[0] for one in caught if "missing from" in str(one.message)}
    if missing:
        warnings.warn(
            f"no font here has {', '.join(sorted(missing)[:8])}; labels show boxes instead. "
            "Install a font for that script (such as Noto), or save as .html",
            stacklevel=4,
        )
    return drawn
