"""Which files are read, and how."""

from typing import Annotated, Literal

from pydantic import Field

from seq2see.data.images import Fit
from seq2see.data.pairs import BadLines, Columns

__all__ = ["DataSettings"]

ImageSide = Annotated[int, Field(ge=1, le=1024)]


class DataSettings(Columns):
    """Files of pairs; `a.en,a.de` means line-aligned files, `task:reverse` a built-in task."""

    train: str
    dev: str | None = None
    dev_share: float = Field(default=0.1, gt=0, lt=1)
    """Without a dev file: the share of sources held out, up to a thousand; of running text, the end."""
    max_length: int = Field(default=512, ge=2, le=100_000)
    """Tokens; longer pairs are left out of training. Of running text, so many are seen together."""
    bad_lines: BadLines = "refuse"
    image_size: tuple[ImageSide, ImageSide] | None = None
    """Height and width that images are brought to."""
    image_fit: Fit = "letterbox"
    """Images of another shape are shown whole, between black bars, or cropped."""
    image_colours: Literal["grey", "rgb"] = "rgb"
    by: Literal["line", "source"] | None = None
    """What counts once where texts of the dev set are scored; by default as the file looks."""
