"""Small runs of the goal `complete`, for tests."""

from pathlib import Path
from typing import Any

from compared import Killer

from seq2see.data import Pair
from seq2see.data.passages import cut
from seq2see.workflow import Request, train

TEXT = "".join(f"{number}: the cat sat on {'mat' if number % 2 else 'a hat'} 😀\r\n" for number in range(300))
SMALL = [
    "model.width=16",
    "model.decoder.layers=1",
    "data.max_length=16",
    "training.batch_tokens=128",
    "training.evaluate_every=4",
    "training.save_every=3",
    "training.device=cpu",
]
GPT = (*SMALL, "model.decoder.heads=2", "model.decoder.feedforward=32")
RNN = (*SMALL, "model.decoder.hidden=16")


def trained(folder: Path, name: str = "run", killed: int | None = None, **asked: Any) -> Path:
    if not (data := folder / "text.txt").exists():
        data.write_bytes(TEXT.encode())
    request = {"data": str(data), "goal": "complete", "preset": "gpt-tiny", "settings": GPT, "max_steps": 12}
    train(Request(out=str(folder / name), **(request | asked)), Killer(killed), lambda text: None)
    return folder / name


def passages(text: str) -> list[Pair]:
    return [Pair(number, "", one, "") for number, one in enumerate(cut([text]), 1)]
