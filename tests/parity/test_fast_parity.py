"""The fast, in-place steps of a Transformer decoder against plain ones that only concatenate."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from seq2see.models import ModelSettings
from seq2see.models.contracts import Prefix
from seq2see.models.decoders import TransformerDecoder
from seq2see.models.decoders.transformer_states import FastState, PlainState
from seq2see.text import BEGIN, PAD

CLOSE = {"rtol": 1e-4, "atol": 5e-5}
SOURCE = torch.tensor([[4, 5, 6, 7, 2], [9, 10, 2, 0, 0], [8, 2, 0, 0, 0]])
PREFIXES = [[BEGIN, 4, 5, 6], [BEGIN], [BEGIN, 8, 7]]
VARIANTS = {
    "as by default": {},
    "root mean square, no bias": {"norm_kind": "rms", "bias": False, "epsilon": 1e-3},
    "layer norm, no bias": {"bias": False},
    "heads in groups": {"groups": 2, "rotary_base": 500.0, "activation": "gelu-tanh"},
    "one group": {"groups": 1, "crosses": False, "activation": "silu"},
    "without a source": {"crosses": False},
    "without a source or a bias": {"crosses": False, "norm_kind": "rms", "bias": False},
}


def decoder_of(
    positions: str = "rotary", norm: str = "before", crosses: bool = True, **options
) -> TransformerDecoder:
    """A decoder in which nothing is zero."""
    part = {"layers": 2, "heads": 4, "feedforward": 24, "positions": positions, "norm": norm, **options}
    settings = ModelSettings.model_validate({"width": 16, "max_length": 64, "encoder": part, "decoder": part})
    torch.manual_seed(3)
    decoder = TransformerDecoder(torch.nn.Embedding(11, 16), settings, settings.decoder, crosses=crosses)
    for parameter in decoder.parameters():
        parameter.data += torch.randn_like(parameter) * 0.3
    return decoder.eval()


@pytest.mark.parametrize("norm", ["before", "after"])
@pytest.mark.parametrize("positions", ["rotary", "rotary-self", "sinusoidal", "learned", "none"])
@pytest.mark.parametrize("name", VARIANTS)
def test_fast_steps_equal_plain_ones(make_model, name, positions, norm):
    """D9: whatever the parts, positions and prefixes, also after rows were moved, dropped and joined."""
    decoder = decoder_of(positions, norm, **VARIANTS[name])
    network = make_model()
    with torch.inference_mode():
        memory = network.encode_ids(SOURCE) if decoder.crosses else None
        prefix = Prefix.of(PREFIXES, PAD, torch.device("cpu"))
        pair = [decoder.begin(memory, prefix, plain=plain) for plain in (True, False)]
        more = [decoder.begin(memory, prefix, plain=plain) for plain in (True, False)]
        assert [type(state) for state in pair] == [PlainState, FastState]
        for step in range(24):
            rows = len(pair[0].positions)
            tokens = torch.randint(4, 11, (rows,))
            (plain, pair[0]), (fast, pair[1]) = (decoder.step(tokens, state) for state in pair)
            torch.testing.assert_close(fast.states, plain.states, **CLOSE)
            if step in (3, 5, 6, 9, 20):  # two rows for each source from here on
                sources = pair[0].sources
                width = rows // sources
                moved = torch.randint(width, (sources, 2)) + torch.arange(sources)[:, None] * width
                pair = [state.move(moved.flatten()) for state in pair]
            if step == 7:
                pair = [state.keep(torch.tensor([2, 0])) for state in pair]
            if step == 12:
                twice = torch.arange(3).repeat_interleave(2)
                pair = [state.join(other.move(twice)) for state, other in zip(pair, more, strict=True)]


def test_gradients_pass_through_plain_steps(make_model):
    """D9: where gradients or automatic precision are wanted, steps are plain without being asked."""
    decoder, memory = decoder_of(), make_model().encode_ids(SOURCE)
    state = decoder.begin(memory)
    assert isinstance(state, PlainState)
    output, _ = decoder.step(torch.tensor([4, 5, 6]), state)
    output.states.sum().backward()
    assert decoder.embed.weight.grad.abs().sum() > 0
    with torch.inference_mode(), torch.autocast("cpu", dtype=torch.bfloat16):
        assert isinstance(decoder.begin(memory), PlainState)


def test_a_plain_step_writes_nothing_in_place(make_model):
    """D9: a plain state can be used again after a step, and gives the same."""
    decoder, network = decoder_of(), make_model()
    with torch.inference_mode():
        state = decoder.begin(network.encode_ids(SOURCE), plain=True)
        _, state = decoder.step(torch.tensor([4, 5, 6]), state)
        first, again = (decoder.step(torch.tensor([7, 8, 9]), state)[0].states for _ in range(2))
    assert first.equal(again)


@settings(max_examples=10)
@given(st.lists(st.integers(0, 20), min_size=1, max_size=4), st.booleans())
def test_a_language_model_steps_as_it_reads(lengths, plain):
    """E2: without a source, prefixes of any lengths and steps after them equal one pass over everything."""
    decoder = decoder_of(crosses=False)
    tokens = torch.randint(4, 11, (len(lengths), 25))
    prefix = Prefix.of(
        [row[:length] for row, length in zip(tokens.tolist(), lengths, strict=True)], PAD, tokens.device
    )
    with torch.inference_mode():
        whole = decoder(tokens, None).states
        state = decoder.begin(None, prefix, plain=plain)
        for step in range(4):
            places = torch.tensor(lengths) + step
            output, state = decoder.step(tokens.gather(1, places[:, None])[:, 0], state)
            torch.testing.assert_close(output.states, whole[torch.arange(len(lengths)), places], **CLOSE)
