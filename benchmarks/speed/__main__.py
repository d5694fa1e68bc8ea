"""Training and decoding speed of seq2see beside its peers, on two tasks that are the same for all.

Task A is English to German (Multi30k) in sub-words, task B pronunciation (CMUdict). The corpora are not
part of the project: name the folder that holds `multi30k/` and `cmudict/`. Text, environments and trained
models are made on the first run and kept in the lab folder. A tool that cannot be installed or started is
named in the table, and the others go on. Every tool takes its turn in each repeat, in a new process.

- train: target tokens in a second with data loading, after a warm-up; the end symbol counts, padding does
  not. MFU is the share of the peak of a large matrix product that the model's own products reach.
- decode: one model for each task, trained by seq2see, its weights carried over to the peers, whose logits
  are checked. Beams are ranked by plain probability in all tools. Of several batch sizes, the one with the
  best median counts. Where one sentence in fifty never ends, the others are the same as in the row above.
- engine: the whole command with `--engine ctranslate2`, against CTranslate2 itself.
- start: the time until seq2see does something.
"""

import argparse
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.lab import HOME, PEERS, Lab, checkout, commit, described_machine, write_json
from benchmarks.speed import decoding, training
from benchmarks.speed.engine import engine
from benchmarks.speed.results import Result, as_known, rows_of, table
from benchmarks.speed.startup import start
from benchmarks.speed.tasks import TASKS, prepare

WHAT = ("train", "decode", "engine", "start")
TOOLS = list(dict.fromkeys([*training.TOOLS, *decoding.TOOLS]))


def main() -> None:
    """Measure what is asked for; all that is known is on disk after every figure."""
    arguments = _arguments()
    lab = Lab(arguments.lab.absolute(), arguments.threads)
    lab.folder.mkdir(parents=True, exist_ok=True)
    about = {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": commit(),
        "before": arguments.before,
        "machine": described_machine(),
        "peers": {name: peer.install for name, peer in PEERS.items()},
        "settings": {name: str(value) for name, value in vars(arguments).items()},
    }
    results: list[Result] = []
    began = time.perf_counter()
    with checkout(arguments.before, lab) as before:
        for result in _results(arguments, lab, before):
            print(result, flush=True)
            results.append(result)
            about["minutes"] = round((time.perf_counter() - began) / 60, 1)
            _write(arguments.out, about, results)
    print(f"\n{(arguments.out / 'speed.md').read_text()}")


def _write(out: Path, about: dict[str, Any], results: list[Result]) -> None:
    rows = rows_of(results)
    write_json(out / "speed.json", about | as_known(rows, results))
    machine = ", ".join(f"{name} {value}" for name, value in about["machine"].items())
    head = f"{about['date']}, commit {about['commit']}, {about['minutes']} minutes in all; {machine}"
    (out / "speed.md").write_text(f"{head}\n\n{table(rows)}\n")


def _results(arguments: argparse.Namespace, lab: Lab, before: Path | None) -> Iterator[Result]:
    texts = [prepare(TASKS[name], arguments.data, lab) for name in arguments.tasks]
    if "train" in arguments.what:
        length = training.Length(6, 2) if arguments.quick else training.Length(arguments.steps, 10)
        yield from training.train(lab, texts, arguments.tools, arguments.repeats, length, before)
    if not {"decode", "engine", "start"} & set(arguments.what):
        return
    models = [decoding.carry_over(lab, text, arguments.train_minutes) for text in texts]
    size = decoding.Size(100, 20) if arguments.quick else decoding.Size()
    if "decode" in arguments.what:
        yield from decoding.decode(lab, models, arguments.tools, arguments.repeats, size, before)
    if "engine" in arguments.what:
        lines = 1_000 if arguments.quick else arguments.lines
        yield from engine(lab, models, arguments.repeats, size, lines)
    if "start" in arguments.what:
        yield from start(lab, models[0], arguments.repeats, before)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.speed", description=(__doc__ or "").split("\n", 1)[0]
    )
    parser.add_argument(
        "--data", type=Path, required=True, help="the folder that holds multi30k/ and cmudict/"
    )
    parser.add_argument("--lab", type=Path, default=HOME)
    parser.add_argument("--out", type=Path, default=Path("runs/speed"))
    parser.add_argument("--tasks", nargs="+", choices=TASKS, default=[*TASKS])
    parser.add_argument("--what", nargs="+", choices=WHAT, default=[*WHAT])
    parser.add_argument("--tools", nargs="+", choices=TOOLS, default=TOOLS)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--steps", type=int, default=50, help="updates in a training run")
    parser.add_argument("--lines", type=int, default=20_000, help="that the engine decodes")
    parser.add_argument(
        "--train-minutes", type=float, help="of the models that are decoded with; 6, or 1 with --quick"
    )
    parser.add_argument("--before", metavar="COMMIT", help="an earlier seq2see to stand beside this one")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--quick", action="store_true", help="short, once: does everything work?")
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.repeats = 1
    if arguments.train_minutes is None:
        arguments.train_minutes = 1 if arguments.quick else 6
    return arguments


if __name__ == "__main__":
    main()
