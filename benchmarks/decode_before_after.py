"""Decoding by two versions of the sources, measured in turns, so that a busy machine slows both alike.

    python -m benchmarks.decode_before_after /path/to/before/src src

Prints medians, the speed of the second in terms of the first, and whether all outputs are the same.
"""

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import time
from typing import IO, Any

MODELS = {
    "3+3 layers, width 256": {"layers": 3, "width": 256},
    "4+4 layers, width 128": {"layers": 4, "width": 128},
    "LSTM, width 128": {"layers": 1, "width": 128, "recurrent": True},
}
WAYS: dict[str, dict[str, Any]] = {
    "greedy": {"beam": 1},
    "beam 5": {"beam": 5, "length_penalty": 1.0},
    "5 samples": {"sample": True, "nbest": 5},
}
SIZE = 60


def main() -> None:
    """Start a process for each version, and give them the same work in turns."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("before", nargs="?")
    parser.add_argument("after", nargs="?")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--sources", type=int, nargs="+", default=[1, 500])
    parser.add_argument("--models", nargs="+", default=list(MODELS)[:2], choices=list(MODELS))
    parser.add_argument("--ways", nargs="+", default=list(WAYS)[:2], choices=list(WAYS))
    parser.add_argument("--processor", action="store_true", help="count processor time instead of time")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.worker:
        work(sys.stdin, sys.stdout)
        return
    workers = [_start(folder) for folder in (given.before, given.after)]
    print("model | way | sources | before ms | after ms | speed | same outputs")
    for model in given.models:
        for way in given.ways:
            for count in given.sources:
                task = {"model": MODELS[model], "way": WAYS[way], "sources": count}
                task["processor"] = given.processor
                figures = _compare(workers, task, given.repeats)
                print(f"{model} | {way} | {count} | {figures}", flush=True)
    for worker in workers:
        worker.kill()


def _compare(workers: list[subprocess.Popen[str]], task: dict[str, Any], repeats: int) -> str:
    """One row: medians of both, and the median of what each pair of turns gives."""
    outputs = [_ask(worker, task)["outputs"] for worker in workers]  # not counted
    times: list[list[float]] = [[], []]
    for turn in range(repeats):
        for place in (0, 1) if turn % 2 else (1, 0):
            times[place].append(_ask(workers[place], task)["seconds"])
    before, after = (1000 * statistics.median(some) for some in times)
    speed = statistics.median(first / second for first, second in zip(*times, strict=True))
    return f"{before:.1f} | {after:.1f} | {speed:.3f} | {'yes' if outputs[0] == outputs[1] else 'NO'}"


def _start(folder: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, __file__, "--worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": folder},
    )


def _ask(worker: subprocess.Popen[str], task: dict[str, Any]) -> dict[str, Any]:
    assert worker.stdin is not None and worker.stdout is not None
    worker.stdin.write(json.dumps(task) + "\n")
    worker.stdin.flush()
    found: dict[str, Any] = json.loads(worker.stdout.readline())
    return found


def work(tasks: IO[str], answers: IO[str]) -> None:
    """Decode what is asked for on each line."""
    models: dict[str, Any] = {}
    for line in tasks:
        task = json.loads(line)
        name = json.dumps(task["model"])
        if name not in models:
            models[name] = _model(**task["model"])
        answers.write(
            json.dumps(_decode(models[name], task["way"], task["sources"], task["processor"])) + "\n"
        )
        answers.flush()


def _model(layers: int, width: int, recurrent: bool = False) -> Any:
    """A model with random weights that prefers no token for ever."""
    import torch

    import seq2see.models as models

    torch.manual_seed(1)
    part: dict[str, Any] = {"layers": layers, "heads": 4, "feedforward": 4 * width}
    if recurrent:
        part = {"kind": "recurrent", "layers": layers}
    settings = models.ModelSettings.model_validate({"width": width, "encoder": part, "decoder": part})
    if hasattr(models, "Vocabulary"):
        from seq2see.text import STANDARD

        vocabulary = models.Vocabulary(SIZE, STANDARD)
        model: Any = models.make_encoder_decoder(settings, vocabulary, vocabulary).eval()
    else:  # version 0.1.0
        model = getattr(models, "Seq2Seq")(settings, SIZE, SIZE).eval()  # noqa: B009
    for parameter in model.parameters():
        parameter.data += torch.randn_like(parameter) * 0.05
    return model


def _decode(model: Any, way: dict[str, Any], count: int, processor: bool) -> dict[str, Any]:
    """Seconds and outputs; few sources are decoded one after another, several times over."""
    import torch

    from seq2see.decoding import DecodingSettings
    from seq2see.decoding.bulk import search_all

    draw = random.Random(1)
    sources = [[draw.randint(4, SIZE - 1) for _ in range(draw.randint(4, 16))] + [2] for _ in range(500)]
    calls = [sources[start : start + count] for start in range(0, min(len(sources), 8 * count), count)]
    settings = DecodingSettings(**way)
    clock = time.process_time if processor else time.perf_counter
    started = clock()
    with torch.inference_mode():
        found = [
            search_all(model, some, [len(source) + 5 for source in some], settings, keys=range(len(some)))
            for some in calls
        ]
    seconds = (clock() - started) / len(calls)
    outputs = [[one.ids for one in hypotheses] for some in found for hypotheses in some]
    return {"seconds": seconds, "outputs": outputs}


if __name__ == "__main__":
    main()
