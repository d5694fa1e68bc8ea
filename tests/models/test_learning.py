"""Every part of the ladder learns: a small copying task, until it is solved."""

import pytest
import torch
from networks import make_network, pad

from seq2see.decoding import DecodingSettings, search
from seq2see.layers.losses import cross_entropy
from seq2see.models import EncoderDecoder, ModelSettings
from seq2see.text import BEGIN, END, PAD

LETTERS = range(4, 10)
LSTM = {"kind": "recurrent", "cell": "lstm"}
SCORES = ("dot", "scaled-dot", "general", "factored", "nonlinear", "additive", "concat", "location", "none")
TRANSFORMER = {"kind": "transformer", "layers": 1, "heads": 2, "feedforward": 64}
ADDITIVE = LSTM | {"attention": "additive"}
LEARNERS = {
    **{f"{kind} (C1-C7)": {"decoder": LSTM | {"attention": kind}} for kind in SCORES},
    "nonlinear with relu (C3)": {"decoder": LSTM | {"attention": "nonlinear", "activation": "relu"}},
    "different widths (C4)": {"encoder": LSTM | {"hidden": 24}, "decoder": ADDITIVE | {"hidden": 40}},
    "two heads (D2)": {"decoder": ADDITIVE | {"heads": 2}},
    "learned values (C8)": {"decoder": LSTM | {"attention": "general", "learned_values": True}},
    "luong (C9)": {"decoder": LSTM | {"attention": "general", "output": "luong", "input_feeding": True}},
    "input feeding": {"decoder": ADDITIVE | {"input_feeding": True}},
    "self-attention (C11)": {"decoder": ADDITIVE | {"self_attention": "scaled-dot"}},
    "pointer": {"decoder": ADDITIVE, "pointer": True},
    "gru (A1)": {"encoder": LSTM | {"cell": "gru"}, "decoder": ADDITIVE | {"cell": "gru"}},
    "tanh (A1)": {"encoder": LSTM | {"cell": "tanh"}, "decoder": ADDITIVE | {"cell": "tanh"}},
    "relu (A1)": {"encoder": LSTM | {"cell": "relu"}, "decoder": ADDITIVE | {"cell": "relu"}},
    "two layers one way (A1)": {
        "encoder": LSTM | {"layers": 2, "bidirectional": False},
        "decoder": ADDITIVE | {"layers": 2},
    },
    "convolution (E4)": {"encoder": {"kind": "convolution", "layers": 2}, "decoder": ADDITIVE},
    "convolution without residuals (E4)": {
        "encoder": {"kind": "convolution", "layers": 2, "residual": False, "positions": "none"},
        "decoder": ADDITIVE,
    },
    "hybrid": {"encoder": TRANSFORMER, "decoder": ADDITIVE | {"heads": 2}},
    "recurrent reader, transformer writer": {"encoder": LSTM, "decoder": TRANSFORMER},
    "pointing transformer": {"encoder": TRANSFORMER, "decoder": TRANSFORMER, "pointer": True},
}


def strings(generator: torch.Generator, count: int) -> list[list[int]]:
    """Two to four random letters."""
    lengths = torch.randint(2, 5, (count,), generator=generator).tolist()
    return [
        torch.randint(LETTERS.start, LETTERS.stop, (length,), generator=generator).tolist()
        for length in lengths
    ]


def solved(model: EncoderDecoder, generator: torch.Generator) -> float:
    """The share of fresh strings that come back whole."""
    rows = strings(generator, 200)
    model.eval()
    with torch.inference_mode():
        memory = model.encode_ids(pad([[*row, END] for row in rows]))
    found = search(model, memory, [6] * len(rows), DecodingSettings(beam=1))
    model.train()
    return sum(list(best[0].ids) == row for best, row in zip(found, rows, strict=True)) / len(rows)


@pytest.mark.parametrize("name", LEARNERS)
def test_copying_is_learnt(name):
    """A1, A5, C1-C9, C11, E4: each kind of model solves the task, and its loss falls on the way.

    A recurrent decoder that looks at the source starts without the summary, so that only its attention
    can have brought the letters over.
    """
    torch.manual_seed(1)
    generator = torch.Generator().manual_seed(2)
    settings = {"width": 32, "dropout": 0.0, "max_length": 6, "encoder": LSTM} | LEARNERS[name]
    copies = [place if place in (END, *LETTERS) else PAD for place in range(LETTERS.stop)]
    model = make_network(ModelSettings.model_validate(settings), LETTERS.stop, LETTERS.stop, copies)
    if getattr(model.decoder, "cross", None) is not None:
        model.decoder.bridge.requires_grad_(False).weight.zero_()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2, fused=True)
    slower = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 / (1 + step / 150))
    losses = []
    for step in range(1, 801):
        rows = strings(generator, 32)
        batch = pad([[*row, END] for row in rows], before=BEGIN)
        logits = model.logits(pad([[*row, END] for row in rows]), batch[:, :-1])
        loss = cross_entropy(logits, batch[:, 1:], PAD) / batch[:, 1:].ne(PAD).sum()
        losses.append(loss.item())
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        slower.step()
        if step % 25 == 0 and solved(model, generator) >= 0.99:
            break
    assert solved(model, generator) >= 0.95, losses[::25]
    assert losses[-1] < 0.3 * losses[0]
