"""Which weights learn at which step, and how fast: layers are counted from the head down."""

import re
from collections.abc import Collection
from functools import cached_property

from torch import nn

from seq2see.errors import SettingsError
from seq2see.settings import near
from seq2see.training.settings import TrainingSettings

__all__ = ["Depths"]

_LAYER = re.compile(r"(encoder|decoder)\.\w+\.(\d+)\.")
_BOTTOM = re.compile(r"(front)\.|decoder\.(?:embed|positions|norm)\.")


class Depths:
    """How deep below the head each weight of a network lies, and what follows from it.

    The head has depth 0, the last layer of encoder or decoder 1, embeddings lie below the first layer. Where
    weights came from another run, all the others are new: they have depth 0 too.
    """

    def __init__(
        self, model: nn.Module, settings: TrainingSettings, taken: Collection[str] | None = None
    ) -> None:
        self._model, self._settings = model, settings
        names = [name for name, _ in model.named_parameters()]
        layers = {"encoder": 0, "decoder": 0}
        for found in filter(None, map(_LAYER.match, names)):
            layers[found[1]] = max(layers[found[1]], int(found[2]) + 1)
        known = set(taken) if taken is not None else None
        self.of = {name: _depth(name, layers) if known is None or name in known else 0 for name in names}
        self._frozen = {name for name in names if any(_is_under(name, one) for one in settings.freeze)}
        self._refuse_misfits(names)

    def _refuse_misfits(self, names: list[str]) -> None:
        places = {".".join(name.split(".")[:end]) for name in names for end in range(1, name.count(".") + 2)}
        for one in self._settings.freeze:
            if one not in places:
                raise SettingsError(
                    f"training.freeze names {one!r}, which this network does not have; "
                    f"{near(one, (place for place in places if place.count('.') < 3))}"
                )
        if len(self._frozen) == len(names):
            raise SettingsError("training.freeze leaves nothing to train; freeze less")

    @cached_property
    def scales(self) -> dict[str, float]:
        """What the learning rate of each weight is multiplied by."""
        below, decay = self._settings.lower_rate, self._settings.layer_decay
        return {name: below * decay ** (depth - 1) if depth else 1.0 for name, depth in self.of.items()}

    def learning(self, step: int) -> dict[str, bool]:
        """Whether each weight learns at a step, counted from 0."""
        every = self._settings.unfreeze_every
        deepest = step // every if every is not None else max(self.of.values())
        return {name: depth <= deepest and name not in self._frozen for name, depth in self.of.items()}

    def set(self, step: int) -> None:
        """Let just those weights learn that should at a step."""
        if step == 0 or self._settings.freeze or self._settings.unfreeze_every is not None:
            learns = self.learning(step)
            for name, parameter in self._model.named_parameters():
                parameter.requires_grad_(learns[name])


def _depth(name: str, layers: dict[str, int]) -> int:
    if found := _LAYER.match(name):
        return layers[found[1]] - int(found[2])
    if found := _BOTTOM.match(name):
        return layers["encoder" if found[1] else "decoder"] + 1
    return 0 if name.startswith("head.") else 1


def _is_under(name: str, place: str) -> bool:
    return name == place or name.startswith(f"{place}.")
