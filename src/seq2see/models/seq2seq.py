"""An encoder and a decoder put together, by settings."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from seq2see.layers.attention import Watch
from seq2see.models.contracts import Memory, State
from seq2see.models.settings import ModelSettings
from seq2see.models.transformer import TransformerDecoder, TransformerEncoder
from seq2see.text import PAD

__all__ = ["DECODERS", "ENCODERS", "Seq2Seq"]

ENCODERS = {"transformer": TransformerEncoder}
DECODERS = {"transformer": TransformerDecoder}


class Seq2Seq(nn.Module):
    """Reads a source, writes a target. Both sides and the output layer are chosen by the settings."""

    def __init__(self, settings: ModelSettings, source_size: int, target_size: int) -> None:
        super().__init__()
        self.settings = settings
        self.target_size = target_size
        source_embed = _embedding(source_size, settings.width)
        # With shared embeddings the source may have further rows (features) after the common vocabulary.
        target_embed = source_embed if settings.share_embeddings else _embedding(target_size, settings.width)
        self.encoder = ENCODERS[settings.encoder.kind](source_embed, settings, settings.encoder)
        self.decoder = DECODERS[settings.decoder.kind](target_embed, settings, settings.decoder)
        self.output = None if settings.tie_output else nn.Linear(settings.width, target_size)
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.xavier_uniform_(module.weight)
                if module.bias is not None:
                    nn.init.zeros_(module.bias)

    def forward(self, source: Tensor, inputs: Tensor, watch: Watch | None = None) -> Tensor:
        """Logits of every position of known targets, (B, S), (B, T) -> (B, T, V)."""
        return self.logits(self.decoder(inputs, self.encode(source, watch), watch))

    def encode(self, source: Tensor, watch: Watch | None = None) -> Memory:
        """Read the source once, for any number of decodings."""
        memory: Memory = self.encoder(source, watch)
        return memory

    def begin(self, memory: Memory) -> State:
        """The state before the first step of decoding."""
        return self.decoder.begin(memory)

    def step(self, tokens: Tensor, state: State, watch: Watch | None = None) -> tuple[Tensor, State]:
        """Logits of the next token after one more token for each row, (B,) -> (B, V)."""
        hidden, after = self.decoder.step(tokens, state, watch)
        return self.logits(hidden), after

    def logits(self, hidden: Tensor) -> Tensor:
        """Scores of the vocabulary."""
        if self.output is not None:
            scores: Tensor = self.output(hidden)
            return scores
        return F.linear(hidden, self.decoder.embed.weight[: self.target_size])

    def parameter_counts(self) -> dict[str, int]:
        """Weights by part; shared ones are counted once, where they first stand."""
        counts: dict[str, int] = {}
        for name, parameter in self.named_parameters():
            part = ".".join(name.split(".")[:2])
            counts[part] = counts.get(part, 0) + parameter.numel()
        return counts


def _embedding(size: int, width: int) -> nn.Embedding:
    embed = nn.Embedding(size, width, padding_idx=PAD)
    nn.init.normal_(embed.weight, std=width**-0.5)
    with torch.no_grad():
        embed.weight[PAD] = 0
    return embed
