"""A front for ids of tokens: an embedding with positions."""

from typing import TYPE_CHECKING, Literal

import torch
from pydantic import Field
from torch import Tensor, nn

from seq2see.layers.dropout import Dropout
from seq2see.layers.positions import PositionKind, Positions
from seq2see.models.contracts import Sides, States, Vocabulary
from seq2see.models.parts import FrontSettings
from seq2see.text.special import Special

if TYPE_CHECKING:
    from seq2see.models.settings import ModelSettings

__all__ = ["TokenFront", "TokenFrontSettings", "embedding", "forget_tokens"]


class TokenFrontSettings(FrontSettings):
    """Tokens to vectors: `scale` and `norm` hold for the decoder's embedding too."""

    kind: Literal["tokens"] = "tokens"
    scale: bool = True
    """Multiply embeddings by the root of the width, so that they weigh as much as positions."""
    norm: bool = False
    """A layer norm over embedding and position together, as BERT and BART have it."""
    epsilon: float = Field(default=1e-5, gt=0, le=1)
    """What that norm adds to the variance."""
    token_dropout: float = Field(default=0.0, ge=0, lt=1)
    """The share of tokens that training replaces by the unknown one."""

    def embedding_scale(self, width: int) -> float:
        return float(width**0.5) if self.scale else 1.0

    def embedding_norm(self, width: int) -> nn.LayerNorm | None:
        return nn.LayerNorm(width, self.epsilon) if self.norm else None


class TokenFront(nn.Module):
    """Embeds tokens and adds their positions."""

    def __init__(
        self,
        vocabulary: Vocabulary,
        width: int,
        part: TokenFrontSettings,
        dropout: float = 0.0,
        positions: PositionKind = "none",
        max_length: int = 0,
        join_positions: bool = False,
    ) -> None:
        super().__init__()
        self.embed = embedding(vocabulary, width)
        self.positions = Positions(positions, width, max_length, join_positions)
        self.scale, self.norm = part.embedding_scale(width), part.embedding_norm(width)
        self.dropout = Dropout(dropout)
        self.token_dropout, self.special = part.token_dropout, vocabulary.special

    @classmethod
    def of(cls, settings: "ModelSettings", vocabularies: dict[str, Vocabulary]) -> "TokenFront":
        """The front of a model, with the positions that its encoder asks for."""
        assert isinstance(settings.front, TokenFrontSettings)
        positions, join = settings.encoder.added_positions
        return cls(
            vocabularies["source"],
            settings.width,
            settings.front,
            settings.dropout,
            positions,
            settings.max_length,
            join,
        )

    def forward(self, sides: Sides) -> States:
        tokens, mask = sides["source"]
        assert mask is not None
        if self.training and self.token_dropout:
            tokens = forget_tokens(tokens, self.token_dropout, self.special)
        states = self.positions(self.embed(tokens) * self.scale)
        if self.norm is not None:
            states = self.norm(states)
        return States(self.dropout(states), mask)


def embedding(vocabulary: Vocabulary, width: int) -> nn.Embedding:
    """An embedding whose vector for padding is zero."""
    pad = vocabulary.special.pad
    embed = nn.Embedding(vocabulary.size, width, padding_idx=pad)
    nn.init.normal_(embed.weight, std=width**-0.5)
    with torch.no_grad():
        embed.weight[pad] = 0
    return embed


def forget_tokens(tokens: Tensor, share: float | Tensor, special: Special) -> Tensor:
    """Tokens, a random share of which is replaced by the unknown one; special symbols stay."""
    lost = torch.rand(tokens.shape, device=tokens.device) < share
    for symbol in (one for one in special if one is not None):
        lost &= tokens != symbol
    return tokens.masked_fill(lost, special.unknown)
