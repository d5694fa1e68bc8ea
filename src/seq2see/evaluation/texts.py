"""Scores of generated texts against references, in percent."""

import os
from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from seq2see.evaluation.outcomes import Captions, Example, Texts, Unit

__all__ = [
    "are_sentences",
    "corpus_p",
    "corpus_score",
    "edits",
    "exact",
    "have_symbols",
    "word_errors",
    "worst",
]

_SENTENCE = 3.0
"""Words in a mean reference from which BLEU and its kin begin to say something."""


def exact(texts: Texts) -> NDArray[np.floating[Any]]:
    """1 for an output that equals a reference, else 0; and 1: (examples, 2)."""
    return np.array([(example.exact, 1) for example in texts.examples], dtype=float).reshape(-1, 2)


def edits(texts: Texts) -> NDArray[np.floating[Any]]:
    """Edits to the nearest reference, and its length: (examples, 2)."""
    counted = [example.errors(texts.unit) for example in texts.examples]
    return np.array(counted, dtype=float).reshape(-1, 2)


def word_errors(texts: Texts) -> NDArray[np.floating[Any]]:
    """Errors, and what could be wrong: (examples, 2).

    Where characters or symbols are counted an output is one word, as in the literature on pronunciation.
    """
    return edits(texts) if texts.unit == "words" else np.abs(exact(texts) - (1, 0))


def have_symbols(texts: Texts) -> bool:
    """Whether outputs are made of characters or symbols rather than of words."""
    return texts.unit != "words"


def are_sentences(texts: Texts) -> bool:
    """Whether the references are long enough for BLEU and its kin."""
    if isinstance(texts, Captions):
        return True
    words = sum(len(example.references[0].split()) for example in texts.examples)
    return texts.unit != "symbols" and words / max(1, len(texts)) > _SENTENCE


def worst(examples: Sequence[Example], unit: Unit, count: int) -> list[Example]:
    """The examples with the most errors for their length, worst first."""

    def badness(example: Example) -> float:
        errors, length = example.errors(unit)
        return -errors / max(1, length)

    wrong = [example for example in examples if not example.exact]
    return sorted(wrong, key=badness)[:count]


def corpus_score(name: str, texts: Texts) -> float:
    """A score of sacrebleu over all examples together."""
    texts = texts.compared()
    outputs = [example.output for example in texts.examples]
    return float(_metric(name).corpus_score(outputs, _streams(texts)).score)


def corpus_p(name: str, first: Texts, second: Texts, samples: int, seed: int) -> float:
    """The p of sacrebleu's paired bootstrap."""
    from sacrebleu.significance import PairedTest

    os.environ["SACREBLEU_SEED"] = str(seed)
    first, second = first.compared(), second.compared()
    systems: list[Any] = [
        (system, [example.output for example in texts.examples])
        for system, texts in (("first", first), ("second", second))
    ]
    test = PairedTest(systems, {name: _metric(name)}, cast(Any, _streams(first)), "bs", n_samples=samples)
    results = next(results for system, results in test()[1].items() if system != "System")
    return float(cast(Any, results[1]).p_value)


def _streams(texts: Texts) -> list[list[str | None]]:
    """References as sacrebleu takes them: the first of each example, the second of each, and so on."""
    most = max(len(example.references) for example in texts.examples)
    return [
        [(e.references[place] if place < len(e.references) else None) for e in texts.examples]
        for place in range(most)
    ]


def _metric(name: str) -> Any:
    """A metric of sacrebleu, which takes a moment to import."""
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.metrics.chrf import CHRF
    from sacrebleu.metrics.ter import TER

    return {"bleu": BLEU, "chrf": CHRF, "ter": TER}[name]()
