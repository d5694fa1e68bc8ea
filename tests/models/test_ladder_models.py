"""What must hold of every encoder with every decoder."""

import pytest
import torch
from combinations import COMBINATIONS, folds, model, writes
from networks import make_network
from torch import Tensor

from seq2see.layers import additive
from seq2see.layers.losses import cross_entropy
from seq2see.lens.teacher_forcing import weights_and_logits
from seq2see.models import EncoderDecoder, ModelSettings
from seq2see.text import BEGIN, END, PAD

CLOSE = {"rtol": 1e-4, "atol": 2e-5}
SOURCE = torch.tensor([[4, 5, 6, 7, 8, 9, 10, END], [9, 10, END, *[PAD] * 5], [8, END, *[PAD] * 6]])
INPUTS = torch.tensor([[BEGIN, 4, 5, 6, 7, 8], [BEGIN, 8, 8, 4, 4, 5], [BEGIN, 7, 4, 8, 5, 6]])
COPIES = [PAD, PAD, END, PAD, 4, 5, 6, 7, PAD, PAD, PAD]
every_combination = pytest.mark.parametrize("name", COMBINATIONS)
looking = pytest.mark.parametrize(
    "name", [name for name, made in COMBINATIONS.items() if made["decoder"].get("attention") != "none"]
)
recurrent = [name for name, made in COMBINATIONS.items() if made["decoder"]["kind"] == "recurrent"]


@pytest.fixture
def network(make_model, name):
    """The model of a combination, in which nothing is zero."""
    return make_model(**COMBINATIONS[name])


@torch.inference_mode()
def stepwise(network: EncoderDecoder, source: Tensor, inputs: Tensor, watch=None) -> Tensor:
    """Logits of each position, one step after another."""
    state = network.begin(network.encode_ids(source, watch))
    found = []
    for tokens in inputs.T:
        logits, state = network.step(tokens, state, watch)
        found.append(logits)
    return torch.stack(found, 1)


@every_combination
def test_padding_never_changes_a_result(network, name):
    """A1, D3: rows of any length stand in one batch, and each has what it has alone."""
    memory, logits = network.encode_ids(SOURCE), network.logits(SOURCE, INPUTS)
    for row, source in enumerate(SOURCE):
        alone = source[source != PAD][None]
        encoded = network.encode_ids(alone)
        torch.testing.assert_close(memory.states[row : row + 1, : alone.shape[1]], encoded.states, **CLOSE)
        torch.testing.assert_close(memory.summary[row : row + 1], encoded.summary, **CLOSE)
        torch.testing.assert_close(
            logits[row : row + 1], network.logits(alone, INPUTS[row : row + 1]), **CLOSE
        )
    filled = torch.cat([INPUTS, torch.full((3, 2), PAD)], 1)
    torch.testing.assert_close(network.logits(SOURCE, filled)[:, :6], logits, **CLOSE)


@every_combination
def test_the_order_of_the_batch_is_irrelevant(network, name):
    """A1, D3: each sentence gets the same wherever it stands."""
    order = [2, 0, 1]
    torch.testing.assert_close(
        network.logits(SOURCE[order], INPUTS[order]), network.logits(SOURCE, INPUTS)[order], **CLOSE
    )


@every_combination
def test_the_future_never_changes_the_past(network, name):
    """D3, C11: logits up to a position depend on no later token, and those after it do."""
    plain = network.logits(SOURCE, INPUTS)
    changed = INPUTS.clone()
    changed[:, 3] = torch.tensor([8, 6, 5])
    different = (network.logits(SOURCE, changed) - plain).abs().amax(-1)
    assert different[:, :3].max() < 1e-5
    assert different[:, 3:].min() > 1e-5


