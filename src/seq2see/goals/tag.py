"""The goal `tag`: read a sentence, give every word a tag, in one or several columns."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from seq2see.data import Pair
from seq2see.data.columns import Tags
from seq2see.data.kinds import TAGS
from seq2see.data.survey import Survey
from seq2see.data.values import split_tags, split_words
from seq2see.errors import SettingsError
from seq2see.evaluation import Outcome
from seq2see.evaluation import Tags as TagOutcome
from seq2see.evaluation.floors import Known
from seq2see.goals.choices import Choice
from seq2see.goals.contract import Columns, Examples, Predictor
from seq2see.goals.reading_choices import choose_tagger
from seq2see.goals.reading_model import ReadingModel
from seq2see.goals.sources import (
    KeepsColumns,
    learn_sources,
    refuse_class_settings,
    vocabularies,
)
from seq2see.layers.attention import Watch
from seq2see.lens.reading import Reading
from seq2see.models import Network, make_reader
from seq2see.models.contracts import Sides
from seq2see.models.heads import TagHead
from seq2see.notebook import Printed
from seq2see.recipe import Recipe
from seq2see.run import Run

__all__ = ["Tag", "Tagged", "Tagger"]


class Tag(KeepsColumns):
    """A tag for every word."""

    name = "tag"
    examples = TAGS
    ladder: tuple[str, ...] = ("tagger-tiny", "tagger", "tagger-transformer")

    def choose(self, found: Survey, asked: Mapping[str, Any], model: bool) -> Choice:
        """Words and letters, encoder and schedule by the number of sentences."""
        return choose_tagger(found, asked, model)

    def learn(self, recipe: Recipe, examples: Examples, known: Columns | None = None) -> Columns:
        """Learn words, letters and tags."""
        refuse_class_settings(recipe)
        if recipe.data.numbers or recipe.data.categories:
            raise SettingsError(
                "--numbers and --categories are for --goal classify and regress, not for tags"
            )
        names = [str(name) for name in recipe.data.targets]
        if len(names) == 1 and names[0].isdigit():
            names = ["tags"]
        sources = learn_sources(recipe, examples, aligned=True, known=known)
        return {**sources, "target": Tags.learn(examples(), names)}

    def network(self, recipe: Recipe, columns: Columns) -> Network:
        """An encoder under a head with a score for each tag at each word."""
        tags = columns["target"]
        assert isinstance(tags, Tags)
        sizes = [len(column) for column in tags.columns]
        smoothing = recipe.training.label_smoothing
        return make_reader(
            recipe.model,
            vocabularies(columns),
            lambda width: TagHead(width, sizes, recipe.model.head, smoothing),
        )

    def predictor(self, run: Run) -> "Tagger":
        """A model that takes sentences and gives tags."""
        return Tagger(run)

    def calibrate(self, predictor: Predictor, examples: Sequence[Pair]) -> dict[str, float]:
        """Probabilities of tags are given as they are."""
        return {}

    def known(
        self, examples: Sequence[Pair], recipe: Recipe, column: int = 0, outcome: Outcome | None = None
    ) -> Known:
        """Words and the tags of a column."""
        return Known(
            [split_words(one.source) for one in examples],
            [split_tags(one.target)[column] for one in examples],
        )


@dataclass(frozen=True)
class Tagged(Printed):
    """The words of a sentence, their tags in each column, and how likely each tag is."""

    words: tuple[str, ...]
    tags: dict[str, tuple[str, ...]]
    probabilities: dict[str, tuple[float, ...]]

    @property
    def text(self) -> str:
        """The tags of the columns as they stand in a file."""
        return "\t".join(" ".join(column) for column in self.tags.values())

    @property
    def detail(self) -> str:
        """The probability of each tag."""
        return "\t".join(
            " ".join(f"{chance:.4f}" for chance in column) for column in self.probabilities.values()
        )

    def values(self) -> dict[str, Any]:
        """The same as plain values."""
        return {"words": self.words, "tags": self.tags, "probabilities": self.probabilities}

    def __repr__(self) -> str:
        first = next(iter(self.tags.values()), ())
        shown = " ".join(f"{word}/{tag}" for word, tag in zip(self.words[:12], first, strict=False))
        return f"<{shown}{' ...' if len(self.words) > 12 else ''}>"


class Tagger(ReadingModel[Tagged]):
    """A trained model that takes sentences, their words between spaces, and gives tags."""

    @property
    def column(self) -> Tags:
        """The tags of each column."""
        column = self.run.columns["target"]
        assert isinstance(column, Tags)
        return column

    def head_outputs(self, sides: Sides, watch: Watch | None = None) -> Tensor:
        """Log-probabilities of the tags of all columns side by side, (B, S, tags)."""
        head = self.network.head
        assert isinstance(head, TagHead)
        scores = head.outputs(self.network.encode(sides, watch), sides)
        return torch.cat([column.float().log_softmax(-1) for column in scores], -1)

    def answer(self, example: Pair, outputs: Tensor) -> Tagged:
        """The likeliest tag of every word."""
        words = split_words(example.source)
        tags: dict[str, tuple[str, ...]] = {}
        chances: dict[str, tuple[float, ...]] = {}
        sizes = [len(known) for known in self.column.columns]
        columns = outputs[: len(words)].split(sizes, -1)
        for name, known, scores in zip(self.column.names, self.column.columns, columns, strict=True):
            best = scores.max(-1)
            tags[name] = tuple(known[place] for place in best.indices.tolist())
            chances[name] = tuple(best.values.exp().tolist())
        return Tagged(tuple(words), tags, chances)

    def read(self, example: Pair, outputs: Tensor) -> Reading:
        """The log-probability of every tag of the first column, at every word."""
        answer = self.answer(example, outputs.float().cpu())
        known = self.column.columns[0]
        tags = list(next(iter(answer.tags.values())))
        scores = outputs[: len(tags), : len(known)].float()
        return Reading("tags", list(answer.words), tags, known, scores, " ".join(tags))

    def blank(self, example: Pair) -> Tagged:
        """No tags for no words."""
        names = self.column.names
        return Tagged((), dict.fromkeys(names, ()), dict.fromkeys(names, ()))

    def plain(self, answer: Tagged) -> Any:
        """A list of tags, or one for each column."""
        columns = [list(tags) for tags in answer.tags.values()]
        return columns[0] if len(columns) == 1 else dict(zip(answer.tags, columns, strict=True))

    def target_score(self, example: Pair, outputs: Tensor) -> float:
        """The log-probability of all the right tags of every column."""
        total = 0.0
        columns = outputs.split([len(known) for known in self.column.columns], -1)
        for known, tags, scores in zip(self.column.columns, split_tags(example.target), columns, strict=True):
            places = {tag: place for place, tag in enumerate(known)}
            for word, tag in enumerate(tags):
                total += float(scores[word, places[tag]]) if tag in places else -math.inf
        return total

    def worst(self, examples: Sequence[Pair], outcome: Outcome, count: int) -> list[dict[str, Any]]:
        """Sentences with the most wrong tags, each with its wrong words."""
        assert isinstance(outcome, TagOutcome)
        rows = []
        for words, truth, said in zip(outcome.words, outcome.truth, outcome.predicted, strict=True):
            missed = zip(words, said, truth, strict=True)
            wrong = [f"{word}/{tag}, not {right}" for word, tag, right in missed if tag != right]
            rows.append((len(wrong), " ".join(words), "; ".join(wrong)))
        rows.sort(key=lambda row: -row[0])
        return [{"sentence": text, "wrong": wrong} for number, text, wrong in rows[:count] if number]

    def outcome(self, examples: Sequence[Pair], most: int | None = None, **options: Any) -> Outcome:
        """Tags of the first column beside those that are right."""
        return next(iter(self.outcomes(examples, most, **options).values()))

    def outcomes(
        self, examples: Sequence[Pair], most: int | None = None, **options: Any
    ) -> dict[str, Outcome]:
        """Tags of each column beside those that are right."""
        chosen = examples[:: -(-len(examples) // most)] if most is not None else examples
        found = list(self.answers(chosen, **options))
        truth = [split_tags(one.target) for one in chosen]
        words = [one.words for one in found]
        return {
            name: TagOutcome(
                words,
                [columns[place] for columns in truth],
                [one.tags[name] for one in found],
                self.column.known,
            )
            for place, name in enumerate(self.column.names)
        }
