"""What is odd about labels, tags and numbers: slips that training would learn as if they were meant."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

import numpy as np
from rapidfuzz.distance import Levenshtein

from seq2see.data import Pair, Problem
from seq2see.data.values import SEPARATOR, many, parse_number, split_labels, split_tags, split_words

__all__ = ["label_balance", "number_range", "odd_labels", "odd_numbers", "odd_tags", "tag_balance"]

_RARE = 5
"""A label that stands there fewer times can hardly be learnt."""
_SHARE = 0.05
"""A label that looks like another is a slip if it is this much rarer."""
_LOPSIDED = 0.95
"""The share of one label from which on a model learns little but that one."""
_FAR = 8.0
"""Numbers so many deviations (by the median) from the middle are outliers."""
_SHOWN = 10
"""Labels that are listed with their shares."""
_MOST_LABELS = 500
"""Among more labels than this, looking for pairs that are alike would take too long."""


def odd_labels(examples: Sequence[Pair]) -> list[Problem]:
    """Labels that are rare, nearly alike, or nearly alone."""
    return _odd(_labels(examples), "label")


def label_balance(examples: Sequence[Pair]) -> str:
    """How often each label stands there."""
    return _balance(Counter(label for _, label in _labels(examples)), "label")


def tag_balance(examples: Sequence[Pair]) -> str:
    """How often each tag of the first column stands there."""
    return _balance(Counter(tag for one in examples for tag in split_tags(one.target)[0]), "tag")


def number_range(examples: Sequence[Pair]) -> str:
    """Where the numbers lie."""
    values = np.array([parse_number(one.target) or 0.0 for one in examples] or [0.0])
    low, middle, high = np.quantile(values, [0, 0.5, 1])
    return f"numbers from {low:.6g} to {high:.6g}, half of them below {middle:.6g}"


def _balance(counts: Counter[str], what: str) -> str:
    shown = ", ".join(
        f"{label} {number:,} ({number / counts.total():.1%})" for label, number in counts.most_common(_SHOWN)
    )
    return f"{many(len(counts), f'distinct {what}')}: {shown}{', ...' if len(counts) > _SHOWN else ''}"


def _labels(examples: Sequence[Pair]) -> list[tuple[int, str]]:
    """Every label with its line; where many targets have several, each counts."""
    several = sum(SEPARATOR in one.target for one in examples) > len(examples) // 20
    read: Callable[[str], list[str]] = split_labels if several else lambda text: [text.strip()]
    return [(one.line, label) for one in examples for label in read(one.target)]


def odd_tags(examples: Sequence[Pair]) -> list[Problem]:
    """The same for the tags of each column."""
    found: list[Problem] = []
    for column in range(max((len(split_tags(one.target)) for one in examples), default=0)):
        tags = (
            (one.line, tag)
            for one in examples
            for place, several in enumerate(split_tags(one.target))
            if place == column
            for tag in several
        )
        found += _odd(tags, "tag")
    found += [
        Problem(one.line, "one word", "a sentence of one word: are words separated by spaces?", fatal=False)
        for one in examples
        if len(split_words(one.source)) == 1 and len(one.source) > 60
    ]
    return found


def odd_numbers(examples: Sequence[Pair]) -> list[Problem]:
    """Numbers far from all others, by the median deviation from the median."""
    values = np.array([parse_number(one.target) or 0.0 for one in examples])
    if len(values) < 10:
        return []
    middle = float(np.median(values))
    spread = 1.4826 * float(np.median(np.abs(values - middle)))
    if not spread:
        return []
    far = np.flatnonzero(np.abs(values - middle) > _FAR * spread).tolist()
    return [
        Problem(
            examples[row].line,
            "outlier",
            f"{values[row]:g}, where half of all lie within {spread / 1.4826:.3g} of {middle:.4g}",
            fatal=False,
        )
        for row in far
    ]


def _odd(labelled: Iterable[tuple[int, str]], what: str) -> list[Problem]:
    lines: dict[str, int] = {}
    counts: Counter[str] = Counter()
    for line, label in labelled:
        counts[label] += 1
        lines.setdefault(label, line)
    found = [
        Problem(
            lines[label],
            f"rare {what}",
            f"{label!r} stands there {count} time{'s' * (count > 1)}",
            fatal=False,
        )
        for label, count in counts.items()
        if count < _RARE
    ]
    most, number = counts.most_common(1)[0] if counts else ("", 0)
    if len(counts) > 1 and number > _LOPSIDED * counts.total():
        share = f"{number / counts.total():.1%} of all are {most!r}"
        way = "; head.class_weights=true lets the others count as much" if what == "label" else ""
        found.append(Problem(lines[most], f"lopsided {what}s", share + way, fatal=False))
    for label, other in _alike(counts):
        detail = f"{label!r} ({counts[label]}) looks like {other!r} ({counts[other]:,})"
        found.append(Problem(lines[label], f"{what} typo", detail, fatal=False))
    return found


def _alike(counts: Counter[str]) -> list[tuple[str, str]]:
    """Rare labels with a much commoner one that differs by case, space or a letter."""
    ordered = [label for label, _ in counts.most_common(_MOST_LABELS)]
    found = []
    for place, label in enumerate(ordered):
        for other in ordered[:place]:
            rare = counts[label] <= max(1, _SHARE * counts[other])
            folded = label.strip().casefold() == other.strip().casefold()
            near = (
                min(len(label), len(other)) >= 4 and Levenshtein.distance(label, other, score_cutoff=1) <= 1
            )
            if folded or (rare and near):
                found.append((label, other))
                break
    return found
