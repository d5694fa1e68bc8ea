"""What to do with texts that are to be classified, valued or tagged, where nobody said, and why."""

from collections.abc import Mapping
from statistics import fmean
from typing import Any, NamedTuple

from seq2see.data.survey import Survey
from seq2see.goals.choices import Choice
from seq2see.recipe import preset

__all__ = ["choose_reader", "choose_tagger"]

_READS = {"model": {"decoder": None}}
_KINDS = {
    "words": "sentences",
    "characters": "texts without spaces",
    "symbols": "as asked",
    "bpe": "as asked",
    "unigram": "as asked",
}
_LONG = 512
"""Tokens from which on a text is longer than recipes allow without being told."""
_LONGEST = 8192
"""Tokens that a text is allowed without being asked for, so that one odd line does not fill the memory."""


class _Size(NamedTuple):
    """A model for up to so many examples, and how it is trained."""

    most: float
    preset: str
    batch: int
    times: int
    """How often training goes through the data."""
    rate: float
    decay: float
    mixed: bool = False
    """Whether batches mix short and long texts: counts need no padding, and mixed batches teach more."""
    clip: float | None = None


_SENTENCES = (
    _Size(20_000, "reader-tiny", 50, 10, 0.003, 1.0, mixed=True),
    _Size(200_000, "reader", 64, 5, 0.001, 0.1),
    _Size(float("inf"), "reader-large", 128, 3, 0.001, 0.01),
)
_SEQUENCES = (
    # Four members have gradients of their own, whose norms add up.
    _Size(20_000, "sequence-tiny", 32, 30, 0.001, 0.01, mixed=True, clip=2.0),
    _Size(200_000, "sequence", 64, 8, 0.001, 0.01),
    _Size(float("inf"), "sequence-large", 128, 4, 0.001, 0.01),
)
_TAGGERS = (
    _Size(1000, "tagger-tiny", 64, 12, 0.002, 0.01),
    _Size(50_000, "tagger", 64, 12, 0.002, 0.01),
    _Size(float("inf"), "tagger-large", 64, 6, 0.002, 0.01),
)
_GIVEN = (
    _Size(20_000, "", 64, 15, 0.001, 0.01),
    _Size(200_000, "", 64, 8, 0.001, 0.01),
    _Size(float("inf"), "", 128, 4, 0.001, 0.01),
)
"""For models that somebody has named."""


def choose_reader(found: Survey, asked: Mapping[str, Any], model: bool, metric: str) -> Choice:
    """Tokens, encoder, head and schedule for texts with a class or a number."""
    choice = Choice(fixed=_READS)
    texts = [one.source for one in found.sample]
    kind = asked.get("text", {}).get("source", {}).get("kind") or _source_kind(texts)
    sized = {"least": 2, "size": 30_000} if kind == "words" else {"size": 4000} if kind == "bpe" else {}
    choice.take({"text": {"source": {"kind": kind, **sized}}}, f"source: {kind} ({_KINDS[kind]})")
    _allow_long(choice, max(map(len, texts)) if kind == "characters" else max(map(_words, texts)))
    sizes = (_SENTENCES if kind == "words" else _SEQUENCES) if model else _GIVEN
    _take(choice, sizes, found.count, "texts", asked, metric)
    return choice


def choose_tagger(found: Survey, asked: Mapping[str, Any], model: bool) -> Choice:
    """Words, encoder and schedule for sentences with tags."""
    choice = Choice(fixed=_READS)
    _allow_long(choice, max(_words(one.source) for one in found.sample))
    sizes = _TAGGERS if model else tuple(size._replace(preset="") for size in _TAGGERS)
    _take(choice, sizes, found.count, "sentences", asked, "accuracy")
    return choice


def _source_kind(texts: list[str]) -> str:
    """Words of sentences, characters of what has no spaces, such as proteins."""
    spaced = fmean(" " in text.strip() for text in texts)
    return "words" if spaced > 0.5 else "characters"


def _words(text: str) -> int:
    return len(text.split())


def _allow_long(choice: Choice, longest: int) -> None:
    """Let training take the longest texts too, which a recipe would leave out."""
    if longest >= _LONG:
        limit = min(_LONGEST, 2 ** (longest + 1).bit_length())
        choice.take({"data": {"max_length": limit}}, f"texts of up to {limit:,} tokens are trained on")
        # Where positions are numbered, they have to go as far.
        choice.take({"model": {"max_length": max(1024, limit)}}, "")


def _take(
    choice: Choice, sizes: tuple[_Size, ...], count: int, what: str, asked: Mapping[str, Any], metric: str
) -> None:
    """The model for so many examples, and its schedule."""
    size = next(size for size in sizes if count < size.most)
    if size.preset:
        choice.take(preset(size.preset), f"model: {size.preset} ({count:,} {what})")
    asked_steps = asked.get("training", {}).get("steps")
    steps = asked_steps or max(100, round(size.times * count / size.batch))
    if asked_steps is None:
        choice.take({"training": {"steps": steps}}, f"{steps:,} steps ({size.times} times through the data)")
    every = max(10, steps // 15)
    choice.take(
        {
            "training": {
                "batch_pairs": size.batch,
                "batch_tokens": 65_536,
                "batch_by_length": not size.mixed,
                "learning_rate": size.rate,
                "optimizer": "adamw",
                "weight_decay": size.decay,
                "schedule": "cosine",
                "warmup": min(100, steps // 5),
                "label_smoothing": 0.0,
                "evaluate_every": every,
                "save_every": every,
                "dev_examples": 5000,
                **({"clip": size.clip} if size.clip is not None else {}),
            }
        },
        f"batches of {size.batch}, a look at the dev set every {every:,} steps",
    )
    choice.take({"training": {"metric": metric}}, f"the weights with the best {metric} are kept")
