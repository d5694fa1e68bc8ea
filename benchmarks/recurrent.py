"""Training speed of an attending LSTM on CMUdict: seq2see beside yoyodyne's `SoftAttentionLSTMModel`.

Counts target tokens per second of wall-clock time, data loading included: the end symbol counts, padding
does not, and the first updates are left out. The tools take turns, each run in a process of its own. Sizes,
optimiser, learning rate and words in a batch are the same for both; all else is as each tool has it.

What yoyodyne does, so that the figures can be understood:
- its attention names Luong et al. (2015), but its score is the additive one, v tanh(M [memory; state] + b),
  from the state before the step, and the weighted memory goes into the LSTM beside the embedding;
- memory and state are joined and multiplied by M anew at each target step, with all of the memory in it;
- batches are drawn at random and padded to their longest word, without length buckets. The encoder packs
  its input, so padding costs it nothing; attention and decoder run over the padding;
- it has one embedding for both sides, and its output layer has a row for every symbol of either side.

So there are two rows for seq2see. With input feeding, what a step read goes into the next step of the LSTM:
the same recurrence as yoyodyne's, step by step, and the row to compare. Without it, which is the default,
the LSTM runs over all of the target at once and attention comes after it: a smaller model of another design.

The corpus is not part of the project: name the folder that holds `cmudict/`. The environment of yoyodyne is
made on the first run. Run it as `python -m benchmarks.recurrent`.
"""

import argparse
import gzip
import json
import shutil
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.lab import HOME, PEERS, CommandError, Lab, commit, described_machine, peer_script, write_json
from seq2see.models.weights import read_tensors
from seq2see.training.log import read_log

PEER = "yoyodyne"

YOYODYNE_CONFIG = """
seed_everything: 1
trainer:
  accelerator: cpu
  max_steps: {steps}
  limit_val_batches: 0
  enable_progress_bar: false
  logger: {{class_path: lightning.pytorch.loggers.CSVLogger, init_args: {{save_dir: {folder}}}}}
  callbacks: [{{class_path: yoyodyne_speed.Speed, init_args: {{path: {folder}/speed.json}}}}]
checkpoint: {{every_n_epochs: {steps}}}
data:
  model_dir: {folder}
  train: {train}
  val: {dev}
  target_sep: " "
  batch_size: 512
model:
  class_path: yoyodyne.models.SoftAttentionLSTMModel
  init_args:
    source_encoder:
      class_path: yoyodyne.models.modules.LSTMEncoder
      init_args: {{embedding_size: 256, hidden_size: 512, layers: 1, bidirectional: true, dropout: 0.3}}
    embedding_size: 256
    decoder_hidden_size: 512
    decoder_layers: 1
    decoder_dropout: 0.3
    label_smoothing: 0.1
    optimizer: {{class_path: torch.optim.Adam, init_args: {{lr: 0.001}}}}
"""

# A hidden state of 1024 is that of both directions together. Looks and saves lie past the end.
RECIPE = """
text: {{source: {{kind: characters}}, target: {{kind: symbols}}, shared: false}}
model:
  width: 256
  dropout: 0.3
  tie_output: false
  share_embeddings: false
  encoder: {{kind: recurrent, cell: lstm, layers: 1, bidirectional: true, hidden: 1024}}
  decoder: {{kind: recurrent, cell: lstm, layers: 1, hidden: 512, attention: additive, input_feeding: {fed}}}
training:
  steps: {steps}
  batch_pairs: 512
  batch_tokens: 1000000
  optimizer: adam
  learning_rate: 0.001
  schedule: constant
  warmup: 0
  label_smoothing: 0.1
  evaluate_every: {beyond}
  save_every: {beyond}
  dev_examples: 1
  device: cpu
"""


@dataclass(frozen=True)
class Measured:
    """One run: its speed after the warm-up, and its loss at both ends as a proof that it learns."""

    parameters: int
    tokens_per_second: float
    first_loss: float
    last_loss: float


@dataclass(frozen=True)
class Bench:
    """What all runs have in common."""

    train: Path
    dev: Path
    lab: Lab
    steps: int
    warmup: int


