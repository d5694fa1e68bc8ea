"""Tasks in several processes: every answer comes, errors are told, nothing is left running."""

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from seq2see.errors import RunError, SettingsError
from seq2see.lab.running import run_several
from seq2see.lab.side_by_side import side_by_side


def square(number: int, tell: Callable[[str], None]) -> tuple[int, int]:
    if number == 13:
        raise SettingsError("13 is not liked")
    if number == 14:
        os.kill(os.getpid(), signal.SIGKILL)
    tell(f"squaring {number}")
    return number * number, torch.get_num_threads()


@pytest.mark.parametrize("jobs", [1, 2])
def test_every_task_is_done_once_with_one_thread(jobs: int) -> None:
    threads = torch.get_num_threads()
    told: list[str] = []
    found = dict(side_by_side(square, [3, 4, 5, 6, 7], jobs, told.append))
    assert found == {0: (9, 1), 1: (16, 1), 2: (25, 1), 3: (36, 1), 4: (49, 1)}
    assert sorted(told) == [f"squaring {number}" for number in (3, 4, 5, 6, 7)]
    assert torch.get_num_threads() == threads
    assert not multiprocessing.active_children()


@pytest.mark.parametrize(
    ("bad", "error", "said"), [(13, SettingsError, "13 is not liked"), (14, RunError, "ended from outside")]
)
def test_an_error_of_another_process_is_told(bad: int, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        list(side_by_side(square, [bad, 1, 2], 2, lambda _: None))
    assert not multiprocessing.active_children()


def test_side_by_side_is_as_one_after_the_other(tmp_path: Path) -> None:
    """The numbers are the same; experiments that take times come after all others."""
    names = ["encode-once", "paths"]
    ways = [
        list(
            run_several(
                {name: tmp_path / str(jobs) / name for name in names}, size="tiny", seeds=[1, 2], jobs=jobs
            )
        )
        for jobs in (1, 2)
    ]
    for way in ways:
        assert {one.experiment.name for one in way} == set(names)
        assert way[-1].experiment.name == "encode-once", "times are taken when nothing else runs"
    alone, beside = ({one.experiment.name: one for one in way} for way in ways)
    for name in names:
        assert alone[name].effects == beside[name].effects
    assert alone["paths"].rows == beside["paths"].rows


def test_an_interruption_ends_all_processes(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "seq2see", "lab", "--all", "--seeds", "1,2", "--jobs", "2"]
    with subprocess.Popen(
        [*command, "--out", tmp_path], stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if "training" in line:
                break
        os.killpg(process.pid, signal.SIGINT)
        said = process.stderr.read()
        assert process.wait(60) == 130
    assert "Traceback" not in said
    deadline = time.monotonic() + 20
    with pytest.raises(ProcessLookupError):
        while time.monotonic() < deadline:
            os.killpg(process.pid, 0)
            time.sleep(0.1)
