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
        (
            {"encoder": PLAIN | {"norm_kind": "rms"}, "decoder": PLAIN},
            "root mean square norms (model.encoder.norm_kind)",
        ),
        ({"encoder": PLAIN, "decoder": PLAIN | {"groups": 2}}, "heads in groups (model.decoder.groups)"),
        ({"encoder": PLAIN, "decoder": PLAIN | {"groups": 4}}, None),
        (
            {"encoder": PLAIN, "decoder": PLAIN | {"bias": False}},
            "layers without a bias (model.decoder.bias)",
        ),
        (
            {"encoder": TURNED | {"rotary_base": 5e5}, "decoder": PLAIN},
            "rotary positions with a base of their own (model.encoder.rotary_base)",
        ),
        (
            {"encoder": PLAIN, "decoder": PLAIN, "front": {"norm": True}},
            "a norm over embeddings (model.front.norm)",
        ),
        (
            {"encoder": PLAIN, "decoder": PLAIN | {"epsilon": 1e-6}},
            "norms that differ between the sides (model.encoder.epsilon, model.decoder.epsilon)",
        ),
    ],
)
def test_reasons(model: dict[str, Any], reason: str | None) -> None:
    assert misfit(Recipe.model_validate({"model": model, "data": {"train": "-"}})) == reason
