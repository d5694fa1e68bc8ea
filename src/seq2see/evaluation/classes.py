"""Scores of classes and of sets of labels."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from seq2see.evaluation.calibration import expected_calibration_error
from seq2see.evaluation.outcomes import Classes, LabelSets

__all__ = ["calibration_error", "labels_in_common", "macro_f1", "mcc", "whole_sets"]


def whole_sets(sets: LabelSets) -> NDArray[np.floating[Any]]:
    """1 for an example with all its labels and no other, else 0; and 1: (examples, 2)."""
    right = (sets.truth == sets.predicted).all(1)
    return np.stack([right, np.ones_like(right)], 1).astype(float)


def labels_in_common(sets: LabelSets) -> NDArray[np.floating[Any]]:
    """Twice the labels in common, and the labels of both sides: (examples, 2)."""
    common = 2 * (sets.truth & sets.predicted).sum(1)
    return np.stack([common, sets.truth.sum(1) + sets.predicted.sum(1)], 1).astype(float)


def macro_f1(outcome: Classes | LabelSets) -> float:
    """The mean F1 of the labels that are true or predicted somewhere, in percent."""
    right, predicted, true = outcome.by_label()
    occurs = predicted + true > 0
    return 100 * float(np.mean(2 * right[occurs] / (predicted + true)[occurs])) if occurs.any() else 0.0


def mcc(classes: Classes) -> float:
    """Matthews' correlation of true and predicted classes; 0 where one side is always the same."""
    right, predicted, true = (counts.astype(float) for counts in classes.by_label())
    total = float(len(classes))
    shared = right.sum() * total - predicted @ true
    spread = np.sqrt(total**2 - predicted @ predicted) * np.sqrt(total**2 - true @ true)
    return float(shared / spread) if spread > 0 else 0.0


def calibration_error(classes: Classes) -> float:
    """How far confidence is from accuracy, in percent; nan where no probabilities are known."""
    if classes.probabilities is None:
        return float("nan")
    return expected_calibration_error(classes.probabilities.max(1), classes.truth == classes.predicted)
