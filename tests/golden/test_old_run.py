"""A run that an earlier version wrote still loads and says the same."""

import json
from pathlib import Path

import pytest

import seq2see

OLD = Path(__file__).parent / "old_run"


def test_the_old_run_says_what_it_said() -> None:
    model = seq2see.load(OLD, device="cpu")
    said = json.loads((OLD / "said.json").read_text())
    words = ["bam", "dost", "feir", "gulm"]
    features = [f"N;{word[0]}" for word in words]
    assert model(words, features) == said["outputs"]
    triples = [(w, " ".join(w[::-1]), f) for w, f in zip(words, features, strict=True)]
    assert list(model.score(triples)) == pytest.approx(said["scores"], abs=1e-3)
