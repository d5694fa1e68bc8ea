"""Runs of recurrent models: exact resume, and budgets of tokens and minutes."""

import itertools
from dataclasses import replace
from pathlib import Path

import pytest
from compared import Killed, die_at, same, steps_of

from seq2see.training import Checkpoints, PlainReport, Progress, Trainer
from seq2see.training.report import Step
from seq2see.training.schedule import learning_rate
from seq2see.training.settings import TrainingSettings
from seq2see.workflow import Request, Trained, train

SMALL = (
    *("model.width=16", "training.batch_pairs=8", "training.evaluate_every=6", "training.save_every=4"),
    *("training.dev_examples=5", "training.average=2"),
)


def run(pairs: Path, out: Path, *settings: str, preset: str = "rnn-attention", **options) -> Trained:
    """A very short training run."""
    options = {"max_steps": 12, "seed": 3, "tell": lambda _: None} | options
    tell = options.pop("tell")
    request = Request(str(pairs), out=str(out), preset=preset, settings=(*SMALL, *settings), **options)
    return train(request, tell=tell)


@pytest.mark.parametrize(
    ("preset", "settings"),
    [
        ("rnn-attention", ("model.dropout=0.4", "model.attention_dropout=0.2")),
        ("luong", ("model.pointer=true", "model.decoder.self_attention=scaled-dot")),
        ("rnn", ("model.encoder.kind=convolution", "model.decoder.cell=gru")),
    ],
)
def test_killed_anywhere_and_resumed_is_bit_identical(
    pairs: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    preset: str,
    settings: tuple[str, ...],
) -> None:
    """A1, H: kills come in the middle of a step, a look or a save; the end is that of an unbroken run."""
    run(pairs, tmp_path / "unbroken", *settings, preset=preset)
    for owner, name, call in (
        (Trainer, "_step", 3),
        (Trainer, "_look", 1),
        (Checkpoints, "save", 2),
        (Trainer, "_finish", 1),
    ):
        with monkeypatch.context() as patch:
            die_at(patch, owner, name, call)
            with pytest.raises(Killed):
                run(pairs, tmp_path / "broken", *settings, preset=preset, resume=True)
    run(pairs, tmp_path / "broken", *settings, preset=preset, resume=True)
    assert same(tmp_path / "unbroken", tmp_path / "broken")
    traces = [[step["loss"] for step in steps_of(tmp_path / name)] for name in ("unbroken", "broken")]
    assert traces[0] == traces[1]


def trainer_of(progress: Progress, **settings) -> Trainer:
    """As much of a trainer as knows how far it is."""
    trainer = Trainer.__new__(Trainer)
    trainer.settings = TrainingSettings(**settings)
    trainer.progress = progress
    return trainer


@pytest.mark.parametrize(
    ("progress", "settings", "share"),
    [
        (Progress(step=30), {"steps": 100}, 0.3),
        (Progress(step=30, seconds=60), {"steps": 100, "minutes": 2}, 0.5),
        (Progress(step=80, seconds=60), {"steps": 100, "minutes": 2}, 0.8),
        (Progress(step=30, tokens=900), {"steps": 100, "tokens": 1000}, 0.9),
        (Progress(step=30, seconds=60, tokens=100), {"steps": 100, "minutes": 2, "tokens": 1000}, 0.5),
        (Progress(step=10, seconds=180), {"steps": 100, "minutes": 2}, 1.5),
    ],
)
def test_the_share_is_that_of_the_budget_that_ends_first(
    progress: Progress, settings: dict[str, float], share: float
) -> None:
    """H: of steps, minutes and tokens, whatever is spent most decides; at one, training is done."""
    trainer = trainer_of(progress, **settings)
    assert trainer._share() == pytest.approx(share)
    assert trainer._done() == (share >= 1)


