"""Decoding: one model for each task, trained here, its weights carried over to the peers."""

import json
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import yaml

from benchmarks.lab import SOURCE, CommandError, Cost, Lab, peer_script
from benchmarks.speed import recipes
from benchmarks.speed.results import CTRANSLATE2, HUGGING_FACE, Result
from benchmarks.speed.tasks import LONGEST, Text, read_lines

__all__ = ["TOOLS", "Carried", "Size", "carry_over", "decode", "run_tool"]

TOOLS = ["seq2see", HUGGING_FACE, CTRANSLATE2, "CTranslate2 int8"]
_TYPES = {CTRANSLATE2: "float32", "CTranslate2 int8": "int8"}
NEVER_ENDING = {"greedy, all end": "ending.src", "greedy, 2 % never end": "never-ending.src"}


@dataclass(frozen=True)
class Size:
    """Test lines to be decoded, and those of them that are decoded one by one."""

    lines: int | None = None
    single: int = 200


@dataclass(frozen=True)
class Carried:
    """A trained run, and the folder with what the others need of it."""

    text: Text
    run: Path
    folder: Path

    @property
    def ctranslate2(self) -> Path:
        """The same model for CTranslate2."""
        return self.folder / "ctranslate2"


def carry_over(lab: Lab, text: Text, minutes: float) -> Carried:
    """Train a model for so many minutes and convert it, unless that has been done."""
    folder = text.file(f"model-{minutes:g}")
    carried = Carried(text, folder / "run", folder)
    if not carried.run.exists():
        print(f"training the model of task {text.task.name} for {minutes:g} minutes in {folder}", flush=True)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        _fit(lab, text, minutes, folder).rename(carried.run)
    if not carried.ctranslate2.exists():
        script: list[str | Path] = [sys.executable, peer_script("seq2see_prepare.py"), carried.run]
        files = [text.file("test.src"), text.file("types.txt"), folder]
        print(lab.run([*script, *files, str(LONGEST)], PYTHONPATH=str(SOURCE)).output, end="", flush=True)
        python, made = lab.environment("transformers") / "python", folder / "made"
        convert = [
            python,
            peer_script("marian_to_ctranslate2.py"),
            carried.run,
            folder / "logits.safetensors",
        ]
        print(lab.run([*convert, made]).output, end="", flush=True)
        made.rename(carried.ctranslate2)
    return carried


def _fit(lab: Lab, text: Text, minutes: float, folder: Path) -> Path:
    """Small batches and little dropout: the most that can be learnt in a few minutes."""
    recipe = recipes.seq2see(
        text, steps=4000, warmup=400, schedule="cosine", evaluate_every=100_000, dev_examples=100
    )
    recipe["model"]["dropout"] = 0.1
    recipe["training"] |= {"learning_rate": 0.001, "minutes": minutes}
    recipe["training"] |= {"batch_pairs": 128} if text.task.batch_pairs else {"batch_tokens": 1500}
    (folder / "recipe.yaml").write_text(yaml.safe_dump(recipe, sort_keys=False))
    lab.seq2see(
        *("train", f"{text.file('train.src')},{text.file('train.tgt')}"),
        *("--dev", f"{text.file('dev.src')},{text.file('dev.tgt')}"),
        *("--recipe", folder / "recipe.yaml", "--out", folder / "training", "--seed", "1"),
    )
    return folder / "training"


def decode(
    lab: Lab, models: list[Carried], tools: list[str], repeats: int, size: Size, before: Path | None
) -> Iterator[Result]:
    """Every tool in turn, each time in a new process that loads, warms up and tries its settings."""
    chosen = {name: SOURCE for name in tools if name in TOOLS}
    if before is not None:
        chosen["seq2see before"] = before
    yield from map(_ending, models)
    for repeat in range(repeats):
        for carried in models:
            outputs: dict[str, list[str]] = {}
            for name, source in chosen.items():
                blank = Result(carried.text.task.name, "", name, repeat)
                try:
                    found, cost, outputs[name] = run_tool(lab, carried, name, size, source=source)
                except CommandError as failure:
                    yield replace(blank, work="greedy").failed(failure)
                    continue
                yield from _figures(found, cost, blank)
            yield from _agreement(outputs, carried.text.task.name, repeat)


def _ending(carried: Carried) -> Result:
    """How many test outputs end by themselves: those that do not slow some tools more than others."""
    all_lines, ending = read_lines(carried.text.file("test.src")), carried.folder / "ending.src"
    share = len(read_lines(ending)) / len(all_lines) if ending.exists() else 1.0
    return Result(carried.text.task.name, "greedy outputs that end", "seq2see", 0).measured(100 * share, "%")


def run_tool(
    lab: Lab, carried: Carried, tool: str, size: Size, bulk: Path | None = None, source: Path = SOURCE
) -> tuple[dict[str, Any], Cost, list[str]]:
    """What a tool's script found, what it cost, and the greedy outputs."""
    with tempfile.TemporaryDirectory(dir=lab.folder) as name:
        folder = Path(name)
        never_ending = {work: carried.folder / file for work, file in NEVER_ENDING.items()}
        plan = {
            "model": str(carried.ctranslate2 if tool in _TYPES else carried.run),
            "type": _TYPES.get(tool),
            "test": str(carried.text.file("test.src")),
            "bulk": str(bulk) if bulk else None,
            "never_ending": {work: str(path) for work, path in never_ending.items() if path.exists()},
            "lines": size.lines,
            "single": size.single,
            "longest": LONGEST,
            "out": str(folder / "found.json"),
            "outputs": str(folder / "outputs.txt"),
        }
        (folder / "plan.json").write_text(json.dumps(plan))
        cost = lab.run([*_command(lab, tool), folder / "plan.json"], PYTHONPATH=str(source))
        found = json.loads((folder / "found.json").read_text())
        return found, cost, read_lines(folder / "outputs.txt")


def _command(lab: Lab, tool: str) -> list[str | Path]:
    if tool.startswith("seq2see"):
        return [sys.executable, peer_script("seq2see_decode.py")]
    script = "ctranslate2_decode.py" if tool in _TYPES else "marian_decode.py"
    return [lab.environment("transformers") / "python", peer_script(script)]


def _figures(found: dict[str, Any], cost: Cost, blank: Result) -> Iterator[Result]:
    for one in found["found"]:
        # Never-ending sources are tried with one setting only, that which was best just before.
        setting = {"note" if one["work"] in NEVER_ENDING else "option": one["setting"]}
        yield replace(blank, work=one["work"], **setting).measured(
            one["sentences"] / one["seconds"],
            "sentences/s",
            tokens_per_second=one["tokens"] / one["seconds"],
            megabytes=cost.megabytes,
        )
    for setting, seconds in found["latency"].items():
        yield replace(blank, work="one sentence, greedy", option=setting).measured(seconds * 1000, "ms")


def _agreement(outputs: dict[str, list[str]], task: str, repeat: int) -> Iterator[Result]:
    """The share of greedy outputs that are those of Hugging Face, up to where the limit cuts."""
    reference = outputs.pop(HUGGING_FACE, None)
    for name, those in outputs.items() if reference else ():
        pairs = zip(those, reference or [], strict=True)
        same = sum(one.split(" ")[: LONGEST - 1] == other.split(" ")[: LONGEST - 1] for one, other in pairs)
        result = Result(task, "greedy outputs equal to HF's", name, repeat)
        yield result.measured(100 * same / len(those), "%")
