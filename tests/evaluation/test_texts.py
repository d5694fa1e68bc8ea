"""Scores against values worked out by hand."""

import pytest
from sacrebleu.metrics import BLEU, CHRF, TER

from seq2see.evaluation import Example, Texts, metrics_for, score_outputs, worst


def example(output: str, *references: str) -> Example:
    """An example whose source says nothing."""
    return Example("source", output, references)


def test_characters_by_hand():
    """H: kitten to sitting takes three edits of seven letters; two of three outputs are wrong."""
    examples = [example("kitten", "sitting"), example("same", "same"), example("", "abc")]
    scores = score_outputs(examples, "characters")
    assert list(scores) == ["exact", "wer", "ser"]
    assert scores["exact"] == pytest.approx(100 / 3)
    assert scores["wer"] == pytest.approx(200 / 3)
    assert scores["ser"] == pytest.approx(100 * (3 + 0 + 3) / (7 + 4 + 3))


def test_symbols_by_hand():
    """H: symbols between spaces count whole, whatever their length."""
    examples = [example("K AE1 T S", "K AE1 T"), example("D AO1 G", "D AA1 G"), example("OW1", "OW1")]
    scores = score_outputs(examples, "symbols")
    assert scores == pytest.approx({"exact": 100 / 3, "wer": 200 / 3, "ser": 200 / 7})


def test_words_by_hand():
    """H: with words the word error rate is edits per word of the reference, and it can pass 100."""
    examples = [example("the cat sat down", "the cat sat"), example("a b", "c")]
    scores = score_outputs(examples, "words")
    assert scores == pytest.approx({"exact": 0, "wer": 75})
    assert score_outputs([example("a b c", "d")], "words")["wer"] == pytest.approx(300)


def test_the_nearest_of_several_references_counts():
    """H: any reference makes an output exact; errors are counted to the nearest."""
    examples = [example("B AH0", "AH0 B", "B AH0"), example("K AE T", "D AO G Z", "K AH T")]
    assert examples[1].errors("symbols") == (1, 3)
    assert score_outputs(examples, "symbols") == pytest.approx({"exact": 50, "wer": 50, "ser": 20})


def test_sentences_get_the_scores_of_sacrebleu():
    """H: BLEU, chrF and TER are those of sacrebleu, over several references."""
    outputs = ["the cat sat on the mat today", "a dog runs in the park now", "birds fly over the old house"]
    references = [
        ("the cat is sitting on the mat today", "the cat sat on a mat today"),
        ("a dog is running in the park", "the dog runs in the park now"),
        ("birds are flying over the old house", "some birds fly over an old house"),
    ]
    examples = [example(output, *known) for output, known in zip(outputs, references, strict=True)]
    scores = score_outputs(examples, "words")
    streams = [list(stream) for stream in zip(*references, strict=True)]
    assert list(scores) == ["exact", "wer", "bleu", "chrf", "ter"]
    for name, metric in (("bleu", BLEU()), ("chrf", CHRF()), ("ter", TER())):
        assert scores[name] == pytest.approx(metric.corpus_score(outputs, streams).score)
    assert 10 < scores["bleu"] < 90


def test_references_may_differ_in_number():
    """H: an example with one reference stands beside one with two."""
    examples = [
        example("the cat sat on the mat", "the cat sat on the mat"),
        example("a dog runs in the park", "one hound walks past a lake", "a dog runs in the park"),
    ]
    assert score_outputs(examples, "words")["bleu"] == pytest.approx(100)


def test_scores_that_make_sense():
    """H: BLEU and its kin are for sentences, symbol errors for characters and symbols."""
    short, long = [example("a", "a b")], [example("a", "a b c d e")]
    assert metrics_for(Texts(short, "characters")) == ["exact", "wer", "ser"]
    assert metrics_for(Texts(long, "characters")) == ["exact", "wer", "ser", "bleu", "chrf", "ter"]
    assert metrics_for(Texts(long, "symbols")) == ["exact", "wer", "ser"]
    assert metrics_for(Texts(short, "words")) == ["exact", "wer"]
    assert score_outputs(long, "words", ["exact"]) == {"exact": 0}
    assert score_outputs([], "words") == {}


def test_the_worst_come_first():
    """H: the worst have the most errors for their length, and exact ones are not among them."""
    examples = [example("abcd", "abcx"), example("ab", "ab"), example("zz", "ab"), example("abc", "abx")]
    assert worst(examples, "characters", 2) == [examples[2], examples[3]]
    assert worst(examples, "characters", 9) == [examples[2], examples[3], examples[0]]
