"""Images and what is said of them in one JSON object, as COCO has it.

{"images": [{"id": 1, "file_name": "a.jpg"}],
 "annotations": [{"image_id": 1, "caption": "a dog"}],           captions, or
 "annotations": [{"image_id": 1, "category_id": 3}],             classes, which
 "categories": [{"id": 3, "name": "dog"}]}                       have names
"""

import json
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from seq2see.data.formats import Fields
from seq2see.data.lines import LONGEST_LINE, open_bytes
from seq2see.data.pairs import Problem
from seq2see.errors import DataError
from seq2see.wording import quoted

__all__ = ["COCO_SHAPE", "coco_rows", "is_coco"]

COCO_SHAPE = (
    "its annotations should have an image_id and a caption, or an image_id and a category_id, and its images "
    "an id and a file_name"
)
_MOST_BYTES = 1 << 28


def is_coco(path: Path) -> bool:
    """Whether a file is one JSON object with images in it, rather than an object on each line."""
    if ".json" not in (path.suffix.lower(), path.with_suffix("").suffix.lower()) or not path.is_file():
        return False
    with open_bytes(path) as file:
        try:
            start = file.read(LONGEST_LINE + 1)
        except (OSError, EOFError, zlib.error):
            return False  # whoever reads the file says what is wrong with it
    line = start.removeprefix(b"\xef\xbb\xbf").lstrip().split(b"\n")[0]
    try:
        first = json.loads(line)
    except (ValueError, RecursionError):
        return line.startswith(b"{")
    return isinstance(first, dict) and "images" in first


def coco_rows(file: BinaryIO, name: str, needs_target: bool) -> Iterator[tuple[int, Fields | Problem]]:
    """Each image with each of its captions, or with its class; those of one image follow one another."""
    found = _read(file, name)
    images = _named(found, "images", "file_name", name)
    if not needs_target:
        for number, image in enumerate(images.values(), 1):
            yield number, Fields(image, "", "")
        return
    annotations = _listed(found, "annotations", name)
    captions = any("caption" in one for one in annotations)
    names = {} if captions else _named(found, "categories", "name", name)
    said: dict[Any, list[str]] = {image: [] for image in images}
    for place, one in enumerate(annotations):
        target = _caption(one) if captions else names.get(_id(one.get("category_id")))
        if target is None or _id(one.get("image_id")) not in said:
            raise DataError(f"{name}: annotations[{place}] is {quoted(one)}; {COCO_SHAPE}")
        said[_id(one["image_id"])].append(target)
    number = 0
    for image, targets in said.items():
        number += 1
        distinct = list(dict.fromkeys(targets))
        if not targets:
            yield number, Problem(number, "no annotation", f"{images[image]!r} is left out", fatal=False)
        elif captions:
            for place, target in enumerate(targets):
                number += bool(place)
                yield number, Fields(images[image], target, "")
        elif len(distinct) > 1:
            detail = f"{images[image]!r} has {', '.join(distinct[:3])}, and one class is needed"
            yield number, Problem(number, "several classes", detail)
        else:
            yield number, Fields(images[image], distinct[0], "")


def _read(file: BinaryIO, name: str) -> Mapping[str, Any]:
    try:
        data = file.read(_MOST_BYTES + 1)
        if len(data) > _MOST_BYTES:
            raise DataError(
                f"{name} has more than {_MOST_BYTES:,} bytes; leave out what is not needed, as segmentations"
            )
        found = json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError, OSError, EOFError, zlib.error) as error:
        raise DataError(
            f"{name} is neither one JSON object, as COCO has it, nor one on each line: {error}"
        ) from None
    if not isinstance(found, dict):
        raise DataError(f"{name} holds {quoted(found)}, and a JSON object is needed")
    return found


def _listed(found: Mapping[str, Any], part: str, name: str) -> list[dict[str, Any]]:
    listed = found.get(part)
    if not isinstance(listed, list) or not listed:
        raise DataError(f"{name} has no list of {part}; {COCO_SHAPE}")
    for place, one in enumerate(listed):
        if not isinstance(one, dict):
            raise DataError(f"{name}: {part}[{place}] is {quoted(one)}, and an object is needed")
    return listed


def _named(found: Mapping[str, Any], part: str, key: str, name: str) -> dict[Any, str]:
    """What each id of a list stands for."""
    named: dict[Any, str] = {}
    for place, one in enumerate(_listed(found, part, name)):
        number, text = _id(one.get("id")), one.get(key)
        if number is None or not isinstance(text, str) or not text.strip():
            raise DataError(f"{name}: {part}[{place}] is {quoted(one)}, and an id and a {key} are needed")
        if number in named:
            raise DataError(f"{name}: {part} has the id {quoted(number)} twice")
        named[number] = text.strip()
    return named


def _id(value: object) -> int | str | None:
    return value if isinstance(value, int | str) else None


def _caption(annotation: Mapping[str, Any]) -> str | None:
    said = annotation.get("caption")
    return " ".join(said.split()) if isinstance(said, str) else None
