"""Which tokens begin a word, whatever the kind of a vocabulary."""

from collections.abc import Sequence

__all__ = ["SPACE", "carries_spaces", "word_starts"]

SPACE = "▁"
"""How a space inside a token is shown."""
_GOES_ON = "##"
"""Stands before tokens of WordPiece that go on with a word."""


def carries_spaces(shown: Sequence[str]) -> bool:
    """Whether words bring the space before them along, by how tokens are shown."""
    return any(token.startswith(SPACE) and len(token) > 1 for token in shown)


def word_starts(shown: Sequence[str]) -> list[bool]:
    """For each token, by how it is shown: whether a word begins with it.

    Where spaces stand inside tokens, a word begins with a space or with what is no letter or digit; else
    every token is a word, but for those that WordPiece marks as going on.
    """
    spaced = any(token.startswith(SPACE) for token in shown)
    return [not (token[:1].isalnum() if spaced else token.startswith(_GOES_ON)) for token in shown]
