"""All that an exact resume needs, in one file that is replaced as a whole."""

import errno
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from pydantic import TypeAdapter, ValidationError
from torch import Tensor

from seq2see.errors import RunError, TrainingError
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
    last: dict[str, float] | None = None
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
        """Whether there is something to resume; weights whose state is gone are never written over."""
        if self.state.exists():
            return True
        record = self.folder / "metrics.jsonl"
        if self.weights.exists() or (record.exists() and record.stat().st_size):
            raise RunError(
                f"{self.folder} was trained before, and {self.state} is missing: there is nothing to go on "
                "from; put it back, or start a new run with another --out"
            )
        return False

    def save(self, model: torch.nn.Module, optimizer: torch.optim.Optimizer, progress: Progress) -> None:
        """Keep everything needed to go on exactly from here."""
        tensors = {f"model.{name}": tensor for name, tensor in weights_of(model).items()}
        tensors |= {f"optimizer.{name}": tensor for name, tensor in _moments(optimizer)}
        tensors |= {f"random.{name}": state for name, state in _random_states(model).items()}
        with saving(self.folder):
            self.state.parent.mkdir(exist_ok=True)
            write_tensors(self.state, tensors, {"progress": json.dumps(asdict(progress))})
            # Only now: until here a kill would have left a state that needs them.
            for path in self.looks():
                if path not in map(self._look, progress.averaged):
                    path.unlink()

    def restore(self, model: torch.nn.Module, optimizer: torch.optim.Optimizer) -> Progress:
        """Put model, optimiser and random generators back as they were."""
        tensors, about = read_tensors(self.state)
        try:
            progress = TypeAdapter(Progress).validate_json(about["progress"])
            load_weights(model, _part(tensors, "model."), str(self.state))
            _restore_moments(optimizer, _part(tensors, "optimizer."))
            _restore_random(_part(tensors, "random."), next(model.parameters()).device)
        except (KeyError, ValueError, RuntimeError, ValidationError) as error:
            raise RunError(
                f"{self.state} is not the state of a training run ({str(error).splitlines()[0]}); "
                "put a copy of it back, or train a new run"
            ) from None
        # What the end of training needs is looked at before it begins.
        if progress.best is not None:
            read_tensors(self.weights)
        for step in progress.averaged:
            read_tensors(self._look(step))
        return progress

    def save_best(self, weights: Mapping[str, Tensor], about: Mapping[str, Any]) -> None:
        """Put weights where `load` looks for them."""
        with saving(self.folder):
            write_tensors(self.weights, weights, {"about": json.dumps(about)})

    def best(self) -> dict[str, Any]:
        """The step and the scores of the best weights."""
        found = json.loads(read_tensors(self.weights)[1].get("about", "{}"))
        return found if isinstance(found, dict) else {}

    def keep_for_average(self, model: torch.nn.Module, step: int) -> None:
        """Keep the weights of this look; `save` drops those that no average needs any more."""
        with saving(self.folder):
            self.state.parent.mkdir(exist_ok=True)
            write_tensors(self._look(step), weights_of(model))

    def looks(self) -> list[Path]:
        """The weights that were kept for an average."""
        return sorted(self.state.parent.glob("look-*.safetensors"))

    def average(self, steps: list[int]) -> dict[str, Tensor]:
        """The mean of the weights kept at these steps; of counters, the last."""
        total: dict[str, Tensor] = {}
        for step in steps:
            for name, tensor in read_tensors(self._look(step))[0].items():
                if not tensor.is_floating_point():
                    total[name] = tensor
                    continue
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
