"""Where words and tables go: results to standard output, all else to standard error.

Whatever is printed here as a plain string may come from a file, a run or a command line. It is shown letter
by letter: no markup, no emoji codes, control characters made visible. What is ours to colour is a `Text`.
"""

import json
import math
import os
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from seq2see.errors import RunError, SettingsError
from seq2see.files import replace_bytes
from seq2see.wording import visible

__all__ = ["answer", "errors", "figure_kind", "results", "say", "table", "write", "write_figure"]


class _LetterByLetter(Console):
    """A console to which every string is foreign text."""

    def render_str(self, text: str, **options: Any) -> Text:
        """The string as it is, with control characters shown."""
        kept = {name: options[name] for name in ("justify", "overflow") if name in options}
        return Text(visible(text), style=options.get("style", ""), **kept)


results = _LetterByLetter(highlight=False)
errors = _LetterByLetter(stderr=True, highlight=False)


def say(text: str | Text) -> None:
    """Print to standard error without folding."""
    errors.print(text, soft_wrap=True)


def write(line: str, end: str = "\n") -> None:
    """Print a line of results: byte by byte for a file or another program, visible in a terminal."""
    print(visible(line) if sys.stdout.isatty() else line, end=end)


def answer(value: Mapping[str, Any]) -> None:
    """Print one JSON object; numbers that JSON does not know (infinite, or none) become null."""
    text = json.dumps(_plain(value), ensure_ascii=False, allow_nan=False)
    # Half characters, as in file names that are not UTF-8, can be written in no other way.
    write(re.sub("[\ud800-\udfff]", lambda found: f"\\u{ord(found[0]):04x}", text))


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: _plain(one) for key, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, list | tuple) else value


def figure_kind(path: Path | None) -> str:
    """The kind of image that a file name asks for, if it can be written; without a name there is none."""
    kind = path.suffix[1:].lower() if path is not None else ""
    if path is not None and kind not in ("svg", "png", "pdf"):
        raise SettingsError(f"{path} should end in .svg, .png or .pdf, which say what kind of image it is")
    if path is not None and not (path.parent.is_dir() and os.access(path.parent, os.W_OK)):
        raise SettingsError(
            f"nothing can be written in the folder {path.parent}; name another place for {path.name}"
        )
    if path is not None and path.is_dir():
        raise SettingsError(f"{path} is a directory; name a file for the image")
    return kind


def write_figure(path: Path, image: bytes) -> None:
    """Leave an image, and say where."""
    try:
        replace_bytes(path, image)
    except OSError as error:
        raise RunError(f"{path} cannot be written: {error.strerror}; name another place") from None
    say(f"drawn in {path}")


def table(
    title: str, columns: Sequence[str], rows: Iterable[Sequence[Any]], numbers: Sequence[str] = ()
) -> Table:
    """A table with a title; columns named in `numbers` stand to the right."""
    made = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD)
    for column in columns:
        made.add_column(column, justify="right" if column in numbers else "left", overflow="fold")
    for row in rows:
        made.add_row(*(cell if isinstance(cell, str) else show(cell) for cell in row))
    return made


def show(value: Any) -> str:
    """A number as people write it."""
    if isinstance(value, float):
        return f"{value:,.2f}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
