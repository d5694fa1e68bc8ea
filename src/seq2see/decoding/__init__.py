"""A model and a source to hypotheses. Knows nothing of architectures."""

from seq2see.decoding.requests import Event, Hypothesis, Request
from seq2see.decoding.score import score
from seq2see.decoding.search import Search, search
from seq2see.decoding.settings import DecodingSettings

__all__ = ["DecodingSettings", "Event", "Hypothesis", "Request", "Search", "score", "search"]
