"""What trained models that read but do not write have in common."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Any, Generic, TypeVar

import numpy as np
import torch
from torch import Tensor

from seq2see.data import Pair
from seq2see.data.columns import Column, Extras, Images, Letters, SourceText, Words
from seq2see.data.sides import Batch
from seq2see.data.values import split_words
from seq2see.decoding.bulk import by_length
from seq2see.errors import DataError, SettingsError
from seq2see.evaluation import Outcome
from seq2see.goals.shown import Shown
from seq2see.goals.windows import take
from seq2see.layers.attention import Watch
from seq2see.lens.blocks import skipping
from seq2see.lens.edits import Edit
from seq2see.lens.image_reading import ImageLens
from seq2see.lens.pictures import grid_of
from seq2see.lens.reading import ReaderLens, Reading
from seq2see.lens.request import LensRequest
from seq2see.lens.view import View
from seq2see.lens.watchers import Editor, check_addresses, check_for_any
from seq2see.models import Network
from seq2see.models.contracts import Sides
from seq2see.run import Run
from seq2see.text.special import STANDARD

__all__ = ["ReadingModel"]

_WINDOW = 4096
_IMAGES = 512
"""Of images so many are kept at a time."""
_NOWHERE = "\uffff"
"""A code point that Unicode keeps out of texts."""
A = TypeVar("A")


class ReadingModel(Shown, ABC, Generic[A]):
    """Reads texts in batches of similar length; a goal says what the outputs of its head mean."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.network.eval()

    @property
    def network(self) -> Network:
        """The network, which reads ids."""
        return self.run.network

    @property
    def reads_images(self) -> bool:
        """Whether it reads images, not texts."""
        return isinstance(self.run.columns["source"], Images)

    @property
    def lens(self) -> ReaderLens:
        """What looks at this model."""
        return self._lens()

    def _lens(self, asked: LensRequest | None = None) -> ReaderLens:
        return ImageLens(self, asked.read if asked else None) if self.reads_images else ReaderLens(self)

    @property
    def inputs(self) -> dict[str, Column]:
        """The columns that are read."""
        return {name: column for name, column in self.run.columns.items() if name != "target"}

    def source_tokens(self, example: Pair) -> list[str]:
        """The tokens of a text as a person would read them; of an image, its places."""
        source = self.run.columns["source"]
        if isinstance(source, Images):
            return grid_of(self.network, source.shape).names
        if isinstance(source, SourceText):
            return source.codec.source_tokens(source.encode([example])[0])
        return split_words(example.source)

    def unknown_tokens(self, example: Pair) -> dict[int, str]:
        """What the model knows nothing of, by its place: neither the word nor all of its letters."""
        source, letters = self.run.columns["source"], self.run.columns.get("letters")
        if isinstance(source, Images):
            return {}
        if isinstance(source, SourceText):
            return source.codec.unknown_tokens(example.source, example.features)
        known = set(letters.letters) if isinstance(letters, Letters) else set()
        (ids,) = source.encode([example])
        words = enumerate(zip(split_words(example.source), ids, strict=True))
        return {
            place: word
            for place, (word, id_) in words
            if id_ == STANDARD.unknown and not known.issuperset(word)
        }

    @property
    def attributions(self) -> tuple[str, ...]:
        """The kinds of attribution that can be measured; counts have no gradient that belongs to a token."""
        return ("occlusion",) if "counts" in self.run.columns else ("gradient", "occlusion")

    def forgotten(self, example: Pair) -> dict[str, list[Any]]:
        """The rows of every column for copies of a text, each of which lacks one token.

        The token itself becomes the unknown one. Whatever else is read of the text (letters, counts) is read
        again with a character in its place that no training text has.
        """
        source = self.run.columns["source"]
        assert isinstance(source, SourceText | Words)
        (ids,) = source.encode([example])
        unknown = source.special.unknown
        texts = [hide(example.source, span) for span in source.spans(example)]
        copies = [example._replace(source=text) for text in texts]
        rows: dict[str, list[Any]] = {}
        for name, column in self.inputs.items():
            # Where words end is told by the number of tokens, which stays.
            rows[name] = column.encode([example]) * len(ids) if name == "words" else column.encode(copies)
        rows["source"] = [[*ids[:place], unknown, *ids[place + 1 :]] for place in range(len(ids))]
        return rows

    def read(self, example: Pair, outputs: Tensor) -> Reading:
        """What the head's outputs for one example mean, for whoever looks inside."""
        raise SettingsError(f"a model for the goal {self.recipe.goal} cannot be looked into")

    def look(
        self, asked: LensRequest, edits: Sequence[Edit] = (), donor: "ReadingModel[Any] | None" = None
    ) -> View:
        """The view of a text, with the effect of edits."""
        return self._lens(asked).look(self._asked(asked), edits, self._lender(donor, asked))

    def attribute(
        self,
        asked: LensRequest,
        kind: str,
        edits: Sequence[Edit] = (),
        donor: "ReadingModel[Any] | None" = None,
    ) -> Tensor:
        """What each token did for each answer, (answers, S)."""
        return self._lens(asked).attribution(self._asked(asked), kind, edits, self._lender(donor, asked))

    def _lender(self, donor: object, asked: LensRequest | None = None) -> ReaderLens | None:
        """What lends weights for a donor, if there is one."""
        if donor is None or isinstance(donor, ReadingModel):
            return donor._lens(asked) if donor is not None else None
        raise SettingsError("a model that writes has other rows, so it cannot lend weights to one that reads")

    def most_tokens(self, texts: Sequence[str], features: str, target: str | None) -> int:
        """How many tokens the longest of some texts has, or how many places an image."""
        if self.reads_images:
            return len(self.source_tokens(Pair(1, "", "", "")))
        return max(self.source_length(Pair(1, text, "", features)) for text in texts)

    def _asked(self, asked: LensRequest) -> Pair:
        if asked.target is not None:
            raise SettingsError("this model reads but does not write, so no target can be given")
        extras = self.run.columns.get("extras")
        # Whoever looks has no further columns at hand: numbers are at their mean.
        usual = extras.usual() if isinstance(extras, Extras) else ()
        return Pair(1, asked.text, "", asked.features, usual)

    @abstractmethod
    def head_outputs(self, sides: Sides, watch: Watch | None = None) -> Tensor:
        """What the head gives for a batch, one row for each example."""

    def batch_outputs(self, sides: Sides, watch: Watch | None = None) -> Tensor:
        """What is kept of the head's outputs for answers: all of it, unless that would be too much."""
        return self.head_outputs(sides, watch)

    @abstractmethod
    def answer(self, example: Pair, outputs: Tensor) -> A:
        """What the outputs for one example mean."""

    @abstractmethod
    def blank(self, example: Pair) -> A:
        """The answer to an example without a text."""

    def __call__(self, texts: str | Sequence[str], **columns: Sequence[Any]) -> Any:
        """Answers to texts: one gives one, a list gives a list.

        `features`, `numbers` and `categories` are as long as the list, as in the data it was trained on.
        """
        single = isinstance(texts, str)
        listed = [texts] if isinstance(texts, str) else list(texts)
        found = [self.plain(one) for one in self.answers(self.examples(listed, **columns))]
        return found[0] if single else found

    @abstractmethod
    def plain(self, answer: A) -> Any:
        """An answer as a plain value."""

    def predict(self, texts: Sequence[str], **columns: Sequence[Any]) -> list[A]:
        """Answers to texts, with all that is known of each."""
        return list(self.answers(self.examples(texts, **columns)))

    def examples(
        self,
        texts: Sequence[str],
        features: Sequence[str] | None = None,
        numbers: Sequence[Any] | None = None,
        categories: Sequence[Any] | None = None,
    ) -> list[Pair]:
        """Texts as examples; numbers and categories are those of each text, or a list of several."""
        data = self.recipe.data
        extras = [()] * len(texts) if numbers is None and categories is None else None
        if extras is None:
            listed = [_several(column, len(texts)) for column in (numbers, categories)]
            extras = [(*one, *other) for one, other in zip(*listed, strict=True)]
        wanted = len(data.numbers) + len(data.categories)
        if any(len(one) != wanted for one in extras):
            names = ", ".join(map(str, (*data.numbers, *data.categories))) or "none"
            raise SettingsError(
                f"this model was trained with further columns ({names}); give one value for each"
            )
        tags = features if features is not None else [""] * len(texts)
        rows = enumerate(zip(texts, tags, extras, strict=True), 1)
        return [Pair(line, text, "", tag, more) for line, (text, tag, more) in rows]

    def answers(
        self, examples: Iterable[Pair], edits: Sequence[Edit] = (), ready: Callable[[], bool] = lambda: True
    ) -> Iterator[A]:
        """Answers to a stream of examples, in order.

        Examples are taken in windows, which also end where `ready` says that the next would have to be
        waited for.
        """
        check_addresses(edits, self.network)
        check_for_any(edits)
        stream, window = iter(examples), _IMAGES if self.reads_images else _WINDOW
        while taken := take(stream, window, ready):
            full = [row for row, one in enumerate(taken) if one.source.strip()]
            outputs = dict(zip(full, self.outputs([taken[row] for row in full], edits), strict=True))
            for row, one in enumerate(taken):
                yield self.answer(one, outputs[row]) if row in outputs else self.blank(one)

    @torch.inference_mode()
    def outputs(self, examples: Sequence[Pair], edits: Sequence[Edit] = ()) -> list[Tensor]:
        """What the head gives for each example, on the CPU; all have a text."""
        inputs = self.inputs
        rows = {name: column.encode(examples) for name, column in inputs.items()}
        self.refuse_too_long(rows["source"])
        found: list[Tensor] = [torch.empty(0)] * len(examples)
        watching = partial(Editor, edits) if edits else None
        for chosen in by_length(rows["source"], range(len(examples)), self.recipe.decoding.batch_tokens):
            sides = {
                name: column.collate([rows[name][row] for row in chosen]) for name, column in inputs.items()
            }
            batch = Batch(sides, np.asarray(chosen)).to(self.device)
            with skipping(self.network, edits):
                outputs = self.batch_outputs(batch.sides, watching() if watching is not None else None)
            for row, output in zip(chosen, outputs.float().cpu(), strict=True):
                found[row] = output
        return found

    def refuse_too_long(self, rows: Iterable[Sequence[Any]]) -> None:
        """Refuse texts of more tokens than positions can name."""
        limit = self.recipe.model.length_limit("encoder")
        longest = max(map(len, rows), default=0)
        if limit is not None and longest > limit:
            raise DataError(
                f"a line has {longest:,} tokens, and the positions of this model end at {limit:,}; "
                f"split the line, or train with {self.recipe.model.unlimited('encoder')}"
            )

    @abstractmethod
    def outcome(self, examples: Sequence[Pair], most: int | None = None, **options: Any) -> Outcome:
        """Answers to examples (`most` of them, evenly chosen) beside what is right."""

    @abstractmethod
    def worst(self, examples: Sequence[Pair], outcome: Outcome, count: int) -> list[dict[str, Any]]:
        """The worst answers of an outcome, each with what it should have been."""

    def outcomes(
        self, examples: Sequence[Pair], most: int | None = None, **options: Any
    ) -> dict[str, Outcome]:
        """The outcome of the only target."""
        return {"target": self.outcome(examples, most, **options)}

    def unknown(self, example: Pair) -> Counter[str]:
        """Pieces of an example that training never showed; words may be unknown, letters less so."""
        source = self.run.columns["source"]
        if isinstance(source, Images):
            return Counter()
        if isinstance(source, SourceText):
            found = source.codec.source.unknown([example.source])
            features = source.codec.features
            return found + features.unknown([example.features]) if features else found
        letters = self.run.columns.get("letters")
        known = set(letters.letters) if isinstance(letters, Letters) else set()
        return Counter(letter for letter in example.source if letter != " " and letter not in known)

    def target_scores(self, examples: Iterable[Pair]) -> Iterator[float]:
        """The log-probability of the target of each example."""
        stream, window = iter(examples), _IMAGES if self.reads_images else _WINDOW
        while taken := list(islice(stream, window)):
            for one, outputs in zip(taken, self.outputs(taken), strict=True):
                yield self.target_score(one, outputs)

    def target_score(self, example: Pair, outputs: Tensor) -> float:
        """The log-probability of one target by the head's outputs."""
        raise SettingsError(f"a model for the goal {self.recipe.goal} gives targets no log-probability")

    @property
    def quick(self) -> dict[str, Any]:
        """Nothing is quicker than reading."""
        return {}

    def outcome_lengths(self, examples: Sequence[Pair], outcome: Outcome) -> list[int]:
        """How many tokens the source of each answer of an outcome of all examples has."""
        if self.reads_images:
            return [1] * len(examples)
        return list(map(len, self.run.columns["source"].encode(examples)))

    def source_length(self, example: Pair) -> int:
        """How many tokens the source of an example has."""
        return 1 if self.reads_images else len(self.run.columns["source"].encode([example])[0])

    def attention(
        self,
        text: str,
        features: str = "",
        *,
        edits: Sequence[Edit] = (),
        donor: "ReadingModel[Any] | None" = None,
        **columns: Sequence[Any],
    ) -> View:
        """What every head looks at while the model reads a text.

        With edits, the view also has what they changed. A donor lends the weights that are borrowed.
        """
        return self.lens.look(self._example(text, features, columns), edits, self._lender(donor))

    def attribution(
        self,
        text: str,
        features: str = "",
        *,
        kind: str | None = None,
        edits: Sequence[Edit] = (),
        donor: "ReadingModel[Any] | None" = None,
        **columns: Sequence[Any],
    ) -> Tensor:
        """What each token did for the answer, (answers, S).

        By default by `gradient`, or by `occlusion` where the model also counts pieces of the text.
        """
        return self.lens.attribution(self._example(text, features, columns), kind, edits, self._lender(donor))

    def _example(self, text: str, features: str, columns: dict[str, Sequence[Any]]) -> Pair:
        return self.examples([text], [features], **columns)[0]


def hide(text: str, span: tuple[int, int] | None) -> str:
    """A text with a character that no text has in the place of each character of a token.

    Spaces beside the token stay, so that the words around it do; a token of spaces alone is hidden whole.
    """
    if span is None:
        return text
    start, end = span
    blank = text[start:end].isspace()
    hidden = "".join(_NOWHERE if blank or not sign.isspace() else sign for sign in text[start:end])
    return text[:start] + hidden + text[end:]


def _several(column: Sequence[Any] | None, count: int) -> list[tuple[str, ...]]:
    """For each text the values of some columns, as texts."""
    if column is None:
        return [()] * count
    return [tuple(map(str, value)) if isinstance(value, list | tuple) else (str(value),) for value in column]
