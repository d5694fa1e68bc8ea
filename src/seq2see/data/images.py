"""One image as pixels: decoded within bounds, upright, in 8 bits, grey or in colour, at a chosen size."""

from io import BytesIO
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageOps, UnidentifiedImageError

from seq2see.errors import DataError

__all__ = ["ENDINGS", "MOST_BYTES", "BadImageError", "Fit", "decode", "fitted", "is_grey", "open_image"]

Fit = Literal["letterbox", "crop"]
"""An image of another shape is shown whole, with black at two sides, or fills all and loses two sides."""
Pixels = npt.NDArray[np.uint8]

# Formats of which Pillow starts no other program.
_FORMATS = ("BMP", "GIF", "JPEG", "PNG", "PPM", "TIFF", "WEBP")
ENDINGS = frozenset(
    {".bmp", ".gif", ".jpeg", ".jpg", ".pgm", ".png", ".pnm", ".ppm", ".tif", ".tiff", ".webp"}
)
MOST_BYTES = 1 << 27
"""Of a file that holds an image."""
_MOST_PIXELS = 50_000_000


class BadImageError(DataError):
    """A file that cannot be read as an image, by its name."""


def open_image(data: bytes, name: str) -> Image.Image:
    """An image whose size is known and within bounds; its pixels are not decoded yet."""
    try:
        image = Image.open(BytesIO(data), formats=_FORMATS)
    except UnidentifiedImageError:
        kinds = ", ".join(_FORMATS)
        raise BadImageError(f"{name} is no image that can be read; it should be one of {kinds}") from None
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        raise BadImageError(f"{name} has far more than {_MOST_PIXELS:,} pixels; make it smaller") from None
    except Exception as error:  # decoders of damaged files raise nearly anything
        raise _damaged(name, error) from None
    width, height = image.size
    if width * height > _MOST_PIXELS:
        raise BadImageError(
            f"{name} has {width:,} x {height:,} pixels, and {_MOST_PIXELS:,} are the most; make it smaller"
        )
    return image


def decode(data: bytes, name: str, size: tuple[int, int] | None = None) -> Image.Image:
    """An image upright and in 8 bits, grey (L) or in colour (RGB); of an animation, the first frame.

    With a size (height, width), a large JPEG may come smaller, but not below it.
    """
    image = open_image(data, name)
    try:
        if size is not None and image.mode in ("L", "RGB", "YCbCr"):
            # Turning it may swap the sides, so that both have to be long enough.
            image.draft(None, (max(size), max(size)))
        image.load()
        ImageOps.exif_transpose(image, in_place=True)
        return _plain(image, name)
    except BadImageError:
        raise
    except Exception as error:
        raise _damaged(name, error) from None


def fitted(image: Image.Image, channels: int, size: tuple[int, int], fit: Fit) -> Pixels:
    """The pixels of an image at a size (height, width), as (channels, height, width)."""
    image = _in_mode(image, "L" if channels == 1 else "RGB")
    height, width = size
    if image.size != (width, height):
        if fit == "crop":
            image = ImageOps.fit(image, (width, height), Image.Resampling.BILINEAR)
        else:
            image = ImageOps.pad(image, (width, height), Image.Resampling.BILINEAR)
    pixels: Pixels = np.asarray(image, np.uint8).reshape(height, width, channels).transpose(2, 0, 1)
    return pixels


def is_grey(image: Image.Image) -> bool:
    """Whether an image shows no colour, however it is kept."""
    if image.mode == "L":
        return True
    colours = np.asarray(image)
    return bool((colours == colours[..., :1]).all())


def _plain(image: Image.Image, name: str) -> Image.Image:
    if image.mode.startswith("I"):
        values: npt.NDArray[Any] = np.asarray(image).astype(np.int64)
        if values.min() < 0 or values.max() > 0xFFFF:
            raise BadImageError(f"{name} has values of more than 16 bits; save it with 8 or 16")
        return Image.fromarray((values >> 8).astype(np.uint8))
    if image.mode == "F":
        raise BadImageError(f"{name} has fractions for values; save it with 8 or 16 bits")
    if image.has_transparency_data:
        image = image.convert("RGBA")
        image = Image.alpha_composite(Image.new("RGBA", image.size, "white"), image)
    return _in_mode(image, "L" if image.mode in ("1", "L") else "RGB")


def _in_mode(image: Image.Image, mode: str) -> Image.Image:
    """An image in a mode, which is itself where it has that mode: many are small, and copies take time."""
    return image if image.mode == mode else image.convert(mode)


def _damaged(name: str, error: Exception) -> BadImageError:
    reason = str(error) or type(error).__name__
    return BadImageError(f"{name} is damaged or cut short ({reason}); put a whole copy of it there")
