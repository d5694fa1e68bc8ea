"""What a model can be made of, checked before anything is built."""

from typing import Annotated, Any, Literal, Self

from pydantic import Discriminator, Field, Tag, model_validator

from seq2see.layers.blocks import NormPlace
from seq2see.layers.feedforward import Activation
from seq2see.layers.positions import PositionKind
from seq2see.layers.recurrence import Cell
from seq2see.layers.scores import KeyActivation, ScoreKind
from seq2see.settings import Settings

__all__ = [
    "ConvolutionSettings",
    "ModelSettings",
    "RecurrentDecoderSettings",
    "RecurrentEncoderSettings",
    "TransformerSettings",
]


class TransformerSettings(Settings):
    """A stack of Transformer blocks, on either side."""

    kind: Literal["transformer"] = "transformer"
    layers: int = Field(default=3, ge=1, le=100)
    heads: int = Field(default=4, ge=1, le=256)
    feedforward: int = Field(default=512, ge=1)
    activation: Activation = "relu"
    norm: NormPlace = "before"
    positions: PositionKind = "rotary"
    join_positions: bool = False
    """Join the positions to the embedding (and map back to the width) instead of adding them."""


class RecurrentEncoderSettings(Settings):
    """Layers of recurrence over the source."""

    kind: Literal["recurrent"] = "recurrent"
    cell: Cell = "lstm"
    layers: int = Field(default=1, ge=1, le=100)
    bidirectional: bool = True
    """Half of the features of each layer read from the right."""
    hidden: int | None = Field(default=None, ge=1, le=65536)
    """The width of the states, both directions together; by default the model's."""


class ConvolutionSettings(Settings):
    """Layers of convolution over the source."""

    kind: Literal["convolution"] = "convolution"
    layers: int = Field(default=3, ge=1, le=100)
    kernel: int = Field(default=3, ge=1, le=255)
    """How many neighbouring places a layer sees at once."""
    residual: bool = True
    positions: Literal["sinusoidal", "learned", "none"] = "sinusoidal"


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
    """Each step also gets what the step before it read."""
    self_attention: Literal[ScoreKind, "none"] = "none"
    """Each step also looks at the decoder's own states before it."""


def _kind(value: Any) -> str:
    """Which of several settings is meant; a Transformer where nothing is said."""
    if isinstance(value, dict):
        return str(value.get("kind", "transformer"))
    return str(getattr(value, "kind", "transformer"))


