"""Every attention score against its formula, place by place."""

import math
from itertools import product

import pytest
import torch
from torch import Tensor

from seq2see.layers import additive, masks
from seq2see.layers.attention import harden
from seq2see.layers.scores import ScoredAttention

CLOSE = {"rtol": 1e-9, "atol": 1e-10}
LENGTHS = torch.tensor([5, 2, 4])
MASK = (torch.arange(5) < LENGTHS[:, None])[:, None, None]
KINDS = ("dot", "scaled-dot", "general", "factored", "nonlinear", "additive", "concat", "location")
ROWS = {
    "dot": "C1",
    "general": "C2",
    "factored": "C2",
    "nonlinear": "C3",
    "additive": "C4",
    "scaled-dot": "C5",
    "location": "C6",
    "concat": "C7",
}


def attention_of(kind: str, width: int, memory_width: int, heads: int, **options) -> ScoredAttention:
    """An attention in which nothing is zero."""
    torch.manual_seed(2)
    attention = ScoredAttention(kind, width, memory_width, "here", heads, max_length=7, **options).double()
    for parameter in attention.parameters():
        parameter.data.normal_(std=0.7)
    return attention


def given_states(width: int, memory_width: int) -> tuple[Tensor, Tensor]:
    """Three rows of four decoder states, and three sources of five places."""
    torch.manual_seed(3)
    return (
        torch.randn(3, 4, width, dtype=torch.float64),
        torch.randn(3, 5, memory_width, dtype=torch.float64),
    )


def part(vector: Tensor, head: int, heads: int) -> Tensor:
    """The features of one head."""
    return vector.chunk(heads)[head]


def plain_score(attention: ScoredAttention, kind: str, s: Tensor, h: Tensor, place: int, head: int) -> Tensor:
    """e of one state and one place, as the lectures write it, within one head."""
    own, heads = dict(attention.score.named_parameters()), attention.heads
    act = attention.score.activation if kind == "nonlinear" else None
    if kind in ("dot", "scaled-dot"):
        product_ = sum(a * b for a, b in zip(part(s, head, heads), part(h, head, heads), strict=True))
        return product_ / math.sqrt(len(s) / heads) if kind == "scaled-dot" else product_
    if kind == "general":
        return part(s, head, heads) @ own["between"][head] @ part(h, head, heads)
    if kind == "factored":
        return part(own["query.weight"] @ s, head, heads) @ part(own["key.weight"] @ h, head, heads)
    if kind == "nonlinear":
        query = act(own["query.weight"] @ s + own["query.bias"])
        key = act(own["key.weight"] @ h + own["key.bias"])
        return part(query, head, heads) @ part(key, head, heads)
    if kind == "additive":
        inner = torch.tanh(own["key.weight"] @ h + own["query.weight"] @ s)
        return own["weigh"][head] @ part(inner, head, heads)
    if kind == "concat":
        inner = torch.tanh(own["join.weight"] @ torch.cat([s, h]))
        return own["weigh"][head] @ part(inner, head, heads)
    return own["place"][head, place] @ part(s, head, heads)


CASES = [
    pytest.param(kind, width, memory, heads, id=f"{ROWS[kind]}-{kind}-{width}-{memory}-{heads}")
    for kind, (width, memory), heads in product(KINDS, [(6, 6), (6, 12)], (1, 3))
    if width == memory or kind not in ("dot", "scaled-dot")
]


@pytest.mark.parametrize("learned_values", [False, True])
@pytest.mark.parametrize(("kind", "width", "memory_width", "heads"), CASES)
def test_scores_are_the_lectures_formulas(kind, width, memory_width, heads, learned_values):
    """C1, C2, C3, C4, C5, C6, C7, C8, D2: softmax of the formula over the tokens, and the values' mean."""
    attention = attention_of(kind, width, memory_width, heads, learned_values=learned_values)
    states, memory = given_states(width, memory_width)
    read, weights = attention(states, attention.project(memory, MASK))
    for row, step, head in product(range(3), range(4), range(heads)):
        scores = [
            plain_score(attention, kind, states[row, step], memory[row, place], place, head)
            for place in range(LENGTHS[row])
        ]
        expected = torch.stack(scores).softmax(0)
        torch.testing.assert_close(weights[row, head, step, : LENGTHS[row]], expected, **CLOSE)
        values = [
            attention.value.weight @ memory[row, place] if learned_values else memory[row, place]
            for place in range(LENGTHS[row])
        ]
        context = sum(
            weight * part(value, head, heads) for weight, value in zip(expected, values, strict=True)
        )
        torch.testing.assert_close(part(read[row, step], head, heads), context, **CLOSE)
    assert torch.all(weights[~MASK.expand_as(weights)] == 0)
    torch.testing.assert_close(weights.sum(-1), torch.ones(3, heads, 4, dtype=torch.float64), **CLOSE)


def test_nonlinear_keys_may_be_rectified():
    """C3: the activation is a choice, and it acts on keys and queries."""
    found = {}
    for activation, act in (("tanh", torch.tanh), ("relu", torch.relu)):
        attention = attention_of("nonlinear", 6, 6, 1, activation=activation)
        states, memory = given_states(6, 6)
        own = attention.score
        scores = act(own.query(states)) @ act(own.key(memory)).transpose(1, 2)
        found[activation] = attention(states, attention.project(memory))[1][:, 0]
        torch.testing.assert_close(found[activation], scores.softmax(-1), **CLOSE)
    assert (found["tanh"] - found["relu"]).abs().max() > 0.01


