"""Images that the page may look at: those of a set, by name, and those that it uploaded."""

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Iterable
from itertools import islice

from PIL import Image

from seq2see.data import Pair
from seq2see.data.image_sets import MARK, image_name, read_image
from seq2see.data.images import BadImageError, decode
from seq2see.data.shapes import PLACE, draw, parse
from seq2see.wording import quoted

__all__ = ["MOST_UPLOADED", "Gallery"]

MOST_UPLOADED = 8 << 20
"""Bytes of a file that the page may send."""
_KEPT = 8
"""Files of that kind that are remembered, the latest."""
_MOST_NAMES = 1000
_UPLOAD = "upload:"


class Gallery:
    """Knows images by names that never lead to another file of this machine."""

    def __init__(self, examples: Iterable[Pair], draws: bool = False) -> None:
        sources = dict.fromkeys(one.source for one in islice(examples, 20 * _MOST_NAMES))
        self._sources = {image_name(one): one for one in islice(sources, _MOST_NAMES)}
        self._draws = draws
        """Whether a name may be any scene of `task:shapes`."""
        self._uploads: OrderedDict[str, bytes] = OrderedDict()
        self._keeping = threading.Lock()

    @property
    def names(self) -> list[str]:
        """The images of the set, the first thousand."""
        return list(self._sources)

    def upload(self, name: str, data: bytes) -> str:
        """Keep an image in memory, once it is known to be whole; gives the name that it goes by."""
        decode(data, quoted(name))
        known = f"{_UPLOAD}{hashlib.sha256(data).hexdigest()[:12]}/{name}"
        with self._keeping:
            self._uploads[known] = data
            self._uploads.move_to_end(known)
            while len(self._uploads) > _KEPT:
                self._uploads.popitem(last=False)
        return known

    def read(self, name: str) -> Image.Image:
        """An image by the name that the page knows it by."""
        if name.startswith(_UPLOAD):
            with self._keeping:
                data = self._uploads.get(name)
            if data is None:
                raise BadImageError(f"{quoted(name)} is not here any more; choose the file again")
            return decode(data, quoted(name))
        if name in self._sources:
            return read_image(self._sources[name])
        if self._draws:
            parse(name)
            return draw(name)
        raise BadImageError(
            f"there is no image {quoted(name)} here; choose one of the list, or upload a file"
        )

    def source(self, name: str) -> str:
        """What Python knows an image by; of an upload, the name of its file."""
        if name.startswith(_UPLOAD):
            return name.partition("/")[2]
        return self._sources.get(name) or (f"{PLACE}{MARK}{name}" if self._draws else name)
