"""Encoders, which turn the front's states into a memory of the source."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from seq2see.models.contracts import Encoder
from seq2see.models.encoders.convolution import ConvolutionalEncoder, ConvolutionSettings
from seq2see.models.encoders.none import NoEncoder, NoEncoderSettings
from seq2see.models.encoders.recurrent import RecurrentEncoder, RecurrentEncoderSettings
from seq2see.models.encoders.resnet import ResNetEncoder, ResNetSettings
from seq2see.models.encoders.transformer import TransformerEncoder, TransformerSettings
from seq2see.models.parts import EncoderSettings

if TYPE_CHECKING:
    from seq2see.models.settings import ModelSettings

__all__ = [
    "ENCODERS",
    "ConvolutionSettings",
    "ConvolutionalEncoder",
    "EncoderKind",
    "NoEncoder",
    "NoEncoderSettings",
    "RecurrentEncoder",
    "RecurrentEncoderSettings",
    "ResNetEncoder",
    "ResNetSettings",
    "TransformerEncoder",
    "TransformerSettings",
]


class EncoderKind(NamedTuple):
    """The settings of a kind of encoder, and what builds it from the model's settings and its own."""

    settings: type[EncoderSettings]
    make: Callable[["ModelSettings", Any], Encoder]


ENCODERS: dict[str, EncoderKind] = {
    "recurrent": EncoderKind(RecurrentEncoderSettings, RecurrentEncoder),
    "convolution": EncoderKind(ConvolutionSettings, ConvolutionalEncoder),
    "transformer": EncoderKind(TransformerSettings, TransformerEncoder),
    "resnet": EncoderKind(ResNetSettings, ResNetEncoder),
    "none": EncoderKind(NoEncoderSettings, NoEncoder),
}
