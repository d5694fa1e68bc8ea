"""A run directory: its recipe, columns, network and what is known of its data, together."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TypeVar

import torch
from pydantic import TypeAdapter, ValidationError

from seq2see.data.columns import Column
from seq2see.errors import RunError, SettingsError
from seq2see.models import Network
from seq2see.recipe import Recipe

__all__ = ["DataFacts", "Run", "device_of", "read_as"]

T = TypeVar("T")


@dataclass(frozen=True)
class DataFacts:
    """What is known of the examples that a run was trained on."""

    fingerprint: str
    train_pairs: int
    dev_pairs: int
    dev_sources_in_train: int = 0
    too_long: int = 0
    skipped_lines: dict[str, int] = field(default_factory=dict)
    mean_source: float = 0.0
    mean_target: float = 0.0
    longest_source: int = 0
    longest_target: int = 0
    length_ratio: float = 1.0
    source_vocabulary: int = 0
    target_vocabulary: int = 0
    unknown_in_dev: dict[str, dict[str, int]] = field(default_factory=dict)
    targets: dict[str, int] = field(default_factory=dict)
    """Where there are several targets: how many training examples each has."""

    @classmethod
    def read(cls, folder: Path) -> "DataFacts":
        """Read `data.json` of a run directory."""
        return read_as(cls, folder / "data.json")

    @property
    def told_targets(self) -> str:
        """Several targets with their amounts, in words; nothing where there is one."""
        return ", ".join(f"{name} ({count:,} examples)" for name, count in self.targets.items())

    def to_json(self) -> str:
        """The same as text."""
        return json.dumps(asdict(self), ensure_ascii=False, indent=2) + "\n"


def read_as(kind: type[T], path: Path) -> T:
    """Read a JSON file of a run directory as something typed, or say what is wrong with it."""
    try:
        return TypeAdapter(kind).validate_json(path.read_bytes())
    except ValidationError as error:
        problem = error.errors()[0]
        where = ".".join(map(str, problem["loc"]))
        reason = f"{where}: {problem['msg']}" if where else problem["msg"]
        raise RunError(f"{path} is damaged: {reason}; put a copy of it back") from None
    except OSError as error:
        raise RunError(f"{path} cannot be read: {error.strerror}") from None


@dataclass
class Run:
    """Everything that a trained model consists of."""

    recipe: Recipe
    columns: Mapping[str, Column]
    network: Network
    facts: DataFacts
    folder: Path | None = None
    calibration: dict[str, float] = field(default_factory=dict)
    """What held-out examples told of how sure answers are."""

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return next(self.network.parameters()).device


def device_of(name: str) -> torch.device:
    """A device by name; "auto" takes a GPU where there is one."""
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    try:
        device = torch.device(name)
        torch.empty(1, device=device).cpu()  # which "meta" has not
    except (RuntimeError, AssertionError):
        raise SettingsError(
            f"device {name!r} is not to be had on this machine; try 'auto' or 'cpu'"
        ) from None
    return device
