"""Outputs and references to scores. Knows nothing of tensors."""

from seq2see.evaluation.compare import Comparison, compare
from seq2see.evaluation.scores import Example, Unit, metrics_for, score_outputs, worst

__all__ = ["Comparison", "Example", "Unit", "compare", "metrics_for", "score_outputs", "worst"]
