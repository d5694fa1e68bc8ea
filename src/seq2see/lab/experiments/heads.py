"""One head against several at the same width, and what each head is worth."""

from collections.abc import Sequence
from statistics import fmean

from seq2see.lab.experiment import Experiment, Measured, Row, Trial
from seq2see.lab.head_effects import weigh_heads
from seq2see.lab.panels import Panel
from seq2see.lab.training import accuracy, letters, trained

__all__ = ["EXPERIMENT"]


_NEAR = (-2, -1, 1, 2)


def measure(trial: Trial) -> Measured:
    """Train one layer with each number of heads to name the four neighbours of every letter, in order."""
    alphabet = "abcd"[: trial.pick(2, 3, 4)]
    file, held = letters(
        trial, _neighbours, alphabet, range(3, 9), trial.pick(3000, 3000, 12_000), between=" "
    )
    pairs = held[: trial.pick(100, 300, 500)]
    counts = trial.pick((1, 4), (1, 2, 4, 8), (1, 2, 4, 8))
    settings = ["model.width=32", "model.front.kind=tokens", "text.source.kind=words"]
    settings += ["model.encoder.layers=1", "model.encoder.feedforward=64", "model.encoder.positions=rotary"]
    settings += ["model.head.dropout=0", "training.learning_rate=0.01", "training.warmup=30"]
    rows: list[Row] = []
    for heads in counts:
        used = 1 if trial.control else heads
        model = trained(
            trial,
            f"{used}-heads",
            file,
            "tagger-transformer",
            trial.pick(150, 300, 600),
            [*settings, f"model.encoder.heads={used}"],
            goal="tag",
        )
        rows.append({"part": "heads", "heads": heads, "right": accuracy(model, pairs)})
        if heads == 4:
            weighed = weigh_heads(model, pairs, most=trial.pick(10, 100, 100))
            for place, (_, _, change) in enumerate(weighed.ranked, 1):
                rows.append({"part": "removed", "rank": place, "lost": -change})
    found = {int(row["heads"]): float(row["right"]) for row in rows if row["part"] == "heads"}
    return Measured(found[4] - found[1], rows)


def _neighbours(text: str) -> str:
    """For each letter the two before it and the two behind it, with dots past the ends."""
    padded = ["."] * 2 + text.split() + ["."] * 2
    return " ".join("".join(padded[at + near] for near in _NEAR) for at in range(2, len(padded) - 2))


def remarks(rows: Sequence[Row]) -> list[str]:
    """What the most and the least important head are worth."""
    lost: dict[int, list[float]] = {}
    for row in rows:
        if row["part"] == "removed":
            lost.setdefault(int(row["rank"]), []).append(float(row["lost"]))
    most, least = fmean(lost[min(lost)]), fmean(lost[max(lost)])
    return [
        "An average of four places does not say which letter stands where: one head has to tell them apart "
        "by how much weight each gets, and learns that more slowly.",
        f"Of four heads the one that is worth most costs {most:.0f} points when it is switched off, "
        f"the one that is worth least {least:.0f}.",
    ]


EXPERIMENT = Experiment(
    name="heads",
    claim="Several heads do more than one of the same width, where an output needs several places at once.",
    where="Berkeley CS182 discussion 7, section 2.2, and Machine Translation, question 2",
    effect="the points of right answers that four heads add to one",
    wanted=5.0,
    measure=measure,
    keys=("part", "heads", "rank"),
    panels=(
        Panel("heads", "right", None, "heads (same width)", "answers right (%)", log_across=True),
        Panel("rank", "lost", None, "heads by what they are worth", "points lost when one of four is off"),
    ),
    cause="the number of heads (all have one)",
    remarks=remarks,
)
