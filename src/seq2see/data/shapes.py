"""Images of coloured shapes with captions that say how many there are, of which colour and kind, and where.

A scene is a text, such as `red circle 8 24 6, blue square 40 24 7` (colour, kind, centre, radius): its image
is drawn from that whenever it is needed, and its caption follows from the image alone.
"""

import re
from collections.abc import Callable
from typing import Any, NamedTuple

from PIL import Image, ImageDraw

from seq2see.errors import DataError

__all__ = ["PLACE", "SHAPES_SETTINGS", "SIZE", "Shape", "draw", "is_shapes", "parse", "shapes"]

PLACE = "task:shapes"
SIZE = 48
"""Pixels of each side."""
COLOURS = {
    "red": (220, 40, 40),
    "green": (50, 190, 70),
    "blue": (60, 90, 230),
    "yellow": (240, 210, 50),
    "white": (240, 240, 240),
}
KINDS = ("circle", "square", "triangle", "cross")
_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_CELLS = 3
"""Shapes stand in the cells of a grid of so many rows, so that none hides another."""
_SHAPE = re.compile(rf"({'|'.join(COLOURS)}) ({'|'.join(KINDS)}) (\d{{1,2}}) (\d{{1,2}}) (\d)")
Below = Callable[[int], int]
SHAPES_SETTINGS: dict[str, Any] = {
    "goal": "generate",
    "data": {"images": PLACE},
    "text": {"target": {"kind": "words"}},
    "training": {
        "batch_pairs": 16,
        "steps": 5000,
        "label_smoothing": 0.0,
        "dev_examples": 200,
        "metric": "exact",
    },
}
"""What a recipe should say about these images."""


class Shape(NamedTuple):
    """One shape of a scene, by its centre and its radius in pixels."""

    colour: str
    kind: str
    x: int
    y: int
    radius: int

    @property
    def name(self) -> str:
        """What it is called."""
        return f"{self.colour} {self.kind}"


def is_shapes(place: str) -> bool:
    """Whether images of a place are drawn from their names."""
    return place == PLACE


def parse(scene: str) -> list[Shape]:
    """The shapes of a scene."""
    found = [_SHAPE.fullmatch(part) for part in scene.split(", ")]
    if len(found) > _CELLS**2 or None in found:
        raise DataError(
            f"{scene[:60]!r} is no scene; write shapes as 'red circle 8 24 6, blue square 40 24 7'"
        )
    return [Shape(one[1], one[2], int(one[3]), int(one[4]), int(one[5])) for one in found if one is not None]


def draw(scene: str) -> Image.Image:
    """The image of a scene."""
    image = Image.new("RGB", (SIZE, SIZE), (20, 20, 25))
    pen = ImageDraw.Draw(image)
    for shape in parse(scene):
        x, y, r, colour = shape.x, shape.y, shape.radius, COLOURS[shape.colour]
        if shape.kind == "circle":
            pen.ellipse((x - r, y - r, x + r, y + r), colour)
        elif shape.kind == "square":
            pen.rectangle((x - r, y - r, x + r, y + r), colour)
        elif shape.kind == "triangle":
            pen.polygon([(x, y - r), (x - r, y + r), (x + r, y + r)], colour)
        else:
            pen.rectangle((x - r, y - 1, x + r, y + 1), colour)
            pen.rectangle((x - 1, y - r, x + 1, y + r), colour)
    return image


def shapes(below: Below, lengths: tuple[int, int]) -> Callable[[], tuple[str, str] | None]:
    """Draws scenes of so many shapes, each with its caption."""
    low, high = lengths
    colours = list(COLOURS)

    def look() -> tuple[str, str]:
        return colours[below(len(colours))], KINDS[below(len(KINDS))]

    def scene() -> tuple[str, str] | None:
        count = low + below(high - low + 1)
        if not 1 <= count <= _CELLS**2:
            return None
        cells = _drawn(below, count)
        looks = [look()] * count if below(2) else [look() for _ in range(count)]
        if count == 2 and looks[0] != looks[1]:
            cells = _in_line(below)
        found = [_placed(below, *one, cell) for one, cell in zip(looks, cells, strict=True)]
        return ", ".join(" ".join(map(str, one)) for one in found), caption(found)

    return scene


def caption(found: list[Shape]) -> str:
    """What there is to say of a scene.

    Shapes that are all alike are counted. Of two others, one is said to stand beside the other (the alphabet
    says which). More are named one after the other, in the order in which a text is read.
    """
    names = [one.name for one in sorted(found, key=_cell)]
    if len(set(names)) == 1:
        count, name = len(names), names[0]
        return f"there is a {name}" if count == 1 else f"there are {_NUMBERS[count]} {_many(name)}"
    if len(found) == 2:
        first, second = sorted(found)
        return f"a {first.name} {_relation(first, second)} a {second.name}"
    *most, last = [f"a {name}" for name in names]
    return f"{', '.join(most)} and {last}"


def _many(name: str) -> str:
    return f"{name}es" if name.endswith("cross") else f"{name}s"


def _relation(first: Shape, second: Shape) -> str:
    x, y = first.x - second.x, first.y - second.y
    if abs(x) > abs(y):
        return "left of" if x < 0 else "right of"
    return "above" if y < 0 else "below"


def _cell(shape: Shape) -> tuple[int, int]:
    """The row and the column that a shape stands in."""
    side = SIZE // _CELLS
    return shape.y // side, shape.x // side


def _drawn(below: Below, count: int) -> list[int]:
    """So many different cells."""
    left = list(range(_CELLS**2))
    return [left.pop(below(len(left))) for _ in range(count)]


def _in_line(below: Below) -> list[int]:
    """Two cells of one row or one column, so that one word says how they stand."""
    line, first = below(_CELLS), below(_CELLS)
    second = (first + 1 + below(_CELLS - 1)) % _CELLS
    across = below(2)
    return [_CELLS * line + one if across else _CELLS * one + line for one in (first, second)]


def _placed(below: Below, colour: str, kind: str, cell: int) -> Shape:
    side = SIZE // _CELLS
    row, column = divmod(cell, _CELLS)
    x, y = (side * place + side // 2 - 1 + below(3) for place in (column, row))
    return Shape(colour, kind, x, y, 4 + below(3))
