"""What is chosen without a recipe."""

import pytest

from seq2see.data import Pair
from seq2see.data.survey import Survey
from seq2see.goals.choices import choose, kind_of
from seq2see.recipe import Recipe, compose

SENTENCES = [
    "a man in a blue shirt is standing on a ladder",
    "two dogs run across the field of dry grass",
] * 20


def surveyed(sources: list[str], targets: list[str], count: int | None = None) -> Survey:
    pairs = [Pair(i, s, t, "") for i, (s, t) in enumerate(zip(sources, targets, strict=True), 1)]
    return Survey(count or len(pairs), pairs)


def recipe_for(found: Survey, **options) -> Recipe:
    asked = {"data": {"train": "x"}, **options}
    return compose([choose(found, asked).values, asked], "test")


@pytest.mark.parametrize(
    ("texts", "kind"),
    [
        (["HH AH L OW", "W ER L D", "K AE T"] * 10, "symbols"),
        (["aː v k r", "h uː s", "tʰ iː m ɪ"] * 10, "symbols"),
        (["hello", "world", "two words"], "characters"),
        (["北京", "上海市"], "characters"),
        (["MKVLAAGIVGLCAKAYFL" * 3], "characters"),
        (SENTENCES, "bpe"),
        (["a", "b c"], "characters"),
    ],
)
def test_kinds_of_text(texts: list[str], kind: str) -> None:
    assert kind_of(texts) == kind


def test_pronunciation() -> None:
    words = ["cat", "dog", "horse", "bird"] * 200
    recipe = recipe_for(surveyed(words, [" ".join(word) for word in words]))
    assert (recipe.text.source.kind, recipe.text.target.kind) == ("characters", "symbols")
    assert not recipe.text.shared
    assert recipe.training.metric == "exact"
    assert recipe.model.width == 128


def test_several_targets_of_a_source_do_not_make_a_larger_model() -> None:
    """Nor does it go through each of them less often than with that target alone."""
    cells = [
        Pair(line, SENTENCES[line % 2], SENTENCES[line % 2][::-1], "", into=into)
        for line in range(40)
        for into in ("de", "fr", "cs")
    ]
    recipe = recipe_for(Survey(87_000, cells))
    assert recipe.model.width == 128
    assert "model: transformer-tiny (29,000 lines)" in choose(Survey(87_000, cells), {}).reasons(recipe)
    alone = recipe_for(Survey(29_000, [cell._replace(into="") for cell in cells[::3]]))
    visits = [one.training.steps * one.training.batch_pairs for one in (recipe, alone)]
    assert visits[0] / 3 == pytest.approx(visits[1], rel=0.01)
    assert recipe_for(Survey(174_000, cells)).model.width == 256


def test_many_words_are_read_by_a_recurrent_model() -> None:
    """On two cores it learnt twice as fast; where a kind of model is asked for, that one is taken."""
    words = ["cat", "dog", "horse", "bird"] * 20
    many = surveyed(words, [" ".join(word) for word in words], count=100_000)
    recipe = recipe_for(many)
    assert (recipe.model.encoder.kind, recipe.model.decoder.kind) == ("recurrent", "recurrent")
    assert (recipe.model.encoder.hidden, recipe.model.decoder.attention) == (512, "additive")
    assert recipe.training.warmup == recipe.training.steps // 20
    asked = choose(many, {}, model=False).values
    assert "encoder" not in asked["model"]
    assert asked["training"]["warmup"] == asked["training"]["steps"] // 5
    few = recipe_for(surveyed(words, [" ".join(word) for word in words], count=49_999))
    assert few.model.encoder.kind == "transformer"


def test_inflection_shares_one_vocabulary() -> None:
    words = ["cat", "dog", "horse", "bird"]
    recipe = recipe_for(surveyed(words, [f"{word}s" for word in words]))
    assert recipe.text.shared
    assert recipe.model.share_embeddings


def test_other_scripts_do_not() -> None:
    recipe = recipe_for(surveyed(["tel aviv", "haifa"], ["תל אביב", "חיפה"]))
    assert not recipe.text.shared


def test_translation() -> None:
    recipe = recipe_for(surveyed(SENTENCES, SENTENCES, count=29_000))
    assert recipe.text.source.kind == recipe.text.target.kind == "bpe"
    assert recipe.training.metric == "bleu"
    assert recipe.model.width == 128
    assert recipe.model.decoder.positions == "rotary-self"
    assert recipe.decoding.length_penalty == 1


def test_more_data_means_more_steps_but_fewer_rounds() -> None:
    few, many = (recipe_for(surveyed(["a"], ["b"], count)) for count in (1000, 100_000))
    assert few.training.steps < many.training.steps
    rounds = [
        recipe.training.steps * recipe.training.batch_pairs / count
        for recipe, count in ((few, 1000), (many, 100_000))
    ]
    assert rounds[0] > 5 * rounds[1]


def test_warm_up_and_looks_follow_the_steps_asked_for() -> None:
    recipe = recipe_for(surveyed(["a"] * 9, ["b"] * 9), training={"steps": 400})
    assert recipe.training.warmup == 80
    assert recipe.training.evaluate_every == 20


def test_reasons_leave_out_what_was_overruled() -> None:
    choice = choose(surveyed(["word"] * 9, ["w o r d"] * 9), {})
    data = {"data": {"train": "x"}}
    everything = choice.reasons(compose([choice.values, data], "test"))
    fewer = choice.reasons(compose([choice.values, data, {"training": {"steps": 7}}], "test"))
    assert [reason for reason in everything if reason not in fewer] == [
        reason for reason in everything if "times through the data" in reason
    ]


@pytest.mark.parametrize(
    "text",
    [
        {"shared": False},
        {"source": {"kind": "bpe", "size": 500}},
        {"source": {"kind": "words"}, "target": {"kind": "words"}},
        {"source": {"kind": "unigram"}, "target": {"kind": "unigram"}, "shared": True},
    ],
)
def test_choices_go_along_with_what_is_asked(text) -> None:
    """Whatever is asked of the tokenisation of alike sides, the rest is chosen to fit it."""
    words = ["cat", "dog", "horse", "bird"]
    recipe = recipe_for(surveyed(words, [f"{word}s" for word in words]), text=text)
    assert recipe.model.share_embeddings == recipe.text.shared
    assert recipe.text.source.kind == text.get("source", {"kind": "characters"})["kind"]
