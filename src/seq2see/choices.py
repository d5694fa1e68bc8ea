"""What to do with pairs that come without a recipe: a choice for every question, and its reason."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

from seq2see.data.survey import Survey
from seq2see.recipe import preset
from seq2see.settings import merge
from seq2see.text import Kind

__all__ = ["Choice", "choose", "kind_of"]


@dataclass
class Choice:
    """Settings for some pairs, and a line for each that says why."""

    values: dict[str, Any] = field(default_factory=dict)
    reasons: list[str] = field(default_factory=list)

    def take(self, values: Mapping[str, Any], reason: str) -> None:
        """Add settings with their reason."""
        self.values = merge(self.values, values)
        self.reasons.append(reason)


def choose(found: Survey, preset_name: str | None = None) -> Choice:
    """Look at pairs and choose tokenisation, model, batches and schedule."""
    choice = Choice()
    sources = [pair.source for pair in found.sample]
    targets = [pair.target for pair in found.sample]
    kinds = kind_of(sources), kind_of(targets)
    _text(choice, found.count, kinds, sources, targets)
    _model(choice, found.count, preset_name)
    _schedule(choice, found, kinds)
    return choice


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


def _text(
    choice: Choice, count: int, kinds: tuple[Kind, Kind], sources: list[str], targets: list[str]
) -> None:
    size = 8000 if count >= 20_000 else 4000 if count >= 5000 else 1000
    sides = {
        name: {"kind": kind, **({"size": size} if kind == "bpe" else {})}
        for name, kind in zip(("source", "target"), kinds, strict=True)
    }
    why = {
        "symbols": "few short symbols between spaces",
        "characters": "short words",
        "bpe": f"sentences, {size:,} sub-words",
    }
    for name, kind in zip(("source", "target"), kinds, strict=True):
        choice.take({"text": {name: sides[name]}}, f"{name}: {kind} ({why[kind]})")
    if kinds[0] == kinds[1] != "symbols":
        common = _common_letters(sources, targets)
        shared = common >= 0.6
        choice.take(
            {"text": {"shared": shared}, "model": {"share_embeddings": shared}},
            f"{'one vocabulary' if shared else 'two vocabularies'} ({common:.0%} of the letters are common)",
        )


def _common_letters(sources: list[str], targets: list[str]) -> float:
    """The share of letters, by how often they stand, that the other side has too."""
    left, right = (Counter(letter for text in texts for letter in text) for texts in (sources, targets))
    common = sum(count for letter, count in left.items() if letter in right)
    common += sum(count for letter, count in right.items() if letter in left)
    return common / max(1, left.total() + right.total())


def _model(choice: Choice, count: int, preset_name: str | None) -> None:
    if preset_name is not None:
        choice.take(preset(preset_name), f"model: {preset_name} (as asked)")
        return
    name = "transformer-tiny" if count < 4000 else "transformer-small"
    choice.take(preset(name), f"model: {name} ({count:,} pairs)")


def _schedule(choice: Choice, found: Survey, kinds: tuple[Kind, Kind]) -> None:
    steps = 4000
    choice.take(
        {
            "training": {
                "batch_tokens": 4096,
                "batch_pairs": 256,
                "schedule": "cosine",
                "steps": steps,
                "evaluate_every": 250,
                "metric": "exact" if kinds[1] != "bpe" else "bleu",
            }
        },
        f"{steps:,} steps",
    )
