"""The symbols that every vocabulary begins with.

Each name holds a space inside. No kind of tokenizer makes a token with a space inside,
so a text that contains such a name is still only text.
"""

from typing import NamedTuple

__all__ = ["BEGIN", "END", "MASK", "PAD", "SPECIAL", "STANDARD", "UNKNOWN", "WITH_MASK", "Special"]

SPECIAL = ("< pad >", "< begin >", "< end >", "< unknown >")
PAD, BEGIN, END, UNKNOWN = range(len(SPECIAL))


MASK = "[MASK]"
"""Written where a token is hidden; only vocabularies of models that fill gaps have it, after the others."""


class Special(NamedTuple):
    """The ids of the special symbols of one vocabulary."""

    pad: int
    begin: int
    end: int
    unknown: int
    mask: int | None = None
    """Stands for a hidden token, where the vocabulary has a symbol for that."""
    targets: tuple[int, ...] = ()
    """Each stands in place of the begin symbol before outputs of one of several targets."""

    @property
    def first(self) -> int:
        """The first id that is not special."""
        return len(SPECIAL) + (self.mask is not None)


STANDARD = Special(PAD, BEGIN, END, UNKNOWN)
"""The ids in every vocabulary that this package learns."""
WITH_MASK = STANDARD._replace(mask=len(SPECIAL))
"""The same with a symbol for hidden tokens."""
