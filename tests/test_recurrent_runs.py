"""Runs of recurrent models from Python: loading, looking inside, limits."""

from pathlib import Path
from typing import Any

import pytest
import torch

import seq2see
from seq2see.errors import DataError, SettingsError
from seq2see.goals.text_model import Source

WORDS = ["bam", "dost", "feir", "gulm", "kost"]
SMALL = ("model.width=16", "training.batch_pairs=16", "training.evaluate_every=20", "model.dropout=0")
RUNS = {
    "rnn": ("rnn", ()),
    "luong": ("luong", ("model.decoder.self_attention=dot", "model.decoder.heads=2")),
    "pointer": ("rnn-pointer", ("text.shared=true", "model.share_embeddings=true")),
    "location": (
        "rnn-attention",
        ("model.decoder.attention=location", "model.max_length=8", "data.max_length=8"),
    ),
}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Small runs on words and their mirror images."""
    place = tmp_path_factory.mktemp("runs")
    words = [f"{a}{b}{c}" for a in "bdfgk" for b in ("a", "ei", "o", "ul") for c in ("m", "st", "r")]
    (place / "pairs.tsv").write_text("".join(f"{word}\t{word[::-1]}\n" for word in words))
    return {
        name: seq2see.train(
            place / "pairs.tsv",
            out=str(place / name),
            preset=preset,
            settings=(*SMALL, *settings),
            max_steps=20,
            seed=2,
        )
        for name, (preset, settings) in RUNS.items()
    } | {"folder": place}


@pytest.mark.parametrize("name", RUNS)
def test_a_loaded_run_says_what_the_trained_one_said(runs, name):
    """A5, C6, C9, C11: recipe, tokenizers and weights bring every kind of model back, copying included."""
    trained, loaded = runs[name], seq2see.load(Path(runs["folder"]) / name, device="cpu")
    assert loaded(WORDS) == trained(WORDS)
    pairs = [(word, word[::-1]) for word in WORDS]
    assert list(loaded.score(pairs)) == list(trained.score(pairs))
    if loaded.recipe.model.pointer:
        assert loaded.network.head.copies.tolist() == loaded.codec.copies()
        assert loaded.network.head.copies.max() > 4


@pytest.mark.parametrize("name", ["luong", "pointer", "location"])
def test_attention_can_be_seen(runs, name):
    """C9, C11: weights by address, and where each output looked."""
    seen = runs[name].attention("bam", target="mab")
    shapes = {address: tuple(weights.shape) for address, weights in seen.weights.items()}
    heads = 2 if name == "luong" else 1
    own = {"decoder.self": (2, 4, 4)} if name == "luong" else {}
    assert shapes == {"decoder.cross": (heads, 4, 4)} | own
    torch.testing.assert_close(seen.alignment(), seen.weights["decoder.cross"].mean(0))
    torch.testing.assert_close(seen.alignment().sum(-1), torch.ones(4))


def test_without_attention_there_is_nothing_to_see(runs):
    """A5: a model that has only a summary of its source says so."""
    with pytest.raises(SettingsError, match="no attention on its source: all it knows of it is one summary"):
        runs["rnn"].attention("bam").alignment()


def test_hard_attention_is_an_option(runs):
    """C10: any trained model that attends can read one place at a time, and then finds otherwise."""
    model = runs["luong"]
    assert model.decoding(hard_attention=True).hard_attention
    assert not model.decoding().hard_attention
    sources = [Source(word) for word in WORDS]
    soft, hard = (
        [found[0].log_probability for found in model.decode(sources, hard_attention=on)]
        for on in (False, True)
    )
    assert soft != pytest.approx(hard, abs=1e-4)


def test_location_has_an_end_in_use_too(runs):
    """C6: a source past the last place is refused with a way out that fits."""
    with pytest.raises(DataError, match=r"10 tokens, .* end at 8; .*another attention than location"):
        runs["location"]("bamdostei")
