"""What a model gave for each example, beside what was right: one kind of outcome for each kind of answer."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, Protocol, Self
from unicodedata import category

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import Levenshtein

__all__ = [
    "Captions",
    "Classes",
    "Example",
    "Filled",
    "Foretold",
    "LabelSets",
    "Numbers",
    "Outcome",
    "Rows",
    "Tags",
    "Texts",
    "Unit",
]

Unit = Literal["characters", "symbols", "words"]
"""What an error rate counts: characters, symbols between spaces, or words."""

Rows = NDArray[np.integer[Any]]
"""Places of examples in an outcome; a place may be named more than once."""


class Outcome(Protocol):
    """What a metric takes: answers to a number of examples, some of which can be drawn."""

    goal: ClassVar[str]

    def __len__(self) -> int: ...

    def draw(self, rows: Rows) -> Self:
        """The outcome of some of the examples, in the order in which they are named."""
        ...

    def classes(self) -> "Classes | None":
        """One class after another, where one can be taken for another."""
        ...


@dataclass(frozen=True)
class Example:
    """One source with what came out and what could have come out."""

    source: str
    output: str
    references: tuple[str, ...]

    def errors(self, unit: Unit) -> tuple[int, int]:
        """Edits to the nearest reference, and that reference's length."""
        output = split(self.output, unit)
        against = [split(reference, unit) for reference in self.references]
        return min((Levenshtein.distance(output, reference), len(reference)) for reference in against)

    @property
    def exact(self) -> bool:
        """Whether the output is one of the references."""
        return self.output in self.references


def split(text: str, unit: Unit) -> Sequence[str]:
    """A text as the sequence of what is counted."""
    return text if unit == "characters" else text.split()


@dataclass(frozen=True)
class Texts:
    """Texts that were generated."""

    goal: ClassVar[str] = "generate"
    examples: Sequence[Example]
    unit: Unit

    def __len__(self) -> int:
        return len(self.examples)

    def compared(self) -> "Texts":
        """The same as BLEU and its kin take them."""
        return self

    def draw(self, rows: Rows) -> Self:
        """The outcome of some of the examples."""
        return replace(self, examples=[self.examples[row] for row in rows])

    def classes(self) -> None:
        """Texts are no classes."""


@dataclass(frozen=True)
class Captions(Texts):
    """Texts that say what images show, where each image counts once and may have several references."""

    def compared(self) -> "Captions":
        """The same as words in small letters, without the punctuation that they begin or end with.

        That is nearly what the tokeniser of the COCO evaluation does, which needs Java.
        """
        return replace(
            self,
            examples=[
                Example(one.source, _as_words(one.output), tuple(map(_as_words, one.references)))
                for one in self.examples
            ],
        )


def _as_words(caption: str) -> str:
    return " ".join(filter(None, map(_bare, caption.lower().split())))


def _bare(word: str) -> str:
    inside = [place for place, sign in enumerate(word) if not category(sign).startswith("P")]
    return word[inside[0] : inside[-1] + 1] if inside else ""


@dataclass(frozen=True)
class Classes:
    """One class for each example, as its place among the labels."""

    goal: ClassVar[str] = "classify"
    truth: NDArray[np.integer[Any]]
    predicted: NDArray[np.integer[Any]]
    labels: tuple[str, ...]
    """Classes that the model knows, then those that only the truth names."""
    probabilities: NDArray[np.floating[Any]] | None = None
    """(examples, classes that the model knows)"""

    @classmethod
    def named(
        cls,
        truth: Sequence[str],
        predicted: Sequence[str],
        labels: Sequence[str],
        probabilities: NDArray[np.floating[Any]] | None = None,
    ) -> "Classes":
        """The outcome of classes that are given by name."""
        known = tuple(dict.fromkeys([*labels, *truth, *predicted]))
        place = {label: place for place, label in enumerate(known)}
        given, found = (np.array([place[name] for name in names], dtype=int) for names in (truth, predicted))
        return cls(given, found, known, probabilities)

    def __len__(self) -> int:
        return len(self.truth)

    def draw(self, rows: Rows) -> "Classes":
        """The outcome of some of the examples."""
        probabilities = None if self.probabilities is None else self.probabilities[rows]
        return Classes(self.truth[rows], self.predicted[rows], self.labels, probabilities)

    def classes(self) -> "Classes":
        """The outcome itself."""
        return self

    def right(self) -> NDArray[np.floating[Any]]:
        """1 for the right class, else 0; and 1: (examples, 2)."""
        right = self.truth == self.predicted
        return np.stack([right, np.ones_like(right)], 1).astype(float)

    def by_label(self) -> NDArray[np.integer[Any]]:
        """How often each label is predicted rightly, is predicted, is true: (3, labels)."""
        right = self.truth[self.truth == self.predicted]
        counted = (right, self.predicted, self.truth)
        return np.stack([np.bincount(places, minlength=len(self.labels)) for places in counted])

    def table(self) -> NDArray[np.integer[Any]]:
        """How often a label is given for another: (truth, predicted)."""
        size = len(self.labels)
        return np.bincount(self.truth * size + self.predicted, minlength=size**2).reshape(size, size)


