"""What examples can be meant for: how each kind is told by its looks, and what is wrong or odd in it."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

from seq2see.data.check import Odd, Targets
from seq2see.data.image_file import ImageFile
from seq2see.data.oddities import label_balance, number_range, odd_labels, odd_numbers, odd_tags, tag_balance
from seq2see.data.pairs import Columns, Pair, PairFile, Problem
from seq2see.data.passages import TextFile
from seq2see.data.several import SeveralTexts
from seq2see.data.survey import peek
from seq2see.data.values import many, parse_number, split_tags, split_words
from seq2see.errors import SettingsError

__all__ = [
    "CLASSES",
    "GAPS",
    "KINDS",
    "NUMBERS",
    "RUNNING",
    "TAGS",
    "TEXTS",
    "ExampleKind",
    "guess_goal",
    "opener",
    "without_number",
]

_MOST_CLASSES = 100
_EACH = 10
"""Examples that every class has on the average, where targets are taken for classes."""
_LEAST_VALUES = 20
"""Fewer distinct numbers are taken for classes."""
_MOST_TAGS = 500
_IN_STEP = 0.99
"""The share of examples with as many target words as source words, where those are taken for tags."""


class ExampleKind(NamedTuple):
    """How examples of one kind look, and what can be wrong with them."""

    suits: Callable[[Sequence[Pair], str], str | None]
    """Why examples of a file of some format look like this kind, or None if they do not."""
    problem: Callable[[Pair, Sequence[str]], Problem | None]
    """What is wrong with an example, whose first extra columns are numbers with these names."""
    odd: Odd | None
    """What is odd about all examples of a file together."""
    targets: Targets | None = None
    """What the targets of a file are, in a line."""
    opens: type[PairFile] = PairFile
    """What reads its files."""
    several: type[PairFile] | None = None
    """What reads files where each of several target columns makes an example of its own, if that may be."""
    packs: bool = False
    """Whether its passages are joined and cut, once their tokens are known, to be as long as is allowed."""

    @property
    def exchangeable(self) -> bool:
        """Whether another source can stand beside a target; tags are in step with the words of their own."""
        return self.takes_images

    @property
    def takes_images(self) -> bool:
        """Whether a source may be an image."""
        return self.opens is PairFile and self.problem is not _out_of_step


def opener(kind: ExampleKind, columns: Columns) -> type[PairFile]:
    """What reads examples of a kind, which may be images."""
    if columns.images is None:
        return kind.several if kind.several is not None and len(columns.targets) > 1 else kind.opens
    if not kind.takes_images:
        raise SettingsError(
            "images are for --goal classify, regress and generate; choose one of them, or name texts"
        )
    return ImageFile


def guess_goal(file: PairFile) -> tuple[str, str]:
    """The name of the goal that a file looks as if it was meant for, and why."""
    if len(file.columns.targets) > 1:
        tags = file.format in ("conllu", "conll") or 2 * _in_step(sample := peek(file)) > len(sample)
        return ("tag", "several target columns") if tags else ("generate", "several columns of texts")
    if isinstance(file, ImageFile) and file.by_class:
        return "classify", "a class for each image"
    sample = peek(file)
    kinds = {name: kind for name, kind in KINDS.items() if not file.named or kind.takes_images}
    reasons = ((name, kind.suits(sample, file.format)) for name, kind in kinds.items())
    return next((name, why) for name, why in reasons if why is not None)


def _are_tags(sample: Sequence[Pair], format: str) -> str | None:
    """A format with a word a line, or few distinct targets in step with the words."""
    if format in ("conllu", "conll"):
        return f"a {format} file has a tag for every word"
    sources = [split_words(one.source) for one in sample]
    targets = [split_tags(one.target) for one in sample]
    if not sources or _in_step(sample) < _IN_STEP * len(sources):
        return None
    words = {word for sentence in sources for word in sentence}
    tags = {tag for columns in targets for column in columns for tag in column}
    if len(tags) > min(_MOST_TAGS, len(words) // 3):
        return None
    # Tags are words of another kind; symbols that stand on both sides are copied or changed.
    return f"as many tags as words, {len(tags)} distinct ones" if 4 * len(tags & words) <= len(tags) else None


def _in_step(sample: Sequence[Pair]) -> int:
    """How many examples have a tag for each word in every column; none where most have one word alone."""
    words = [len(split_words(one.source)) for one in sample]
    if sum(words) < 2 * len(words):
        return 0
    targets = (split_tags(one.target) for one in sample)
    return sum(
        all(len(column) == count for column in columns) for count, columns in zip(words, targets, strict=True)
    )


def _are_numbers(sample: Sequence[Pair], format: str) -> str | None:
    """Every target is a number, and there are many of them."""
    values = [parse_number(one.target) for one in sample]
    known = {value for value in values if value is not None}
    if not values or values.count(None) > len(values) // 100 or len(known) <= _LEAST_VALUES:
        return None
    return f"the targets are numbers, from {min(known):g} to {max(known):g}"


def _are_classes(sample: Sequence[Pair], format: str) -> str | None:
    """A few distinct targets, each of them often."""
    counts = Counter(one.target.strip() for one in sample)
    if not 2 <= len(counts) <= _MOST_CLASSES or len(sample) < _EACH * len(counts):
        return None
    shown = ", ".join(label for label, _ in counts.most_common(4))
    return f"{len(counts)} distinct targets: {shown}{', ...' if len(counts) > 4 else ''}"


def without_number(example: Pair, numbers: Sequence[str]) -> Problem | None:
    """Which of the further columns of numbers holds none."""
    for name, text in zip(numbers, example.extras, strict=False):
        if parse_number(text) is None:
            return Problem(example.line, "not a number", f"{_quoted(text)} in column {name!r}")
    return None


def _no_number(example: Pair, numbers: Sequence[str]) -> Problem | None:
    if parse_number(example.target) is None:
        return Problem(example.line, "not a number", f"the target {_quoted(example.target)}")
    return without_number(example, numbers)


def _quoted(text: str) -> str:
    return f"{text[:40]!r}{', where decimals have a point' if ',' in text else ''}"


def _out_of_step(example: Pair, numbers: Sequence[str]) -> Problem | None:
    words = len(split_words(example.source))
    for column in split_tags(example.target):
        if len(column) != words:
            detail = f"{many(words, 'word')} and {many(len(column), 'tag')}, where each word needs one"
            return Problem(example.line, "words and tags", detail)
    return None


TAGS = ExampleKind(_are_tags, _out_of_step, odd_tags, tag_balance)
NUMBERS = ExampleKind(_are_numbers, _no_number, odd_numbers, number_range)
CLASSES = ExampleKind(_are_classes, without_number, odd_labels, label_balance)
TEXTS = ExampleKind(
    lambda sample, format: "the targets are texts", lambda example, numbers: None, None, several=SeveralTexts
)
# Running text is never guessed: lines without tabs are mostly pairs that went wrong.
RUNNING = ExampleKind(lambda sample, format: None, lambda example, numbers: None, None, opens=TextFile)
GAPS = RUNNING._replace(packs=True)
KINDS = {
    "tag": TAGS,
    "regress": NUMBERS,
    "classify": CLASSES,
    "complete": RUNNING,
    "fill": GAPS,
    "generate": TEXTS,
}
"""Kinds by the names of their goals, in the order in which they are considered; the last suits anything."""
