"""Scores of running text: how well each token is foretold from those before it, or hidden ones from all."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seq2see.evaluation.outcomes import Filled, Foretold

__all__ = ["bits", "nats", "perplexity"]


def nats(outcome: Foretold | Filled) -> NDArray[np.floating[Any]]:
    """Nats and tokens, (passages, 2)."""
    return np.stack([outcome.nats, outcome.tokens], 1)


def bits(outcome: Foretold) -> NDArray[np.floating[Any]]:
    """Bits and characters, (passages, 2)."""
    return np.stack([outcome.nats / math.log(2), outcome.characters], 1)


def perplexity(outcome: Foretold | Filled) -> float:
    """e to the nats of a token."""
    total, tokens = nats(outcome).sum(0)
    return float(np.exp(total / tokens)) if tokens else math.nan
