"""What a layer of convolution, recurrence and self-attention costs, against length and width."""

import time
from collections.abc import Callable, Sequence
from statistics import fmean, median

import torch
from torch import Tensor, nn

from seq2see.lab.experiment import Experiment, Measured, Row, Trial
from seq2see.lab.measuring import arithmetic, exponent
from seq2see.lab.panels import Panel
from seq2see.layers.attention import plain_attention
from seq2see.layers.convolution import Convolution
from seq2see.layers.recurrence import RecurrentLayer

__all__ = ["EXPERIMENT"]

_KERNEL = 3
_WIDTH, _LENGTH = 64, 256
"""What stays as it is while the other is varied."""
_WINDOW = 16
"""Without pairs of all positions, each sees the others of its window."""
Work = Callable[[Tensor], Tensor]


def measure(trial: Trial) -> Measured:
    """Count the arithmetic of a layer, and take its time, at several lengths and widths."""
    lengths = trial.pick((16, 64), (64, 256, 1024), (64, 128, 256, 512, 1024, 2048))
    widths = trial.pick((8, 32), (16, 64, 256), (16, 32, 64, 128, 256, 512))
    rows: list[Row] = []
    for varied, sizes in (("length", lengths), ("width", widths)):
        for size in sizes:
            length, width = (size, _WIDTH) if varied == "length" else (_LENGTH, size)
            for name, layer in _layers(width, trial.control).items():
                rows.append({"varied": varied, "size": size, "layer": name, **_cost(layer, length, width)})
    grown = {name: _exponent(rows, "length", name, "operations") for name in _layers(2, trial.control)}
    return Measured(grown["self-attention"] - grown["recurrence"], rows)


def _layers(width: int, local: bool) -> dict[str, Work]:
    """One layer of each kind without anything around it, as the table of the lecture counts them."""
    fold, recur = Convolution(width, _KERNEL), RecurrentLayer("tanh", width, width)

    def convolve(states: Tensor) -> Tensor:
        return fold(states, torch.ones(states.shape[:2], dtype=torch.bool))  # type: ignore[no-any-return]

    def recurrence(states: Tensor) -> Tensor:
        state, outputs = recur.start(states), []
        for step in states.unbind(1):
            output, state = recur.step(step, state)
            outputs.append(output)
        return torch.stack(outputs, 1)

    def attend(states: Tensor) -> Tensor:
        if local:
            states = states.unflatten(1, (-1, _WINDOW)).flatten(0, 1)
        return plain_attention(states[:, None], states[:, None], states[:, None], None)[0]

    return {"convolution": convolve, "recurrence": recurrence, "self-attention": attend}


def _cost(layer: Work, length: int, width: int) -> dict[str, float]:
    states = torch.randn(1, length, width)
    with torch.no_grad():
        layer(states)
        times = []
        for _ in range(3):
            began = time.perf_counter()
            layer(states)
            times.append(time.perf_counter() - began)
        operations = arithmetic(lambda: layer(states))
    return {"operations": operations, "kept": _kept(layer, states), "milliseconds": 1000 * median(times)}


def _kept(layer: Work, states: Tensor) -> int:
    """Numbers that a layer keeps for its gradient, each tensor counted once."""
    kept: dict[int, int] = {}

    def keep(tensor: Tensor) -> Tensor:
        if not isinstance(tensor, nn.Parameter):
            kept[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage().nbytes() // 4
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        held = layer(states.clone().requires_grad_())
    assert held.grad_fn is not None, "what is kept lives as long as the output"
    return sum(kept.values())


def _exponent(rows: Sequence[Row], varied: str, layer: str, column: str) -> float:
    own = [row for row in rows if row["varied"] == varied and row["layer"] == layer]
    sizes = sorted({float(row["size"]) for row in own})
    return exponent(
        sizes, [fmean(float(row[column]) for row in own if row["size"] == size) for size in sizes]
    )


def remarks(rows: Sequence[Row]) -> list[str]:
    """Fitted exponents beside the table of the lecture, and where self-attention becomes the dearer one."""
    said = {"convolution": (1, 2), "recurrence": (1, 2), "self-attention": (2, 1)}
    sentences = []
    for layer, expected in said.items():
        parts = [
            f"{_exponent(rows, varied, layer, 'operations'):.2f} in the {varied} (table: {power})"
            for varied, power in zip(("length", "width"), expected, strict=True)
        ]
        sentences.append(f"Arithmetic of {layer} grows with the power {' and '.join(parts)}.")
    by_length = [row for row in rows if row["varied"] == "length"]
    for size in sorted({int(row["size"]) for row in by_length}):
        costs = {row["layer"]: float(row["operations"]) for row in by_length if row["size"] == size}
        if costs["self-attention"] >= costs["recurrence"]:
            sentences.append(
                f"At width {_WIDTH}, self-attention costs as much arithmetic as recurrence from n = {size}."
            )
            break
    return sentences


_PANELS = {
    "operations": "operations of a layer",
    "kept": "numbers kept for the gradient",
    "milliseconds": "milliseconds",
}
EXPERIMENT = Experiment(
    name="cost",
    claim="Self-attention costs the square of the length, convolution and recurrence the length itself.",
    where="Stanford CS329P, Compare self-attention with CNN and RNN",
    effect="the power of the length by which self-attention grows faster than recurrence",
    wanted=0.5,
    measure=measure,
    keys=("varied", "layer", "size"),
    panels=(
        *(
            Panel(
                "size", column, "layer", f"length n (width {_WIDTH})", label, True, True, {"varied": "length"}
            )
            for column, label in _PANELS.items()
        ),
        Panel(
            "size",
            "operations",
            "layer",
            f"width d (length {_LENGTH})",
            _PANELS["operations"],
            True,
            True,
            {"varied": "width"},
        ),
    ),
    cause="attention to every other position (each sees only a window)",
    remarks=remarks,
    timed=frozenset({"milliseconds"}),
)
