"""One search for every model: it agrees with the plain one whatever the model is made of."""

from pathlib import Path

import pytest
import torch
from combinations import COMBINATIONS
from plain_search import beam_search, decode, log_probabilities

import seq2see.decoding
from seq2see.decoding import DecodingSettings, search
from seq2see.text import BEGIN, END, PAD

SOURCES = [[4, 5, 6, END], [7, 7, END], [8, 4, 5, 9, 10, END]]
NAMES = (
    *("lstm both ways", "gru", "pointer fed in heads", "location", "hybrid", "own past", "own past fed"),
    *("recurrent reader, transformer writer", "luong", "convolution", "pointing transformer"),
)
LOOKING = [name for name in NAMES if COMBINATIONS[name]["decoder"].get("attention") != "none"]


@pytest.fixture
def network(make_model, name):
    """A combination with a peaked distribution."""
    return make_model(seed=1, noise=0.4, **COMBINATIONS[name])


@pytest.mark.parametrize("penalty", [0, 1.0])
@pytest.mark.parametrize("beam", [1, 3])
@pytest.mark.parametrize("name", NAMES)
def test_beam_search_equals_the_plain_one(network, name, beam, penalty):
    """D9, C11: the narrow, cached search gives what an uncached one gives that never stops early."""
    limits = [6, 4, 5]
    found = decode(network, SOURCES, limits, beam=beam, nbest=beam, length_penalty=penalty)
    for source, limit, hypotheses in zip(SOURCES, limits, found, strict=True):
        best = beam_search(network, source, limit, beam, penalty)[:beam]
        assert [one.ids for one in hypotheses] == [ids for _, ids in best]
        assert [one.score for one in hypotheses] == pytest.approx([score for score, _ in best], abs=1e-3)


@pytest.mark.parametrize("options", [{"beam": 4, "nbest": 4}, {"sample": True, "nbest": 4, "seed": 3}])
@pytest.mark.parametrize("name", NAMES)
def test_log_probabilities_are_those_of_score(network, name, options):
    """H: what search says of an output is what `score` says of it: the sum over its steps."""
    for source, hypotheses in zip(SOURCES, decode(network, SOURCES, [6] * 3, **options), strict=True):
        said = [one.log_probability for one in hypotheses]
        assert said == pytest.approx(
            log_probabilities(network, source, [one.ids for one in hypotheses]), abs=1e-3
        )
        with torch.inference_mode():
            state = network.begin(network.encode_ids(torch.tensor([source])))
            total, read = 0.0, BEGIN
            for token in (*hypotheses[0].ids, END):
                logits, state = network.step(torch.tensor([read]), state)
                total, read = total + logits.log_softmax(-1)[0, token].item(), token
        assert said[0] == pytest.approx(total, abs=1e-3)


@pytest.mark.parametrize("name", NAMES)
def test_samples_are_seeded_and_varied(network, name):
    """H: every model can be sampled from, with the same outputs for the same seed."""
    first, again = (decode(network, SOURCES, [6] * 3, sample=True, nbest=6, seed=2) for _ in range(2))
    assert first == again
    assert len({one.ids for hypotheses in first for one in hypotheses}) > 1


@pytest.mark.parametrize("name", LOOKING)
def test_hard_attention_reads_one_place(network, name):
    """C10: each step reads where the most weight is; the own past and the encoder stay soft."""
    seen = []

    def argmax(address, weights, mask):
        if not address.endswith(".cross"):
            return weights
        hard = torch.zeros_like(weights)
        return hard.scatter(-1, weights.max(-1, keepdim=True).indices, 1.0)

    def look(address, weights, mask):
        seen.append(address)
        return weights

    found = decode(network, SOURCES, [6] * 3, beam=3, hard_attention=True)
    soft = decode(network, SOURCES, [6] * 3, beam=3)
    for source, (best,), (other,) in zip(SOURCES, found, soft, strict=True):
        inputs = torch.tensor([[BEGIN, *best.ids]])
        with torch.inference_mode():
            memory = network.encode_ids(torch.tensor([source]))
            logits = network.head.logits(network.decoder(inputs, memory, argmax), memory.tokens)
        steps = logits.log_softmax(-1)[0].gather(1, torch.tensor([*best.ids, END])[:, None])
        assert best.log_probability == pytest.approx(steps.sum().item(), abs=1e-3)
        assert best.log_probability != pytest.approx(other.log_probability, abs=1e-4)
    with torch.inference_mode():
        memory = network.encode_ids(torch.tensor(SOURCES[:1]))
    watched = search(network, memory, [6], DecodingSettings(beam=3, hard_attention=True), watch=look)
    assert [one.ids for one in watched[0]] == [one.ids for one in found[0]]
    assert any(address.endswith(".cross") for address in seen)


def test_hard_attention_comes_after_a_watcher(make_model):
    """C10: the weights that a watcher gives back are the ones made hard."""
    network = make_model(seed=1, noise=0.4, **COMBINATIONS["additive"])
    source = torch.tensor([[4, 5, 6, 7, END]])

    def prefer(place):
        return lambda address, weights, mask: weights * 0.1 + 0.6 * torch.eye(5)[place]

    def only(place):
        return lambda address, weights, mask: torch.eye(5)[place].expand_as(weights)

    with torch.inference_mode():
        memory = network.encode_ids(source)
    hard = DecodingSettings(beam=2, hard_attention=True)
    for place in (0, 3):
        one = search(network, memory, [5], hard, watch=prefer(place))
        other = search(network, memory, [5], DecodingSettings(beam=2), watch=only(place))
        assert one == other


def test_hard_attention_and_padding(make_model):
    """C10, D3: hard or soft, neighbours in the batch change nothing."""
    network = make_model(seed=1, noise=0.4, **COMBINATIONS["pointer"])
    together = decode(network, SOURCES, [6] * 3, beam=2, hard_attention=True)
    for source, hypotheses in zip(SOURCES, together, strict=True):
        (alone,) = decode(network, [source], [6], beam=2, hard_attention=True)
        assert [one.ids for one in alone] == [one.ids for one in hypotheses]
    assert PAD not in {token for (one,) in together for token in one.ids}


def test_decoding_knows_no_architecture():
    """D9: the room of decoding never asks what a model is made of."""
    for file in Path(seq2see.decoding.__file__).parent.glob("*.py"):
        text = file.read_text(encoding="utf-8")
        assert "isinstance" not in text
        assert "transformer" not in text.lower()
        assert "recurrent" not in text.lower()
