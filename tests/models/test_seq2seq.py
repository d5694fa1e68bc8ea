"""Models as their settings describe them."""

from copy import deepcopy

import numpy as np
import pytest
import torch
from networks import make_network

from seq2see.data.sides import Batch, Side
from seq2see.models import EncoderDecoder, ModelSettings
from seq2see.models.contracts import DecoderOutput
from seq2see.recipe import compose, preset


def linear(inputs: int, outputs: int) -> int:
    """Weights and biases of a linear map."""
    return inputs * outputs + outputs


def test_transformer_base_has_the_published_sizes():
    """D8: six and six layers, width 512, eight heads, feed-forward 2048, one embedding, counted by hand."""
    recipe = compose([preset("transformer-base"), {"data": {"train": "pairs.tsv"}}], "test")
    with torch.device("meta"):
        model = make_network(recipe.model, 10, 10)
    width, inner = 512, 2048
    attention, feedforward = 4 * linear(width, width), linear(width, inner) + linear(inner, width)
    norm = 2 * width
    encoder = 6 * (attention + feedforward + 2 * norm)
    decoder = 6 * (2 * attention + feedforward + 3 * norm)
    assert sum(parameter.numel() for parameter in model.parameters()) == encoder + decoder + 10 * width
    assert [len(model.encoder.blocks), len(model.decoder.blocks)] == [6, 6]
    assert {block.attention.heads for block in [*model.encoder.blocks, *model.decoder.blocks]} == {8}
    assert {block.attention_residual.place for block in model.encoder.blocks} == {"after"}
    assert model.front.positions.kind == model.decoder.positions.kind == "sinusoidal"


def test_parameter_counts_cover_everything_once(make_model):
    """D8: the counts by part add up to all parameters, shared ones counted once."""
    for settings in ({}, {"share_embeddings": True, "sizes": (9, 9)}, {"tie_output": False}):
        model = make_model(**settings)
        counts = model.parameter_counts()
        assert sum(counts.values()) == sum(parameter.numel() for parameter in model.parameters())
        assert ("decoder.embed" in counts) == ("share_embeddings" not in settings)
        assert ("head.output" in counts) == ("tie_output" in settings)


def test_shared_embeddings_with_further_source_rows(make_model):
    """D8: with shared embeddings the target's vocabulary is the first part of the source's."""
    model = make_model(share_embeddings=True, sizes=(12, 9))
    assert model.decoder.embed is model.front.embed
    assert model.logits(torch.tensor([[11, 4, 2]]), torch.tensor([[1, 8]])).shape == (1, 2, 9)


def test_tied_output_is_the_embedding(make_model):
    """D8: logits are products with the target embeddings."""
    model = make_model()
    hidden = torch.randn(2, 16)
    torch.testing.assert_close(
        model.head.logits(DecoderOutput(hidden, None), None), hidden @ model.decoder.embed.weight.T
    )


def test_padding_embeds_as_zero_and_stays_so():
    """D3: the padding's embedding starts at zero and gets no gradient from being read."""
    model = make_network(ModelSettings.model_validate({"width": 8, "tie_output": False}), 7, 7)
    assert torch.all(model.front.embed.weight[0] == 0)
    model.logits(torch.tensor([[4, 0]]), torch.tensor([[1, 0]])).sum().backward()
    assert torch.all(model.front.embed.weight.grad[0] == 0)
    assert model.front.embed.weight.grad[4].abs().sum() > 0


def test_decoder_past_a_learned_table(make_model):
    """D4: stepping past a learned table is refused with the way out."""
    model = make_model("learned", max_length=4)
    with torch.inference_mode():
        state = model.begin(model.encode_ids(torch.tensor([[4, 2]])))
        for _ in range(4):
            _, state = model.step(torch.tensor([5]), state)
        with pytest.raises(ValueError, match=r"position 5 is past the 4 places.*rotary"):
            model.step(torch.tensor([5]), state)


def test_dropout_acts_in_training_only(make_model):
    """H: in training two passes differ, in use they do not."""
    model = make_model(dropout=0.5, attention_dropout=0.5, seed=3)
    source, inputs = torch.tensor([[4, 5, 2]]), torch.tensor([[1, 4, 6]])
    assert torch.equal(model.logits(source, inputs), model.logits(source, inputs))
    model.train()
    try:
        assert not torch.allclose(model.logits(source, inputs), model.logits(source, inputs))
    finally:
        model.eval()


@pytest.mark.parametrize("change", ["step", "load", "move"])
def test_what_was_kept_of_old_weights_is_not_used(make_model, change):
    """D9: weights that are joined once for all steps of a search are joined anew when they have changed."""
    model, twin = deepcopy(make_model(noise=0.4)).eval(), deepcopy(make_model()).eval()
    source, tokens = torch.tensor([[4, 5, 6]]), torch.tensor([4])

    def logits(model: EncoderDecoder) -> torch.Tensor:
        with torch.inference_mode():
            return model.step(tokens, model.begin(model.encode_ids(source)))[0]

    before = logits(model)
    if change == "step":
        optimizer = torch.optim.Adam(model.parameters(), lr=0.1, fused=True)
        model.logits(source, tokens[None]).sum().backward()
        optimizer.step()
    elif change == "load":
        model.load_state_dict({name: 2 * weight for name, weight in model.state_dict().items()})
    else:
        model, twin = model.double(), twin.double()
    twin.load_state_dict(model.state_dict())
    after = logits(model)
    assert after.equal(logits(twin))
    assert not after.equal(before)


def test_memory_loses_features_in_training_alone(make_model):
    """H: each of the examples that share a source loses features of its own; outside training none does."""
    model = make_model(dropout=0.0, memory_dropout=0.5)
    source = Side(torch.tensor([[4, 5, 6, 2]]), torch.ones(1, 4, dtype=torch.bool))
    batch = Batch({"source": source}, np.arange(3), torch.zeros(3, dtype=torch.long))
    torch.manual_seed(1)
    whole, lossy = model.eval().read(batch), model.train().read(batch)
    for features, left in ((whole.states, lossy.states), (whole.summary, lossy.summary)):
        lost = left == 0
        assert 0.3 < lost.float().mean() < 0.7 and not (features == 0).any()
        torch.testing.assert_close(left[~lost], 2 * features[~lost])
        assert not torch.equal(lost[0], lost[1])
