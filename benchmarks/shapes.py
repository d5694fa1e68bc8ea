"""How well runs caption `task:shapes`, and how much of a word's attention lies on the shape that it names.

python -m benchmarks.shapes runs/attention runs/none --json shapes.json

Scenes are held out and drawn with another seed. Attention is looked at while a model says the right caption.
A word that gives the colour or the kind of shapes names them, and they cover every cell of the model's map in
which they have a pixel. The share of that word's attention on those cells is divided by what uniform
attention would give, which is their share of all cells.
"""

import argparse
import json
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from PIL import Image

import seq2see
from seq2see.data.image_sets import MARK
from seq2see.data.images import Fit, fitted
from seq2see.data.shapes import COLOURS, KINDS, PLACE, Shape, draw, parse
from seq2see.data.tasks import Task
from seq2see.evaluation.compare import mcnemar
from seq2see.goals.caption_model import CaptionModel
from seq2see.lens.pictures import Grid

DRAWS = 1000
"""Random draws of the scenes, with replacement, for an interval."""
_PLURALS = {f"{kind}{ending}": kind for kind in KINDS for ending in ("", "s", "es")}


class Scene(NamedTuple):
    """Shapes as the task writes them, and their caption."""

    shapes: str
    caption: str


class Gaze(NamedTuple):
    """A word that names shapes: how much of its attention lies on them, and what chance would give."""

    named: int
    mass: float
    chance: float

    @property
    def ratio(self) -> float:
        """The attention on the shapes, divided by what chance would give."""
        return self.mass / self.chance


