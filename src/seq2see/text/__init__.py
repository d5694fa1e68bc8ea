"""Strings to ids and back. Knows nothing of anything else."""

from seq2see.text.codec import Codec, SourceCodec
from seq2see.text.special import BEGIN, END, MASK, PAD, SPECIAL, STANDARD, UNKNOWN, WITH_MASK, Special
from seq2see.text.tokenizer import Kind, TextSettings, Tokenizer, TokenizerSettings

__all__ = [
    "BEGIN",
    "END",
    "MASK",
    "PAD",
    "SPECIAL",
    "STANDARD",
    "UNKNOWN",
    "WITH_MASK",
    "Codec",
    "Kind",
    "SourceCodec",
    "Special",
    "TextSettings",
    "Tokenizer",
    "TokenizerSettings",
]
