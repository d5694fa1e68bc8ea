"""Images are mirrored while training only where that does not turn them into others."""

import csv
import random
from pathlib import Path

import pytest
from PIL import Image, ImageDraw

from seq2see.workflow import Request, train

POINTS = {
    "left": lambda x, y, r: [(x - r, y), (x + r, y - r), (x + r, y + r)],
    "right": lambda x, y, r: [(x + r, y), (x - r, y - r), (x - r, y + r)],
    "up": lambda x, y, r: [(x, y - r), (x - r, y + r), (x + r, y + r)],
    "down": lambda x, y, r: [(x, y + r), (x - r, y - r), (x + r, y - r)],
}


def arrow(kind: str, x: int, y: int, size: int) -> Image.Image:
    """An arrow on black."""
    image = Image.new("L", (24, 24))
    ImageDraw.Draw(image).polygon(POINTS[kind](x, y, size), fill=255)
    return image


def flips(data: Path, out: Path, *settings: str, **options: object) -> bool:
    """Whether training would mirror."""
    asked = Request(str(data), out=str(out), settings=settings, max_steps=1, seed=3, **options)  # type: ignore[arg-type]
    lines: list[str] = []
    model = train(asked, tell=lines.append).model
    chosen = bool(model.recipe.model.front.augment.flip)
    said = any("mirrors images" in line for line in lines), any("not mirror" in line for line in lines)
    assert said == ((False, False) if settings else (chosen, not chosen))
    return chosen


@pytest.mark.parametrize("preset", [None, "vit-tiny"])
@pytest.mark.parametrize(("kinds", "mirrored"), [(("left", "right"), False), (("up", "down"), True)])
def test_classes(tmp_path: Path, kinds: tuple[str, ...], mirrored: bool, preset: str | None) -> None:
    """An arrow to the left is one to the right in a mirror; one that points up stays what it is."""
    draw = random.Random(1)
    for kind in kinds:
        (tmp_path / "arrows" / kind).mkdir(parents=True)
        for number in range(40):
            image = arrow(kind, draw.randint(9, 14), draw.randint(9, 14), draw.randint(5, 8))
            image.save(tmp_path / "arrows" / kind / f"{number}.png")
    assert flips(tmp_path / "arrows", tmp_path / "run", preset=preset) is mirrored
    wish = f"model.front.augment.flip={str(not mirrored).lower()}"
    assert flips(tmp_path / "arrows", tmp_path / "own", wish, preset=preset) is not mirrored


@pytest.mark.parametrize(("asked", "mirrored"), [("place", False), ("size", True)])
def test_numbers(tmp_path: Path, asked: str, mirrored: bool) -> None:
    """How far to the right something stands changes in a mirror; how large it is does not."""
    draw = random.Random(2)
    with (tmp_path / "arrows.csv").open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["file", "place", "size"])
        for number in range(80):
            x, size = draw.randint(7, 17), draw.randint(3, 7)
            arrow("up", x, 12, size).save(tmp_path / f"{number}.png")
            table.writerow([f"{number}.png", f"\u2212{x}", size])
    options = {"source": "file", "target": asked, "images": str(tmp_path), "goal": "regress"}
    assert flips(tmp_path / "arrows.csv", tmp_path / "run", **options) is mirrored
