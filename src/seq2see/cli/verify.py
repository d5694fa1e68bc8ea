"""The verb `info --verify`: whether a run is as it was written."""

import sys
from pathlib import Path

from seq2see.cli.console import answer, results, table
from seq2see.digests import faults, sealed, whole
from seq2see.errors import RunError
from seq2see.goals import load
from seq2see.models.weights import is_checked
from seq2see.training import Checkpoints

__all__ = ["verify"]

_WHOLE, _UNCHECKED = "whole", "no checksum"


def verify(run: Path, as_json: bool) -> None:
    """Print what became of each file of a run; the exit code is 1 if the run is not whole."""
    if not run.is_dir():
        load(run)  # which refuses it with a sentence
    found = _files(run)
    problem = _problem(run) or next((fault for fault in found.values() if _is_bad(fault)), None)
    if as_json:
        answer({"run": str(run), "whole": problem is None, "files": found, "problem": problem})
    else:
        results.print(table(str(run), ("file", "state"), found.items()))
        said = f"{run} is not whole: {problem}" if problem else f"{run} is whole"
        results.print(said, soft_wrap=True)
    if problem:
        sys.exit(1)


def _is_bad(fault: str) -> bool:
    return not fault.startswith((_WHOLE, _UNCHECKED, "not whole"))


def _files(run: Path) -> dict[str, str]:
    """Every file that should be as it was written, with what became of it."""
    wrong = faults(run)
    found = {name: wrong.get(name, _WHOLE) for name in sealed(run)}
    checkpoints = Checkpoints(run)
    for path in (checkpoints.weights, checkpoints.state, *checkpoints.looks()):
        if path.exists():
            found[str(path.relative_to(run))] = _tensors(path)
    for export in sorted(run.glob("engines/*/[!.]*")):
        made_anew = "not whole: it will be made anew"
        found[str(export.relative_to(run))] = _WHOLE if whole(export) else made_anew
    return found


def _tensors(path: Path) -> str:
    try:
        return _WHOLE if is_checked(path) else f"{_UNCHECKED}: written by an older version"
    except RunError as error:
        return str(error)


def _problem(run: Path) -> str | None:
    """Why a run cannot be used, if it cannot."""
    try:
        load(run, "cpu")
    except RunError as error:
        return str(error)
    return None
