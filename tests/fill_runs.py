"""Small runs that fill gaps, of made-up sentences."""

import random
from pathlib import Path
from typing import Any

from compared import Killer

from seq2see.workflow import Request, train

NOUNS, PLACES = ("cat", "dog", "bird", "man"), ("mat", "chair", "roof")
SMALL = (
    "model.width=16",
    "model.encoder.layers=2",
    "model.encoder.heads=2",
    "model.encoder.feedforward=32",
    "text.source.kind=words",
    "data.max_length=16",
    "data.documents=line",
    "training.batch_tokens=256",
    "training.evaluate_every=10",
    "training.save_every=3",
    "training.device=cpu",
)


def sentences(count: int = 400, seed: int = 1) -> list[str]:
    """Sentences in which the first noun tells the last word: what sits on what is a rule."""
    draw = random.Random(seed)
    found = []
    for _ in range(count):
        place = draw.randrange(len(PLACES))
        found.append(f"the {NOUNS[place]} sat on the {PLACES[place]} , {draw.choice(('today', 'now'))}")
    return found


def labelled(count: int = 60) -> list[tuple[str, str]]:
    """Such sentences with a class."""
    return [(text, "bird" if "bird" in text else "other") for text in sentences(count, 2)]


def write_text(folder: Path) -> Path:
    """A text file, a sentence a line."""
    path = folder / "text.txt"
    path.write_text("".join(f"{one}\n" for one in sentences()))
    return path


def filler(folder: Path, name: str = "filler", killed: int | None = None, **asked: Any) -> Path:
    """Train a run that fills gaps."""
    request = {"goal": "fill", "settings": SMALL, "max_steps": 20} | asked
    text = request.pop("data", None) or str(write_text(folder))
    train(Request(text, out=str(folder / name), **request), Killer(killed), lambda _: None)
    return folder / name
