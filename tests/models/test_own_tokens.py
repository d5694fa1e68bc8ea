"""Tokens numbered anew for each of several targets: nothing is lost, and probabilities still sum to one."""

import pytest
import torch

from seq2see.models import Vocabulary
from seq2see.models.own_tokens import OwnTokens
from seq2see.text.special import BEGIN, STANDARD, UNKNOWN

USED = [[5, 6, 9], [6, 7]]
"""Of ids 4 to 9, by the first and by the second target; 4 and 8 stand in neither."""
TARGETS = (10, 11)
SIZE = 12


@pytest.fixture
def own() -> OwnTokens:
    """The tokens of two targets."""
    return OwnTokens(Vocabulary(SIZE, STANDARD._replace(targets=TARGETS), used=USED))


def test_numbers(own: OwnTokens) -> None:
    """D10: special symbols keep their ids, used tokens follow, all others are unknown."""
    everything = torch.arange(SIZE)
    assert own.sizes == [4 + 3, 4 + 2]
    assert own(0, everything).tolist() == [0, 1, 2, 3, UNKNOWN, 4, 5, UNKNOWN, UNKNOWN, 6, BEGIN, UNKNOWN]
    assert own(1, everything).tolist() == [
        *(0, 1, 2, 3, UNKNOWN, UNKNOWN, 4, 5, UNKNOWN, UNKNOWN),
        *(UNKNOWN, BEGIN),
    ]


@pytest.mark.parametrize("target", [0, 1])
def test_probabilities_still_sum_to_one(own: OwnTokens, target: int) -> None:
    """D10: tokens that share a number share its probability evenly; others keep theirs."""
    logits = torch.randn(3, own.sizes[target], generator=torch.Generator().manual_seed(1)).double()
    small, all_ = logits.softmax(-1), own.spread(target, logits).softmax(-1)
    numbers = own(target, torch.arange(SIZE))
    gathered = torch.zeros_like(small).index_add_(1, numbers, all_)
    torch.testing.assert_close(gathered, small)
    for token in USED[target]:
        torch.testing.assert_close(all_[:, token], small[:, numbers[token]])
    unknown = all_[:, numbers == UNKNOWN]
    torch.testing.assert_close(unknown, unknown[:, :1].expand_as(unknown))


def test_what_missing_tokens_cost(own: OwnTokens) -> None:
    """D10: the loss by numbers and the rest together are the loss over the whole vocabulary."""
    logits = torch.randn(2, own.sizes[1], generator=torch.Generator().manual_seed(2))
    labels = torch.tensor([6, 9])  # one that the second target uses, and one that it does not
    whole = torch.nn.functional.cross_entropy(own.spread(1, logits), labels, reduction="sum")
    parts = torch.nn.functional.cross_entropy(logits, own(1, labels), reduction="sum")
    torch.testing.assert_close(parts + own.missing(1, labels), whole)
    assert own.missing(1, labels) > 0 and own.missing(1, labels[:1]) == 0
