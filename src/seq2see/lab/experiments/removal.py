"""A trained residual net hardly notices when one of its blocks is taken out; a plain net does."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from statistics import fmean
from typing import Any

from torch import Tensor, nn

from seq2see.lab.experiment import Experiment, Measured, Row, Trial
from seq2see.lab.panels import Panel
from seq2see.lab.small_images import small_images
from seq2see.lab.training import accuracy, backwards, exact, examples, letters, trained

__all__ = ["EXPERIMENT"]

_NETS = {"residual": True, "plain": False}


def measure(trial: Trial) -> Measured:
    """Train both nets on small images, then take out or swap one block after another."""
    file = small_images(trial.folder / "train", trial.seed, trial.pick(1200, 4000, 8000))
    other = small_images(trial.folder / "held", trial.seed + 10_000, 300)
    blocks = trial.pick(4, 6, 8)
    rows: list[Row] = []
    for name, residual in _NETS.items():
        used = residual and not trial.control
        settings = ["model.encoder.widths=[12]", f"model.encoder.depths=[{blocks}]", "model.front.width=12"]
        settings += [f"model.encoder.residual={str(used).lower()}"]
        settings += ["training.optimizer=adamw", "training.learning_rate=0.005"]
        steps = trial.pick(80, 250, 800)
        model = trained(trial, f"resnet-{used}", file, "resnet-tiny", steps, settings, goal="classify")
        held = examples(model, other)
        rows += _without(model.network.encoder.stages[0], name, partial(accuracy, model, held))
    pairs, held = letters(trial, backwards, "abcdefgh", range(2, 11), trial.pick(1200, 12_000, 12_000))
    settings = ["model.width=64", "model.encoder.layers=4", "training.learning_rate=0.003"]
    settings += ["training.warmup=50"]
    model = trained(trial, "transformer", pairs, "transformer-tiny", trial.pick(5, 800, 2500), settings)
    found = partial(exact, model, held[: trial.pick(20, 200, 200)])
    rows += _without(model.network.encoder.blocks, "Transformer", found)
    lost = {
        name: fmean(float(row["lost"]) for row in rows if row["net"] == name and row["change"] == "removed")
        for name in _NETS
    }
    return Measured(lost["plain"] - lost["residual"], rows)


def _without(blocks: Any, name: str, measured: Callable[[], float]) -> Iterator[Row]:
    """What is lost when each block is removed, and when it changes places with the next."""
    whole = measured()
    for place in range(len(blocks)):
        with _changed(blocks, {place: _Nothing()}):
            lost = whole - measured()
        yield {"net": name, "change": "removed", "block": place, "lost": lost, "whole": whole}
    for place in range(len(blocks) - 1):
        with _changed(blocks, {place: blocks[place + 1], place + 1: blocks[place]}):
            lost = whole - measured()
        yield {"net": name, "change": "swapped", "block": place, "lost": lost, "whole": whole}


class _Nothing(nn.Module):
    """In the place of a block: what goes in comes out, whatever else a block is told."""

    def forward(self, states: Tensor, *_: Any, **__: Any) -> Tensor:
        """The states as they are."""
        return states


@contextmanager
def _changed(blocks: Any, others: dict[int, nn.Module]) -> Iterator[None]:
    """Other blocks in some places for a while."""
    before = {place: blocks[place] for place in others}
    try:
        for place, block in others.items():
            blocks[place] = block
        yield
    finally:
        for place, block in before.items():
            blocks[place] = block


def remarks(rows: Sequence[Row]) -> list[str]:
    """The mean loss of each net by removing and by swapping."""
    said = []
    for name in dict.fromkeys(str(row["net"]) for row in rows):
        own = [row for row in rows if row["net"] == name]
        removed, swapped = (
            fmean(float(row["lost"]) for row in own if row["change"] == change)
            for change in ("removed", "swapped")
        )
        whole = fmean(float(row["whole"]) for row in own)
        said.append(
            f"{name}: {whole:.0f} % right as a whole; {removed:.0f} points are lost without one block, "
            f"{swapped:.0f} when two change places."
        )
    return said


EXPERIMENT = Experiment(
    name="removal",
    claim="A residual net does without single blocks at little cost; a plain net of such layers does not.",
    where="Berkeley CS189, residual networks",
    effect="the points of accuracy that a plain net loses more than a residual one, mean over blocks",
    wanted=10.0,
    measure=measure,
    keys=("net", "change", "block"),
    panels=(
        Panel(
            "block",
            "lost",
            "net",
            "block that is removed",
            "points lost",
            False,
            False,
            {"change": "removed"},
        ),
        Panel(
            "block",
            "lost",
            "net",
            "block that is swapped with the next",
            "points lost",
            False,
            False,
            {"change": "swapped"},
        ),
    ),
    cause="the residuals",
    remarks=remarks,
)
