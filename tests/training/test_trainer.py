"""Training as a whole: exact resume, repeatability, early stopping, refusals."""

import json
from pathlib import Path

import pytest
import torch
from compared import Killed, die_at, numbers, same

from seq2see.errors import DataError, SettingsError, TrainingError
from seq2see.models.weights import read_tensors
from seq2see.training import Checkpoints, Progress, Trainer
from seq2see.training.log import read_log
from seq2see.training.schedule import learning_rate
from seq2see.training.settings import TrainingSettings
from seq2see.workflow import Request, Trained, train

SMALL = (
    "model.width=16",
    "model.encoder.layers=1",
    "model.decoder.layers=1",
    "model.encoder.feedforward=16",
    "model.decoder.feedforward=16",
    "training.batch_pairs=8",
    "training.evaluate_every=6",
    "training.save_every=4",
    "training.dev_examples=5",
)


def run(pairs: Path, out: Path, *settings: str, steps: int = 14, resume: bool = False) -> Trained:
    """A very short training run."""
    request = Request(
        str(pairs), out=str(out), settings=(*SMALL, *settings), max_steps=steps, resume=resume, seed=3
    )
    return train(request, tell=lambda _: None)


def test_the_same_command_twice_gives_the_same_weights(pairs: Path, tmp_path: Path) -> None:
    run(pairs, tmp_path / "one")
    run(pairs, tmp_path / "two")
    assert same(tmp_path / "one", tmp_path / "two")


def test_another_seed_gives_other_weights(pairs: Path, tmp_path: Path) -> None:
    run(pairs, tmp_path / "one")
    train(
        Request(str(pairs), out=str(tmp_path / "two"), settings=SMALL, max_steps=14, seed=4),
        tell=lambda _: None,
    )
    assert not same(tmp_path / "one", tmp_path / "two")


@pytest.mark.parametrize(
    "settings",
    [
        (),
        ("training.accumulate=2", "model.dropout=0.5"),
        ("training.optimizer=muon", "training.weight_decay=0.1"),
    ],
    ids=["plain", "accumulated", "muon"],
)
def test_killed_anywhere_and_resumed_is_bit_identical(
    pairs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: tuple[str, ...]
) -> None:
    """Each kill comes in the middle of a step, a look or a save; each resume starts from the files alone."""
    run(pairs, tmp_path / "unbroken", *settings)
    places = [
        (Trainer, "_step", (1, 3, 7)),
        (Trainer, "_look", (1,)),
        (Checkpoints, "save", (2,)),
        (Checkpoints, "keep_for_average", (1,)),
        (Trainer, "_finish", (1,)),
    ]
    for owner, name, calls in places:
        for call in calls:
            with monkeypatch.context() as patch:
                die_at(patch, owner, name, call)
                with pytest.raises(Killed):
                    run(pairs, tmp_path / "broken", *settings, resume=True)
    run(pairs, tmp_path / "broken", *settings, resume=True)
    assert same(tmp_path / "unbroken", tmp_path / "broken")
    records = [
        [
            (record["step"], record.get("loss"), record.get("dev"))
            for record in read_log(out / "metrics.jsonl")
        ]
        for out in (tmp_path / "unbroken", tmp_path / "broken")
    ]
    assert records[0] == records[1]


def test_a_longer_run_can_go_on_where_a_shorter_one_ended(pairs: Path, tmp_path: Path) -> None:
    constant = ("training.schedule=constant", "training.warmup=2")
    run(pairs, tmp_path / "long", *constant, steps=12)
    run(pairs, tmp_path / "short", *constant, steps=6)
    run(pairs, tmp_path / "short", *constant, steps=12, resume=True)
    assert same(tmp_path / "long", tmp_path / "short")


def test_resume_refuses_another_recipe_and_other_data(pairs: Path, tmp_path: Path) -> None:
    run(pairs, tmp_path / "run")
    with pytest.raises(SettingsError, match=r"training\.clip \(1\.0 -> 2\.0\) would change"):
        run(pairs, tmp_path / "run", "training.clip=2.0", resume=True)
    pairs.write_text(pairs.read_text() + "new\twen\n")
    with pytest.raises(DataError, match=r"not what .* was trained on any more"):
        run(pairs, tmp_path / "run", steps=20, resume=True)


def test_a_loss_that_is_not_finite_names_the_lines(pairs: Path, tmp_path: Path) -> None:
    with pytest.raises(
        TrainingError, match=r"became (nan|inf) at step \d+, on lines \d+, .*pairs\.tsv"
    ) as error:
        run(pairs, tmp_path / "run", "training.learning_rate=1e30", "training.clip=null", "training.warmup=0")
    assert "learning_rate" in str(error.value)
    assert Checkpoints(tmp_path / "run").started