def main() -> None:
    """Let the tools take turns, and print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--data", type=Path, required=True, help="the folder that holds cmudict/")
    parser.add_argument("--lab", type=Path, default=HOME)
    parser.add_argument("--out", type=Path, default=Path("runs/recurrent.json"))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--steps", type=int, default=40, help="updates in a run, the warm-up counted")
    parser.add_argument("--warmup", type=int, default=5, help="updates at the start that are not timed")
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    if not 1 <= arguments.warmup <= arguments.steps - 2:
        parser.error(f"a --warmup of {arguments.warmup} in --steps {arguments.steps}: try 5 in 40")
    lab = Lab(arguments.lab.absolute(), arguments.threads)
    lab.folder.mkdir(parents=True, exist_ok=True)
    train, dev = (
        unpacked(arguments.data / "cmudict" / f"{part}.tsv.gz", lab.folder) for part in ("train", "dev")
    )
    bench = Bench(train, dev, lab, arguments.steps, arguments.warmup)
    tools: dict[str, Callable[[Bench, Path], Measured]] = {
        PEER: run_yoyodyne,
        "seq2see, input feeding": partial(run_seq2see, feeding=True),
        "seq2see, default": partial(run_seq2see, feeding=False),
    }
    runs: dict[str, list[Measured]] = {name: [] for name in tools}
    for number in range(1, arguments.repeats + 1):
        for name, run in tools.items():
            with tempfile.TemporaryDirectory(dir=lab.folder) as folder:
                try:
                    one = run(bench, Path(folder))
                except CommandError as failure:
                    sys.exit(str(failure))
            runs[name].append(one)
            loss = f"loss {one.first_loss:.2f} -> {one.last_loss:.2f}"
            print(f"run {number}, {name}: {one.tokens_per_second:,.0f} tokens/s, {loss}", flush=True)
    report(runs, bench, arguments.out)


def unpacked(path: Path, folder: Path) -> Path:
    """The pairs as a plain file, which both tools read."""
    plain = folder / f"cmudict-{path.name.removesuffix('.gz')}"
    with gzip.open(path) as packed, plain.open("wb") as file:
        shutil.copyfileobj(packed, file)
    return plain


def run_yoyodyne(bench: Bench, folder: Path) -> Measured:
    """Train by its own command, with a callback that notes every update."""
    config = folder / "config.yaml"
    config.write_text(
        YOYODYNE_CONFIG.format(steps=bench.steps, folder=folder, train=bench.train, dev=bench.dev)
    )
    command = bench.lab.environment(PEER) / "yoyodyne"
    bench.lab.run([command, "fit", "--config", config], PYTHONPATH=str(peer_script(".")))
    found = json.loads((folder / "speed.json").read_text())
    updates = found["all"]
    return measured(updates, [update["seconds"] for update in updates], bench.warmup, found["parameters"])


def run_seq2see(bench: Bench, folder: Path, feeding: bool) -> Measured:
    """Train by the command `seq2see train`, and read the record of the run."""
    recipe, out = folder / "recipe.yaml", folder / "run"
    recipe.write_text(RECIPE.format(steps=bench.steps, beyond=bench.steps + 1, fed=str(feeding).lower()))
    bench.lab.seq2see(
        *("train", bench.train, "--dev", bench.dev, "--recipe", recipe, "--out", out, "--seed", "1")
    )
    steps = [record for record in read_log(out / "metrics.jsonl") if "loss" in record]
    size = sum(tensor.numel() for tensor in read_tensors(out / "model.safetensors")[0].values())
    return measured(steps, [record["seconds"] for record in steps], bench.warmup, size)


def measured(updates: list[dict[str, Any]], ends: list[float], warmup: int, parameters: int) -> Measured:
    """The tokens of all updates after the warm-up over the time from its end to that of the last one."""
    tokens = sum(update["tokens"] for update in updates[warmup:])
    speed = tokens / (ends[-1] - ends[warmup - 1])
    return Measured(parameters, speed, updates[0]["loss"], updates[-1]["loss"])


def report(runs: dict[str, list[Measured]], bench: Bench, out: Path) -> None:
    """Print the table and write all that is known as JSON."""
    speeds = {name: [run.tokens_per_second for run in those] for name, those in runs.items()}
    medians = {name: median(those) for name, those in speeds.items()}
    ratios = {name: speed / medians[PEER] for name, speed in medians.items()}
    print(f"\n| tool | parameters | tokens/s, each run | median | to {PEER} |\n|---|---|---|---|---|")
    for name, those in runs.items():
        each = ", ".join(f"{speed:,.0f}" for speed in speeds[name])
        print(f"| {name} | {those[0].parameters:,} | {each} | {medians[name]:,.0f} | {ratios[name]:.2f} |")
    known = {
        "machine": described_machine(),
        "commit": commit(),
        "peer": PEERS[PEER].install,
        "steps": bench.steps,
        "warmup": bench.warmup,
        "threads": bench.lab.threads,
        "runs": {name: [asdict(run) for run in those] for name, those in runs.items()},
        "medians": medians,
        "ratios": ratios,
    }
    write_json(out, known)


if __name__ == "__main__":
    main()
