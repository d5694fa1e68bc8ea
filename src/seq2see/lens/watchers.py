"""Watchers of attention: they are given the weights of every head, and may change or collect them."""

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase

import torch
from torch import Tensor, nn

from seq2see.errors import SettingsError
from seq2see.layers.attention import Watch, harden
from seq2see.lens import weights as change
from seq2see.lens.blocks import check_parts
from seq2see.lens.edits import Block, Borrow, Edit, Hard, Off, OnWeights, Pin, Skip, Temperature, Top
from seq2see.settings import near

__all__ = [
    "Editor",
    "Patterns",
    "WeightCollector",
    "addresses_of",
    "check_addresses",
    "check_for_any",
    "lent_weights",
]

Patterns = Mapping[int, Mapping[str, Tensor]]
"""For an edit by its number: the weights (H, T, S) that are put in at each address."""


def addresses_of(network: nn.Module) -> dict[str, int]:
    """Every attention of a network, with its number of heads."""
    found = [module for module in network.modules() if isinstance(getattr(module, "address", None), str)]
    return {str(module.address): int(module.heads) for module in found}  # type: ignore[arg-type]


def check_addresses(edits: Sequence[Edit], network: nn.Module) -> None:
    """Refuse edits that name no attention, residual block or place of a network."""
    check_parts(edits, network)
    known = addresses_of(network) if edits else {}
    for edit in edits:
        if not isinstance(edit, OnWeights):
            continue
        meant = [address for address in known if fnmatchcase(address, edit.at)]
        if not meant:
            hint = near(edit.at, known) if known else "this model has no attention"
            raise SettingsError(f"no attention of this model is at {edit.at!r}; {hint}")
        heads = min(known[address] for address in meant)
        if beyond := [head for head in edit.heads or () if head >= heads]:
            raise SettingsError(
                f"there is no head {beyond[0]} at {edit.at!r}: heads are numbered from 0 to {heads - 1}"
            )


def check_for_any(edits: Sequence[Edit]) -> None:
    """Refuse edits that only make sense for one text, where many texts are answered."""
    for edit in edits:
        fits = isinstance(edit, Off | Hard | Top | Temperature | Skip)
        if not fits or getattr(edit, "how", None) == "mean":
            what = "off with how=mean" if isinstance(edit, Off) else edit.kind
            raise SettingsError(
                f"the edit {what!r} is made for one source; give it to model.attention(text, edits=...)"
            )


def lent_weights(edit: Borrow, lent: Mapping[str, Tensor], addresses: Mapping[str, int]) -> dict[str, Tensor]:
    """The weights (H, T, S) that an edit puts in at each address it names; `addresses` has their heads.

    A copy of one head has a storage of its own, so that the lender's other maps need not be kept for it.
    """
    if edit.origin is not None and edit.origin not in lent:
        raise SettingsError(f"nothing can be borrowed from {edit.origin!r}; {near(edit.origin, lent)}")
    found = {}
    for address, heads in addresses.items():
        if not fnmatchcase(address, edit.at):
            continue
        weights = lent.get(edit.origin or address)
        if weights is None:
            raise SettingsError(
                f"the lender has no attention at {address!r}; name one of its own with from= "
                f"({', '.join(lent) or 'it has none at all'})"
            )
        if edit.head is not None:
            if edit.head >= len(weights):
                raise SettingsError(
                    f"the lender has no head {edit.head}: they are numbered to {len(weights) - 1}"
                )
            weights = weights[edit.head].clone().expand(heads, -1, -1)
        if len(weights) != heads:
            raise SettingsError(
                f"{address} has {heads} heads and the lender {len(weights)}; name the head to take with head="
            )
        found[address] = weights
    return found


class Editor:
    """Applies edits, one after another, during one pass over a source and its targets.

    A pass gives either all steps of a target at once, or (`searching`) one step at a time for several
    hypotheses side by side. Which step a row of weights belongs to is counted here.
    """

    def __init__(
        self, edits: Sequence[Edit], patterns: Patterns | None = None, searching: bool = False
    ) -> None:
        self._edits = [(number, edit) for number, edit in enumerate(edits) if isinstance(edit, OnWeights)]
        self._patterns = patterns or {}
        self._searching = searching
        self._done: dict[str, int] = {}

    def __call__(self, address: str, weights: Tensor, mask: Tensor | None) -> Tensor:
        at_once = not (self._searching and address.startswith("decoder"))
        start = self._done.get(address, 0)
        count = weights.shape[2] if at_once else 1
        self._done[address] = start + count
        steps = range(start, start + count)
        for number, edit in self._edits:
            if not fnmatchcase(address, edit.at):
                continue
            pattern = self._patterns.get(number, {}).get(address)
            changed = _changed(edit, weights, mask, steps, pattern)
            if changed is weights:
                continue
            heads = list(edit.heads) if edit.heads is not None else slice(None)
            kept, weights = weights, weights.clone()
            weights[:, heads] = changed.expand_as(kept)[:, heads]
        return weights


def _changed(
    edit: OnWeights, weights: Tensor, mask: Tensor | None, steps: range, pattern: Tensor | None
) -> Tensor:
    """What an edit makes of the weights of all heads at some steps."""
    match edit:
        case Off(how="zero"):
            return torch.zeros_like(weights)
        case Off(how="uniform"):
            return change.uniform(weights, mask)
        case Off(how="first"):
            return change.first(weights, mask)
        case Off(how="mean"):
            assert pattern is not None
            return change.fitted(pattern.mean(1, keepdim=True), weights, mask)
        case Hard():
            return harden(weights)
        case Top(count=count):
            return change.highest(weights, count)
        case Temperature(value=value):
            return change.tempered(weights, value)
        case Block(places=places):
            return change.blocked(weights, list(places))
        case Pin(step=step, places=places):
            if step not in steps:
                return weights
            return _at_step(
                change.pinned(weights, list(places), mask), weights, step - steps.start, len(steps)
            )
        case Borrow():
            assert pattern is not None
            lent = range(steps.start, min(steps.stop, pattern.shape[1]))
            if not lent:
                return weights
            rows = torch.zeros(len(pattern), len(steps), pattern.shape[2], dtype=weights.dtype)
            rows[:, : len(lent)] = pattern[:, lent.start : lent.stop]
            return change.fitted(rows.to(weights.device), weights, mask)
    raise AssertionError(edit)


def _at_step(changed: Tensor, weights: Tensor, row: int, rows: int) -> Tensor:
    """Changed weights in one of several rows; where all rows are of one step, in all of them."""
    if rows == 1:
        return changed
    mixed = weights.clone()
    mixed[:, :, row] = changed[:, :, row]
    return mixed


class WeightCollector:
    """Collects the weights of each attention, after another watcher (if there is one) has changed them."""

    def __init__(self, watch: Watch | None = None) -> None:
        self._watch = watch
        self._collected: dict[str, list[Tensor]] = {}

    def __call__(self, address: str, weights: Tensor, mask: Tensor | None) -> Tensor:
        if self._watch is not None:
            weights = self._watch(address, weights, mask)
        self._collected.setdefault(address, []).append(weights)
        return weights

    def weights(self) -> dict[str, Tensor]:
        """By address, (B, H, T, S); weights that came step by step stand one under another."""
        return {address: _joined(parts) for address, parts in self._collected.items()}


def _joined(parts: list[Tensor]) -> Tensor:
    """Weights of several steps as one map; early steps, which had fewer keys, are filled up with zeros."""
    widest = max(part.shape[-1] for part in parts)
    return torch.cat([nn.functional.pad(part, (0, widest - part.shape[-1])) for part in parts], 2)
