"""What must never change what an encoder-only network says, for every encoder, pooling, head and front."""

import itertools
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from seq2see.data.sides import Batch, Side
from seq2see.layers.pooling import pool
from seq2see.lens.edits import Off, Temperature
from seq2see.lens.watchers import Editor, WeightCollector, addresses_of
from seq2see.models import ModelSettings, Network, Vocabulary, make_reader
from seq2see.models.fronts.tokens import forget_tokens
from seq2see.models.heads import ClassHead, NumberHead, TagHead
from seq2see.text import STANDARD, Special

ENCODERS: dict[str, dict[str, Any]] = {
    "recurrent": {"kind": "recurrent", "cell": "gru"},
    "one way": {"kind": "recurrent", "cell": "lstm", "bidirectional": False, "hidden": 6},
    "convolution": {"kind": "convolution", "layers": 2},
    "transformer": {"kind": "transformer", "layers": 1, "heads": 2, "feedforward": 8},
    "none": {"kind": "none"},
}
FRONTS: dict[str, dict[str, Any]] = {
    "tokens": {"kind": "tokens", "token_dropout": 0.5},
    "words": {"kind": "words", "word_width": 6, "letter_width": 4, "letter_features": 3, "kernels": [2, 3]},
}
POOLINGS = ["summary", "mean", "max", "first", "last", "attention", ("attention", "max")]
HEADS = ["classes", "labels", "number", "tags"]
OTHER = Special(pad=5, begin=9, end=1, unknown=7)
"""Special symbols that stand elsewhere than in the vocabularies that this package learns."""
SIZE, CLASSES = 12, 3
EVERY = [
    *(
        (encoder, pooling, head, "tokens")
        for encoder in ENCODERS
        for pooling in POOLINGS
        for head in HEADS[:3]
    ),
    *((encoder, "mean", "tags", front) for encoder in ENCODERS for front in FRONTS),
    *((encoder, pooling, "classes", "words") for encoder in ENCODERS for pooling in POOLINGS),
]
every_reader = pytest.mark.parametrize(
    ("encoder", "pooling", "head", "front"), EVERY, ids=lambda part: str(part)
)
CLOSE = {"rtol": 1e-4, "atol": 1e-5}


def head_of(kind: str, part: ModelSettings) -> Callable[[int], Any]:
    if kind == "tags":
        return lambda width: TagHead(width, [CLASSES, 2], part.head)
    if kind == "number":
        return lambda width: NumberHead(width, 0, part.head)
    return lambda width: ClassHead(width, 0, CLASSES, part.head, several=kind == "labels")


@cache
def make(encoder: str, pooling: Any, head: str, front: str, special: Special = STANDARD) -> Network:
    values = {"width": 8, "max_length": 20, "decoder": None, "dropout": 0.2}
    values |= {"encoder": ENCODERS[encoder], "front": FRONTS[front]}
    values |= {"head": {"pooling": pooling, "heads": 2}}
    part = ModelSettings.model_validate(values)
    vocabulary = Vocabulary(SIZE, special, [3] * SIZE)
    with torch.random.fork_rng():
        torch.manual_seed(1)
        network = make_reader(part, {"source": vocabulary, "letters": vocabulary}, head_of(head, part)).eval()
        for parameter in network.parameters():
            # Also the padding's embedding gets values, so that it would be noticed.
            parameter.data += torch.randn_like(parameter) * 0.2
    return network


def sides_of(
    rows: Sequence[Sequence[int]], special: Special, more: int = 0, wide: int = 0
) -> dict[str, Side]:
    """Rows of ids; the letters of a word are made of its id. More padding than needed can be asked for."""
    longest = max(map(len, rows)) + more
    ids = torch.tensor([[*row, *[special.pad] * (longest - len(row))] for row in rows])
    mask = torch.tensor([[place < len(row) for place in range(longest)] for row in rows])
    letters = torch.full((len(rows), longest, 3 + wide), special.pad)
    for row, words in enumerate(rows):
        for place, word in enumerate(words):
            spelt = [special.begin, word, special.end][: 2 + word % 2]
            letters[row, place, : len(spelt)] = torch.tensor(spelt)
    return {"source": Side(ids, mask), "letters": Side(letters, letters != special.pad)}


