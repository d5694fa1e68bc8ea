"""Files with several texts as targets of each source, every one of which is an example of its own."""

from collections.abc import Iterable, Iterator

from seq2see.data.formats import Fields, Wanted
from seq2see.data.pairs import Pair, PairFile, Problem

__all__ = ["SeveralTexts", "every"]


class SeveralTexts(PairFile):
    """Gives an example for each cell of the target columns that holds something; others are missing."""

    def _wanted(self) -> Wanted:
        return super()._wanted()._replace(gaps=True)

    def _usable(self, number: int, fields: Fields) -> Iterator[Pair | Problem]:
        if not (fields.source.strip() and fields.target.strip()):
            yield from super()._usable(number, fields)
            return
        for name, cell in zip(map(str, self.columns.targets), fields.target.split("\t"), strict=True):
            if not cell.strip():
                yield Problem(number, "missing target", f"nothing in column {name!r}", fatal=False)
                continue
            for item in super()._usable(number, fields._replace(target=cell)):
                yield item._replace(into=name) if isinstance(item, Pair) else item


def every(examples: Iterable[Pair], step: int) -> Iterator[Pair]:
    """Each so many-th of examples in order; of several targets, all of each so many-th line."""
    place, last = -1, None
    for one in examples:
        place += not (one.into and one.line == last)
        last = one.line
        if place % step == 0:
            yield one
