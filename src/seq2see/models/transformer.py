"""The Transformer's encoder ("Attention Is All You Need", Vaswani et al. 2017)."""

from torch import Tensor, nn

from seq2see.layers import masks
from seq2see.layers.attention import Watch
from seq2see.layers.blocks import Block
from seq2see.layers.dropout import Dropout
from seq2see.layers.positions import Positions, rotations
from seq2see.models.contracts import Memory
from seq2see.models.settings import ModelSettings, TransformerSettings
from seq2see.text import PAD

__all__ = ["TransformerEncoder"]


class TransformerEncoder(nn.Module):
    """Blocks of self-attention over the source."""

    def __init__(self, embed: nn.Embedding, settings: ModelSettings, part: TransformerSettings) -> None:
        super().__init__()
        self.embed = embed
        self.positions = Positions(part.positions, settings.width, settings.max_length, part.join_positions)
        self.dropout = Dropout(settings.dropout)
        self.final_norm = nn.LayerNorm(settings.width) if part.norm == "before" else nn.Identity()
        self.head_width = settings.width // part.heads
        self.scale = settings.width**0.5
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

    def read(self, tokens: Tensor) -> Tensor:
        """Embedded tokens at their positions, (B, S) -> (B, S, D)."""
        states: Tensor = self.dropout(self.positions(self.embed(tokens) * self.scale))
        return states

    def forward(self, source: Tensor, watch: Watch | None = None) -> Memory:
        mask = masks.present(source, PAD)
        states = self.read(source)
        rotary = self.positions.kind.startswith("rotary")
        rotation = rotations(0, source.shape[1], self.head_width, source.device) if rotary else None
        for block in self.blocks:
            states = block(states, mask[:, None, None], rotation, watch)
        states = self.final_norm(states)
        return Memory(states, mask, masks.mean(states, mask))
