"""Why a Transformer trains in parallel: known targets are read all at once."""

import time
from collections.abc import Sequence
from statistics import fmean, median
from typing import Any

import numpy as np
import torch

from seq2see.data.sides import Batch, Side
from seq2see.lab.experiment import Experiment, Measured, Row, Trial
from seq2see.lab.measuring import exponent
from seq2see.lab.panels import Panel
from seq2see.lab.training import backwards, exact, letters, trained
from seq2see.models import ModelSettings, Vocabulary, make_encoder_decoder
from seq2see.recipe import preset
from seq2see.text import STANDARD

__all__ = ["EXPERIMENT"]

_VOCABULARY, _WIDTH = 40, 32
_MODELS = {"recurrent": "rnn-attention", "Transformer": "transformer-tiny"}


def measure(trial: Trial) -> Measured:
    """The longest chain of operations, each of which waits for the one before, of a training step."""
    lengths = trial.pick((4, 16), (4, 16, 64), (4, 8, 16, 32, 64, 128))
    rows: list[Row] = []
    for name, own in _MODELS.items():
        chosen = preset("rnn-attention" if trial.control else own)["model"]
        settings = ModelSettings.model_validate({**chosen, "width": _WIDTH, "dropout": 0.0})
        vocabulary = Vocabulary(_VOCABULARY, STANDARD)
        network = make_encoder_decoder(settings, vocabulary, vocabulary)
        rows += [
            {"part": "chain", "model": name, "length": length, **_step(network, length)} for length in lengths
        ]
    rows += _exposure(trial)
    grown = {
        name: exponent(
            lengths, [float(row["chain"]) for row in rows if row.get("model") == name and "chain" in row]
        )
        for name in _MODELS
    }
    return Measured(grown["recurrent"] - grown["Transformer"], rows)


def _step(network: Any, length: int) -> dict[str, float]:
    """The chain of one step's gradient, and its time for each target token."""
    source, target = (torch.randint(len(STANDARD), _VOCABULARY, (8, size)) for size in (8, length + 1))
    sides = {
        name: Side(ids, torch.ones_like(ids, dtype=torch.bool))
        for name, ids in (("source", source), ("target", target))
    }
    batch, times = Batch(sides, np.zeros(8, np.int64)), []
    for _ in range(3):
        began = time.perf_counter()
        loss = network(batch).total
        chain = _longest(loss.grad_fn)
        loss.backward()
        times.append(time.perf_counter() - began)
    return {"chain": chain, "microseconds": 1e6 * median(times) / (8 * length)}


def _longest(last: Any) -> int:
    """The number of operations on the longest way through a graph of gradients."""
    longest: dict[Any, int] = {}
    waiting = [(last, False)]
    while waiting:
        node, ready = waiting.pop()
        before = [one for one, _ in node.next_functions if one is not None]
        if ready:
            longest[node] = 1 + max((longest[one] for one in before), default=0)
        elif node not in longest:
            waiting += [(node, True), *((one, False) for one in before if one not in longest)]
    return longest[last]


def _exposure(trial: Trial) -> list[Row]:
    """How well a half-trained model tells the next letter after right letters, and writes after its own."""
    file, held = letters(trial, backwards, "abcdefgh", range(4, 13), trial.pick(600, 12_000, 12_000))
    model = trained(
        trial, "exposed", file, "rnn-attention", trial.pick(5, 300, 300), [f"model.width={_WIDTH}"]
    )
    pairs = held[: trial.pick(20, 200, 200)]
    told = [
        np.exp(score / (len(pair.target) + 1))
        for score, pair in zip(model.target_scores(pairs), pairs, strict=True)
    ]
    return [{"part": "exposure", "forced": 100 * float(np.mean(told)), "exact": exact(model, pairs)}]


def remarks(rows: Sequence[Row]) -> list[str]:
    """Chains at the greatest length, and what a model says after its own letters."""
    chains = [row for row in rows if row["part"] == "chain"]
    longest = max(int(row["length"]) for row in chains)
    seen = {
        name: fmean(
            float(row["chain"]) for row in chains if row["model"] == name and row["length"] == longest
        )
        for name in _MODELS
    }
    exposed = [row for row in rows if row["part"] == "exposure"]
    forced, own = (fmean(float(row[name]) for row in exposed) for name in ("forced", "exact"))
    return [
        f"For {longest} target tokens, {seen['recurrent']:.0f} operations of the recurrent model wait for "
        f"each other, and {seen['Transformer']:.0f} of the Transformer.",
        f"A half-trained model gives the right next letter a probability of {forced:.0f} % after right "
        f"letters; on its own letters {own:.0f} % of its words are right: errors add up when decoding.",
    ]


EXPERIMENT = Experiment(
    name="teacher-forcing",
    claim="A Transformer reads known targets all at once; a recurrent decoder goes step by step.",
    where="Berkeley CS182 discussion 7, sections 2.3 and 2.4",
    effect="the power of the length by which the recurrent model's chain of operations grows faster",
    wanted=0.5,
    measure=measure,
    keys=("part", "model", "length"),
    panels=(
        Panel("length", "chain", "model", "target length", "operations that wait for each other", True, True),
        Panel("length", "microseconds", "model", "target length", "microseconds for each token", True, True),
    ),
    cause="the Transformer (both are recurrent)",
    remarks=remarks,
    timed=frozenset({"microseconds"}),
)