@dataclass(frozen=True)
class LabelSets:
    """Any number of labels for each example: (examples, labels), True where an example has a label."""

    goal: ClassVar[str] = "classify"
    truth: NDArray[np.bool_]
    predicted: NDArray[np.bool_]
    labels: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.truth)

    def draw(self, rows: Rows) -> "LabelSets":
        """The outcome of some of the examples."""
        return LabelSets(self.truth[rows], self.predicted[rows], self.labels)

    def classes(self) -> None:
        """A set of labels is not taken for another: each label is right or wrong by itself."""

    def by_label(self) -> NDArray[np.integer[Any]]:
        """How often each label is predicted rightly, is predicted, is true: (3, labels)."""
        return np.stack([(self.truth & self.predicted).sum(0), self.predicted.sum(0), self.truth.sum(0)])


@dataclass(frozen=True)
class Numbers:
    """One number for each example."""

    goal: ClassVar[str] = "regress"
    truth: NDArray[np.floating[Any]]
    predicted: NDArray[np.floating[Any]]

    def __len__(self) -> int:
        return len(self.truth)

    def draw(self, rows: Rows) -> "Numbers":
        """The outcome of some of the examples."""
        return Numbers(self.truth[rows], self.predicted[rows])

    def classes(self) -> None:
        """Numbers are no classes."""


@dataclass(frozen=True)
class Tags:
    """One tag for each word of each sentence."""

    goal: ClassVar[str] = "tag"
    words: Sequence[Sequence[str]]
    truth: Sequence[Sequence[str]]
    predicted: Sequence[Sequence[str]]
    known: frozenset[str] | None = None
    """Words that training showed, where they are kept."""

    def __len__(self) -> int:
        return len(self.truth)

    def draw(self, rows: Rows) -> "Tags":
        """The outcome of some of the sentences."""
        words, truth, predicted = (
            [side[row] for row in rows] for side in (self.words, self.truth, self.predicted)
        )
        return Tags(words, truth, predicted, self.known)

    def right(self, unseen: bool = False) -> NDArray[np.floating[Any]]:
        """Words with the right tag, and words, of all words or of unseen ones only: (sentences, 2)."""
        known = (self.known or frozenset()) if unseen else frozenset()
        counted = []
        for words, truth, predicted in zip(self.words, self.truth, self.predicted, strict=True):
            right = [a == b for word, a, b in zip(words, truth, predicted, strict=True) if word not in known]
            counted.append((sum(right), len(right)))
        return np.array(counted, dtype=float).reshape(-1, 2)

    def classes(self) -> Classes:
        """The tags of all words in a row, as classes."""
        truth = [tag for sentence in self.truth for tag in sentence]
        predicted = [tag for sentence in self.predicted for tag in sentence]
        return Classes.named(truth, predicted, sorted(set(truth)))


@dataclass(frozen=True)
class Foretold:
    """Passages of running text, each foretold token by token from what stands before."""

    goal: ClassVar[str] = "complete"
    nats: NDArray[np.floating[Any]]
    """Minus the log-probability of each passage, given the text before it."""
    tokens: NDArray[np.integer[Any]]
    """How many tokens each passage has, symbols that end documents counted."""
    characters: NDArray[np.integer[Any]]

    def __len__(self) -> int:
        return len(self.nats)

    def draw(self, rows: Rows) -> "Foretold":
        """The outcome of some of the passages."""
        return Foretold(self.nats[rows], self.tokens[rows], self.characters[rows])

    def classes(self) -> None:
        """Tokens of a text are no classes."""


@dataclass(frozen=True)
class Filled:
    """Texts in which tokens were hidden, each told from all that was left."""

    goal: ClassVar[str] = "fill"
    nats: NDArray[np.floating[Any]]
    """Minus the log-probability of the hidden tokens of each text."""
    tokens: NDArray[np.integer[Any]]
    """How many tokens of each text were hidden."""
    hits: NDArray[np.integer[Any]]
    """How many of them were the likeliest."""

    def __len__(self) -> int:
        return len(self.nats)

    def draw(self, rows: Rows) -> "Filled":
        """The outcome of some of the texts."""
        return Filled(self.nats[rows], self.tokens[rows], self.hits[rows])

    def classes(self) -> None:
        """Tokens of a text are no classes."""

    def right(self) -> NDArray[np.floating[Any]]:
        """Hidden tokens that were told right, and all of them: (texts, 2)."""
        return np.stack([self.hits, self.tokens], 1).astype(float)
