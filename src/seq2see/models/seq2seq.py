"""An encoder and a decoder put together, by settings."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from seq2see.layers.attention import Watch
from seq2see.layers.losses import cross_entropy, output_cross_entropy
from seq2see.layers.pointer import Pointer
from seq2see.models.contracts import DecoderOutput, Memory, Prefix, State
from seq2see.models.convolutional import ConvolutionalEncoder
from seq2see.models.decoders import RecurrentDecoder, TransformerDecoder
from seq2see.models.generation import GeneratorState
from seq2see.models.recurrent import RecurrentEncoder
from seq2see.models.settings import ModelSettings
from seq2see.models.transformer import TransformerEncoder
from seq2see.text import PAD, Special

__all__ = ["DECODERS", "ENCODERS", "Seq2Seq"]

ENCODERS: dict[str, Any] = {
    "recurrent": RecurrentEncoder,
    "convolution": ConvolutionalEncoder,
    "transformer": TransformerEncoder,
}
DECODERS: dict[str, Any] = {"recurrent": RecurrentDecoder, "transformer": TransformerDecoder}


class Seq2Seq(nn.Module):
    """Reads a source, writes a target. Both sides and the output layer are chosen by the settings.

    `copies` gives the target id of each source id that can be copied, and PAD for the others.
    """

    copies: Tensor

    def __init__(
        self,
        settings: ModelSettings,
        source_size: int,
        target_size: int,
        copies: Sequence[int] | None = None,
    ) -> None:
        super().__init__()
        self.settings = settings
        self.target_size = target_size
        source_embed = _embedding(source_size, settings.width)
        # With shared embeddings the source may have further rows (features) after the common vocabulary.
        target_embed = source_embed if settings.share_embeddings else _embedding(target_size, settings.width)
        self.encoder = ENCODERS[settings.encoder.kind](source_embed, settings, settings.encoder)
        self.decoder = DECODERS[settings.decoder.kind](target_embed, settings, settings.decoder)
        self.output = None if settings.tie_output else nn.Linear(settings.width, target_size)
        self.pointer = Pointer(settings.width) if settings.pointer else None
        known = torch.tensor(copies if copies is not None else [PAD] * source_size)
        self.register_buffer("copies", known, persistent=False)
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.xavier_uniform_(module.weight)
                if module.bias is not None:
                    nn.init.zeros_(module.bias)

    def forward(self, source: Tensor, inputs: Tensor, watch: Watch | None = None) -> Tensor:
        """Logits of every position of known targets, (B, S), (B, T) -> (B, T, V)."""
        memory = self.encode(source, watch)
        return self.logits(self.decoder(inputs, memory, watch), memory.tokens)

    def encode(self, source: Tensor, watch: Watch | None = None) -> Memory:
        """Read the source once, for any number of decodings."""
        memory: Memory = self.encoder(source, watch)
        return replace(memory, tokens=self.copies[source]) if self.pointer is not None else memory

    @property
    def special(self) -> Special:
        """The ids that begin and end an output, and those that none has."""
        return Special.standard()

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return self.copies.device

    def begin(
        self, memory: Memory | None, prefix: Prefix | None = None, watch: Watch | None = None
    ) -> GeneratorState:
        """The state before the first step of decoding, or after a prefix."""
        decoder = self.decoder.begin(memory, prefix, watch)
        return GeneratorState(decoder, memory.tokens if memory is not None else None)

    def prefill(
        self, memory: Memory | None, prefix: Prefix, watch: Watch | None = None
    ) -> tuple[Tensor, GeneratorState]:
        """Logits after each position of a prefix (B, T, V), and the state after it."""
        output, decoder = self.decoder.prefill(memory, prefix, watch)
        copied = memory.tokens if memory is not None else None
        return self.logits(output, copied), GeneratorState(decoder, copied)

    def step(self, tokens: Tensor, state: State, watch: Watch | None = None) -> tuple[Tensor, GeneratorState]:
        """Logits of the next token after one more token for each row, (B,) -> (B, V)."""
        assert isinstance(state, GeneratorState)
        output, after = self.decoder.step(tokens, state.decoder, watch)
        return self.logits(output, state.copied_by_row(len(tokens))), GeneratorState(after, state.copied)

    def loss(self, source: Tensor, inputs: Tensor, labels: Tensor, smoothing: float = 0.0) -> Tensor:
        """Cross-entropy summed over the labels that are not padding, (B, S), (B, T), (B, T) -> ()."""
        memory = self.encode(source)
        output: DecoderOutput = self.decoder(inputs, memory)
        if self.pointer is not None or torch.is_autocast_enabled(source.device.type):
            return cross_entropy(self.logits(output, memory.tokens), labels, PAD, smoothing)
        return output_cross_entropy(output.states, *self._output(), labels, PAD, smoothing)

    def _output(self) -> tuple[Tensor, Tensor | None]:
        """Weight and bias of the output layer."""
        if self.output is not None:
            return self.output.weight, self.output.bias
        return self.decoder.embed.weight[: self.target_size], None

    def logits(self, output: DecoderOutput, tokens: Tensor | None) -> Tensor:
        """Scores of the vocabulary."""
        scores = F.linear(output.states, *self._output())
        if self.pointer is None:
            return scores
        pointed: Tensor = self.pointer(scores, output.states, output.cross_weights, tokens, PAD)
        return pointed

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
