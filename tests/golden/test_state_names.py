"""The names of weights are a promise: runs trained yesterday must load tomorrow."""

from pathlib import Path

import pytest
from combinations import COMBINATIONS

from seq2see.models.weights import weights_of

HERE = Path(__file__).parent
STORED = HERE / "transformer_state_names.txt"

VARIANTS = {
    "rotary before": {"positions": "rotary", "norm": "before"},
    "learned joined after": {"positions": "learned", "norm": "after", "join": True},
    "shared": {"share_embeddings": True, "sizes": (9, 9)},
    "untied": {"tie_output": False},
}


def sections(path: Path) -> dict[str, str]:
    """The stored lists, by their heads."""
    parts = path.read_text(encoding="utf-8").strip().split("\n\n")
    return dict(part.split("\n", 1) for part in parts)


def listed(model) -> list[str]:
    """Each weight's name and shape, a line each."""
    return [f"{name} {'x'.join(map(str, tensor.shape))}" for name, tensor in weights_of(model).items()]


LADDER = (
    *("lstm both ways", "gru", "general in heads", "factored", "nonlinear", "additive", "concat", "location"),
    *("learned values", "luong", "own past fed", "convolution", "plain convolution", "hybrid", "pointer"),
)


@pytest.mark.parametrize("variant", VARIANTS)
def test_weights_keep_their_names(make_model, variant):
    """D7, H: names and shapes of every weight are those of the stored list."""
    assert listed(make_model(**VARIANTS[variant])) == sections(STORED)[f"# {variant}"].splitlines()


@pytest.mark.parametrize("name", LADDER)
def test_the_ladder_keeps_its_names(make_model, name):
    """A1, C2-C9, C11, E4: the same for recurrent and convolutional models, and for copying."""
    model = make_model(**COMBINATIONS[name])
    assert listed(model) == sections(HERE / "ladder_state_names.txt")[f"# {name}"].splitlines()
