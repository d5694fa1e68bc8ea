"""What an experiment found: its table, its verdict, its figure and its files."""

import csv
import io
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any, Literal

import numpy as np

from seq2see.errors import RunError
from seq2see.files import replace_bytes, replace_text
from seq2see.lab.experiment import Experiment, Measured
from seq2see.lab.panels import draw
from seq2see.notebook import Printed

__all__ = ["Result", "Verdict", "interval_of", "verdict_of"]

Verdict = Literal["holds", "does not hold", "unclear"]


def interval_of(effects: Sequence[float], samples: int = 2000) -> tuple[float, float]:
    """Where the mean effect lies in 95 of 100 random draws of the seeds, with replacement (bootstrap)."""
    values = np.array(effects, dtype=float)
    drawn = np.random.default_rng(1).integers(len(values), size=(samples, len(values)))
    low, high = np.quantile(values[drawn].mean(axis=1), (0.025, 0.975))
    return float(low), float(high)


def verdict_of(interval: tuple[float, float], wanted: float) -> Verdict:
    """A claim holds if even the low end is above what is wanted, and does not if the high end is below it."""
    low, high = interval
    if not (math.isfinite(low) and math.isfinite(high)):
        return "unclear"
    return "holds" if low > wanted else "does not hold" if high <= wanted else "unclear"


@dataclass(frozen=True, repr=False)
class Result(Printed):
    """The measurements of an experiment with all seeds."""

    experiment: Experiment
    seeds: tuple[int, ...]
    found: tuple[Measured, ...]
    """One for each seed."""
    command: str
    folder: Path
    control: bool = False

    @property
    def effects(self) -> list[float]:
        """The effect with each seed."""
        return [one.effect for one in self.found]

    @property
    def effect(self) -> float:
        """The mean effect."""
        return fmean(self.effects)

    @property
    def interval(self) -> tuple[float, float]:
        """Of the mean effect, by bootstrap over seeds."""
        return interval_of(self.effects)

    @property
    def verdict(self) -> Verdict:
        """Whether the claim holds here."""
        return verdict_of(self.interval, self.experiment.wanted)

    @property
    def rows(self) -> list[dict[str, Any]]:
        """Every measurement, with its seed."""
        pairs = zip(self.seeds, self.found, strict=True)
        return [{"seed": seed, **row} for seed, one in pairs for row in one.rows]

    @property
    def table(self) -> list[dict[str, Any]]:
        """Means over the seeds, a row for each thing that was varied."""
        grouped: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
        for row in self.rows:
            grouped.setdefault(tuple(row.get(key) for key in self.experiment.keys), []).append(row)
        return [self._mean(key, rows) for key, rows in grouped.items()]

    def _mean(self, key: tuple[Any, ...], rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
        varied = {
            name: value for name, value in zip(self.experiment.keys, key, strict=True) if value is not None
        }
        measured = dict.fromkeys(name for row in rows for name in row if name not in (*varied, "seed"))
        return {
            **varied,
            **{name: fmean(float(row[name]) for row in rows if name in row) for name in measured},
        }

    @property
    def remarks(self) -> list[str]:
        """What else was seen."""
        return self.experiment.remarks(self.rows)

    def sentence(self) -> str:
        """The verdict in words, with how clear it is."""
        low, high = self.interval
        one = self.experiment
        spread = (
            f"{short(low)} to {short(high)} over {len(self.seeds)} seeds"
            if len(self.seeds) > 1
            else "one seed"
        )
        said = {"holds": "holds here", "does not hold": "does not hold here", "unclear": "is unclear here"}
        return (
            f"The claim {said[self.verdict]}. Effect: {short(self.effect)} ({spread}), wanted above "
            f"{short(one.wanted)}: {one.effect}."
        )

    def __repr__(self) -> str:
        return f"<lab {self.experiment.name}: {self.experiment.claim}\n{self.sentence()}>"

    def figure(self, kind: str = "png") -> bytes:
        """The figure as a file of that kind: svg, png or pdf."""
        title = f"{self.experiment.name}: {self.experiment.claim}"
        return draw(self.experiment.panels, self.rows, title, kind)

    @property
    def page(self) -> Path | None:
        """The page to try it with one's own numbers, if there is one."""
        return self.folder / f"{self.experiment.name}.html" if self.experiment.page else None

    def values(self) -> dict[str, Any]:
        """All of it as plain values."""
        return {
            "name": self.experiment.name,
            "claim": self.experiment.claim,
            "where": self.experiment.where,
            "verdict": self.verdict,
            "sentence": self.sentence(),
            "effect": self.effect,
            "effect_is": self.experiment.effect,
            "wanted": self.experiment.wanted,
            "interval": list(self.interval),
            "effects": self.effects,
            "seeds": list(self.seeds),
            "control": self.experiment.cause if self.control else None,
            "remarks": self.remarks,
            "table": self.table,
            "figures": [str(self.folder / f"{self.experiment.name}.{kind}") for kind in ("svg", "png")],
            **({"page": str(self.page)} if self.page else {}),
            "command": self.command,
        }

    def write(self) -> None:
        """Leave figure, data and verdict in the folder."""
        rows, place = self.rows, self.folder / self.experiment.name
        columns = list(dict.fromkeys(name for row in rows for name in row))
        text = io.StringIO()
        writer = csv.DictWriter(text, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        try:
            replace_text(place.with_suffix(".csv"), text.getvalue())
            plain = json.dumps(self.values(), ensure_ascii=False, indent=1)
            replace_text(place.with_suffix(".json"), plain + "\n")
            for kind in ("svg", "png"):
                replace_bytes(place.with_suffix(f".{kind}"), self.figure(kind))
            if self.page and self.experiment.page:
                replace_text(self.page, self.experiment.page())
        except OSError as error:
            raise RunError(
                f"{self.folder} cannot be written: {error.strerror}; name another place with --out"
            ) from None


def short(value: float) -> str:
    """A number with as many digits as say something."""
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
