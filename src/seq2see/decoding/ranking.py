"""Which outputs of a request are the best, and when no better one can come."""

import bisect

from seq2see.decoding.requests import Hypothesis, Request

__all__ = ["Ranking"]


class Ranking:
    """The outputs found for one request, best first."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.bar = -float("inf")
        """The log-probability that an unfinished output must exceed, or it cannot be among the best.

        Each further token lowers the log-probability, and a longer output divides it by more, so the best
        score that an unfinished output can reach is its log-probability now over the penalty of the longest.
        """
        self._found: list[Hypothesis] = []

    def add(self, ids: list[int], log_probability: float) -> None:
        """Note an output that has ended."""
        request, length = self.request, len(ids) + 1
        penalty, wanted = request.settings.length_penalty, request.settings.nbest
        score = log_probability / length**penalty
        cut = len(ids) + (not request.open_ended) >= request.limit
        hypothesis = Hypothesis(tuple(ids), log_probability, score, cut)
        bisect.insort(self._found, hypothesis, key=lambda one: -one.score)
        if len(self._found) >= wanted:
            self.bar = self._found[wanted - 1].score * request.limit**penalty

    def best(self) -> list[Hypothesis]:
        """As many as are wanted, best first."""
        return self._found[: self.request.settings.nbest]
