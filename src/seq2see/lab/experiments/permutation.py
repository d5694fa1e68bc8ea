"""Without positions, self-attention does not see the order of its input."""

import math
from collections.abc import Callable, Sequence
from statistics import fmean

import torch

from seq2see.lab.experiment import Experiment, Measured, Row, Trial
from seq2see.lab.measuring import encode, encoder
from seq2see.lab.panels import Panel
from seq2see.lab.training import backwards, exact, letters, trained
from seq2see.layers.positions import sinusoidal

__all__ = ["EXPERIMENT"]

_WIDTH = 64
_TASKS: dict[str, Callable[[str], str]] = {
    "sort": lambda word: "".join(sorted(word)),
    "reverse": backwards,
}


def measure(trial: Trial) -> Measured:
    """Permute the input of an encoder, and see whether its output is the same in another order."""
    rows: list[Row] = []
    lengths = trial.pick((4, 16), (4, 16, 64), (4, 16, 64, 256))
    differences = {}
    for length in lengths:
        for name in ("no positions", "sine positions"):
            positions = name == "sine positions" or trial.control
            differences[name, length] = _difference(length, positions)
            digits = -math.log10(max(differences[name, length], 1e-17))
            rows.append({"part": "equivariance", "model": name, "length": length, "digits": digits})
    for task, change in _TASKS.items():
        file, held = letters(trial, change, "abcdefgh", range(2, 11), trial.pick(600, 12_000, 12_000))
        for name, kind in (("no positions", "none"), ("sine positions", "sinusoidal")):
            kind = "sinusoidal" if trial.control else kind
            settings = [f"model.encoder.positions={kind}", "model.decoder.positions=sinusoidal"]
            settings += ["model.width=64", "training.learning_rate=0.003", "training.warmup=50"]
            steps = trial.pick(5, 600, 2000)
            model = trained(trial, f"{task}-{kind}", file, "transformer-tiny", steps, settings)
            right = exact(model, held[: trial.pick(20, 300, 300)])
            rows.append({"part": "task", "model": name, "task": task, "exact": right})
    worst = max(differences["no positions", length] for length in lengths)
    return Measured(-math.log10(max(worst, 1e-17)), rows)


def _difference(length: int, positions: bool) -> float:
    """The largest difference of an output when inputs change places, in double precision."""
    network = encoder("transformer", _WIDTH, layers=2, heads=4, positions="none").double()
    states = torch.randn(1, length, _WIDTH, dtype=torch.float64)
    order = torch.randperm(length)
    if bool((order == torch.arange(length)).all()):
        order = order.flip(0)
    added = sinusoidal(torch.arange(length), _WIDTH).double() if positions else 0.0
    with torch.no_grad():
        straight, permuted = encode(network, states + added), encode(network, states[:, order] + added)
    return float((straight[:, order] - permuted).abs().max() / straight.abs().max())


def remarks(rows: Sequence[Row]) -> list[str]:
    """What a task that needs the order loses, and one that does not."""
    said = []
    for task in _TASKS:
        found = {
            name: [float(row["exact"]) for row in rows if row.get("task") == task and row["model"] == name]
            for name in ("no positions", "sine positions")
        }
        without, positions = (fmean(found[name]) for name in ("no positions", "sine positions"))
        said.append(
            f"To {task} words comes out exact in {without:.0f} % without positions in the encoder, "
            f"{positions:.0f} % with them."
        )
    return said


EXPERIMENT = Experiment(
    name="permutation",
    claim="Without positions, self-attention cannot see order: permuted inputs give permuted outputs.",
    where="Berkeley EECS182 discussion 8, question 1(e); IIT CS60010, positional encoding",
    effect="the number of decimal digits to which both agree (double precision has 16)",
    wanted=10.0,
    measure=measure,
    keys=("part", "model", "task", "length"),
    panels=(
        Panel("length", "digits", "model", "sequence length", "digits that agree", log_across=True),
        Panel("task", "exact", "model", "task", "exact outputs (%)"),
    ),
    cause="the lack of positions",
    remarks=remarks,
)