@every_combination
def test_all_of_the_source_matters(network, name):
    """A1, A5: whichever token of the source is changed, the first step already says something else."""
    plain = network.logits(SOURCE[:1], INPUTS[:1, :1])
    for place in range(7):
        changed = SOURCE[:1].clone()
        changed[0, place] = 4 if changed[0, place] != 4 else 9
        assert (network.logits(changed, INPUTS[:1, :1]) - plain).abs().max() > 1e-6, place


@every_combination
def test_stepped_equals_all_at_once(network, name):
    """D9, C11: one step after another gives the logits of one pass."""
    torch.testing.assert_close(stepwise(network, SOURCE, INPUTS), network.logits(SOURCE, INPUTS), **CLOSE)


@every_combination
def test_selected_rows_go_on_as_themselves(network, name):
    """D9: after rows are dropped, repeated and reordered, each goes on with its own source and past."""
    rows, later = torch.tensor([2, 0, 0, 2]), torch.tensor([[4, 5], [6, 7], [8, 4], [5, 5]])
    with torch.inference_mode():
        state = network.begin(network.encode_ids(SOURCE))
        for tokens in INPUTS[:, :3].T:
            _, state = network.step(tokens, state)
        state, found = state.keep(rows), []
        for tokens in later.T:
            logits, state = network.step(tokens, state)
            found.append(logits)
    expected = network.logits(SOURCE[rows], torch.cat([INPUTS[rows, :3], later], 1))[:, 3:]
    torch.testing.assert_close(torch.stack(found, 1), expected, **CLOSE)


@every_combination
def test_one_memory_serves_many_decodings(network, name):
    """D10: rows selected from a memory are those that would have been encoded."""
    rows = torch.tensor([1, 1, 0])
    memory = network.encode_ids(SOURCE).select(rows)
    written = network.head.logits(network.decoder(INPUTS, memory), memory.tokens)
    torch.testing.assert_close(written, network.logits(SOURCE[rows], INPUTS), **CLOSE)


@every_combination
def test_every_weight_has_a_part(name):
    """A1, C1-C9, C11: each weight gets a gradient, and the output changes with it."""
    torch.manual_seed(3)
    network = make_network(ModelSettings.model_validate({"width": 16} | COMBINATIONS[name]), 11, 9, COPIES)
    network.eval()
    for parameter in network.parameters():
        parameter.data += torch.randn_like(parameter) * 0.1
    logits = network.logits(SOURCE, INPUTS)
    torch.nn.functional.cross_entropy(logits.flatten(0, 1), INPUTS.roll(-1, 1).flatten()).backward()
    for place, parameter in network.named_parameters():
        rectified = "relu" in name or "feedforward" in place
        alive = parameter.grad.ne(0).float().mean()
        assert alive > (0.3 if rectified or "embed" in place else 0.9), (place, alive)
        with torch.no_grad():
            before = parameter.clone()
            parameter += torch.randn_like(parameter) * 0.5
            assert (network.logits(SOURCE, INPUTS) - logits).abs().max() > 1e-5, place
            parameter.copy_(before)


@every_combination
def test_dropout_acts_in_training_only(name):
    """H: in training two passes differ on either side, in use they do not."""
    made = {"width": 16, "dropout": 0.4, "attention_dropout": 0.2} | COMBINATIONS[name]
    network = make_network(ModelSettings.model_validate(made), 11, 9)
    network.train()
    first, second = network.encode_ids(SOURCE), network.encode_ids(SOURCE)
    assert not torch.allclose(first.states, second.states)
    assert not torch.allclose(first.summary, second.summary)
    assert not torch.allclose(
        network.decoder(INPUTS, first).states[:, 0], network.decoder(INPUTS, first).states[:, 0]
    )
    network.eval()
    assert torch.equal(network.logits(SOURCE, INPUTS), network.logits(SOURCE, INPUTS))


