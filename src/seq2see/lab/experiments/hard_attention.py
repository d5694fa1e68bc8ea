"""Soft attention is needed to learn; afterwards its strongest place alone often does as well."""

from collections.abc import Sequence
from statistics import fmean

from seq2see.lab.experiment import Experiment, Measured, Row, Trial
from seq2see.lab.panels import Panel
from seq2see.lab.training import exact, letters, trained
from seq2see.lens.edits import parse_edit

__all__ = ["EXPERIMENT"]

_TEMPERATURES = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)


def measure(trial: Trial) -> Measured:
    """Train with soft attention; decode with all of it, and with the strongest place alone."""
    alphabet = "abcdefghijklmnopqrstuvwxyz"[: trial.pick(4, 8, 26)]
    lengths = range(2, trial.pick(8, 12, 20) + 1)
    file, held = letters(trial, lambda word: word[::-1], alphabet, lengths, trial.pick(3000, 12_000, 40_000))
    rate = trial.pick(0.01, 0.005, 0.003)
    settings = [f"model.width={trial.pick(32, 64, 128)}", f"training.learning_rate={rate}"]
    model = trained(trial, "model", file, "rnn-attention", trial.pick(200, 800, 2500), settings)
    pairs = held[: trial.pick(100, 300, 500)]
    places = "off at=decoder.cross how=first" if trial.control else "hard at=decoder.cross"
    soft, hard = exact(model, pairs), exact(model, pairs, edits=[parse_edit(places)])
    rows: list[Row] = [{"attention": "soft", "exact": soft}, {"attention": "hard", "exact": hard}]
    for value in _TEMPERATURES if trial.size != "tiny" else ():
        tempered = parse_edit(f"temperature at=decoder.cross value={value}")
        rows.append({"temperature": value, "exact": exact(model, pairs, edits=[tempered])})
    return Measured(100 * hard / max(soft, 1e-9), rows)


def remarks(rows: Sequence[Row]) -> list[str]:
    """How flat attention may become before outputs fall apart."""
    found: dict[float, list[float]] = {}
    for row in rows:
        if "temperature" in row:
            found.setdefault(float(row["temperature"]), []).append(float(row["exact"]))
    if not found:
        return []
    flattest = max(found)
    return [
        "An argmax has no gradient, so training stays soft; what is tested is decoding.",
        f"Attention flatter by a temperature of {flattest:g} leaves {fmean(found[flattest]):.0f} % exact.",
    ]


EXPERIMENT = Experiment(
    name="hard-attention",
    claim="After training with soft attention, looking at the strongest place alone does nearly as well.",
    where="Berkeley CS182 discussion 7, section 1; Stanford CS329P, Attention",
    effect="the share of exact outputs that hard attention keeps, in percent,",
    wanted=80.0,
    measure=measure,
    keys=("attention", "temperature"),
    panels=(
        Panel("attention", "exact", None, "attention when decoding", "exact outputs (%)"),
        Panel(
            "temperature", "exact", None, "temperature of the weights", "exact outputs (%)", log_across=True
        ),
    ),
    cause="that the strongest place is the one looked at (it is the first one)",
    remarks=remarks,
)
