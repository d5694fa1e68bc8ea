"""Quality in time: what `seq2see train` reaches on two real corpora in so many minutes, and the way there.

Multi30k English to German, lower-cased and tokenised, by BLEU on test2016 with a beam of five; CMUdict by the
share of test words whose pronunciation is none of those listed. Nothing is said to `train` but the files and
the time. A run that was stopped goes on where it was. The dev score at every look is the curve.
"""

import argparse
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import sacrebleu

from benchmarks.lab import HOME, Lab, write_json
from benchmarks.speed.tasks import TASKS, prepare, read_lines
from seq2see.training.log import read_log


@dataclass(frozen=True)
class Goal:
    """A corpus, the dev score that is watched, the minutes it has, and what is to be reached on the test."""

    metric: str
    minutes: float
    score: float


GOALS = {"multi30k": Goal("bleu", 60, 38), "cmudict": Goal("wer", 45, 25)}


def main() -> None:
    """Train, look at the test, and print the curve."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--data", type=Path, required=True, help="the folder that holds the corpora")
    parser.add_argument("--lab", type=Path, default=HOME)
    parser.add_argument("--out", type=Path, default=Path("runs/in-time"))
    parser.add_argument("--tasks", nargs="+", choices=GOALS, default=[*GOALS])
    parser.add_argument("--minutes", type=float, help="of training, instead of all that a task has")
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    lab = Lab(arguments.lab.absolute(), arguments.threads)
    for name in arguments.tasks:
        goal, run = GOALS[name], arguments.out / name
        files = FILES[name](arguments.data, lab)
        minutes = arguments.minutes or goal.minutes
        lab.seq2see(
            *("train", files["train"], "--dev", files["dev"]),
            *("--max-minutes", str(minutes), "--out", run, "--resume"),
        )
        score = SCORES[name](lab, run, files["test"])
        curve = looks(run, goal.metric)
        write_json(
            run / "in-time.json", {"minutes": minutes, "threads": lab.threads, "test": score, "dev": curve}
        )
        print(f"\n{name}: test {goal.metric} {score:.2f} after {minutes:g} minutes (wanted: {goal.score})\n")
        print(f"| minutes | dev {goal.metric} |\n|---|---|")
        print("\n".join(f"| {minute:.1f} | {value:.2f} |" for minute, value in curve), flush=True)


def looks(run: Path, metric: str) -> list[tuple[float, float]]:
    """When the dev set was looked at, in minutes of training, and its score."""
    minutes, found = 0.0, []
    for record in read_log(run / "metrics.jsonl"):
        if "seconds" in record:
            minutes = record["seconds"] / 60
        elif "dev" in record:
            found.append((minutes, record["dev"][metric]))
    return found


def multi30k(data: Path, lab: Lab) -> dict[str, str]:
    """Parallel files, tokenised in the lab."""
    text = prepare(TASKS["A"], data, lab)
    return {part: f"{text.file(f'{part}.en')},{text.file(f'{part}.de')}" for part in ("train", "dev", "test")}


def cmudict(data: Path, lab: Lab) -> dict[str, str]:
    """The corpus as it is."""
    return {part: str(data / "cmudict" / f"{part}.tsv.gz") for part in ("train", "dev", "test")}


def bleu(lab: Lab, run: Path, files: str) -> float:
    """Of the tokens as they stand in the file."""
    source, target = map(Path, files.split(","))
    outputs = lab.seq2see("decode", run, source, "--beam", "5").output.removesuffix("\n").split("\n")
    return float(sacrebleu.corpus_bleu(outputs, [read_lines(target)], tokenize="none", force=True).score)


def wer(lab: Lab, run: Path, file: str) -> float:
    """Words whose output is none of the pronunciations that the file lists for them."""
    said = json.loads(lab.seq2see("evaluate", run, file, "--json").output)
    return float(said["wer"])


FILES: dict[str, Callable[[Path, Lab], dict[str, str]]] = {"multi30k": multi30k, "cmudict": cmudict}
SCORES: dict[str, Callable[[Lab, Path, str], float]] = {"multi30k": bleu, "cmudict": wer}


if __name__ == "__main__":
    main()
