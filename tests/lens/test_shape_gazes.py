"""What `benchmarks/shapes.py` counts: the words that name shapes, and the cells that those cover."""

import numpy as np
import pytest

from benchmarks.shapes import Gaze, covered, gaze_on, naming, summary
from seq2see.data.shapes import SIZE, Shape, caption
from seq2see.lens.pictures import Grid

_GRID = Grid(6, 6, 8, 8, 0)


def _cells(*shapes: Shape, grid: Grid = _GRID, size: int = SIZE) -> list[int]:
    return np.flatnonzero(covered(shapes, grid, (size, size), "letterbox")).tolist()


def test_words_name_shapes_by_colour_and_kind() -> None:
    shapes = [
        Shape("red", "circle", 8, 8, 4),
        Shape("blue", "cross", 24, 8, 4),
        Shape("red", "circle", 40, 24, 4),
    ]
    words = caption(shapes).split()
    assert words == ["a", "red", "circle,", "a", "blue", "cross", "and", "a", "red", "circle"]
    red, blue = ["red circle"] * 2, ["blue cross"] * 2
    assert naming(words) == [None, *red, None, *blue, None, None, *red]
    assert naming(["a", "red", "square,", "three", "white", "crosses", "<end>"])[1:6] == [
        *["red square"] * 2,
        None,
        *["white cross"] * 2,
    ]


def test_a_shape_covers_the_cells_in_which_it_has_pixels() -> None:
    inside, across = Shape("red", "square", 11, 11, 3), Shape("blue", "square", 16, 12, 3)
    assert _cells(inside) == [7]
    assert _cells(across) == [7, 8]
    assert _cells(inside, Shape("red", "square", 44, 44, 3)) == [7, 35]
    assert _cells(Shape("red", "cross", 24, 24, 6)) == [14, 15, 20, 21]


def test_a_class_token_and_another_size_do_not_move_the_cells() -> None:
    inside = Shape("red", "circle", 11, 11, 3)
    assert _cells(inside, grid=Grid(6, 6, 8, 8, 1)) == [7]
    assert _cells(inside, grid=Grid(6, 6, 16, 16, 0), size=2 * SIZE) == [7]


def test_uniform_attention_is_chance_and_all_on_the_shape_is_the_most() -> None:
    cells = np.zeros(36, np.bool_)
    cells[[7, 8]] = True
    uniform, there = np.full(36, 1 / 36), np.where(cells, 1 / 2, 0)
    assert gaze_on(uniform, cells, 1).ratio == pytest.approx(1)
    assert gaze_on(there, cells, 1).ratio == pytest.approx(18)


def test_means_are_over_words_and_intervals_over_scenes() -> None:
    scenes = [[Gaze(1, 0.2, 0.1)] * 2, [Gaze(1, 0.4, 0.1)], []]
    found = summary(scenes)
    assert found is not None
    assert found["ratio"] == pytest.approx(8 / 3)
    low, high = found["interval"]
    assert low <= 8 / 3 <= high
    assert summary([[], []]) is None
