"""How a Transformer learns where a token stands, within and past the lengths that it was trained on."""

from collections.abc import Sequence
from statistics import fmean

import torch

from seq2see.lab.experiment import Experiment, Measured, Row, Trial
from seq2see.lab.panels import Panel
from seq2see.lab.training import ALPHABET, backwards, exact, letters, trained
from seq2see.layers.positions import sinusoidal

__all__ = ["EXPERIMENT"]

_KINDS = {
    "none": ("none", False),
    "one-hot": ("one-hot", True),
    "sine, added": ("sinusoidal", False),
    "sine, joined": ("sinusoidal", True),
    "learned": ("learned", False),
    "rotary": ("rotary", False),
}
"""The setting of each, and whether positions are joined to the embedding instead of added."""
_WIDTH = 64


def measure(trial: Trial) -> Measured:
    """Train a small Transformer with each kind; ask for trained lengths and for longer ones."""
    longest = trial.pick(5, 10, 12)
    alphabet = ALPHABET[: trial.pick(3, 8, 12)]
    count = trial.pick(1500, 12_000, 40_000)
    file, held = letters(trial, backwards, alphabet, range(2, longest + 1), count)
    _, longer = letters(trial, backwards, alphabet, range(longest + 1, longest + 5), 2000)
    kinds = trial.pick(("none", "sine, added"), tuple(_KINDS), tuple(_KINDS))
    rows: list[Row] = []
    for name in kinds:
        kind, join = _KINDS["none" if trial.control else name]
        settings = [f"model.width={trial.pick(32, 64, 64)}", "model.max_length=64", "data.max_length=60"]
        for side in ("encoder", "decoder"):
            settings += [f"model.{side}.positions={kind}", f"model.{side}.join_positions={str(join).lower()}"]
            settings += [f"model.{side}.layers={trial.pick(1, 2, 2)}", f"model.{side}.feedforward=128"]
        settings += [f"training.learning_rate={trial.pick(0.01, 0.003, 0.002)}", "training.warmup=50"]
        used = f"{kind}-{join}"
        model = trained(trial, used, file, "transformer-tiny", trial.pick(150, 1000, 3000), settings)
        rows += [
            {"part": "task", "positions": name, "lengths": lengths, "exact": exact(model, pairs[:300])}
            for lengths, pairs in (("trained", held), ("longer", longer))
        ]
    table = sinusoidal(torch.arange(65), _WIDTH)
    for distance in (1, 2, 4, 8, 16, 32, 64):
        near = float(table[0] @ table[distance] / (_WIDTH / 2))
        rows.append({"part": "nearness", "distance": distance, "product": near})
    found = {row["positions"]: float(row["exact"]) for row in rows if row.get("lengths") == "trained"}
    return Measured(found["sine, added"] - found["none"], rows)


def remarks(rows: Sequence[Row]) -> list[str]:
    """Which kinds go on past the trained length, and that near sine vectors are alike."""
    found: dict[str, list[float]] = {}
    for row in rows:
        if row.get("lengths") == "longer":
            found.setdefault(str(row["positions"]), []).append(float(row["exact"]))
    listed = ", ".join(f"{name} {fmean(values):.0f} %" for name, values in found.items())
    products = [float(row["product"]) for row in rows if row["part"] == "nearness"]
    return [
        f"Exact outputs on sources one to four letters longer than any in training: {listed}.",
        f"The product of sine vectors falls from {products[0]:.2f} at a distance of 1 to "
        f"{products[-1]:.2f} at 64.",
    ]


EXPERIMENT = Experiment(
    name="positions",
    claim="A Transformer needs positions for tasks in which order matters.",
    where="EECS182 discussion 8, question 1(e); IIT CS60010, positional encoding",
    effect="the points of exact outputs that sine positions add",
    wanted=20.0,
    measure=measure,
    keys=("part", "positions", "lengths", "distance"),
    panels=(
        Panel("positions", "exact", "lengths", "positions", "exact outputs (%)"),
        Panel(
            "distance", "product", None, "distance of two positions", "product of their sine vectors", True
        ),
    ),
    cause="the positions",
    remarks=remarks,
)
