"""What to do with texts that are to be classified, valued or tagged, where nobody said: choices and reasons."""

from collections.abc import Mapping
from typing import Any

from seq2see.data.survey import Survey
from seq2see.goals.choices import Choice

__all__ = ["choose_reader", "choose_tagger"]


def choose_reader(found: Survey, asked: Mapping[str, Any], model: bool, metric: str) -> Choice:
    """Tokens, encoder, head and schedule for texts with a class or a number."""
    choice = Choice()
    return choice


def choose_tagger(found: Survey, asked: Mapping[str, Any], model: bool) -> Choice:
    """Words, encoder and schedule for sentences with tags."""
    choice = Choice()
    return choice