def outputs(network: Network, sides: dict[str, Side], watch: Any = None) -> Tensor:
    memory = network.encode_for_head(sides, watch)
    if isinstance(network.head, TagHead):
        return torch.cat(network.head.outputs(memory, sides), -1)
    assert isinstance(network.head, ClassHead | NumberHead)
    return network.head.outputs(memory, sides, watch)


def usual(special: Special) -> st.SearchStrategy[list[int]]:
    return st.lists(
        st.sampled_from([one for one in range(SIZE) if one not in special]), min_size=1, max_size=6
    )


@every_reader
@pytest.mark.parametrize("special", [STANDARD, OTHER], ids=["standard", "other"])
@settings(max_examples=2)
@given(data=st.data())
def test_neither_padding_nor_neighbours_change_an_answer(encoder, pooling, head, front, special, data):
    """D3: a text gets the same answer alone, padded and anywhere in a batch, whatever the padding's id."""
    network = make(encoder, pooling, head, front, special)
    rows = data.draw(st.lists(usual(special), min_size=1, max_size=4))
    order = data.draw(st.permutations(range(len(rows))))
    together = outputs(network, sides_of(rows, special))
    moved = outputs(network, sides_of([rows[row] for row in order], special, data.draw(st.integers(0, 3)), 2))
    tags = head == "tags"
    for place, row in enumerate(order):
        alone = outputs(network, sides_of([rows[row]], special))[0]
        for found in (together[row], moved[place]):
            torch.testing.assert_close(found[: len(rows[row])] if tags else found, alone, **CLOSE)


@every_reader
def test_watching_changes_nothing_and_edits_do(encoder, pooling, head, front):
    """Weights that are collected sum to one over the text; edits that leave weights alone change nothing."""
    network = make(encoder, pooling, head, front)
    sides = sides_of([[4, 5, 6, 8], [10, 11]], STANDARD)
    plain = outputs(network, sides)
    collector = WeightCollector()
    torch.testing.assert_close(outputs(network, sides, collector), plain, **CLOSE)
    weights = collector.weights()
    pools = head != "tags" and "attention" in (pooling if isinstance(pooling, tuple) else [pooling])
    expected = {"encoder.0.self"} if encoder == "transformer" else set()
    assert set(weights) == set(addresses_of(network)) == expected | ({"head.pool"} if pools else set())
    mask = sides["source"].mask
    for address, found in weights.items():
        assert found.shape[1:3] == (2, 1 if address == "head.pool" else 4)
        torch.testing.assert_close(found.sum(-1), torch.ones_like(found.sum(-1)))
        assert not found.masked_fill(mask[:, None, None], 0).any()
        same = outputs(network, sides, Editor([Temperature(at=address, value=1.0)]))
        torch.testing.assert_close(same, plain, **CLOSE)
        off = outputs(network, sides, Editor([Off(at=address)]))
        assert (off - plain).abs().max() > 1e-4


@every_reader
def test_a_head_that_reads_one_state_is_given_one(encoder, pooling, head, front):
    """Only the first state of a Transformer, and only where the head reads no other; `encode` gives all."""
    network = make(encoder, pooling, head, front)
    sides = sides_of([[4, 5, 6, 8], [10, 11]], STANDARD)
    first_only = encoder == "transformer" and pooling == "first" and head != "tags"
    assert network.encode_for_head(sides).states.shape[1] == (1 if first_only else 4)
    assert network.encode(sides).states.shape[1] == 4


