"""Fronts, encoders, decoders and heads, and what joins them. Knows nothing of files."""

from seq2see.models.contracts import Loss, Memory, State, Vocabulary
from seq2see.models.network import Generator, Network, make_generator, make_reader
from seq2see.models.settings import ModelSettings

__all__ = [
    "Generator",
    "Loss",
    "Memory",
    "ModelSettings",
    "Network",
    "State",
    "Vocabulary",
    "make_generator",
    "make_reader",
]
