"""Several models on the same pairs with the same budget: what each rung of the ladder buys."""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import fmean, median
from typing import Literal

import numpy as np

from seq2see.data.tasks import is_task
from seq2see.evaluation import METRICS, metrics_for, score
from seq2see.figures import Points, line_figure
from seq2see.files import replace_bytes, replace_text
from seq2see.training.log import read_log
from seq2see.workflow import Request, Trained

__all__ = ["Bucket", "Ladder", "Rung", "climb"]

_MOST_BUCKETS = 8


@dataclass(frozen=True)
class Bucket:
    """The score of dev sources of some lengths, both ends counted."""

    shortest: int
    longest: int
    sources: int
    score: float


@dataclass(frozen=True)
class Floor:
    """What a few lines of code reach on the dev set."""

    name: str
    score: float | None


@dataclass(frozen=True)
class Rung:
    """One trained model and how it did."""

    preset: str
    seed: int
    run: str
    parameters: int
    steps: int
    seconds: float
    tokens_per_second: float
    metric: str
    score: float
    buckets: tuple[Bucket, ...]


@dataclass(frozen=True)
class Ladder:
    """All rungs, in the order in which they were asked for."""

    data: str
    metric: str
    unit: str
    rungs: tuple[Rung, ...]
    floor: Floor | None = None
    along: str = "source length"
    """What the buckets are told apart by."""

    @property
    def presets(self) -> list[str]:
        """Each model once."""
        return list(dict.fromkeys(rung.preset for rung in self.rungs))

    def of(self, preset: str) -> list[Rung]:
        """The rungs of one model, one for each seed."""
        return [rung for rung in self.rungs if rung.preset == preset]

    def lengths(self) -> list[tuple[int, int]]:
        """The buckets that any rung has: the dev sets of several seeds differ a little."""
        bounds = {(bucket.shortest, bucket.longest) for rung in self.rungs for bucket in rung.buckets}
        return sorted(bounds)

    def columns(self) -> list[str]:
        """The heads of the table."""
        lengths = [f"{low}-{high}" for low, high in self.lengths()]
        return ["model", "weights", "tokens/s", "seconds", self.metric, *lengths]

    def rows(self) -> list[list[str]]:
        """A row for each model, means over the seeds; scores by source length come last."""
        rows = [self._row(preset, self.of(preset)) for preset in self.presets]
        if self.floor is not None and self.floor.score is not None:
            empty = [""] * len(self.lengths())
            rows.insert(0, [f"floor: {self.floor.name}", "", "", "", f"{self.floor.score:.1f}", *empty])
        return rows

    def _row(self, preset: str, rungs: Sequence[Rung]) -> list[str]:
        by_length = [self.scores_at(preset, bounds) for bounds in self.lengths()]
        return [
            preset,
            f"{rungs[0].parameters / 1e6:.2f} M",
            f"{fmean(rung.tokens_per_second for rung in rungs):,.0f}",
            f"{fmean(rung.seconds for rung in rungs):,.0f}",
            f"{fmean(rung.score for rung in rungs):.1f}",
            *(f"{fmean(found):.0f}" if found else "" for found in by_length),
        ]

    def scores_at(self, preset: str, bounds: tuple[int, int]) -> list[float]:
        """The scores of a model at some lengths, one for each seed."""
        return [
            bucket.score
            for rung in self.of(preset)
            for bucket in rung.buckets
            if (bucket.shortest, bucket.longest) == bounds
        ]

    def write(self, folder: Path) -> None:
        """Leave the table as Markdown and JSON, and the figure as PNG and SVG."""
        lines = [self.columns(), ["---"] * len(self.columns()), *self.rows()]
        text = "\n".join("| " + " | ".join(line) + " |" for line in lines)
        replace_text(folder / "ladder.md", f"# {self.data}\n\n{self.caption()}\n\n{text}\n")
        replace_text(folder / "ladder.json", json.dumps(asdict(self), ensure_ascii=False, indent=2) + "\n")
        replace_bytes(folder / "ladder.png", self.figure("png"))
        replace_bytes(folder / "ladder.svg", self.figure("svg"))

    def figure(self, kind: Literal["png", "svg"]) -> bytes:
        """The score against the source's length."""
        series = {preset: self._points(preset) for preset in self.presets}
        name = self.data if is_task(self.data) else Path(self.data.split(",")[0]).name
        unit = METRICS[self.metric].unit
        up = f"dev {self.metric} ({unit})" if unit else f"dev {self.metric}"
        return line_figure(series, name, f"{self.along} ({self.unit})" if self.lengths() else "", up, kind)

    def _points(self, preset: str) -> Points:
        """The scores of a model at each length, or of all examples where they have none."""
        if not self.lengths():
            return [("all", [rung.score for rung in self.of(preset)])]
        return [
            (f"{low}-{high}", found)
            for low, high in self.lengths()
            if (found := self.scores_at(preset, (low, high)))
        ]

    def caption(self) -> str:
        """What the numbers are."""
        seeds = len({rung.seed for rung in self.rungs})
        mean = f"means of {seeds} seeds; " if seeds > 1 else ""
        lengths = f"; the last columns by {self.along} in {self.unit}" if self.lengths() else ""
        return f"{mean}{self.metric} on held-out examples (texts: greedy){lengths}"