@every_reader
def test_every_token_matters_to_somebody(encoder, pooling, head, front):
    """The same comparison sees a difference where there should be one: another last token, another answer."""
    network = make(encoder, pooling, head, front)
    first, second = (outputs(network, sides_of([[4, 6, last]], STANDARD)) for last in (8, 11))
    # The first state sees nothing of what follows where nothing reads from the right.
    blind = pooling == "first" and encoder in ("none", "one way") and head != "tags"
    assert ((first - second).abs().max() < 1e-6) == blind


@pytest.mark.parametrize("head", HEADS)
@pytest.mark.parametrize("members", [1, 3])
def test_loss_is_a_sum_over_the_batch(head, members):
    """Two texts together cost what they cost alone; members of a head answer together."""
    part = ModelSettings.model_validate(
        {"width": 8, "decoder": None, "dropout": 0, "encoder": {"kind": "none"}, "head": {"members": members}}
    )
    torch.manual_seed(0)
    network = make_reader(part, {"source": Vocabulary(SIZE, STANDARD)}, head_of(head, part)).eval()
    rows = [[4, 5], [6, 7]]
    target = {
        "classes": Side(torch.tensor([0, 2])),
        "labels": Side(torch.tensor([[1.0, 0, 1], [0, 0, 0]])),
        "number": Side(torch.tensor([0.5, -1.0])),
        "tags": Side(
            torch.tensor([[[0, 1], [2, 0]], [[1, 1], [0, 0]]]), torch.ones(2, 2, 2, dtype=torch.bool)
        ),
    }[head]

    def loss(chosen: slice) -> Any:
        sides = sides_of(rows[chosen], STANDARD)
        mask = target.mask[chosen] if target.mask is not None else None
        batch = Batch({**sides, "target": Side(target.values[chosen], mask)}, np.arange(2)[chosen])
        return network(batch)

    both, parts = loss(slice(0, 2)), [loss(slice(0, 1)), loss(slice(1, 2))]
    torch.testing.assert_close(both.total, sum(one.total for one in parts))
    assert int(both.count) == sum(int(one.count) for one in parts) == (8 if head == "tags" else 2)


@pytest.mark.parametrize("special", [STANDARD, OTHER], ids=["standard", "other"])
def test_only_real_tokens_are_forgotten(special):
    """Token dropout replaces tokens by the unknown one, and no special symbol, whatever their ids."""
    ids = torch.arange(SIZE)
    kept = forget_tokens(ids, 0.0, special)
    lost = forget_tokens(ids, 1.0, special)
    assert kept.equal(ids)
    expected = [id_ if id_ in special else special.unknown for id_ in range(SIZE)]
    assert lost.tolist() == expected


def test_poolings_are_what_they_say():
    states = torch.tensor([[[1.0, 5.0], [3.0, -1.0], [99.0, 99.0]]])
    mask, summary = torch.tensor([[True, True, False]]), torch.tensor([[7.0, 7.0]])
    wanted = {"summary": [7, 7], "mean": [2, 2], "max": [3, 5], "first": [1, 5], "last": [3, -1]}
    for kind, values in wanted.items():
        assert pool(kind, states, mask, summary).tolist() == [values], kind


def test_members_have_addresses_of_their_own():
    part = ModelSettings.model_validate(
        {
            "width": 8,
            "decoder": None,
            "head": {"pooling": "attention", "members": 2},
            "encoder": {"kind": "none"},
        }
    )
    network = make_reader(part, {"source": Vocabulary(SIZE, STANDARD)}, head_of("classes", part)).eval()
    collector = WeightCollector()
    outputs(network, sides_of([[4, 5]], STANDARD), collector)
    assert {at: tuple(found.shape) for at, found in collector.weights().items()} == {
        f"head.{member}.pool": (1, 1, 1, 2) for member in range(2)
    }


def test_every_combination_is_here():
    assert len(EVERY) == len({str(one) for one in EVERY})
    assert {head for _, _, head, _ in EVERY} == set(HEADS)
    assert set(itertools.product(ENCODERS, FRONTS)) == {(encoder, front) for encoder, _, _, front in EVERY}
