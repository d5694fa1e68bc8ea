"""What imported weights are worth: MiniLM fine-tuned on SST-2 and on the tags of English EWT.

The run to begin with is one that `seq2see import` made of the real MiniLM. Nothing else is said to `train`
but the files and the seed. Weights are chosen on the dev set, figures are of the test set. What was done is
not done again: stopped, the script goes on where it was.
"""

import argparse
import gzip
import json
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from benchmarks.lab import HOME, Lab, described_machine, write_json
from seq2see.training.log import read_log


@dataclass(frozen=True)
class Task:
    """Files for one goal, and the accuracy and the minutes that are wanted."""

    goal: str
    files: dict[str, str]
    accuracy: float
    minutes: float | None = None
    columns: int = 2
    """As many of the first columns are kept."""


TASKS = {
    "sst2": Task("classify", {part: f"sst2/{part}.tsv.gz" for part in ("train", "dev", "test")}, 89.0, 20),
    "ewt": Task("tag", {part: f"ud_ewt/{part}.pos.tsv.gz" for part in ("train", "dev", "test")}, 96.0),
}


def main() -> None:
    """Fine-tune with each seed, look at the test, print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("run", type=Path, help="the imported MiniLM")
    parser.add_argument("--data", type=Path, required=True, help="the folder that holds the corpora")
    parser.add_argument("--lab", type=Path, default=HOME)
    parser.add_argument("--out", type=Path, default=Path("runs/fine-tune-minilm"))
    parser.add_argument("--tasks", nargs="+", choices=TASKS, default=[*TASKS])
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="as of train")
    parser.add_argument("--max-steps", type=int, help="for a trial")
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    lab, out = Lab(arguments.lab.absolute(), arguments.threads), arguments.out
    found: dict[str, list[dict[str, float]]] = {}
    for name in arguments.tasks:
        task = TASKS[name]
        files = prepared(task, arguments.data, out / name)
        for seed in arguments.seeds:
            run = out / name / f"seed-{seed}"
            words: list[str | Path] = ["train", files["train"], "--dev", files["dev"], "--goal", task.goal]
            words += ["--from", arguments.run, "--seed", str(seed)]
            words += [word for one in arguments.set for word in ("--set", one)]
            words += ["--max-steps", str(arguments.max_steps)] if arguments.max_steps else []
            lab.seq2see(*words, "--out", run, "--resume")
            found.setdefault(name, []).append(judged(lab, run, files["test"]))
            write_json(out / "fine-tune-minilm.json", {"machine": described_machine(), **told(found)})
            row = found[name][-1]
            print(f"{name}, seed {seed}: {row['test']:.2f} in {row['minutes']:.1f} minutes", flush=True)
    print("\n| task | test accuracy | wanted | minutes |\n|---|---|---|---|")
    for name, runs in found.items():
        accuracy, minutes = fmean(one["test"] for one in runs), max(one["minutes"] for one in runs)
        print(f"| {name} | {accuracy:.2f} | {TASKS[name].accuracy} | {minutes:.1f} |")


def prepared(task: Task, data: Path, out: Path) -> dict[str, Path]:
    """The files with the columns that are needed."""
    out.mkdir(parents=True, exist_ok=True)
    files = {}
    for part, name in task.files.items():
        files[part] = out / f"{part}.tsv"
        rows = gzip.decompress((data / name).read_bytes()).decode().removesuffix("\n").split("\n")
        files[part].write_text("".join("\t".join(row.split("\t")[: task.columns]) + "\n" for row in rows))
    return files


def judged(lab: Lab, run: Path, test: Path) -> dict[str, float]:
    """Accuracy on the test set, the best on the dev set, and minutes of training."""
    scores = json.loads(lab.seq2see("evaluate", run, test, "--json", "--no-floor").output)
    records = list(read_log(run / "metrics.jsonl"))
    seconds = max((one["seconds"] for one in records if "seconds" in one), default=0.0)
    dev = max((one["dev"]["accuracy"] for one in records if "dev" in one), default=0.0)
    return {"test": scores["accuracy"], "dev": dev, "minutes": seconds / 60}


def told(found: dict[str, list[dict[str, float]]]) -> dict[str, object]:
    """The figures of every run, their mean, and whether that is what was wanted."""
    return {
        name: {
            "runs": runs,
            "mean": (mean := fmean(one["test"] for one in runs)),
            "reached": mean >= TASKS[name].accuracy
            and all(one["minutes"] <= (TASKS[name].minutes or one["minutes"]) for one in runs),
        }
        for name, runs in found.items()
    }


if __name__ == "__main__":
    main()
