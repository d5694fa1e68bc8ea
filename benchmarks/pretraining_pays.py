"""Whether pre-training pays: an encoder that has learnt to fill gaps against the same encoder from scratch.

Both are trained on the same 1,000 labelled sentences of SST-2, with the same vocabulary, and judged on its
test set; weights are chosen on its dev set. The text for gaps is what is at hand without labels: the training
sentences of SST-2 and other plain English, in lower case; never a dev or test sentence. What was done is not
done again: stopped, the script goes on where it was.
"""

import argparse
import gzip
import random
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean
from typing import Any

from benchmarks.lab import HOME, Lab, write_json
from seq2see.data import Pair
from seq2see.evaluation import Classes, compare
from seq2see.goals import load

LABELLED = 1000
WANTED = 2.0
"""Points of accuracy."""
FILLER = (
    "data.documents=line",
    "model.encoder.layers=2",
    "text.source.size=6000",
    "training.masking.share=0.3",  # of little text, more is to be told at a time
    "training.batch_tokens=2048",
    "training.steps=100000",  # time ends it, and the schedule keeps pace
)
FEW = ("model.front.token_dropout=0.3", "model.dropout=0.3", "training.steps=400")
"""What suits few sentences, by the dev set: both kinds get better with it."""
SCRATCH = ("training.lower_rate=1", "training.learning_rate=0.0016")
"""What suits an encoder that knows nothing, by the dev set."""
STARTS: dict[str, tuple[str, tuple[str, ...]]] = {
    "pre-trained": ("filler", FEW),
    "scratch": ("nothing", FEW + SCRATCH),
}
"""Which run each begins with, and further settings."""


def main() -> None:
    """Pre-train once, fine-tune with each seed, compare."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--data", type=Path, required=True, help="the folder that holds the corpora")
    parser.add_argument("--lab", type=Path, default=HOME)
    parser.add_argument("--out", type=Path, default=Path("runs/pretraining-pays"))
    parser.add_argument("--minutes", type=float, default=30, help="of pre-training")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    lab, out = Lab(arguments.lab.absolute(), arguments.threads), arguments.out
    files = prepared(arguments.data, out, arguments.seeds)
    settings = [word for one in FILLER for word in ("--set", one)]
    pretrain: list[str | Path] = ["train", files["text"], "--goal", "fill", *settings]
    lab.seq2see(*pretrain, "--max-minutes", str(arguments.minutes), "--out", out / "filler", "--resume")
    # One step at no rate: the vocabulary and the settings of the other, and weights that know nothing.
    nothing = ("--max-steps", "1", "--set", "training.learning_rate=1e-12")
    lab.seq2see(*pretrain, *nothing, "--out", out / "nothing", "--resume")
    found: dict[str, list[dict[str, Any]]] = {"pre-trained": [], "scratch": []}
    for seed in arguments.seeds:
        for name, (start, more) in STARTS.items():
            run = out / f"{name}-{seed}"
            words: list[str | Path] = ["train", files[f"train-{seed}"], "--goal", "classify"]
            words += ["--dev", files["dev"], "--from", out / start, "--seed", str(seed)]
            words += [word for one in more for word in ("--set", one)]
            lab.seq2see(*words, "--out", run, "--resume")
            found[name].append(judged(run, files["test"], files["dev"]))
            write_json(out / "pretraining-pays.json", {"runs": told(found), **verdict(found)})
            print(f"{name}, seed {seed}: {found[name][-1]['test']:.2f}", flush=True)
    write_json(out / "pretraining-pays.json", {"runs": told(found), **verdict(found)})
    print(verdict(found))


def prepared(data: Path, out: Path, seeds: list[int]) -> dict[str, Path]:
    """Write the files for training, unless they are there."""
    out.mkdir(parents=True, exist_ok=True)
    files = {name: out / f"{name}.tsv" for name in ("dev", "test", *(f"train-{seed}" for seed in seeds))}
    files["text"] = out / "text.txt"
    labelled = lines(data / "sst2" / "train.tsv.gz")
    for name in ("dev", "test"):
        files[name].write_text("".join(f"{one}\n" for one in lines(data / "sst2" / f"{name}.tsv.gz")))
    for seed in seeds:
        chosen = random.Random(seed).sample(labelled, LABELLED)
        files[f"train-{seed}"].write_text("".join(f"{one}\n" for one in chosen))
    unseen = {
        row.split("\t")[0] for name in ("dev", "test") for row in lines(data / "sst2" / f"{name}.tsv.gz")
    }
    texts = [text for text in unlabelled(data) if text not in unseen]
    random.Random(1).shuffle(texts)  # the end is held out: it should be like the rest
    files["text"].write_text("".join(f"{text}\n" for text in texts))
    return files


def unlabelled(data: Path) -> Iterator[str]:
    """Sentences without labels, in lower case; those that are most like the labelled ones come more often."""
    for name, times in (("sst2/train.tsv.gz", 3), ("ud_ewt/train.pos.tsv.gz", 2)):
        for row in lines(data / name) * times:
            yield row.split("\t")[0].lower()
    speech: list[str] = []
    for row in [*lines(data / "tinyshakespeare" / "input.txt.gz"), ""]:
        if row.strip():
            speech.append(row.strip())
        elif speech:
            yield " ".join(speech).lower()
            speech = []


def lines(path: Path) -> list[str]:
    """The lines of a gzip file."""
    return gzip.decompress(path.read_bytes()).decode().removesuffix("\n").split("\n")


def judged(run: Path, test: Path, dev: Path) -> dict[str, Any]:
    """The accuracy of a run on test and dev, and its test outcome."""
    model = load(run, "cpu")
    outcomes = {}
    for name, path in (("test", test), ("dev", dev)):
        rows = [row.split("\t") for row in path.read_text().removesuffix("\n").split("\n")]
        pairs = [Pair(number, text, label, "") for number, (text, label) in enumerate(rows, 1)]
        outcomes[name] = model.outcome(pairs)
    accuracy = {name: 100 * float(fmean(one.right()[:, 0])) for name, one in outcomes.items()}  # type: ignore[attr-defined]
    return {**accuracy, "outcome": outcomes["test"]}


def told(found: dict[str, list[dict[str, Any]]]) -> dict[str, list[dict[str, float]]]:
    """The figures of every run."""
    return {
        name: [{key: one[key] for key in ("test", "dev")} for one in runs] for name, runs in found.items()
    }


def verdict(found: dict[str, list[dict[str, Any]]]) -> dict[str, Any]:
    """The mean difference, and the paired test over all test sentences of all seeds."""
    pairs = list(zip(found["scratch"], found["pre-trained"], strict=False))
    if not pairs:
        return {}
    first, second = (joined([pair[side]["outcome"] for pair in pairs]) for side in (0, 1))
    (one,) = (one for one in compare(first, second) if one.metric == "accuracy")
    gain = one.difference
    return {
        "scratch": one.first,
        "pre-trained": one.second,
        "gain": gain,
        "p": one.p,
        "reached": gain >= WANTED,
    }


def joined(outcomes: list[Classes]) -> Classes:
    """The outcomes of several runs as one."""
    names = [
        [one.labels[place] for one in outcomes for place in getattr(one, side)]
        for side in ("truth", "predicted")
    ]
    return Classes.named(names[0], names[1], sorted(set(names[0])))


if __name__ == "__main__":
    main()
