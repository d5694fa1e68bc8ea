"""What a model can be made of, checked before anything is built."""

from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Discriminator, Field, SerializeAsAny, Tag, model_validator

from seq2see.layers.recurrence import Cell
from seq2see.layers.scores import KeyActivation, ScoreKind
from seq2see.models.encoders import (
    ENCODERS,
    ConvolutionSettings,
    RecurrentEncoderSettings,
    TransformerSettings,
)
from seq2see.models.fronts import FRONTS, TokenFrontSettings
from seq2see.models.heads.summing import HeadSettings
from seq2see.models.parts import Chosen, EncoderSettings, FrontSettings, check_heads
from seq2see.settings import Settings

__all__ = [
    "ConvolutionSettings",
    "ModelSettings",
    "RecurrentDecoderSettings",
    "RecurrentEncoderSettings",
    "TransformerSettings",
]


class RecurrentDecoderSettings(Settings):
    """Layers of recurrence over the target, with attention on the source or none."""

    kind: Literal["recurrent"] = "recurrent"
    cell: Cell = "lstm"
    layers: int = Field(default=1, ge=1, le=100)
    hidden: int | None = Field(default=None, ge=1, le=65536)
    """The width of the states; by default the model's."""
    attention: Literal[ScoreKind, "none"] = "additive"
    heads: int = Field(default=1, ge=1, le=256)
    activation: KeyActivation = "tanh"
    """Of the keys and queries of nonlinear attention."""
    learned_values: bool = False
    """Read a learned map of the source's states instead of the states themselves."""
    output: Literal["linear", "luong"] = "linear"
    """What joins state and context: a linear layer, or Luong's, which ends in a tanh."""
    input_feeding: bool = False
    """The input of each step also has what the step before it read from the source."""
    bridge: Literal["tanh", "none"] = "tanh"
    """Between the source's summary and the first state: a layer that ends in a tanh, or nothing."""
    self_attention: Literal[ScoreKind, "none"] = "none"
    """Each step also looks at the decoder's own states before it."""

    def check(self, model: "ModelSettings") -> None:
        """Raise ValueError if this decoder does not fit the rest of the model."""
        width, memory_width = self.hidden or model.width, model.memory_width
        if self.attention == "none":
            unused = {
                "decoder.input_feeding": self.input_feeding,
                "decoder.learned_values": self.learned_values,
                "decoder.output = 'luong'": self.output == "luong",
                "pointer": model.pointer,
            }
            for name in (name for name, on in unused.items() if on):
                raise ValueError(
                    f"{name} needs attention on the source, and decoder.attention is 'none'; "
                    "choose an attention such as additive, or leave it out"
                )
        states = self.layers * (2 if self.cell == "lstm" else 1) * width
        if self.bridge == "none" and memory_width != states:
            raise ValueError(
                f"decoder.bridge = 'none' starts from the encoder's {memory_width} features, but the states "
                f"of the decoder have {states}; make them equal, or choose 'tanh'"
            )
        if self.attention in ("dot", "scaled-dot") and memory_width != width:
            raise ValueError(
                f"decoder.attention = {self.attention!r} multiplies states of one width, but the encoder's "
                f"have {memory_width} and the decoder's {width}; make them equal, or choose general "
                "or additive"
            )
        if self.self_attention == "location":
            raise ValueError(
                "decoder.self_attention = 'location' would name places of the source; choose another "
                "score such as scaled-dot"
            )
        if self.attention == self.self_attention == "none" and self.heads > 1:
            raise ValueError(
                f"decoder.heads = {self.heads} needs an attention to split, and decoder.attention is 'none'; "
                "choose an attention such as additive, or decoder.heads=1"
            )
        check_heads("decoder.heads", width, self.heads)
        if self.attention != "none":
            check_heads("decoder.heads", memory_width, self.heads)


def _kind(value: Any) -> str:
    """The kind that settings name; a Transformer where they name none."""
    if isinstance(value, dict):
        return str(value.get("kind", "transformer"))
    return str(getattr(value, "kind", "transformer"))


