"""Soft attention mixes several places: its strongest place alone does not do as well."""

from collections.abc import Sequence
from statistics import fmean

from seq2see.lab.experiment import Experiment, Measured, Row, Trial
from seq2see.lab.panels import Panel
from seq2see.lab.training import ALPHABET, backwards, exact, letters, trained
from seq2see.lens.edits import parse_edit

__all__ = ["EXPERIMENT"]

_EDITS = {
    "top 3": "top at=decoder.cross count=3",
    "top 2": "top at=decoder.cross count=2",
    "hard": "hard at=decoder.cross",
}
_TEMPERATURES = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)


def measure(trial: Trial) -> Measured:
    """Train with soft attention; decode with all of it, and with the strongest place alone."""
    alphabet = ALPHABET[: trial.pick(4, 8, 26)]
    lengths = range(2, trial.pick(8, 12, 20) + 1)
    file, held = letters(trial, backwards, alphabet, lengths, trial.pick(3000, 12_000, 40_000))
    rate = trial.pick(0.02, 0.005, 0.003)
    settings = [f"model.width={trial.pick(32, 64, 128)}", f"training.learning_rate={rate}"]
    model = trained(trial, "model", file, "rnn-attention", trial.pick(100, 800, 2500), settings)
    pairs = held[: trial.pick(100, 300, 500)]
    soft = exact(model, pairs)
    rows: list[Row] = [{"attention": "soft", "exact": soft}]
    for name, edit in _EDITS.items():
        changed = soft if trial.control else exact(model, pairs, edits=[parse_edit(edit)])
        rows.append({"attention": name, "exact": changed})
    for value in trial.pick(_TEMPERATURES[:1], _TEMPERATURES, _TEMPERATURES):
        tempered = parse_edit(f"temperature at=decoder.cross value={value}")
        rows.append({"temperature": value, "exact": exact(model, pairs, edits=[tempered])})
    hard = next(float(row["exact"]) for row in rows if row.get("attention") == "hard")
    return Measured(soft - hard, rows)


def remarks(rows: Sequence[Row]) -> list[str]:
    """How flat attention may become before outputs fall apart."""
    found: dict[float, list[float]] = {}
    for row in rows:
        if "temperature" in row:
            found.setdefault(float(row["temperature"]), []).append(float(row["exact"]))
    flattest = max(found)
    two = fmean(float(row["exact"]) for row in rows if row.get("attention") == "top 2")
    return [
        "An argmax has no gradient, so training stays soft; what is tested is decoding.",
        f"With the two strongest places, {two:.0f} % are exact.",
        f"Attention flatter by a temperature of {flattest:g} leaves {fmean(found[flattest]):.0f} % exact.",
    ]


EXPERIMENT = Experiment(
    name="hard-attention",
    claim="A model trained with soft attention mixes several places: the strongest alone is not enough.",
    where="EECS182 discussion 8, question 2, which takes the argmax in place of the softmax",
    effect="the points of exact outputs that are lost when only the strongest place is read",
    wanted=10.0,
    measure=measure,
    keys=("attention", "temperature"),
    panels=(
        Panel("attention", "exact", None, "attention when decoding", "exact outputs (%)"),
        Panel(
            "temperature", "exact", None, "temperature of the weights", "exact outputs (%)", log_across=True
        ),
    ),
    cause="the argmax (all weights stay soft)",
    remarks=remarks,
)
