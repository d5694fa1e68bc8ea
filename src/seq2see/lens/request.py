"""A request for a view, the same for every kind of model."""

from collections.abc import Callable
from typing import NamedTuple

from PIL import Image

__all__ = ["LensRequest"]


class LensRequest(NamedTuple):
    """A text or an image (its name) to look at; models that write have `target`, `beam` and `longest`."""

    text: str
    features: str = ""
    target: str | None = None
    beam: int | None = None
    longest: int | None = None
    """The most tokens of an output, whatever the model would allow."""
    read: Callable[[str], Image.Image] | None = None
    """Finds an image by its name; without it, names are files."""
    into: str = ""
    """Which of several targets is written."""
