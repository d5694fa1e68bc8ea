"""Captions of Flickr8k from scratch: what `seq2see train` chooses, with and without attention.

    python -m benchmarks.flickr learn FLICKR8K --out FOLDER [--seeds 1] [--steps 1875] [--plain]
    python -m benchmarks.flickr compare FLICKR8K --runs RUN... --plain RUN...

`learn` trains on the 6,000 training images, looks at the dev images, and scores the test images once, by the
default beam, as they are and shuffled; a run that is there goes on, or is scored again. `--plain` leaves
attention out. `compare` asks by the paired test whether each run is better than the plain one beside it, and
then whether all are, by what each image's captions have on the mean over runs.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.lab import Lab
from seq2see.cli.columns import examples_for
from seq2see.evaluation import Captions
from seq2see.evaluation.captions import consensus
from seq2see.goals import load
from seq2see.training.log import read_log


def main() -> None:
    """Train and score, or compare."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    verbs = parser.add_subparsers(dest="verb", required=True)
    for name in ("learn", "compare"):
        verb = verbs.add_parser(name)
        verb.add_argument("data", type=Path, help="the folder of Flickr8k")
        verb.add_argument("--threads", type=int, default=2)
    learnt, compared = verbs.choices["learn"], verbs.choices["compare"]
    learnt.add_argument("--out", type=Path, required=True)
    learnt.add_argument("--seeds", default="1")
    learnt.add_argument("--steps", type=int)
    learnt.add_argument("--plain", action="store_true")
    compared.add_argument("--runs", type=Path, nargs="+", required=True)
    compared.add_argument("--plain", type=Path, nargs="+", required=True)
    asked = parser.parse_args()
    lab = Lab(Path(), asked.threads)
    if asked.verb == "compare":
        test = asked.data / "test.tsv.gz", *images(asked.data)
        for pair in zip(asked.plain, asked.runs, strict=True):
            print(json.dumps(answer(lab, "compare", *pair, *test)), flush=True)
        print(json.dumps(compare_means(asked.data, asked.plain, asked.runs)))
        return
    for seed in map(int, asked.seeds.split(",")):
        print(json.dumps(learn(lab, asked.data, asked.out, seed, asked.steps, asked.plain)), flush=True)


def learn(lab: Lab, data: Path, out: Path, seed: int, steps: int | None, plain: bool) -> dict[str, Any]:
    """Train with one seed, and score the test images."""
    run = out / f"{'plain' if plain else 'attention'}-{steps or 'chosen'}-{seed}"
    command: list[str | Path] = [
        "train",
        data / "train.tsv.gz",
        "--dev",
        data / "dev.tsv.gz",
        "--goal",
        "generate",
    ]
    command += [*images(data), "--out", run, "--seed", str(seed)]
    command += ["--max-steps", str(steps)] if steps else []
    if plain:  # heads are of an attention
        command += ["--set", "model.decoder.attention=none", "--set", "model.decoder.heads=1"]
    command += ["--resume"] if (run / "recipe.yaml").exists() else []
    trained = lab.seq2see(*command)
    print(trained.messages[-200:], file=sys.stderr)
    scores = answer(lab, "evaluate", run, data / "test.tsv.gz", *images(data), "--control")
    # The log knows the time of all starts of a run.
    seconds = max(row["seconds"] for row in read_log(run / "metrics.jsonl") if "seconds" in row)
    row = {"run": str(run), "seed": seed, "minutes": round(seconds / 60, 1), "threads": lab.threads}
    row |= {name: scores[name] for name in ("cider", "bleu", "shuffled")}
    run.with_suffix(".json").write_text(json.dumps(row) + "\n")
    return row


def compare_means(data: Path, plain: Sequence[Path], runs: Sequence[Path]) -> dict[str, float]:
    """CIDEr on the mean over runs, without and with attention, and p by a paired bootstrap over images."""
    columns = {"images": str(data / "images64.zip")}
    means = []
    for side in (plain, runs):
        each = []
        for model in map(load, side):
            outcome = model.outcome(examples_for(model, str(data / "test.tsv.gz"), columns))
            assert isinstance(outcome, Captions)
            each.append(consensus(outcome)[:, 0])
        means.append(np.mean(each, 0))
    differences = means[1] - means[0]
    draws = np.random.default_rng(1).integers(len(differences), size=(10_000, len(differences)))
    centred = differences[draws].mean(1) - differences.mean()
    p = (1 + int((np.abs(centred) >= abs(differences.mean())).sum())) / (1 + len(centred))
    return {"images": len(differences), "a": means[0].mean(), "b": means[1].mean(), "p": p}


def images(data: Path) -> list[str | Path]:
    """Where the images lie."""
    return ["--images", data / "images64.zip"]


def answer(lab: Lab, *words: str | Path) -> dict[str, Any]:
    """What a verb gives as JSON."""
    found: dict[str, Any] = json.loads(lab.seq2see(*words, "--json").output)
    return found


if __name__ == "__main__":
    main()
