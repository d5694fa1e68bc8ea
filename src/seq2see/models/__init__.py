"""Fronts, encoders, decoders and heads, and what joins them. Knows nothing of files."""

from seq2see.models.contracts import Generator, Loss, Memory, State, Vocabulary
from seq2see.models.masked import MaskedReader, make_masked_reader
from seq2see.models.network import (
    DecoderOnly,
    EncoderDecoder,
    Network,
    make_decoder_only,
    make_encoder_decoder,
    make_reader,
)
from seq2see.models.settings import ModelSettings

__all__ = [
    "DecoderOnly",
    "EncoderDecoder",
    "Generator",
    "Loss",
    "MaskedReader",
    "Memory",
    "ModelSettings",
    "Network",
    "State",
    "Vocabulary",
    "make_decoder_only",
    "make_encoder_decoder",
    "make_masked_reader",
    "make_reader",
]
