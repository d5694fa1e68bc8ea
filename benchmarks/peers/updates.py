"""What is noted of every update in training, by whatever tool."""

import json
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path

__all__ = ["Update", "Updates"]


@dataclass(frozen=True)
class Update:
    """When an update ended, its target tokens and its places on both sides, with and without padding."""

    seconds: float
    tokens: int
    kept: int
    places: int
    loss: float | None = None


@dataclass
class Updates:
    """A record of updates, written only at the end, so that the disk has no part in the times."""

    path: Path
    parameters: int = 0
    all: list[Update] = field(default_factory=list)

    def note(self, tokens: int, kept: int, places: int, loss: float | None = None) -> None:
        """An update has just ended."""
        self.all.append(Update(time.perf_counter(), tokens, kept, places, loss))

    def write(self) -> None:
        """Put the record on disk."""
        self.path.write_text(json.dumps(asdict(self) | {"path": str(self.path)}))
