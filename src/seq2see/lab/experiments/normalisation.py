"""Batch norm looks at the whole batch, layer norm at one position: small batches tell them apart."""

from collections.abc import Sequence
from statistics import fmean

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from seq2see.lab.experiment import Experiment, Measured, Row, Trial
from seq2see.lab.panels import Panel

__all__ = ["EXPERIMENT"]

_WIDTH, _CLASSES, _NOISE = 32, 4, 0.9
_NORMS = ("batch norm", "layer norm")


def measure(trial: Trial) -> Measured:
    """How much a row's output depends on its companions and on padding, and what training makes of it."""
    rows: list[Row] = []
    sizes = trial.pick((2, 32), (2, 8, 32, 128), (2, 4, 8, 16, 32, 64, 128))
    changes = {}
    for name in _NORMS:
        used = "layer norm" if trial.control else name
        for size in sizes:
            changes[name, size] = fmean(_companions(_norm(used), size) for _ in range(20))
            rows.append({"part": "companions", "norm": name, "size": size, "change": changes[name, size]})
            steps = trial.pick(5, 6400, 25_600) // size
            rows.append(
                {"part": "training", "norm": name, "size": size, "accuracy": _accuracy(used, size, steps)}
            )
        for share in (0, 25, 50, 75):
            change = fmean(_padding(_norm(used), share / 100) for _ in range(10))
            rows.append({"part": "padding", "norm": name, "share": share, "change": change})
    return Measured(100 * (changes["batch norm", 2] - changes["layer norm", 2]), rows)


def _norm(name: str) -> nn.Module:
    return nn.BatchNorm1d(_WIDTH) if name == "batch norm" else nn.LayerNorm(_WIDTH)


def _companions(norm: nn.Module, size: int) -> float:
    """How much the first row's output changes, relative to its size, when all other rows are others."""
    batch = torch.randn(size, _WIDTH)
    others = torch.cat([batch[:1], torch.randn(size - 1, _WIDTH)])
    first, again = norm(batch)[0], norm(others)[0]
    return float(((first - again).norm() / first.norm()).detach())


def _padding(norm: nn.Module, share: float) -> float:
    """The same when a share of all positions of 16 sequences becomes padding, which is zero."""
    states = 1 + torch.randn(16 * 20, _WIDTH)
    padded = states.clone()
    padded[-round(len(states) * share) :] = 0 if share else states[-len(states) :]
    first, again = norm(states)[0], norm(padded)[0]
    return float(((first - again).norm() / first.norm()).detach())


def _accuracy(name: str, size: int, steps: int) -> float:
    """Test accuracy of a small net on classes that overlap, in percent; all sizes see as many examples."""
    centres = torch.randn(_CLASSES, 8, generator=torch.Generator().manual_seed(1))

    def drawn(count: int) -> tuple[Tensor, Tensor]:
        labels = torch.randint(_CLASSES, (count,))
        return centres[labels] + _NOISE * torch.randn(count, 8), labels

    net = nn.Sequential(
        nn.Linear(8, _WIDTH), _norm(name), nn.ReLU(), nn.Linear(_WIDTH, _WIDTH), _norm(name), nn.ReLU()
    ).append(nn.Linear(_WIDTH, _CLASSES))
    optimizer = torch.optim.Adam(net.parameters(), 0.003)
    for _ in range(steps):
        inputs, labels = drawn(size)
        optimizer.zero_grad()
        F.cross_entropy(net(inputs), labels).backward()
        optimizer.step()
    inputs, labels = drawn(2000)
    with torch.no_grad():
        return 100 * float((net.eval()(inputs).argmax(1) == labels).float().mean())


def remarks(rows: Sequence[Row]) -> list[str]:
    """What training with the smallest and the largest batches reaches."""
    said = []
    trained = [row for row in rows if row["part"] == "training"]
    sizes = sorted({int(row["size"]) for row in trained})
    for name in _NORMS:
        found = [
            fmean(float(row["accuracy"]) for row in trained if row["norm"] == name and row["size"] == size)
            for size in (sizes[0], sizes[-1])
        ]
        said.append(
            f"Trained with {name}: {found[0]:.0f} % right with batches of {sizes[0]}, {found[1]:.0f} % with "
            f"batches of {sizes[-1]}, after as many examples."
        )
    return said


EXPERIMENT = Experiment(
    name="normalisation",
    claim="Under batch norm an output depends on the rest of the batch; under layer norm it does not.",
    where="Berkeley CS189, batch and layer normalisation; IIT CS60010, layer norm",
    effect="how much more of a row's output changes with its companion in a batch of two, in percent",
    wanted=10.0,
    measure=measure,
    keys=("part", "norm", "size", "share"),
    panels=(
        Panel(
            "size",
            "change",
            "norm",
            "batch size",
            "change with other companions",
            True,
            False,
            {"part": "companions"},
        ),
        Panel(
            "share",
            "change",
            "norm",
            "positions that are padding (%)",
            "change by padding",
            False,
            False,
            {"part": "padding"},
        ),
        Panel("size", "accuracy", "norm", "batch size", "accuracy (%)", True, False, {"part": "training"}),
    ),
    cause="the statistics over the batch",
    remarks=remarks,
)
