"""A run directory: its recipe, columns, network and what is known of its data, together."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path

import torch

from seq2see.data.columns import Column
from seq2see.errors import RunError, SettingsError
from seq2see.models import Network
from seq2see.recipe import Recipe

__all__ = ["DataFacts", "Run", "device_of"]


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

    @classmethod
    def read(cls, folder: Path) -> "DataFacts":
        """Read `data.json` of a run directory."""
        path = folder / "data.json"
        try:
            known = {one.name for one in fields(cls)}
            found = json.loads(path.read_text(encoding="utf-8"))
            return cls(**{name: value for name, value in found.items() if name in known})
        except (OSError, ValueError, TypeError, AttributeError) as error:
            raise RunError(f"{path} cannot be read: {error}") from None

    def to_json(self) -> str:
        """The same as text."""
        return json.dumps(asdict(self), ensure_ascii=False, indent=2) + "\n"


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
