"""Fashion-MNIST: how well and how fast images are learnt with what `seq2see train` chooses.

    python -m benchmarks.fashion learn DATA --out FOLDER [--preset vit-tiny] [--steps 16900] [--seeds 1,2,3]
    python -m benchmarks.fashion speed DATA --parts FOLDER

`learn` trains on the 60,000 images (1,000 of them held out by `train` itself to look at) and counts on the
10,000 test images once, at the end. `speed` takes turns between our trainer, with its augmentation, and a
plain loop over torchvision's residual blocks or timm's vision Transformer of the same size, without any, with
the same optimiser and the same batch; FOLDER is where both were installed:
pip install --no-deps --target FOLDER timm torchvision.
"""

import seq2see  # noqa: F401  isort: skip: before torch, so that threads wait without spinning

import argparse
import importlib
import itertools
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

from benchmarks.lab import write_json
from seq2see.cli.columns import examples_for
from seq2see.data.image_sets import read_image
from seq2see.evaluation import score
from seq2see.recipe import preset
from seq2see.training.log import read_log
from seq2see.workflow import Request, train

BATCH = 128
AS_ELSEWHERE = {
    "resnet-tiny": ("training.optimizer=adamw",),
    "vit-tiny": ("model.front.positions=learned", "model.front.overlap=0", "training.optimizer=adamw"),
}
"""What is set so that both sides of `speed` have the same network and the same optimiser."""


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    for name in ("learn", "speed"):
        verb = verbs.add_parser(name)
        verb.add_argument("data", type=Path, help="the folder of the four files")
        verb.add_argument("--threads", type=int, default=2)
    learnt, timed = verbs.choices["learn"], verbs.choices["speed"]
    learnt.add_argument("--out", type=Path, required=True)
    learnt.add_argument("--preset")
    learnt.add_argument("--steps", type=int)
    learnt.add_argument("--seeds", default="1,2,3")
    timed.add_argument("--parts", type=Path, required=True)
    timed.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()
    torch.set_num_threads(asked.threads)
    if asked.verb == "learn":
        learn(
            asked.data, asked.out, asked.preset, asked.steps, [int(seed) for seed in asked.seeds.split(",")]
        )
    else:
        speed(asked.data, asked.parts, asked.rounds)


def learn(data: Path, out: Path, name: str | None, steps: int | None, seeds: list[int]) -> None:
    """Train once for each seed, and say what share of the test images is right."""
    found = []
    for seed in seeds:
        run = out / f"{name or 'chosen'}-{steps or 'chosen'}-{seed}"
        asked = Request(
            str(images(data, "train")),
            out=str(run),
            preset=name,
            max_steps=steps,
            seed=seed,
            resume=(run / "recipe.yaml").exists(),
        )
        trained = train(asked)
        if not trained.progress.finished:
            sys.exit("interrupted; the same command goes on")
        outcome = trained.model.outcome(examples_for(trained.model, str(images(data, "t10k")), {}))
        row = {
            "seed": seed,
            "accuracy": score(outcome, ["accuracy"])["accuracy"],
            "minutes": round(trained.progress.seconds / 60, 1),
            "steps": trained.progress.step,
            "threads": torch.get_num_threads(),
        }
        write_json(run.with_suffix(".json"), row)
        print(json.dumps(row), flush=True)
        found.append(row["accuracy"])
    print(f"mean of {len(found)} seeds: {statistics.mean(found):.2f}")


def images(data: Path, part: str) -> Path:
    """A file of images."""
    return data / f"{part}-images-idx3-ubyte.gz"