def test_attention_dropout_reaches_either_attention():
    """C4, C11: attention dropout alone makes training random, on the source and on the own past."""
    for kind, self_attention in (("additive", "none"), ("none", "additive")):
        made = model(COMBINATIONS["tanh"]["encoder"], writes(kind, self_attention=self_attention))
        made |= {"width": 16, "dropout": 0.0, "attention_dropout": 0.5}
        network = make_network(ModelSettings.model_validate(made), 11, 9).train()
        assert not torch.allclose(network.logits(SOURCE, INPUTS), network.logits(SOURCE, INPUTS))


def addresses(name: str) -> set[str]:
    """Where a recurrent decoder looks."""
    part = COMBINATIONS[name]["decoder"]
    kinds = {"decoder.cross": part["attention"], "decoder.self": part.get("self_attention", "none")}
    return {address for address, kind in kinds.items() if kind != "none"}


@pytest.mark.parametrize("name", recurrent)
def test_weights_are_seen_by_address(network, name):
    """C1-C8, C11, D2: weights come per head, sum to one over the tokens, and steps show the same."""
    found = weights_and_logits(network, SOURCE, INPUTS)[0]
    heads = COMBINATIONS[name]["decoder"].get("heads", 1)
    assert {address for address in found if address.startswith("decoder")} == addresses(name)
    seen: dict[str, list[Tensor]] = {}

    def watch(address, weights, mask):
        seen.setdefault(address, []).append(weights)
        return weights

    weights = network.decoder(INPUTS, network.encode_ids(SOURCE)).cross_weights
    assert (weights is None) == ("decoder.cross" not in found)
    if weights is not None:
        torch.testing.assert_close(weights, found["decoder.cross"].mean(1), **CLOSE)
    watched = stepwise(network, SOURCE, INPUTS, watch)
    torch.testing.assert_close(watched, network.logits(SOURCE, INPUTS), **CLOSE)
    for address in addresses(name):
        weights, own = found[address], address == "decoder.self"
        assert weights.shape == (3, heads, 6, 6 if own else 8)
        visible = torch.ones(6, 6).tril(-1).bool() if own else (SOURCE != PAD)[:, None, None]
        assert torch.all(weights[~visible.expand_as(weights)] == 0)
        torch.testing.assert_close(weights.sum(-1), visible.any(-1).float().expand(3, heads, 6))
        assert len(seen[address]) == 6
        for step, row in enumerate(seen[address]):
            torch.testing.assert_close(row[:, :, 0], weights[:, :, step, : row.shape[-1]], **CLOSE)


@pytest.mark.parametrize(
    ("name", "address"), [(name, address) for name in recurrent for address in sorted(addresses(name))]
)
def test_changed_weights_change_the_output(network, name, address):
    """C10, C11: what a watcher gives back is what the model reads with."""

    def to_the_first(place, weights, mask):
        changed = torch.zeros_like(weights)
        changed[..., 0] = 1
        return changed if place == address else weights

    plain = network.logits(SOURCE, INPUTS)
    # The second step has one place of its own past to look at: nothing else can be looked at there.
    assert (network.logits(SOURCE, INPUTS, to_the_first) - plain)[0, 2:].abs().amax(-1).min() > 1e-4


@pytest.mark.parametrize("fed", [False, True])
def test_the_own_past_is_read_as_the_formula_says(make_model, fed):
    """C11: a_t is the sum over j < t of alpha h_j, and the first step reads zeros."""
    decoder = writes("dot", self_attention="general", input_feeding=fed)
    network = make_model(**model(COMBINATIONS["gru"]["encoder"], decoder))
    joined: list[Tensor] = []
    handle = network.decoder.combine.register_forward_hook(lambda _, given, __: joined.append(given[0]))
    with handle:
        network.logits(SOURCE, INPUTS)
    states, own, _ = torch.cat(joined, 1).split(16, -1)
    between = network.decoder.own.score.between[0]
    assert torch.all(own[:, 0] == 0)
    for row in range(3):
        for t in range(1, 6):
            scores = torch.stack([states[row, t] @ between @ states[row, j] for j in range(t)])
            expected = sum(a * states[row, j] for j, a in enumerate(scores.softmax(0)))
            torch.testing.assert_close(own[row, t], expected, **CLOSE)


