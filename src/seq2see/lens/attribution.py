"""What each source token did for each output token, measured on the output and not on attention."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from seq2see.layers.attention import Watch
from seq2see.models import EncoderDecoder

__all__ = ["ATTRIBUTIONS", "gradient_times_input", "occlusion"]

_TOGETHER = 4096
"""Tokens of copies of a source that go through a network at once."""


Watching = Callable[[], Watch | None]
"""Makes a watcher for each pass, or none."""


def gradient_times_input(
    network: EncoderDecoder, source: Sequence[int], said: Sequence[int], watching: Watching = lambda: None
) -> Tensor:
    """d log p(y_t) / d x_s . x_s with x_s the embedding of a source token, (T, S).

    To first order, how much the log-probability of an output token owes to each source token.
    """
    found = []
    for steps in torch.arange(len(said)).split(max(1, _TOGETHER // (len(source) + len(said)))):
        inputs = _repeat([network.special.begin, *said[:-1]], len(steps), network)
        kept: list[Tensor] = []

        def keep(module: object, given: object, embedded: Tensor, kept: list[Tensor] = kept) -> Tensor | None:
            # The source is read first; where the target has the same embedding, its turn comes later.
            if kept:
                return None
            kept.append(embedded.detach().requires_grad_())
            return kept[0]

        hook = network.front.embed.register_forward_hook(keep)
        try:
            # CUDA's own recurrence has no gradient outside training.
            with torch.enable_grad(), torch.backends.cudnn.flags(enabled=False):
                logits = network.logits(_repeat(source, len(steps), network), inputs, watching())
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
    network: EncoderDecoder, source: Sequence[int], said: Sequence[int], watching: Watching = lambda: None
) -> Tensor:
    """log p(y_t) less what is left of it when a source token is replaced by the unknown one, (T, S)."""
    unknown = network.special.unknown
    rows = [list(source), *([*source[:place], unknown, *source[place + 1 :]] for place in range(len(source)))]
    targets = torch.tensor(said, device=next(network.parameters()).device)
    found = []
    count = max(1, _TOGETHER // (len(source) + len(said)))
    for start in range(0, len(rows), count):
        part = torch.tensor(rows[start : start + count], device=targets.device)
        logits = network.logits(
            part, _repeat([network.special.begin, *said[:-1]], len(part), network), watching()
        )
        chances = logits.float().log_softmax(-1)
        found.append(chances.gather(2, targets.expand(len(part), -1)[..., None])[..., 0])
    whole, *without = torch.cat(found)
    lost: Tensor = (whole - torch.stack(without)).T
    return lost


def _repeat(ids: Sequence[int], count: int, network: EncoderDecoder) -> Tensor:
    device = next(network.parameters()).device
    return torch.tensor([list(ids)], device=device).expand(count, -1)


ATTRIBUTIONS: dict[str, Callable[[EncoderDecoder, Sequence[int], Sequence[int], Watching], Tensor]] = {
    "gradient": gradient_times_input,
    "occlusion": occlusion,
}
