"""Numbers that say what an attention does, from its weights (H, T, S); empty rows do not count."""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

__all__ = ["SUMMARIES", "alignments", "mass", "merged", "patterns", "rollout", "summarise"]


def entropy(weights: Tensor) -> Tensor:
    """How spread out a row is: 0 for a single column, 1 for all columns of the row alike, (H,)."""
    spread = -(weights * weights.clamp(min=1e-30).log()).sum(-1)
    columns = (weights > 0).sum(-1).clamp(min=2)
    return _mean_of_rows(spread / columns.log(), weights)


def first(weights: Tensor) -> Tensor:
    """Mass on the first column: heads that have nothing to do often rest there (a sink)."""
    return _mean_of_rows(weights[..., 0], weights)


def last(weights: Tensor) -> Tensor:
    """Mass on the last column, which mostly is the end of the source."""
    return _mean_of_rows(weights[..., -1], weights)


def diagonality(weights: Tensor) -> Tensor:
    """How close to the diagonal the mass lies: 1 on it, 0 as far away as a row allows."""
    steps, columns = weights.shape[1:]
    along = torch.linspace(0, 1, steps, device=weights.device)[:, None]
    across = torch.linspace(0, 1, columns, device=weights.device)
    away = (along - across).abs()
    return 1 - _mean_of_rows((weights * away).sum(-1) / torch.maximum(along, 1 - along)[:, 0], weights)


def distance(weights: Tensor) -> Tensor:
    """How many columns away from its own number a row looks, on the average."""
    steps, columns = weights.shape[1:]
    rows = torch.arange(steps, device=weights.device)[:, None]
    away = (rows - torch.arange(columns, device=weights.device)).abs().to(weights.dtype)
    return _mean_of_rows((weights * away).sum(-1), weights)


def coverage(weights: Tensor) -> Tensor:
    """The share of the columns that get as much weight, over all rows, as half of an even share."""
    seen = weights.sum(1)
    even = seen.sum(-1, keepdim=True) / weights.shape[-1]
    return (seen >= even / 2).to(weights.dtype).mean(-1)


SUMMARIES = {
    "entropy": entropy,
    "first": first,
    "last": last,
    "diagonality": diagonality,
    "distance": distance,
    "coverage": coverage,
}


def summarise(weights: Tensor) -> list[dict[str, float]]:
    """Every summary of every head."""
    found = {name: summary(weights.float()).tolist() for name, summary in SUMMARIES.items()}
    return [{name: values[head] for name, values in found.items()} for head in range(len(weights))]


def patterns(tokens: Sequence[str], special: Sequence[bool], ahead: bool) -> dict[str, Tensor]:
    """Where the heads of a self-attention are known to look: for each pattern the places meant, (T, T).

    Previous, itself and next are places beside a token; special are symbols such as <begin> and <end>; same
    is the same token elsewhere in the text. Without `ahead`, later places cannot be looked at.
    """
    places = torch.arange(len(tokens))
    offset = places - places[:, None]
    numbers = {token: number for number, token in enumerate(tokens)}
    alike = torch.tensor([numbers[token] for token in tokens])
    symbol = torch.tensor(special, dtype=torch.bool)
    found = {
        "previous": offset == -1,
        "itself": offset == 0,
        "next": offset == 1,
        "special": symbol.expand(len(tokens), -1),
        "same": (alike == alike[:, None]) & (offset != 0) & ~symbol,
    }
    return found if ahead else {name: meant & (offset <= 0) for name, meant in found.items()}


def mass(weights: Tensor, meant: Tensor) -> Tensor:
    """The weight that each head gives to the places meant, (H,); rows that have none of them do not count."""
    rows = meant.any(-1)
    here = weights[:, rows]
    return _mean_of_rows((here * meant[rows]).sum(-1), here)


def _mean_of_rows(values: Tensor, weights: Tensor) -> Tensor:
    """The mean of (H, T) over the rows that have any weight, (H,)."""
    looks = weights.sum(-1) > 0
    return (values * looks).sum(-1) / looks.sum(-1).clamp(min=1)


def rollout(weights: Mapping[str, Tensor], side: str = "encoder") -> Tensor:
    """How much of each position's last state comes from each position, through all self-attentions, (S, S).

    Abnar and Zuidema (2020): heads averaged, half of each state passed on by the residual path, layers
    multiplied. Rows sum to 1.
    """
    layers = [found for address, found in weights.items() if _is_self(address, side)]
    if not layers:
        raise ValueError(f"there is no self-attention in the {side}, so nothing to roll out")
    size = layers[0].shape[-1]
    flow = torch.eye(size, device=layers[0].device)
    for layer in layers:
        mixed = layer.float().mean(0) + torch.eye(size, device=flow.device)
        flow = (mixed / mixed.sum(-1, keepdim=True)) @ flow
    return flow


def _is_self(address: str, side: str) -> bool:
    return address.startswith(f"{side}.") and address.endswith(".self")


def alignments(
    weights: Sequence[Sequence[float]] | Tensor, rows: Sequence[str], columns: Sequence[str]
) -> list[str]:
    """For each row the column it looks at most, as `k <- K .83`."""
    table = weights.tolist() if isinstance(weights, Tensor) else weights
    best = [max(range(len(row)), key=row.__getitem__) for row in table]
    return [
        f"{label} <- {columns[place]} {row[place]:.2f}".replace(" 0.", " .")
        for label, row, place in zip(rows, table, best, strict=True)
    ]


def merged(weights: Tensor, rows: Sequence[range], columns: Sequence[range]) -> Tensor:
    """Weights between groups of tokens: a group gets what its tokens get, and looks as they do on average."""
    joined = torch.stack([weights[..., group.start : group.stop].sum(-1) for group in columns], -1)
    return torch.stack([joined[..., group.start : group.stop, :].mean(-2) for group in rows], -2)