@pytest.mark.parametrize("output", ["linear", "luong"])
@pytest.mark.parametrize("fed", [False, True])
def test_outputs_and_feeding_are_the_formulas(make_model, output, fed):
    """C4, C9: y = f(s, a), with Luong h~ = tanh(W_f [s; a] + b); a, or h~, goes to the next step's input."""
    decoder = writes("additive", "tanh", output=output, input_feeding=fed, hidden=12)
    network = make_model(**model({"kind": "recurrent", "hidden": 24}, decoder))
    own, memory = network.decoder, network.encode_ids(SOURCE)
    with torch.inference_mode():
        found = own(INPUTS, memory)
        state = torch.tanh(own.bridge(memory.summary))
        extra = torch.zeros(3, 0 if not fed else 16 if output == "luong" else 24)
        weights = own.layers[0].weights
        for step, tokens in enumerate(INPUTS.T):
            inputs = torch.cat([own.embed(tokens) * 4, extra], -1)  # 4 is the root of the width
            state = torch.tanh(
                inputs @ weights.weight_ih_l0.T
                + weights.bias_ih_l0
                + state @ weights.weight_hh_l0.T
                + weights.bias_hh_l0
            )
            score = own.cross.score
            inner = torch.tanh(score.key(memory.states) + score.query(state)[:, None])
            scores = (inner @ score.weigh[0]).masked_fill(SOURCE == PAD, -float("inf"))
            context = (scores.softmax(-1)[..., None] * memory.states).sum(1)
            written = torch.cat([state, context], -1) @ own.combine.weight.T + own.combine.bias
            written = torch.tanh(written) if output == "luong" else written
            torch.testing.assert_close(found.states[:, step], written, **CLOSE)
            torch.testing.assert_close(found.cross_weights[:, step], scores.softmax(-1), **CLOSE)
            if fed:
                extra = written if output == "luong" else context


@pytest.mark.parametrize("cell", ["tanh", "lstm"])
def test_the_bottleneck_is_the_last_state(make_model, cell):
    """A5: without attention, sources of one summary are told apart by nothing else."""
    network = make_model(**model({"kind": "recurrent", "cell": cell}, writes("none", cell)))
    memory = network.encode_ids(SOURCE[:1])
    other = network.encode_ids(SOURCE[1:2])
    plain = network.decoder(INPUTS[:1], memory).states
    blank = type(memory)(torch.zeros_like(memory.states), memory.mask, memory.summary)
    assert torch.equal(network.decoder(INPUTS[:1], blank).states, plain)
    assert not torch.allclose(network.decoder(INPUTS[:1], other).states, plain)


@pytest.mark.parametrize(
    ("layers", "kernel", "residual"), [(1, 3, True), (3, 3, True), (2, 5, False), (1, 1, True)]
)
def test_a_convolution_sees_its_neighbours_only(make_model, layers, kernel, residual):
    """E4: layers * (kernel - 1) / 2 places to either side, and not one more."""
    encoder = folds(layers=layers, kernel=kernel, residual=residual)
    network = make_model(**model(encoder, writes(), max_length=16))
    source = torch.tensor([[4, 5, 6, 7, 8, 9, 10, 4, 5, 6, 7, 8, END]])
    changed = source.clone()
    changed[0, 6] = 4
    moved = (network.encode_ids(source).states - network.encode_ids(changed).states)[0].abs().amax(-1) > 1e-6
    reach = layers * (kernel - 1) // 2
    assert moved.tolist() == [abs(place - 6) <= reach for place in range(13)]


