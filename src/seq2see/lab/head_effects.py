"""Which heads matter: what is lost of a score when each is switched off in turn."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from seq2see import evaluation
from seq2see.data import Pair
from seq2see.errors import SettingsError
from seq2see.goals import Predictor
from seq2see.lens.edits import Edit, Off
from seq2see.lens.watchers import addresses_of
from seq2see.settings import near

__all__ = ["HeadEffects", "weigh_heads"]


WAYS = ("zero", "uniform", "first")
"""What a head that is off looks at, of the ways that make sense for any source."""


@dataclass(frozen=True)
class HeadEffects:
    """A score with all heads, and its change without each of them, by address."""

    metric: str
    sources: int
    score: float
    changes: dict[str, list[float]]

    @property
    def ranked(self) -> list[tuple[str, int, float]]:
        """Address, head and change, those that matter most first."""
        heads = [(at, head, value) for at, found in self.changes.items() for head, value in enumerate(found)]
        return sorted(heads, key=lambda one: one[2] * evaluation.METRICS[self.metric].direction)


def weigh_heads(
    model: Predictor,
    pairs: Sequence[Pair],
    how: str = "zero",
    metric: str | None = None,
    most: int | None = None,
    beam: int | None = None,
    tell: Callable[[int, int], None] = lambda done, all: None,
) -> HeadEffects:
    """Answer examples (`most` of them, evenly chosen) once for each head."""
    addresses = addresses_of(model.network)
    if not addresses:
        raise SettingsError("this model has no attention, so there are no heads to switch off")
    if how not in WAYS:
        raise SettingsError(f"a head that is off cannot look at {how!r}; {near(how, WAYS)}")
    if metric is not None:
        row = evaluation.metric_named(metric)
        if model.recipe.goal not in {kind.goal for kind in row.kinds if row.fits(kind)}:
            fits = [name for name, one in evaluation.METRICS.items() if model.recipe.goal in one.goals]
            raise SettingsError(f"{metric} is no score of answers for {model.recipe.goal}; {near('', fits)}")
    options = {**model.quick, **({"beam": beam} if beam is not None else {})}
    plain = model.outcome(pairs, most, **options)
    trained = model.recipe.training.metric
    metric = metric or (trained if trained != "loss" else evaluation.metrics_for(plain)[0])

    def scored(edits: Sequence[Edit]) -> float:
        outcome = model.outcome(pairs, most, edits=edits, **options) if edits else plain
        return evaluation.score(outcome, [metric])[metric]

    score = scored([])
    total = sum(addresses.values())
    changes: dict[str, list[float]] = {}
    for address, heads in addresses.items():
        changes[address] = []
        for head in range(heads):
            off = Off.model_validate({"at": address, "heads": [head], "how": how})
            changes[address].append(scored([off]) - score)
            tell(sum(map(len, changes.values())), total)
    return HeadEffects(metric, len(plain), score, changes)
