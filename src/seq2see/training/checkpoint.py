"""All that an exact resume needs, in one file that is replaced as a whole."""

import errno
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from seq2see.errors import TrainingError
from seq2see.models.weights import load_weights, read_tensors, weights_of, write_tensors

__all__ = ["Checkpoints", "Progress", "saving"]


@dataclass
class Progress:
    """Where training stands, besides weights and random numbers."""

    step: int = 0
    data: dict[str, int] = field(default_factory=lambda: {"epoch": 0, "taken": 0})
    seconds: float = 0.0
    tokens: int = 0
    best: dict[str, float] | None = None
    looks_without_best: int = 0
    averaged: list[int] = field(default_factory=list)
    finished: bool = False


class Checkpoints:
    """The files of a run that training writes: the best weights, and the state to go on from."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.weights = folder / "model.safetensors"
        self.state = folder / "state" / "training.safetensors"

    @property
    def started(self) -> bool:
        """Whether there is something to resume."""
        return self.state.exists()

    def save(self, model: torch.nn.Module, optimizer: torch.optim.Optimizer, progress: Progress) -> None:
        """Keep everything needed to go on exactly from here."""
        tensors = {f"model.{name}": tensor for name, tensor in weights_of(model).items()}
        tensors |= {f"optimizer.{name}": tensor for name, tensor in _moments(optimizer)}
        tensors |= {f"random.{name}": state for name, state in _random_states(model).items()}
        with saving(self.folder):
            self.state.parent.mkdir(exist_ok=True)
            write_tensors(self.state, tensors, {"progress": json.dumps(asdict(progress))})

    def restore(self, model: torch.nn.Module, optimizer: torch.optim.Optimizer) -> Progress:
        """Put model, optimiser and random generators back as they were."""
        tensors, about = read_tensors(self.state)
        load_weights(model, _part(tensors, "model."), str(self.state))
        _restore_moments(optimizer, _part(tensors, "optimizer."))
        _restore_random(_part(tensors, "random."), next(model.parameters()).device)
        return Progress(**json.loads(about["progress"]))

    def save_best(self, weights: Mapping[str, Tensor], about: Mapping[str, Any]) -> None:
        """Put weights where `load` looks for them."""
        with saving(self.folder):
            write_tensors(self.weights, weights, {"about": json.dumps(about)})

    def keep_for_average(self, model: torch.nn.Module, step: int, steps_kept: list[int]) -> None:
        """Keep the weights of this look, and drop those that no average needs any more."""
        with saving(self.folder):
            self.state.parent.mkdir(exist_ok=True)
            write_tensors(self._look(step), weights_of(model))
            for path in self.state.parent.glob("look-*.safetensors"):
                if path not in {self._look(kept) for kept in steps_kept}:
                    path.unlink()

    def average(self, steps: list[int]) -> dict[str, Tensor]:
        """The mean of the weights kept at these steps."""
        total: dict[str, Tensor] = {}
        for step in steps:
            for name, tensor in read_tensors(self._look(step))[0].items():
                total[name] = total[name] + tensor / len(steps) if name in total else tensor / len(steps)
        return total

    def _look(self, step: int) -> Path:
        return self.state.parent / f"look-{step:08}.safetensors"


@contextmanager
def saving(folder: Path) -> Iterator[None]:
    """Turn a disk that is full or gone into an error that says what to do."""
    try:
        yield
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
        reason = "no space is left" if full else error.strerror or error
        raise TrainingError(
            f"{folder} cannot be written: {reason}\n"
            "what was saved before is whole; make room, then go on with --resume"
        ) from None


def _part(tensors: Mapping[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}


def _moments(optimizer: torch.optim.Optimizer) -> Iterator[tuple[str, Tensor]]:
    for index, values in optimizer.state_dict()["state"].items():
        for name, tensor in values.items():
            yield f"{index}.{name}", tensor


def _restore_moments(optimizer: torch.optim.Optimizer, tensors: Mapping[str, Tensor]) -> None:
    whole = optimizer.state_dict()
    state: dict[int, dict[str, Tensor]] = {}
    for key, tensor in tensors.items():
        index, name = key.split(".", 1)
        state.setdefault(int(index), {})[name] = tensor
    optimizer.load_state_dict({**whole, "state": state})


def _random_states(model: torch.nn.Module) -> dict[str, Tensor]:
    device = next(model.parameters()).device
    states = {"cpu": torch.get_rng_state()}
    if device.type == "cuda":
        states["cuda"] = torch.cuda.get_rng_state(device)
    elif device.type == "mps":
        states["mps"] = torch.mps.get_rng_state()
    return states


def _restore_random(states: Mapping[str, Tensor], device: torch.device) -> None:
    """Put back the generators of the device in use; a run may go on on another one, if not exactly."""
    torch.set_rng_state(states["cpu"])
    if device.type == "cuda" and "cuda" in states:
        torch.cuda.set_rng_state(states["cuda"], device)
    elif device.type == "mps" and "mps" in states:
        torch.mps.set_rng_state(states["mps"])
