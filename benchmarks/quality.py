"""Quality on real corpora with no tuning: `seq2see train` on the file alone plus the dev file, several seeds.

Prints a line for each run and a table at the end. The corpora are not part of the project: name the
folder that holds `g2p2021/` (SIGMORPHON 2021, task 1), `inflection2017/` (CoNLL-SIGMORPHON 2017), `sst2/`,
`ud_ewt/` (UD English EWT) and `deeptm/`, whose dev set is held out by `seq2see train` itself.
"""

import argparse
import json
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean


@dataclass(frozen=True)
class Task:
    """Files by part (`{}` is train, dev or test), the options they need, and the scores that count."""

    files: str
    metrics: tuple[str, ...]
    options: tuple[str, ...] = ()
    train: str = "train"
    dev: bool = True


TASKS = {
    "icelandic": Task("g2p2021/low/ice_{}.tsv.gz", ("wer",)),
    "dutch": Task("g2p2021/medium/dut_{}.tsv.gz", ("wer",)),
    "turkish": Task("inflection2017/turkish-{}.tsv.gz", ("exact",), ("--features", "3"), "train-medium"),
    "sst2": Task("sst2/{}.tsv.gz", ("accuracy",)),
    "universal-tags": Task("ud_ewt/{}.pos.tsv.gz", ("accuracy", "unseen_accuracy"), ("--target", "2")),
    "penn-tags": Task("ud_ewt/{}.pos.tsv.gz", ("accuracy", "unseen_accuracy"), ("--target", "3")),
    "both-tags": Task(
        "ud_ewt/{}.pos.tsv.gz",
        ("accuracy", "unseen_accuracy", "3.accuracy", "3.unseen_accuracy"),
        ("--target", "2,3"),
    ),
    "deeptm": Task("deeptm/{}.csv.gz", ("r2", "rmse"), ("--source", "sequence", "--target", "tm"), dev=False),
    "deeptm-ogt": Task(
        "deeptm/{}.csv.gz",
        ("r2", "rmse"),
        ("--source", "sequence", "--target", "tm", "--numbers", "ogt"),
        dev=False,
    ),
}


def main() -> None:
    """Train and evaluate each task with each seed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("tasks", nargs="*", default=[*TASKS], help=f"of {', '.join(TASKS)}")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--out", type=Path, default=Path("runs/quality"))
    parser.add_argument("--preset", help="a model by name instead of the automatic choice")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="as for train")
    arguments = parser.parse_args()
    changes = [word for change in arguments.set for word in ("--set", change)]
    out: Path = arguments.out
    if arguments.preset is not None:
        changes += ["--preset", arguments.preset]
        out = out / arguments.preset
    rows = []
    for name in arguments.tasks:
        runs = [run(name, arguments.data, seed, out, changes) for seed in arguments.seeds]
        longest = max(minutes for _, minutes in runs)
        for metric in TASKS[name].metrics:
            scores = [found[metric] for found, _ in runs]
            listed = ", ".join(f"{score:.4g}" for score in scores)
            rows.append(f"| {name} | {metric} | {fmean(scores):.4g} | {listed} | {longest:.1f} |")
    print("| task | score | mean | each seed | longest run, minutes |\n|---|---|---|---|---|")
    print("\n".join(rows))


def run(name: str, data: Path, seed: int, out: Path, changes: list[str]) -> tuple[dict[str, float], float]:
    """Train once (going on if it was stopped) and evaluate on the test file; gives scores and minutes."""
    task = TASKS[name]
    train, dev, test = (data / task.files.format(part) for part in (task.train, "dev", "test"))
    folder = out / f"{name}-{seed}"
    command = [sys.executable, "-m", "seq2see"]
    started = time.perf_counter()
    options = [*task.options, *changes, "--out", str(folder), "--seed", str(seed), "--resume"]
    held_out = ["--dev", str(dev)] if task.dev else []
    said = subprocess.run(
        [*command, "train", str(train), *held_out, *options, "--json"],
        check=True,
        capture_output=True,
        text=True,
    )
    seconds = time.perf_counter() - started
    scores = json.loads(
        subprocess.check_output([*command, "evaluate", str(folder), str(test), "--json"], text=True)
    )
    listed = ", ".join(f"{metric} {scores[metric]:.4g}" for metric in task.metrics)
    floor = scores.get("floor") or {}
    below = ", ".join(f"{metric} {floor[metric]:.4g}" for metric in task.metrics if metric in floor)
    steps = json.loads(said.stdout)["step"]
    print(
        f"{name} seed {seed}: {listed}, {steps} steps, {seconds:.0f} s; floor {floor.get('name')}: {below}",
        flush=True,
    )
    return scores, seconds / 60


if __name__ == "__main__":
    main()
