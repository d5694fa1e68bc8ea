"""Scores of outputs against references, in percent."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from rapidfuzz.distance import Levenshtein

__all__ = ["Example", "Unit", "metrics_for", "score_outputs", "worst"]

Unit = Literal["characters", "symbols", "words"]
"""What an error rate counts: characters, symbols between spaces, or words."""

_SENTENCE = 3.0
"""Words in a mean reference from which BLEU and its kin begin to say something."""


@dataclass(frozen=True)
class Example:
    """One source with what came out and what could have come out."""

    source: str
    output: str
    references: tuple[str, ...]

    def errors(self, unit: Unit) -> tuple[int, int]:
        """Edits to the nearest reference, and that reference's length."""
        output = split(self.output, unit)
        against = [split(reference, unit) for reference in self.references]
        return min((Levenshtein.distance(output, reference), len(reference)) for reference in against)

    @property
    def exact(self) -> bool:
        """Whether the output is one of the references."""
        return self.output in self.references


def split(text: str, unit: Unit) -> Sequence[str]:
    """A text as the sequence of what is counted."""
    return text if unit == "characters" else text.split()


def metrics_for(examples: Sequence[Example], unit: Unit) -> list[str]:
    """The scores that make sense for these references."""
    if unit == "symbols":
        return ["exact", "wer", "ser"]
    words = sum(len(example.references[0].split()) for example in examples) / max(1, len(examples))
    sentences = ["bleu", "chrf", "ter"] if words > _SENTENCE else []
    return ["exact", "wer", *(["ser"] if unit == "characters" else []), *sentences]


def score_outputs(
    examples: Sequence[Example], unit: Unit, metrics: Sequence[str] | None = None
) -> dict[str, float]:
    """Every score that applies.

    exact: outputs that equal a reference. wer: for characters and symbols the outputs that do not (as
    the literature on pronunciation counts), for words the word error rate. ser: edits per symbol.
    """
    if not examples:
        return {}
    wanted = metrics if metrics is not None else metrics_for(examples, unit)
    scores: dict[str, float] = {}
    exact = 100 * sum(example.exact for example in examples) / len(examples)
    for name in wanted:
        if name == "exact":
            scores[name] = exact
        elif name == "wer" and unit != "words":
            scores[name] = 100 - exact
        elif name in ("wer", "ser"):
            scores[name] = _error_rate(examples, unit)
        else:
            scores[name] = _corpus_score(name, examples)
    return scores


def worst(examples: Sequence[Example], unit: Unit, count: int) -> list[Example]:
    """The examples with the most errors for their length, worst first."""

    def badness(example: Example) -> float:
        edits, length = example.errors(unit)
        return -edits / max(1, length)

    wrong = [example for example in examples if not example.exact]
    return sorted(wrong, key=badness)[:count]


def reference_streams(examples: Sequence[Example]) -> list[list[str | None]]:
    """References as sacrebleu takes them: the first of each example, the second of each, and so on."""
    most = max(len(example.references) for example in examples)
    return [[(e.references[i] if i < len(e.references) else None) for e in examples] for i in range(most)]


def _error_rate(examples: Sequence[Example], unit: Unit) -> float:
    counted = [example.errors(unit) for example in examples]
    return 100 * sum(edits for edits, _ in counted) / max(1, sum(length for _, length in counted))


def _corpus_score(name: str, examples: Sequence[Example]) -> float:
    outputs = [example.output for example in examples]
    return float(corpus_metric(name).corpus_score(outputs, reference_streams(examples)).score)


def corpus_metric(name: str) -> Any:
    """A metric of sacrebleu, which takes a moment to import."""
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.metrics.chrf import CHRF
    from sacrebleu.metrics.ter import TER

    return {"bleu": BLEU, "chrf": CHRF, "ter": TER}[name]()
