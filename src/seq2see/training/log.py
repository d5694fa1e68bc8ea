"""The record of a training run: `metrics.jsonl` and TensorBoard events."""

import json
import os
import socket
import time
from collections.abc import Iterable, Mapping
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
        with saving(self._folder):
            records = read_log(self._path)
            kept = [one for one in records if one["step"] <= self._step and "average" not in one]
            replace_text(self._path, "".join(json.dumps(record) + "\n" for record in kept))
            self._file = self._path.open("a", encoding="utf-8")
            self._board = _Board(self._folder / "tensorboard", self._step + 1)
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
            self._board.write(_numbers(record), record["step"])

    def flush(self) -> None:
        """Put on disk what has been written: a saved state must not be ahead of its log."""
        with saving(self._folder):
            self._file.flush()
            self._board.flush()


class _Board:
    """A file of TensorBoard events; what an earlier one has from some step on is not shown any more.

    Events are written here and now. TensorBoard's own writer does so in a thread, where nobody would learn
    of a full disk.
    """

    def __init__(self, folder: Path, first_step: int) -> None:
        from tensorboard.compat.proto.event_pb2 import Event, SessionLog
        from tensorboard.compat.proto.summary_pb2 import Summary
        from tensorboard.summary.writer.record_writer import RecordWriter

        self._event, self._summary = Event, Summary
        folder.mkdir(exist_ok=True)
        began = time.time()
        name = f"events.out.tfevents.{began:017.6f}.{socket.gethostname()}.{os.getpid()}"
        self._file = (folder / name).open("wb")
        self._records = RecordWriter(self._file)
        start = SessionLog(status=SessionLog.START)
        for event in (
            Event(wall_time=began, step=first_step, file_version="brain.Event:2"),
            Event(wall_time=began, step=first_step, session_log=start),
        ):
            self._records.write(event.SerializeToString())

    def write(self, numbers: Iterable[tuple[str, float]], step: int) -> None:
        """Keep the numbers of a step."""
        values = [self._summary.Value(tag=name, simple_value=value) for name, value in numbers]
        event = self._event(wall_time=time.time(), step=step, summary=self._summary(value=values))
        self._records.write(event.SerializeToString())

    def flush(self) -> None:
        self._file.flush()

    def close(self) -> None:
        self._file.close()


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
