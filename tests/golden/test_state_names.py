"""The names of weights are a promise: runs trained yesterday must load tomorrow."""

from pathlib import Path

import pytest

from seq2see.models.weights import weights_of

STORED = Path(__file__).parent / "transformer_state_names.txt"

VARIANTS = {
    "rotary before": {"positions": "rotary", "norm": "before"},
    "learned joined after": {"positions": "learned", "norm": "after", "join": True},
    "shared": {"share_embeddings": True, "sizes": (9, 9)},
    "untied": {"tie_output": False},
}


def listed(model) -> list[str]:
    """Each weight's name and shape, a line each."""
    return [f"{name} {'x'.join(map(str, tensor.shape))}" for name, tensor in weights_of(model).items()]


@pytest.mark.parametrize("variant", VARIANTS)
def test_weights_keep_their_names(make_model, variant):
    """D7, H: names and shapes of every weight are those of the stored list."""
    sections = dict(
        section.split("\n", 1) for section in STORED.read_text(encoding="utf-8").strip().split("\n\n")
    )
    assert listed(make_model(**VARIANTS[variant])) == sections[f"# {variant}"].splitlines()
