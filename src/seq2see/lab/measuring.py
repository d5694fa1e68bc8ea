"""What several experiments measure with: encoders of one layer kind, arithmetic, fitted exponents."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from seq2see.models.encoders import ENCODERS
from seq2see.models.settings import ModelSettings

__all__ = ["arithmetic", "encode", "encoder", "exponent"]


def encoder(kind: str, width: int, layers: int = 1, **settings: Any) -> torch.nn.Module:
    """An untrained encoder of so many layers, without dropout."""
    images = kind == "resnet"
    own = {"kind": kind, **({} if images else {"layers": layers}), **settings}
    front = {"kind": "stem", "width": width} if images else {"kind": "tokens"}
    values = {"width": width, "dropout": 0.0, "front": front, "encoder": own, "decoder": None}
    model = ModelSettings.model_validate(values)
    part = model.encoder
    made = ENCODERS[kind].make(model, part)
    assert isinstance(made, torch.nn.Module)
    return made.eval()


def encode(network: torch.nn.Module, states: Tensor) -> Tensor:
    """The states (B, S, D) that an encoder makes of states, all of them real."""
    encoded: Tensor = network(states, torch.ones(states.shape[:2], dtype=torch.bool)).states
    return encoded


def arithmetic(work: Callable[[], Any]) -> int:
    """Multiplications and additions of all matrix products and convolutions, counted as they are done."""
    from torch.utils.flop_counter import FlopCounterMode

    with FlopCounterMode(display=False) as counter:
        work()
    return int(counter.get_total_flops())


def exponent(sizes: Sequence[float], values: Sequence[float]) -> float:
    """The p for which values grow most nearly as size ** p: the slope of logarithms."""
    return float(np.polyfit(np.log(sizes), np.log(values), 1)[0])
