"""Classes: one or several, rare or common, and as sure as they are right."""

import random
from pathlib import Path

import numpy as np
import pytest

import seq2see
from seq2see.data import Pair
from seq2see.errors import SettingsError
from seq2see.evaluation import score
from seq2see.goals.classify import Classifier
from seq2see.workflow import Request, train

FILLERS = [f"w{number}" for number in range(60)]
QUICK = ("training.evaluate_every=30", "training.batch_pairs=32", "training.average=0")
READER = ("model.width=16", "model.encoder.layers=1", "model.dropout=0.1", "text.source.kind=words")


def written(path: Path, rows: list[tuple[str, str]]) -> Path:
    """Texts and labels as a file."""
    path.write_text("".join(f"{text}\t{label}\n" for text, label in rows))
    return path


def trained(
    data: Path, out: Path, *settings: str, seed: int = 1, steps: int = 120, **more: str
) -> Classifier:
    """A small recurrent classifier."""
    asked = Request(
        str(data),
        out=str(out),
        preset="reader-rnn",
        goal="classify",
        settings=(*READER, *QUICK, *settings),
        seed=seed,
        max_steps=steps,
        **more,  # type: ignore[arg-type]
    )
    model = train(asked, tell=lambda _: None).model
    assert isinstance(model, Classifier)
    return model


def rare_rows(count: int, seed: int) -> list[tuple[str, str]]:
    """One text in fifty is rare: it has more of a word that common texts have too."""
    draw = random.Random(seed)
    rows = []
    for place in range(count):
        label, share = ("common", 0.2) if place % 50 else ("rare", 0.7)
        words = ["sign" if draw.random() < share else draw.choice(FILLERS) for _ in range(8)]
        rows.append((" ".join(words), label))
    return rows


def test_class_weights_help_the_rare_class(tmp_path: Path) -> None:
    """Classes of 1 to 50 that overlap: without weights the common one is nearly always said."""
    data = written(tmp_path / "train.tsv", rare_rows(1000, 1))
    dev = written(tmp_path / "dev.tsv", rare_rows(300, 3))
    test = [Pair(1, text, label, "") for text, label in rare_rows(1000, 2)]
    found = {}
    for weighed in ("false", "true"):
        settings = f"model.head.class_weights={weighed}"
        model = trained(data, tmp_path / weighed, settings, steps=100, dev=str(dev))
        found[weighed] = score(model.outcome(test))["macro_f1"]
    assert found["true"] > found["false"] + 5
    assert found["true"] < 95, "so easy that it says nothing"


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_temperature_makes_confidence_honest(tmp_path: Path, seed: int) -> None:
    """Labels of which a fifth are wrong, learnt by heart: calibration error on dev is no larger after."""
    draw = random.Random(seed)
    rows = []
    for _ in range(150):
        words = draw.choices(FILLERS, k=5)
        good = words[0] < "w3"
        rows.append((" ".join(words), "yes" if good != (draw.random() < 0.2) else "no"))
    model = trained(
        written(tmp_path / "a.tsv", rows), tmp_path / "run", "training.metric=loss", seed=seed, steps=60
    )
    kept = model.run.calibration
    assert kept["temperature"] > 0
    assert kept["ece_after"] <= kept["ece_before"]
    loaded = seq2see.load(tmp_path / "run", device="cpu")
    assert loaded.temperature == kept["temperature"]


def test_temperature_moves_confidence_and_not_the_answer(goal_runs: dict[str, Path]) -> None:
    model = seq2see.load(goal_runs["classify"], device="cpu")
    texts = ["1 0 1", "0 0", "1"]
    before = model.predict(texts)
    model.run.calibration["temperature"] = 100.0
    after = model.predict(texts)
    assert [one.labels for one in before] == [one.labels for one in after]
    for one in after:
        assert sum(one.probabilities.values()) == pytest.approx(1, abs=1e-5)
        assert max(one.probabilities.values()) == pytest.approx(0.5, abs=0.05)


def test_several_labels(tmp_path: Path) -> None:
    """Each label by a word of its own; texts without any have `-`."""
    draw = random.Random(1)
    rows = []
    for _ in range(200):
        labels = [label for label in ("hot", "wet") if draw.random() < 0.5]
        words = [f"{label}ly" for label in labels] + draw.choices(FILLERS[:9], k=3)
        draw.shuffle(words)
        rows.append((" ".join(words), "|".join(labels) or "-"))
    model = trained(written(tmp_path / "a.tsv", rows), tmp_path / "run", "training.learning_rate=0.01")
    assert model.several and model.labels == ["hot", "wet"]
    assert model(["w1 hotly wetly w2", "wetly w3 w1", "w1 w2 w3"]) == [["hot", "wet"], ["wet"], []]
    assert [one.text for one in model.predict(["hotly w1 wetly"])] == ["hot|wet"]
    scores = score(model.outcome([Pair(1, text, label, "") for text, label in rows]))
    assert scores["subset_accuracy"] > 90 and {"micro_f1", "macro_f1"} <= set(scores)
    assert model.run.calibration == {}, "there is no one class to be sure of"


def test_labels_that_only_the_dev_set_has(tmp_path: Path) -> None:
    """They count as wrong, are told of, and have no part in the loss."""
    rows = [(f"{FILLERS[place % 7]} text", "even" if place % 2 else "odd") for place in range(60)]
    dev = written(tmp_path / "dev.tsv", [("w1 text", "odd"), ("w2 text", "new"), ("w3 text", "newer")])
    said: list[str] = []
    asked = Request(
        str(written(tmp_path / "a.tsv", rows)),
        dev=str(dev),
        out=str(tmp_path / "run"),
        goal="classify",
        preset="reader-rnn",
        settings=(*READER, *QUICK),
        max_steps=3,
    )
    best = train(asked, tell=said.append).progress.best
    assert any(
        "beware: 2 targets of the dev set never stand in the training examples" in line for line in said
    )
    assert best is not None and best["accuracy"] in (0.0, pytest.approx(100 / 3))
    assert np.isfinite(best["loss"]) and best["loss"] < 2


def test_a_label_held_out_by_chance_stops_nothing(tmp_path: Path) -> None:
    """H: whichever single example is held out, training goes on."""
    rows = [(f"text {place} of many", "ab"[place % 2]) for place in range(30)]
    rows += [(f"one {place}", f"rare{place}") for place in range(20)]
    data = written(tmp_path / "a.tsv", rows)
    model = trained(data, tmp_path / "run", "data.dev_share=0.3", steps=2)
    assert any(not label.startswith("rare") for label in model.labels)


def test_extras_decide_where_texts_say_nothing(tmp_path: Path) -> None:
    """A class that stands in a further column alone is learnt from it; unknown categories are none."""
    draw = random.Random(1)
    lines = ["text\tlabel\tsize\tcolour"]
    for _ in range(200):
        size, colour = draw.gauss(0, 1), draw.choice(["red", "blue"])
        lines.append(
            f"{' '.join(draw.choices(FILLERS, k=3))}\t{'big' if size > 0 else 'small'}\t{size:.3f}\t{colour}"
        )
    (tmp_path / "a.tsv").write_text("\n".join(lines) + "\n")
    model = trained(
        tmp_path / "a.tsv",
        tmp_path / "run",
        "training.learning_rate=0.01",
        source="text",
        target="label",
        numbers="size",
        categories="colour",
    )
    assert model(["w1 w2", "w1 w2"], numbers=[2.0, -2.0], categories=["red", "green"]) == ["big", "small"]
    with pytest.raises(SettingsError, match=r"further columns \(size, colour\)"):
        model(["w1"])
