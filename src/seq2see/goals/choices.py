"""What to do with pairs that come without a recipe: a choice for every question, and its reason."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import reduce
from statistics import fmean
from typing import Any

from seq2see.data.survey import Survey
from seq2see.recipe import Recipe, preset
from seq2see.settings import merge
from seq2see.text import Kind

__all__ = ["Choice", "choose", "kind_of"]

VISITS = 4500
"""Training visits VISITS * sqrt(pairs) pairs: 160 times through 800 of them, 14 times through 110,000."""

_MANY = 50_000
"""Pairs from which on the larger model of its kind is chosen."""


@dataclass
class Choice:
    """Settings for some pairs, each with a line that says why."""

    taken: list[tuple[dict[str, Any], str]] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    fixed: dict[str, Any] = field(default_factory=dict)
    """What no preset or wish can change, since the goal decides it."""

    def say(self, reason: str) -> None:
        """Add a line before all others."""
        self.said.insert(0, reason)

    def take(self, values: dict[str, Any], reason: str) -> None:
        """Add settings with their reason; those that nobody would ask about have an empty one."""
        self.taken.append((values, reason))

    @property
    def values(self) -> dict[str, Any]:
        """All the chosen settings."""
        return reduce(merge, (values for values, _ in self.taken), {})

    def reasons(self, recipe: Recipe) -> list[str]:
        """Why, for those choices that the recipe has not overruled altogether."""
        final = _leaves(recipe.model_dump())
        return [
            *self.said,
            *(reason for values, reason in self.taken if reason and _leaves(values) & final),
        ]


def choose(found: Survey, asked: Mapping[str, Any], model: bool = True) -> Choice:
    """Look at pairs and choose what was not asked for: tokenisation, batches, schedule and a model."""
    choice = Choice()
    text, training = asked.get("text", {}), asked.get("training", {})
    sides = {
        "source": [pair.source for pair in found.sample],
        "target": [pair.target for pair in found.sample],
    }
    kinds: dict[str, Kind] = {
        side: text.get(side, {}).get("kind") or kind_of(texts) for side, texts in sides.items()
    }
    apart = bool(asked.get("model", {}).get("decoder_for_each"))
    each = len({pair.into for pair in found.sample}) if apart else 1
    _text(choice, found.count, kinds, each)
    _sharing(choice, kinds, sides, text.get("shared"), apart)
    words = kinds["target"] in ("characters", "symbols")
    sources = _sources(found)
    many = words and model and sources >= _MANY
    _model(choice, sources, f"{sources:,} {'lines' if sources < found.count else 'pairs'}", words, not model)
    if not words:
        penalty = {"decoding": {"length_penalty": 1.0}}
        choice.take(penalty, "length penalty 1 (a beam prefers sentences that are too short)")
    length = max(_length(sides[side], kinds[side]) for side in sides)
    _batches(choice, 128 if many else _pairs(found.count), length)
    _schedule(choice, sources, found.count, words, training.get("steps"), 20 if many else 5)
    return choice


def _sources(found: Survey) -> int:
    """How many examples there are, or lines of examples where each has several targets."""
    lines = {one.line for one in found.sample if one.into}
    return round(found.count * len(lines) / len(found.sample)) if lines else found.count


def kind_of(texts: Iterable[str]) -> Kind:
    """How texts want to be cut: symbols between spaces, characters of short ones, sub-words of long ones."""
    lines = [text.split(" ") for text in texts]
    tokens = Counter(token for line in lines for token in line if token)
    total = sum(tokens.values())
    several = fmean(len(line) > 1 for line in lines)
    letters = sum(len(token) * count for token, count in tokens.items()) / max(1, total)
    if several > 0.5 and letters <= 2.5 and len(tokens) <= 500 and total >= 5 * len(tokens):
        return "symbols"
    if fmean(len(line) for line in lines) <= 3 and fmean(map(len, map("".join, lines))) <= 60:
        return "characters"
    return "bpe"


def _text(choice: Choice, count: int, kinds: Mapping[str, Kind], each: int) -> None:
    """Vocabularies for so many examples; each target with a decoder of its own adds to the common one."""
    size = 8000 if count >= 20_000 else 4000 if count >= 5000 else 1000
    size = size * (1 + each) // 2
    why = {
        "symbols": "few short symbols between spaces",
        "characters": "short texts",
        "words": "as asked",
        "bpe": f"sentences, {size:,} sub-words",
        "unigram": f"{size:,} sub-words",
    }
    for side, kind in kinds.items():
        sized = {"size": size} if kind in ("bpe", "unigram") else {}
        choice.take({"text": {side: {"kind": kind, **sized}}}, f"{side}: {kind} ({why[kind]})")


def _sharing(
    choice: Choice, kinds: Mapping[str, Kind], sides: Mapping[str, list[str]], asked: bool | None, apart: bool
) -> None:
    """One vocabulary where both sides are cut alike and written alike; the embedding follows it.

    Decoders that are `apart`, one for each target, have embeddings of their own.
    """
    shared = asked
    if asked is None and kinds["source"] == kinds["target"] != "symbols":
        common = _common_letters(sides["source"], sides["target"])
        shared = common >= 0.6
        how = "one vocabulary" if shared else "two vocabularies"
        choice.take({"text": {"shared": shared}}, f"{how} ({common:.0%} of the letters are common)")
    choice.take({"model": {"share_embeddings": bool(shared) and not apart}}, "")


def _common_letters(sources: list[str], targets: list[str]) -> float:
    """The share of letters, by how often they stand, that the other side has too."""
    left, right = (Counter(letter for text in texts for letter in text) for texts in (sources, targets))
    common = sum(count for letter, count in left.items() if letter in right)
    common += sum(count for letter, count in right.items() if letter in left)
    return common / max(1, left.total() + right.total())


def _model(choice: Choice, count: int, counted: str, words: bool, given: bool) -> None:
    """A model for so many pairs; where its kind is given, the size and the strength of its dropout alone."""
    name = "transformer-tiny" if count < _MANY else "transformer-small"
    if words and count >= _MANY and not given:
        name = "rnn-attention-large"
    values = preset(name)
    if given:
        width = values["model"]["width"]
        choice.take({"model": {"width": width}}, f"width {width} ({counted})")
        held_back = {key: values["model"][key] for key in ("dropout", "attention_dropout")}
        choice.take({"model": held_back, "training": values["training"]}, "")
        return
    choice.take(values, f"model: {name} ({counted})")
    if not words:
        # Sentences are not read in step with what is written, and CTranslate2 can decode such models.
        choice.take({"model": {"decoder": {"positions": "rotary-self"}}}, "")
    elif 4000 <= count < _MANY:
        choice.take({"model": {"dropout": 0.2}}, "dropout 0.2 (enough pairs for a little less of it)")


def _length(texts: list[str], kind: Kind) -> float:
    """About how many tokens a text has."""
    if kind == "characters":
        return fmean(map(len, texts)) + 1
    # Sub-words cut some words in two.
    return fmean(len(text.split()) for text in texts) * (1.3 if kind in ("bpe", "unigram") else 1.0) + 1


def _pairs(count: int) -> int:
    """How many pairs go into a batch."""
    return 64 if count < 3000 else 128 if count < 30_000 else 256


def _batches(choice: Choice, pairs: int, length: float) -> None:
    tokens = 8192
    each = min(pairs, tokens / length)
    choice.take({"training": {"batch_tokens": tokens}}, "")
    choice.take({"training": {"batch_pairs": pairs}}, f"batches of about {each:.0f} pairs")


def _schedule(choice: Choice, sources: int, count: int, words: bool, asked: int | None, rise: int) -> None:
    """Small data is gone through often, large data seldom: visits grow with the root of the pairs.

    Each of several targets is gone through as often as it would be alone. One of `rise` parts of the steps
    is warm-up.
    """
    batch = choice.values["training"]["batch_pairs"]
    steps = asked or max(100, round(VISITS / sources**0.5 * count / batch))
    if asked is None:
        times = steps * batch / count
        choice.take({"training": {"steps": steps}}, f"{steps:,} steps ({times:.0f} times through the data)")
    every = max(10, steps // 20)
    metric = "exact" if words else "bleu"
    choice.take({"training": {"schedule": "cosine"}}, "learning rate: warm-up, then a cosine to zero")
    choice.take({"training": {"warmup": steps // rise, "save_every": every}}, "")
    choice.take({"training": {"evaluate_every": every}}, f"a look at the dev set every {every:,} steps")
    choice.take({"training": {"metric": metric}}, f"the weights with the best {metric} are kept")


def _leaves(values: Mapping[str, Any], path: str = "") -> set[tuple[str, str]]:
    """Every setting with its path, comparable."""
    found: set[tuple[str, str]] = set()
    for key, value in values.items():
        name = f"{path}.{key}"
        found |= _leaves(value, name) if isinstance(value, Mapping) else {(name, repr(value))}
    return found
