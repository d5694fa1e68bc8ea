"""A head for each of several targets, after a decoder for each."""

from collections.abc import Sequence
from typing import cast

from torch import Tensor, nn

from seq2see.data.sides import Batch
from seq2see.models.contracts import DecoderOutput, Loss, Memory, Vocabulary
from seq2see.models.heads.vocabulary import VocabularyHead
from seq2see.models.own_tokens import OwnTokens

__all__ = ["SeveralHeads"]


class SeveralHeads(nn.Module):
    """Says which token comes next, among those that the target of the row uses."""

    def __init__(self, heads: Sequence[VocabularyHead], own: OwnTokens, vocabulary: Vocabulary) -> None:
        super().__init__()
        self.heads = nn.ModuleList(heads)
        self.own = own
        self.size, self.padding = vocabulary.size, vocabulary.special.pad

    def copied(self, source: Tensor) -> Tensor | None:
        """Nothing: copying is for one decoder."""
        return None

    def loss(self, memory: Memory | None, output: DecoderOutput | None, batch: Batch) -> Loss:
        """Cross-entropy summed over the tokens of the target; smoothed while training."""
        assert output is not None and output.writers is not None
        labels = batch["target"].values[:, 1:]
        total = output.states.new_zeros(())
        for number, rows in output.writers.items():
            wanted, states = labels[rows], DecoderOutput(output.states[rows], None)
            there = wanted != self.padding
            total = total + self._of(number).cross_entropy(None, states, self.own(number, wanted))
            total = total + self.own.missing(number, wanted[there])
        return Loss(total, (labels != self.padding).sum())

    def logits(self, output: DecoderOutput, tokens: Tensor | None) -> Tensor:
        """Scores of the whole vocabulary."""
        assert output.writers is not None
        scores = output.states.new_zeros(*output.states.shape[:-1], self.size)
        for number, rows in output.writers.items():
            found = self._of(number).logits(DecoderOutput(output.states[rows], None), None)
            scores[rows] = self.own.spread(number, found).to(scores.dtype)
        return scores

    def _of(self, number: int) -> VocabularyHead:
        return cast(VocabularyHead, self.heads[number])