EncoderSettings = Annotated[
    Annotated[TransformerSettings, Tag("transformer")]
    | Annotated[RecurrentEncoderSettings, Tag("recurrent")]
    | Annotated[ConvolutionSettings, Tag("convolution")],
    Discriminator(_kind),
]
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
    max_length: int = Field(default=1024, ge=1, le=1_000_000)
    """Places that learned and one-hot positions and location attention can name."""
    share_embeddings: bool = False
    """One embedding for source and target, which needs one vocabulary."""
    tie_output: bool = True
    """The output layer is the target embedding, transposed."""
    pointer: bool = False
    """Tokens can also be copied from the source, through the decoder's attention."""
    encoder: EncoderSettings = TransformerSettings()
    decoder: DecoderSettings = TransformerSettings()

    def places(self, side: Literal["encoder", "decoder"]) -> int | None:
        """How many positions a side can name, if there is a limit."""
        limited = getattr(getattr(self, side), "positions", None) in ("learned", "one-hot")
        if side == "encoder" and getattr(self.decoder, "attention", None) == "location":
            limited = True
        return self.max_length if limited else None

    def without_end(self, side: Literal["encoder", "decoder"]) -> str:
        """What to choose instead of that which limits a side's places."""
        by_attention = side == "encoder" and getattr(self.decoder, "attention", None) == "location"
        return "another attention than location" if by_attention else "sinusoidal or rotary positions"

    @property
    def memory_width(self) -> int:
        """The width of the encoder's states."""
        return getattr(self.encoder, "hidden", None) or self.width

    @model_validator(mode="after")
    def _fits(self) -> Self:
        for side, part in (("encoder", self.encoder), ("decoder", self.decoder)):
            if isinstance(part, TransformerSettings):
                self._check_transformer(side, part)
        if isinstance(self.encoder, ConvolutionSettings) and self.encoder.kernel % 2 == 0:
            raise ValueError(
                f"encoder.kernel = {self.encoder.kernel} has no middle; choose an odd number such as "
                f"{self.encoder.kernel + 1}"
            )
        if isinstance(self.encoder, RecurrentEncoderSettings):
            self._check_directions(self.encoder)
        if isinstance(self.decoder, RecurrentDecoderSettings):
            self._check_recurrent(self.decoder)
        elif self.memory_width != self.width:
            raise ValueError(
                f"a transformer decoder looks at states of the model's width {self.width}, and those of "
                f"the encoder have {self.memory_width}; leave encoder.hidden out, or choose "
                "decoder.kind=recurrent"
            )
        return self

    def _check_transformer(self, side: str, part: TransformerSettings) -> None:
        _check_heads(f"{side}.heads", self.width, part.heads)
        if part.positions.startswith("rotary") and self.width // part.heads % 2:
            raise ValueError(
                f"{side}.positions = {part.positions!r} turns pairs of features, but width {self.width} "
                f"among {part.heads} heads leaves {self.width // part.heads} features; choose an even number"
            )
        if part.positions == "one-hot" and not part.join_positions and self.max_length > self.width:
            raise ValueError(
                f"{side}.positions = 'one-hot' needs a feature for each of max_length {self.max_length} "
                f"places, but the width is {self.width}; set {side}.join_positions=true or a smaller "
                "model.max_length"
            )
        if part.join_positions and part.positions in ("rotary", "rotary-self", "none"):
            raise ValueError(
                f"{side}.join_positions has nothing to join: {part.positions!r} positions are not "
                "vectors; choose sinusoidal, learned or one-hot positions"
            )

    def _check_directions(self, part: RecurrentEncoderSettings) -> None:
        if part.bidirectional and self.memory_width % 2:
            raise ValueError(
                f"encoder.bidirectional halves the states, and {self.memory_width} is odd; choose an even "
                "encoder.hidden, or encoder.bidirectional=false"
            )

    def _check_recurrent(self, part: RecurrentDecoderSettings) -> None:
        width = part.hidden or self.width
        if part.attention == "none":
            unused = {
                "decoder.input_feeding": part.input_feeding,
                "decoder.learned_values": part.learned_values,
                "decoder.output = 'luong'": part.output == "luong",
                "pointer": self.pointer,
            }
            for name in (name for name, on in unused.items() if on):
                raise ValueError(
                    f"{name} needs attention on the source, and decoder.attention is 'none'; "
                    "choose an attention such as additive, or leave it out"
                )
        if part.attention in ("dot", "scaled-dot") and self.memory_width != width:
            raise ValueError(
                f"decoder.attention = {part.attention!r} multiplies states of one width, but the encoder's "
                f"have {self.memory_width} and the decoder's {width}; make them equal, or choose general "
                "or additive"
            )
        if part.self_attention == "location":
            raise ValueError(
                "decoder.self_attention = 'location' would name places of the source; choose another "
                "score such as scaled-dot"
            )
        if part.attention == part.self_attention == "none" and part.heads > 1:
            raise ValueError("decoder.heads needs an attention to split, and decoder.attention is 'none'")
        _check_heads("decoder.heads", width, part.heads)
        if part.attention != "none":
            _check_heads("decoder.heads", self.memory_width, part.heads)


def _check_heads(name: str, width: int, heads: int) -> None:
    if width % heads:
        below = width // heads * heads
        near = [str(option) for option in (below, below + heads) if option]
        raise ValueError(
            f"{name}: width {width} cannot be split among {heads} heads; try width {' or '.join(near)}"
        )
