"""Recurrent layers against PyTorch's own and against the formulas written out."""

import pytest
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from seq2see.layers.recurrence import RecurrentLayer, RecurrentReader

CELLS = ("tanh", "relu", "gru", "lstm")
THEIRS = {"tanh": nn.RNN, "relu": nn.RNN, "gru": nn.GRU, "lstm": nn.LSTM}
CLOSE = {"rtol": 1e-9, "atol": 1e-10}
every_cell = pytest.mark.parametrize("cell", CELLS)


def torch_layer(cell: str, inputs: int, width: int, **options) -> nn.RNNBase:
    """PyTorch's layer of the same kind."""
    if THEIRS[cell] is nn.RNN:
        options["nonlinearity"] = cell
    return THEIRS[cell](inputs, width, batch_first=True, **options).double()


def layer_of(cell: str, inputs: int = 5, width: int = 4, seed: int = 1) -> RecurrentLayer:
    """A layer in which nothing is zero."""
    torch.manual_seed(seed)
    layer = RecurrentLayer(cell, inputs, width).double()
    for parameter in layer.parameters():
        parameter.data.normal_(std=0.6)
    return layer


def states_of(layer: RecurrentLayer, rows: int = 3) -> Tensor:
    """Random states to start from."""
    return torch.randn(rows, layer.parts, layer.width, dtype=torch.float64)