def test_tokens_end_a_run(pairs: Path, tmp_path: Path) -> None:
    """H: a run stops with the step that spends its tokens, and looks at the dev set there."""
    trained = run(pairs, tmp_path / "run", max_steps=1000, max_tokens=300)
    steps = steps_of(tmp_path / "run")
    # Eight pairs a step, each of four letters and the end symbol.
    assert trained.progress.tokens >= 300 > trained.progress.tokens - 40
    assert trained.progress.step == len(steps) < 12
    assert trained.progress.finished
    assert trained.progress.averaged[-1] == trained.progress.step
    assert [step["share"] for step in steps] == pytest.approx(
        [step * trained.progress.tokens / len(steps) / 300 for step in range(1, len(steps) + 1)], abs=0.1
    )
    assert steps[-1]["share"] >= 1 > steps[-2]["share"]


def test_more_tokens_go_on(pairs: Path, tmp_path: Path) -> None:
    """H: a spent run says what would give it more, and goes on when it gets more."""
    said: list[str] = []
    first = run(pairs, tmp_path / "run", max_steps=1000, max_tokens=150)
    again = run(pairs, tmp_path / "run", max_steps=1000, max_tokens=150, resume=True, tell=said.append)
    assert again.progress.step == first.progress.step
    assert any("its tokens are spent, a larger training.tokens" in line for line in said)
    more = run(pairs, tmp_path / "run", max_steps=1000, max_tokens=300, resume=True)
    assert more.progress.tokens >= 300
    assert more.progress.step > first.progress.step


@pytest.mark.parametrize("budget", [{"tokens": 400}, {"minutes": 1}])
def test_the_schedule_keeps_pace_with_the_budget(
    pairs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, budget: dict[str, int]
) -> None:
    """H: where tokens or minutes run out before the steps, the learning rate has come down all the same."""
    if "minutes" in budget:
        # Each look at the clock finds it half a second on: the rate does not hang on the machine.
        clock = itertools.count(0, 0.5)
        monkeypatch.setattr("seq2see.training.trainer.time.perf_counter", lambda: next(clock))
    options = {f"max_{name}": value for name, value in budget.items()}
    settings = ("training.schedule=cosine", "training.warmup=200", "training.learning_rate=0.01")
    run(pairs, tmp_path / "run", *settings, max_steps=1000, **options)
    steps = steps_of(tmp_path / "run")
    assert 5 < len(steps) < 100
    shares = [0.0, *(step["share"] for step in steps)]
    settled = TrainingSettings(steps=1000, schedule="cosine", warmup=200, learning_rate=0.01)
    for place, step in enumerate(steps):
        expected = learning_rate(max(place + 1, shares[place] * 1000), settled)
        assert step["learning_rate"] == pytest.approx(expected, rel=0.15, abs=1e-4)
    rates = [step["learning_rate"] for step in steps]
    assert rates[0] < 0.001 < 0.005 < max(rates)
    assert rates[-1] < 0.5 * max(rates)


def test_steps_alone_keep_the_plain_schedule(pairs: Path, tmp_path: Path) -> None:
    """H: without other budgets, step n has the rate of step n."""
    run(pairs, tmp_path / "run", "training.schedule=cosine", "training.warmup=3")
    settled = TrainingSettings(steps=12, schedule="cosine", warmup=3, learning_rate=0.003)
    rates = [step["learning_rate"] for step in steps_of(tmp_path / "run")]
    assert rates == pytest.approx([learning_rate(step, settled) for step in range(1, 13)])


def test_the_report_counts_down_the_budget() -> None:
    """H: the time left is that of the budget that ends first, not that of the steps."""
    lines: list[str] = []
    step = Step(10, 1000, 1, 2.0, 0.001, 1.0, 40, 500.0, 60.0, 0.25)
    PlainReport(lines.append).step(step)
    PlainReport(lines.append).step(replace(step, unit="examples"))
    assert lines == [
        f"step 10/1000  loss 2.000  500 {unit}/s  about 3:00 left" for unit in ("tokens", "examples")
    ]


def test_a_run_that_goes_on_is_timed_anew() -> None:
    """H: hours in which the machine slept before are not expected to come again."""
    lines: list[str] = []
    report = PlainReport(lines.append)
    step = Step(500, 1000, 1, 2.0, 0.001, 1.0, 40, 500.0, 36_000.0, 0.5)
    report.step(step)
    report.step(replace(step, step=600, seconds=36_060.0, share=0.6))
    assert lines[-1].endswith("about 4:00 left")
