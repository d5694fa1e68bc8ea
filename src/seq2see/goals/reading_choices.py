"""What to do with texts that are to be classified, valued or tagged, where nobody said, and why."""

from collections.abc import Mapping
from statistics import fmean
from typing import Any

from seq2see.data.survey import Survey
from seq2see.goals.choices import Choice
from seq2see.recipe import preset

__all__ = ["choose_reader", "choose_tagger"]

_READS = {"model": {"decoder": None}}
_WHY = "of so few, no network that reads them in order learns more"
_KINDS = {
    "words": "sentences",
    "characters": "texts without spaces",
    "symbols": "as asked",
    "bpe": "as asked",
    "unigram": "as asked",
}


def choose_reader(found: Survey, asked: Mapping[str, Any], model: bool, metric: str) -> Choice:
    """Tokens, encoder, head and schedule for texts with a class or a number."""
    choice = Choice(fixed=_READS)
    texts = [one.source for one in found.sample]
    kind = asked.get("text", {}).get("source", {}).get("kind") or _source_kind(texts)
    sized = {"least": 2, "size": 30_000} if kind == "words" else {"size": 4000} if kind == "bpe" else {}
    choice.take({"text": {"source": {"kind": kind, **sized}}}, f"source: {kind} ({_KINDS[kind]})")
    if not model:
        _schedule(choice, found.count, asked, metric, 64, 15, 0.001, 0.01)
        return choice
    name = "counts" if kind == "words" else "letter-counts"
    choice.take(preset(name), f"model: {name} ({found.count:,} texts: {_WHY})")
    times, rate, decay = (10, 0.003, 1.0) if kind == "words" else (30, 0.001, 0.01)
    _schedule(choice, found.count, asked, metric, 50 if kind == "words" else 32, times, rate, decay)
    # Counts need no padding, and mixed batches teach more.
    choice.take({"training": {"batch_by_length": False}}, "")
    if kind != "words":
        # Four members have gradients of their own, whose norms add up.
        choice.take({"training": {"clip": 2.0}}, "")
    return choice


def _source_kind(texts: list[str]) -> str:
    """Words of sentences, characters of what has no spaces, such as proteins."""
    spaced = fmean(" " in text.strip() for text in texts)
    return "words" if spaced > 0.5 else "characters"


def choose_tagger(found: Survey, asked: Mapping[str, Any], model: bool) -> Choice:
    """Words, encoder and schedule for sentences with tags."""
    choice = Choice(fixed=_READS)
    if model:
        name = "tagger-tiny" if found.count < 1000 else "tagger" if found.count < 50_000 else "tagger-large"
        choice.take(preset(name), f"model: {name} ({found.count:,} sentences)")
    _schedule(choice, found.count, asked, "accuracy", 64, 12, 0.002, 0.01)
    return choice


def _schedule(
    choice: Choice,
    count: int,
    asked: Mapping[str, Any],
    metric: str,
    batch: int,
    times: int,
    rate: float,
    decay: float,
) -> None:
    """So many times through the data, in batches of so many examples."""
    asked_steps = asked.get("training", {}).get("steps")
    steps = asked_steps or max(100, round(times * count / batch))
    if asked_steps is None:
        choice.take({"training": {"steps": steps}}, f"{steps:,} steps ({times} times through the data)")
    every = max(10, steps // 15)
    choice.take(
        {
            "training": {
                "batch_pairs": batch,
                "batch_tokens": 65_536,
                "learning_rate": rate,
                "optimizer": "adamw",
                "weight_decay": decay,
                "schedule": "cosine",
                "warmup": min(100, steps // 5),
                "label_smoothing": 0.0,
                "evaluate_every": every,
                "save_every": every,
                "dev_examples": 5000,
            }
        },
        f"batches of {batch}, a look at the dev set every {every:,} steps",
    )
    choice.take({"training": {"metric": metric}}, f"the weights with the best {metric} are kept")
