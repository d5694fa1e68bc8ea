"""Kinds of columns: each turns texts of examples into rows of numbers, and rows into a side of a batch."""

from collections.abc import Callable

from seq2see.data.columns.aligned import AlignedText, WordEnds
from seq2see.data.columns.contract import Column, ImageShape, Stored, Vocabulary
from seq2see.data.columns.counts import Counts
from seq2see.data.columns.extras import Extras
from seq2see.data.columns.image import Images
from seq2see.data.columns.label import Labels, LabelSets
from seq2see.data.columns.number import Number
from seq2see.data.columns.passages import Passages
from seq2see.data.columns.tags import Tags
from seq2see.data.columns.text import SourceText, TargetText
from seq2see.data.columns.words import Letters, Words

__all__ = [
    "COLUMNS",
    "AlignedText",
    "Column",
    "Counts",
    "Extras",
    "ImageShape",
    "Images",
    "LabelSets",
    "Labels",
    "Letters",
    "Number",
    "Passages",
    "SourceText",
    "Stored",
    "Tags",
    "TargetText",
    "Vocabulary",
    "WordEnds",
    "Words",
]

COLUMNS: dict[str, Callable[[Stored], Column]] = {
    "text": SourceText.load,
    "target text": TargetText.load,
    "aligned text": AlignedText.load,
    "word ends": WordEnds.load,
    "words": Words.load,
    "letters": Letters.load,
    "counts": Counts.load,
    "extras": Extras.load,
    "images": Images.load,
    "labels": Labels.load,
    "label sets": LabelSets.load,
    "number": Number.load,
    "tags": Tags.load,
    "passages": Passages.load,
}
"""By the kind that a column stores with itself: what makes the column again of what was kept of it."""
