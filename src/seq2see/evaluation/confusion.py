"""What is taken for what: a table of true against predicted classes, and figures of classes and numbers."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seq2see.evaluation.outcomes import Classes, Numbers, Outcome, Tags
from seq2see.figures import points_figure, table_figure

__all__ = ["FIGURES", "Confusion", "confusion", "confusion_figure", "scatter_figure"]

_OTHER = "other"


@dataclass(frozen=True)
class Confusion:
    """How often each class is taken for each class."""

    labels: tuple[str, ...]
    counts: NDArray[np.integer[Any]]
    """(true, predicted)"""

    def mistakes(self, most: int | None = None) -> list[tuple[str, str, int]]:
        """True class, predicted class and how often, the most frequent mistakes first."""
        places = zip(*np.nonzero(self.counts * ~np.eye(len(self.labels), dtype=bool)), strict=True)
        found = [
            (self.labels[true], self.labels[said], int(self.counts[true, said])) for true, said in places
        ]
        return sorted(found, key=lambda mistake: -mistake[2])[:most]

    def reduced(self, most: int) -> "Confusion":
        """The classes that are most involved in mistakes, and all others as one."""
        if len(self.labels) <= most:
            return self
        wrong = self.counts * ~np.eye(len(self.labels), dtype=bool)
        kept = np.sort(np.argsort(-(wrong.sum(0) + wrong.sum(1)), kind="stable")[: most - 1])
        place = np.full(len(self.labels), most - 1)
        place[kept] = np.arange(most - 1)
        counts = np.zeros((most, most), dtype=int)
        np.add.at(counts, (place[:, None], place[None, :]), self.counts)
        return Confusion((*(self.labels[label] for label in kept), _OTHER), counts)


def confusion(classes: Classes) -> Confusion:
    """The table of an outcome, without classes that are neither true nor predicted."""
    _, predicted, true = classes.by_label()
    occurs = np.flatnonzero(predicted + true)
    labels = tuple(classes.labels[place] for place in occurs)
    return Confusion(labels, classes.table()[np.ix_(occurs, occurs)])


def confusion_figure(classes: Classes, kind: str = "png", title: str = "", most: int = 20) -> bytes:
    """The table as a figure: shades are shares of a true class, numbers are counts."""
    found = confusion(classes).reduced(most)
    shares = found.counts / np.maximum(1, found.counts.sum(1, keepdims=True))
    return table_figure(
        shares.tolist(), found.counts.tolist(), found.labels, title, "predicted", "true", kind
    )


def scatter_figure(numbers: Numbers, kind: str = "png", title: str = "", name: str = "value") -> bytes:
    """Predictions against the truth, with the line on which they would all be right."""
    return points_figure(
        numbers.truth.tolist(), numbers.predicted.tolist(), title, f"true {name}", f"predicted {name}", kind
    )


FIGURES: Mapping[type[Outcome], Callable[[Any, str], bytes]] = {
    Classes: confusion_figure,
    Tags: lambda tags, kind: confusion_figure(tags.classes(), kind),
    Numbers: scatter_figure,
}
"""What is drawn of an outcome, by its kind: an outcome and a kind of image to an image."""
