"""Heads: what a network ends in, and its loss."""

from seq2see.models.heads.classes import ClassHead
from seq2see.models.heads.filling import FillingHead
from seq2see.models.heads.number import NumberHead
from seq2see.models.heads.several import SeveralHeads
from seq2see.models.heads.tags import TagHead
from seq2see.models.heads.vocabulary import VocabularyHead

__all__ = ["ClassHead", "FillingHead", "NumberHead", "SeveralHeads", "TagHead", "VocabularyHead"]
