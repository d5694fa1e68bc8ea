"""What every goal can do: what is made of the data, what the network ends in, what a prediction is."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import torch
from torch import Tensor

from seq2see.data import Pair
from seq2see.data.columns import Column
from seq2see.data.kinds import ExampleKind
from seq2see.data.survey import Survey
from seq2see.evaluation import Outcome
from seq2see.evaluation.floors import Known
from seq2see.goals.choices import Choice
from seq2see.lens.edits import Edit
from seq2see.lens.request import LensRequest
from seq2see.lens.view import View
from seq2see.models import Network
from seq2see.recipe import Recipe
from seq2see.run import DataFacts, Run

__all__ = ["Columns", "Examples", "Goal", "Predictor"]

Columns = Mapping[str, Column]
Examples = Callable[[], Iterable[Pair]]


class Predictor(Protocol):
    """A trained network together with what it was trained on, ready to answer."""

    run: Run

    @property
    def network(self) -> Network: ...

    @property
    def recipe(self) -> Recipe: ...

    @property
    def facts(self) -> DataFacts: ...

    @property
    def device(self) -> torch.device: ...

    @property
    def quick(self) -> dict[str, Any]:
        """Options for an outcome that is to be had soon, while training."""

    def outcome(self, examples: Sequence[Pair], most: int | None = None, **options: Any) -> Outcome:
        """Answers to examples (`most` of them, evenly chosen) beside what is right."""

    def outcomes(
        self, examples: Sequence[Pair], most: int | None = None, **options: Any
    ) -> dict[str, Outcome]:
        """The same for each column of the target, by name; the main one first."""

    def worst(self, examples: Sequence[Pair], outcome: Outcome, count: int) -> list[dict[str, Any]]:
        """The worst answers of an outcome, each with what it should have been."""

    @property
    def attributions(self) -> Sequence[str]:
        """The kinds of attribution that can be measured, the usual one first."""

    def look(self, asked: LensRequest, edits: Sequence[Edit] = (), donor: Any = None) -> View:
        """The view of a text, with the effect of edits; a donor is a model that lends weights."""

    def attribute(
        self, asked: LensRequest, kind: str, edits: Sequence[Edit] = (), donor: Any = None
    ) -> Tensor:
        """What each source token did for each answer, (T, S)."""

    def most_tokens(self, texts: Sequence[str], features: str, target: str | None) -> int:
        """How many tokens the longest of some texts, or a target, has."""

    def target_scores(self, examples: Iterable[Pair]) -> Iterator[float]:
        """The log-probability of the target of each example."""

    def unknown(self, example: Pair) -> Counter[str]:
        """Pieces of an example that training never showed."""

    def outcome_lengths(self, examples: Sequence[Pair], outcome: Outcome) -> list[int]:
        """How many tokens the source of each answer has; of images, how many words the caption."""

    def source_length(self, example: Pair) -> int:
        """How many tokens the source of an example has."""


class Goal(Protocol):
    """What a model is for."""

    name: str

    examples: ExampleKind
    """How examples for this goal look, and what can be wrong with them."""

    ladder: tuple[str, ...]
    """Presets from a plain model to a Transformer, which `seq2see ladder` compares."""

    def choose(self, found: Survey, asked: Mapping[str, Any], model: bool) -> Choice:
        """Settings for some examples, as far as they were not asked for."""

    def learn(self, recipe: Recipe, examples: Examples, known: Columns | None = None) -> Columns:
        """What turns examples into numbers, learnt from the training examples.

        Vocabularies of columns that are known from another run are kept.
        """

    def files(self, columns: Columns) -> dict[str, str]:
        """The files that keep the columns, by their names inside the run directory."""

    def load(self, recipe: Recipe, folder: Path) -> Columns:
        """The columns that such files hold."""

    def network(self, recipe: Recipe, columns: Columns) -> Network:
        """The untrained network of a recipe."""

    def predictor(self, run: Run) -> Predictor:
        """What answers with a trained network."""

    def calibrate(self, predictor: Predictor, examples: Sequence[Pair]) -> dict[str, float]:
        """What held-out examples tell of how sure the answers are, kept with the run."""

    def known(
        self, examples: Sequence[Pair], recipe: Recipe, column: int = 0, outcome: Outcome | None = None
    ) -> Known:
        """Examples as a few lines of code take them, to be a floor under the model's scores.

        Of several columns of the target one is meant, counted from 0. The outcome of the same examples is
        given where there is one: it may count them in its own way.
        """
