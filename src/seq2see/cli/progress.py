"""Training as it goes on, live in a terminal."""

from contextlib import suppress
from dataclasses import replace
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from seq2see.training.report import Look, Step, describe, shown

__all__ = ["LiveReport"]


class LiveReport:
    """A progress bar with loss, speed and dev score; looks at the dev set stay as lines above it."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._loss: float | None = None
        self._speed: float | None = None
        self._score = ""
        self._bar = Progress(
            TextColumn("step {task.fields[step]}"),
            BarColumn(bar_width=None),
            TextColumn("loss [bold]{task.fields[loss]}[/]"),
            TextColumn("{task.fields[speed]}"),
            TextColumn("[green]{task.fields[score]}"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=console,
        )
        self._task = self._bar.add_task(
            "train", total=1, step="0", loss="-", speed="-", score="", start=False
        )

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with suppress(OSError):  # the terminal may be gone
            self._bar.stop()

    def step(self, step: Step) -> None:
        self._loss = _smooth(self._loss, step.loss)
        self._speed = _smooth(self._speed, step.tokens_per_second)
        if not self._bar.tasks[0].started:
            self._bar.start_task(self._task)
        self._bar.update(
            self._task,
            completed=min(1.0, step.share),
            step=f"{step.step:,}/{step.steps:,}",
            loss=f"{self._loss:.3f}",
            speed=replace(step, tokens_per_second=self._speed).speed,
            score=self._score,
        )

    def look(self, look: Look) -> None:
        self._score = f"dev {look.metric} {shown(look.metric, look.scores[look.metric])}"
        self._bar.update(self._task, score=self._score)
        self._console.print(f"step {look.step:,}  dev {describe(look)}")

    def note(self, text: str) -> None:
        self._console.print(text)


def _smooth(old: float | None, new: float) -> float:
    return new if old is None else 0.95 * old + 0.05 * new
