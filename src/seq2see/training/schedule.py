"""The learning rate at each step."""

import math

from seq2see.training.settings import TrainingSettings

__all__ = ["learning_rate"]


def learning_rate(step: float, settings: TrainingSettings) -> float:
    """Rises in a straight line over the warm-up, then follows the schedule; steps count from 1."""
    peak, warmup = settings.learning_rate, settings.warmup
    if step <= warmup:
        return peak * step / warmup
    if settings.schedule == "inverse-sqrt":
        return peak * math.sqrt(max(warmup, 1) / step)
    if settings.schedule == "cosine":
        done = (step - warmup) / max(1, settings.steps - warmup)
        return peak * 0.5 * (1 + math.cos(math.pi * min(1.0, done)))
    if settings.schedule == "linear":
        return peak * max(0.0, 1 - (step - warmup) / max(1, settings.steps - warmup + 1))
    return peak
