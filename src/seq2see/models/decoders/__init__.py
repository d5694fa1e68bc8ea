"""Decoders, which write a target token by token."""

from seq2see.models.decoders.recurrent import RecurrentDecoder
from seq2see.models.decoders.several import SeveralDecoders
from seq2see.models.decoders.transformer import TransformerDecoder

__all__ = ["RecurrentDecoder", "SeveralDecoders", "TransformerDecoder"]
