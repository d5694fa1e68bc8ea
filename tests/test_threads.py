"""Threads that are fair to a busy machine. What that is worth is measured by `benchmarks/busy.py`."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from seq2see.threads import BUSY, QUIET, be_fair, others_running

SETTINGS = ("OMP_WAIT_POLICY", *QUIET)


def _said(code: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """What a new process says in which nobody but the caller has decided on threads."""
    plain = {name: value for name, value in os.environ.items() if name not in SETTINGS}
    command = [sys.executable, "-W", "default", "-c", code]
    return subprocess.run(command, env=plain | variables, capture_output=True, text=True, check=True)


@pytest.mark.parametrize("module", ["seq2see", "seq2see.cli"])
def test_spinning_is_bounded_before_torch_is_loaded(module: str) -> None:
    read = f"{{name: os.environ.get(name) for name in {[*QUIET]}}}"
    code = f"import {module}, os, sys; print({read}, 'torch' in sys.modules)"
    assert _said(code).stdout in (f"{QUIET} False\n", f"{BUSY} False\n")


@pytest.mark.parametrize(("others", "expected"), [(0.0, QUIET), (0.5, QUIET), (1.0, BUSY), (2.0, BUSY)])
def test_threads_spin_less_where_others_run(
    monkeypatch: pytest.MonkeyPatch, others: float, expected: dict[str, str]
) -> None:
    for name in SETTINGS:
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    monkeypatch.delitem(sys.modules, "torch")
    monkeypatch.setattr("seq2see.threads.others_running", lambda: others)
    be_fair()
    assert {name: os.environ[name] for name in QUIET} == expected


def test_others_are_counted_without_this_thread(tmp_path: Path) -> None:
    loads = tmp_path / "loadavg"
    loads.write_text("0.20 0.18 0.12 3/80 11206\n")
    assert others_running(loads) == 2
    loads.write_text("nothing of the kind")
    assert others_running(loads) == others_running(tmp_path / "missing") == 0


@pytest.mark.skipif(not Path("/proc/loadavg").exists(), reason="only Linux tells")
def test_a_busy_process_is_seen() -> None:
    with subprocess.Popen([sys.executable, "-c", "print(flush=True)\nwhile True: pass"], stdout=-1) as other:
        assert other.stdout is not None
        other.stdout.readline()
        seen = max(others_running() for _ in range(5))
        other.kill()
    assert seen > 0.6


@pytest.mark.parametrize("name", SETTINGS)
def test_what_somebody_has_decided_stays(name: str) -> None:
    code = f"import seq2see, os; print([os.environ.get(n) for n in {SETTINGS}])"
    chosen = "ACTIVE" if name == "OMP_WAIT_POLICY" else "7"
    expected = [chosen if one == name else None for one in SETTINGS]
    assert _said(code, **{name: chosen}).stdout == f"{expected}\n"


def test_where_torch_came_first_it_is_said_once() -> None:
    warning = "torch was imported before seq2see"
    stub = "import sys, types; sys.modules['torch'] = types.ModuleType('torch')\n"
    assert _said(stub + "import seq2see\nimport seq2see").stderr.count(warning) == 1
    assert warning not in _said("import seq2see").stderr