@pytest.mark.parametrize("kind", KINDS)
def test_a_source_without_tokens_is_read_as_zeros(kind):
    """D3: where there is nothing to look at the weights are zero, never NaN."""
    attention = attention_of(kind, 6, 6, 2)
    states, memory = given_states(6, 6)
    read, weights = attention(states, attention.project(memory, torch.zeros_like(MASK)))
    assert torch.all(weights == 0)
    assert torch.all(read == 0)


def test_location_has_an_end():
    """C6: a source past the last place is refused with the way out."""
    attention = attention_of("location", 6, 6, 1)
    with pytest.raises(ValueError, match=r"position 8 is past the 7 positions .*another attention"):
        attention.project(torch.zeros(1, 8, 6, dtype=torch.float64))
    assert attention.project(torch.zeros(1, 7, 6, dtype=torch.float64)).keys.shape == (1, 1, 7, 6)


def test_location_is_blind_to_what_stands_there():
    """C6: weights come from the decoder's state alone."""
    attention = attention_of("location", 6, 6, 1)
    states, memory = given_states(6, 6)
    first, second = (attention(states, attention.project(source, MASK))[1] for source in (memory, -memory))
    assert torch.equal(first, second)
    assert (first - attention(-states, attention.project(memory, MASK))[1]).abs().max() > 0.01


@pytest.mark.parametrize("kind", ["additive", "dot"])
def test_dropped_weights_in_training_only(kind):
    """C4, H: attention dropout leaves the weights that are shown alone, and is off in use."""
    attention = attention_of(kind, 6, 6, 1, dropout_rate=0.5)
    states, memory = given_states(6, 6)
    seen = attention.project(memory)
    (train_read, train_weights), (read, weights) = attention(states, seen), attention.eval()(states, seen)
    assert torch.equal(train_weights, weights)
    assert not torch.allclose(train_read, read)
    torch.testing.assert_close(read, weights[:, 0] @ memory, **CLOSE)


def additive_inputs(rows: int = 5) -> list[Tensor]:
    """Queries, keys and v, in two heads."""
    torch.manual_seed(6)
    shapes = [(rows, 2, 3, 2), (rows, 2, 4, 2), (2, 2)]
    return [torch.randn(*shape, dtype=torch.float64, requires_grad=True) for shape in shapes]


@pytest.mark.parametrize("together", [1, 2, 4, 5])
def test_additive_in_chunks_equals_plain(monkeypatch, together):
    """C4: a few rows at a time give the scores and gradients of all at once."""
    given = additive_inputs()
    scores, calls = additive._scores, []
    expected = additive.plain_added(*given)
    above = torch.randn(expected.shape, dtype=torch.float64)
    wanted = torch.autograd.grad(expected, given, above)
    monkeypatch.setitem(additive._CHUNK, "cpu", together * 2 * 3 * 4 * 2)
    monkeypatch.setattr(additive, "_scores", lambda *parts: calls.append(len(parts[0])) or scores(*parts))
    found = additive.added(*given)
    assert calls == [together] * (5 // together) + [5 % together] * (5 % together > 0)
    torch.testing.assert_close(found, expected, **CLOSE)
    for mine, other in zip(torch.autograd.grad(found, given, above), wanted, strict=True):
        torch.testing.assert_close(mine, other, **CLOSE)


def test_additive_gradients_are_those_of_the_formula(monkeypatch):
    """C4: the gradient that is written by hand is the one that differences show."""
    monkeypatch.setitem(additive._CHUNK, "cpu", 1)
    assert torch.autograd.gradcheck(additive.added, additive_inputs(3))


def test_additive_of_nothing(monkeypatch):
    """C11: before the first step there is nothing to score, in chunks too."""
    query, keys, weigh = additive_inputs(3)
    for size in (1, 1 << 18):
        monkeypatch.setitem(additive._CHUNK, "cpu", size)
        assert additive.added(query, keys[:, :, :0], weigh).shape == (3, 2, 3, 0)


def test_the_lectures_scores_and_hard_reading():
    """F1, C10: q2 scores 1054, 852 and -396; with argmax, h2' = v1 = (23, 46)."""
    attention = ScoredAttention("factored", 2, 2, "here", learned_values=True).double()
    for layer, weight in (
        (attention.score.query, [[1, 0], [2, 9]]),
        (attention.score.key, [[0, 1], [6, 0]]),
        (attention.value, [[4, 3], [9, 1]]),
    ):
        layer.weight.data = torch.tensor(weight, dtype=torch.float64)
    states = torch.tensor([[[5, 1], [4, 3], [-2, 6]]], dtype=torch.float64)
    seen = attention.project(states)
    assert attention.score(states, seen.keys)[0, 0, 1].tolist() == [1054, 852, -396]
    read, weights = attention(states, seen, lambda address, weights, mask: harden(weights))
    assert weights[0, 0, 1].tolist() == [1, 0, 0]
    assert read[0, 1].tolist() == [23, 46]


def test_hard_attention_is_the_argmax():
    """C10: all the weight goes where most of it is, in each head; an empty row stays empty."""
    torch.manual_seed(5)
    weights = torch.randn(3, 2, 4, 5, dtype=torch.float64).softmax(-1) * MASK
    weights[0, 1, 2] = 0
    hard = harden(weights)
    for row, head, step in product(range(3), range(2), range(4)):
        soft, found = weights[row, head, step].tolist(), hard[row, head, step].tolist()
        expected = [0.0] * 5
        if sum(soft):
            expected[soft.index(max(soft))] = 1.0
        assert found == expected
    assert hard.dtype == weights.dtype


def test_before_sees_what_is_behind():
    """C11: position l sees t < l, so the first sees nothing."""
    assert masks.before(3).tolist() == [[False, False, False], [True, False, False], [True, True, False]]
