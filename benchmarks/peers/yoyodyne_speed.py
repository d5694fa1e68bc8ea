"""A callback for yoyodyne, in whose environment it runs: the time, tokens and loss of every update."""

import json
import time
from pathlib import Path
from typing import Any

from lightning.pytorch import Callback, LightningModule, Trainer
from yoyodyne.special import PAD_IDX


class Speed(Callback):  # type: ignore[misc]  # lightning is not installed where types are checked
    """Notes when each update ended, its target tokens (the end symbol counts, padding does not) and loss."""

    def __init__(self, path: str) -> None:
        self._path = Path(path)
        self._lines: list[dict[str, float]] = []

    def on_train_batch_end(
        self, trainer: Trainer, model: LightningModule, outputs: Any, batch: Any, number: int
    ) -> None:
        """Take the time before anything else."""
        seconds = time.perf_counter()
        tokens = int((batch.target.tensor != PAD_IDX).sum())
        self._lines.append({"seconds": seconds, "tokens": tokens, "loss": float(outputs["loss"])})

    def on_fit_end(self, trainer: Trainer, model: LightningModule) -> None:
        """Write only now, so that the disk has no part in the times."""
        size = sum(parameter.numel() for parameter in model.parameters())
        self._path.write_text(json.dumps({"parameters": size, "updates": self._lines}))
