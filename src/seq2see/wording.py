"""Text that is not ours inside our sentences: short, and without power over a terminal."""

import re
import reprlib
from typing import Any

__all__ = ["quoted", "shortened", "visible"]

_POWERFUL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
"""Control characters but for tab and line feed, marks that turn the direction of writing, half characters."""
_MOST = 120
_short = reprlib.Repr()
_short.maxstring = _short.maxother = _short.maxlong = _MOST
_short.maxlevel = 3


def visible(text: str) -> str:
    """A text whose control characters are shown and do nothing: an escape byte becomes `\\u001b`."""
    return _POWERFUL.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def quoted(value: Any) -> str:
    """A value as Python writes it, or the beginning of it; it costs little however large the value is."""
    return shortened(_short.repr(value))


def shortened(text: str) -> str:
    """A text, or its beginning."""
    return text if len(text) <= 2 * _MOST else f"{text[: 2 * _MOST]}..."
