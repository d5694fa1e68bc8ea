"""The state of a whole model while it generates."""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import pad

from seq2see.models.contracts import State

__all__ = ["GeneratorState"]


@dataclass(frozen=True)
class GeneratorState:
    """The decoder's state, and the tokens (B, S) of each source that can be copied, if any can."""

    decoder: State
    copied: Tensor | None

    def keep(self, sources: Tensor) -> "GeneratorState":
        copied = self.copied[sources] if self.copied is not None else None
        return GeneratorState(self.decoder.keep(sources), copied)

    def move(self, rows: Tensor) -> "GeneratorState":
        return GeneratorState(self.decoder.move(rows), self.copied)

    def join(self, other: "GeneratorState") -> "GeneratorState":
        copied = None
        if self.copied is not None and other.copied is not None:
            longest = max(self.copied.shape[1], other.copied.shape[1])
            # Whatever stands in the positions that are added: their attention weight is zero.
            copied = torch.cat(
                [pad(part, (0, longest - part.shape[1])) for part in (self.copied, other.copied)]
            )
        return GeneratorState(self.decoder.join(other.decoder), copied)

    def copied_by_row(self, rows: int) -> Tensor | None:
        """The tokens that each of so many rows can copy."""
        if self.copied is None:
            return None
        return self.copied.repeat_interleave(rows // len(self.copied), 0)
