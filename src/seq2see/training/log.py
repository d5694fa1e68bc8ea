"""The record of a training run: `metrics.jsonl` and TensorBoard events."""

import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

from seq2see.errors import RunError
from seq2see.files import replace_text
from seq2see.training.checkpoint import saving

__all__ = ["Log", "read_log"]


class Log:
    """Appends records; what an interrupted run wrote past its saved state is dropped first."""

    def __init__(self, folder: Path, step: int) -> None:
        self._path = folder / "metrics.jsonl"
        self._folder = folder
        self._step = step

    def __enter__(self) -> Self:
        from torch.utils.tensorboard import SummaryWriter

        with saving(self._folder):
            records = read_log(self._path)
            kept = [one for one in records if one["step"] <= self._step and "average" not in one]
            replace_text(self._path, "".join(json.dumps(record) + "\n" for record in kept))
            self._file = self._path.open("a", encoding="utf-8")
            self._board = SummaryWriter(str(self._folder / "tensorboard"), purge_step=self._step + 1)
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        # An error that is on its way already says more than one of closing.
        with suppress(OSError) if kind else saving(self._folder):
            self._file.close()
            self._board.close()

    def write(self, record: Mapping[str, Any]) -> None:
        """Keep one record, which names its step."""
        with saving(self._folder):
            self._file.write(json.dumps(record) + "\n")
            for name, value in _numbers(record):
                self._board.add_scalar(name, value, record["step"])

    def flush(self) -> None:
        """Put on disk what has been written: a saved state must not be ahead of its log."""
        with saving(self._folder):
            self._file.flush()
            self._board.flush()


def read_log(path: Path) -> list[dict[str, Any]]:
    """The records of a metrics file; a line that is damaged, or was cut off by a kill, is left out."""
    try:
        lines = path.read_bytes().split(b"\n")
    except FileNotFoundError:
        return []
    except OSError as error:
        raise RunError(f"{path} cannot be read: {error.strerror}") from None
    return [record for line in lines if (record := _record(line)) is not None]


def _record(line: bytes) -> dict[str, Any] | None:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) and isinstance(record.get("step"), int) else None


def _numbers(record: Mapping[str, Any]) -> list[tuple[str, float]]:
    groups = {"train": {k: v for k, v in record.items() if k not in ("step", "steps", "best")}}
    for name in ("dev", "average"):
        if isinstance(record.get(name), Mapping):
            groups = {name: record[name]}
    return [(f"{group}/{name}", value) for group, values in groups.items() for name, value in values.items()]
