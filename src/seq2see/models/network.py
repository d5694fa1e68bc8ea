"""A front, an encoder, a decoder or none, and a head, put together by settings."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import torch
from torch import Tensor, nn

from seq2see.data.sides import Batch, Side
from seq2see.layers.attention import Watch
from seq2see.models.contracts import (
    Decoder,
    Encoder,
    Front,
    Head,
    Loss,
    Memory,
    Prefix,
    Sides,
    State,
    Vocabulary,
)
from seq2see.models.decoders import RecurrentDecoder, SeveralDecoders, TransformerDecoder
from seq2see.models.encoders import ENCODERS, TransformerEncoder
from seq2see.models.fronts import FRONTS, PatchFront
from seq2see.models.fronts.tokens import embedding
from seq2see.models.generation import GeneratorState
from seq2see.models.heads.classes import ClassHead
from seq2see.models.heads.number import NumberHead
from seq2see.models.heads.several import SeveralHeads
from seq2see.models.heads.vocabulary import VocabularyHead
from seq2see.models.own_tokens import OwnTokens
from seq2see.models.settings import ModelSettings
from seq2see.text.special import Special

__all__ = [
    "DECODERS",
    "DecoderOnly",
    "EncoderDecoder",
    "Network",
    "Writer",
    "make_decoder_only",
    "make_encoder_decoder",
    "make_reader",
]

DECODERS: dict[str, Callable[..., Decoder]] = {
    "recurrent": RecurrentDecoder,
    "transformer": TransformerDecoder,
}


class Network(nn.Module):
    """A front, an encoder and a head; training knows only that `forward` turns a batch into a loss."""

    front: Front
    encoder: Encoder
    head: Head

    def __init__(self, settings: ModelSettings, **parts: Front | Encoder | Decoder | Head) -> None:
        super().__init__()
        self.settings = settings
        for name, part in parts.items():
            assert isinstance(part, nn.Module), name
            self.add_module(name, part)

    def forward(self, batch: Batch) -> Loss:
        """The loss of a batch."""
        return self.head.loss(self.read(batch), None, batch)

    def read(self, batch: Batch) -> Memory:
        """The source of each example; one that several share is read once."""
        memory = self.encode_for_head(batch.sides)
        memory = memory if batch.shared is None else memory.select(batch.shared)
        return memory.drop(self.settings.memory_dropout) if self.training else memory

    def encode(self, sides: Sides, watch: Watch | None = None) -> Memory:
        """Read the source once, for whatever follows."""
        states, mask = self.front(sides)
        return self.encoder(states, mask, watch)

    def encode_for_head(self, sides: Sides, watch: Watch | None = None) -> Memory:
        """What the head needs of the source: all states, or the first if it reads no other."""
        if watch is not None or not self._head_reads_first_only:
            return self.encode(sides, watch)
        assert isinstance(self.encoder, TransformerEncoder)
        states, mask = self.front(sides)
        memory: Memory = self.encoder(states, mask, first_only=True)
        return memory

    @property
    def _head_reads_first_only(self) -> bool:
        """Whether the last block of a Transformer may leave out all states but that of the class token."""
        return (
            isinstance(self.encoder, TransformerEncoder)
            and isinstance(self.head, ClassHead | NumberHead)
            and self.settings.head.poolings == ("first",)
        )

    def parameter_counts(self) -> dict[str, int]:
        """The number of weights of each part; shared ones are counted once, in their first part."""
        counts: dict[str, int] = {}
        for name, parameter in self.named_parameters():
            part = ".".join(name.split(".")[:2])
            counts[part] = counts.get(part, 0) + parameter.numel()
        return counts

    def initialise(self) -> None:
        """Give linear layers their first weights (Glorot & Bengio 2010); biases begin at zero."""
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.xavier_uniform_(module.weight)
                if module.bias is not None:
                    nn.init.zeros_(module.bias)


class Writer(Network):
    """A network with a decoder, which writes token by token."""

    decoder: Decoder
    head: VocabularyHead | SeveralHeads

    def __init__(
        self, settings: ModelSettings, special: Special, **parts: Front | Encoder | Decoder | Head
    ) -> None:
        super().__init__(settings, **parts)
        self.special = special

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return next(self.parameters()).device

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
        return self.head.logits(output, copied), GeneratorState(decoder, copied)

    def step(self, tokens: Tensor, state: State, watch: Watch | None = None) -> tuple[Tensor, GeneratorState]:
        """Logits of the next token after one more token for each row, (B,) -> (B, V)."""
        assert isinstance(state, GeneratorState)
        output, after = self.decoder.step(tokens, state.decoder, watch)
        return self.head.logits(output, state.copied_by_row(len(tokens))), GeneratorState(after, state.copied)


class EncoderDecoder(Writer):
    """A network that reads a source and writes a target."""

    def forward(self, batch: Batch) -> Loss:
        """Cross-entropy of the target of a batch, and how many tokens it has."""
        memory = self.read(batch)
        output = self.decoder(batch["target"].values[:, :-1], memory)
        return self.head.loss(memory, output, batch)

    def encode(self, sides: Sides, watch: Watch | None = None) -> Memory:
        """Read the source once, for any number of decodings."""
        memory = super().encode(sides, watch)
        return replace(memory, tokens=self.head.copied(sides["source"].values))

    def sides(self, source: Tensor) -> Sides:
        """Ids of sources (B, S), filled up with padding, as `encode` takes them."""
        return {"source": Side(source, source != self.special.pad)}

    def encode_ids(self, source: Tensor, watch: Watch | None = None) -> Memory:
        """The same for ids of sources (B, S), filled up with padding."""
        return self.encode(self.sides(source), watch)

    def logits(self, source: Tensor, inputs: Tensor, watch: Watch | None = None) -> Tensor:
        """Scores at every position of known targets, (B, S), (B, T) -> (B, T, V)."""
        memory = self.encode_ids(source, watch)
        return self.head.logits(self.decoder(inputs, memory, watch), memory.tokens)


class DecoderOnly(Writer):
    """A network that reads nothing but what it has written: each token is told from those before it."""

    def forward(self, batch: Batch) -> Loss:
        """Cross-entropy of the text of a batch, and how many tokens it has.

        Where a text begins is not foretold: begin symbols are read, and count as padding of what follows.
        """
        values, mask = batch["target"]
        output = self.decoder(values[:, :-1], None)
        told = Side(values.masked_fill(values == self.special.begin, self.special.pad), mask)
        return self.head.loss(None, output, Batch({"target": told}, batch.lines))

    def logits(self, inputs: Tensor, watch: Watch | None = None) -> Tensor:
        """Scores of what follows each token of texts, (B, T) -> (B, T, V)."""
        return self.head.logits(self.decoder(inputs, None, watch), None)


def _encoder(settings: ModelSettings, front: Front) -> Encoder:
    """The encoder of a network, which learns from its front how the patches of an image lie."""
    encoder = ENCODERS[settings.encoder.kind].make(settings, settings.encoder)
    if isinstance(front, PatchFront) and isinstance(encoder, TransformerEncoder):
        encoder.grid = front.grid
    return encoder


def _writer(
    settings: ModelSettings,
    target: Vocabulary,
    embed: nn.Embedding,
    copies: Sequence[int] | None,
    smoothing: float,
    *,
    crosses: bool = True,
) -> tuple[Decoder, VocabularyHead]:
    """A decoder, and the head that says which token comes next."""
    assert settings.decoder is not None
    decoder = DECODERS[settings.decoder.kind](embed, settings, settings.decoder, crosses=crosses)
    tied = embed if settings.tie_output else None
    return decoder, VocabularyHead(settings.width, target, tied, copies, smoothing, settings.output_bias)


def _writers(
    settings: ModelSettings, target: Vocabulary, smoothing: float
) -> tuple[SeveralDecoders, SeveralHeads]:
    """A decoder and a head for each of several targets, over the tokens that it uses."""
    own = OwnTokens(target)
    vocabularies = [Vocabulary(size, target.special) for size in own.sizes]
    decoders, heads = zip(
        *[_writer(settings, one, embedding(one, settings.width), None, smoothing) for one in vocabularies],
        strict=True,
    )
    return SeveralDecoders(decoders, target.special.targets, own), SeveralHeads(heads, own, target)


def make_encoder_decoder(
    settings: ModelSettings,
    source: Vocabulary,
    target: Vocabulary,
    copies: Sequence[int] | None = None,
    smoothing: float = 0.0,
) -> EncoderDecoder:
    """An untrained network that reads one text and writes another."""
    front = FRONTS[settings.front.kind].make(settings, {"source": source})
    decoder: Decoder
    head: VocabularyHead | SeveralHeads
    if settings.decoder_for_each:
        encoder = _encoder(settings, front)
        decoder, head = _writers(settings, target, smoothing)
    else:
        embed = front.embed if settings.share_embeddings else embedding(target, settings.width)
        encoder = _encoder(settings, front)
        copies = copies if settings.pointer else None
        decoder, head = _writer(settings, target, embed, copies, smoothing)
    network = EncoderDecoder(
        settings, target.special, front=front, encoder=encoder, decoder=decoder, head=head
    )
    network.initialise()
    return network


def make_decoder_only(settings: ModelSettings, text: Vocabulary, smoothing: float = 0.0) -> DecoderOnly:
    """An untrained network that writes on."""
    embed = embedding(text, settings.width)
    decoder, head = _writer(settings, text, embed, None, smoothing, crosses=False)
    network = DecoderOnly(settings, text.special, decoder=decoder, head=head)
    network.initialise()
    return network


def make_reader(
    settings: ModelSettings, vocabularies: Mapping[str, Vocabulary], head: Callable[[int], Head]
) -> Network:
    """An untrained network that reads a text and ends in a head, which is built for a width of states."""
    front = FRONTS[settings.front.kind].make(settings, dict(vocabularies))
    encoder = _encoder(settings, front)
    network = Network(settings, front=front, encoder=encoder, head=head(settings.memory_width))
    network.initialise()
    return network