def test_a_finished_run_is_left_alone(pairs: Path, tmp_path: Path) -> None:
    run(pairs, tmp_path / "run")
    before = (tmp_path / "run" / "metrics.jsonl").read_text(), numbers(tmp_path / "run")
    again = run(pairs, tmp_path / "run", resume=True)
    assert again.progress.finished
    assert (tmp_path / "run" / "metrics.jsonl").read_text() == before[0]
    assert all(value.equal(before[1][name]) for name, value in numbers(tmp_path / "run").items())


def test_a_moved_file_can_be_resumed(pairs: Path, tmp_path: Path) -> None:
    run(pairs, tmp_path / "run", steps=6)
    moved = pairs.rename(tmp_path / "moved.tsv")
    assert run(moved, tmp_path / "run", steps=8, resume=True).progress.step == 8


def test_patience_stops_early_and_the_best_weights_are_kept(pairs: Path, tmp_path: Path) -> None:
    """With hardly any learning no look beats the first by the metric, but the loss still breaks ties."""
    trained = run(
        pairs,
        tmp_path / "run",
        *("training.patience=2", "training.evaluate_every=2", "training.metric=loss", "training.warmup=0"),
        *("training.schedule=constant", "training.learning_rate=0.5", "training.average=0"),
        steps=200,
    )
    assert trained.progress.step < 200
    looks = [record for record in read_log(tmp_path / "run" / "metrics.jsonl") if "dev" in record]
    best = min(looks, key=lambda record: record["dev"]["loss"])
    about = json.loads(read_tensors(tmp_path / "run" / "model.safetensors")[1]["about"])
    assert about["step"] == best["step"] == looks[-3]["step"]


def test_the_average_is_the_mean_of_the_last_looks(pairs: Path, tmp_path: Path) -> None:
    trained = run(pairs, tmp_path / "run", "training.average=2", "training.evaluate_every=4", steps=12)
    assert trained.progress.averaged == [8, 12]
    checkpoints = Checkpoints(tmp_path / "run")
    kept = sorted(path.name for path in (tmp_path / "run" / "state").glob("look-*"))
    assert kept == ["look-00000008.safetensors", "look-00000012.safetensors"]
    parts = [read_tensors(tmp_path / "run" / "state" / name)[0] for name in kept]
    for name, value in checkpoints.average([8, 12]).items():
        torch.testing.assert_close(value, (parts[0][name] + parts[1][name]) / 2)


