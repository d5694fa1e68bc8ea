"""How long the texts of a model that writes may be."""

import math
from collections.abc import Iterable, Sequence
from typing import Literal

from seq2see.decoding import DecodingSettings
from seq2see.errors import DataError, SettingsError
from seq2see.goals.shown import Shown

__all__ = ["Limited"]


class Limited(Shown):
    """A trained model that knows how long its sources and outputs may be."""

    def output_limit(self, length: int, settings: DecodingSettings, forced: int = 0) -> int:
        """The most tokens of an output: generous by the training pairs, never far past the longest."""
        likely = math.ceil(1.5 * self.facts.length_ratio * length) + 10 + forced
        limit = settings.max_length or min(likely, 2 * self.facts.longest_target + 10 + forced)
        limit = int(min(limit, self.recipe.model.length_limit("decoder") or math.inf))
        if forced >= limit:
            raise SettingsError(
                f"a prefix of {forced} tokens leaves no room in an output of at most {limit}; "
                "shorten the prefix, or raise --max-length"
            )
        return limit

    def refuse_too_long(self, side: Literal["encoder", "decoder"], rows: Iterable[Sequence[int]]) -> None:
        """Refuse texts of more tokens than the positions of a side can name."""
        limit = self.recipe.model.length_limit(side)
        longest = max(map(len, rows), default=0)
        if limit is not None and longest > limit:
            raise DataError(
                f"a line has {longest:,} tokens, and the positions of this model end at {limit:,}; "
                f"split the line, or train with {self.recipe.model.unlimited(side)}"
            )
