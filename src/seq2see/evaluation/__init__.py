"""Outputs and what was right to scores. Knows nothing of tensors."""

from seq2see.evaluation.compare import Comparison, compare
from seq2see.evaluation.metrics import METRICS, Metric, metric_named, metrics_for, score, score_outputs
from seq2see.evaluation.outcomes import (
    Captions,
    Classes,
    Example,
    Filled,
    Foretold,
    LabelSets,
    Numbers,
    Outcome,
    Tags,
    Texts,
    Unit,
)
from seq2see.evaluation.texts import worst

__all__ = [
    "METRICS",
    "Captions",
    "Classes",
    "Comparison",
    "Example",
    "Filled",
    "Foretold",
    "LabelSets",
    "Metric",
    "Numbers",
    "Outcome",
    "Tags",
    "Texts",
    "Unit",
    "compare",
    "metric_named",
    "metrics_for",
    "score",
    "score_outputs",
    "worst",
]
