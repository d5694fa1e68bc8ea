"""The symbols that every vocabulary begins with.

Each name holds a space inside. No kind of tokenizer makes a token with a space inside,
so a text that contains such a name is still only text.
"""

from typing import NamedTuple

__all__ = ["BEGIN", "END", "PAD", "SPECIAL", "STANDARD", "UNKNOWN", "Special"]

SPECIAL = ("< pad >", "< begin >", "< end >", "< unknown >")
PAD, BEGIN, END, UNKNOWN = range(len(SPECIAL))


class Special(NamedTuple):
    """The ids of the special symbols of one vocabulary."""

    pad: int
    begin: int
    end: int
    unknown: int


STANDARD = Special(PAD, BEGIN, END, UNKNOWN)
"""The ids in every vocabulary that this package learns."""
