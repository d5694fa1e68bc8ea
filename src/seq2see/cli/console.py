"""Where words and tables go: results to standard output, all else to standard error."""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from seq2see.errors import SettingsError

__all__ = ["answer", "errors", "figure_kind", "results", "say", "table"]


class _Patient(Console):
    """A console that falls silent where nobody listens any more, and does not end the program."""

    def on_broken_pipe(self) -> None:
        self.quiet = True


results = Console()
errors = _Patient(stderr=True)


def say(text: str) -> None:
    """Print to standard error as it is, without colours or folding; where nobody listens, go on."""
    with suppress(OSError, ValueError):
        errors.print(text, markup=False, highlight=False, soft_wrap=True)


def answer(value: Mapping[str, Any]) -> None:
    """Print one JSON object; numbers that JSON does not know (infinite, or none) become null."""
    print(json.dumps(_plain(value), ensure_ascii=False, allow_nan=False))


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: _plain(one) for key, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, list | tuple) else value


def figure_kind(path: Path | None) -> str:
    """The kind of image that a file name asks for; without a name there is none."""
    kind = path.suffix[1:].lower() if path is not None else ""
    if path is not None and kind not in ("svg", "png", "pdf"):
        raise SettingsError(f"{path} should end in .svg, .png or .pdf, which say what kind of image it is")
    return kind


def table(
    title: str, columns: Sequence[str], rows: Iterable[Sequence[Any]], numbers: Sequence[str] = ()
) -> Table:
    """A table with a title; columns named in `numbers` stand to the right."""
    made = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD)
    for column in columns:
        made.add_column(column, justify="right" if column in numbers else "left", overflow="fold")
    for row in rows:
        made.add_row(*(escape(cell if isinstance(cell, str) else show(cell)) for cell in row))
    return made


def show(value: Any) -> str:
    """A number as people write it."""
    if isinstance(value, float):
        return f"{value:,.2f}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
