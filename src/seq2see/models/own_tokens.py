"""Which tokens of a common vocabulary each of several targets uses, numbered anew for each."""

import torch
from torch import Tensor, nn

from seq2see.models.contracts import Vocabulary

__all__ = ["OwnTokens"]


class OwnTokens(nn.Module):
    """The tokens of each target by numbers of its own, so that its embedding and output need no others.

    All tokens that a target has never shown have one number, that of the unknown symbol, and share its
    probability evenly. The symbol that names the target has the number of the begin symbol.
    """

    numbers: Tensor
    shares: Tensor

    def __init__(self, vocabulary: Vocabulary) -> None:
        super().__init__()
        special, targets = vocabulary.special, vocabulary.special.targets
        self.sizes = []
        numbers = torch.full((len(targets), vocabulary.size), special.unknown)
        shares = torch.empty(len(targets), vocabulary.size)
        for row, (target, used) in enumerate(zip(targets, vocabulary.used, strict=True)):
            ids = torch.tensor(sorted({*range(special.first), *used}))
            numbers[row, ids] = torch.arange(len(ids))
            numbers[row, target] = special.begin
            # The logarithm of each token's share in the probability of its number.
            shares[row] = -numbers[row].bincount().float().log()[numbers[row]]
            self.sizes.append(len(ids))
        self.register_buffer("numbers", numbers, persistent=False)
        self.register_buffer("shares", shares, persistent=False)

    def forward(self, target: int, tokens: Tensor) -> Tensor:
        """The numbers that tokens have in a target."""
        return self.numbers[target][tokens]

    def spread(self, target: int, logits: Tensor) -> Tensor:
        """Logits of the numbers of a target as logits of all tokens, (..., size) -> (..., V)."""
        return logits.index_select(-1, self.numbers[target]) + self.shares[target]

    def missing(self, target: int, tokens: Tensor) -> Tensor:
        """What the tokens cost beyond their numbers: the negative logarithms of their shares, summed."""
        return -self.shares[target][tokens].sum()
