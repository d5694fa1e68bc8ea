"""The goal `classify`: read a text, choose a class, or any number of labels."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from seq2see.data import Pair
from seq2see.data.columns import Labels, LabelSets
from seq2see.data.image_sets import image_name
from seq2see.data.kinds import CLASSES
from seq2see.data.survey import Survey
from seq2see.data.values import SEPARATOR, parse_number, split_labels
from seq2see.errors import SettingsError
from seq2see.evaluation import Classes, Outcome
from seq2see.evaluation import LabelSets as SetOutcome
from seq2see.evaluation.calibration import expected_calibration_error, fit_temperature, probabilities
from seq2see.evaluation.floors import Known
from seq2see.goals.choices import Choice
from seq2see.goals.contract import Columns, Examples, Predictor
from seq2see.goals.image_choices import choose_images, images_asked
from seq2see.goals.reading_choices import choose_reader
from seq2see.goals.reading_model import ReadingModel
from seq2see.goals.sources import (
    KeepsColumns,
    known_inputs,
    known_pixels,
    learn_sources,
    refuse_several_targets,
    vocabularies,
)
from seq2see.layers.attention import Watch
from seq2see.lens.reading import Reading
from seq2see.lens.view import AnswerKind
from seq2see.models import Network, make_reader
from seq2see.models.contracts import Sides
from seq2see.models.heads import ClassHead
from seq2see.notebook import Printed
from seq2see.recipe import Recipe
from seq2see.run import Run

__all__ = ["Classified", "Classifier", "Classify", "numbers_of"]

_LIKELY = 0.5
"""From this probability on, a label is given, where there may be several."""


def numbers_of(examples: Sequence[Pair], count: int) -> NDArray[np.float64] | None:
    """The further columns of numbers of examples, (examples, columns)."""
    if not count:
        return None
    return np.array([[parse_number(text) for text in one.extras[:count]] for one in examples], float)


class Classify(KeepsColumns):
    """Texts to classes."""

    name = "classify"
    examples = CLASSES
    ladder: tuple[str, ...] = ("attention-pool", "reader-cnn", "reader-rnn", "reader-transformer")

    def choose(self, found: Survey, asked: Mapping[str, Any], model: bool) -> Choice:
        """Tokens, encoder, head and schedule by the number and length of texts."""
        if images_asked(asked):
            return choose_images(found, asked, model, "accuracy")
        choice = choose_reader(found, asked, model, "accuracy")
        several = sum(SEPARATOR in one.target for one in found.sample)
        if several > len(found.sample) // 20:
            choice.take(
                {"model": {"head": {"several_labels": True}}, "training": {"metric": "micro_f1"}},
                f"several labels for a text (many targets have {SEPARATOR} between labels)",
            )
        return choice

    def learn(self, recipe: Recipe, examples: Examples, known: Columns | None = None) -> Columns:
        """Learn what is read, and the labels."""
        refuse_several_targets(recipe)
        if recipe.model.head.several_labels and recipe.model.head.class_weights:
            raise SettingsError(
                "model.head.class_weights is for texts with one label each, and these have several; "
                "leave it out"
            )
        kind = LabelSets if recipe.model.head.several_labels else Labels
        return {**learn_sources(recipe, examples, known=known), "target": kind.learn(examples())}

    def network(self, recipe: Recipe, columns: Columns) -> Network:
        """An encoder under a head with a score for each class."""
        labels, settings = columns["target"], recipe.model
        assert isinstance(labels, Labels)
        extras = getattr(columns.get("extras"), "width", 0)

        def head(width: int) -> ClassHead:
            return ClassHead(
                width,
                extras,
                len(labels.labels),
                settings.head,
                isinstance(labels, LabelSets),
                labels.weights() if settings.head.class_weights else None,
                recipe.training.label_smoothing,
                getattr(columns.get("counts"), "size", None),
            )

        return make_reader(settings, vocabularies(columns), head)

    def predictor(self, run: Run) -> "Classifier":
        """A model that takes texts and gives labels."""
        return Classifier(run)

    def calibrate(self, predictor: Predictor, examples: Sequence[Pair]) -> dict[str, float]:
        """The temperature at which the model is as sure as it is right on held-out examples."""
        assert isinstance(predictor, Classifier)
        if predictor.several:
            return {}
        usable = [one for one in examples if one.source.strip() and one.target.strip() in predictor.labels]
        if not usable:
            return {}
        logits = np.stack([scores.numpy() for scores in predictor.outputs(usable)])
        truth = np.array([predictor.labels.index(one.target.strip()) for one in usable])
        temperature = fit_temperature(logits, truth)

        def error(temperature: float) -> float:
            found = probabilities(logits, temperature)
            return expected_calibration_error(found.max(1), found.argmax(1) == truth)

        before, after = error(1.0), error(temperature)
        # Likelihood decides on the temperature; where confidence itself gets worse, it is left alone.
        if after > before:
            temperature, after = 1.0, before
        return {"temperature": temperature, "ece_before": before, "ece_after": after}

    def known(
        self, examples: Sequence[Pair], recipe: Recipe, column: int = 0, outcome: Outcome | None = None
    ) -> Known:
        """Texts and their labels."""
        truth: list[Any] = [one.target.strip() for one in examples]
        if recipe.model.head.several_labels:
            truth = [set(split_labels(one.target)) for one in examples]
        numbers = numbers_of(examples, len(recipe.data.numbers))
        return Known(known_inputs(examples, recipe), truth, numbers, known_pixels(examples, recipe))


@dataclass(frozen=True)
class Classified(Printed):
    """The class of a text, or its labels, with the probability of each class."""

    labels: tuple[str, ...]
    probabilities: dict[str, float]

    @property
    def text(self) -> str:
        """The labels as they stand in a file."""
        return SEPARATOR.join(self.labels)

    @property
    def detail(self) -> str:
        """Every class with its probability, the likeliest first."""
        ordered = sorted(self.probabilities.items(), key=lambda item: -item[1])
        return "\t".join(f"{label}={chance:.4f}" for label, chance in ordered)

    @property
    def brief(self) -> str:
        """The labels, and how sure they are."""
        return f"{self.text or 'no label'} {max(self.probabilities.values(), default=0.0):.0%}"

    def values(self) -> dict[str, Any]:
        """The same as plain values."""
        return {"label": self.text, "probabilities": self.probabilities}

    def __repr__(self) -> str:
        chance = max(self.probabilities.values(), default=0.0)
        return f"<{self.text or 'no label'}: {chance:.1%} sure, of {len(self.probabilities)} classes>"


class Classifier(ReadingModel[Classified]):
    """A trained model that takes texts and gives labels."""

    @property
    def labels(self) -> list[str]:
        """The classes, in the order of the head's outputs."""
        column = self.run.columns["target"]
        assert isinstance(column, Labels)
        return column.labels

    @property
    def several(self) -> bool:
        """Whether a text may have any number of labels."""
        return isinstance(self.run.columns["target"], LabelSets)

    @property
    def temperature(self) -> float:
        """What scores are divided by, so that probabilities are as sure as they are right."""
        return self.run.calibration.get("temperature", 1.0)

    def head_outputs(self, sides: Sides, watch: Watch | None = None) -> Tensor:
        """Scores of the classes, (B, C)."""
        head = self.network.head
        assert isinstance(head, ClassHead)
        return head.outputs(self.network.encode_for_head(sides, watch), sides, watch)

    def answer(self, example: Pair, outputs: Tensor) -> Classified:
        """The likeliest class, or every label that is likelier than not."""
        if self.several:
            chances = outputs.sigmoid().tolist()
            known = dict(zip(self.labels, chances, strict=True))
            return Classified(tuple(label for label, chance in known.items() if chance >= _LIKELY), known)
        known = dict(zip(self.labels, (outputs / self.temperature).softmax(-1).tolist(), strict=True))
        return Classified((self.labels[int(outputs.argmax())],), known)

    def read(self, example: Pair, outputs: Tensor) -> Reading:
        """The log-probability of every class."""
        outputs = outputs.float()
        answer = self.answer(example, outputs.cpu())
        scores = F.logsigmoid(outputs) if self.several else (outputs / self.temperature).log_softmax(-1)
        kind: AnswerKind = "labels" if self.several else "class"
        said = answer.text or "no label"
        return Reading(kind, ["text"], [said], self.labels, scores[None], answer.text)

    def blank(self, example: Pair) -> Classified:
        """No label for no text."""
        return Classified((), dict.fromkeys(self.labels, 0.0))

    def plain(self, answer: Classified) -> Any:
        """A label, or a list of them."""
        return list(answer.labels) if self.several else answer.text

    def target_score(self, example: Pair, outputs: Tensor) -> float:
        """The log-probability of the right label, or of just the right labels."""
        if self.several:
            right = set(split_labels(example.target))
            signs = [1.0 if label in right else -1.0 for label in self.labels]
            return float(F.logsigmoid(outputs * outputs.new_tensor(signs)).sum())
        column = self.run.columns["target"]
        assert isinstance(column, Labels)
        place = column.class_of(example.target.strip(), example.line)
        return float((outputs / self.temperature).log_softmax(-1)[place])

    def worst(self, examples: Sequence[Pair], outcome: Outcome, count: int) -> list[dict[str, Any]]:
        """Texts whose class was missed, those first where the model was surest."""
        found = self._said(outcome) if len(outcome) == len(examples) else None
        if found is None:
            found = list(self.answers(examples))
        wrong = [(one, said) for one, said in zip(examples, found, strict=True) if not self._right(one, said)]
        wrong.sort(key=lambda pair: -max(pair[1].probabilities.values(), default=0.0))
        return [
            {
                **({"image": image_name(one.source)} if self.reads_images else {"text": one.source}),
                "said": said.text,
                "sure": f"{max(said.probabilities.values(), default=0.0):.0%}",
                "should be": one.target,
            }
            for one, said in wrong[:count]
        ]

    def _said(self, outcome: Outcome) -> list[Classified] | None:
        """The answers of an outcome, if it has all of them with their probabilities."""
        if not isinstance(outcome, Classes) or outcome.probabilities is None:
            return None
        return [
            Classified((outcome.labels[place],), dict(zip(self.labels, map(float, chances), strict=True)))
            for place, chances in zip(outcome.predicted, outcome.probabilities, strict=True)
        ]

    def _right(self, example: Pair, said: Classified) -> bool:
        if self.several:
            return set(split_labels(example.target)) == set(said.labels)
        return example.target.strip() == said.text

    def outcome(self, examples: Sequence[Pair], most: int | None = None, **options: Any) -> Outcome:
        """Labels beside those that are right."""
        chosen = examples[:: -(-len(examples) // most)] if most is not None else examples
        found = list(self.answers(chosen, **options))
        labels = tuple(self.labels)
        if self.several:
            truth = np.array([[label in split_labels(one.target) for label in labels] for one in chosen])
            given = np.array([[label in one.labels for label in labels] for one in found])
            return SetOutcome(truth, given, labels)
        chances = np.array([list(one.probabilities.values()) for one in found])
        right, said = [one.target.strip() for one in chosen], [one.text or labels[0] for one in found]
        return Classes.named(right, said, labels, chances)
