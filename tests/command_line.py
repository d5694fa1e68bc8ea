"""The command line in this process."""

import sys
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from seq2see.cli import main


@dataclass(frozen=True)
class Said:
    """What a command said, and its exit code."""

    code: int
    out: str
    err: str


Command = Callable[..., Said]


def command_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """What runs a command as the shell would."""

    def run(*words: object) -> Said:
        monkeypatch.setattr(sys, "argv", ["seq2see", *map(str, words)])
        monkeypatch.setenv("COLUMNS", "200")
        capsys.readouterr()
        try:
            main()
            code = 0
        except SystemExit as end:
            code = int(end.code or 0)
        said = capsys.readouterr()
        assert "Traceback" not in said.err
        return Said(code, said.out, said.err)

    return run
