"""Every experiment repeats exactly, its claim holds, and without the cause the verdict turns."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from seq2see.lab.experiment import Row
from seq2see.lab.experiments import EXPERIMENTS
from seq2see.lab.running import run

NAMES = list(EXPERIMENTS)


def steady(rows: Sequence[Row], timed: frozenset[str]) -> list[dict[str, Any]]:
    return [{name: value for name, value in row.items() if name not in timed} for row in rows]


@pytest.mark.parametrize("name", NAMES)
def test_it_holds_and_repeats_exactly(name: str, tmp_path: Path) -> None:
    first, again = (run(name, size="tiny", seeds=[3], out=tmp_path / str(time)) for time in (1, 2))
    assert first.verdict == "holds", first.sentence()
    assert first.effects == again.effects
    timed = EXPERIMENTS[name].timed
    assert steady(first.rows, timed) == steady(again.rows, timed)
    for kind in ("svg", "png", "csv", "json"):
        assert (tmp_path / "1" / f"{name}.{kind}").stat().st_size > 0


@pytest.mark.parametrize("name", NAMES)
def test_the_verdict_turns_without_the_cause(name: str, tmp_path: Path) -> None:
    result = run(name, size="tiny", seeds=[3], out=tmp_path, control=True)
    assert result.verdict == "does not hold", result.sentence()


@pytest.mark.parametrize("name", NAMES)
def test_it_is_described(name: str) -> None:
    experiment = EXPERIMENTS[name]
    assert experiment.claim.endswith(".") and experiment.where and experiment.cause
    assert 1 <= len(experiment.panels) <= 6
    source = Path(__import__(experiment.measure.__module__, fromlist=["x"]).__file__).read_text()
    assert source.count("\n") <= 165, "an experiment is a short file"
