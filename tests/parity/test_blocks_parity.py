"""Blocks and whole stacks against PyTorch's own Transformer."""

import pytest
import torch
from networks import make_network
from torch import Tensor, nn

from seq2see.layers import masks
from seq2see.layers.blocks import Block
from seq2see.layers.positions import Grid
from seq2see.models import ModelSettings
from seq2see.models.encoders import TransformerEncoder

CLOSE = {"rtol": 1e-5, "atol": 1e-5}
BOTH = [
    pytest.param(norm, activation, id=f"{norm}-{activation}")
    for norm in ("before", "after")
    for activation in ("relu", "gelu")
]


def twins(ours, theirs) -> list[tuple[Tensor, Tensor, int | None]]:
    """Our parameter, theirs, and which third of theirs it is."""
    pairs: list[tuple[Tensor, Tensor, int | None]] = []
    attentions = [(ours.attention, theirs.self_attn)]
    norms = [(ours.attention_residual.norm, theirs.norm1)]
    if ours.crosses:
        attentions.append((ours.cross, theirs.multihead_attn))
        norms += [(ours.cross_residual.norm, theirs.norm2), (ours.feedforward_residual.norm, theirs.norm3)]
    else:
        norms.append((ours.feedforward_residual.norm, theirs.norm2))
    for mine, other in attentions:
        for third, layer in enumerate([mine.query, mine.key, mine.value]):
            pairs.append((layer.weight, other.in_proj_weight, third))
            pairs.append((layer.bias, other.in_proj_bias, third))
        norms.append((mine.output, other.out_proj))
    norms += [(ours.feedforward.enter, theirs.linear1), (ours.feedforward.leave, theirs.linear2)]
    for mine, other in norms:
        pairs += [(mine.weight, other.weight, None), (mine.bias, other.bias, None)]
    return pairs


def third_of(tensor: Tensor, third: int | None) -> Tensor:
    """One third of stacked weights, or all of others."""
    return tensor if third is None else tensor.chunk(3)[third]


def copy(pairs) -> None:
    """Give our parameters random values, and torch's the same."""
    with torch.no_grad():
        for mine, other, third in pairs:
            mine.normal_(std=0.3)
            third_of(other, third).copy_(mine)


def assert_same_gradients(pairs) -> None:
    """Every weight has the gradient that torch's has."""
    for mine, other, third in pairs:
        torch.testing.assert_close(mine.grad, third_of(other.grad, third), rtol=1e-4, atol=1e-5)


def loss_of(states: Tensor) -> Tensor:
    """Something that weighs every output differently."""
    return (states * torch.linspace(-1, 1, states.shape[-1])).sin().mean()


@pytest.mark.parametrize(("norm", "activation"), BOTH)
def test_encoder_block_equals_torch(norm, activation):
    """D6, D7: an encoder block with a padding mask, values and gradients."""
    torch.manual_seed(4)
    ours = Block(16, 4, 24, "here", activation, norm)
    theirs = nn.TransformerEncoderLayer(
        16, 4, 24, dropout=0, activation=activation, norm_first=norm == "before", batch_first=True
    )
    pairs = twins(ours, theirs)
    copy(pairs)
    may_look = torch.arange(6) < torch.tensor([[6], [3]])
    mine, other = (value := torch.randn(2, 6, 16)).clone().requires_grad_(), value.clone().requires_grad_()
    result = ours(mine, may_look[:, None, None])
    expected = theirs(other, src_key_padding_mask=~may_look)
    torch.testing.assert_close(result, expected, **CLOSE)
    loss_of(result).backward()
    loss_of(expected).backward()
    torch.testing.assert_close(mine.grad, other.grad, **CLOSE)
    assert_same_gradients(pairs)


@pytest.mark.parametrize(("norm", "activation"), BOTH)
def test_decoder_block_equals_torch(norm, activation):
    """D6, D7: a decoder block with a causal mask and a padded memory, values and gradients."""
    torch.manual_seed(6)
    ours = Block(16, 4, 24, "here", activation, norm, crosses=True)
    theirs = nn.TransformerDecoderLayer(
        16, 4, 24, dropout=0, activation=activation, norm_first=norm == "before", batch_first=True
    )
    pairs = twins(ours, theirs)
    copy(pairs)
    states, memory = torch.randn(2, 5, 16), torch.randn(2, 6, 16)
    may_look = torch.arange(6) < torch.tensor([[6], [2]])
    see = masks.causal(5)

    mine = [states.clone().requires_grad_(), memory.clone().requires_grad_()]
    result = ours(mine[0], see, memory=ours.cross.project(mine[1], may_look[:, None, None]))
    other = [states.clone().requires_grad_(), memory.clone().requires_grad_()]
    expected = theirs(*other, tgt_mask=~see, memory_key_padding_mask=~may_look)
    torch.testing.assert_close(result, expected, **CLOSE)
    loss_of(result).backward()
    loss_of(expected).backward()
    for own, reference in zip(mine, other, strict=True):
        torch.testing.assert_close(own.grad, reference.grad, **CLOSE)
    assert_same_gradients(pairs)


