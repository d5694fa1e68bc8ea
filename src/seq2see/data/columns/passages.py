"""Passages of running text as ids, which lie end to end."""

from collections.abc import Sequence

from seq2see.data.columns.contract import Stored
from seq2see.data.columns.text import TargetText
from seq2see.data.pairs import Pair
from seq2see.data.passages import BEGINS, ENDS
from seq2see.text import Tokenizer

__all__ = ["Passages"]


class Passages(TargetText):
    """Text that is foretold token by token; a document has the begin symbol before it and the end symbol
    after it."""

    limited = False

    @classmethod
    def load(cls, stored: Stored) -> "Passages":
        """A column from what was kept of it."""
        return cls(Tokenizer.of_json(stored["text.json"], "text.json"))

    def encode(self, examples: Sequence[Pair]) -> list[list[int]]:
        special = self.tokenizer.special
        texts = self.tokenizer.encode_many([one.target for one in examples])
        return [
            [*[special.begin] * (BEGINS in one.extras), *ids, *[special.end] * (ENDS in one.extras)]
            for one, ids in zip(examples, texts, strict=True)
        ]

    def stored(self) -> Stored:
        return {"kind": "passages", "text.json": self.tokenizer.to_json()}
