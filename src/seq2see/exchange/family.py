"""What every family of models from elsewhere has to say."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from seq2see.exchange.config import Config
from seq2see.exchange.names import Names
from seq2see.models.settings import ModelSettings

__all__ = ["ACTIVATIONS", "Family", "Outline", "output_layer"]

ACTIVATIONS = {
    "gelu": "gelu",
    "gelu_new": "gelu-tanh",
    "gelu_pytorch_tanh": "gelu-tanh",
    "relu": "relu",
    "relu2": "relu-squared",
    "silu": "silu",
    "swish": "silu",
}
"""Activations by their names in Hugging Face's layout; the first of several is written."""


@dataclass(frozen=True)
class Outline:
    """A model from elsewhere in our words."""

    model: dict[str, Any]
    """Under `model` in a recipe."""
    places: int
    """Tokens that training showed together."""
    halves: bool = False
    """Its position table has all sines before all cosines, and ours has them in turn."""
    notes: Sequence[str] = ()
    """What a user should know of the import."""
    decoding: dict[str, Any] = field(default_factory=dict)


class Family(Protocol):
    """Models of one architecture: what their configuration means, and what their weights are called."""

    @property
    def goal(self) -> str:
        """What such models are for."""

    @property
    def prefixes(self) -> Sequence[str]:
        """What names of weights may begin with, or not."""

    @property
    def ignored(self) -> re.Pattern[str]:
        """Tensors that are no weights, or of parts that are left out."""

    @property
    def aliases(self) -> Mapping[str, Sequence[str]]:
        """Other names that a weight may have."""

    def outline(self, config: Config, shapes: Mapping[str, tuple[int, ...]]) -> Outline:
        """The model that a configuration describes; what our parts do not express is refused."""

    def names(self, model: ModelSettings) -> list[Names]:
        """What each weight of such a model is called on either side."""

    def config(self, model: ModelSettings) -> dict[str, Any]:
        """The configuration that describes one of our models; what it cannot express is refused."""


def output_layer(model: ModelSettings, weight: str, bias: str, row: bool = False) -> list[Names]:
    """The output layer of a model that writes: tied, with a bias or none, or a layer of its own."""
    if not model.tie_output:
        return [
            Names(("head.output.weight",), (weight,), rows="target"),
            Names(("head.output.bias",), (bias,), rows="target", optional=True, row=row),
        ]
    if not model.output_bias:
        return []
    return [Names(("head.bias",), (bias,), rows="target", optional=True, row=row)]
