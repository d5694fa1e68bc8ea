"""How good a model is on some examples: its scores beside a floor, what it confuses, its worst answers."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

from seq2see.data import Pair
from seq2see.data.image_file import ImageFile
from seq2see.data.several import every
from seq2see.errors import Seq2seeError, SettingsError
from seq2see.evaluation import METRICS, Outcome, score
from seq2see.evaluation.confusion import FIGURES, confusion
from seq2see.evaluation.control import with_other_sources
from seq2see.evaluation.floors import FLOORS, best_floor
from seq2see.goals import Predictor, goal_named

__all__ = ["Floor", "Judgement", "floor_of", "judge", "training_examples"]

_MOST_TRAINING = 20_000
"""Training examples that a floor is made of."""
_MOST_PASSAGES = 6_000
"""The same of running text."""


@dataclass(frozen=True)
class Floor:
    """The best that a few lines of code reach on the same examples."""

    name: str
    scores: dict[str, float]


@dataclass(frozen=True)
class Judgement:
    """Outcomes with their scores, beside a floor; the first outcome is the main one."""

    model: Predictor
    examples: Sequence[Pair]
    outcomes: Mapping[str, Outcome]
    floor: Floor | None = None
    scores: dict[str, float] = field(default_factory=dict)
    shuffled: dict[str, float] | None = None
    """The scores with the sources shuffled, where that was asked for."""

    @property
    def outcome(self) -> Outcome:
        """The main outcome."""
        return next(iter(self.outcomes.values()))

    @property
    def below_floor(self) -> bool:
        """Whether the floor does better, by the first score."""
        name = next(iter(self.scores), None)
        if name is None or self.floor is None or name not in self.floor.scores:
            return False
        return (self.scores[name] - self.floor.scores[name]) * METRICS[name].direction < 0

    @property
    def confusion(self) -> list[tuple[str, str, int]]:
        """What was right, what was said instead, and how often, the most frequent first."""
        classes = self.outcome.classes()
        return confusion(classes).mistakes() if classes is not None else []

    def worst(self, count: int) -> list[dict[str, Any]]:
        """The worst answers, each with what it should have been."""
        return self.model.worst(self.examples, self.outcome, count)

    def values(self) -> dict[str, Any]:
        """Scores and floor as plain values."""
        floor = {"name": self.floor.name, **self.floor.scores} if self.floor is not None else None
        control = {} if self.shuffled is None else {"shuffled": self.shuffled}
        return {**self.scores, "floor": floor, **control}

    def figure(self, kind: str) -> bytes:
        """What was confused with what, or numbers beside the right ones, as an image."""
        draw = FIGURES.get(type(self.outcome))
        if draw is None:
            raise SettingsError(
                "there is a figure of classes, of tags and of numbers; leave --figure out for anything else"
            )
        return draw(self.outcome, kind)


def judge(
    model: Predictor,
    examples: Sequence[Pair],
    options: Mapping[str, Any] | None = None,
    train: Iterable[Pair] | None = None,
    most: int | None = None,
    control: bool = False,
) -> Judgement:
    """Answer examples and score the answers; training examples give a floor to compare them with.

    With a control, the same is done once more with the sources shuffled.
    """
    if control and not goal_named(model.recipe.goal).examples.exchangeable:
        raise SettingsError(
            f"--control exchanges the sources of examples, which those of --goal {model.recipe.goal} "
            "do not allow; leave it out"
        )
    outcomes = model.outcomes(examples, most, **(options or {}))
    scores = _scores(outcomes)
    floor = floor_of(model, list(train), examples, outcomes) if train is not None else None
    shuffled = None
    if control:
        shuffled = _scores(model.outcomes(with_other_sources(examples), most, **(options or {})))
    return Judgement(model, examples, outcomes, floor, scores, shuffled)


def _scores(outcomes: Mapping[str, Outcome]) -> dict[str, float]:
    return _named({name: score(outcome) for name, outcome in outcomes.items()})


def floor_of(
    model: Predictor, train: Sequence[Pair], examples: Sequence[Pair], outcomes: Mapping[str, Outcome]
) -> Floor | None:
    """The best of a few simple rules on the examples that a model was asked."""
    goal = goal_named(model.recipe.goal)
    if not train or any(type(outcome) not in FLOORS for outcome in outcomes.values()):
        return None
    names: list[str] = []
    scores: dict[str, dict[str, float]] = {}
    for column, (target, outcome) in enumerate(outcomes.items()):
        test = goal.known(examples, model.recipe, column, outcome)
        known = replace(goal.known(train, model.recipe, column), unit=test.unit)
        name, best = best_floor(type(outcome), known, test)
        names.append(name)
        scores[target] = score(best)
    return Floor(names[0], _named(scores))


def _named(scores: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """The scores of all columns; those after the first have the name of their column before them."""
    main = next(iter(scores), None)
    return {
        key if target == main else f"{target}.{key}": value
        for target, found in scores.items()
        for key, value in found.items()
    }


def training_examples(model: Predictor) -> list[Pair] | None:
    """Examples of the file that a model was trained on, if it is still there."""
    from seq2see.corpus import checked_file

    data = model.recipe.data
    try:
        file = checked_file(data.train, data, goal_named(model.recipe.goal), training=True)
        if file.running:  # it may be large
            return list(islice(file.pairs("skip"), _MOST_PASSAGES)) or None
        if isinstance(file, ImageFile):
            file.looks_at = "name"  # the floor that looks at images reads some of them itself
        found = list(file.pairs("skip"))
    except Seq2seeError:
        return None
    return list(every(found, -(-len(found) // _MOST_TRAINING) or 1)) or None
