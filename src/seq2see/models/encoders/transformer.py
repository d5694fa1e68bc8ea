"""The Transformer's encoder ("Attention Is All You Need", Vaswani et al. 2017)."""

from typing import TYPE_CHECKING, Literal

from pydantic import Field
from torch import Tensor, nn

from seq2see.layers import masks
from seq2see.layers.attention import Watch
from seq2see.layers.blocks import Block, NormPlace
from seq2see.layers.feedforward import Activation
from seq2see.layers.positions import PositionKind, rotations
from seq2see.models.contracts import Memory
from seq2see.models.parts import EncoderSettings, check_heads

if TYPE_CHECKING:
    from seq2see.models.settings import ModelSettings

__all__ = ["TransformerEncoder", "TransformerSettings"]


class TransformerSettings(EncoderSettings):
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

    @property
    def limited(self) -> bool:
        return self.positions in ("learned", "one-hot")

    @property
    def added_positions(self) -> tuple[PositionKind, bool]:
        return self.positions, self.join_positions

    def check(self, model: "ModelSettings") -> None:
        self.check_side(model, "encoder")

    def check_side(self, model: "ModelSettings", side: str) -> None:
        """Raise ValueError if heads or positions do not fit the model's width."""
        check_heads(f"{side}.heads", model.width, self.heads)
        if self.positions.startswith("rotary") and model.width // self.heads % 2:
            raise ValueError(
                f"{side}.positions = {self.positions!r} turns pairs of features, but width {model.width} "
                f"among {self.heads} heads leaves {model.width // self.heads} features; choose an even number"
            )
        if self.positions == "one-hot" and not self.join_positions and model.max_length > model.width:
            raise ValueError(
                f"{side}.positions = 'one-hot' needs a feature for each of max_length {model.max_length} "
                f"places, but the width is {model.width}; set {side}.join_positions=true or a smaller "
                "model.max_length"
            )
        if self.join_positions and self.positions in ("rotary", "rotary-self", "none"):
            raise ValueError(
                f"{side}.join_positions has nothing to join: {self.positions!r} positions are not "
                "vectors; choose sinusoidal, learned or one-hot positions"
            )


class TransformerEncoder(nn.Module):
    """Blocks of self-attention over the source."""

    def __init__(self, settings: "ModelSettings", part: TransformerSettings) -> None:
        super().__init__()
        self.final_norm = nn.LayerNorm(settings.width) if part.norm == "before" else nn.Identity()
        self.head_width = settings.width // part.heads
        self.rotary = part.positions.startswith("rotary")
        self.blocks = nn.ModuleList(
            Block(
                settings.width,
                part.heads,
                part.feedforward,
                f"encoder.{layer}",
                part.activation,
                part.norm,
                settings.dropout,
                settings.attention_dropout,
            )
            for layer in range(part.layers)
        )

    def forward(self, states: Tensor, mask: Tensor, watch: Watch | None = None) -> Memory:
        rotation = rotations(0, states.shape[1], self.head_width, states.device) if self.rotary else None
        for block in self.blocks:
            states = block(states, mask[:, None, None], rotation, watch)
        states = self.final_norm(states)
        return Memory(states, mask, masks.mean(states, mask))
