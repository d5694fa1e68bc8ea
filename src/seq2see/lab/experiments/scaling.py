"""Why scores are divided by sqrt(d): without it the softmax saturates as the width grows."""

import math
from collections.abc import Sequence
from statistics import fmean

import torch

from seq2see.lab.experiment import Experiment, Measured, Row, Trial
from seq2see.lab.panels import Panel
from seq2see.lab.training import backwards, exact, letters, trained

__all__ = ["EXPERIMENT"]

_KEYS = 64
"""Keys that each query chooses among."""
_MEAN, _DEVIATION = 0.5, 1.0
"""Of each feature of queries and keys, where the formula of the variance is put to the test."""


def measure(trial: Trial) -> Measured:
    """Sample products, weights and gradients at several widths, and train with and without the scale."""
    widths = [4**power for power in range(1, 6)]
    queries = trial.pick(200, 2000, 4000)
    rows: list[Row] = []
    entropies: dict[tuple[str, int], float] = {}
    for width in widths:
        rows.append(
            {"part": "variance", "width": width, **_variance(width, trial.pick(2000, 20_000, 100_000))}
        )
        for name in ("scaled", "unscaled"):
            scaled = name == "scaled" and not trial.control
            entropy, gradient = _softmax(width, queries, scaled)
            entropies[name, width] = entropy
            rows.append(
                {"part": "softmax", "scores": name, "width": width, "entropy": entropy, "gradient": gradient}
            )
    for name in ("scaled", "unscaled"):
        kind = "scaled-dot" if name == "scaled" and not trial.control else "dot"
        rows.append({"part": "training", "scores": name, "exact": _trained(trial, name, kind)})
    widest = widths[-1]
    return Measured((entropies["scaled", widest] - entropies["unscaled", widest]) / math.log(_KEYS), rows)


def _variance(width: int, samples: int) -> dict[str, float]:
    """The variance of q.k by sampling, beside both formulas."""
    query, key = (_MEAN + _DEVIATION * torch.randn(samples, width) for _ in range(2))
    square = width * _MEAN**2
    ours = 2 * _DEVIATION**2 * square + width * _DEVIATION**4
    printed = 2 * width * _DEVIATION**2 * square + width * _DEVIATION**4
    sampled = float((query * key).sum(1).double().var())
    return {"sampled": sampled, "formula": ours, "printed": printed}


def _softmax(width: int, queries: int, scaled: bool) -> tuple[float, float]:
    """Mean entropy of the weights in nats, and how much a weight moves with its own score at the most."""
    query, keys = torch.randn(queries, 1, width), torch.randn(queries, _KEYS, width)
    scores = (query * keys).sum(-1) / (math.sqrt(width) if scaled else 1.0)
    weights = scores.softmax(-1)
    entropy = -(weights * weights.clamp_min(1e-30).log()).sum(-1)
    # The softmax's derivative: a weight p moves with its own score by p (1 - p).
    return float(entropy.mean()), float((weights * (1 - weights)).sum(-1).mean())


def _trained(trial: Trial, name: str, kind: str) -> float:
    """Exact outputs of a recurrent model with that score, in percent."""
    file, held = letters(trial, backwards, "abcdefgh", range(2, 11), trial.pick(600, 12_000, 12_000))
    settings = ["model.width=256", f"model.decoder.attention={kind}", "training.learning_rate=0.003"]
    model = trained(trial, kind, file, "luong", trial.pick(5, 200, 600), settings)
    return exact(model, held[: trial.pick(20, 300, 300)])


def remarks(rows: Sequence[Row]) -> list[str]:
    """Which formula of the variance the samples follow, and what training made of it."""
    widest = max(int(row["width"]) for row in rows if row.get("part") == "variance")
    last = [row for row in rows if row.get("part") == "variance" and row["width"] == widest]
    ours, printed = (
        fmean(float(row["sampled"]) / float(row[name]) for row in last) for name in ("formula", "printed")
    )
    exact = {
        name: [float(row["exact"]) for row in rows if row.get("part") == "training" and row["scores"] == name]
        for name in ("scaled", "unscaled")
    }
    return [
        f"The variance of q.k at width {widest} is {ours:.2f} times 2 s^2 mu.mu + d s^4, and "
        f"{printed:.4f} times the formula that the lecture prints, whose first term has a factor d too many.",
        f"Trained to turn words around at width 256, {fmean(exact['scaled']):.0f} % are exact with "
        f"the scale and {fmean(exact['unscaled']):.0f} % without.",
    ]


EXPERIMENT = Experiment(
    name="scaling",
    claim="Dividing q.k by the square root of the width keeps the softmax from saturating.",
    where="Berkeley CS182 discussion 7, section 1.2, Justifying Scaled Self-Attention",
    effect="the entropy that the weights at the largest width keep by it, as a share of log n",
    wanted=0.3,
    measure=measure,
    keys=("part", "scores", "width"),
    panels=(
        Panel(
            "width",
            "entropy",
            "scores",
            "width d",
            f"entropy of the weights on {_KEYS} keys (nats)",
            log_across=True,
            reference=math.log(_KEYS),
            reference_label="even weights",
        ),
        Panel(
            "width", "gradient", "scores", "width d", "sum of p (1 - p) through the softmax", log_across=True
        ),
    ),
    cause="the division by sqrt(d)",
    remarks=remarks,
)