def torch_stack(norm: str, activation: str, layers: int) -> nn.Transformer:
    """torch.nn.Transformer, without its own addition of a last norm where norms come after."""
    options = {"dropout": 0.0, "activation": activation, "norm_first": norm == "before", "batch_first": True}
    last = norm == "before"
    encoder = nn.TransformerEncoder(
        nn.TransformerEncoderLayer(16, 4, 24, **options),
        layers,
        nn.LayerNorm(16) if last else None,
        enable_nested_tensor=False,
    )
    decoder = nn.TransformerDecoder(
        nn.TransformerDecoderLayer(16, 4, 24, **options), layers, nn.LayerNorm(16) if last else None
    )
    return nn.Transformer(16, 4, custom_encoder=encoder, custom_decoder=decoder, batch_first=True)


@pytest.mark.parametrize(("norm", "activation"), BOTH)
def test_whole_model_equals_torch(norm, activation):
    """D6, D7, D8: both stacks on padded ids, down to the gradients of the embeddings."""
    torch.manual_seed(7)
    part = {"layers": 2, "heads": 4, "feedforward": 24, "positions": "sinusoidal"}
    part |= {"norm": norm, "activation": activation}
    settings = ModelSettings.model_validate({"width": 16, "dropout": 0, "encoder": part, "decoder": part})
    model, theirs = make_network(settings, 9, 9), torch_stack(norm, activation, 2)
    pairs = []
    for ours, stack in ((model.encoder, theirs.encoder), (model.decoder, theirs.decoder)):
        for block, layer in zip(ours.blocks, stack.layers, strict=True):
            pairs += twins(block, layer)
        if norm == "before":
            pairs.append((ours.final_norm.weight, stack.norm.weight, None))
            pairs.append((ours.final_norm.bias, stack.norm.bias, None))
    copy(pairs)
    source = torch.tensor([[4, 5, 6, 7, 8], [6, 4, 2, 0, 0]])
    inputs = torch.tensor([[1, 5, 6, 4], [1, 8, 8, 7]])
    embeddings = [model.front.embed.weight, model.decoder.embed.weight]

    result = model.decoder(inputs, model.encode_ids(source)).states
    loss_of(result).backward()
    own_gradients = [weight.grad.clone() for weight in embeddings]
    model.zero_grad(set_to_none=False)
    expected = theirs(
        model.front(model.sides(source)).states,
        model.decoder.read(inputs),
        tgt_mask=~masks.causal(4),
        src_key_padding_mask=source == 0,
        memory_key_padding_mask=source == 0,
    )
    torch.testing.assert_close(result, expected, **CLOSE)
    loss_of(expected).backward()
    for own, weight in zip(own_gradients, embeddings, strict=True):
        torch.testing.assert_close(own, weight.grad, rtol=1e-4, atol=1e-5)
    model.zero_grad()
    loss_of(model.decoder(inputs, model.encode_ids(source)).states).backward()
    assert_same_gradients(pairs)


@pytest.mark.parametrize("length", [5, 70])
@pytest.mark.parametrize("turned", ["rotary", "none", "by row and column"])
@pytest.mark.parametrize("norm", ["before", "after"])
@pytest.mark.parametrize("groups", [None, 2])
def test_the_first_state_alone_is_the_first_of_all(groups, norm, turned, length):
    """Values and gradients, also of what is padded, turned or longer than short sequences are."""
    part = {"layers": 2, "heads": 4, "groups": groups, "norm": norm, "feedforward": 24}
    part["positions"] = "rotary" if turned == "rotary" else "none"
    settings = ModelSettings.model_validate({"width": 16, "dropout": 0, "encoder": part})
    torch.manual_seed(5)
    encoder = TransformerEncoder(settings, settings.encoder).double().train()
    for parameter in encoder.parameters():
        parameter.data += torch.randn_like(parameter) * 0.3
    if turned == "by row and column":
        encoder.grid = Grid(1, length - 1, before=1)
    states = torch.randn(3, length, 16, dtype=torch.double, requires_grad=True)
    mask = torch.arange(length) < torch.tensor([[length], [3], [1]])
    found = []
    for first_only in (False, True):
        memory = encoder(states, mask, first_only=first_only)
        assert memory.states.shape == (3, 1 if first_only else length, 16)
        loss = loss_of(memory.states[:, 0])
        found.append([memory.states[:, 0], *torch.autograd.grad(loss, [states, *encoder.parameters()])])
    for whole, alone in zip(*found, strict=True):
        torch.testing.assert_close(alone, whole, rtol=1e-9, atol=1e-11)
