"""Small runs with several targets: words in capitals, and with each letter twice."""

from pathlib import Path
from typing import Any

from seq2see.workflow import Request, train

SMALL = (
    *("model.width=32", "model.dropout=0", "model.encoder.layers=1", "model.decoder.layers=1"),
    *("training.batch_pairs=32", "training.evaluate_every=100", "training.learning_rate=0.005"),
)


def table(path: Path) -> Path:
    """Words beside themselves in capitals, and with each letter twice, which every fifth row lacks."""
    words = [f"{a}{b}{c}" for a in "bdfgk" for b in "aeiou" for c in "lmnrst"]
    rows = [
        f"{word}\t{word.upper()}\t{''.join(letter * 2 for letter in word) if number % 5 else ''}\n"
        for number, word in enumerate(words)
    ]
    path.write_text("word\tcapital\ttwice\n" + "".join(rows))
    return path


def request(folder: Path, out: str = "run", settings: tuple[str, ...] = (), **more: Any) -> Request:
    """What trains such a run."""
    return Request(
        str(table(folder / "words.tsv")),
        out=str(folder / out),
        source="word",
        target="capital,twice",
        settings=(*SMALL, "training.save_every=3", *settings),
        **{"max_steps": 300, **more},
    )


def train_several(folder: Path) -> Path:
    """Train such a run as `run` in a folder, with what was said beside it."""
    told: list[str] = []
    train(request(folder), tell=told.append)
    (folder / "told.txt").write_text("\n".join(told))
    return folder
