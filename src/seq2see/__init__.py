"""Sequence-to-sequence models that you can see through.

import seq2see
model = seq2see.train("pairs.tsv")
model(["text"])
"""

from typing import TYPE_CHECKING, Any

from seq2see.threads import be_fair

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from seq2see.goals import Predictor
    from seq2see.goals.text_model import TextModel
    from seq2see.lens.looking import Recording

be_fair()

__all__ = ["__version__", "load", "record", "train"]

__version__ = "0.1.0"


def load(folder: "str | Path", device: str = "auto") -> "Predictor":
    """Load a run directory; the model takes texts and gives texts."""
    from seq2see.goals import load

    return load(folder, device)


def train(data: "str | Path", *, settings: "Sequence[str]" = (), **options: Any) -> "Predictor":
    """Train on a file of pairs; options as those of `seq2see train`: dev, out, preset, recipe, seed, ..."""
    from seq2see.workflow import Request, train

    trained = train(Request(data=str(data), settings=settings, **options))
    if trained.interrupted is not None:
        raise KeyboardInterrupt(f"stopped at step {trained.progress.step}; resume=True goes on")
    return trained.model


def record(model: "TextModel") -> "AbstractContextManager[Recording]":
    """Keep views of all that a model does: `with seq2see.record(model) as seen: model("word")`."""
    from seq2see.goals.text_model import record

    return record(model)
