"""A goal, a kind of column and an encoder from outside the package: a file each, and a row in a table."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from seq2see.data import Pair, Problem
from seq2see.data.columns import COLUMNS
from seq2see.data.columns.contract import Array, Stored
from seq2see.data.kinds import KINDS, ExampleKind
from seq2see.data.sides import Batch, Side
from seq2see.data.survey import Survey
from seq2see.evaluation import Classes, Outcome
from seq2see.evaluation.floors import Known
from seq2see.goals import GOALS
from seq2see.goals.choices import Choice
from seq2see.goals.contract import Columns, Examples, Predictor
from seq2see.goals.reading_choices import choose_reader
from seq2see.goals.reading_model import ReadingModel
from seq2see.goals.sources import KeepsColumns, learn_sources, vocabularies
from seq2see.layers.attention import Watch
from seq2see.models import Network, make_reader
from seq2see.models.contracts import DecoderOutput, Loss, Memory, Sides
from seq2see.models.encoders import ENCODERS, EncoderKind
from seq2see.models.parts import EncoderSettings
from seq2see.recipe import Recipe
from seq2see.run import Run

# --- the encoder -----------------------------------------------------------------------------------------


class RunningMeanSettings(EncoderSettings):
    """The mean of all states so far."""

    kind: Literal["running-mean"] = "running-mean"
    scale: float = 1.0


class RunningMean(nn.Module):
    """At each place the mean of the states up to it, times a scale."""

    def __init__(self, settings: Any, part: RunningMeanSettings) -> None:
        super().__init__()
        self.mix = nn.Linear(settings.width, settings.width)
        self.scale = part.scale

    def forward(self, states: Tensor, mask: Tensor, watch: Watch | None = None) -> Memory:
        kept = states * mask.unsqueeze(-1)
        counts = mask.cumsum(1).clamp(min=1).unsqueeze(-1)
        means = torch.tanh(self.mix(kept.cumsum(1) / counts)) * self.scale
        return Memory(means, mask, means[:, -1])


# --- the column ------------------------------------------------------------------------------------------

STARS = "★"


class Stars:
    """A target such as ★★★: how many of at most five."""

    limited = False
    dtype = "int16"
    vocabulary = None

    def encode(self, examples: Sequence[Pair]) -> list[list[int]]:
        return [[one.target.count(STARS)] for one in examples]

    def collate(self, rows: Sequence[Sequence[int] | Array]) -> Side:
        return Side(torch.from_numpy(np.array(rows, np.int64).reshape(-1)))

    def unknown(self, values: Array) -> int:
        return 0

    def stored(self) -> Stored:
        return {"kind": "stars"}


# --- the goal --------------------------------------------------------------------------------------------


class OrdinalHead(nn.Module):
    """For each star after the first, whether there are so many."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.output = nn.Linear(width, 4)

    def outputs(self, memory: Memory) -> Tensor:
        """Scores of having at least 2, 3, 4 and 5 stars, (B, 4)."""
        return self.output(memory.states.mean(1))

    def loss(self, memory: Memory, output: DecoderOutput | None, batch: Batch) -> Loss:
        stars = batch["target"].values.unsqueeze(1)
        truth = (stars > torch.arange(1, 5)).float()
        total = nn.functional.binary_cross_entropy_with_logits(self.outputs(memory), truth, reduction="sum")
        return Loss(total, torch.tensor(len(truth)))


def no_stars(example: Pair, numbers: Sequence[str]) -> Problem | None:
    """What is no number of stars."""
    if 1 <= len(example.target) <= 5 and not example.target.strip(STARS):
        return None
    return Problem(example.line, "not stars", f"{example.target!r} should be one to five {STARS}")


RATINGS = ExampleKind(
    suits=lambda sample, format: (
        "the targets are stars" if sample and not any(no_stars(one, ()) for one in sample) else None
    ),
    problem=no_stars,
    odd=None,
)


class Answer:
    """Some stars."""

    def __init__(self, count: int, chances: list[float]) -> None:
        self.text, self.chances = STARS * count, chances

    @property
    def detail(self) -> str:
        return " ".join(f"{chance:.3f}" for chance in self.chances)

    def values(self) -> dict[str, Any]:
        return {"stars": len(self.text)}


