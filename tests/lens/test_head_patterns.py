"""Heads that are built by hand to look at known places are found by the summaries."""

from typing import Any

import pytest
import torch
from torch import Tensor

from seq2see import train
from seq2see.data import Pair
from seq2see.lab.head_patterns import find_patterns
from seq2see.lens.summaries import mass, patterns
from seq2see.text import BEGIN, END

HEADS = ("previous", "next", "special", "same")
TEXT = "b a b c a c"
ROOM = 32
"""Features for tokens, and as many for positions; a head has as many of both."""
SETTINGS = (f"model.width={2 * ROOM * len(HEADS)}", "model.front.scale=false", "data.max_length=24")
PART = ("layers=1", f"heads={len(HEADS)}", "feedforward=8", "positions=learned", "norm=before")
FAMILIES = {
    "fill": ("filler-tiny", ["encoder"], ["text.source.kind=words", "data.documents=line"]),
    "complete": ("gpt-tiny", ["decoder"], ["text.begins=true"]),
    "generate": (
        "transformer-tiny",
        ["encoder", "decoder"],
        ["text.source.kind=words", "text.target.kind=words"],
    ),
}


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A model of each family, whose self-attention is built by hand."""
    folder, found = tmp_path_factory.mktemp("patterns"), {}
    for goal, (preset, parts, settings) in FAMILIES.items():
        data = folder / f"{goal}.{'tsv' if goal == 'generate' else 'txt'}"
        data.write_text(("\t".join([TEXT] * len(parts)) + "\n") * 30)
        found[goal] = train(
            data,
            dev=data,
            out=folder / goal,
            goal=goal,
            preset=preset,
            settings=[*SETTINGS, *settings, *(f"model.{part}.{one}" for part in parts for one in PART)],
            max_steps=1,
            device="cpu",
        )
        for part in parts:
            build_heads(found[goal].network, part)
    return found


@torch.no_grad()
def build_heads(network: Any, part: str) -> None:
    """Let tokens and positions be single features, and each head look at its pattern."""
    embeds = network.front if part == "encoder" else network.decoder
    attention = next(one for one in network.modules() if getattr(one, "address", "") == f"{part}.0.self")
    identity = torch.eye(embeds.embed.weight.shape[1])
    embeds.embed.weight.copy_(identity[: len(embeds.embed.weight)])
    table = embeds.positions.table[:ROOM]
    table.copy_(identity[ROOM:][: len(table)])
    for linear in (attention.query, attention.key):
        linear.weight.zero_()
        linear.bias.zero_()
    queries, keys = (
        linear.weight.view(len(HEADS), 2 * ROOM, -1) for linear in (attention.query, attention.key)
    )
    strong, places, tokens = 3.0, torch.arange(ROOM), torch.arange(ROOM)
    for head, offset in ((0, -1), (1, 1)):
        asking = places[max(0, -offset) : ROOM - max(0, offset)]
        queries[head, asking + offset, ROOM + asking] = strong
        keys[head, places, ROOM + places] = strong
    attention.query.bias.view(len(HEADS), -1)[2, 0] = 10 * strong
    keys[2, 0, [BEGIN, END]] = strong
    queries[3, tokens, tokens] = keys[3, tokens, tokens] = strong
    queries[3, ROOM + places, ROOM + places] = strong
    keys[3, ROOM + places, ROOM + places] = -strong


@pytest.mark.parametrize(
    ("goal", "address"),
    [
        ("fill", "encoder.0.self"),
        ("complete", "decoder.0.self"),
        ("generate", "encoder.0.self"),
        ("generate", "decoder.0.self"),
    ],
)
def test_each_head_is_found_by_its_pattern(models: dict[str, Any], goal: str, address: str) -> None:
    options = {"generate": {"target": TEXT}, "complete": {"max_length": 1}}
    view = models[goal].attention(TEXT, **options.get(goal, {}))
    found = view.summaries(address)
    for head, name in enumerate(HEADS):
        if address.startswith("decoder") and name == "next":
            assert name not in found[head]  # nothing after a token can be looked at
            continue
        assert found[head][name] > 0.99, (name, found[head])
        others = [values[name] for place, values in enumerate(found) if place != head]
        assert max(others) < 0.7, (name, others)
    if goal == "generate":
        assert "previous" not in view.summaries("decoder.0.cross")[0]
        words = view.in_words()
        assert "previous" in words.summaries("encoder.0.self")[0]
        assert "previous" not in words.summaries("decoder.0.self")[0]


def test_patterns_by_hand() -> None:
    """Rows without a place that is meant do not count; symbols are not the same token."""
    tokens, special = ["<begin>", "a", "b", "a", "<begin>"], [True, False, False, False, True]
    weights = torch.full((1, 5, 5), 0.2)
    weights[0, 3] = torch.tensor([0.1, 0.6, 0.1, 0.1, 0.1])

    def scores(ahead: bool) -> dict[str, Tensor]:
        return {name: mass(weights, meant) for name, meant in patterns(tokens, special, ahead).items()}

    found = scores(True)
    assert found["same"].item() == pytest.approx((0.2 + 0.6) / 2)
    assert found["previous"].item() == pytest.approx((3 * 0.2 + 0.1) / 4)
    assert found["special"].item() == pytest.approx((4 * 0.4 + 0.2) / 5)
    back = scores(False)
    assert back["same"].item() == pytest.approx(0.6)
    assert not patterns(tokens, special, False)["next"].any()


def test_many_texts_are_averaged(models: dict[str, Any]) -> None:
    model = models["fill"]
    texts = [TEXT, "a b c"]
    found = find_patterns(model, [Pair(line, "", text, "") for line, text in enumerate(texts, 1)])
    alone = [model.attention(text).summaries("encoder.0.self")[2] for text in texts]
    mean = found.heads["encoder.0.self"][2]
    assert found.texts == 2
    assert mean["special"] == pytest.approx((alone[0]["special"] + alone[1]["special"]) / 2)
    assert mean["same"] == alone[0]["same"] and "same" not in alone[1]
    assert found.even["encoder.0.self"]["special"] == pytest.approx((2 / 8 + 2 / 5) / 2)
    assert [found.strongest(name)[0][1] for name in HEADS] == [0, 1, 2, 3]
