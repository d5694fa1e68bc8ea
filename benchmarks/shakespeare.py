"""tinyshakespeare: how fast and how well a small decoder learns it, beside nanoGPT's recipe for a CPU.

    python -m benchmarks.shakespeare speed [--threads 2] [--rounds 7]
    python -m benchmarks.shakespeare learn TEXT --minutes 3 --seed 1 --out FOLDER

nanoGPT's settings are those of its README for a CPU: 4 layers of width 128 with 4 heads, 12 windows of 64
characters, AdamW, learned positions, GELU, no biases, no dropout. `speed` takes turns between both on random
characters: what is timed is a whole training step. `learn` trains with what `seq2see train` chooses, and
counts every held-out character once.
"""

import seq2see  # noqa: F401  isort: skip: before torch, so that threads wait without spinning

import argparse
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from seq2see.data.sides import Batch, Side
from seq2see.models import make_decoder_only
from seq2see.models.contracts import Vocabulary
from seq2see.recipe import compose, preset
from seq2see.text.special import STANDARD

LETTERS, WIDTH, HEADS, LAYERS = 65, 128, 4, 4


class Layer(nn.Module):
    """A block as nanoGPT has it: norms before, one product for queries, keys and values."""

    def __init__(self) -> None:
        super().__init__()
        self.norms = nn.ModuleList(nn.LayerNorm(WIDTH, bias=False) for _ in range(2))
        self.attention = nn.Linear(WIDTH, 3 * WIDTH, bias=False)
        self.output = nn.Linear(WIDTH, WIDTH, bias=False)
        self.enter = nn.Linear(WIDTH, 4 * WIDTH, bias=False)
        self.leave = nn.Linear(4 * WIDTH, WIDTH, bias=False)

    def forward(self, states: Tensor) -> Tensor:
        parts = self.attention(self.norms[0](states)).split(WIDTH, 2)
        query, key, value = (part.unflatten(2, (HEADS, -1)).transpose(1, 2) for part in parts)
        read = F.scaled_dot_product_attention(query, key, value, is_causal=True).transpose(1, 2).flatten(2)
        states = states + self.output(read)
        after: Tensor = states + self.leave(F.gelu(self.enter(self.norms[1](states))))
        return after


class PlainDecoder(nn.Module):
    """The whole of it, with the output tied to the embedding."""

    def __init__(self, context: int) -> None:
        super().__init__()
        self.embed, self.places = nn.Embedding(LETTERS, WIDTH), nn.Embedding(context, WIDTH)
        self.layers = nn.Sequential(*(Layer() for _ in range(LAYERS)))
        self.norm = nn.LayerNorm(WIDTH, bias=False)

    def forward(self, text: Tensor) -> Tensor:
        inputs, labels = text[:, :-1], text[:, 1:]
        states = self.embed(inputs) + self.places.weight[: inputs.shape[1]]
        scores = F.linear(self.norm(self.layers(states)), self.embed.weight)
        return F.cross_entropy(scores.flatten(0, 1), labels.flatten())


def plain_step(windows: int, context: int) -> Callable[[], None]:
    """A training step of the plain one."""
    model = PlainDecoder(context)
    optimizer = torch.optim.AdamW(model.parameters(), 1e-3, (0.9, 0.99), weight_decay=0.1)
    text = torch.randint(LETTERS, (windows, context + 1))

    def step() -> None:
        loss = model(text)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        loss.item()

    return step


def own_step(windows: int, context: int) -> Callable[[], None]:
    """A training step of `gpt-tiny`, which has the same size."""
    recipe = compose([preset("gpt-tiny"), {"data": {"train": "none"}}], "benchmark")
    first = len(STANDARD)
    network = make_decoder_only(recipe.model, Vocabulary(first + LETTERS, STANDARD))
    network.train()
    training = recipe.training
    betas = training.beta1, training.beta2
    optimizer = torch.optim.AdamW(
        network.parameters(), training.learning_rate, betas, weight_decay=training.weight_decay, fused=True
    )
    text = torch.randint(first, first + LETTERS, (windows, context + 1))
    batch = Batch(
        {"target": Side(text, torch.ones_like(text, dtype=torch.bool))}, np.zeros(windows, np.int64)
    )

    def step() -> None:
        loss = network(batch)
        optimizer.zero_grad(set_to_none=True)
        (loss.total / loss.count).backward()
        nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimizer.step()
        loss.total.item()

    return step


def speed(threads: int, rounds: int, seconds: float = 4.0) -> None:
    """Tokens a second of both, in turns, at nanoGPT's batch and at ours."""
    torch.set_num_threads(threads)
    ways = {"plain": plain_step, "own": own_step}
    for windows, context in ((12, 64), (8, 128), (16, 128)):
        steps = {name: make(windows, context) for name, make in ways.items()}
        found: dict[str, list[float]] = {name: [] for name in ways}
        for _ in range(rounds):
            for name, step in steps.items():
                step()
                began, count = time.perf_counter(), 0
                while time.perf_counter() - began < seconds:
                    step()
                    count += 1
                found[name].append(count * windows * context / (time.perf_counter() - began))
        ratios = [own / plain for own, plain in zip(found["own"], found["plain"], strict=True)]
        print(
            json.dumps(
                {
                    "windows": windows,
                    "context": context,
                    "threads": threads,
                    **{name: round(statistics.median(values)) for name, values in found.items()},
                    "ratio": round(statistics.median(ratios), 3),
                    "ratios": [round(ratio, 3) for ratio in sorted(ratios)],
                }
            ),
            flush=True,
        )


def learn(text: Path, minutes: float, seed: int, out: Path) -> None:
    """Train for so many minutes, and say the loss on the last tenth of the text."""
    from seq2see.evaluation import score
    from seq2see.workflow import Request, train

    asked = Request(str(text), goal="complete", out=str(out), max_minutes=minutes, seed=seed)
    trained = train(asked)
    outcome = trained.model.outcome(trained.dev)
    scores = score(outcome, ["loss", "bits_per_character"])
    progress = trained.progress
    print(
        json.dumps(
            {
                **scores,
                "seed": seed,
                "steps": progress.step,
                "tokens": progress.tokens,
                "minutes": round(progress.seconds / 60, 2),
            }
        )
    )


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    timed = verbs.add_parser("speed")
    timed.add_argument("--threads", type=int, default=2)
    timed.add_argument("--rounds", type=int, default=7)
    learnt = verbs.add_parser("learn")
    learnt.add_argument("text", type=Path)
    learnt.add_argument("--minutes", type=float, required=True)
    learnt.add_argument("--seed", type=int, default=1)
    learnt.add_argument("--out", type=Path, required=True)
    asked = parser.parse_args()
    if asked.verb == "speed":
        speed(asked.threads, asked.rounds)
    else:
        learn(asked.text, asked.minutes, asked.seed, asked.out)


if __name__ == "__main__":
    main()