class Rater(ReadingModel[Answer]):
    """A model that reads a text and gives stars."""

    def head_outputs(self, sides: Sides, watch: Watch | None = None) -> Tensor:
        head = self.network.head
        assert isinstance(head, OrdinalHead)
        return head.outputs(self.network.encode(sides, watch))

    def answer(self, example: Pair, outputs: Tensor) -> Answer:
        return Answer(1 + int((outputs > 0).sum()), outputs.sigmoid().tolist())

    def blank(self, example: Pair) -> Answer:
        return Answer(0, [])

    def plain(self, answer: Answer) -> str:
        return answer.text

    def outcome(self, examples: Sequence[Pair], most: int | None = None, **options: Any) -> Outcome:
        said = [one.text for one in self.answers(examples)]
        return Classes.named([one.target for one in examples], said, [STARS * n for n in range(1, 6)])

    def worst(self, examples: Sequence[Pair], outcome: Outcome, count: int) -> list[dict[str, Any]]:
        return []


class Rate(KeepsColumns):
    """Texts to stars."""

    name = "rate"
    examples = RATINGS
    ladder: tuple[str, ...] = ("reader-rnn",)

    def choose(self, found: Survey, asked: Mapping[str, Any], model: bool) -> Choice:
        return choose_reader(found, asked, model, "accuracy")

    def learn(self, recipe: Recipe, examples: Examples) -> Columns:
        return {**learn_sources(recipe, examples), "target": Stars()}

    def network(self, recipe: Recipe, columns: Columns) -> Network:
        return make_reader(recipe.model, vocabularies(columns), OrdinalHead)

    def predictor(self, run: Run) -> Rater:
        return Rater(run)

    def calibrate(self, predictor: Predictor, examples: Sequence[Pair]) -> dict[str, float]:
        return {}

    def known(
        self, examples: Sequence[Pair], recipe: Recipe, column: int = 0, outcome: Outcome | None = None
    ) -> Known:
        return Known([one.source for one in examples], [one.target for one in examples])


# --- the tests -------------------------------------------------------------------------------------------


@pytest.fixture
def added() -> Iterator[None]:
    """The rows of the tables, taken out again afterwards."""
    guesses = dict(KINDS)
    GOALS["rate"] = Rate()
    ENCODERS["running-mean"] = EncoderKind(RunningMeanSettings, RunningMean)
    COLUMNS["stars"] = lambda stored: Stars()
    KINDS.clear()
    KINDS.update({"rate": RATINGS, **guesses})  # before texts, which suit anything
    yield
    KINDS.clear()
    KINDS.update(guesses)
    del GOALS["rate"], ENCODERS["running-mean"], COLUMNS["stars"]


def test_a_goal_and_an_encoder_from_outside(seq2see: Any, added: None, tmp_path: Path) -> None:
    """Guessed, checked, trained, resumed, asked, judged beside a floor and compared by the usual verbs."""
    words = ["awful", "weak", "fair", "good", "great"]
    rows = [
        (f"a {words[place % 5]} film number {place % 9}", STARS * (1 + place % 5)) for place in range(150)
    ]
    data = tmp_path / "films.tsv"
    data.write_text("".join(f"{text}\t{stars}\n" for text, stars in rows), encoding="utf-8")
    run = tmp_path / "run"
    settings = (
        "model.width=32",
        "model.encoder.kind=running-mean",
        "model.encoder.scale=2.0",
        "model.dropout=0",
    )
    settings += ("training.learning_rate=0.02", "training.evaluate_every=40", "training.label_smoothing=0")
    said = seq2see(
        *("train", data, "--out", run, "--max-steps", 80),
        *(word for setting in settings for word in ("--set", setting)),
    )
    assert said.code == 0, said.err
    assert "goal: rate (the targets are stars" in said.err
    assert "a floor: logistic regression" in said.err
    found = json.loads(seq2see("evaluate", run, data, "--json").out)
    assert found["accuracy"] > 80 and found["floor"]["accuracy"] > 80
    (tmp_path / "new.txt").write_text("a great film\n\na weak film\n")
    answers = seq2see("predict", run, tmp_path / "new.txt", "--probabilities").out.splitlines()
    assert [line.split("\t")[0] for line in answers] == [STARS * 5, "", STARS * 2]
    assert json.loads(seq2see("info", run, "--json").out)["recipe"]["model"]["encoder"]["scale"] == 2.0
    assert json.loads(seq2see("compare", run, run, data, "--json").out)["accuracy"]["p"] == 1
    assert seq2see("train", data, "--out", run, "--resume", "--max-steps", 82).code == 0
    data.write_text(data.read_text(encoding="utf-8") + "a film\tfive\n", encoding="utf-8")
    said = seq2see("check", data, "--goal", "rate")
    assert said.code == 1 and "line 151: 'five' should be one to five" in said.out


def test_afterwards_they_are_gone(seq2see: Any, tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("a film\t★\n" * 30, encoding="utf-8")
    said = seq2see("train", tmp_path / "a.tsv", "--goal", "rate", "--out", tmp_path / "run")
    assert said.code == 2 and "there is no goal 'rate'" in said.err
