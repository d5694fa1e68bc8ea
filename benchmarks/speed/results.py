"""Single results, their medians, and the table that shows them beside each other."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from statistics import median
from typing import Any

__all__ = ["CTRANSLATE2", "HUGGING_FACE", "Result", "as_known", "rows_of", "table"]

HUGGING_FACE, CTRANSLATE2 = "Hugging Face", "CTranslate2 fp32"


@dataclass(frozen=True)
class Result:
    """One figure from one run."""

    task: str
    work: str
    tool: str
    repeat: int
    unit: str = ""
    value: float | None = None
    option: str = ""
    """A setting that was tried, such as a batch size: the best by its median goes into the table."""
    tokens_per_second: float | None = None
    padding: float | None = None
    utilisation: float | None = None
    megabytes: float | None = None
    note: str = ""

    def measured(self, value: float, unit: str, **more: Any) -> "Result":
        """The same with its figure."""
        return replace(self, value=value, unit=unit, **more)

    def failed(self, failure: Exception) -> "Result":
        """The same with the reason why there is no figure."""
        lines = [line.strip() for line in str(failure).splitlines() if line.strip()]
        return replace(self, note=f"failed: {lines[-1][:150]}" if lines else "failed")

    def __str__(self) -> str:
        value = shown(self.value, self.unit) if self.value is not None else self.note
        option = f" ({self.option})" if self.option else ""
        return f"run {self.repeat + 1}, {self.task}, {self.work}, {self.tool}{option}: {value}"


@dataclass(frozen=True)
class Row:
    """The medians of a tool at its best setting, and what they are to those of the others."""

    task: str
    work: str
    tool: str
    unit: str
    value: float | None
    each: tuple[float, ...]
    tokens_per_second: float | None
    padding: float | None
    utilisation: float | None
    megabytes: float | None
    note: str
    to_hugging_face: float | None = None
    to_ctranslate2: float | None = None
    to_best_peer: float | None = None


def rows_of(results: Iterable[Result]) -> list[Row]:
    """A row for each task, work and tool, in the order of their first results."""
    groups: dict[tuple[str, str, str], dict[str, list[Result]]] = {}
    for result in results:
        options = groups.setdefault((result.task, result.work, result.tool), {})
        options.setdefault(result.option, []).append(result)
    best = [max((_row(runs) for runs in options.values()), key=_goodness) for options in groups.values()]
    order = list(dict.fromkeys((row.task, row.work) for row in best))
    best.sort(key=lambda row: order.index((row.task, row.work)))
    return [
        _beside(row, [other for other in best if (row.task, row.work) == (other.task, other.work)])
        for row in best
    ]


def _row(runs: list[Result]) -> Row:
    def middle(name: str) -> float | None:
        values = [getattr(run, name) for run in runs if getattr(run, name) is not None]
        return median(values) if values else None

    first = next((run for run in runs if run.value is not None), runs[0])
    notes = dict.fromkeys([first.option, *(run.note for run in runs)])
    return Row(
        first.task,
        first.work,
        first.tool,
        first.unit,
        middle("value"),
        tuple(run.value for run in runs if run.value is not None),
        middle("tokens_per_second"),
        middle("padding"),
        middle("utilisation"),
        middle("megabytes"),
        "; ".join(filter(None, notes)),
    )


def _goodness(row: Row) -> float:
    if row.value is None:
        return -float("inf")
    return -row.value if _less_is_better(row.unit) else row.value


def _less_is_better(unit: str) -> bool:
    return unit in ("ms", "s")


def _beside(row: Row, others: list[Row]) -> Row:
    """The row with the ratios of its value to those of the peers."""
    if row.value is None or row.unit in ("FLOP/s", "%", "BLEU"):
        return row
    values = {other.tool: other.value for other in others if other.value}
    peers = [other for other in others if other.value and not other.tool.startswith("seq2see")]
    fastest = max(peers, key=_goodness, default=None)

    def ratio(other: float | None) -> float | None:
        return row.value / other if row.value is not None and other else None

    return replace(
        row,
        to_hugging_face=ratio(values.get(HUGGING_FACE)),
        to_ctranslate2=ratio(values.get(CTRANSLATE2)),
        to_best_peer=ratio(fastest.value if fastest else None),
    )


def shown(value: float, unit: str) -> str:
    """A value with its unit, with as many digits as mean something."""
    if unit == "FLOP/s":
        return f"{value / 1e9:,.0f} GFLOP/s"
    return f"{value:,.0f} {unit}" if value >= 100 else f"{value:.3g} {unit}"


def table(rows: list[Row]) -> str:
    """All rows in Markdown."""
    titles = (
        *("task", "work", "tool", "median", "tokens/s", "to HF", "to CT2 fp32", "to fastest peer"),
        *("padding", "MFU", "peak MB", "each run", "note"),
    )
    lines = [titles, ("---",) * len(titles), *map(_cells, rows)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _cells(row: Row) -> tuple[str, ...]:
    def optional(value: float | None, form: str) -> str:
        return format(value, form) if value is not None else "-"

    ratios = (row.to_hugging_face, row.to_ctranslate2, row.to_best_peer)
    scale = 1e9 if row.unit == "FLOP/s" else 1
    return (
        *(row.task, row.work, row.tool),
        shown(row.value, row.unit) if row.value is not None else "-",
        optional(row.tokens_per_second, ",.0f"),
        *(optional(ratio, ".2f") for ratio in ratios),
        *(optional(row.padding, ".1%"), optional(row.utilisation, ".0%"), optional(row.megabytes, ",.0f")),
        ", ".join(f"{one / scale:,.4g}" for one in row.each) or "-",
        row.note.replace("|", "/") or "-",
    )


def as_known(rows: list[Row], results: list[Result]) -> dict[str, Any]:
    """All of it for JSON: every run and the medians."""
    return {"runs": [asdict(result) for result in results], "medians": [asdict(row) for row in rows]}
