"""Whether one system is better than another, or chance alone makes such a difference."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seq2see.evaluation.metrics import METRICS, Metric, metrics_for, score
from seq2see.evaluation.outcomes import Outcome
from seq2see.notebook import Printed

__all__ = ["Comparison", "compare", "mcnemar"]

_BOOTSTRAP = "paired bootstrap"
_MCNEMAR = "McNemar, exact"


@dataclass(frozen=True, repr=False)
class Comparison(Printed):
    """One metric of two systems, and how likely chance alone gives such a difference."""

    metric: str
    first: float
    second: float
    p: float
    test: str = _BOOTSTRAP

    def __repr__(self) -> str:
        verdict = "more than chance" if self.significant else "could be chance"
        change = f"{self.first:.2f} and {self.second:.2f} ({self.difference:+.2f})"
        return f"<{self.metric}: {change}, p = {self.p:.3f} by {self.test}: {verdict}>"

    @property
    def difference(self) -> float:
        """What the second system has more than the first."""
        return self.second - self.first

    @property
    def significant(self) -> bool:
        """Whether chance alone would rarely do it."""
        return self.p < 0.05


def compare(first: Outcome, second: Outcome, samples: int = 1000, seed: int = 1) -> list[Comparison]:
    """Score two systems on the same examples, with every metric that makes sense.

    What is right or wrong as a whole is compared by McNemar's exact test; everything else by paired
    bootstrap (Koehn 2004), on random draws of the examples with replacement.
    """
    found = []
    for name in metrics_for(first):
        scores = [score(outcome, [name])[name] for outcome in (first, second)]
        p, test = _p(METRICS[name], first, second, samples, seed)
        if scores[0] == scores[1]:
            p = 1.0  # no difference is never a surprise; sacrebleu's test says otherwise of equal outputs
        found.append(Comparison(name, scores[0], scores[1], p, test))
    return found


def mcnemar(first: NDArray[np.bool_], second: NDArray[np.bool_]) -> float:
    """How likely chance alone divides the examples that only one system gets right as unevenly as this."""
    from scipy.stats import binomtest

    only_first, only_second = int((first & ~second).sum()), int((second & ~first).sum())
    differing = only_first + only_second
    return float(binomtest(only_first, differing).pvalue) if differing else 1.0


def _p(metric: Metric, first: Outcome, second: Outcome, samples: int, seed: int) -> tuple[float, str]:
    """The p of a difference, and the test that gave it."""
    if metric.paired is not None:
        return metric.paired(first, second, samples, seed), _BOOTSTRAP
    random = np.random.default_rng(seed)
    if metric.parts is None:
        score = metric.score
        differences = np.array(
            [score(second.draw(rows)) - score(first.draw(rows)) for rows in _draws(random, samples, first)]
        )
        return _beyond(differences, score(second) - score(first)), _BOOTSTRAP
    parts = np.stack([metric.parts(outcome) for outcome in (first, second)])  # (systems, examples, 2)
    if _right_or_wrong(parts):
        return mcnemar(parts[0, :, 0] == 1, parts[1, :, 0] == 1), _MCNEMAR
    differences = np.array([_difference(parts[:, rows]) for rows in _draws(random, samples, first)])
    return _beyond(differences, _difference(parts)), _BOOTSTRAP


def _draws(random: np.random.Generator, samples: int, outcome: Outcome) -> Any:
    return (random.integers(len(outcome), size=len(outcome)) for _ in range(samples))


def _right_or_wrong(parts: NDArray[np.floating[Any]]) -> bool:
    """Whether every example counts once, and is right or wrong as a whole."""
    return bool((parts[..., 1] == 1).all() and np.isin(parts[..., 0], (0, 1)).all())


def _difference(parts: NDArray[np.floating[Any]]) -> float:
    """What the second system's ratio has more than the first's; a draw with nothing to count has none."""
    part, whole = parts.sum(1).T  # (systems,) each
    ratios = part / np.maximum(whole, 1e-12)
    return float(ratios[1] - ratios[0])


def _beyond(differences: NDArray[np.floating[Any]], actual: float) -> float:
    """How often a draw, centred on no difference, lies as far out as what was seen."""
    differences = differences[np.isfinite(differences)]
    beyond = np.abs(differences - differences.mean()) >= abs(actual)
    return (1 + int(beyond.sum())) / (1 + len(differences))
