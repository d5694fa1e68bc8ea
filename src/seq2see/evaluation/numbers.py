"""Scores of predicted numbers."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from seq2see.evaluation.outcomes import Numbers

__all__ = ["errors", "r2", "rmse", "spearman"]


def errors(numbers: Numbers) -> NDArray[np.floating[Any]]:
    """How far a prediction is off, and 1: (examples, 2)."""
    off = np.abs(numbers.truth - numbers.predicted)
    return np.stack([off, np.ones_like(off)], 1)


def rmse(numbers: Numbers) -> float:
    """The root of the mean squared error."""
    return float(np.sqrt(np.mean((numbers.truth - numbers.predicted) ** 2)))


def r2(numbers: Numbers) -> float:
    """1 - squared errors / squared distances from the mean; nan where the truth never changes."""
    spread = np.sum((numbers.truth - numbers.truth.mean()) ** 2)
    wrong = np.sum((numbers.truth - numbers.predicted) ** 2)
    return float(1 - wrong / spread) if spread > 0 else float("nan")


def spearman(numbers: Numbers) -> float:
    """The correlation of ranks, ties sharing theirs; 0 where one side is always the same."""
    from scipy.stats import rankdata

    truth, predicted = (rankdata(side) for side in (numbers.truth, numbers.predicted))
    if np.ptp(truth) == 0 or np.ptp(predicted) == 0:
        return 0.0
    return float(np.corrcoef(truth, predicted)[0, 1])
