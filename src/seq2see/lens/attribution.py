"""What each source token did for each output token, measured on the output and not on attention.

Of a decoder alone the source is what it has read: the begin symbol, and each token before the one foretold.
"""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn

from seq2see.layers.attention import Watch
from seq2see.models import DecoderOnly, EncoderDecoder

__all__ = ["ATTRIBUTIONS", "Watching", "gradient_times_input", "occlusion"]

_TOGETHER = 4096
"""Tokens of copies of a source that go through a network at once."""


Watching = Callable[[], Watch | None]
"""Makes a watcher for each pass, or none."""
Writes = EncoderDecoder | DecoderOnly


def gradient_times_input(
    network: Writes,
    source: Sequence[int],
    said: Sequence[int],
    watching: Watching = lambda: None,
    first: int | None = None,
) -> Tensor:
    """d log p(y_t) / d x_s . x_s with x_s the embedding of a source token, (T, S).

    To first order, how much the log-probability of an output token owes to each source token.
    """
    found = []
    for steps in torch.arange(len(said)).split(max(1, _TOGETHER // (len(source) + len(said)))):
        kept: list[Tensor] = []

        def keep(module: object, given: object, embedded: Tensor, kept: list[Tensor] = kept) -> Tensor | None:
            # The source is read first; where the target has the same embedding, its turn comes later.
            if kept:
                return None
            kept.append(embedded.detach().requires_grad_())
            return kept[0]

        hook = _embedding(network).register_forward_hook(keep)
        try:
            # CUDA's own recurrence has no gradient outside training.
            with torch.enable_grad(), torch.backends.cudnn.flags(enabled=False):
                logits = _logits(network, _repeat(source, len(steps), network), said, watching(), first)
        finally:
            hook.remove()
        tokens = torch.tensor(said, device=logits.device)[steps]
        rows = torch.arange(len(steps), device=logits.device)
        chosen = logits.float().log_softmax(-1)[rows, steps.to(logits.device), tokens]
        (slope,) = torch.autograd.grad(chosen.sum(), kept)
        found.append((slope * kept[0]).sum(-1).detach())
    return torch.cat(found)


@torch.inference_mode()
def occlusion(
    network: Writes,
    source: Sequence[int],
    said: Sequence[int],
    watching: Watching = lambda: None,
    first: int | None = None,
) -> Tensor:
    """log p(y_t) less what is left of it when a source token is replaced by the unknown one, (T, S)."""
    unknown = network.special.unknown
    rows = [list(source), *([*source[:place], unknown, *source[place + 1 :]] for place in range(len(source)))]
    targets = torch.tensor(said, device=network.device)
    found = []
    count = max(1, _TOGETHER // (len(source) + len(said)))
    for start in range(0, len(rows), count):
        part = torch.tensor(rows[start : start + count], device=targets.device)
        logits = _logits(network, part, said, watching(), first)
        chances = logits.float().log_softmax(-1)
        found.append(chances.gather(2, targets.expand(len(part), -1)[..., None])[..., 0])
    whole, *without = torch.cat(found)
    lost: Tensor = (whole - torch.stack(without)).T
    return lost


def _logits(
    network: Writes, sources: Tensor, said: Sequence[int], watch: Watch | None, first: int | None
) -> Tensor:
    """Scores at every step of an output after each of some sources, (B, S) -> (B, T, V).

    `first` is what a decoder with a source reads first; by default the begin symbol.
    """
    if isinstance(network, DecoderOnly):
        return network.logits(sources, watch)
    inputs = _repeat([network.special.begin if first is None else first, *said[:-1]], len(sources), network)
    return network.logits(sources, inputs, watch)


def _embedding(network: Writes) -> nn.Module:
    """What embeds the source."""
    return network.decoder.embed if isinstance(network, DecoderOnly) else network.front.embed


def _repeat(ids: Sequence[int], count: int, network: Writes) -> Tensor:
    return torch.tensor([list(ids)], device=network.device).expand(count, -1)


ATTRIBUTIONS: dict[str, Callable[[Writes, Sequence[int], Sequence[int], Watching, int | None], Tensor]] = {
    "gradient": gradient_times_input,
    "occlusion": occlusion,
}
