"""Settings of the parts of a model, chosen by their kind from a table that can be added to."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

from pydantic_core import PydanticCustomError
from torch import nn

from seq2see.layers.positions import PositionKind
from seq2see.settings import Settings

if TYPE_CHECKING:
    from seq2see.models.settings import ModelSettings

__all__ = ["Chosen", "EncoderSettings", "FrontSettings", "PartSettings", "check_heads"]


class PartSettings(Settings):
    """The settings of one part of a model, such as its encoder."""

    kind: str

    def check(self, model: "ModelSettings") -> None:
        """Raise ValueError if this part does not fit the rest of the model."""


class FrontSettings(PartSettings):
    """Settings of a front; how it treats embeddings holds for those of the decoder too."""

    def embedding_scale(self, width: int) -> float:
        """What embeddings are multiplied by; as published, the root of the width."""
        return float(width**0.5)

    def embedding_norm(self, width: int) -> nn.LayerNorm | None:
        """A new norm over embedding and position together, if there is to be one."""
        return None


class EncoderSettings(PartSettings):
    """Settings of an encoder."""

    @property
    def limited(self) -> bool:
        """Whether positions end at `model.max_length`."""
        return False

    @property
    def added_positions(self) -> tuple[PositionKind, bool]:
        """The positions that the front adds to embeddings, and whether they are joined on instead."""
        return "none", False

    def memory_width(self, width: int) -> int:
        """The width of the states that it gives, by the width of the model."""
        return width


class Row(Protocol):
    """A row of a table of parts."""

    @property
    def settings(self) -> type[PartSettings]:
        """The settings of this kind."""


class Chosen:
    """A validator that gives values to the kind of part that they name in a table."""

    def __init__(self, table: Mapping[str, Row], default: str) -> None:
        self._table, self._default = table, default

    def __call__(self, value: Any) -> Any:
        if not isinstance(value, Mapping):
            return value
        kind = str(value.get("kind", self._default))
        if kind not in self._table:
            known = ", ".join(map(repr, self._table))
            raise PydanticCustomError(
                "union_tag_invalid", "unknown kind", {"tag": kind, "expected_tags": known}
            )
        return self._table[kind].settings.model_validate(value)

    def options(self) -> list[type[Settings]]:
        """The settings of every kind."""
        return [row.settings for row in self._table.values()]


def check_heads(name: str, width: int, heads: int) -> None:
    """Refuse a width that cannot be shared out evenly among heads."""
    if width % heads:
        below = width // heads * heads
        near = [str(option) for option in (below, below + heads) if option]
        raise ValueError(
            f"{name}: width {width} cannot be split among {heads} heads; try width {' or '.join(near)}"
        )
