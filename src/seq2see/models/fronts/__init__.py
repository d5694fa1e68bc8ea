"""Fronts, which turn ids or pixels into states."""

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from seq2see.models.contracts import Front, Vocabulary
from seq2see.models.fronts.images import (
    ImageFrontSettings,
    PatchFront,
    PatchFrontSettings,
    StemFront,
    StemFrontSettings,
)
from seq2see.models.fronts.tokens import TokenFront, TokenFrontSettings
from seq2see.models.fronts.words import WordFront, WordFrontSettings
from seq2see.models.parts import FrontSettings

if TYPE_CHECKING:
    from seq2see.models.settings import ModelSettings

__all__ = [
    "FRONTS",
    "FrontKind",
    "ImageFrontSettings",
    "PatchFront",
    "PatchFrontSettings",
    "StemFront",
    "StemFrontSettings",
    "TokenFront",
    "TokenFrontSettings",
    "WordFront",
    "WordFrontSettings",
]


class FrontKind(NamedTuple):
    """The settings of a kind of front, and what builds it."""

    settings: type[FrontSettings]
    make: Callable[["ModelSettings", dict[str, Vocabulary]], Front]


FRONTS: dict[str, FrontKind] = {
    "tokens": FrontKind(TokenFrontSettings, TokenFront.of),
    "stem": FrontKind(StemFrontSettings, StemFront.of),
    "patches": FrontKind(PatchFrontSettings, PatchFront.of),
    "words": FrontKind(WordFrontSettings, WordFront.of),
}
