"""An encoder of convolutions ("Convolutional Sequence to Sequence Learning", Gehring et al. 2017)."""

from torch import Tensor, nn

from seq2see.layers import masks
from seq2see.layers.attention import Watch
from seq2see.layers.blocks import Residual
from seq2see.layers.convolution import Convolution
from seq2see.layers.dropout import Dropout
from seq2see.layers.positions import Positions
from seq2see.models.contracts import Memory
from seq2see.models.settings import ConvolutionSettings, ModelSettings
from seq2see.text import PAD

__all__ = ["ConvolutionalEncoder"]


class ConvolutionalEncoder(nn.Module):
    """Each layer sees a little further: `layers * (kernel - 1) / 2` places to either side."""

    def __init__(self, embed: nn.Embedding, settings: ModelSettings, part: ConvolutionSettings) -> None:
        super().__init__()
        self.embed = embed
        self.scale = settings.width**0.5
        self.positions = Positions(part.positions, settings.width, settings.max_length)
        self.dropout = Dropout(settings.dropout)
        self.convolutions = nn.ModuleList(
            Convolution(settings.width, part.kernel) for _ in range(part.layers)
        )
        self.residuals = nn.ModuleList(
            Residual(settings.width, "before", settings.dropout) for _ in range(part.layers * part.residual)
        )
        self.final_norm = nn.LayerNorm(settings.width)

    def forward(self, source: Tensor, watch: Watch | None = None) -> Memory:
        mask = masks.present(source, PAD)
        states = self.dropout(self.positions(self.embed(source) * self.scale))
        for layer, convolution in enumerate(self.convolutions):
            if len(self.residuals):
                states = self.residuals[layer](states, lambda inner, fold=convolution: fold(inner, mask))
            else:
                states = self.dropout(convolution(states, mask))
        states = self.final_norm(states)
        return Memory(states, mask, masks.mean(states, mask))
