"""How labels, tags and numbers are written in a file."""

import math
import re

__all__ = ["SEPARATOR", "many", "parse_number", "split_labels", "split_tags", "split_words", "word_spans"]

SEPARATOR = "|"
"""Stands between the labels of one example, where it may have several."""


def many(number: int, what: str) -> str:
    """A number of things in words: `1 tag`, `2,000 tags`."""
    return f"{number:,} {what}{'s' * (number != 1)}"


def parse_number(text: str) -> float | None:
    """A finite number as people write it, or None."""
    try:
        value = float(text.strip().replace("\u2212", "-"))
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def split_labels(text: str) -> list[str]:
    """The labels of one example; a lone `-` means none."""
    return [label for part in text.split(SEPARATOR) if (label := part.strip()) and label != "-"]


def split_words(text: str) -> list[str]:
    """The words of a text, which stand between spaces."""
    return [word for word in text.split(" ") if word]


def word_spans(text: str) -> list[tuple[int, int]]:
    """Where each of these words begins and ends."""
    return [found.span() for found in re.finditer("[^ ]+", text)]


def split_tags(text: str) -> list[list[str]]:
    """The tags of each column, one list a column."""
    return [split_words(column) for column in text.split("\t")]
