"""How decoding is timed, for every tool alike: texts go in, texts come out, the model is loaded and warm."""

import json
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import median
from typing import Any

__all__ = ["BEAMS", "Decode", "measure", "read_lines", "read_plan"]

Decode = Callable[[list[str], int], list[str]]
"""Texts and the width of the beam, to the best outputs."""

BEAMS = {1: "greedy", 5: "beam 5"}


def read_plan() -> dict[str, Any]:
    """What is to be done, from the file that the command line names."""
    return dict(json.loads(Path(sys.argv[1]).read_text()))


def read_lines(path: str | Path) -> list[str]:
    """Lines that end in a line feed and in nothing else."""
    return Path(path).read_bytes().decode().removesuffix("\n").split("\n")


def measure(plan: dict[str, Any], batched: Mapping[str, Decode], single: Mapping[str, Decode]) -> None:
    """Time a tool with each of its settings and write what was found, and the greedy outputs."""
    lines = read_lines(plan["test"])[: plan["lines"]]
    found: list[dict[str, Any]] = []

    def timed(work: str, setting: str, decode: Decode, texts: list[str], beam: int) -> list[str]:
        started = time.perf_counter()
        outputs = decode(texts, beam)
        seconds = time.perf_counter() - started
        tokens = sum(len(output.split()) + 1 for output in outputs)
        found.append(
            {
                "work": work,
                "setting": setting,
                "sentences": len(texts),
                "tokens": tokens,
                "seconds": seconds,
            }
        )
        return outputs

    def best(work: str) -> str:
        return str(
            min((one for one in found if one["work"] == work), key=lambda one: one["seconds"])["setting"]
        )

    for decode in (*batched.values(), *single.values()):
        decode(lines[:8], 1)
    # Memory that a process has never touched may cost more than the work: all lines once, not timed.
    outputs = next(iter(batched.values()))(lines, 1)
    for beam, name in BEAMS.items():
        for setting, decode in batched.items():
            timed(name, setting, decode, lines, beam)
        if plan["bulk"]:
            setting = best(name)
            timed(f"{name}, bulk", setting, batched[setting], read_lines(plan["bulk"]), beam)
            continue
        for setting, decode in single.items():
            timed(f"{name}, batch 1", setting, decode, lines[: plan["single"] // beam], beam)
    if not plan["bulk"]:
        for work, path in plan["never_ending"].items():
            setting = best("greedy")
            timed(work, setting, batched[setting], read_lines(path)[: plan["lines"]], 1)
    latencies = {setting: _latency(decode, lines[: plan["single"]]) for setting, decode in single.items()}
    Path(plan["outputs"]).write_text("".join(f"{output}\n" for output in outputs))
    Path(plan["out"]).write_text(json.dumps({"found": found, "latency": latencies}))


def _latency(decode: Decode, lines: list[str]) -> float:
    """Median seconds from one sentence to its greedy output."""
    seconds = []
    for line in lines:
        started = time.perf_counter()
        decode([line], 1)
        seconds.append(time.perf_counter() - started)
    return median(seconds)
