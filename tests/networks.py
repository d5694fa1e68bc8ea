"""Networks and batches of ids, for tests that do without tokenizers."""

from collections.abc import Sequence

import torch
from torch import Tensor

from seq2see.data.columns.contract import fill
from seq2see.models import EncoderDecoder, ModelSettings, Vocabulary, make_encoder_decoder
from seq2see.text import PAD, STANDARD

__all__ = ["make_network", "pad"]


def make_network(
    settings: ModelSettings, source: int, target: int, copies: Sequence[int] | None = None
) -> EncoderDecoder:
    """An untrained network with vocabularies of so many ids."""
    if copies is None and settings.pointer:
        copies = [PAD] * source
    sizes = (Vocabulary(size, STANDARD) for size in (source, target))
    return make_encoder_decoder(settings, *sizes, copies)


def pad(rows: Sequence[Sequence[int]], before: int | None = None) -> Tensor:
    """Rows of ids as one matrix filled up with padding."""
    return fill(rows, PAD, before)[0] if rows else torch.empty(0, 0, dtype=torch.long)
