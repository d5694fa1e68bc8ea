"""Searches for the outputs of a model. Knows of the model only that it is a `Generator`."""

from seq2see.decoding.requests import Event, Hypothesis, Request
from seq2see.decoding.score import score
from seq2see.decoding.search import Search, search
from seq2see.decoding.settings import DecodingSettings

__all__ = ["DecodingSettings", "Event", "Hypothesis", "Request", "Search", "score", "search"]