def main() -> None:
    """Measure every run and print a column for each."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("runs", nargs="+", type=Path, metavar="RUN")
    parser.add_argument("--scenes", type=int, default=2000, help="whose captions are compared")
    parser.add_argument("--looks", type=int, default=400, help="scenes whose attention is looked at")
    parser.add_argument("--shapes", default="1-4", help="of a scene, as 1-4")
    parser.add_argument("--seed", type=int, default=5, help="of the scenes")
    parser.add_argument("--json", type=Path, help="a file for the same figures")
    asked = parser.parse_args()
    name = f"{PLACE}:seed={asked.seed}:pairs={asked.scenes}:lengths={asked.shapes}"
    scenes = [Scene(*line.decode().rstrip("\n").split("\t")[:2]) for line in Task.parse(name).lines()]
    found: dict[str, dict[str, Any]] = {}
    first: npt.NDArray[np.bool_] | None = None
    for run in asked.runs:
        model = caption_model(run)
        right = are_right(model, scenes)
        p = mcnemar(first, right) if first is not None else None
        found[str(run)] = {**exact(right, scenes), "p": p, **attended(model, scenes[: asked.looks])}
        first = right if first is None else first
    print(
        f"{len(scenes):,} held-out scenes of {name}; attention on {min(asked.looks, len(scenes)):,} of them\n"
    )
    print(table(found))
    if asked.json is not None:
        asked.json.write_text(json.dumps({"data": name, "runs": found}, indent=2) + "\n")


def caption_model(run: Path) -> CaptionModel:
    """The model of a run."""
    model = seq2see.load(run)
    if not isinstance(model, CaptionModel):
        raise SystemExit(f"{run} writes no captions; train one with: seq2see train {PLACE} --dev {PLACE}")
    return model


def source(scene: Scene) -> str:
    """What the image of a scene goes by."""
    return f"{PLACE}{MARK}{scene.shapes}"


def are_right(model: CaptionModel, scenes: Sequence[Scene]) -> npt.NDArray[np.bool_]:
    """Whether each scene gets its own caption."""
    said = model([source(scene) for scene in scenes])
    return np.array([one == scene.caption for one, scene in zip(said, scenes, strict=True)])


def exact(right: npt.NDArray[np.bool_], scenes: Sequence[Scene]) -> dict[str, Any]:
    """Exact captions in percent, in all and by the number of shapes."""
    counts = np.array([len(parse(scene.shapes)) for scene in scenes])
    by_count = {int(count): 100 * float(right[counts == count].mean()) for count in np.unique(counts)}
    return {"exact": 100 * float(right.mean()), "exact by shapes": by_count}


def attended(model: CaptionModel, scenes: Sequence[Scene]) -> dict[str, Any]:
    """How much of the attention of words lies on what they name; nothing of a model without attention."""
    looks = model.attention(source(scenes[0])).weights
    crosses = any(address.endswith(".cross") for address in looks)
    seen = [list(gazes(model, scene)) for scene in scenes] if crosses else []
    alone = [[gaze for gaze in scene if gaze.named == 1] for scene in seen]
    return {
        "words": sum(map(len, seen)),
        "attention": summary(seen),
        "attention, one shape named": summary(alone),
    }


def gazes(model: CaptionModel, scene: Scene) -> Iterator[Gaze]:
    """Every word of a caption that names shapes, with what its step of the decoder looked at."""
    view = model.attention(source(scene), target=scene.caption).in_words()
    words, weights = view.gazes()
    names = naming(words)
    assert view.picture is not None
    size = view.picture.pixels.shape[1], view.picture.pixels.shape[2]
    for name, row in zip(names, weights.numpy(), strict=True):
        if name is not None:
            shapes = [shape for shape in parse(scene.shapes) if shape.name == name]
            yield gaze_on(row, covered(shapes, view.grid, size, model.images.fit), len(shapes))


def naming(caption: Sequence[str]) -> list[str | None]:
    """For each word of a caption the shape that it names, as `red circle`, by its colour or by its kind."""
    words = [word.rstrip(",") for word in caption]
    names: list[str | None] = [None] * len(words)
    for place, (colour, kind) in enumerate(pairwise(words)):
        if colour in COLOURS and kind in _PLURALS:
            names[place] = names[place + 1] = f"{colour} {_PLURALS[kind]}"
    return names


def covered(shapes: Sequence[Shape], grid: Grid, size: tuple[int, int], fit: Fit) -> npt.NDArray[np.bool_]:
    """For each place of a grid over an image of a size, whether one of the shapes has a pixel in it."""
    drawn = np.logical_or.reduce(
        [(np.asarray(draw(" ".join(map(str, one)))) == COLOURS[one.colour]).all(-1) for one in shapes]
    )
    shown = fitted(Image.fromarray(np.uint8(255) * drawn), 1, size, fit)[0] > 127
    on = np.unique(grid.cells(*size).numpy()[shown]) - grid.first
    found = np.zeros(len(grid) - grid.first, np.bool_)
    found[on] = True
    return found


def gaze_on(weights: npt.NDArray[Any], cells: npt.NDArray[np.bool_], named: int) -> Gaze:
    """What of some attention lies on cells, beside their share of all cells."""
    return Gaze(named, float(weights[cells].sum()), float(cells.mean()))


def summary(scenes: Sequence[Sequence[Gaze]]) -> dict[str, Any] | None:
    """Means over words, with 95 % intervals by bootstrap over scenes, whose words are not independent."""
    words = [gaze for scene in scenes for gaze in scene]
    if not words:
        return None
    sums = np.array([(sum(gaze.ratio for gaze in scene), len(scene)) for scene in scenes])
    drawn = sums[np.random.default_rng(1).integers(len(sums), size=(DRAWS, len(sums)))].sum(1)
    low, high = np.quantile(drawn[:, 0] / np.maximum(drawn[:, 1], 1), (0.025, 0.975))
    return {
        "mass": float(np.mean([gaze.mass for gaze in words])),
        "chance": float(np.mean([gaze.chance for gaze in words])),
        "ratio": float(np.mean([gaze.ratio for gaze in words])),
        "interval": [float(low), float(high)],
        "most": float(np.mean([1 / gaze.chance for gaze in words])),
    }


def table(found: dict[str, dict[str, Any]]) -> str:
    """A column for each run."""
    counts = next(iter(found.values()))["exact by shapes"]
    rows = [["", *found], ["---"] * (1 + len(found))]
    rows.append(["exact captions, %", *(f"{one['exact']:.1f}" for one in found.values())])
    for count in counts:
        name = f"of {count} shape{'s' if count > 1 else ''}"
        rows.append([name, *(f"{one['exact by shapes'][count]:.1f}" for one in found.values())])
    rows.append(["p beside the first run (McNemar)", *(number(one["p"], "{:.4f}") for one in found.values())])
    rows.append(["words that name shapes", *(str(one["words"] or "-") for one in found.values())])
    for name in ("attention", "attention, one shape named"):
        summaries = [one[name] or {} for one in found.values()]
        rows.append([f"{name}: on the shape", *(number(one.get("mass"), "{:.1%}") for one in summaries)])
        rows.append([f"{name}: by chance", *(number(one.get("chance"), "{:.1%}") for one in summaries)])
        rows.append([f"{name}: times chance", *(with_interval(one) for one in summaries)])
        rows.append(
            [f"{name}: times chance at most", *(number(one.get("most"), "{:.2f}") for one in summaries)]
        )
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def number(value: float | None, form: str) -> str:
    """A figure, or a dash where there is none."""
    return form.format(value) if value is not None else "-"


def with_interval(found: dict[str, Any]) -> str:
    """A mean ratio and its interval."""
    return "{:.2f} ({:.2f} to {:.2f})".format(found["ratio"], *found["interval"]) if found else "-"


if __name__ == "__main__":
    main()