@pytest.mark.parametrize("bidirectional", [False, True])
def test_a_recurrent_reader_sees_all_that_came_before(make_model, bidirectional):
    """A1, E4: one way, a place sees what stands before it; both ways, everything."""
    network = make_model(**model({"kind": "recurrent", "bidirectional": bidirectional}, writes()))
    changed = SOURCE[:1].clone()
    changed[0, 3] = 10
    moved = (network.encode_ids(SOURCE[:1]).states - network.encode_ids(changed).states)[0].abs() > 1e-7
    assert moved.any(-1).tolist() == [bidirectional or place >= 3 for place in range(8)]
    if bidirectional:
        assert moved[:, :8].any(-1).tolist() == [place >= 3 for place in range(8)]
        assert moved[:, 8:].any(-1).tolist() == [place <= 3 for place in range(8)]


@pytest.mark.parametrize("name", recurrent)
def test_a_source_of_padding_alone_stays_finite(network, name):
    """D3: a source with nothing to see gives no NaN."""
    assert network.logits(torch.full((1, 3), PAD), INPUTS[:1]).isfinite().all()


@every_combination
def test_half_precision_trains_and_steps(monkeypatch, name):
    """H: under bfloat16 the losses and gradients are finite, and steps stay near one pass."""
    monkeypatch.setitem(additive._CHUNK, "cpu", 1)
    torch.manual_seed(5)
    network = make_network(ModelSettings.model_validate({"width": 16} | COMBINATIONS[name]), 11, 9, COPIES)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = cross_entropy(network.logits(SOURCE, INPUTS), INPUTS, PAD)
    loss.backward()
    assert all(parameter.grad.isfinite().all() for parameter in network.parameters())
    network.eval()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        steps, whole = stepwise(network, SOURCE, INPUTS), network.logits(SOURCE, INPUTS)
    torch.testing.assert_close(steps.float(), whole.float(), rtol=0.1, atol=0.1)


@pytest.mark.parametrize("name", ["pointer", "pointer fed in heads", "pointing transformer"])
def test_a_shut_gate_copies_what_can_be_copied(make_model, name):
    """H: with the gate shut, only tokens of the source that the target has too can come out."""
    network = make_model(seed=9, **COMBINATIONS[name])
    network.head.pointer.gate.bias.data.fill_(-100)
    network.head.pointer.gate.weight.data.zero_()
    chances = network.logits(SOURCE, INPUTS).softmax(-1)
    for row, wanted in enumerate(({4, 5, 6, 7, END}, {END}, {END})):
        assert {token for token in range(9) if chances[row, :, token].max() > 1e-6} == wanted


def test_what_the_encoder_gives_is_dropped_too():
    """H: in training the states and the summary themselves have holes, for any number of layers."""
    for layers in (1, 2):
        made = model({"kind": "recurrent", "layers": layers}, writes(), width=16, dropout=0.4)
        memory = make_network(ModelSettings.model_validate(made), 11, 9).train().encode_ids(SOURCE[:1])
        assert memory.states.eq(0).any()
        assert memory.summary.eq(0).any()


@pytest.mark.parametrize(
    ("plain", "option"),
    [
        (writes("nonlinear"), {"activation": "relu"}),
        (writes("nonlinear", self_attention="nonlinear"), {"activation": "relu"}),
        (writes("additive"), {"learned_values": True}),
        (writes("additive"), {"output": "luong"}),
        (writes("additive"), {"heads": 2}),
        (writes("none", self_attention="dot"), {"heads": 2}),
        (writes("additive"), {"input_feeding": True}),
        (writes("additive"), {"self_attention": "dot"}),
    ],
)
def test_every_option_makes_a_difference(plain, option):
    """C3, C8, C9, C11, D2: of two models that differ in one option, the outputs differ too."""
    found = []
    for decoder in (plain, plain | option):
        made = model({"kind": "recurrent"}, decoder, width=16)
        network = make_network(ModelSettings.model_validate(made), 11, 9).eval()
        for name, parameter in network.named_parameters():
            torch.manual_seed(len(name))
            parameter.data.normal_(std=0.5)
        found.append(network.logits(SOURCE, INPUTS))
    assert (found[0] - found[1]).abs().max() > 1e-3
