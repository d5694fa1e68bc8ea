"""Tasks for models that read but do not write: a class, a number or tags, each by a rule to be learnt."""

from collections.abc import Callable
from typing import Any

__all__ = ["READING_SETTINGS", "brackets", "count", "parity", "pattern"]

Below = Callable[[int], int]
Drawn = tuple[str, str]
_PAIRS = ("()", "[]", "{}")
_NOUNS = ("dax", "wug", "blick", "fep", "tove", "rath", "mome", "zorp")
_STEMS = ("gorp", "blim", "kled", "snarf", "plon", "trebb")
_ADJECTIVES = ("mimsy", "slithy", "vorpal", "frabjous", "tulgey")
_ARTICLES = ("lo", "ba")

_READS: dict[str, Any] = {
    "text": {"source": {"kind": "symbols"}},
    "model": {
        "width": 64,
        "dropout": 0.0,
        "encoder": {"kind": "recurrent", "cell": "lstm", "layers": 1},
        "head": {"pooling": "summary"},
    },
    "training": {
        "steps": 1500,
        "batch_pairs": 64,
        "learning_rate": 0.003,
        "weight_decay": 0.0,
        "dev_examples": 500,
    },
}
READING_SETTINGS: dict[str, dict[str, Any]] = {
    "classify": _READS,
    "regress": {
        **_READS,
        "text": {"source": {"kind": "characters"}},
        "model": {**_READS["model"], "head": {"pooling": "mean"}},
    },
    "tag": {
        "model": {
            "width": 64,
            "dropout": 0.1,
            "front": {"kind": "words", "word_width": 32, "letter_features": 32, "kernels": [3]},
            "encoder": {"kind": "recurrent", "cell": "lstm", "layers": 1},
        },
        "training": {"steps": 300, "batch_pairs": 32, "learning_rate": 0.003, "dev_examples": 500},
    },
}
"""What a recipe should say about a task, by its goal."""


def parity(below: Below, lengths: tuple[int, int]) -> Callable[[], Drawn]:
    """Zeros and ones, and whether the ones are even or odd in number."""

    def draw() -> Drawn:
        bits = [below(2) for _ in range(_length(below, lengths))]
        return " ".join(map(str, bits)), "odd" if sum(bits) % 2 else "even"

    return draw


def brackets(below: Below, lengths: tuple[int, int]) -> Callable[[], Drawn]:
    """Brackets of three kinds, and whether they close as they were opened; half of them do."""

    def draw() -> Drawn:
        opened: list[str] = []
        found: list[str] = []
        for left in range(2 * max(1, _length(below, lengths) // 2), 0, -1):
            if opened and (left <= len(opened) or below(2)):
                found.append(opened.pop())
            else:
                pair = _PAIRS[below(len(_PAIRS))]
                found.append(pair[0])
                opened.append(pair[1])
        if below(2):
            return " ".join(found), "closed"
        place = below(len(found))
        others = [symbol for symbol in "".join(_PAIRS) if symbol != found[place]]
        found[place] = others[below(len(others))]
        return " ".join(found), "broken"

    return draw


def count(below: Below, lengths: tuple[int, int]) -> Callable[[], Drawn]:
    """Letters, and a number: how many of them are a, plus half for each b."""

    def draw() -> Drawn:
        letters = "".join("abcdefgh"[below(8)] for _ in range(_length(below, lengths)))
        return letters, f"{letters.count('a') + letters.count('b') / 2:g}"

    return draw


def pattern(below: Below, lengths: tuple[int, int]) -> Callable[[], Drawn]:
    """Sentences of made-up words with their tags: a stem is a noun after an article, else a verb."""

    def draw() -> Drawn:
        words: list[tuple[str, str]] = []
        while len(words) < _length(below, lengths):
            words.append((_ARTICLES[below(2)], "DET"))
            if below(2):
                words.append((_ADJECTIVES[below(len(_ADJECTIVES))], "ADJ"))
            noun = (*_NOUNS, *_STEMS)[below(len(_NOUNS) + len(_STEMS))]
            words.append((noun, "NOUN"))
            stem = _STEMS[below(len(_STEMS))]
            words.append((stem + "ed" if below(2) else stem, "VERB"))
        return " ".join(word for word, _ in words), " ".join(tag for _, tag in words)

    return draw


def _length(below: Below, lengths: tuple[int, int]) -> int:
    low, high = lengths
    return low + below(high - low + 1)
