"""Captions against several references, and what is left of a score when sources are shuffled."""

import math
from collections import Counter

import pytest

from seq2see.data import Pair
from seq2see.errors import DataError, SettingsError
from seq2see.evaluation import Captions, Example, Texts, captions, compare, metrics_for, score
from seq2see.evaluation.control import with_other_sources
from seq2see.evaluation.floors import Known, best_floor

ROWS = [
    Example("1", "A dog runs on the grass .", ("a dog runs over grass", "The dog is running on the grass.")),
    Example("2", "two men, a ball", ("two men play with a ball", "men and a ball")),
    Example("3", "a red car", ("a boat on the sea", "a small white boat", "boat at sea!")),
]


def _cider(rows: list[tuple[str, list[str]]]) -> float:
    """CIDEr-D as the paper has it, by hand: cosines of clipped tf-idf vectors of n-grams."""

    def grams(text: str, n: int) -> Counter[tuple[str, ...]]:
        words = text.split()
        return Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))

    total = 0.0
    for output, references in rows:
        for reference in references:
            for n in (1, 2, 3, 4):
                seen = Counter(g for _, known in rows for g in {g for one in known for g in grams(one, n)})

                def rare(
                    counts: Counter[tuple[str, ...]], seen: Counter[tuple[str, ...]] = seen
                ) -> dict[tuple[str, ...], float]:
                    return {
                        g: c * (math.log(len(rows)) - math.log(max(1, seen[g]))) for g, c in counts.items()
                    }

                ours, theirs = rare(grams(output, n)), rare(grams(reference, n))
                inner = sum(min(ours[g], theirs.get(g, 0.0)) * theirs.get(g, 0.0) for g in ours)
                norms = math.hypot(*ours.values()) * math.hypot(*theirs.values())
                apart = len(output.split()) - len(reference.split())
                total += (
                    10 / 4 / len(references) * (inner / norms if norms else 0) * math.exp(-(apart**2) / 72)
                )
    return total / len(rows)


def test_cider_is_that_of_the_paper_on_words_without_case_and_punctuation() -> None:
    plain = [
        ("a dog runs on the grass", ["a dog runs over grass", "the dog is running on the grass"]),
        ("two men a ball", ["two men play with a ball", "men and a ball"]),
        ("a red car", ["a boat on the sea", "a small white boat", "boat at sea"]),
    ]
    found = score(Captions(ROWS, "words"))
    assert list(found) == ["cider", "exact", "bleu"]
    assert found["cider"] == pytest.approx(_cider(plain), abs=1e-9)
    assert found["cider"] > 0.5


def test_bleu_takes_every_reference_and_no_punctuation() -> None:
    one = Captions([Example("1", "A cat sits on the mat .", ("nothing", "a cat sits on the mat"))], "words")
    assert score(one, ["bleu"])["bleu"] == pytest.approx(100)
    assert score(Texts(one.examples, "words"), ["bleu"])["bleu"] < 80


def test_captions_without_words_score_nothing() -> None:
    assert score(Captions([Example("1", "...", ("!",)), Example("2", "", ("?",))], "words"))["cider"] == 0


def test_without_the_extra_there_is_bleu_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pycocoevalcap.cider.cider", None)
    monkeypatch.setattr(captions, "find_spec", lambda name: None)
    outcome = Captions(ROWS, "words")
    assert metrics_for(outcome) == ["exact", "bleu"]
    with pytest.raises(SettingsError, match=r"seq2see\[captions\]"):
        score(outcome, ["cider"])


def test_captions_are_compared_by_what_each_image_adds() -> None:
    better = [Example(one.source, one.references[0], one.references) for one in ROWS] * 10
    found = {one.metric: one for one in compare(Captions(ROWS * 10, "words"), Captions(better, "words"), 200)}
    assert found["cider"].significant and found["cider"].difference > 0
    assert found["bleu"].test == "paired bootstrap"


def test_the_floor_is_one_caption_for_all() -> None:
    train = Known(["image"] * 3, [("a dog",), ("a boat at sea",), ("a boat at sea",)])
    test = Known(["image"] * 3, [one.references for one in ROWS], unit="words")
    name, floor = best_floor(Captions, train, test)
    assert name == "most frequent caption" and isinstance(floor, Captions)
    assert {one.output for one in floor.examples} == {"a boat at sea"}


def test_no_source_keeps_its_own_and_those_of_one_source_stay_together() -> None:
    examples = [Pair(line, f"{line // 2}.jpg", f"caption {line}", "") for line in range(14)]
    found = with_other_sources(examples)
    assert [one.target for one in found] == [one.target for one in examples]
    moved = {(before.source, after.source) for before, after in zip(examples, found, strict=True)}
    assert len(moved) == 7 and all(before != after for before, after in moved)
    assert {after for _, after in moved} == {before for before, _ in moved}
    assert found == with_other_sources(examples) != with_other_sources(examples, seed=2)
    with pytest.raises(DataError, match="only one source"):
        with_other_sources(examples[:2])
