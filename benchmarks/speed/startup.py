"""How long it takes until seq2see does something: help, import, one line decoded."""

import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.lab import SOURCE, CommandError, Lab
from benchmarks.speed.decoding import Carried
from benchmarks.speed.results import Result
from benchmarks.speed.tasks import read_lines, write_lines

__all__ = ["start"]


def start(lab: Lab, carried: Carried, repeats: int, before: Path | None) -> Iterator[Result]:
    """Each command with this version and the earlier one in turn."""
    one = carried.folder / "one.src"
    write_lines(one, read_lines(carried.text.file("test.src"))[:1])
    program: list[str | Path] = [sys.executable, "-m", "seq2see"]
    commands: dict[str, list[str | Path]] = {
        "seq2see --help": [*program, "--help"],
        "import seq2see": [sys.executable, "-c", "import seq2see"],
        "decode one line": [*program, "decode", carried.run, one],
    }
    versions = {"seq2see": SOURCE} | ({"seq2see before": before} if before else {})
    for repeat in range(repeats):
        for work, command in commands.items():
            for name, source in versions.items():
                result = Result(carried.text.task.name, f"start-up: {work}", name, repeat)
                try:
                    cost = lab.run(command, PYTHONPATH=str(source))
                except CommandError as failure:
                    yield result.failed(failure)
                else:
                    yield result.measured(cost.seconds, "s", megabytes=cost.megabytes)
