"""No encoder: a head looks at the front's states as they are."""

from typing import TYPE_CHECKING, Literal

from torch import Tensor, nn

from seq2see.layers import masks
from seq2see.layers.attention import Watch
from seq2see.models.contracts import Memory
from seq2see.models.parts import EncoderSettings

if TYPE_CHECKING:
    from seq2see.models.settings import ModelSettings

__all__ = ["NoEncoder", "NoEncoderSettings"]


class NoEncoderSettings(EncoderSettings):
    """Nothing between the front and what follows: a bag of tokens."""

    kind: Literal["none"] = "none"


class NoEncoder(nn.Module):
    """Gives the states that it gets; their mean is the summary."""

    def __init__(self, settings: "ModelSettings", part: NoEncoderSettings) -> None:
        super().__init__()

    def forward(self, states: Tensor, mask: Tensor, watch: Watch | None = None) -> Memory:
        return Memory(states, mask, masks.mean(states, mask))