def test_early_looks_stay_out_of_the_average(
    pairs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken: list[list[int]] = []
    average = Checkpoints.average
    monkeypatch.setattr(
        Checkpoints, "average", lambda self, steps: taken.append(list(steps)) or average(self, steps)
    )
    trained = run(pairs, tmp_path / "run", "training.average=5", "training.evaluate_every=4", steps=12)
    assert trained.progress.averaged == [4, 8, 12]
    assert taken == [[8, 12]]


@pytest.mark.parametrize(
    ("metric", "best", "average", "kept"),
    [
        ("exact", 80, 73, True),  # two standard errors of 80 % of 100 sources are 8 points
        ("exact", 80, 71, False),
        ("wer", 20, 27, True),
        ("wer", 20, 29, False),
        ("bleu", 38, 37.9, False),
        ("bleu", 38, 38.1, True),
        ("loss", 0.3, 0.31, False),
    ],
)
def test_the_average_yields_only_to_a_clear_winner(
    metric: str, best: float, average: float, kept: bool
) -> None:
    trainer = Trainer.__new__(Trainer)
    trainer.settings = TrainingSettings(metric=metric)
    trainer.dev_sources = 100
    trainer.progress = Progress(best={"loss": 1.0, metric: best})
    assert trainer._as_good({"loss": 1.0, metric: average}) == kept


def test_a_lower_loss_speaks_for_the_average_where_luck_cannot_be_measured() -> None:
    trainer = Trainer.__new__(Trainer)
    trainer.dev_sources = 100
    for metric, kept in (("bleu", True), ("exact", False)):
        trainer.settings = TrainingSettings(metric=metric)
        trainer.progress = Progress(best={"loss": 1.0, metric: 38})
        assert trainer._as_good({"loss": 0.9, metric: 20}) == kept


@pytest.mark.parametrize(
    ("accuracy", "loss", "pulls"), [(93.2, 0.27, True), (93.2, 0.25, False), (93.6, 0.27, False)]
)
def test_an_average_that_is_behind_the_last_look_by_metric_and_loss_is_not_kept(
    accuracy: float, loss: float, pulls: bool
) -> None:
    trainer = Trainer.__new__(Trainer)
    trainer.settings = TrainingSettings(metric="accuracy")
    trainer.progress = Progress(last={"loss": 0.26, "accuracy": 93.5})
    assert trainer._pulls_back({"loss": loss, "accuracy": accuracy}) == pulls
    trainer.progress.last = None
    assert not trainer._pulls_back({"loss": loss, "accuracy": accuracy})


def test_training_keeps_no_average_that_pulls_back(
    pairs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = iter([(3.0, 60.0), (2.0, 78.0), (1.0, 80.0), (1.1, 79.0)])  # the fourth is the average's

    def scores(trainer: Trainer) -> dict[str, float]:
        loss, exact = next(looks)
        return {"loss": loss, "exact": exact}

    monkeypatch.setattr(Trainer, "_scores", scores)
    settings = ("training.average=5", "training.evaluate_every=4", "training.metric=exact")
    trained = run(pairs, tmp_path / "run", *settings, steps=12)
    assert trained.progress.best == trained.progress.last == {"loss": 1.0, "exact": 80.0}
    average = read_log(tmp_path / "run" / "metrics.jsonl")[-1]
    assert average["average"] == {"loss": 1.1, "exact": 79.0} and not average["best"]


def test_accumulated_batches_equal_one_large_batch(pairs: Path, tmp_path: Path) -> None:
    """Gradients of two halves, each divided by all tokens, add up to the gradient of the whole."""
    lines = pairs.read_text().splitlines()[:16]
    pairs.write_text("\n".join(lines) + "\n")
    plain = ("training.label_smoothing=0.1", "model.dropout=0", "model.attention_dropout=0")
    dev = ("data.dev=" + str(pairs),)
    run(pairs, tmp_path / "two", *plain, *dev, "training.batch_pairs=8", "training.accumulate=2", steps=3)
    run(pairs, tmp_path / "one", *plain, *dev, "training.batch_pairs=16", steps=3)
    left, right = (read_tensors(tmp_path / name / "state/training.safetensors")[0] for name in ("one", "two"))
    for name in left:
        if name.startswith("model."):
            torch.testing.assert_close(left[name], right[name], rtol=1e-3, atol=1e-5)


def test_schedules_rise_and_fall() -> None:
    settings = TrainingSettings(learning_rate=1.0, warmup=10, steps=110, schedule="inverse-sqrt")
    assert [learning_rate(step, settings) for step in (1, 5, 10, 40)] == pytest.approx([0.1, 0.5, 1.0, 0.5])
    cosine = TrainingSettings(**settings.model_dump() | {"schedule": "cosine"})
    assert [learning_rate(step, cosine) for step in (10, 60, 110)] == pytest.approx([1.0, 0.5, 0.0])
    assert learning_rate(109, TrainingSettings(**settings.model_dump() | {"schedule": "constant"})) == 1.0


def test_metrics_and_tensorboard_are_written(pairs: Path, tmp_path: Path) -> None:
    trained = run(pairs, tmp_path / "run")
    records = read_log(tmp_path / "run" / "metrics.jsonl")
    steps = [record for record in records if "loss" in record]
    assert [record["step"] for record in steps] == list(range(1, 15))
    assert all(record["tokens_per_second"] > 0 and record["gradient_norm"] >= 0 for record in steps)
    assert sum(record["tokens"] for record in steps) == trained.progress.tokens
    assert [record["step"] for record in records if "dev" in record] == [6, 12, 14]
    assert list((tmp_path / "run" / "tensorboard").glob("events*"))


def test_training_learns(pairs: Path, tmp_path: Path) -> None:
    trained = run(pairs, tmp_path / "run", "model.dropout=0", "training.learning_rate=0.01", steps=150)
    losses = [record["loss"] for record in read_log(tmp_path / "run" / "metrics.jsonl") if "loss" in record]
    assert losses[-1] < 0.5 * losses[0]
    assert json.loads((tmp_path / "run" / "data.json").read_text())["train_pairs"] == 49
    assert trained.model("abax") != ""


def test_tensorboard_reads_what_was_written(pairs: Path, tmp_path: Path) -> None:
    """Also across a kill: what came after the state that was saved last is shown once."""
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    run(pairs, tmp_path / "run", steps=6)
    run(pairs, tmp_path / "run", steps=9, resume=True)
    board = EventAccumulator(str(tmp_path / "run" / "tensorboard")).Reload()
    losses = {
        record["step"]: record["loss"]
        for record in read_log(tmp_path / "run" / "metrics.jsonl")
        if "loss" in record
    }
    shown = {event.step: event.value for event in board.Scalars("train/loss")}
    assert shown == pytest.approx(losses)
    assert sorted(shown) == list(range(1, 10))
    assert board.Scalars("dev/loss")
