"""Threads that are fair to a busy machine."""

import os
import subprocess
import sys

import pytest

WORK = """
import sys, time
import seq2see
import torch
torch.set_num_threads(2)
small = torch.randn(160, 160)
for _ in range(50):
    small @ small
print("ready", flush=True)
sys.stdin.readline()
rounds, end = 0, time.perf_counter() + 2.5
while time.perf_counter() < end:
    (small @ small).relu_().sum()
    rounds += 1
print(rounds)
"""


def _python(code: str, **variables: str) -> subprocess.CompletedProcess[str]:
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("OMP", "GOMP", "KMP"))}
    return subprocess.run(
        [sys.executable, "-W", "always", "-c", code], env=plain | variables, capture_output=True, text=True
    )


def test_spinning_is_bounded_before_torch_is_loaded() -> None:
    said = _python("import seq2see, os, sys; print(os.environ['GOMP_SPINCOUNT'], 'torch' in sys.modules)")
    assert said.stdout.split() == ["10000", "False"], said.stderr


@pytest.mark.parametrize("name", ["OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME"])
def test_what_somebody_has_decided_stays(name: str) -> None:
    chosen = {"OMP_WAIT_POLICY": "ACTIVE"}.get(name, "7")
    code = "import seq2see, os; print([os.environ.get(n) for n in ('OMP_WAIT_POLICY','GOMP_SPINCOUNT','KMP_BLOCKTIME')])"
    said = _python(code, **{name: chosen})
    assert said.stdout.count("None") == 2 and chosen in said.stdout


def test_torch_that_came_first_is_told_of_once() -> None:
    said = _python("import torch, seq2see, importlib; importlib.reload(seq2see)")
    assert said.stderr.count("torch was imported before seq2see") == 1


@pytest.mark.skipif((os.cpu_count() or 1) != 2, reason="as many busy processes as cores are needed")
def test_a_busy_machine_does_not_stop_two_threads() -> None:
    """Beside as many busy processes as there are cores, threads that spin for ever get far less done."""
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("OMP", "GOMP", "KMP"))}
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2)]
    try:
        rounds = {
            policy: max(_rounds(plain | variables) for _ in range(2))
            for policy, variables in {"fair": {}, "spinning": {"OMP_WAIT_POLICY": "ACTIVE"}}.items()
        }
    finally:
        for other in others:
            other.kill()
            other.wait()
    assert rounds["fair"] > 1.5 * rounds["spinning"], rounds


def _rounds(environment: dict[str, str]) -> int:
    with subprocess.Popen(
        [sys.executable, "-c", WORK],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as worker:
        assert worker.stdin is not None and worker.stdout is not None
        assert worker.stdout.readline() == "ready\n"
        return int(worker.communicate("go\n")[0])
