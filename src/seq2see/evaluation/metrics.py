"""Every score there is: one row of one table each, with its direction, its meaning and what it is for."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seq2see.errors import SettingsError
from seq2see.evaluation import captions, classes, numbers, running, tags, texts
from seq2see.evaluation.outcomes import (
    Captions,
    Classes,
    Example,
    Filled,
    Foretold,
    LabelSets,
    Numbers,
    Outcome,
    Tags,
    Texts,
    Unit,
)
from seq2see.settings import near

__all__ = ["METRICS", "Metric", "metric_named", "metrics_for", "score", "score_outputs"]

Kinds = tuple[type[Outcome], ...]
Parts = Callable[[Any], NDArray[np.floating[Any]]]


@dataclass(frozen=True)
class Metric:
    """A score: which outcomes it is for, whether more of it is better, and how it is worked out."""

    name: str
    meaning: str
    kinds: Kinds
    score: Callable[[Any], float]
    higher_is_better: bool = True
    unit: str = "%"
    share: bool = False
    """Whether it is a share of the things that are judged, each of them right or wrong."""
    applies: Callable[[Any], bool] = lambda outcome: True
    """Whether it says something about this outcome."""
    parts: Parts | None = None
    """(examples, 2), where the score is the sum of the first column over the sum of the second."""
    only_training: Kinds = ()
    """Outcomes that do not tell it: for these only training can work it out."""
    paired: Callable[[Any, Any, int, int], float] | None = None
    """The p of two outcomes, a number of samples and a seed, where a library has its own test."""

    @property
    def goals(self) -> tuple[str, ...]:
        """The goals whose outcomes it is for."""
        return tuple(dict.fromkeys(kind.goal for kind in self.kinds))

    def fits(self, outcome: type[Outcome]) -> bool:
        """Whether it can be worked out from such outcomes."""
        return outcome in self.kinds and outcome not in self.only_training

    @property
    def direction(self) -> int:
        """1 if more is better, -1 if less is."""
        return 1 if self.higher_is_better else -1


def _ratio(name: str, meaning: str, kinds: Kinds, parts: Parts, unit: str = "%", **more: Any) -> Metric:
    """A score that is one sum over another."""
    scale = 100 if unit == "%" else 1

    def ratio(outcome: Outcome) -> float:
        part, whole = parts(outcome).sum(0)
        return scale * float(part) / float(whole) if whole else float("nan")

    return Metric(name, meaning, kinds, ratio, unit=unit, parts=parts, **more)


def _share(name: str, meaning: str, kinds: Kinds, parts: Parts, **more: Any) -> Metric:
    """A score that is the share of things that are right, or wrong."""
    return _ratio(name, meaning, kinds, parts, share=True, **more)


def _corpus(name: str, meaning: str, **more: Any) -> Metric:
    """A score of sacrebleu."""
    score, paired = partial(texts.corpus_score, name), partial(texts.corpus_p, name)
    kinds = more.pop("kinds", (Texts,))
    return Metric(name, meaning, kinds, score, applies=texts.are_sentences, paired=paired, **more)


_LOSS = _ratio(
    "loss",
    "what training makes small, on held-out examples; of running text, nats per token",
    (Texts, Captions, Classes, LabelSets, Numbers, Tags, Foretold, Filled),
    running.nats,
    unit="",
    higher_is_better=False,
    only_training=(Texts, Captions, Classes, LabelSets, Numbers, Tags),
)
_TEXTS = (
    _ratio(
        "cider",
        "agreement with all references of an image, rare words counting more (CIDEr)",
        (Captions,),
        captions.consensus,
        unit="",
        applies=captions.has_cider,
    ),
    _share("exact", "outputs that equal a reference", (Texts, Captions), texts.exact),
    _share(
        "wer",
        "outputs that equal no reference; where words are counted, edits per reference word",
        (Texts,),
        texts.word_errors,
        higher_is_better=False,
    ),
    _ratio(
        "ser",
        "edits per reference symbol",
        (Texts,),
        texts.edits,
        higher_is_better=False,
        applies=texts.have_symbols,
    ),
    _corpus("bleu", "n-grams in common (sacrebleu)", kinds=(Texts, Captions)),
    _corpus("chrf", "letter n-grams in common (sacrebleu)"),
    _corpus("ter", "edits with shifts per word (sacrebleu)", higher_is_better=False),
)
_CLASSES = (
    _share(
        "accuracy",
        "classes, tags or hidden tokens that are right",
        (Classes, Tags, Filled),
        lambda outcome: outcome.right(),
    ),
    _share(
        "subset_accuracy", "examples with all their labels and no other", (LabelSets,), classes.whole_sets
    ),
    _ratio("micro_f1", "F1 of the labels of all examples together", (LabelSets,), classes.labels_in_common),
    Metric("macro_f1", "mean F1 of the labels, rare or not", (Classes, LabelSets), classes.macro_f1),
    Metric("mcc", "correlation of true and predicted classes (Matthews)", (Classes,), classes.mcc, unit=""),
    Metric(
        "ece",
        "how far confidence is from accuracy (expected calibration error)",
        (Classes,),
        classes.calibration_error,
        higher_is_better=False,
        applies=lambda outcome: outcome.probabilities is not None,
    ),
)
_NUMBERS = (
    Metric(
        "rmse", "root of the mean squared error", (Numbers,), numbers.rmse, higher_is_better=False, unit=""
    ),
    _ratio("mae", "mean absolute error", (Numbers,), numbers.errors, unit="", higher_is_better=False),
    Metric("r2", "share of the variance that is explained, at most 1", (Numbers,), numbers.r2, unit=""),
    Metric("spearman", "correlation of ranks, at most 1", (Numbers,), numbers.spearman, unit=""),
)
_TAGS = (
    _share(
        "unseen_accuracy",
        "tags that are right, of words that training never showed",
        (Tags,),
        tags.unseen_words_right,
        applies=tags.has_unseen_words,
    ),
    _share("sentence_accuracy", "sentences without a wrong tag", (Tags,), tags.whole_sentences),
    _ratio(
        "span_f1",
        "F1 of whole spans of BIO tags",
        (Tags,),
        tags.spans_in_common,
        applies=tags.draw_spans,
    ),
)

_RUNNING = (
    Metric(
        "perplexity",
        "among how many tokens the next or a hidden one is still open: e to the loss",
        (Foretold, Filled),
        running.perplexity,
        higher_is_better=False,
        unit="",
    ),
    _ratio(
        "bits_per_character",
        "what the text would take if the model packed it",
        (Foretold,),
        running.bits,
        unit="",
        higher_is_better=False,
    ),
)

METRICS = {row.name: row for row in (_LOSS, *_TEXTS, *_CLASSES, *_NUMBERS, *_TAGS, *_RUNNING)}
"""Metrics by name; of those that fit an outcome, the first is its headline."""


def metric_named(name: str) -> Metric:
    """A metric by its name, or what it might have been."""
    if name not in METRICS:
        raise SettingsError(f"{name!r} is no metric; {near(name, METRICS)}")
    return METRICS[name]


def metrics_for(outcome: Outcome) -> list[str]:
    """The scores that make sense for an outcome, its headline first."""
    return [name for name, row in METRICS.items() if row.fits(type(outcome)) and row.applies(outcome)]


def score(outcome: Outcome, names: Sequence[str] | None = None) -> dict[str, float]:
    """The named scores of an outcome, or every one that makes sense."""
    if not len(outcome):
        return {}
    return {name: _score(name, outcome) for name in (metrics_for(outcome) if names is None else names)}


def _score(name: str, outcome: Outcome) -> float:
    metric = metric_named(name)
    if not metric.fits(type(outcome)):
        raise SettingsError(
            f"{name} is no score of this outcome; choose from {', '.join(metrics_for(outcome))}"
        )
    return metric.score(outcome)


def score_outputs(
    examples: Sequence[Example], unit: Unit, metrics: Sequence[str] | None = None
) -> dict[str, float]:
    """The scores of generated texts."""
    return score(Texts(examples, unit), metrics)
