"""Slow, plain searches that the fast one must agree with."""

from collections.abc import Sequence
from itertools import product

import numpy as np
import torch
from networks import pad

from seq2see.data.sides import Batch, Side
from seq2see.decoding import DecodingSettings, Hypothesis, score, search
from seq2see.models import EncoderDecoder
from seq2see.text import BEGIN, END, PAD

FIRST = 4
"""The first id that is not a special symbol."""
Output = tuple[int, ...]


def decode(
    model: EncoderDecoder,
    sources: Sequence[Sequence[int]],
    limits: Sequence[int],
    prefixes: Sequence[Sequence[int]] | None = None,
    keys: Sequence[int] | None = None,
    scored: bool = True,
    least: int = 1,
    **options,
) -> list[list[Hypothesis]]:
    """Encode ids and search."""
    with torch.inference_mode():
        memory = model.encode_ids(pad([list(ids) for ids in sources]))
    return search(model, memory, limits, DecodingSettings(**options), prefixes, keys, None, scored, least)


def log_probabilities(model: EncoderDecoder, source: Sequence[int], outputs: Sequence[Output]) -> list[float]:
    """What `score` says of outputs of one source, the end symbol added."""
    sources = pad([list(source)] * len(outputs))
    targets = pad([[*ids, END] for ids in outputs], before=BEGIN)
    sides = {"source": Side(sources, sources != PAD), "target": Side(targets, targets != PAD)}
    return score(model, Batch(sides, np.arange(len(outputs)))).tolist()


def all_outputs(model: EncoderDecoder, limit: int) -> list[Output]:
    """Every output that fits the limit, the end symbol counted."""
    ids = range(FIRST, model.head.size)
    return [output for length in range(limit) for output in product(ids, repeat=length)]


@torch.inference_mode()
def next_steps(
    model: EncoderDecoder, source: Sequence[int], rows: Sequence[Output]
) -> list[dict[int, float]]:
    """Log-probabilities of what may come next after outputs of one length, from one uncached pass."""
    inputs = torch.tensor([[BEGIN, *written] for written in rows])
    logits = model.logits(torch.tensor([list(source)] * len(rows)), inputs)[:, -1]
    allowed = (END, *range(FIRST, model.head.size))
    return [{token: found[token] for token in allowed} for found in logits.log_softmax(-1).tolist()]


def beam_search(
    model: EncoderDecoder, source: Sequence[int], limit: int, beam: int, penalty: float
) -> list[tuple[float, Output]]:
    """Beam search that never stops before the limit: (score, output), best first."""
    rows: list[tuple[float, Output]] = [(0.0, ())]
    finished = []
    for length in range(1, limit + 1):
        found = next_steps(model, source, [written for _, written in rows])
        candidates = [
            (total + step, written, token)
            for (total, written), steps in zip(rows, found, strict=True)
            for token, step in steps.items()
            if token == END or length < limit
        ]
        best = sorted(candidates, reverse=True)[:beam]
        finished += [(total / length**penalty, written) for total, written, token in best if token == END]
        rows = [(total, (*written, token)) for total, written, token in best if token != END]
        if not rows:
            break
    return sorted(finished, reverse=True)
