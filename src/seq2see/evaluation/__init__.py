"""Outputs and references to scores. Knows nothing of tensors."""

from seq2see.evaluation.compare import Comparison, compare
from seq2see.evaluation.scores import Example, Unit, score_outputs, worst

__all__ = ["Comparison", "Example", "Unit", "compare", "score_outputs", "worst"]
