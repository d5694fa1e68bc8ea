"""Soft attention sharpens in training: at first its strongest place alone fails, later it is enough."""

from collections.abc import Sequence
from statistics import fmean

from seq2see.lab.experiment import Experiment, Measured, Row, Trial
from seq2see.lab.panels import Panel
from seq2see.lab.training import ALPHABET, backwards, exact, letters, strongest, trained
from seq2see.lens.edits import parse_edit

__all__ = ["EXPERIMENT"]

_TWO = parse_edit("top at=decoder.cross count=2")
_HARD = parse_edit("hard at=decoder.cross")


def measure(trial: Trial) -> Measured:
    """Train softly for few steps and for more; decode with all weights, and with the strongest alone."""
    alphabet = ALPHABET[: trial.pick(4, 8, 26)]
    lengths = range(2, trial.pick(8, 12, 20) + 1)
    file, held = letters(trial, backwards, alphabet, lengths, trial.pick(3000, 12_000, 40_000))
    rate = trial.pick(0.01, 0.005, 0.003)
    settings = [f"model.width={trial.pick(64, 64, 128)}", f"training.learning_rate={rate}"]
    steps = trial.pick((100, 600), (300, 600, 1200), (300, 600, 1200, 2400))
    pairs = held[: trial.pick(100, 300, 500)]
    rows: list[Row] = []
    regained = []
    for score in trial.pick(("dot",), ("additive", "dot"), ("additive", "dot")):
        own = [*settings, f"model.decoder.attention={score}"]
        for count in steps:
            used = steps[0] if trial.control else count
            model = trained(trial, f"{score}-{used}", file, "rnn-attention", used, own)
            soft, two, hard = (exact(model, pairs, edits=edits) for edits in ([], [_TWO], [_HARD]))
            row: Row = {"score": score, "steps": count, "soft": soft, "top 2": two, "hard": hard}
            rows.append({**row, "lost": round(soft - hard, 6), "strongest": strongest(model, pairs[:20])})
        regained.append(float(rows[-len(steps)]["lost"]) - float(rows[-1]["lost"]))
    return Measured(fmean(regained), rows)


def remarks(rows: Sequence[Row]) -> list[str]:
    """What each model does at first and at last."""
    said = ["An argmax has no gradient, so training stays soft; what is tested is decoding."]
    ends = [end(int(row["steps"]) for row in rows) for end in (min, max)]
    for score in dict.fromkeys(row["score"] for row in rows):
        for end in ends:
            found = [row for row in rows if row["score"] == score and row["steps"] == end]
            soft, two, hard, weight = (
                f"{fmean(float(row[column]) for row in found):.0f} %"
                for column in ("soft", "top 2", "hard", "strongest")
            )
            said.append(
                f"With {score} scores after {end} steps, {soft} of outputs are exact, {hard} when the "
                f"strongest place alone is read, {two} with the two strongest; the strongest has {weight} of "
                "the weight."
            )
    return said


EXPERIMENT = Experiment(
    name="hard-attention",
    claim="The longer a model learns, the less an argmax for the softmax costs it: attention sharpens.",
    where="EECS182 discussion 8, question 2, which takes the argmax in place of the softmax",
    effect="the points of exact outputs that the argmax costs less after the longest training than after the "
    "shortest, mean over scores",
    wanted=10.0,
    measure=measure,
    keys=("score", "steps"),
    panels=(
        Panel(
            "steps", "lost", "score", "steps of training", "exact outputs lost by the argmax (points)", True
        ),
        Panel("steps", "strongest", "score", "steps of training", "weight of the strongest place (%)", True),
    ),
    cause="the longer training (all have the shortest)",
    remarks=remarks,
)
