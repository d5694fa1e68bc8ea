"""The goal `regress`: read a text, guess a number."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from torch import Tensor

from seq2see.data import Pair
from seq2see.data.columns import Number
from seq2see.data.columns.number import number_of
from seq2see.data.kinds import NUMBERS
from seq2see.data.survey import Survey
from seq2see.errors import SettingsError
from seq2see.evaluation import Numbers, Outcome
from seq2see.evaluation.floors import Known
from seq2see.goals.choices import Choice
from seq2see.goals.classify import numbers_of
from seq2see.goals.contract import Columns, Examples, Predictor
from seq2see.goals.image_choices import choose_images, images_asked
from seq2see.goals.reading_choices import choose_reader
from seq2see.goals.reading_model import ReadingModel
from seq2see.goals.sources import (
    KeepsColumns,
    known_inputs,
    learn_sources,
    refuse_class_settings,
    refuse_several_targets,
    vocabularies,
)
from seq2see.layers.attention import Watch
from seq2see.lens.reading import Reading
from seq2see.models import Network, make_reader
from seq2see.models.contracts import Sides
from seq2see.models.heads import NumberHead
from seq2see.notebook import Printed
from seq2see.recipe import Recipe
from seq2see.run import Run

__all__ = ["Estimated", "Regress", "Regressor"]

_SURE = 0.9
"""The share of answers whose interval holds the truth."""


class Regress(KeepsColumns):
    """Texts to numbers."""

    name = "regress"
    examples = NUMBERS
    ladder: tuple[str, ...] = ("attention-pool", "reader-cnn", "reader-rnn", "reader-transformer")

    def choose(self, found: Survey, asked: Mapping[str, Any], model: bool) -> Choice:
        """Tokens, encoder, head and schedule by the number and length of texts."""
        if images_asked(asked):
            return choose_images(found, asked, model, "rmse")
        return choose_reader(found, asked, model, "rmse")

    def learn(self, recipe: Recipe, examples: Examples, known: Columns | None = None) -> Columns:
        """Learn what is read, and the mean and deviation of the targets."""
        refuse_several_targets(recipe)
        refuse_class_settings(recipe)
        return {**learn_sources(recipe, examples, known=known), "target": Number.learn(examples())}

    def network(self, recipe: Recipe, columns: Columns) -> Network:
        """An encoder under a head with one output."""
        extras = getattr(columns.get("extras"), "width", 0)
        pieces = getattr(columns.get("counts"), "size", None)
        return make_reader(
            recipe.model,
            vocabularies(columns),
            lambda width: NumberHead(width, extras, recipe.model.head, pieces),
        )

    def predictor(self, run: Run) -> "Regressor":
        """A model that takes texts and gives numbers."""
        return Regressor(run)

    def calibrate(self, predictor: Predictor, examples: Sequence[Pair]) -> dict[str, float]:
        """Half of the interval around a guess that held nine of ten held-out targets (split conformal)."""
        assert isinstance(predictor, Regressor)
        found = predictor.outcome(examples)
        assert isinstance(found, Numbers)
        errors = np.sort(np.abs(found.truth - found.predicted))
        rank = min(len(errors) - 1, int(np.ceil(_SURE * (len(errors) + 1))) - 1)
        return {"interval": float(errors[rank]), "interval_share": _SURE}

    def known(
        self, examples: Sequence[Pair], recipe: Recipe, column: int = 0, outcome: Outcome | None = None
    ) -> Known:
        """Texts and their numbers."""
        truth = [number_of(one.target, one.line, "the target") for one in examples]
        return Known(known_inputs(examples, recipe), truth, numbers_of(examples, len(recipe.data.numbers)))


@dataclass(frozen=True)
class Estimated(Printed):
    """A number, and an interval that holds the truth nine times out of ten where that is known."""

    value: float | None
    low: float | None = None
    high: float | None = None

    @property
    def text(self) -> str:
        """The number as it stands in a file; nothing for no text."""
        return f"{self.value:.6g}" if self.value is not None else ""

    @property
    def detail(self) -> str:
        """The ends of the interval."""
        return f"{self.low:.6g}\t{self.high:.6g}" if self.low is not None and self.high is not None else "\t"

    @property
    def brief(self) -> str:
        """The number alone."""
        return self.text

    def values(self) -> dict[str, Any]:
        """The same as plain values."""
        return {"value": self.value, "low": self.low, "high": self.high}

    def __repr__(self) -> str:
        around = f", {self.low:.4g} to {self.high:.4g}" if self.low is not None else ""
        return f"<{self.text or 'no text'}{around}>"


class Regressor(ReadingModel[Estimated]):
    """A trained model that takes texts and gives numbers."""

    @property
    def column(self) -> Number:
        """Mean and deviation of the targets."""
        column = self.run.columns["target"]
        assert isinstance(column, Number)
        return column

    def head_outputs(self, sides: Sides, watch: Watch | None = None) -> Tensor:
        """The number of each row, standardised, (B, 1)."""
        head = self.network.head
        assert isinstance(head, NumberHead)
        return head.outputs(self.network.encode_for_head(sides, watch), sides, watch).unsqueeze(1)

    def answer(self, example: Pair, outputs: Tensor) -> Estimated:
        """The number in the unit of the targets."""
        value = float(outputs[0]) * self.column.deviation + self.column.mean
        half = self.run.calibration.get("interval")
        return Estimated(value) if half is None else Estimated(value, value - half, value + half)

    def read(self, example: Pair, outputs: Tensor) -> Reading:
        """The number, in the unit of the targets, and its interval."""
        value = outputs.float() * self.column.deviation + self.column.mean
        answer = self.answer(example, outputs.detach())
        said, note = f"{answer.value:.4g}", ""
        if answer.low is not None:
            share = self.run.calibration["interval_share"]
            note = (
                f"{answer.low:.4g} to {answer.high:.4g} with {share:.0%} confidence, "
                "by its errors on held-out texts"
            )
        return Reading("number", ["text"], [said], [], value[None], said, note)

    def blank(self, example: Pair) -> Estimated:
        """No number for no text."""
        return Estimated(None)

    def plain(self, answer: Estimated) -> Any:
        """The number."""
        return answer.value

    def target_score(self, example: Pair, outputs: Tensor) -> float:
        """Numbers have no probability."""
        raise SettingsError("a guess of a number gives no probabilities; 'seq2see evaluate' gives its errors")

    def worst(self, examples: Sequence[Pair], outcome: Outcome, count: int) -> list[dict[str, Any]]:
        """Texts whose number was missed by most."""
        assert isinstance(outcome, Numbers)
        order = np.argsort(-np.abs(outcome.truth - outcome.predicted), kind="stable")[:count]
        return [
            {
                "text": examples[row].source,
                "said": f"{outcome.predicted[row]:.4g}",
                "should be": f"{outcome.truth[row]:.4g}",
            }
            for row in order
        ]

    def outcome(self, examples: Sequence[Pair], most: int | None = None, **options: Any) -> Outcome:
        """Numbers beside those that are right."""
        chosen = examples[:: -(-len(examples) // most)] if most is not None else examples
        found = [one.value for one in self.answers(chosen, **options)]
        truth = [number_of(one.target, one.line, "the target") for one in chosen]
        mean = self.column.mean
        return Numbers(np.array(truth), np.array([mean if value is None else value for value in found]))
