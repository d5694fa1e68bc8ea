"""Attention against its plain twin and against PyTorch's own."""

import pytest
import torch
from torch import nn

from seq2see.layers.attention import KeysValues, MultiHeadAttention, fused_attention, plain_attention, split
from seq2see.layers.positions import rotary, rotate
from seq2see.layers.short import short_attention, short_self_attention

CLOSE = {"rtol": 1e-5, "atol": 1e-5}


def masks(kind: str) -> torch.Tensor | None:
    """A mask for two sentences of five queries and seven keys."""
    torch.manual_seed(3)
    if kind == "none":
        return None
    if kind == "padding":
        return (torch.arange(7) < torch.tensor([[7], [4]]))[:, None, None]
    if kind == "causal":
        return torch.ones(5, 7, dtype=torch.bool).tril()
    scattered = torch.rand(2, 1, 5, 7) < 0.5
    scattered[0, 0, 2] = scattered[1, 0, 4] = False
    return scattered


def inputs() -> list[torch.Tensor]:
    """Query, keys and values in three heads of width four."""
    torch.manual_seed(5)
    shapes = [(2, 3, 5, 4), (2, 3, 7, 4), (2, 3, 7, 4)]
    return [torch.randn(*shape, requires_grad=True) for shape in shapes]


@pytest.mark.parametrize("fast", [fused_attention, short_attention])
@pytest.mark.parametrize("kind", ["none", "padding", "causal", "scattered"])
def test_plain_equals_fast(kind, fast):
    """D1: values and gradients are those of the plain way, whatever the mask."""
    ways = []
    for attend in (lambda *given: plain_attention(*given)[0], fast):
        given = inputs()
        read = attend(*given, masks(kind))
        (read * torch.arange(4.0)).sin().sum().backward()
        ways.append([read, *(tensor.grad for tensor in given)])
    for plain, other in zip(*ways, strict=True):
        torch.testing.assert_close(plain, other, **CLOSE)


@pytest.mark.parametrize(
    "attend", [lambda *given: plain_attention(*given)[0], fused_attention, short_attention]
)
def test_nowhere_to_look_gives_zeros(attend):
    """D1, D3: a row that may look nowhere reads zeros, and its gradients are finite."""
    given = inputs()
    read = attend(*given, masks("scattered"))
    assert torch.all(read[0, :, 2] == 0)
    assert torch.all(read[1, :, 4] == 0)
    assert read.isfinite().all()
    assert torch.all(read[0, :, 1] != 0)
    read.square().sum().backward()
    assert all(tensor.grad.isfinite().all() for tensor in given)
    assert torch.all(given[0].grad[0, :, 2] == 0)


def test_plain_weights_stay_inside_the_mask():
    """D3: weights are zero where one may not look, and sum to one where one may look anywhere."""
    query, keys, values = inputs()
    mask = masks("scattered")
    weights = plain_attention(query, keys, values, mask)[1]
    assert torch.all(weights[~mask.expand_as(weights)] == 0)
    torch.testing.assert_close(weights.sum(-1), mask.any(-1).float().expand(2, 3, 5), **CLOSE)


@pytest.mark.parametrize("watched", [False, True])
@pytest.mark.parametrize("padded", [False, True])
def test_many_heads_equal_torch(watched, padded):
    """D2: values and gradients (inputs and weights) equal torch.nn.MultiheadAttention's."""
    torch.manual_seed(1)
    ours, theirs = MultiHeadAttention(12, 3, "here"), nn.MultiheadAttention(12, 3, batch_first=True)
    nn.init.normal_(theirs.in_proj_bias)
    nn.init.normal_(theirs.out_proj.bias)
    projections = [ours.query, ours.key, ours.value]
    with torch.no_grad():
        for layer, weight, bias in zip(
            projections, theirs.in_proj_weight.chunk(3), theirs.in_proj_bias.chunk(3), strict=True
        ):
            layer.weight.copy_(weight)
            layer.bias.copy_(bias)
        ours.output.load_state_dict(theirs.out_proj.state_dict())
    states, memory = torch.randn(2, 5, 12), torch.randn(2, 7, 12)
    may_look = torch.arange(7) < torch.tensor([[7], [4]]) if padded else None

    def run(attend):
        given = states.clone().requires_grad_(), memory.clone().requires_grad_()
        read = attend(*given)
        (read * torch.linspace(-1, 1, 12)).sin().mean().backward()
        return [read, *(tensor.grad for tensor in given)]

    watch = (lambda address, weights, mask: weights) if watched else None
    mine = run(
        lambda query, keys: ours(
            query, ours.project(keys, may_look[:, None, None] if padded else None), watch=watch
        )
    )
    reference = run(
        lambda query, keys: theirs(query, keys, keys, key_padding_mask=~may_look if padded else None)[0]
    )
    mine += [torch.cat([getattr(layer, part).grad for layer in projections]) for part in ("weight", "bias")]
    mine += [ours.output.weight.grad, ours.output.bias.grad]
    reference += [theirs.in_proj_weight.grad, theirs.in_proj_bias.grad]
    reference += [theirs.out_proj.weight.grad, theirs.out_proj.bias.grad]
    for own, other in zip(mine, reference, strict=True):
        torch.testing.assert_close(own, other, **CLOSE)


