"""Encoders, decoders and what joins them. Knows nothing of files."""

from seq2see.models.contracts import Memory, State
from seq2see.models.seq2seq import Seq2Seq
from seq2see.models.settings import ModelSettings

__all__ = ["Memory", "ModelSettings", "Seq2Seq", "State"]
