"""Batches and a model to trained weights. Knows nothing of tokenisation."""

from seq2see.training.checkpoint import Checkpoints, Progress
from seq2see.training.depths import Depths
from seq2see.training.report import Look, PlainReport, Report, Step, Unbroken
from seq2see.training.settings import TrainingSettings
from seq2see.training.trainer import Trainer

__all__ = [
    "Checkpoints",
    "Depths",
    "Look",
    "PlainReport",
    "Progress",
    "Report",
    "Step",
    "Trainer",
    "TrainingSettings",
    "Unbroken",
]
