"""One head against several at the same width, and what each head is worth."""

from collections.abc import Sequence
from statistics import fmean

from seq2see.lab.experiment import Experiment, Measured, Row, Trial
from seq2see.lab.head_effects import weigh_heads
from seq2see.lab.panels import Panel
from seq2see.lab.training import exact, letters, trained

__all__ = ["EXPERIMENT"]


def measure(trial: Trial) -> Measured:
    """Train one layer with each number of heads on a task in which every output needs two places."""
    alphabet = "abcdefgh"[: trial.pick(4, 4, 5)]
    lengths = range(3, trial.pick(7, 7, 8))
    file, held = letters(trial, _marked, alphabet, lengths, trial.pick(3000, 3000, 6000))
    pairs = held[: trial.pick(100, 300, 500)]
    rows: list[Row] = []
    counts = trial.pick((1, 4), (1, 2, 4, 8), (1, 2, 4, 8))
    for heads in counts:
        used = 1 if trial.control else heads
        settings = [
            "model.width=32",
            "training.learning_rate=0.01",
        ]
        for side in ("encoder", "decoder"):
            settings += [
                f"model.{side}.heads={used}",
                f"model.{side}.layers=1",
                f"model.{side}.feedforward=64",
            ]
        settings += [
            "model.encoder.positions=sinusoidal",
            "model.decoder.positions=sinusoidal",
            "training.warmup=30",
        ]
        model = trained(trial, f"{used}-heads", file, "transformer-tiny", trial.pick(300, 220, 300), settings)
        rows.append({"part": "heads", "heads": heads, "exact": exact(model, pairs)})
    if trial.size != "tiny":
        weighed = weigh_heads(model, pairs, most=100, metric="exact")
        for place, (_, _, change) in enumerate(weighed.ranked, 1):
            rows.append({"part": "removed", "rank": place, "lost": -change})
    found = {int(row["heads"]): float(row["exact"]) for row in rows if row["part"] == "heads"}
    return Measured(max(found[count] for count in counts[1:]) - found[1], rows)


def _marked(word: str) -> str:
    """The word with capitals where a letter is that of the end: each output needs two places at once."""
    return "".join(letter.upper() if letter == word[-1] else letter for letter in word)


def remarks(rows: Sequence[Row]) -> list[str]:
    """What the most and the least important head are worth."""
    lost: dict[int, list[float]] = {}
    for row in rows:
        if row["part"] == "removed":
            lost.setdefault(int(row["rank"]), []).append(float(row["lost"]))
    if not lost:
        return []
    most, least = fmean(lost[min(lost)]), fmean(lost[max(lost)])
    return [
        f"With the most heads, switching one off costs {most:.0f} points at most, and {least:.0f} at least."
    ]


EXPERIMENT = Experiment(
    name="heads",
    claim="Several heads do more than one of the same width, where an output needs several places at once.",
    where="Berkeley CS182 discussion 7, section 2.2, and Machine Translation, question 2",
    effect="the points of exact outputs that the best number of heads adds to one",
    wanted=5.0,
    measure=measure,
    keys=("part", "heads", "rank"),
    panels=(
        Panel("heads", "exact", None, "heads (same width)", "exact outputs (%)", log_across=True),
        Panel("rank", "lost", None, "heads by what they are worth", "points lost when switched off"),
    ),
    cause="the number of heads (all have one)",
    remarks=remarks,
)
