"""One encoder, a decoder for each target: the same answers, together or alone, by weights of their own."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from several_runs import SMALL
from several_runs import request as asked

import seq2see as package
from seq2see.data import Pair
from seq2see.data.sides import Batch
from seq2see.errors import SettingsError
from seq2see.goals.several_model import SeveralModel
from seq2see.goals.text_model import Source
from seq2see.models import EncoderDecoder
from seq2see.models.decoders import SeveralDecoders
from seq2see.workflow import Request, train

WORDS = ("dom", "kit", "galas", "b", "fur")
EACH = "model.decoder_for_each=true"


@pytest.fixture(scope="module", params=["transformer", "rnn-attention"])
def model(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> SeveralModel:
    """A trained run of either kind of decoder, loaded from its folder."""
    folder = tmp_path_factory.mktemp("each")
    train(asked(folder, settings=(EACH,), preset=request.param), tell=lambda _: None)
    found = package.load(folder / "run", device="cpu")
    assert isinstance(found, SeveralModel)
    return found


def test_each_target_has_weights_of_its_own(model: SeveralModel) -> None:
    """D10: as many decoders as targets, which have come to differ, each with vectors for its own letters."""
    decoder = model.network.decoder
    assert isinstance(decoder, SeveralDecoders) and len(decoder.decoders) == 2
    first, second = (dict(one.named_parameters()) for one in decoder.decoders)
    assert first.keys() == second.keys()
    assert all(first[name] is not second[name] for name in first)
    same_shape = [name for name in first if first[name].shape == second[name].shape]
    assert any(not torch.equal(first[name], second[name]) for name in same_shape)
    letters = len("BDFGKAEIOULMNRST")  # of either target, after the four special symbols
    assert [one.embed.num_embeddings for one in decoder.decoders] == [4 + letters] * 2
    assert model.target.size > 4 + 2 * letters


def test_texts_into_each_target(model: SeveralModel) -> None:
    """D10: a dictionary by target."""
    assert model("dom") == {"capital": "DOM", "twice": "ddoomm"}
    assert model(["dom", "kit"], into="twice") == ["ddoomm", "kkiitt"]


@pytest.mark.parametrize(
    "options", [{}, {"beam": 3, "nbest": 2}, {"sample": True, "nbest": 2}, {"beam": 1, "batch_tokens": 16}]
)
def test_together_as_alone(model: SeveralModel, options: dict[str, Any]) -> None:
    """D10: what a target gives depends neither on the others nor on when sources join and leave."""
    sources = [Source(word) for word in WORDS]
    both = list(model.decode_into(sources, **options))
    for name in model.targets:
        alone = list(model.decode(sources, into=name, **options))
        assert [[one.ids for one in found[name]] for found in both] == [
            [one.ids for one in outputs] for outputs in alone
        ]


def test_prefixes(model: SeveralModel) -> None:
    """D10: an output with a prefix goes on by the decoder of its target."""
    (found,) = model.decode([Source("dom")], into="twice", prefix="dd")
    assert found[0].text == "ddoomm"
    (scored,) = model.score([("dom", "ddoomm", "", "twice")])
    assert found[0].log_probability == pytest.approx(scored, abs=1e-4)


def test_a_mixed_batch_is_each_row_alone(model: SeveralModel) -> None:
    """D10: training sees rows of all targets at once; each row teaches its own decoder."""
    network = model.network
    assert isinstance(network, EncoderDecoder)
    first, second = network.special.targets
    source = torch.tensor([[5, 6, 7], [8, 9, 5], [6, 6, 8], [7, 5, 9]])
    inputs = torch.tensor([[second, 5, 6], [first, 7, 8], [second, 9, 5], [first, 6, 6]])
    together = network.logits(source, inputs)
    for row in range(4):
        alone = network.logits(source[row : row + 1], inputs[row : row + 1])
        torch.testing.assert_close(together[row : row + 1], alone, rtol=0, atol=1e-5)
    together[0].sum().backward()
    decoder = network.decoder
    assert isinstance(decoder, SeveralDecoders)
    trained = [
        any(
            weight.grad is not None and weight.grad.abs().sum() > 0
            for name, weight in one.named_parameters()
            if not name.startswith("embed")
        )
        for one in decoder.decoders
    ]
    network.zero_grad(set_to_none=True)
    assert trained == [False, True]


def test_views_and_scores(model: SeveralModel) -> None:
    """D10: a view is of the decoder of its target, and the search says what scoring says."""
    assert model.attention("dom", into="twice").output == "ddoomm"
    right, wrong = model.score([("dom", "DOM", "", "capital"), ("dom", "DOM", "", "twice")])
    assert right > -1 > wrong
    (found,) = model.decode_into([Source("dom")])
    assert found["capital"][0].log_probability == pytest.approx(right, abs=1e-4)


def test_the_loss_is_that_of_scoring(model: SeveralModel) -> None:
    """D10: training, by the tokens of each target, and scoring, by the whole vocabulary, count the same."""
    network = model.network
    assert isinstance(network, EncoderDecoder)
    # Capitals do not stand in the texts of the second target, and cost more than their number there.
    pairs = [("dom", "DOM", "capital"), ("dom", "ddoomm", "twice"), ("kit", "KIT", "twice")]
    examples = [Pair(1, source, target, "", into=into) for source, target, into in pairs]
    columns = model.run.columns
    batch = Batch(
        {name: columns[name].collate(columns[name].encode(examples)) for name in ("source", "target")},
        np.arange(len(examples)),
    )
    with torch.inference_mode():
        loss = network.eval()(batch)
    scores = model.score([(one.source, one.target, "", one.into) for one in examples])
    assert loss.total.item() == pytest.approx(-sum(scores), rel=1e-4)
    assert loss.count == sum(len(one.target) + 1 for one in examples)


def test_where_it_means_nothing(tmp_path: Path) -> None:
    """D10: with one target, or with copying, a decoder for each is refused with the reason."""
    (tmp_path / "one.tsv").write_text("".join(f"{a}{b}\t{b}{a}\n" for a in "abcdef" for b in "ghijkl"))
    one = Request(
        str(tmp_path / "one.tsv"), out=str(tmp_path / "one"), goal="generate", settings=(*SMALL, EACH)
    )
    with pytest.raises(SettingsError, match="for several targets, and there is one"):
        train(one, tell=lambda _: None)
    with pytest.raises(SettingsError, match="each decoder has vectors of its own"):
        train(asked(tmp_path, settings=(EACH, "model.share_embeddings=true")), tell=lambda _: None)
    with pytest.raises(SettingsError, match="copying is for one decoder"):
        train(asked(tmp_path, settings=(EACH, "model.pointer=true", "text.shared=true")), tell=lambda _: None)
