"""Training speed on a busy machine: every tool in turn, beside none, one and two processes that only count.

    python -m benchmarks.busy --data ../shared/data

The two tasks and the tools are those of `benchmarks.speed`. Each run is a process of its own, two threads;
tools and loads take turns, so that whatever else the machine does hits all alike. Prints medians in target
tokens a second, and the share of its own quiet speed that each tool keeps. `--before COMMIT` adds an earlier
seq2see.
"""

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from statistics import median

from benchmarks.lab import HOME, CommandError, Lab, checkout, write_json
from benchmarks.speed.results import HUGGING_FACE
from benchmarks.speed.tasks import TASKS, Text, prepare
from benchmarks.speed.training import TOOLS, Length, Train, Trained, train_seq2see

LOADS = (0, 1, 2)
Speeds = dict[tuple[str, str, int], list[float]]


def main() -> None:
    """Measure in turns; the table is printed and kept after every round."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="holds multi30k/ and cmudict/")
    parser.add_argument("--lab", type=Path, default=HOME)
    parser.add_argument("--out", type=Path, default=Path("runs/busy"))
    parser.add_argument("--tasks", nargs="+", choices=TASKS, default=[*TASKS])
    parser.add_argument("--tools", nargs="+", choices=TOOLS, default=["seq2see", HUGGING_FACE, "eole"])
    parser.add_argument("--loads", nargs="+", type=int, default=[*LOADS])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument(
        "--steps", type=int, default=14, help="updates of a run; the first four are not timed"
    )
    parser.add_argument("--before", metavar="COMMIT", help="an earlier seq2see to stand beside this one")
    given = parser.parse_args()
    lab = Lab(given.lab.absolute())
    texts = [prepare(TASKS[name], given.data, lab) for name in given.tasks]
    speeds: Speeds = {}
    with checkout(given.before, lab) as before:
        tools: dict[str, Train] = {name: TOOLS[name] for name in given.tools}
        if before is not None:
            tools["seq2see before"] = partial(train_seq2see, source=before)
        for turn in range(given.repeats):
            for text in texts:
                for load in given.loads:
                    for name, run in tools.items():
                        found = _one(lab, text, load, run, Length(given.steps, 4))
                        print(f"{turn + 1} {text.task.name} {name} beside {load}: {found:,.0f}", flush=True)
                        speeds.setdefault((text.task.name, name, load), []).append(found)
            table = _table(speeds, given.loads)
            write_json(
                given.out / "busy.json", {" ".join(map(str, key)): all_ for key, all_ in speeds.items()}
            )
            (given.out / "busy.md").write_text(table + "\n")
    print(table)


def _one(
    lab: Lab, text: Text, load: int, run: Callable[[Lab, Text, Length, Path], Trained], length: Length
) -> float:
    """Target tokens a second, or nothing where a tool fails."""
    with tempfile.TemporaryDirectory(dir=lab.folder) as folder, _busy(load):
        try:
            return run(lab, text, length, Path(folder)).tokens_per_second
        except CommandError as failure:
            print(str(failure)[-500:], flush=True)
            return 0.0


@contextmanager
def _busy(count: int) -> Iterator[None]:
    """So many processes that keep a core busy each, for as long as this lasts."""
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()


def _table(speeds: Speeds, loads: list[int]) -> str:
    names = {0: "quiet", 1: "beside one"}
    heads = [names.get(load, f"beside {load}") for load in loads]
    lines = [f"| task | tool | {' | '.join(heads)} |", f"|---|---|{'---|' * len(heads)}"]
    for task, tool in dict.fromkeys((task, tool) for task, tool, _ in speeds):
        quiet = median(speeds.get((task, tool, 0), [0.0]))
        cells = []
        for load in loads:
            speed = median(speeds[task, tool, load])
            cells.append(f"{speed:,.0f}" + (f" ({speed / quiet:.0%})" if load and quiet else ""))
        lines.append(f"| {task} | {tool} | {' | '.join(cells)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
