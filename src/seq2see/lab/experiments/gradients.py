"""Gradients through many layers and through time: what residuals, norms and gates do for them."""

import math
from collections.abc import Sequence
from statistics import fmean

import torch
from torch import Tensor, nn

from seq2see.lab.experiment import Experiment, Measured, Row, Trial
from seq2see.lab.measuring import encode, encoder
from seq2see.lab.panels import Panel
from seq2see.layers.recurrence import RecurrentLayer

__all__ = ["EXPERIMENT"]

_WIDTH, _ROWS = 64, 32
_UNITS = (
    ("layers", "layers"),
    ("ResNet", "convolutions"),
    ("Transformer", "Transformer layers"),
    ("time", "steps of time"),
)
_NETS = {
    "plain": (False, False),
    "norm": (False, True),
    "residual": (True, False),
    "residual + norm": (True, True),
}
"""Whether each kind of net has residuals and norms."""


class Net(nn.Module):
    """Layers of `x + relu(W norm(x))`, of which residual and norm may be left out."""

    def __init__(self, depth: int, residual: bool, norm: bool) -> None:
        super().__init__()
        self.residual = residual
        self.layers = nn.ModuleList(nn.Linear(_WIDTH, _WIDTH) for _ in range(depth))
        self.norms = nn.ModuleList(nn.LayerNorm(_WIDTH) if norm else nn.Identity() for _ in range(depth))

    def forward(self, states: Tensor) -> Tensor:
        """States of the same shape."""
        for layer, norm in zip(self.layers, self.norms, strict=True):
            inner = layer(norm(states)).relu()
            states = states + inner if self.residual else inner
        return states


def measure(trial: Trial) -> Measured:
    """The gradient at the first layer by that at the last, as a power of ten."""
    depths = trial.pick((2, 16), (2, 8, 32), (2, 4, 8, 16, 32, 64))
    rows: list[Row] = []
    lost = {}
    for depth in depths:
        for name, (residual, norm) in _NETS.items():
            lost[name, depth] = _through_layers(Net(depth, residual and not trial.control, norm))
            rows.append({"part": "layers", "net": name, "depth": depth, "powers": lost[name, depth]})
        for name in ("plain", "residual"):
            residual = name == "residual" and not trial.control
            rows.append({"part": "ResNet", "net": name, "depth": depth, "powers": _resnet(depth, residual)})
        for name, place in (("post-norm", "after"), ("pre-norm", "before")):
            rows.append(
                {"part": "Transformer", "net": name, "depth": depth, "powers": _transformer(depth, place)}
            )
    for steps in trial.pick((4, 16), (4, 16, 64), (4, 8, 16, 32, 64, 128)):
        for cell in ("tanh", "gru", "lstm"):
            rows.append({"part": "time", "net": cell, "depth": steps, "powers": _through_time(cell, steps)})
    deepest = depths[-1]
    return Measured(abs(lost["plain", deepest]) - abs(lost["residual", deepest]), rows)


def _through_layers(net: Net) -> float:
    net(torch.randn(_ROWS, _WIDTH)).square().mean().backward()
    first, last = (_size(net.get_parameter(f"layers.{place}.weight")) for place in (0, len(net.layers) - 1))
    return _powers(first, last)


def _resnet(depth: int, residual: bool) -> float:
    """Blocks of two convolutions each, with batch norm."""
    network = encoder("resnet", 8, widths=(8,), depths=(depth // 2,), residual=residual).train()
    network(torch.randn(8, 8, 8, 8), torch.ones(8, 64, dtype=torch.bool)).states.square().mean().backward()
    name = "stages.0.{}.layers.0.convolution.weight"
    weights = [network.get_parameter(name.format(block)) for block in (0, depth // 2 - 1)]
    return _powers(*map(_size, weights))


def _transformer(depth: int, place: str) -> float:
    network = encoder("transformer", _WIDTH, depth, heads=4, feedforward=128, norm=place, positions="none")
    wanted = torch.randn(4, 8, _WIDTH)
    (encode(network, torch.randn(4, 8, _WIDTH)) - wanted).square().mean().backward()
    blocks = network.get_submodule("blocks")
    weights = [
        blocks.get_submodule(str(block)).get_parameter("attention.value.weight") for block in (0, depth - 1)
    ]
    return _powers(*map(_size, weights))


def _through_time(cell: str, steps: int) -> float:
    layer = RecurrentLayer(cell, _WIDTH, _WIDTH)  # type: ignore[arg-type]
    inputs = torch.randn(_ROWS, steps, _WIDTH, requires_grad=True)
    output = layer(inputs, layer.start(inputs))[:, -1]
    (gradient,) = torch.autograd.grad(output.square().mean(), inputs)
    return _powers(_norm(gradient[:, 0]), _norm(gradient[:, -1]))


def _size(weight: Tensor) -> float:
    assert weight.grad is not None
    return _norm(weight.grad)


def _norm(gradient: Tensor) -> float:
    """The length of a gradient; in 32 bits the squares of small numbers would be zero."""
    return float(gradient.double().norm())


def _powers(first: float, last: float) -> float:
    """The first by the second as a power of ten; what is too small for a number counts as 10 ** -45."""
    return math.log10(max(first, 1e-45)) - math.log10(max(last, 1e-45))


def remarks(rows: Sequence[Row]) -> list[str]:
    """The deepest nets and the longest times, kind by kind."""
    said = []
    for part, unit in _UNITS:
        own = [row for row in rows if row["part"] == part]
        deepest = max(int(row["depth"]) for row in own)
        kinds: dict[str, list[float]] = {}
        for row in own:
            if row["depth"] == deepest:
                kinds.setdefault(str(row["net"]), []).append(float(row["powers"]))
        parts = ", ".join(f"{name} 10^{fmean(found):.1f}" for name, found in kinds.items())
        said.append(f"The first gradient by the last after {deepest} {unit}: {parts}.")
    return said


_UP = "first gradient / last (powers of ten)"
EXPERIMENT = Experiment(
    name="gradients",
    claim="Without residuals the gradient vanishes or explodes with depth; with them it arrives.",
    where="Berkeley CS189, residual networks",
    effect="the powers of ten by which the gradient of a plain net is further off at the greatest depth",
    wanted=1.0,
    measure=measure,
    keys=("part", "net", "depth"),
    panels=tuple(
        Panel("depth", "powers", "net", across, _UP, True, False, {"part": part}, 0.0, "arrives whole", title)
        for part, across, title in (
            ("layers", "layers", "fully connected"),
            ("ResNet", "convolutions", "ResNet, batch norm"),
            ("Transformer", "layers", "Transformer"),
            ("time", "steps", "through time"),
        )
    ),
    cause="the residuals",
    remarks=remarks,
)
