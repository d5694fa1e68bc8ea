"""Encoders with decoders: every part of the ladder at least once."""

from typing import Any

Part = dict[str, Any]

TRANSFORMER: Part = {"kind": "transformer", "layers": 1, "heads": 2, "feedforward": 24}


def reads(cell: str = "lstm", **options: Any) -> Part:
    """A recurrent encoder."""
    return {"kind": "recurrent", "cell": cell, **options}


def writes(attention: str = "additive", cell: str = "lstm", **options: Any) -> Part:
    """A recurrent decoder."""
    return {"kind": "recurrent", "cell": cell, "attention": attention, **options}


def folds(**options: Any) -> Part:
    """A convolutional encoder."""
    return {"kind": "convolution", "layers": 2, **options}


def model(encoder: Part, decoder: Part, **settings: Any) -> Part:
    """The settings of a small model."""
    return {"encoder": encoder, "decoder": decoder, "max_length": 8, **settings}


ONE_WAY = {"bidirectional": False}
LUONG = {"output": "luong"}
FED = {"input_feeding": True}
COMBINATIONS: dict[str, Part] = {
    # Every cell and direction on either side, without attention: the bottleneck.
    "tanh": model(reads("tanh", **ONE_WAY), writes("none", "tanh")),
    "relu both ways": model(reads("relu"), writes("none", "relu")),
    "gru": model(reads("gru", **ONE_WAY), writes("none", "gru", layers=2)),
    "lstm both ways": model(reads(), writes("none")),
    "deep lstm": model(reads(layers=3), writes("none", layers=2)),
    "convolution to a bottleneck": model(folds(), writes("none", "gru")),
    "transformer to a bottleneck": model(TRANSFORMER, writes("none")),
    # Every score, with one head and with several.
    "dot": model(reads(), writes("dot")),
    "dot in heads": model(reads("gru"), writes("dot", "gru", heads=4)),
    "scaled-dot": model(reads("tanh"), writes("scaled-dot", "tanh")),
    "general": model(reads(**ONE_WAY), writes("general")),
    "general in heads": model(reads(hidden=8), writes("general", hidden=12, heads=2)),
    "factored": model(reads("gru"), writes("factored")),
    "nonlinear": model(reads(), writes("nonlinear", "gru")),
    "nonlinear relu in heads": model(reads(), writes("nonlinear", activation="relu", heads=2)),
    "additive": model(reads(), writes("additive")),
    "additive in heads": model(reads("tanh"), writes("additive", "tanh", heads=4)),
    "additive of other widths": model(reads(hidden=24), writes("additive", hidden=20, layers=2)),
    "concat": model(reads("gru", **ONE_WAY), writes("concat", "gru")),
    "concat of other widths in heads": model(reads(hidden=8), writes("concat", hidden=12, heads=2)),
    "location": model(reads(), writes("location")),
    "location in heads": model(folds(kernel=5), writes("location", heads=2)),
    # What is read, what is made of it, and what is fed.
    "learned values": model(reads(hidden=24), writes("additive", learned_values=True, heads=2)),
    "luong": model(reads(layers=2, **ONE_WAY), writes("general", layers=2, **LUONG, **FED)),
    "luong unfed": model(reads("gru", **ONE_WAY), writes("scaled-dot", "gru", **LUONG)),
    "luong of other widths": model(reads(hidden=24), writes("additive", hidden=20, **LUONG, **FED)),
    "fed": model(reads("tanh"), writes("additive", "gru", **FED, heads=2)),
    # The decoder's own past.
    "own past": model(reads(), writes("additive", self_attention="scaled-dot")),
    "own past alone": model(reads(), writes("none", self_attention="additive", heads=2)),
    "own past fed": model(reads("gru"), writes("dot", "gru", self_attention="general", **FED)),
    "own past of other widths": model(
        reads(hidden=24), writes("concat", hidden=20, self_attention="concat", heads=2, **LUONG, **FED)
    ),
    "own past by dot": model(folds(), writes("factored", self_attention="dot", learned_values=True)),
    # Any encoder with any decoder.
    "convolution": model(folds(layers=3), writes("additive")),
    "plain convolution": model(folds(residual=False, positions="none"), writes("general", "gru")),
    "convolution with learned positions": model(folds(positions="learned", kernel=5), TRANSFORMER),
    "hybrid": model(TRANSFORMER, writes("additive", heads=4)),
    "recurrent reader, transformer writer": model(reads(layers=2), TRANSFORMER),
    # Copying, by any decoder that looks.
    "pointer": model(reads(), writes("additive"), pointer=True),
    "pointer fed in heads": model(reads(), writes("additive", heads=2, **FED), pointer=True),
    "pointer luong untied": model(
        reads("gru"), writes("general", "gru", **LUONG, **FED), pointer=True, tie_output=False
    ),
    "pointer by location": model(folds(), writes("location", hidden=24), pointer=True),
    "pointing transformer": model(TRANSFORMER, TRANSFORMER, pointer=True),
    "pointing mixture": model(reads("tanh"), TRANSFORMER | {"layers": 2}, pointer=True),
}
