"""How a model is trained that begins with what another run has learnt, where nobody said."""

import math
from collections.abc import Mapping
from typing import Any

from seq2see.goals.choices import Choice

__all__ = ["choose_fine_tuning"]

_BATCH = 32
_RATE = 10.0
"""Over the square of the width: the learning rate of weights that know something already."""
_LOWER = 0.1
"""That rate, by the rate of what is new."""
_AGAIN = 0.3
"""By what the rate of a goal is multiplied where nothing is new."""
_STEPS = 600
"""Steps that few examples are gone through for, as long as that is not too often."""
_OFTEN, _SELDOM = 20, 3
"""How often examples are gone through at the most, and at the least."""


def choose_fine_tuning(
    choice: Choice, reads: bool, same: bool, count: int, width: int, asked: Mapping[str, Any]
) -> None:
    """Add to what a goal chose for so many examples: a lower rate for what is known, and few epochs.

    Models that read get a schedule of their own; those that write keep that of their goal.
    """
    if not reads:
        lower = _AGAIN if same else _LOWER
        choice.take(
            {"training": {"lower_rate": lower}}, f"learning rate x {lower} for what the other run has learnt"
        )
        return
    # What the goal said of its schedule holds no more.
    choice.taken = [
        (values, reason if "metric" in values.get("training", {"metric": ""}) else "")
        for values, reason in choice.taken
    ]
    batch = asked.get("batch_pairs") or _BATCH
    times = min(_OFTEN, max(_SELDOM, math.ceil(_STEPS * batch / count)))
    steps = asked.get("steps") or max(1, round(times * count / batch))
    rate = _RATE / width**2
    every = max(10, steps // 12)
    if "steps" not in asked:
        choice.take({"training": {"steps": steps}}, f"{steps:,} steps ({times} times through the data)")
    choice.take(
        {"training": {"learning_rate": rate / _LOWER, "lower_rate": _LOWER}},
        f"learning rate {rate:.1e} for what the other run has learnt, {rate / _LOWER:.1e} for what is new",
    )
    choice.take(
        {"training": {"schedule": "linear", "warmup": steps // 10}}, "warm-up, then a straight line to zero"
    )
    choice.take(
        {
            "training": {
                "optimizer": "adamw",
                "weight_decay": 0.01,
                "beta2": 0.999,
                "clip": 1.0,
                "batch_pairs": batch,
                "batch_by_length": True,
                "evaluate_every": every,
                "save_every": every,
            },
            "model": {"head": {"dropout": 0.1}},
        },
        f"batches of {batch}, a look at the dev set every {every:,} steps",
    )
