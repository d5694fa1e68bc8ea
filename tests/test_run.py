"""A trained run from Python."""

from pathlib import Path

import pytest
import torch

import seq2see
from seq2see.errors import RunError, SettingsError
from seq2see.goals.text_model import Source, TextModel

SMALL = (
    *("model.width=16", "model.encoder.layers=1", "model.decoder.layers=2", "model.dropout=0"),
    *("training.batch_pairs=8", "training.learning_rate=0.02", "training.evaluate_every=60"),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that spells short words in reverse, more or less."""
    place = tmp_path_factory.mktemp("run")
    words = [f"{a}{b}{c}" for a in "bdfgk" for b in ("a", "ei", "o", "ul") for c in ("m", "st", "r")]
    (place / "pairs.tsv").write_text("".join(f"{word}\t{' '.join(word[::-1])}\n" for word in words))
    seq2see.train(place / "pairs.tsv", out=str(place / "run"), settings=SMALL, max_steps=120, seed=5)
    return place / "run"


@pytest.fixture(scope="module")
def model(folder: Path) -> TextModel:
    return seq2see.load(folder)


def test_one_text_gives_one_text_and_a_list_a_list(model: TextModel) -> None:
    assert model("bam") == model(["bam"])[0]
    assert model(["bam", "dost"]) == [model("bam"), model("dost")]
    assert model([]) == []
    assert model("") == ""


def test_options_are_those_of_a_recipe(model: TextModel) -> None:
    assert model("bam", max_length=1) == ""
    assert model("bam", sample=True, seed=1) == model("bam", sample=True, seed=1)
    with pytest.raises(SettingsError, match=r"unknown key beams; did you mean 'beam'\?"):
        model("bam", beams=3)


def test_the_trained_model_and_the_loaded_one_are_the_same(folder: Path, model: TextModel) -> None:
    words = ["bam", "dost", "feir", "gulm", "kost"]
    again = seq2see.load(folder, device="cpu")
    assert again(words) == model(words)
    assert list(again.score([("bam", "m a b")])) == list(model.score([("bam", "m a b")]))


def test_order_and_company_do_not_matter(model: TextModel) -> None:
    """The outputs of a source are the same alone, among others, and in any order."""
    words = [f"{a}{b}{c}" for a in "bdfgk" for b in ("a", "ei", "o") for c in ("m", "st")]
    together = model(words)
    assert model(words[::-1])[::-1] == together
    assert [model(word) for word in words] == together


def test_attention_says_what_its_rows_and_columns_are(model: TextModel) -> None:
    seen = model.attention("bam", target="m a b")
    assert seen.source == ["b", "a", "m", "<end>"]
    assert seen.read == ["<begin>", "m", "a", "b"]
    assert seen.predicted == ["m", "a", "b", "<end>"]
    shapes = {address: tuple(weights.shape) for address, weights in seen.weights.items()}
    assert shapes == {
        "encoder.0.self": (4, 4, 4),
        "decoder.0.self": (4, 4, 4),
        "decoder.0.cross": (4, 4, 4),
        "decoder.1.self": (4, 4, 4),
        "decoder.1.cross": (4, 4, 4),
    }
    for address, weights in seen.weights.items():
        torch.testing.assert_close(weights.sum(-1), torch.ones(weights.shape[:-1]))
        if address.endswith("decoder.0.self"):
            assert weights.triu(1).abs().max() == 0
    assert seen.alignment().shape == (4, 4)


def test_attention_of_its_own_output(model: TextModel) -> None:
    seen = model.attention("dost")
    output = next(model.decode([Source("dost")]))[0]
    assert " ".join(seen.predicted[:-1]) == output.text


def test_a_run_without_weights_says_so(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "recipe.yaml").write_text((folder / "recipe.yaml").read_text())
    (tmp_path / "tokenizers").symlink_to(folder / "tokenizers")
    with pytest.raises(RunError, match="has no weights yet"):
        seq2see.load(tmp_path)
