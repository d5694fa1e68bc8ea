"""The symbols that every vocabulary begins with.

Each name holds a space inside. No kind of tokenizer makes a token with a space inside,
so a text that contains such a name is still only text.
"""

from typing import NamedTuple, Self

__all__ = ["BEGIN", "END", "PAD", "SPECIAL", "UNKNOWN", "Special"]

SPECIAL = ("< pad >", "< begin >", "< end >", "< unknown >")
PAD, BEGIN, END, UNKNOWN = range(len(SPECIAL))


class Special(NamedTuple):
    """The ids of a vocabulary that are no text."""

    pad: int
    begin: int
    end: int
    unknown: int

    @classmethod
    def standard(cls) -> Self:
        """Those of the vocabularies that are made here."""
        return cls(PAD, BEGIN, END, UNKNOWN)
