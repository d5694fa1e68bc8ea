"""The nearest class mean of pixels, under networks that tell images apart."""

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from seq2see.errors import DataError
from seq2see.evaluation import Classes, Numbers, score
from seq2see.evaluation.floors import Known, best_floor, floors


def _images(count: int, seed: int, read: list[int] | None = None) -> Known:
    """Bright on the left or on the right, two in three on the left, with noise; only pixels tell."""
    drawn = np.random.default_rng(seed)
    truth = drawn.choice(["left", "left", "right"], count).tolist()
    pixels = drawn.integers(0, 120, (count, 4, 6))
    for row, label in enumerate(truth):
        pixels[row, :, : 3 if label == "left" else None][:, 0 if label == "left" else 3 :] += 60
    flat = pixels.reshape(count, -1).astype(np.uint8)

    def some(rows: Sequence[int]) -> NDArray[np.uint8]:
        if read is not None:
            read.extend(rows)
        return flat[list(rows)]

    return Known(["image"] * count, truth, pixels=some)


def test_the_class_with_the_nearest_mean_is_told() -> None:
    train, test = _images(600, 1), _images(500, 2)
    found = floors(Classes, train, test)
    assert set(found) == {"majority", "nearest class mean"}
    assert score(found["nearest class mean"])["accuracy"] > 99
    assert score(found["majority"])["accuracy"] == pytest.approx(100 * test.truth.count("left") / 500)
    assert best_floor(Classes, train, test)[0] == "nearest class mean"
    assert "ece" not in score(found["nearest class mean"])  # it does not say how sure it is


def test_large_sets_are_sampled_with_their_own_labels() -> None:
    read: list[int] = []
    found = floors(Classes, _images(9000, 1, read), _images(100, 2))
    assert len(read) == 4000 and min(read) == 0 and max(read) == 8999
    assert score(found["nearest class mean"])["accuracy"] > 99


def test_without_the_training_images_the_majority_is_left() -> None:
    def gone(rows: Sequence[int]) -> NDArray[np.uint8]:
        raise DataError("there is no image")

    train = Known(["image"] * 3, ["a", "b", "b"], pixels=gone)
    assert best_floor(Classes, train, _images(9, 1))[0] == "majority"


def test_kinds_without_a_rule_for_images_keep_theirs() -> None:
    train = Known(["image"] * 30, list(range(30)), pixels=lambda rows: np.zeros((len(rows), 4), np.uint8))
    assert "mean" in floors(Numbers, train, train)
