"""The tokenizers of a run, together: what turns its pairs into ids and its outputs into text."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from seq2see.text.special import SPECIAL
from seq2see.text.tokenizer import TextSettings, Tokenizer

__all__ = ["Codec", "SourceCodec"]


class SourceCodec:
    """The vocabularies of what is read: features stand before the source, with ids after its own.

    With `begins`, the begin symbol stands before both.
    """

    def __init__(self, source: Tokenizer, features: Tokenizer | None = None, begins: bool = False) -> None:
        self.source, self.features, self.begins = source, features, begins

    @property
    def before(self) -> list[int]:
        """What every row begins with: the begin symbol, or nothing."""
        return [self.source.special.begin] * self.begins

    @property
    def source_size(self) -> int:
        """Ids on the source side, features included."""
        return self.source.size + (self.features.size if self.features else 0)

    def encode_sources(self, texts: Sequence[str], features: Sequence[str] | None = None) -> list[list[int]]:
        """Ids of sources, with their features first and the end symbol last."""
        first, end = self.before, self.source.special.end
        if self.features is None:
            return [[*first, *found, end] for found in self.source.encode_many(texts)]
        ids = [[*found, end] for found in self.source.encode_many(texts)]
        shift = self.source.size
        tags = self.features.encode_many(features or [""] * len(texts))
        return [
            [*first, *(shift + tag for tag in tagged), *after]
            for tagged, after in zip(tags, ids, strict=True)
        ]

    def source_tokens(self, ids: Sequence[int]) -> list[str]:
        """Source ids as a person would read them; features in square brackets."""
        shift = self.source.size
        return [
            f"[{self.features.tokens([i - shift])[0]}]"
            if self.features and i >= shift
            else self.source.tokens([i])[0]
            for i in ids
        ]

    def unknown_tokens(self, text: str, features: str = "") -> dict[int, str]:
        """By the places of source ids: what is written where the vocabulary has nothing for it."""
        parts = [(self.features, features, "[{}]")] if self.features is not None else []
        found, before = {}, len(self.before)
        for tokenizer, written, shown in [*parts, (self.source, text, "{}")]:
            (ids,) = tokenizer.encode_many([written])
            for place, (id_, (start, end)) in enumerate(zip(ids, tokenizer.spans(written), strict=True)):
                if id_ == tokenizer.special.unknown:
                    found[before + place] = shown.format(written[start:end].strip() or written[start:end])
            before += len(ids)
        return found

    def files(self) -> dict[str, str]:
        """File name and JSON text of each tokenizer."""
        named = {"source": self.source, "features": self.features}
        return {f"{name}.json": one.to_json() for name, one in named.items() if one is not None}

    @classmethod
    def of_files(cls, files: Mapping[str, Any]) -> "SourceCodec":
        """The tokenizers of a model that writes no text, from what `files` gave."""
        features = files.get("features.json")
        return SourceCodec(
            Tokenizer.of_json(files["source.json"], "source.json"),
            Tokenizer.of_json(features, "features.json") if features is not None else None,
            bool(files.get("begins")),
        )


class Codec(SourceCodec):
    """The vocabularies of both sides, for a model that reads one text and writes another."""

    def __init__(
        self,
        source: Tokenizer,
        target: Tokenizer,
        features: Tokenizer | None = None,
        begins: bool = False,
    ) -> None:
        super().__init__(source, features, begins)
        self.target = target
        self.used: Sequence[Sequence[int]] = ()
        """The ids in the texts of each of several targets, for models that have a decoder for each."""

    @classmethod
    def learn(
        cls,
        sources: Iterable[str],
        targets: Iterable[str],
        features: Iterable[str] | None,
        settings: TextSettings,
        into: Sequence[str] = (),
    ) -> "Codec":
        """Collect the vocabularies from texts; where there are several targets, they are named."""
        if settings.shared:
            source = target = Tokenizer.learn(chain(sources, targets), settings.source).with_targets(into)
        else:
            source = Tokenizer.learn(sources, settings.source)
            target = Tokenizer.learn(targets, settings.target).with_targets(into)
        tags = Tokenizer.learn_features(features) if features is not None else None
        return cls(source, target, tags, settings.begins)

    @property
    def shared(self) -> bool:
        """Whether both sides use one vocabulary."""
        return self.source is self.target

    @property
    def target_size(self) -> int:
        """Ids on the target side."""
        return self.target.size

    def copies(self) -> list[int]:
        """For each source id the target id of the same token, or that of padding where there is none."""
        special = self.target.special
        if self.shared:
            same = list(range(self.target.size))
        else:
            known = self.target.vocabulary
            same = [special.pad] * self.source.size
            for token, place in self.source.vocabulary.items():
                same[place] = known.get(token, special.pad)
        same += [special.pad] * (self.source_size - len(same))
        # Of the special symbols only the end can be both read and written.
        return [place if place >= len(SPECIAL) or place == special.end else special.pad for place in same]

    def encode_targets(self, texts: Sequence[str]) -> list[list[int]]:
        """Ids of targets, with the end symbol last."""
        end = self.target.special.end
        return [[*found, end] for found in self.target.encode_many(texts)]

    def files(self) -> dict[str, str]:
        """File name and JSON text of each tokenizer."""
        named = {"shared": self.source} if self.shared else {"source": self.source, "target": self.target}
        if self.features:
            named["features"] = self.features
        return {f"{name}.json": tokenizer.to_json() for name, tokenizer in named.items()}

    @classmethod
    def load(cls, folder: Path, begins: bool = False) -> "Codec":
        """Read the tokenizers of a run directory; whether sources have a begin symbol its recipe says."""
        if (folder / "shared.json").exists():
            source = target = Tokenizer.load(folder / "shared.json")
        else:
            source, target = Tokenizer.load(folder / "source.json"), Tokenizer.load(folder / "target.json")
        return cls(source, target, _features(folder), begins)


def _features(folder: Path) -> Tokenizer | None:
    return Tokenizer.load(folder / "features.json") if (folder / "features.json").exists() else None
