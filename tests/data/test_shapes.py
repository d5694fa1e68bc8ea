"""Scenes of shapes: what is drawn is what the caption says."""

import numpy as np
import pytest

from seq2see.data.shapes import COLOURS, SIZE, Shape, caption, draw, parse
from seq2see.data.tasks import Task
from seq2see.errors import DataError

_FORMS = {"there", "left", "right", "of", "above", "below", "and"}


def _scenes(name: str, training: bool = True) -> list[tuple[str, str]]:
    lines = Task.parse(name, training).lines()
    return [tuple(line.decode().split("\t")[:2]) for line in lines]  # type: ignore[misc]


def test_captions_follow_from_scenes() -> None:
    for scene, said in _scenes("task:shapes:pairs=300:lengths=1-5"):
        assert caption(parse(scene)) == said


def test_colours_stand_where_the_scene_says() -> None:
    for scene, _ in _scenes("task:shapes:pairs=50:lengths=3-6"):
        pixels = np.asarray(draw(scene))
        assert pixels.shape == (SIZE, SIZE, 3)
        for shape in parse(scene):
            assert tuple(pixels[shape.y, shape.x]) == COLOURS[shape.colour]


@pytest.mark.parametrize(
    ("shapes", "said"),
    [
        ([("red", "circle", 8, 8)], "there is a red circle"),
        ([("red", "cross", 8, 8), ("red", "cross", 8, 24)], "there are two red crosses"),
        ([("red", "circle", 8, 8), ("blue", "square", 40, 8)], "a blue square right of a red circle"),
        ([("red", "circle", 8, 8), ("blue", "square", 8, 40)], "a blue square below a red circle"),
        (
            [
                ("red", "circle", 24, 41),
                ("green", "square", 40, 9),
                ("red", "circle", 7, 7),
                ("blue", "cross", 8, 39),
            ],
            "a red circle, a green square, a blue cross and a red circle",
        ),
    ],
)
def test_captions_say_count_colour_kind_and_place(shapes: list[tuple[str, str, int, int]], said: str) -> None:
    assert caption([Shape(*one, 5) for one in shapes]) == said


def test_sentences_take_several_forms_and_parts_do_not_meet() -> None:
    train, held_out = _scenes("task:shapes:pairs=500"), _scenes("task:shapes:pairs=200", training=False)
    assert not {scene for scene, _ in train} & {scene for scene, _ in held_out}
    forms = {" ".join(word for word in said.replace(",", "").split() if word in _FORMS) for _, said in train}
    assert forms >= {"there", "left of", "right of", "above", "below", "and"}


def test_what_is_no_scene_is_refused() -> None:
    for scene in ("", "a pink cow 3 4 5", "red circle 8 24 6, " * 20 + "red circle 8 24 6"):
        with pytest.raises(DataError, match="is no scene"):
            draw(scene)
