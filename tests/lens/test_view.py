"""Looking into trained models from Python."""

import math

import pytest
import torch

import seq2see
from seq2see.errors import DataError, SettingsError
from seq2see.goals.text_model import Source
from seq2see.lens.edits import Block, Borrow, Force, Hard, Off, Pin, Reword, Temperature

LOOKING = ["transformer", "recurrent", "sentences"]


@pytest.mark.parametrize("name", [*LOOKING, "bottleneck"])
@pytest.mark.parametrize("options", [{"beam": 1}, {"beam": 4}, {"sample": True, "seed": 3}])
def test_a_view_shows_what_decode_says(models, name, options):
    model = models[name]
    output = next(model.decode([Source("dost bam")], **options))[0]
    view = model.attention("dost bam", **options)
    assert view.output == output.text
    assert view.log_probability == pytest.approx(output.log_probability, abs=1e-3)
    assert view.read[1:] == view.predicted[:-1]
    assert len(view.steps) == len(view.predicted)
    for step, label in zip(view.steps, view.predicted, strict=True):
        shown = {name: value for _, name, value in step.top}
        assert sum(map(math.exp, shown.values())) <= 1 + 1e-4
        assert not {"<begin>", "<pad>", "<unknown>"} & set(shown)
        if label in shown:
            assert shown[label] == pytest.approx(step.log_probability)
    assert (view.tree is not None) == (options.get("beam") == 4)


def test_hypotheses_of_any_rank_can_be_seen(models):
    outputs = next(models["transformer"].decode([Source("dost")], beam=4, nbest=3))
    for rank, output in enumerate(outputs, 1):
        view = models["transformer"].attention("dost", rank=rank, beam=4, nbest=3)
        assert view.output == output.text
    with pytest.raises(SettingsError, match="there are 3 outputs, so none of rank 4"):
        models["transformer"].attention("dost", rank=4, beam=4, nbest=3)


@pytest.mark.parametrize("name", LOOKING)
def test_recording_keeps_views_and_changes_nothing(models, name):
    model, words = models[name], ["bam", "", "dost"]
    plain, scores = model(words), list(model.score([("bam", model("bam"))]))
    with seq2see.record(model) as seen:
        assert model(words) == plain
        assert list(model.score([("bam", model("bam"))])) == scores
    model("feir")
    assert [view.output for view in seen] == [plain[0], plain[2], plain[0], plain[0]]
    assert seen[-1].log_probability == pytest.approx(scores[0], abs=1e-3)
    assert len(seen[1:3]) == 2
    with seq2see.record(model) as seen:
        model("bam", edits=[Hard(at="*")])
    assert seen[0].effect is not None


def test_a_forced_token_is_said_and_the_rest_follows(models):
    model = models["transformer"]
    plain = model.attention("dost")
    view = model.attention("dost", edits=[Force(step=1, token="k")])
    assert view.predicted[:2] == [plain.predicted[0], "k"]
    again = model.attention("dost", target=" ".join(view.predicted[:-1]))
    assert view.log_probability == pytest.approx(again.log_probability, abs=1e-4)
    assert view.effect.output == plain.output
    assert ("+", "k") in view.effect.difference
    ended = model.attention("dost", edits=[Force(step=1, token="<end>")])
    assert ended.predicted == [plain.predicted[0], "<end>"]
    several = model.attention("dost", edits=[Force(step=2, token="m"), Force(step=1, token="k")])
    assert several.predicted[:3] == [plain.predicted[0], "k", "m"]


def test_what_cannot_be_forced_says_why(models):
    look = models["transformer"].attention
    with pytest.raises(SettingsError, match="no output token is 'ä'"):
        look("dost", edits=[Force(step=0, token="ä")])
    with pytest.raises(SettingsError, match="step 90 is past the end of the output, which has"):
        look("dost", edits=[Force(step=90, token="k")])
    with pytest.raises(SettingsError, match="token 0 cannot be forced"):
        look("dost", edits=[Force(step=0, token=0)])
    with pytest.raises(SettingsError, match="with a given target no token can be forced"):
        look("dost", target="t s", edits=[Force(step=0, token="k")])
    with pytest.raises(DataError, match="no text to look at"):
        look(" ")
    with pytest.raises(SettingsError, match="this model has no attention"):
        models["bottleneck"].attention("dost", edits=[Hard(at="decoder.*")])