def speed(data: Path, parts: Path, rounds: int, steps: int = 25) -> None:
    """Seconds of a step of both, in turns, for both kinds of network."""
    sys.path.append(str(parts))
    # Detection, which nothing here needs, is the only part of torchvision that asks for its compiled half.
    library = torch.library.Library("torchvision", "DEF")
    for name in ("nms", "qnms"):
        library.define(f"{name}(Tensor boxes, Tensor scores, float threshold) -> Tensor")
    for name, network in {"resnet-tiny": residual, "vit-tiny": patches}.items():
        step = plain_step(network(preset(name)["model"]), data)
        found: dict[str, list[float]] = {"plain": [], "own": []}
        for _ in range(rounds):
            found["plain"].append(median_step(step, steps))
            found["own"].append(own_step(data, name, steps))
        ratios = sorted(plain / own for plain, own in zip(*found.values(), strict=True))
        row = {
            "model": name,
            "threads": torch.get_num_threads(),
            **{which: f"{BATCH / statistics.median(times):,.0f} images/s" for which, times in found.items()},
            "ratio": round(statistics.median(ratios), 3),
            "ratios": [round(ratio, 3) for ratio in ratios],
        }
        print(json.dumps(row), flush=True)


def residual(sizes: dict[str, Any]) -> nn.Module:
    """The network of `resnet-tiny` from torchvision's blocks."""
    block = importlib.import_module("torchvision.models.resnet").BasicBlock
    front, encoder = sizes["front"], sizes["encoder"]
    channels = front["width"]
    layers: list[nn.Module] = [
        nn.Conv2d(1, channels, front["kernel"], front["stride"], front["kernel"] // 2, bias=False),
        nn.BatchNorm2d(channels),
        nn.ReLU(inplace=True),
    ]
    for stage, (width, depth) in enumerate(zip(encoder["widths"], encoder["depths"], strict=True)):
        for place in range(depth):
            stride, skip = 2 if stage and not place else 1, None
            if channels != width or stride != 1:
                skip = nn.Sequential(nn.Conv2d(channels, width, 1, stride, bias=False), nn.BatchNorm2d(width))
            layers.append(block(channels, width, stride, skip))
            channels = width
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, 10))


def patches(sizes: dict[str, Any]) -> nn.Module:
    """The network of `vit-tiny` as timm has it."""
    encoder = sizes["encoder"]
    made: nn.Module = importlib.import_module("timm.models.vision_transformer").VisionTransformer(
        img_size=28,
        patch_size=sizes["front"]["patch"],
        in_chans=1,
        num_classes=10,
        embed_dim=sizes["width"],
        depth=encoder["layers"],
        num_heads=encoder["heads"],
        mlp_ratio=encoder["feedforward"] / sizes["width"],
    )
    return made


def plain_step(network: nn.Module, data: Path, count: int = 4096) -> Callable[[], None]:
    """A training step as one writes it by hand: shuffled batches of images in memory, AdamW."""
    train_file = images(data, "train")
    pixels = torch.stack(
        [
            torch.frombuffer(bytearray(read_image(f"{train_file}//{i}").tobytes()), dtype=torch.uint8)
            for i in range(count)
        ]
    ).view(count, 1, 28, 28)
    labels = torch.randint(10, (count,))
    optimizer = torch.optim.AdamW(network.parameters(), 1e-3, weight_decay=0.05)
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(pixels, labels), BATCH, shuffle=True)
    network.train()

    def step() -> None:
        seen, wanted = next(batches)
        optimizer.zero_grad()
        loss = F.cross_entropy(network((seen.float() / 255 - 0.286) / 0.353), wanted, label_smoothing=0.1)
        loss.backward()
        nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimizer.step()
        loss.item()

    batches = itertools.chain.from_iterable(itertools.repeat(loader))
    return step


def median_step(step: Callable[[], None], steps: int) -> float:
    """Seconds of one step, after a warm-up."""
    times = []
    for _ in range(steps):
        began = time.perf_counter()
        step()
        times.append(time.perf_counter() - began)
    return statistics.median(times[3:])


def own_step(data: Path, name: str, steps: int) -> float:
    """The same of our trainer, from its own log."""
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        settings = (f"training.batch_pairs={BATCH}", "training.dev_examples=10", "training.average=0")
        train(
            Request(
                str(images(data, "train")),
                out=str(run),
                preset=name,
                seed=1,
                max_steps=steps,
                settings=settings + AS_ELSEWHERE[name],
            ),
            tell=lambda _: None,
        )
        ends = [row["seconds"] for row in read_log(run / "metrics.jsonl") if "seconds" in row]
    return float(statistics.median(after - before for before, after in itertools.pairwise(ends[3:])))


if __name__ == "__main__":
    main()
