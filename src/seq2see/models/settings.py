"""What a model can be made of, checked before anything is built."""

from typing import Literal, Self

from pydantic import Field, model_validator

from seq2see.layers.blocks import NormPlace
from seq2see.layers.feedforward import Activation
from seq2see.layers.positions import PositionKind
from seq2see.settings import Settings

__all__ = ["ModelSettings", "TransformerSettings"]


class TransformerSettings(Settings):
    """A stack of Transformer blocks, on either side."""

    kind: Literal["transformer"] = "transformer"
    layers: int = Field(default=3, ge=1, le=100)
    heads: int = Field(default=4, ge=1, le=256)
    feedforward: int = Field(default=512, ge=1)
    activation: Activation = "relu"
    norm: NormPlace = "before"
    positions: PositionKind = "rotary"
    join_positions: bool = False
    """Join the positions to the embedding (and map back to the width) instead of adding them."""


class ModelSettings(Settings):
    """An encoder and a decoder of one width."""

    width: int = Field(default=256, ge=2, le=65536)
    dropout: float = Field(default=0.1, ge=0, lt=1)
    attention_dropout: float = Field(default=0.0, ge=0, lt=1)
    max_length: int = Field(default=1024, ge=1, le=1_000_000)
    """Places that learned and one-hot positions can name."""
    share_embeddings: bool = False
    """One embedding for source and target, which needs one vocabulary."""
    tie_output: bool = True
    """The output layer is the target embedding, transposed."""
    encoder: TransformerSettings = TransformerSettings()
    decoder: TransformerSettings = TransformerSettings()

    def places(self, side: Literal["encoder", "decoder"]) -> int | None:
        """How many positions a side can name, if there is a limit."""
        limited = getattr(self, side).positions in ("learned", "one-hot")
        return self.max_length if limited else None

    @model_validator(mode="after")
    def _fits(self) -> Self:
        for side, part in (("encoder", self.encoder), ("decoder", self.decoder)):
            _check_heads(f"{side}.heads", self.width, part.heads)
            if part.positions == "rotary" and self.width // part.heads % 2:
                raise ValueError(
                    f"{side}.positions = 'rotary' turns pairs of features, but width {self.width} among "
                    f"{part.heads} heads leaves {self.width // part.heads} features; choose an even number"
                )
            if part.positions == "one-hot" and not part.join_positions and self.max_length > self.width:
                raise ValueError(
                    f"{side}.positions = 'one-hot' needs a feature for each of max_length {self.max_length} "
                    f"places, but the width is {self.width}; set {side}.join_positions=true or a smaller "
                    "model.max_length"
                )
            if part.join_positions and part.positions in ("rotary", "none"):
                raise ValueError(
                    f"{side}.join_positions has nothing to join: {part.positions!r} positions are not "
                    "vectors; choose sinusoidal, learned or one-hot positions"
                )
        return self


def _check_heads(name: str, width: int, heads: int) -> None:
    if width % heads:
        below = width // heads * heads
        near = [str(option) for option in (below, below + heads) if option]
        raise ValueError(
            f"{name}: width {width} cannot be split among {heads} heads; try width {' or '.join(near)}"
        )