@pytest.mark.parametrize("name", LOOKING)
def test_the_effect_of_an_edit_is_measured(models, name):
    """The change is that of the plain output's log-probability; no divergence of a step is negative."""
    model = models[name]
    plain = model.attention("dost bam")
    edit = Off(at="decoder*.cross", how="uniform")
    view = model.attention("dost bam", edits=[edit])
    same = model.attention("dost bam", target=plain.output, edits=[edit])
    assert view.effect.log_probability == pytest.approx(plain.log_probability, abs=1e-4)
    assert view.effect.change == pytest.approx(same.log_probability - plain.log_probability, abs=1e-3)
    assert len(view.effect.divergence) == len(plain.predicted)
    assert min(view.effect.divergence) >= 0 and max(view.effect.divergence) > 1e-4
    assert [token for mark, token in view.effect.difference if mark != "+"] == plain.predicted
    assert [token for mark, token in view.effect.difference if mark != "-"] == view.predicted
    nothing = model.attention("dost bam", edits=[Temperature(at="*", value=1)]).effect
    assert (nothing.change, max(nothing.divergence)) == (0, 0)


def test_sources_can_be_reworded_and_their_tokens_blocked(models):
    model = models["transformer"]
    view = model.attention("dost", edits=[Reword(text="bam")])
    assert view.source == ["b", "a", "m", "<end>"]
    assert view.output == model("bam")
    assert view.effect.output == model("dost")
    blind = model.attention("dost", edits=[Block(at="*", places=(0,))])
    for address in ("encoder.0.self", "decoder.1.cross"):
        assert torch.all(blind.weights[address][..., 0] == 0)


@pytest.mark.parametrize("name", LOOKING)
def test_weights_can_be_borrowed(models, name):
    model = models[name]
    lent = model.attention("gulst").at("decoder.cross" if name == "recurrent" else "decoder.1.cross", 1)
    edit = Borrow(at="decoder*.cross", text="gulst", head=1, origin=None)
    view = model.attention("gulst", edits=[edit])
    address = [address for address in view.weights if address.endswith("cross")][-1]
    rows = min(len(lent), view.weights[address].shape[1])
    torch.testing.assert_close(view.weights[address][0][0], lent[0], rtol=1e-3, atol=1e-3)
    assert rows > 0


def test_another_model_can_lend(models):
    model, donor = models["transformer"], models["recurrent"]
    edit = Borrow(at="decoder.1.cross", origin="decoder.cross", head=0)
    view = model.attention("bam", edits=[edit], donor=donor)
    lent = donor.attention("bam").at("decoder.cross", 0)
    rows = min(len(lent), len(view.predicted))
    for head in view.weights["decoder.1.cross"]:
        torch.testing.assert_close(head[:rows], lent[:rows], rtol=1e-4, atol=1e-4)
    with pytest.raises(SettingsError, match="name the head to take"):
        model.attention("bam", edits=[Borrow(at="decoder.1.cross", origin="decoder.cross")], donor=donor)
    with pytest.raises(SettingsError, match=r"nothing can be borrowed from 'decoder.9.cross'; did you mean"):
        model.attention("bam", edits=[Borrow(at="*", origin="decoder.9.cross")])


@pytest.mark.parametrize("name", LOOKING)
def test_decoding_many_with_edits_is_decoding_each(models, name):
    model, words = models[name], ["bam", "dost gulm", "feir", "kost"]
    edits = [Off(at="decoder*.cross", heads=(0,), how="uniform"), Temperature(at="*", value=3)]
    assert model(words, edits=edits) == [model.attention(word, edits=edits).output for word in words]
    with pytest.raises(SettingsError, match="made for one source"):
        model(words, edits=[Pin(at="*", step=0, places=(0,))])


def test_sub_words_are_merged_to_words(models):
    view = models["sentences"].attention("bam dost", target="bam dost")
    words = view.in_words()
    assert words.source == ["bam", "dost", "<end>"]
    assert words.predicted == ["bam", "dost", "<end>"]
    assert words.read == ["<begin>", "bam", "dost"]
    assert len(view.source) > 3
    for address, weights in words.weights.items():
        assert weights.shape[1:] == (3, 3), address
        torch.testing.assert_close(weights.sum(-1), torch.ones(weights.shape[:2]))


def test_symbols_are_words_already(models):
    view = models["transformer"].attention("bam")
    assert view.in_words().predicted == view.predicted


def test_an_attention_that_is_not_there_is_named(models):
    view = models["transformer"].attention("bam")
    with pytest.raises(
        SettingsError, match=r"no attention 'decoder.1.corss'; did you mean 'decoder.1.cross'\?"
    ):
        view.at("decoder.1.corss")
    with pytest.raises(SettingsError, match="no head 9: they are numbered from 0 to"):
        view.at("decoder.1.cross", 9)
    with pytest.raises(SettingsError, match="no attention on its source"):
        models["bottleneck"].attention("bam").alignment()
