"""One encoder, one decoder, several targets: trained, decoded, scored and looked at."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from compared import Killed, Killer, same
from several_runs import request

import seq2see as package
from seq2see.engines import use_engine
from seq2see.errors import SettingsError
from seq2see.exchange.exporting import export_run
from seq2see.goals.several_model import SeveralModel
from seq2see.goals.text_model import Source
from seq2see.lens.recording import record
from seq2see.workflow import Request, train


@pytest.fixture(scope="module")
def folder(several: Path) -> Path:
    return several


@pytest.fixture(scope="module")
def model(folder: Path) -> SeveralModel:
    found = package.load(folder / "run", device="cpu")
    assert isinstance(found, SeveralModel)
    return found


def test_the_data_are_counted(folder: Path, model: SeveralModel) -> None:
    """D10: amounts differ, missing cells are left out and told, and card and facts name the targets."""
    told = (folder / "told.txt").read_text()
    assert "goal: generate (several columns of texts" in told
    assert "left out: 30 cells (missing target)" in told
    counts = model.facts.targets
    assert list(counts) == ["capital", "twice"] and counts["capital"] > counts["twice"] > 80
    assert sum(counts.values()) == model.facts.train_pairs
    assert f"capital ({counts['capital']:,}" in (folder / "run" / "card.md").read_text()
    assert "capital" in repr(model)


def test_texts_into_each_target(model: SeveralModel) -> None:
    """D10: a dictionary by target, or a plain text where one is named."""
    assert model("dom") == {"capital": "DOM", "twice": "ddoomm"}
    assert model(["dom", "", "kit"], into=["twice"]) == [
        {"twice": "ddoomm"},
        {"twice": ""},
        {"twice": "kkiitt"},
    ]
    assert model(["dom"], into="capital") == ["DOM"] and model("dom", into="twice") == "ddoomm"
    with pytest.raises(SettingsError, match="no target 'twise'; did you mean 'twice'"):
        model("dom", into=["twise"])
    with pytest.raises(SettingsError, match="named twice"):
        model("dom", into=["twice", "twice"])


@pytest.mark.parametrize("options", [{}, {"beam": 3, "nbest": 2}, {"sample": True, "nbest": 2}])
def test_together_as_alone(model: SeveralModel, options: dict[str, Any]) -> None:
    """D10: what a target gives does not depend on the others."""
    sources = [Source(word) for word in ("dom", "kit", "galas", "b")]
    both = list(model.decode_into(sources, **options))
    for name in model.targets:
        alone = list(model.decode(sources, into=name, **options))
        assert [[one.ids for one in found[name]] for found in both] == [
            [one.ids for one in outputs] for outputs in alone
        ]


def test_verbs(seq2see: Any, folder: Path, model: SeveralModel) -> None:
    """D10: a column for each target in the order that is asked for; scores for each target."""
    words = folder / "in.tsv"
    words.write_text("word\ndom\n\nkit\n")
    run = folder / "run"
    assert seq2see("decode", run, words).out == "DOM\tddoomm\n\t\nKIT\tkkiitt\n"
    assert seq2see("predict", run, words, "--into", "twice,capital").out.startswith("ddoomm\tDOM\n")
    assert seq2see("decode", run, words, "--into", "twice").out == "ddoomm\n\nkkiitt\n"
    (first, *_) = seq2see("decode", run, words, "--json").out.splitlines()
    assert [one["text"] for one in json.loads(first)["targets"]["twice"]] == ["ddoomm"]
    ranked = seq2see("decode", run, words, "--nbest", 2).out.splitlines()
    assert [line.split("\t")[:3] for line in ranked[:3]] == [
        ["2", "capital", "1"],
        ["2", "capital", "2"],
        ["2", "twice", "1"],
    ]
    wrong = seq2see("decode", run, words, "--into", "capitol")
    assert wrong.code == 2 and "did you mean 'capital'?" in wrong.err
    assert "--into capital" in seq2see("decode", run, words, "--prefix", "D").err
    found = json.loads(seq2see("evaluate", run, folder / "words.tsv", "--json").out)
    assert {"exact", "twice.exact"} <= set(found) and found["sources"] == 150
    assert found["exact"] > 80 and found["twice.exact"] > 80
    assert {"exact", "twice.exact"} <= set(found["floor"])
    lines = seq2see("score", run, folder / "words.tsv").out.splitlines()
    assert len(lines) == 270 and lines[0].split("\t")[:2] == ["2", "capital"]
    assert "capital" in seq2see("info", run).out


def test_a_model_of_one_target_has_no_choice(seq2see: Any, runs: dict[str, Path], tmp_path: Path) -> None:
    """D10: --into is refused where it means nothing."""
    (tmp_path / "in.txt").write_text("ab\n")
    run = next(iter(runs.values()))
    assert "several targets" in seq2see("decode", run, tmp_path / "in.txt", "--into", "de").err


def test_scores_depend_on_the_target(model: SeveralModel) -> None:
    """D10: the same text is likely in one target and not in the other, and the search says the same."""
    right, wrong = model.score([("dom", "DOM", "", "capital"), ("dom", "DOM", "", "twice")])
    assert right > -1 > wrong
    (found,) = model.decode_into([Source("dom")])
    assert found["capital"][0].log_probability == pytest.approx(right, abs=1e-4)


def test_views(model: SeveralModel) -> None:
    """D10: a view reads the symbol of its target first, and so do attributions and recordings."""
    view = model.attention("dom", into="twice")
    assert view.output == "ddoomm" and view.read[0] == "<to:twice>"
    assert model.attention("dom").output == "DOM"
    likely = model.attention("dom", "DOM", into="capital").log_probability
    unlikely = model.attention("dom", "DOM", into="twice").log_probability
    assert likely is not None and unlikely is not None and likely > unlikely + 1
    with record(model) as seen:
        model("dom")
    assert [one.output for one in seen] == ["DOM", "ddoomm"]
    assert [one.read[0] for one in seen] == ["<to:capital>", "<to:twice>"]
    for kind in model.attributions:
        first, second = (
            model.attribution("dom", "DOM", kind=kind, into=name) for name in ("capital", "twice")
        )
        assert not torch.allclose(first, second)


def test_a_killed_run_goes_on_to_the_same_weights(tmp_path: Path) -> None:
    """D10: the same weights with and without a break, at any step."""
    whole = request(tmp_path, "whole", max_steps=12)
    train(whole, Killer(None), lambda _: None)
    for killed in (3, 8):
        with pytest.raises(Killed):
            train(request(tmp_path, f"killed {killed}", max_steps=12), Killer(killed), lambda _: None)
        again = request(tmp_path, f"killed {killed}", max_steps=12, resume=True)
        train(again, Killer(None), lambda _: None)
        assert same(tmp_path / f"killed {killed}", tmp_path / "whole")


def test_other_homes(folder: Path, model: SeveralModel, tmp_path: Path) -> None:
    """D10: neither CTranslate2 nor Hugging Face can tell targets by the first symbol, and both say so."""
    with pytest.raises(SettingsError, match="several targets"):
        export_run(folder / "run", tmp_path / "out")
    use_engine(model, folder / "run", "auto")
    assert model.engine is model.own_loop


def test_going_on_from_a_run(folder: Path, tmp_path: Path) -> None:
    """D10: another run of the same targets can begin with this one; with others, the reason is told."""
    going = train(request(tmp_path, max_steps=2, start=str(folder / "run")), tell=lambda _: None)
    assert isinstance(going.model, SeveralModel) and going.model("dom") == {
        "capital": "DOM",
        "twice": "ddoomm",
    }
    other = Request(
        str(tmp_path / "words.tsv"),
        out=str(tmp_path / "other"),
        source="word",
        target="capital",
        goal="generate",
        max_steps=2,
        start=str(folder / "run"),
    )
    with pytest.raises(SettingsError, match="the targets are one column, and those of the run"):
        train(other, tell=lambda _: None)
