"""The Transformer's encoder ("Attention Is All You Need", Vaswani et al. 2017)."""

from typing import TYPE_CHECKING, Literal

from pydantic import Field
from torch import Tensor, nn

from seq2see.layers import masks
from seq2see.layers.attention import Watch
from seq2see.layers.blocks import Block, NormPlace
from seq2see.layers.feedforward import Activation
from seq2see.layers.norms import NormKind, make_norm
from seq2see.layers.positions import BASE, Grid, PositionKind, rotations
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
    norm_kind: NormKind = "layer"
    epsilon: float = Field(default=1e-5, gt=0, le=1)
    """What norms add to the variance, so that they never divide by zero."""
    bias: bool = True
    """Linear layers and layer norms add a vector of their own."""
    groups: int | None = Field(default=None, ge=1, le=256)
    """Heads of keys and values, each of which serves several heads of queries; by default as many."""
    positions: PositionKind = "rotary"
    rotary_base: float = Field(default=BASE, gt=1, le=1e12)
    """The larger, the slower rotary positions turn: for longer texts."""
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
        if self.groups is not None and self.heads % self.groups:
            raise ValueError(
                f"{side}.groups: {self.heads} heads cannot share {self.groups} heads of keys and values "
                f"evenly; choose a number that divides {self.heads}"
            )
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

    def final_norm(self, width: int) -> nn.Module:
        """The norm after the last block, which blocks that begin with their norms need."""
        if self.norm == "after":
            return nn.Identity()
        return make_norm(self.norm_kind, width, self.epsilon, self.bias)

    def block(self, model: "ModelSettings", address: str, crosses: bool = False) -> Block:
        """One block of the stack."""
        return Block(
            model.width,
            self.heads,
            self.feedforward,
            address,
            self.activation,
            self.norm,
            model.dropout,
            model.attention_dropout,
            crosses=crosses,
            norm_kind=self.norm_kind,
            epsilon=self.epsilon,
            bias=self.bias,
            groups=self.groups,
        )


class TransformerEncoder(nn.Module):
    """Blocks of self-attention over the source."""

    def __init__(self, settings: "ModelSettings", part: TransformerSettings) -> None:
        super().__init__()
        self.final_norm = part.final_norm(settings.width)
        self.head_width = settings.width // part.heads
        self.grid: Grid | None = None
        """How the states lie in an image, where they are turned by row and column."""
        self.rotary, self.rotary_base = part.positions.startswith("rotary"), part.rotary_base
        self.blocks = nn.ModuleList(part.block(settings, f"encoder.{layer}") for layer in range(part.layers))

    def forward(
        self, states: Tensor, mask: Tensor, watch: Watch | None = None, first_only: bool = False
    ) -> Memory:
        """Encode; with `first_only` the last block computes the first state and no other."""
        rotation = None
        if self.grid is not None:
            rotation = self.grid.rotations(self.head_width, states.device, self.rotary_base)
        elif self.rotary:
            rotation = rotations(0, states.shape[1], self.head_width, states.device, self.rotary_base)
        for block in self.blocks:
            last = first_only and block is self.blocks[-1]
            states = block(states, mask[:, None, None], rotation, watch, first_only=last)
        if first_only:
            states, mask = states[:, :1], mask[:, :1]
        states = self.final_norm(states)
        return Memory(states, mask, masks.mean(states, mask))
