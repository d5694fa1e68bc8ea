"""Files with several texts as targets of each source, every one of which is an example of its own."""

from collections.abc import Iterator

from seq2see.data.formats import Fields, Wanted
from seq2see.data.pairs import Pair, PairFile, Problem

__all__ = ["SeveralTexts"]


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
