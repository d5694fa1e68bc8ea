"""Whether a model is as sure as it is right, and how to make it so (Guo et al. 2017)."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["expected_calibration_error", "fit_temperature", "negative_log_likelihood", "probabilities"]

_BINS = 15
_LIMIT = math.log(100)
"""Temperatures are looked for between 1/100 and 100."""

Logits = NDArray[np.floating[Any]]
Truth = NDArray[np.integer[Any]]


def fit_temperature(logits: Logits, truth: Truth) -> float:
    """The number that logits of the dev set are divided by to give the best probabilities.

    It minimises the negative log-likelihood and changes no prediction. One more example, of which nothing is
    known, is thought to stand there: where all answers are right, a model must not become sure beyond doubt
    (as Platt 1999 does for two classes). Where that doubt alone speaks for another number, it stays at 1.
    """
    from scipy.optimize import minimize_scalar

    if len(truth) == 0:
        return 1.0
    found = minimize_scalar(
        lambda log: _doubtful(logits / math.exp(log), truth),
        bounds=(-_LIMIT, _LIMIT),
        method="bounded",
    )
    temperature = math.exp(float(found.x))
    better = all(
        loss(logits / temperature, truth) <= loss(logits, truth)
        for loss in (_doubtful, negative_log_likelihood)
    )
    return temperature if better else 1.0


def _doubtful(logits: Logits, truth: Truth) -> float:
    """The mean negative log-likelihood with one more example, whose class may be any."""
    count = len(truth)
    any_class = float(-_log_probabilities(logits).mean())
    return (count * negative_log_likelihood(logits, truth) + any_class) / (count + 1)


def probabilities(logits: Logits, temperature: float = 1.0) -> Logits:
    """Softmax over classes, logits divided by a temperature: (examples, classes)."""
    return np.exp(_log_probabilities(logits / temperature))


def negative_log_likelihood(logits: Logits, truth: Truth) -> float:
    """The mean negative log-probability of the true classes."""
    return float(-_log_probabilities(logits)[np.arange(len(truth)), truth].mean())


def expected_calibration_error(
    confidence: NDArray[np.floating[Any]], right: NDArray[np.bool_], bins: int = _BINS
) -> float:
    """How far confidence is from accuracy in percent: the mean over equal bins of confidence.

    Bins are weighted by the examples in them: sum over bins of |examples| / n |accuracy - mean confidence|.
    """
    if len(right) == 0:
        return float("nan")
    place = np.clip(np.ceil(confidence * bins).astype(int) - 1, 0, bins - 1)
    gap = np.bincount(place, weights=right - confidence, minlength=bins)
    return 100 * float(np.abs(gap).sum()) / len(right)


def _log_probabilities(logits: Logits) -> Logits:
    shifted = logits - logits.max(1, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(1, keepdims=True)))
