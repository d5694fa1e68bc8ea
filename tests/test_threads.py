"""Threads that are fair to a busy machine. What that is worth is measured by `benchmarks/busy.py`."""

import os
import subprocess
import sys

import pytest

from seq2see.threads import SPINS

SETTINGS = ("OMP_WAIT_POLICY", *SPINS)


def _said(code: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """What a new process says in which nobody but the caller has decided on threads."""
    plain = {name: value for name, value in os.environ.items() if name not in SETTINGS}
    command = [sys.executable, "-W", "default", "-c", code]
    return subprocess.run(command, env=plain | variables, capture_output=True, text=True, check=True)


def test_spinning_is_bounded_before_torch_is_loaded() -> None:
    read = f"{{name: os.environ.get(name) for name in {[*SPINS]}}}"
    code = f"import seq2see, os, sys; print({read}, 'torch' in sys.modules)"
    assert _said(code).stdout == f"{SPINS} False\n"


def test_the_command_line_bounds_it_too() -> None:
    code = "import seq2see.cli, os, sys; print(os.environ.get('GOMP_SPINCOUNT'), 'torch' in sys.modules)"
    assert _said(code).stdout == f"{SPINS['GOMP_SPINCOUNT']} False\n"


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
