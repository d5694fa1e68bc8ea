"""Ways to score a source's states against the decoder's: all that compare them pass the bottleneck."""

from collections.abc import Sequence
from statistics import fmean

from seq2see.lab.experiment import Experiment, Measured, Row, Trial
from seq2see.lab.panels import Panel
from seq2see.lab.training import ALPHABET, backwards, exact, letters, strongest, trained

__all__ = ["EXPERIMENT"]

_CONTENT = ("dot", "scaled-dot", "general", "nonlinear", "additive", "concat")


def measure(trial: Trial) -> Measured:
    """Train one recurrent model with each score for as many steps."""
    longest = trial.pick(8, 14, 20)
    alphabet = ALPHABET[: trial.pick(4, 8, 26)]
    lengths = range(2, longest + 1)
    file, held = letters(trial, backwards, alphabet, lengths, trial.pick(3000, 12_000, 40_000))
    kinds = trial.pick(("additive",), _CONTENT, _CONTENT)
    rate = trial.pick(0.02, 0.005, 0.003)
    settings = [f"model.width={trial.pick(32, 64, 128)}", f"training.learning_rate={rate}"]
    long = [pair for pair in held if len(pair.source) > longest / 2][:300]
    rows: list[Row] = []
    for kind in ("none", "location", *kinds):
        used = "none" if trial.control else kind
        own = [] if used == "none" else [f"model.decoder.attention={used}"]
        preset = "rnn" if used == "none" else "rnn-attention"
        model = trained(trial, used, file, preset, trial.pick(100, 600, 2000), [*settings, *own])
        weights = sum(model.network.parameter_counts().values())
        row: Row = {"score": kind, "exact": exact(model, long), "weights": weights}
        rows.append(row if used == "none" else {**row, "strongest": strongest(model, long[:20])})
    found = {str(row["score"]): float(row["exact"]) for row in rows}
    return Measured(min(found[kind] for kind in kinds) - found["none"], rows)


def remarks(rows: Sequence[Row]) -> list[str]:
    """The scores in the order of what they reach."""
    found: dict[str, list[float]] = {}
    for row in rows:
        found.setdefault(str(row["score"]), []).append(float(row["exact"]))
    ranked = sorted(found, key=lambda name: -fmean(found[name]))
    listed = ", ".join(f"{name} {fmean(found[name]):.0f} %" for name in ranked)
    said = [
        f"Exact outputs on the longer half of sources: {listed}.",
        "Location attention sees the decoder's state alone: it can learn which place comes next, and cannot "
        "look for anything.",
    ]
    strongest: dict[str, list[float]] = {}
    for row in rows:
        if "strongest" in row:
            strongest.setdefault(str(row["score"]), []).append(float(row["strongest"]))
    if "scaled-dot" in strongest and "dot" in strongest:
        said.append(
            f"States of an LSTM lie between -1 and 1, so that q.k is below the width d, often far below: "
            f"divided by the root of d it stays small and weights stay even. The strongest place has "
            f"{fmean(strongest['scaled-dot']):.0f} % of the weight with scaled-dot, "
            f"{fmean(strongest['dot']):.0f} % with dot."
        )
    return said


EXPERIMENT = Experiment(
    name="scores",
    claim="Whatever compares the states of decoder and source passes the bottleneck: dot, general, additive.",
    where="Berkeley CS182 discussion 7, section 1.1; Stanford CS329P, Attention",
    effect="the points of exact outputs by which the weakest such score beats none on longer sources",
    wanted=10.0,
    measure=measure,
    keys=("score",),
    panels=(Panel("score", "exact", None, "score", "exact outputs on longer sources (%)"),),
    cause="attention",
    remarks=remarks,
)
