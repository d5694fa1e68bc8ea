"""The names of weights in two layouts, and the way from one to the other."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from seq2see.errors import DataError

__all__ = ["ABSENT", "Names", "Orders", "Shapes", "linear", "residual_order", "taken", "written"]

Side = Literal["source", "target"]
Orders = Mapping[str, Sequence[int | None]]
"""By side, the foreign row of each of our ids, or None where there is none."""
Shapes = Mapping[str, tuple[int, ...]]

ABSENT = -1e4
"""Added to the logit of a symbol that the foreign vocabulary does not have: it is never likely."""


@dataclass(frozen=True)
class Names:
    """Weights that are the same numbers in both layouts: one after another, if they are several."""

    ours: tuple[str, ...]
    theirs: tuple[str, ...]
    transposed: bool = False
    rows: Side | None = None
    """The vocabulary whose tokens the rows stand for."""
    offset: int = 0
    """Rows that the foreign table has before its first place."""
    added: str | None = None
    """A foreign table whose first row is added to every row: of what is always there."""
    optional: bool = False
    """Zeros where the foreign layout has nothing."""
    row: bool = False
    """A bias that the foreign layout keeps as a matrix of one row."""
    batch: bool = False
    """The foreign layout has a dimension of one before all others."""


def linear(
    ours: str | Sequence[str],
    theirs: str | Sequence[str],
    bias: bool = True,
    transposed: bool = False,
    optional_bias: bool = False,
) -> Iterator[Names]:
    """A linear layer or a norm: its weight and its bias."""
    own = (ours,) if isinstance(ours, str) else tuple(ours)
    foreign = (theirs,) if isinstance(theirs, str) else tuple(theirs)

    def named(part: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        return tuple(f"{name}.{part}" for name in own), tuple(f"{name}.{part}" for name in foreign)

    yield Names(*named("weight"), transposed=transposed)
    if bias:
        yield Names(*named("bias"), optional=optional_bias)


def taken(
    names: Iterable[Names], shapes: Shapes, orders: Orders, read: Callable[[str], Tensor | None]
) -> dict[str, Tensor]:
    """Our weights, of the shapes that our network has, from foreign ones; None is what there is not."""
    found: dict[str, Tensor] = {}
    for one in names:
        parts = [read(name) for name in one.theirs]
        sizes = [shapes[name] for name in one.ours]
        rows = [size[0] for size in sizes]
        if one.optional and all(part is None for part in parts):
            length = _rows_needed(orders[one.rows]) if one.rows is not None else sum(rows)
            parts = [torch.zeros(length, *sizes[0][1:])]
        given = [_upright(part, one) for part in parts if part is not None]
        if len(given) < len(parts):
            missing = [name for name, part in zip(one.theirs, parts, strict=True) if part is None]
            raise DataError(f"the weight {missing[0]} is missing")
        _refuse_misfits(one, given, sizes, sum(rows))
        joined = torch.cat(given)
        if one.rows is not None:
            joined = _chosen(joined, orders[one.rows], one)
        joined = joined[one.offset : one.offset + sum(rows)]
        if one.added is not None and (more := read(one.added)) is not None:
            joined = joined + more[0]
        found |= dict(zip(one.ours, joined.split(rows), strict=True))
    return found


def _refuse_misfits(one: Names, given: Sequence[Tensor], sizes: Sequence[tuple[int, ...]], rows: int) -> None:
    """Refuse weights of other shapes than the configuration says."""
    found = sum(part.shape[0] if part.dim() else 0 for part in given)
    fits = all(part.shape[1:] == sizes[0][1:] for part in given)
    if not fits or (found != rows + one.offset and one.rows is None):
        raise DataError(
            f"the weight {' + '.join(one.theirs)} is {' + '.join(str(tuple(part.shape)) for part in given)}, "
            f"and by the configuration {' + '.join(map(str, sizes))}"
        )


def written(names: Iterable[Names], weights: Mapping[str, Tensor], orders: Orders) -> dict[str, Tensor]:
    """Foreign weights from ours; by side, `orders` lists the ids whose rows are written."""
    found: dict[str, Tensor] = {}
    for one in names:
        joined = torch.cat([weights[name] for name in one.ours])
        if one.rows is not None:
            joined = joined[torch.tensor([place for place in orders[one.rows] if place is not None])]
        if one.offset:
            joined = torch.cat([joined.new_zeros(one.offset, *joined.shape[1:]), joined])
        if one.added is not None:
            found[one.added] = joined.new_zeros(1, joined.shape[1])
        for name, part in zip(one.theirs, joined.chunk(len(one.theirs)), strict=True):
            part = part.T if one.transposed else part
            found[name] = (part[None] if one.row else part).contiguous()
    return found


def _upright(part: Tensor, one: Names) -> Tensor:
    if one.row:
        part = part.reshape(-1)
    if one.batch and part.shape[:1] == (1,):
        part = part[0]
    return part.T if one.transposed else part


def _rows_needed(order: Sequence[int | None]) -> int:
    return 1 + max(row for row in order if row is not None)


def _chosen(joined: Tensor, order: Sequence[int | None], one: Names) -> Tensor:
    """The rows of our ids. A bias forbids symbols that are absent, or stand there a second time."""
    if (needed := _rows_needed(order)) > len(joined):
        raise DataError(
            f"the weight {one.theirs[0]} has {len(joined):,} rows, and the tokenizer has tokens up to number "
            f"{needed - 1:,}: it belongs to another model"
        )
    rows = torch.tensor([0 if row is None else row for row in order])
    absent = torch.tensor([row is None for row in order])
    found = joined[rows]
    if joined.dim() > 1:
        return found.masked_fill(absent[:, None], 0.0)
    return found.masked_fill(absent | repeated(order), ABSENT)


def repeated(order: Sequence[int | None]) -> Tensor:
    """Which of our ids have a row that another id is the proper one of.

    A row belongs to the token or symbol that it was; the begin symbol and further copies borrow it.
    """
    owner: dict[int, int] = {}
    for place, row in enumerate(order):
        if row is not None and (row not in owner or owner[row] == 1):
            owner[row] = place
    return torch.tensor([row is not None and owner[row] != place for place, row in enumerate(order)])


_RESIDUAL = {
    "query.weight": 1,
    "key.weight": 1,
    "value.weight": 1,
    "output.weight": 0,
    "output.bias": 0,
    "enter.weight": 1,
    "leave.weight": 0,
    "leave.bias": 0,
    "norm.weight": 0,
    "norm.bias": 0,
    "embed.weight": 1,
    "head.output.weight": 1,
}
"""By the end of a weight's name, the dimension that runs over the features of states between blocks."""


def residual_order(weights: Mapping[str, Tensor], order: Tensor) -> dict[str, Tensor]:
    """The same network with the features of all states between blocks in another order.

    Nothing in a Transformer minds that order but a position table. Ours has sines and cosines in turn.
    """
    found = {}
    for name, tensor in weights.items():
        ends = [dimension for end, dimension in _RESIDUAL.items() if name.endswith(end)]
        if name.startswith("head."):
            ends = [1] if name == "head.output.weight" else []
        found[name] = tensor.index_select(ends[0], order) if ends else tensor
    return found