def stepped(layer: RecurrentLayer, inputs: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
    """Outputs of all steps, one after another, and the last state."""
    outputs = []
    for here in inputs.unbind(1):
        output, state = layer.step(here, state)
        outputs.append(output)
    return torch.stack(outputs, 1), state


def weigh(outputs: Tensor) -> Tensor:
    """Something that weighs every output differently."""
    return (outputs * torch.linspace(-1, 1, outputs.numel(), dtype=outputs.dtype).view_as(outputs)).sum()


@every_cell
def test_fused_and_stepped_equal_torch(cell):
    """A1: values and gradients, of inputs, states and weights, of both ways are those of torch.nn."""
    layer, theirs = layer_of(cell), torch_layer(cell, 5, 4)
    theirs.load_state_dict(layer.weights.state_dict())
    inputs, start = torch.randn(3, 6, 5, dtype=torch.float64), states_of(layer)

    def run(way, weights):
        given = inputs.clone().requires_grad_(), start.clone().requires_grad_()
        outputs = way(*given)
        found = torch.autograd.grad(weigh(outputs), [*given, *weights])
        return [outputs, *found]

    def reference(x, state):
        parts = tuple(part.unsqueeze(0).contiguous() for part in state.unbind(1))
        return theirs(x, parts if cell == "lstm" else parts[0])[0]

    names = ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0")
    own = [getattr(layer.weights, name) for name in names]
    expected = run(reference, [getattr(theirs, name) for name in names])
    for way in (layer, lambda *given: stepped(layer, *given)[0]):
        for mine, other in zip(run(way, own), expected, strict=True):
            torch.testing.assert_close(mine, other, **CLOSE)


@every_cell
def test_the_state_carries_all_that_goes_on(cell):
    """A1: a sequence read in two parts is read as in one."""
    layer = layer_of(cell)
    inputs, start = torch.randn(3, 6, 5, dtype=torch.float64), states_of(layer)
    first, between = stepped(layer, inputs[:, :2], start)
    assert between.shape == start.shape == (3, 2 if cell == "lstm" else 1, 4)
    assert torch.equal(between[:, 0], first[:, -1])
    torch.testing.assert_close(layer(inputs[:, 2:], between), layer(inputs, start)[:, 2:], **CLOSE)


@pytest.mark.parametrize(("cell", "act"), [("tanh", torch.tanh), ("relu", lambda x: x.clamp(min=0))])
def test_vanilla_cells_are_the_lectures_formula(cell, act):
    """A1: h_t = act(W [h_(t-1); x_t] + b), from a state of zeros."""
    layer = layer_of(cell)
    own = layer.weights
    weight = torch.cat([own.weight_hh_l0, own.weight_ih_l0], 1)
    bias = own.bias_hh_l0 + own.bias_ih_l0
    inputs = torch.randn(3, 6, 5, dtype=torch.float64)
    start = layer.start(inputs)
    assert start.eq(0).all()
    outputs = layer(inputs, start)
    for row in range(3):
        h = torch.zeros(4, dtype=torch.float64)
        for t in range(6):
            h = act(weight @ torch.cat([h, inputs[row, t]]) + bias)
            torch.testing.assert_close(outputs[row, t], h, **CLOSE)


def gates(layer: RecurrentLayer, x: Tensor, h: Tensor, count: int) -> list[tuple[Tensor, Tensor]]:
    """For each gate what comes from the input and what from the state."""
    own = layer.weights
    return list(
        zip(
            (own.weight_ih_l0 @ x + own.bias_ih_l0).chunk(count),
            (own.weight_hh_l0 @ h + own.bias_hh_l0).chunk(count),
            strict=True,
        )
    )


def test_the_lstm_is_its_formula():
    """A1: gates i, f, g, o; c = f c + i g and h = o tanh(c), the state being h and c."""
    layer = layer_of("lstm")
    x, start = torch.randn(5, dtype=torch.float64), states_of(layer, 1)
    h, c = start[0]
    i, f, g, o = (own + past for own, past in gates(layer, x, h, 4))
    c = f.sigmoid() * c + i.sigmoid() * g.tanh()
    h = o.sigmoid() * c.tanh()
    output, after = layer.step(x[None], start)
    torch.testing.assert_close(output[0], h, **CLOSE)
    torch.testing.assert_close(after[0], torch.stack([h, c]), **CLOSE)


def test_the_gru_is_its_formula():
    """A1: gates r and z; n = tanh(W x + r (U h + b)) and h = (1 - z) n + z h."""
    layer = layer_of("gru")
    x, start = torch.randn(5, dtype=torch.float64), states_of(layer, 1)
    h = start[0, 0]
    (r_x, r_h), (z_x, z_h), (n_x, n_h) = gates(layer, x, h, 3)
    r, z = (r_x + r_h).sigmoid(), (z_x + z_h).sigmoid()
    n = (n_x + r * n_h).tanh()
    torch.testing.assert_close(layer.step(x[None], start)[0][0], (1 - z) * n + z * h, **CLOSE)


def test_an_untrained_lstm_remembers():
    """A1: only the forget gate starts open."""
    bias = RecurrentLayer("lstm", 3, 2).weights.bias_ih_l0
    assert bias.tolist() == [0, 0, 1, 1, 0, 0, 0, 0]


@every_cell
@pytest.mark.parametrize("both_ways", [False, True])
@pytest.mark.parametrize("lengths", [[6], [6, 1, 4], [3, 6, 6, 2]])
def test_the_reader_equals_torch_on_packed_sequences(cell, both_ways, lengths):
    """A1: rows of any lengths in one batch have the states and end states of torch on packed ones."""
    torch.manual_seed(4)
    reader = RecurrentReader(cell, 5, 8, both_ways).double()
    theirs = torch_layer(cell, 5, 4 if both_ways else 8, bidirectional=both_ways)
    for parameter in reader.parameters():
        parameter.data.normal_(std=0.6)
    ways = [("", reader.rightward), *([("_reverse", reader.leftward)] if both_ways else [])]
    theirs.load_state_dict(
        {
            f"{name}{suffix}": tensor
            for suffix, way in ways
            for name, tensor in way.weights.state_dict().items()
        }
    )
    inputs = torch.randn(len(lengths), 6, 5, dtype=torch.float64)
    given = inputs.clone().requires_grad_()
    states, ends = reader(given, torch.tensor(lengths))
    wanted = inputs.clone().requires_grad_()
    packed = pack_padded_sequence(wanted, torch.tensor(lengths), batch_first=True, enforce_sorted=False)
    outputs, last = theirs(packed)
    expected, _ = pad_packed_sequence(outputs, batch_first=True, total_length=6)
    last = (last[0] if cell == "lstm" else last).transpose(0, 1).flatten(1)
    inside = torch.arange(6) < torch.tensor(lengths)[:, None]
    torch.testing.assert_close(states[inside], expected[inside], **CLOSE)
    torch.testing.assert_close(ends, last, **CLOSE)
    (weigh(states[inside]) + weigh(ends)).backward()
    (weigh(expected[inside]) + weigh(last)).backward()
    torch.testing.assert_close(given.grad, wanted.grad, **CLOSE)
