"""Training: target tokens in a second of every tool, each run in a process of its own, tools in turn."""

import json
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import harmonic_mean
from typing import Any

import yaml

from benchmarks.lab import SOURCE, CommandError, Cost, Lab, peer_script
from benchmarks.speed import recipes
from benchmarks.speed.results import HUGGING_FACE, Result
from benchmarks.speed.tasks import Text

__all__ = ["TOOLS", "Length", "train"]


@dataclass(frozen=True)
class Length:
    """Updates in a run, and those at its start that are not timed."""

    steps: int
    warmup: int

    @property
    def window(self) -> int:
        """Updates that are told of together, by tools that tell a speed."""
        return min(5, self.warmup)


@dataclass(frozen=True)
class Trained:
    """The speed of one run; the share of padding on both sides, where it can be known."""

    tokens_per_second: float
    padding: float | None
    cost: Cost


Train = Callable[[Lab, Text, Length, Path], Trained]


def train_seq2see(lab: Lab, text: Text, length: Length, folder: Path, source: Path = SOURCE) -> Trained:
    """`seq2see train`, timed by the record that every run keeps."""
    beyond = length.steps + 1
    recipe = recipes.seq2see(
        text, steps=length.steps, evaluate_every=beyond, save_every=beyond, dev_examples=1
    )
    cost = lab.run(
        [
            *(sys.executable, peer_script("seq2see_counted.py", source.parent), folder / "counts.json"),
            *("train", f"{text.file('train.src')},{text.file('train.tgt')}"),
            *("--dev", f"{text.file('dev.src')},{text.file('dev.tgt')}"),
            *("--recipe", _written(recipe, folder), "--out", folder / "run", "--seed", "1"),
        ],
        PYTHONPATH=str(source),
    )
    lines = (folder / "run" / "metrics.jsonl").read_text().splitlines()
    updates = [record for record in map(json.loads, lines) if "tokens" in record]
    return Trained(
        _speed(updates, length), _padding([json.loads((folder / "counts.json").read_text())]), cost
    )


def train_marian(lab: Lab, text: Text, length: Length, folder: Path) -> Trained:
    """Hugging Face's Marian and Seq2SeqTrainer, which groups pairs by length but counts pairs, not tokens."""
    python, settings = lab.environment("transformers") / "python", folder / "settings.json"
    settings.write_text(json.dumps(recipes.marian(text, length.steps, folder)))
    return _noted(lab.run([python, peer_script("marian_train.py"), settings]), length, folder)


def train_yoyodyne(lab: Lab, text: Text, length: Length, folder: Path) -> Trained:
    """Yoyodyne's Transformer by its own command, with a callback."""
    command = lab.environment("yoyodyne") / "yoyodyne"
    config = _written(recipes.yoyodyne(text, length.steps, folder), folder)
    cost = lab.run([command, "fit", "--config", config], PYTHONPATH=str(peer_script(".")))
    return _noted(cost, length, folder)


def train_eole(lab: Lab, text: Text, length: Length, folder: Path) -> Trained:
    """Eole by its own command, which tells source and target tokens in a second."""
    config = _written(recipes.eole(text, length.steps, length.window, folder), folder)
    cost = lab.run([lab.environment("eole") / "eole", "train", "-config", config])
    return _told(r"/\s*(\d+) tok/s;", cost, length)


def train_joeynmt(lab: Lab, text: Text, length: Length, folder: Path) -> Trained:
    """JoeyNMT by its own command, which tells target tokens in a second."""
    config = _written(recipes.joeynmt(text, length.steps, length.window, folder), folder)
    python = lab.environment("joeynmt") / "python"
    cost = lab.run([python, "-m", "joeynmt", "train", config, "--skip-test"])
    return _told(r"Tokens per Sec:\s*(\d+)", cost, length)


TOOLS: dict[str, Train] = {
    "seq2see": train_seq2see,
    HUGGING_FACE: train_marian,
    "eole": train_eole,
    "JoeyNMT": train_joeynmt,
    "yoyodyne": train_yoyodyne,
}


def train(
    lab: Lab, texts: list[Text], tools: list[str], repeats: int, length: Length, before: Path | None
) -> Iterator[Result]:
    """Every tool in turn, so that what else the machine does hits all alike."""
    chosen = {name: TOOLS[name] for name in tools if name in TOOLS}
    if before is not None:
        chosen["seq2see before"] = partial(train_seq2see, source=before)
    for repeat in range(repeats):
        for text in texts:
            peak = float(lab.run([sys.executable, peer_script("gemm.py")]).output)
            yield Result(text.task.name, "GEMM peak", "this machine", repeat, "FLOP/s", peak)
            for name, run in chosen.items():
                # Yoyodyne is made for characters.
                if name != "yoyodyne" or text.task.name == "B":
                    yield _one(lab, text, length, peak, Result(text.task.name, "training", name, repeat), run)


def _one(lab: Lab, text: Text, length: Length, peak: float, result: Result, run: Train) -> Result:
    with tempfile.TemporaryDirectory(dir=lab.folder) as folder:
        try:
            found = run(lab, text, length, Path(folder))
        except CommandError as failure:
            return result.failed(failure)
    return result.measured(
        found.tokens_per_second,
        "tokens/s",
        tokens_per_second=found.tokens_per_second,
        padding=found.padding,
        utilisation=found.tokens_per_second * text.flops_per_token / peak,
        megabytes=found.cost.megabytes,
    )


def _written(settings: dict[str, Any], folder: Path) -> Path:
    path = folder / "settings.yaml"
    # Some of the tools would read references to what stands twice, others would not.
    path.write_text(yaml.dump(json.loads(json.dumps(settings)), Dumper=yaml.SafeDumper, sort_keys=False))
    return path


def _noted(cost: Cost, length: Length, folder: Path) -> Trained:
    """The result of a run whose updates were noted one by one."""
    updates = json.loads((folder / "speed.json").read_text())["all"]
    return Trained(_speed(updates, length), _padding(updates[length.warmup :]), cost)


def _speed(updates: list[dict[str, Any]], length: Length) -> float:
    """Tokens of all updates after the warm-up, over the time from its end to that of the last one."""
    tokens = sum(update["tokens"] for update in updates[length.warmup :])
    return float(tokens / (updates[-1]["seconds"] - updates[length.warmup - 1]["seconds"]))


def _padding(counts: list[dict[str, int]]) -> float | None:
    places = sum(count["places"] for count in counts)
    return 1 - sum(count["kept"] for count in counts) / places if places else None


def _told(pattern: str, cost: Cost, length: Length) -> Trained:
    """The result of a run that told a speed after every window of as many updates."""
    told = cost.output + cost.messages
    speeds = [float(speed) for speed in re.findall(pattern, told)][length.warmup // length.window :]
    if not speeds:
        raise CommandError(f"{told[-2000:]}\nno speed was told")
    return Trained(harmonic_mean(speeds), None, cost)
