"""What heads look at: the summaries of every head, averaged over many texts."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean

import torch

from seq2see.data import Pair
from seq2see.errors import SettingsError
from seq2see.goals import Predictor
from seq2see.lens.request import LensRequest
from seq2see.lens.summaries import mass
from seq2see.lens.view import View
from seq2see.lens.watchers import addresses_of

__all__ = ["HeadPatterns", "find_patterns"]


@dataclass(frozen=True)
class HeadPatterns:
    """The summaries of every head by address, means over texts; and what even attention would reach."""

    texts: int
    heads: dict[str, list[dict[str, float]]]
    even: dict[str, dict[str, float]]
    """By address, for the patterns of a text that looks at itself."""

    def strongest(self, pattern: str) -> list[tuple[str, int, float]]:
        """Address, head and mean weight on the places of a pattern, the highest first."""
        found = [
            (address, head, values[pattern])
            for address, heads in self.heads.items()
            for head, values in enumerate(heads)
            if pattern in values
        ]
        return sorted(found, key=lambda one: -one[2])


def find_patterns(
    model: Predictor,
    examples: Sequence[Pair],
    most: int = 200,
    tell: Callable[[int, int], None] = lambda done, all: None,
) -> HeadPatterns:
    """Look at texts (`most` of them, evenly chosen) and the model's own outputs; average what is seen."""
    if not addresses_of(model.network):
        raise SettingsError("this model has no attention, so there are no heads to look at")
    chosen = examples[:: -(-len(examples) // most)]
    seen: dict[tuple[str, int], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    even: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for done, example in enumerate(chosen, 1):
        view = model.look(_request(model, example))
        for address in view.weights:
            for head, values in enumerate(view.summaries(address)):
                for name, value in values.items():
                    seen[address, head][name].append(value)
            for name, value in _even(view, address).items():
                even[address][name].append(value)
        tell(done, len(chosen))
    heads: dict[str, list[dict[str, float]]] = defaultdict(list)
    for (address, _), found in seen.items():
        heads[address].append(_means(found))
    return HeadPatterns(len(chosen), dict(heads), {at: _means(found) for at, found in even.items()})


def _request(model: Predictor, example: Pair) -> LensRequest:
    """What a look at an example asks for; of running text, a beginning that the model can see at once."""
    if example.source:
        return LensRequest(example.source, example.features, beam=1, into=example.into)
    text, longest = example.target, model.recipe.data.max_length
    while longest and model.most_tokens([text], "", None) > longest:
        text = text[: len(text) // 2]
    return LensRequest(text, beam=1, longest=1)


def _even(view: View, address: str) -> dict[str, float]:
    """The weight on each pattern if a head looked at all places alike that it may look at."""
    meant = view.patterns(address)
    size = len(view.columns(address))
    places = torch.ones(1, size, size)
    weights = places if address.startswith("encoder") else places.tril()
    weights = weights / weights.sum(-1, keepdim=True)
    return {name: float(mass(weights, table)) for name, table in meant.items()}


def _means(found: dict[str, list[float]]) -> dict[str, float]:
    return {name: fmean(values) for name, values in found.items()}
