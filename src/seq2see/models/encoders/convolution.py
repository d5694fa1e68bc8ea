"""An encoder of convolutions ("Convolutional Sequence to Sequence Learning", Gehring et al. 2017)."""

from typing import TYPE_CHECKING, Literal

from pydantic import Field
from torch import Tensor, nn

from seq2see.layers import masks
from seq2see.layers.attention import Watch
from seq2see.layers.blocks import Residual
from seq2see.layers.convolution import Convolution
from seq2see.layers.dropout import Dropout
from seq2see.layers.positions import PositionKind
from seq2see.models.contracts import Memory
from seq2see.models.parts import EncoderSettings

if TYPE_CHECKING:
    from seq2see.models.settings import ModelSettings

__all__ = ["ConvolutionSettings", "ConvolutionalEncoder"]


class ConvolutionSettings(EncoderSettings):
    """Layers of convolution over the source."""

    kind: Literal["convolution"] = "convolution"
    layers: int = Field(default=3, ge=1, le=100)
    kernel: int = Field(default=3, ge=1, le=255)
    """How many neighbouring positions a layer sees at once."""
    residual: bool = True
    positions: Literal["sinusoidal", "learned", "none"] = "sinusoidal"

    @property
    def limited(self) -> bool:
        return self.positions == "learned"

    @property
    def added_positions(self) -> tuple[PositionKind, bool]:
        return self.positions, False

    def check(self, model: "ModelSettings") -> None:
        if self.kernel % 2 == 0:
            raise ValueError(
                f"encoder.kernel = {self.kernel} has no middle; choose an odd number such as "
                f"{self.kernel + 1}"
            )


class ConvolutionalEncoder(nn.Module):
    """Each layer sees a little further: `layers * (kernel - 1) / 2` positions to either side."""

    def __init__(self, settings: "ModelSettings", part: ConvolutionSettings) -> None:
        super().__init__()
        self.dropout = Dropout(settings.dropout)
        self.convolutions = nn.ModuleList(
            Convolution(settings.width, part.kernel) for _ in range(part.layers)
        )
        self.residuals = nn.ModuleList(
            Residual(settings.width, "before", settings.dropout) for _ in range(part.layers * part.residual)
        )
        self.final_norm = nn.LayerNorm(settings.width)

    def forward(self, states: Tensor, mask: Tensor, watch: Watch | None = None) -> Memory:
        for layer, convolution in enumerate(self.convolutions):
            if len(self.residuals):
                states = self.residuals[layer](states, lambda inner, fold=convolution: fold(inner, mask))
            else:
                states = self.dropout(convolution(states, mask))
        states = self.final_norm(states)
        return Memory(states, mask, masks.mean(states, mask))