DecoderSettings = Annotated[
    Annotated[TransformerSettings, Tag("transformer")]
    | Annotated[RecurrentDecoderSettings, Tag("recurrent")],
    Discriminator(_kind),
]


class ModelSettings(Settings):
    """An encoder, a decoder, and what they have in common."""

    width: int = Field(default=256, ge=2, le=65536)
    dropout: float = Field(default=0.1, ge=0, lt=1)
    attention_dropout: float = Field(default=0.0, ge=0, lt=1)
    memory_dropout: float = Field(default=0.0, ge=0, lt=1)
    """Of what the encoder gives to a decoder or a head."""
    max_length: int = Field(default=1024, ge=1, le=1_000_000)
    """How many positions learned and one-hot positions and location attention have."""
    share_embeddings: bool = False
    """One embedding for source and target, which needs one vocabulary."""
    tie_output: bool = True
    """The output layer is the target embedding, transposed."""
    output_bias: bool = False
    """Such an output layer adds a number of its own to the logit of each token."""
    pointer: bool = False
    """Tokens can also be copied from the source, through the decoder's attention."""
    front: Annotated[SerializeAsAny[FrontSettings], BeforeValidator(Chosen(FRONTS, "tokens"))] = (
        TokenFrontSettings()
    )
    encoder: Annotated[SerializeAsAny[EncoderSettings], BeforeValidator(Chosen(ENCODERS, "transformer"))] = (
        TransformerSettings()
    )
    decoder: DecoderSettings | None = TransformerSettings()
    """None for a model that reads but does not write."""
    decoder_for_each: bool = False
    """Each of several targets has a decoder of its own; by default one decoder is told which is wanted."""
    head: HeadSettings = HeadSettings()
    """Of a model that reads but does not write."""

    def length_limit(self, side: Literal["encoder", "decoder"]) -> int | None:
        """The most tokens that a side can take, or None where there is no limit."""
        if side == "decoder":
            limited = isinstance(self.decoder, TransformerSettings) and self.decoder.limited
        else:
            limited = self.encoder.limited or self._by_location
        return self.max_length if limited else None

    def unlimited(self, side: Literal["encoder", "decoder"]) -> str:
        """Settings that would let a side take texts of any length, for error messages."""
        by_attention = side == "encoder" and self._by_location
        return "another attention than location" if by_attention else "sinusoidal or rotary positions"

    @property
    def _by_location(self) -> bool:
        return isinstance(self.decoder, RecurrentDecoderSettings) and self.decoder.attention == "location"

    @property
    def memory_width(self) -> int:
        """The width of the encoder's states."""
        return self.encoder.memory_width(self.width)

    @model_validator(mode="after")
    def _fits(self) -> Self:
        self.front.check(self)
        self.encoder.check(self)
        if self.decoder is None:
            for pooling in self.head.poolings:
                if pooling == "attention":
                    check_heads("head.heads", self.memory_width, self.head.heads)
            if not self.head.poolings and self.head.counts is None:
                raise ValueError(
                    "head.pooling and head.counts are both empty, so a head has nothing to look at"
                )
            return self
        if self.decoder_for_each and self.pointer:
            raise ValueError("decoder_for_each and pointer cannot be both; copying is for one decoder")
        if self.decoder_for_each and self.share_embeddings:
            raise ValueError(
                "decoder_for_each and share_embeddings cannot be both; each decoder has vectors of its own"
            )
        if isinstance(self.decoder, RecurrentDecoderSettings):
            self.decoder.check(self)
            return self
        self.decoder.check_side(self, "decoder")
        if self.memory_width != self.width:
            raise ValueError(
                f"a transformer decoder looks at states of the model's width {self.width}, and those of "
                f"the encoder have {self.memory_width}; leave encoder.hidden out, or choose "
                "decoder.kind=recurrent, or of a resnet encoder.project=true"
            )
        return self
