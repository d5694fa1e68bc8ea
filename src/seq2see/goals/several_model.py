"""A trained model that reads a text once and writes it into several targets, such as languages."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from seq2see.data import Pair
from seq2see.errors import SettingsError
from seq2see.evaluation import Example, Outcome, Texts
from seq2see.goals.text_model import TextModel
from seq2see.goals.text_values import By, Output, Source

__all__ = ["SeveralModel"]


class SeveralModel(TextModel):
    """Takes texts, and gives a text for each target by its name."""

    @property
    def targets(self) -> list[str]:
        """The names of the targets, in the order of training."""
        return list(self.target.targets)

    def __call__(
        self,
        texts: str | Sequence[str],
        features: Sequence[str] | None = None,
        into: str | Sequence[str] | None = None,
        **options: Any,
    ) -> Any:
        """Decode texts: one gives one, a list gives a list, each a dictionary of texts by target.

        `into` names some of the targets; a single name, not in a list, gives texts alone.
        """
        if isinstance(into, str):
            return super().__call__(texts, features, into=into, **options)
        listed = [texts] if isinstance(texts, str) else list(texts)
        tags = list(features) if features is not None else [""] * len(listed)
        sources = [Source(text, tag) for text, tag in zip(listed, tags, strict=True)]
        found = [
            {name: outputs[0].text for name, outputs in targets.items()}
            for targets in self.decode_into(sources, into, scored=False, **options)
        ]
        return found[0] if isinstance(texts, str) else found

    def chosen(self, into: Iterable[str] | None) -> list[str]:
        """Some of the targets, or all of them."""
        names = self.targets if into is None else list(into)
        for name in names:
            self.target.opening(name)
            if names.count(name) > 1:
                raise SettingsError(f"the target {name!r} is named twice; name it once")
        return names or self.targets

    def decode_into(
        self, sources: Iterable[Source], into: Iterable[str] | None = None, **options: Any
    ) -> Iterator[dict[str, list[Output]]]:
        """Outputs of a stream of sources by target, in order; each source is encoded once.

        Options as for `decode`.
        """
        names = self.chosen(into)
        for outputs in self.decode_each(sources, names, **options):
            yield dict(zip(names, outputs, strict=True))

    def outcome(
        self, examples: Sequence[Pair], most: int | None = None, by: By | None = None, **options: Any
    ) -> Texts:
        """The outcomes of all targets as one."""
        found = self._texts(examples, most, by, **options)
        return Texts([one for texts in found.values() for one in texts.examples], self.unit)

    def outcomes(
        self, examples: Sequence[Pair], most: int | None = None, **options: Any
    ) -> dict[str, Outcome]:
        """The outcome of each target."""
        return dict(self._texts(examples, most, **options))

    def _texts(
        self, examples: Sequence[Pair], most: int | None = None, by: By | None = None, **options: Any
    ) -> Mapping[str, Texts]:
        """Outputs beside what is right, by target; a source is decoded into those that it has examples of."""
        if not set(self.targets) >= {one.into for one in examples}:
            raise SettingsError(
                "every example needs the name of its target; read a file with all of the columns"
            )
        each = -(-most // len(self.targets)) if most is not None else None
        asked = {
            name: self.asked(own, each, by)
            for name in self.targets
            if (own := [one for one in examples if one.into == name])
        }
        wanted: dict[Source, list[str]] = {}
        for name, rows in asked.items():
            for source in dict.fromkeys(source for source, _ in rows):
                wanted.setdefault(source, []).append(name)
        said: dict[tuple[Source, str], str] = {}
        for names in dict.fromkeys(map(tuple, wanted.values())):
            sources = [source for source, into in wanted.items() if tuple(into) == names]
            found = self.decode_each(sources, names, scored=False, **options)
            for source, targets in zip(sources, found, strict=True):
                said |= {(source, name): out[0].text for name, out in zip(names, targets, strict=True)}
        return {
            name: Texts([Example(one.text, said[one, name], right) for one, right in rows], self.unit)
            for name, rows in asked.items()
        }
