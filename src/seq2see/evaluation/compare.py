"""Whether one system is better than another, by paired bootstrap (Koehn 2004)."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from seq2see.evaluation.scores import (
    Example,
    Unit,
    corpus_metric,
    metrics_for,
    reference_streams,
    score_outputs,
)

__all__ = ["Comparison", "compare"]


@dataclass(frozen=True)
class Comparison:
    """One metric of two systems, and how likely chance alone gives such a difference."""

    metric: str
    first: float
    second: float
    p: float

    @property
    def difference(self) -> float:
        """What the second system has more than the first."""
        return self.second - self.first

    @property
    def significant(self) -> bool:
        """Whether chance alone would rarely do it."""
        return self.p < 0.05


def compare(
    first: Sequence[Example], second: Sequence[Example], unit: Unit, samples: int = 1000, seed: int = 1
) -> list[Comparison]:
    """Score two systems on the same sources, and on random draws of them with replacement."""
    found = []
    for metric in metrics_for(first, unit):
        scores = [score_outputs(system, unit, [metric])[metric] for system in (first, second)]
        if scores[0] == scores[1]:
            p = 1.0  # no difference is never a surprise; sacrebleu's test says otherwise of equal outputs
        elif metric in ("bleu", "chrf", "ter"):
            p = _corpus_p(metric, first, second, samples, seed)
        else:
            p = _counted_p(metric, first, second, unit, samples, seed)
        found.append(Comparison(metric, scores[0], scores[1], p))
    return found


def _counted_p(
    metric: str, first: Sequence[Example], second: Sequence[Example], unit: Unit, samples: int, seed: int
) -> float:
    """Bootstrap of a rate: errors over what could be wrong, each summed over a draw."""
    whole = metric == "exact" or (metric == "wer" and unit != "words")
    counts = np.array(
        [[(int(not e.exact), 1) if whole else e.errors(unit) for e in system] for system in (first, second)]
    )  # (systems, examples, [errors, possible])
    random = np.random.default_rng(seed)
    differences = np.empty(samples)
    for sample in range(samples):
        draw = random.integers(counts.shape[1], size=counts.shape[1])
        errors, possible = counts[:, draw].sum(1).T
        rates = errors / possible
        differences[sample] = rates[1] - rates[0]
    errors, possible = counts.sum(1).T
    actual = abs(float(errors[1] / possible[1] - errors[0] / possible[0]))
    # How often a draw, centred on no difference, lies as far out as what was seen.
    beyond = np.abs(differences - differences.mean()) >= actual
    return (1 + int(beyond.sum())) / (1 + samples)


def _corpus_p(
    metric: str, first: Sequence[Example], second: Sequence[Example], samples: int, seed: int
) -> float:
    from sacrebleu.significance import PairedTest

    os.environ["SACREBLEU_SEED"] = str(seed)
    systems: list[Any] = [
        (name, [e.output for e in system]) for name, system in (("first", first), ("second", second))
    ]
    test = PairedTest(
        systems, {metric: corpus_metric(metric)}, cast(Any, reference_streams(first)), "bs", n_samples=samples
    )
    results = next(results for name, results in test()[1].items() if name != "System")
    return float(cast(Any, results[1]).p_value)