def test_weights_equal_torch_per_head():
    """D2: the weights that a watcher sees are those that torch gives per head."""
    torch.manual_seed(2)
    ours, theirs = MultiHeadAttention(8, 2, "here"), nn.MultiheadAttention(8, 2, batch_first=True)
    with torch.no_grad():
        for layer, weight in zip(
            [ours.query, ours.key, ours.value], theirs.in_proj_weight.chunk(3), strict=True
        ):
            layer.weight.copy_(weight)
            layer.bias.zero_()
    states = torch.randn(1, 6, 8)
    seen = {}
    ours(states, ours.project(states), watch=lambda address, weights, mask: seen.setdefault(address, weights))
    expected = theirs(states, states, states, average_attn_weights=False)[1]
    torch.testing.assert_close(seen["here"], expected, **CLOSE)


def test_rows_are_selected_together():
    """D9: keys, values and mask of the selected rows stay together."""
    keys, values = torch.randn(3, 2, 4, 5), torch.randn(3, 2, 4, 5)
    mask = torch.rand(3, 1, 1, 4) < 0.5
    chosen = KeysValues(keys, values, mask).select(torch.tensor([2, 0, 0, 2]))
    for own, other in ((chosen.keys, keys), (chosen.values, values), (chosen.mask, mask)):
        assert torch.equal(own, torch.stack([other[2], other[0], other[0], other[2]]))


def test_short_attention_with_dropout_has_the_right_gradient():
    """H: the weights that were dropped in the forward pass are those that get no gradient."""

    def attend(*given):
        torch.manual_seed(1)
        return short_attention(*given, masks("padding"), 0.4)

    assert torch.autograd.gradcheck(
        attend, [tensor.double().detach().requires_grad_() for tensor in inputs()]
    )


def test_short_attention_drops_weights_at_the_rate():
    torch.manual_seed(1)
    values = torch.eye(50).expand(40, 1, 50, 50)
    weights = short_attention(torch.zeros(40, 1, 30, 4), torch.zeros(40, 1, 50, 4), values, None, 0.25)
    assert (weights == 0).double().mean().item() == pytest.approx(0.25, abs=0.01)
    assert weights.mean().item() == pytest.approx(1 / 50, rel=0.01)


def test_huge_scores_stay_finite():
    """D2: scores far apart neither overflow nor empty the weights of what may be seen."""
    query, keys, values = inputs()
    mask = masks("padding")
    query, keys = query.detach() * 1e3, keys.detach().clone()
    keys[1, :, 4:] = 1e3  # hidden, and by far the largest
    short = short_attention(query, keys, values, mask)
    torch.testing.assert_close(short, plain_attention(query, keys, values, mask)[0], **CLOSE)


@pytest.mark.parametrize("dropout", [0.0, 0.4])
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("kind", ["none", "padding", "causal", "scattered"])
def test_self_attention_of_short_sequences_equals_the_same_step_by_step(kind, turned, dropout):
    """Values and gradients of queries, keys and values that lie side by side, (B, T, 3 D)."""
    torch.manual_seed(3)
    projected = torch.randn(2, 5, 3 * 12, dtype=torch.float64, requires_grad=True)
    mask = masks(kind)
    mask = mask[..., :5] if mask is not None else None
    rotation = rotary(torch.arange(5), 4).double() if turned else None

    def by_steps(given):
        query, keys, values = (split(part, 3) for part in given.chunk(3, -1))
        if rotation is not None:
            query, keys = rotate(query, rotation), rotate(keys, rotation)
        return short_attention(query, keys, values, mask, dropout).transpose(1, 2).flatten(2)

    def at_once(given):
        return short_self_attention(given, 3, mask, rotation, dropout)

    found = []
    for way in (by_steps, at_once):
        torch.manual_seed(7)
        read = way(projected)
        (gradient,) = torch.autograd.grad((read * torch.arange(12.0)).sin().sum(), projected)
        found.append((read, gradient))
    for one, other in zip(*found, strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=1e-12)


def test_self_attention_of_one_token_leaves_what_it_was_given():
    """H: one token of one row lies in order already; turning its heads must not turn the input."""
    projected = torch.randn(1, 1, 3 * 12)
    given = projected.clone()
    short_self_attention(projected, 3, None, rotary(torch.arange(3, 4), 4))
    assert torch.equal(projected, given)
