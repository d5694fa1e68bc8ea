"""A callback for yoyodyne, in whose environment it runs: the time, tokens and loss of every update."""

from pathlib import Path
from typing import Any

from lightning.pytorch import Callback, LightningModule, Trainer
from updates import Updates
from yoyodyne.special import PAD_IDX


class Speed(Callback):  # type: ignore[misc]  # lightning is not installed where types are checked
    """Notes each update; of target tokens the end symbol counts, padding does not."""

    def __init__(self, path: str) -> None:
        self._updates = Updates(Path(path))

    def on_train_batch_end(
        self, trainer: Trainer, model: LightningModule, outputs: Any, batch: Any, number: int
    ) -> None:
        """Count what the batch held."""
        sides = batch.source.tensor, batch.target.tensor
        source, target = (int((side != PAD_IDX).sum()) for side in sides)
        places = sum(side.numel() for side in sides)
        self._updates.note(target, source + target, places, float(outputs["loss"]))

    def on_fit_end(self, trainer: Trainer, model: LightningModule) -> None:
        """Keep the record."""
        self._updates.parameters = sum(parameter.numel() for parameter in model.parameters())
        self._updates.write()
