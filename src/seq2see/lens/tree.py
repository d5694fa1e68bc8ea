"""All hypotheses of a search for one source: those that went on, and those that were dropped on the way."""

from typing import Literal

from torch import Tensor

from seq2see.decoding.choosers import Chosen, top
from seq2see.lens.view import Branch
from seq2see.text import Special

__all__ = ["TreeGrower"]

_DROPPED = 4
"""The likeliest continuations of each hypothesis that the tree shows even if the search dropped them."""


class TreeGrower:
    """Is told every step of a beam search for one source, and keeps all its hypotheses as a tree."""

    def __init__(self, special: Special) -> None:
        self._end = special.end
        self.branches = [Branch(None, special.begin, "", 0.0, 0, "kept")]
        self._rows: list[int] | None = None

    def __call__(self, scores: Tensor, norms: Tensor | None, totals: Tensor, chosen: Chosen) -> None:
        """One step: scores (1, W, V) of what may follow each row, and what was chosen of it, (1, W)."""
        assert norms is not None
        if len(scores) != 1:
            raise ValueError(f"a tree is grown for one source at a time, not {len(scores)}")
        rows = self._rows or [0] * scores.shape[1]
        best, tokens = top(scores, min(_DROPPED, scores.shape[2]))
        best = (totals - norms).unsqueeze(2) + best
        children: dict[tuple[int, int], int] = {}
        for row, (values, names) in enumerate(zip(best[0].tolist(), tokens[0].tolist(), strict=True)):
            for value, token in zip(values, names, strict=True):
                if value > -float("inf"):
                    self._add(children, rows[row], token, value, "pruned")
        found = zip(
            chosen.rows[0].tolist(), chosen.tokens[0].tolist(), chosen.totals[0].tolist(), strict=True
        )
        after = []
        for row, token, value in found:
            state: Literal["kept", "finished"] = "finished" if token == self._end else "kept"
            alive = value > -float("inf")
            after.append(self._add(children, rows[row], token, value, state) if alive else rows[row])
        self._rows = after

    def _add(
        self,
        children: dict[tuple[int, int], int],
        parent: int,
        token: int,
        value: float,
        state: Literal["kept", "pruned", "finished"],
    ) -> int:
        """The number of a continuation, which may be there already; a better state takes over."""
        place = children.setdefault((parent, token), len(self.branches))
        if place == len(self.branches):
            self.branches.append(Branch(parent, token, "", value, self.branches[parent].step + 1, state))
        elif state != "pruned":
            self.branches[place] = self.branches[place]._replace(state=state)
        return place

    def grown(self, output: list[int]) -> list[Branch]:
        """All branches, with those on the way to an output marked as the best."""
        place: int | None = 0
        path = [0]
        followers: dict[tuple[int | None, int], int] = {}
        for number, branch in enumerate(self.branches):
            followers[branch.parent, branch.token] = number
        for token in output:
            if (place := followers.get((place, token))) is None:
                break
            path.append(place)
        branches = list(self.branches)
        for place in path:
            branches[place] = branches[place]._replace(state="best")
        return branches
