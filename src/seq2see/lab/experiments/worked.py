"""The lecture's example of self-attention, worked step by step: three positions of width two."""

import math
from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from seq2see.lab.experiment import Experiment, Measured, Row, Trial
from seq2see.lab.panels import Panel
from seq2see.lab.worked_page import worked_page
from seq2see.layers.attention import harden, normalise

__all__ = ["EXPERIMENT"]

_STATES = ((5, 1), (4, 3), (-2, 6))
_PROJECTIONS = {"q": ((1, 0), (2, 9)), "k": ((0, 1), (6, 0)), "v": ((4, 3), (9, 1))}
_QUERY = 1
"""The position that the lecture works out, from 0."""
_LECTURE = {"scores": (1054, 852, -396), "outputs": (23, 46)}
"""What the lecture gets for it, with argmax."""


def measure(trial: Trial) -> Measured:
    """Every step with the functions of our own layers, beside what the lecture gets by hand."""
    steps = _worked(transposed=trial.control)
    differences = [
        abs(float(found) - wanted) / abs(wanted)
        for name, expected in _LECTURE.items()
        for found, wanted in zip(steps[name][_QUERY], expected, strict=True)
    ]
    rows: list[Row] = [
        {"step": name, "position": str(position), "entry": str(entry), "value": float(value)}
        for name, matrix in steps.items()
        for position, row in enumerate(matrix, 1)
        for entry, value in enumerate(row, 1)
    ]
    return Measured(-math.log10(max(*differences, 1e-16)), rows)


def _worked(transposed: bool) -> dict[str, Tensor]:
    """All steps by name; `transposed` multiplies each projection from the wrong side."""
    states = torch.tensor(_STATES, dtype=torch.float64)  # (S, D)
    steps = {"h": states}
    for name, values in _PROJECTIONS.items():
        weight = torch.tensor(values, dtype=torch.float64)
        steps[name] = states @ (weight if transposed else weight.T)  # a row for each position: q = W h
    scores = steps["q"] @ steps["k"].T  # (S, D) -> (S, S), not scaled
    weights = harden(normalise(scores, None))
    return {**steps, "scores": scores, "weights": weights, "outputs": weights @ steps["v"]}


def remarks(rows: Sequence[Row]) -> list[str]:
    """How near the softmax comes to argmax with numbers as large as these."""
    steps = _matrices(rows)
    first, second = sorted(steps["scores"][_QUERY], reverse=True)[:2]
    below = (first - second) / math.log(10)
    scaled = below / math.sqrt(len(steps["h"][0]))
    return [
        f"A softmax gives nearly the same here: the second largest weight of query {_QUERY + 1} is about "
        f"10^-{below:.0f}, and 10^-{scaled:.0f} if scores are divided by the root of the width. So large a "
        "difference of scores leaves no gradient, which is why scores are scaled and inputs normalised."
    ]


def steps_as_text(rows: Sequence[Row]) -> str:
    """All steps as small matrices, each with the formula that makes it."""
    steps = _matrices(rows)
    weights = {name.upper(): [list(map(float, row)) for row in _PROJECTIONS[name]] for name in "qkv"}
    given = {"h": steps["h"], **{f"W{name.lower()}": matrix for name, matrix in weights.items()}}
    shown = {f"{name} = W{name} h": steps[name] for name in "qkv"}
    last = {
        "scores = q . k": steps["scores"],
        "weights = argmax": steps["weights"],
        "h' = weights v": steps["outputs"],
    }
    return "\n\n".join(_side_by_side(matrices) for matrices in (given, shown, last))


def _side_by_side(matrices: Mapping[str, Sequence[Sequence[float]]]) -> str:
    blocks = []
    for title, matrix in matrices.items():
        wide = max(len(f"{value:g}") for row in matrix for value in row)
        lines = [f"[{'  '.join(f'{value:>{wide}g}' for value in row)}]" for row in matrix]
        width = max(len(title), *map(len, lines))
        blocks.append([line.ljust(width) for line in (title, *lines)])
    tall = max(map(len, blocks))
    filled = [block + [" " * len(block[0])] * (tall - len(block)) for block in blocks]
    return "\n".join("    ".join(line).rstrip() for line in zip(*filled, strict=True))


def _matrices(rows: Sequence[Row]) -> dict[str, list[list[float]]]:
    """The steps again, as they are with the first seed: no seed changes them."""
    found: dict[str, list[list[float]]] = {}
    for row in rows:
        if row.get("seed") == rows[0].get("seed"):
            matrix = found.setdefault(str(row["step"]), [])
            if row["entry"] == "1":
                matrix.append([])
            matrix[-1].append(float(row["value"]))
    return found


EXPERIMENT = Experiment(
    name="worked",
    claim="In the lecture's example, query 2 scores 1054, 852 and -396 and, by argmax, takes v1 = (23, 46).",
    where="Berkeley EECS182 discussion 8, question 2",
    effect="the number of decimal digits to which our steps agree with the lecture (double precision has 16)",
    wanted=10.0,
    measure=measure,
    keys=("step", "position", "entry"),
    panels=(
        Panel("entry", "value", "position", "key", "score q . k", where={"step": "scores"}, by_label="query"),
        Panel("entry", "value", "position", "key", "weight", where={"step": "weights"}, by_label="query"),
    ),
    cause="the right side of the product (each projection is transposed)",
    remarks=remarks,
    as_text=steps_as_text,
    page=worked_page,
)