def climb(
    request: Request,
    presets: Sequence[str],
    seeds: Sequence[int],
    train: Callable[[Request], Trained],
    tell: Callable[[str], None],
) -> Ladder:
    """Train each preset with each seed in a folder of its own; what is there already is taken as it is."""
    folder = Path(request.out or "runs/ladder")
    rungs: list[Rung] = []
    metric, along, unit, floor = "exact", "", "tokens", None
    for seed in seeds:
        for preset in presets:
            tell(f"{preset}, seed {seed}")
            out = folder / f"{preset}-{seed}"
            started = out.is_dir() and any(out.iterdir())
            trained = train(replace(request, preset=preset, seed=seed, out=str(out), resume=started))
            watched = trained.model.recipe.training.metric
            rungs.append(_measured(preset, seed, trained, watched if watched != "loss" else None))
            metric, (along, unit) = rungs[-1].metric, _along(trained)
            floor = trained.floor
    below = Floor(floor.name, floor.scores.get(metric)) if floor is not None else None
    return Ladder(request.data, metric, unit, tuple(rungs), below, along)


def _along(trained: Trained) -> tuple[str, str]:
    """What examples are told apart by, and in which unit: images have no length, but their captions have."""
    recipe = trained.model.recipe
    if recipe.data.images is not None:
        return ("caption length", "words") if recipe.goal == "generate" else ("", "")
    kind = recipe.model.front.kind
    return "source length", recipe.text.source.kind if kind == "tokens" else kind


def _measured(preset: str, seed: int, trained: Trained, metric: str | None) -> Rung:
    model, progress = trained.model, trained.progress
    outcome = model.outcome(trained.dev, **model.quick)
    metric = metric or metrics_for(outcome)[0]
    # The first step also warms caches up, so it says little of the speed.
    records = read_log(trained.folder / "metrics.jsonl")
    speeds = [record["tokens_per_second"] for record in records if "tokens_per_second" in record][1:]
    lengths = model.outcome_lengths(trained.dev, outcome) if _along(trained)[0] else []
    return Rung(
        preset,
        seed,
        str(trained.folder),
        sum(model.network.parameter_counts().values()),
        progress.step,
        round(progress.seconds, 1),
        round(median(speeds), 1) if speeds else 0.0,
        metric,
        score(outcome, [metric])[metric],
        tuple(
            Bucket(low, high, len(rows), score(outcome.draw(np.array(rows)), [metric])[metric])
            for low, high, rows in buckets(lengths)
        ),
    )


def buckets(lengths: Sequence[int]) -> list[tuple[int, int, list[int]]]:
    """The places of examples by source length, in steps that are round numbers; empty ones are left out."""
    if not lengths:
        return []
    width = next(step for step in _round_steps() if -(-max(lengths) // step) <= _MOST_BUCKETS)
    held: dict[int, list[int]] = {}
    for place, length in enumerate(lengths):
        held.setdefault(max(0, length - 1) // width, []).append(place)
    return [(place * width + 1, (place + 1) * width, held[place]) for place in sorted(held)]


def _round_steps() -> Iterable[int]:
    return (digit * 10**power for power in range(9) for digit in (1, 2, 5))
