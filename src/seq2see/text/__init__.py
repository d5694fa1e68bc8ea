"""Strings to ids and back. Knows nothing of anything else."""

from seq2see.text.codec import Codec
from seq2see.text.special import BEGIN, END, PAD, SPECIAL, UNKNOWN, Special
from seq2see.text.tokenizer import Kind, TextSettings, Tokenizer, TokenizerSettings

__all__ = [
    "BEGIN",
    "END",
    "PAD",
    "SPECIAL",
    "UNKNOWN",
    "Codec",
    "Kind",
    "Special",
    "TextSettings",
    "Tokenizer",
    "TokenizerSettings",
]
