"""How many steps information needs from one position to another."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from seq2see.lab.experiment import Experiment, Measured, Row, Trial
from seq2see.lab.measuring import exponent
from seq2see.lab.panels import Panel
from seq2see.layers.attention import plain_attention
from seq2see.layers.convolution import Convolution
from seq2see.layers.recurrence import RecurrentLayer

__all__ = ["EXPERIMENT"]

_WIDTH, _KERNEL = 8, 5
Step = Callable[[Tensor], Tensor]


def measure(trial: Trial) -> Measured:
    """Apply a step again and again until the last position's output depends on the first one's input."""
    lengths = trial.pick((5, 9), (5, 9, 17, 33), (5, 9, 17, 33, 65, 129))
    rows: list[Row] = []
    for length in lengths:
        for name, step in _steps(trial.control).items():
            rows.append({"kind": name, "length": length, "steps": _needed(step, length)})
    grown = {
        name: exponent(lengths, [float(row["steps"]) for row in rows if row["kind"] == name])
        for name in _steps(trial.control)
    }
    return Measured(grown["recurrence"] - grown["self-attention"], rows)


def _steps(local: bool) -> dict[str, Step]:
    """What one step of each kind does to all positions (1, S, D), in double precision."""
    fold = Convolution(_WIDTH, _KERNEL).double()
    recur = RecurrentLayer("tanh", _WIDTH, _WIDTH).double()

    def convolve(states: Tensor) -> Tensor:
        return fold(states, torch.ones(states.shape[:2], dtype=torch.bool))  # type: ignore[no-any-return]

    def pass_on(states: Tensor) -> Tensor:
        """A state goes on by one position: what a recurrent layer does once for each of its inputs."""
        before = torch.cat([torch.zeros_like(states[:, :1]), states[:, :-1]], 1)
        output, _ = recur.step(states[0], before[0].unsqueeze(1))
        return output.unsqueeze(0)

    def attend(states: Tensor) -> Tensor:
        places = torch.arange(states.shape[1])
        near = ((places[:, None] - places).abs() <= 1)[None, None] if local else None
        return plain_attention(states[:, None], states[:, None], states[:, None], near)[0][:, 0]

    return {"convolution": convolve, "recurrence": pass_on, "self-attention": attend}


def _needed(step: Step, length: int) -> int:
    """Steps until the Jacobian of the last output by the first input is no longer zero."""
    inputs = torch.randn(1, length, _WIDTH, dtype=torch.float64, requires_grad=True)
    states: Tensor = inputs
    for count in range(1, length + 1):
        states = step(states)
        (gradient,) = torch.autograd.grad(states[0, -1].sum(), inputs, retain_graph=True)
        if bool(gradient[0, 0].abs().max() > 0):
            return count
    return length + 1


def remarks(rows: Sequence[Row]) -> list[str]:
    """The longest sequence, beside the orders of the lecture."""
    longest = max(int(row["length"]) for row in rows)
    seen = {str(row["kind"]): int(row["steps"]) for row in rows if row["length"] == longest}
    reach = _KERNEL // 2
    return [
        f"From the first to the last of {longest} positions: {seen['convolution']} layers of convolution of "
        f"kernel {_KERNEL} (each reaches {reach} further, so O(n/k)), {seen['recurrence']} steps of "
        f"recurrence (O(n)), {seen['self-attention']} of self-attention (O(1))."
    ]


EXPERIMENT = Experiment(
    name="paths",
    claim="Self-attention joins any two positions in one step; recurrence and convolution need many.",
    where="Stanford CS329P, Compare self-attention with CNN and RNN",
    effect="the power of the length by which the path of recurrence grows faster than that of self-attention",
    wanted=0.5,
    measure=measure,
    keys=("kind", "length"),
    panels=(
        Panel(
            "length",
            "steps",
            "kind",
            "sequence length n",
            "steps from the first position to the last",
            log_across=True,
            log_up=True,
        ),
    ),
    cause="attention to every other position (each sees only its neighbours)",
    remarks=remarks,
)
