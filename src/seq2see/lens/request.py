"""What somebody wants to look at, whatever kind of model it is."""

from typing import NamedTuple

__all__ = ["LensRequest"]


class LensRequest(NamedTuple):
    """A text to look at; of a model that writes also the target, if one is given, and the search."""

    text: str
    features: str = ""
    target: str | None = None
    beam: int | None = None
    longest: int | None = None
    """The most tokens of an output, whatever the model would allow."""
