"""Confidence and what it is worth."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from seq2see.evaluation.calibration import (
    expected_calibration_error,
    fit_temperature,
    negative_log_likelihood,
    probabilities,
)


def drawn(scale: float, seed: int, size: int = 2000) -> tuple[np.ndarray, np.ndarray]:
    """Logits `scale` times as large as those that the truth was drawn from."""
    draw = np.random.default_rng(seed)
    logits = draw.normal(size=(size, 4)) * 2
    truth = np.array([draw.choice(4, p=row) for row in probabilities(logits)])
    return logits * scale, truth


@pytest.mark.parametrize("scale", [0.3, 1.0, 4.0])
def test_the_temperature_that_data_were_drawn_with_is_found(scale):
    """H: logits that are too large or too small by a factor get that factor as their temperature."""
    logits, truth = drawn(scale, 1, 20_000)
    temperature = fit_temperature(logits, truth)
    assert temperature == pytest.approx(scale, rel=0.1)
    confidence, right = probabilities(logits, temperature).max(1), logits.argmax(1) == truth
    assert expected_calibration_error(confidence, right) < 1.5


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.floats(0.01, 50))
@example(4500, 2.0)
def test_a_temperature_never_does_harm(seed, scale):
    """H: on what it is fitted to, the likelihood is as good as before or better; predictions stay."""
    logits, truth = drawn(scale, seed, 30)
    temperature = fit_temperature(logits, truth)
    before, after = (negative_log_likelihood(logits / t, truth) for t in (1.0, temperature))
    assert after <= before
    assert (probabilities(logits, temperature).argmax(1) == logits.argmax(1)).all()


def test_nothing_to_fit():
    """H: without examples, the temperature is 1."""
    assert fit_temperature(np.zeros((0, 3)), np.zeros(0, dtype=int)) == 1


def test_calibration_error_by_hand():
    """H: four of five right at a confidence of 0.9 is off by 0.1, one wrong at 0.5 by 0.5."""
    confidence = np.array([0.9] * 5 + [0.5])
    right = np.array([True] * 4 + [False, False])
    assert expected_calibration_error(confidence, right) == pytest.approx(100 * (5 * 0.1 + 0.5) / 6)
    assert expected_calibration_error(np.ones(4), np.ones(4, dtype=bool)) == 0


def test_bins_are_equal_and_closed_above():
    """H: with two bins, 0.5 belongs to the lower one, and errors of opposite sign cancel within a bin."""
    confidence, right = np.array([0.4, 0.5, 0.9, 0.9]), np.array([True, False, True, True])
    assert expected_calibration_error(confidence, right, bins=2) == pytest.approx(100 * (0.1 + 0.2) / 4)


def test_softmax_stands_large_logits():
    """H: logits of a thousand give probabilities, not nan."""
    assert probabilities(np.array([[1000.0, 0.0]])) == pytest.approx(np.array([[1.0, 0.0]]))


def test_nothing_is_beyond_doubt() -> None:
    """H: where every answer is right, more examples make a model surer, and none makes it certain."""
    sure = []
    for count in (10, 100, 1000):
        logits = np.tile([0.2, 0.0], (count, 1))
        temperature = fit_temperature(logits, np.zeros(count, dtype=int))
        sure.append(float(probabilities(logits, temperature)[0, 0]))
    assert 0.9 < sure[0] < sure[1] < sure[2] < 1
