"""Several models on the same pairs: the table, the figure, and runs that are not trained twice."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seq2see.evaluation import Example, score_outputs
from seq2see.lab.ladder import Bucket, Ladder, Rung, buckets, climb
from seq2see.workflow import Request, train

SMALL = (
    *("model.width=16", "training.batch_pairs=16", "training.dev_examples=4", "training.evaluate_every=2"),
)
TASK = "task:copy:lengths=2-6:pairs=120"


@given(st.lists(st.integers(0, 5000), min_size=1, max_size=60))
def test_every_example_is_in_one_bucket(lengths):
    """A5: buckets are of one round width, at most eight, and hold each example by its length."""
    found = buckets(lengths)
    assert 1 <= len(found) <= 8
    assert sorted(place for _, _, rows in found for place in rows) == list(range(len(lengths)))
    widths = {high - low + 1 for low, high, _ in found}
    assert len(widths) == 1
    width = widths.pop()
    assert str(width).rstrip("0") in ("1", "2", "5")
    for low, high, rows in found:
        assert low % width == 1 % width
        assert all(low <= max(1, lengths[place]) <= high for place in rows)
        assert rows
    assert [low for low, _, _ in found] == sorted(low for low, _, _ in found)


@pytest.mark.parametrize(
    ("longest", "width"), [(1, 1), (8, 1), (9, 2), (16, 2), (17, 5), (40, 5), (41, 10), (60, 10), (81, 20)]
)
def test_buckets_are_as_narrow_as_eight_allow(longest, width):
    """A5: the width is the least round one that needs no more than eight buckets."""
    found = buckets(range(1, longest + 1))
    assert (found[0][0], found[0][1]) == (1, width)
    assert len(found) == -(-longest // width)


def rung(preset: str, seed: int, score: float, *scores: tuple[int, int, float]) -> Rung:
    """A rung with made-up numbers."""
    held = tuple(Bucket(low, high, 10, value) for low, high, value in scores)
    return Rung(
        preset, seed, f"runs/{preset}-{seed}", 1_234_000, 30, 60.0 + seed, 1000.0 * seed, "exact", score, held
    )


LADDER = Ladder(
    "task:copy",
    "exact",
    "characters",
    (
        rung("rnn", 1, 50.0, (1, 5, 90.0), (6, 10, 10.0)),
        rung("transformer-tiny", 1, 99.0, (1, 5, 100.0), (6, 10, 98.0)),
        rung("rnn", 2, 60.0, (1, 5, 95.0), (6, 10, 20.0), (11, 15, 0.0)),
        rung("transformer-tiny", 2, 97.0, (1, 5, 100.0), (6, 10, 94.0)),
    ),
)


def test_the_table_has_means_over_the_seeds():
    """A5: a row for each model, a column for each length; lengths that only some seeds have count there."""
    assert LADDER.presets == ["rnn", "transformer-tiny"]
    assert [one.seed for one in LADDER.of("rnn")] == [1, 2]
    assert LADDER.columns() == [
        *("model", "weights", "tokens/s", "seconds", "exact", "1-5", "6-10", "11-15"),
    ]
    assert LADDER.rows() == [
        ["rnn", "1.23 M", "1,500", "62", "55.0", "92", "15", "0"],
        ["transformer-tiny", "1.23 M", "1,500", "62", "98.0", "100", "96", ""],
    ]


def test_the_caption_counts_the_seeds():
    """A5: means say of how many seeds they are; one seed needs no mean."""
    assert LADDER.caption() == (
        "means of 2 seeds; exact on held-out examples (texts: greedy); the last columns by source length in "
        "characters"
    )
    alone = Ladder("pairs.tsv", "bleu", "bpe", LADDER.rungs[:2]).caption()
    assert alone.startswith("bleu on held-out examples")


def test_a_ladder_leaves_table_and_figure(tmp_path):
    """A5: Markdown, JSON, PNG and SVG, with the numbers of the table and the names of the models."""
    LADDER.write(tmp_path)
    assert sorted(file.name for file in tmp_path.iterdir()) == [
        *("ladder.json", "ladder.md", "ladder.png", "ladder.svg"),
    ]
    text = (tmp_path / "ladder.md").read_text()
    assert "| rnn | 1.23 M | 1,500 | 62 | 55.0 | 92 | 15 | 0 |" in text
    assert LADDER.caption() in text
    kept = json.loads((tmp_path / "ladder.json").read_text())
    assert kept["metric"] == "exact"
    assert kept["rungs"][0]["buckets"][0] == {"shortest": 1, "longest": 5, "sources": 10, "score": 90.0}
    assert (tmp_path / "ladder.svg").read_bytes() == LADDER.figure("svg")
    assert (tmp_path / "ladder.png").read_bytes().startswith(b"\x89PNG")
    drawn = LADDER.figure("svg").decode()
    for word in ("task:copy", "source length (characters)", "dev exact (%)", "11-15", "transformer-tiny"):
        assert word in drawn


def test_climbing_again_trains_nothing(tmp_path):
    """A5: each model has a folder of its own; what is finished is taken as it is, a new one is added."""
    told, asked = [], []

    def trains(request):
        asked.append((request.preset, request.seed, request.resume))
        return train(request, tell=lambda _: None)

    request = Request(TASK, out=str(tmp_path), settings=SMALL, max_steps=3)
    first = climb(request, ["rnn", "rnn-attention"], [1, 2], trains, told.append)
    assert asked == [
        ("rnn", 1, False),
        ("rnn-attention", 1, False),
        ("rnn", 2, False),
        ("rnn-attention", 2, False),
    ]
    assert told == ["rnn, seed 1", "rnn-attention, seed 1", "rnn, seed 2", "rnn-attention, seed 2"]
    kept = {file: file.stat().st_mtime_ns for file in tmp_path.glob("*/metrics.jsonl")}
    assert sorted(file.parent.name for file in kept) == [
        "rnn-1",
        "rnn-2",
        "rnn-attention-1",
        "rnn-attention-2",
    ]
    again = climb(request, ["rnn", "rnn-attention"], [1, 2], trains, told.append)
    assert again == first
    assert asked[4:] == [(preset, seed, True) for preset, seed, _ in asked[:4]]
    assert kept == {file: file.stat().st_mtime_ns for file in tmp_path.glob("*/metrics.jsonl")}
    more = climb(request, ["rnn", "luong"], [1], trains, told.append)
    assert more.rungs[0] == first.rungs[0]
    assert more.presets == ["rnn", "luong"]


def test_a_rung_is_measured_by_length(tmp_path):
    """A5, A6: every dev source is counted once, and the whole is the mean of the parts."""
    request = Request(TASK, out=str(tmp_path), settings=SMALL, max_steps=3)
    found = climb(request, ["rnn"], [1], lambda one: train(one, tell=lambda _: None), lambda _: None)
    (only,) = found.rungs
    run = train(Request(TASK, out=only.run, settings=SMALL, preset="rnn", max_steps=3, seed=1, resume=True))
    assert found.metric == "exact"
    assert found.unit == "characters"
    assert (only.steps, only.preset, only.seed) == (3, "rnn", 1)
    assert only.parameters == sum(one.numel() for one in run.model.network.parameters())
    sources = {pair.source for pair in run.dev}
    assert sum(one.sources for one in only.buckets) == len(sources)
    for one in only.buckets:
        assert one.sources == sum(one.shortest <= len(source) <= one.longest for source in sources)
    mean = sum(one.score * one.sources for one in only.buckets) / len(sources)
    assert only.score == pytest.approx(mean)
    assert only.tokens_per_second > 0


def test_scores_are_those_of_greedy_outputs(tmp_path):
    """A5: a score is that of what the model says with a beam of one, by the metric that was watched."""
    settings = (*SMALL, "training.metric=ser", "training.learning_rate=0.02", "training.warmup=0")
    request = Request(TASK, out=str(tmp_path), settings=settings, max_steps=60)
    made = []

    def trains(one):
        made.append(train(one, tell=lambda _: None))
        return made[0]

    (only,) = climb(request, ["rnn"], [1], trains, lambda _: None).rungs
    model, dev = made[0].model, made[0].dev
    targets: dict[str, list[str]] = {}
    for pair in dev:
        targets.setdefault(pair.source, []).append(pair.target)
    said = model(list(targets), beam=1)
    assert max(map(len, said)) > 1
    examples = [
        Example(source, text, tuple(references))
        for (source, references), text in zip(targets.items(), said, strict=True)
    ]
    assert only.score == pytest.approx(score_outputs(examples, "characters", ["ser"])["ser"])
    assert only.score != pytest.approx(100)
