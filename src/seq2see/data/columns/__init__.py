"""Kinds of columns: each turns texts of examples into rows of numbers, and rows into a side of a batch."""

from seq2see.data.columns.contract import Column, Stored
from seq2see.data.columns.extras import Extras
from seq2see.data.columns.label import Labels, LabelSets
from seq2see.data.columns.number import Number
from seq2see.data.columns.tags import Tags
from seq2see.data.columns.text import SourceText, TargetText
from seq2see.data.columns.words import Letters, Words

__all__ = [
    "Column",
    "Extras",
    "LabelSets",
    "Labels",
    "Letters",
    "Number",
    "SourceText",
    "Stored",
    "Tags",
    "TargetText",
    "Words",
]
