"""A request for a view, the same for every kind of model."""

from typing import NamedTuple

__all__ = ["LensRequest"]


class LensRequest(NamedTuple):
    """A text to look at; `target`, `beam` and `longest` are for models that write."""

    text: str
    features: str = ""
    target: str | None = None
    beam: int | None = None
    longest: int | None = None
    """The most tokens of an output, whatever the model would allow."""
