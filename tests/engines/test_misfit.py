"""What CTranslate2 cannot do is known from the recipe alone."""

from typing import Any

import pytest

from seq2see.engines.ctranslate2 import misfit
from seq2see.recipe import Recipe

TURNED, PLAIN = {"positions": "rotary"}, {"positions": "sinusoidal"}


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        ({}, "rotary positions in cross-attention (model.decoder.positions; rotary-self has none)"),
        ({"encoder": TURNED, "decoder": PLAIN}, None),
        (
            {"encoder": PLAIN, "decoder": TURNED},
            "rotary positions in cross-attention (model.decoder.positions; rotary-self has none)",
        ),
        ({"encoder": PLAIN, "decoder": PLAIN, "pointer": True}, "copying from the source (model.pointer)"),
        ({"encoder": {"kind": "recurrent"}, "decoder": PLAIN}, "a recurrent encoder"),
        ({"encoder": {"kind": "convolution"}, "decoder": PLAIN}, "a convolution encoder"),
        ({"encoder": PLAIN, "decoder": {"kind": "recurrent"}}, "a recurrent decoder"),
    ],
)
def test_reasons(model: dict[str, Any], reason: str | None) -> None:
    assert misfit(Recipe.model_validate({"model": model, "data": {"train": "-"}})) == reason
