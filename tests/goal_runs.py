"""One small trained run for each goal that reads but does not write, of the built-in tasks."""

from pathlib import Path
from typing import Any

from seq2see.workflow import Request, train

RECURRENT = ("model.width=16", "model.encoder.kind=recurrent", "model.encoder.layers=1", "model.dropout=0")
QUICK = ("training.evaluate_every=20", "training.save_every=20", "training.batch_pairs=16")
WORDS = ("model.front.word_width=8", "model.front.letter_features=8")
GOALS: dict[str, dict[str, Any]] = {
    "classify": {"data": "task:parity:pairs=300:lengths=1-5", "settings": (*RECURRENT, *QUICK)},
    "regress": {"data": "task:count:pairs=300:lengths=4-9", "settings": (*RECURRENT, *QUICK)},
    "tag": {"data": "task:pos-pattern:pairs=200:lengths=4-7", "settings": (*RECURRENT, *QUICK, *WORDS)},
}
"""What is asked of training, by goal."""
TESTS = {
    "classify": "task:parity:pairs=80:lengths=1-5",
    "regress": "task:count:pairs=80:lengths=4-9",
    "tag": "task:pos-pattern:pairs=50:lengths=4-7",
}
"""Other examples of the same tasks."""


def train_goals(folder: Path) -> dict[str, Path]:
    """Train one run for each goal, in a second or two each."""
    for goal, asked in GOALS.items():
        train(Request(**asked, out=str(folder / goal), max_steps=60), tell=lambda _: None)
    return {goal: folder / goal for goal in GOALS}
