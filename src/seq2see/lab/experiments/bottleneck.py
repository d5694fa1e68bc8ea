"""Without attention, all of the source passes through one vector: long sources suffer."""

from collections.abc import Sequence
from statistics import fmean

from seq2see.lab.experiment import Experiment, Measured, Row, Trial
from seq2see.lab.panels import Panel
from seq2see.lab.training import ALPHABET, backwards, exact, letters, trained

__all__ = ["EXPERIMENT"]

_MODELS = {"without attention": "rnn", "with attention": "rnn-attention"}


def measure(trial: Trial) -> Measured:
    """Train the same recurrent model with and without attention to turn words around."""
    longest = trial.pick(8, 16, 24)
    alphabet = ALPHABET[: trial.pick(4, 8, 26)]
    file, held = letters(trial, backwards, alphabet, range(3, longest + 1), trial.pick(3000, 12_000, 40_000))
    settings = [
        f"model.width={trial.pick(32, 64, 128)}",
        f"training.learning_rate={trial.pick(0.02, 0.005, 0.003)}",
    ]
    rows: list[Row] = []
    for name, preset in _MODELS.items():
        used = "rnn" if trial.control else preset
        model = trained(trial, used, file, used, trial.pick(100, 800, 2500), settings)
        for length in range(3, longest + 1, 2):
            pairs = [pair for pair in held if len(pair.source) in (length, length + 1)][:200]
            if pairs:
                rows.append({"model": name, "length": length, "exact": exact(model, pairs)})
    long = {
        name: fmean(
            float(row["exact"]) for row in rows if row["model"] == name and float(row["length"]) > longest / 2
        )
        for name in _MODELS
    }
    return Measured(long["with attention"] - long["without attention"], rows)


def remarks(rows: Sequence[Row]) -> list[str]:
    """How much each model loses from the shortest to the longest sources."""
    lengths = sorted({int(row["length"]) for row in rows})
    said = []
    for name in _MODELS:
        ends = [
            fmean(float(row["exact"]) for row in rows if row["model"] == name and row["length"] == length)
            for length in (lengths[0], lengths[-1])
        ]
        said.append(
            f"Exact outputs {name}: {ends[0]:.0f} % of the shortest sources ({lengths[0]} letters), "
            f"{ends[1]:.0f} % of the longest ({lengths[-1]} or more)."
        )
    return said


EXPERIMENT = Experiment(
    name="bottleneck",
    claim="Without attention a recurrent model loses long sources; with attention it keeps them.",
    where="Berkeley CS182 discussion 7, section 1; EECS182 discussion 8, question 1(b)",
    effect="the points of exact outputs that attention adds on the longer half of sources",
    wanted=10.0,
    measure=measure,
    keys=("model", "length"),
    panels=(Panel("length", "exact", "model", "source length (letters)", "exact outputs (%)"),),
    cause="attention",
    remarks=remarks,
)
