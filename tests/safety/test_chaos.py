"""The short form of `benchmarks/chaos.py`: one fault of each kind against the real program."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_a_hostile_day_loses_nothing() -> None:
    words = [sys.executable, "-m", "benchmarks.chaos", "--seeds", "11", "--faults", "14"]
    found = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False, timeout=550)
    assert found.returncode == 0, found.stdout + found.stderr
    assert "14 faults, 0 lost" in found.stdout
