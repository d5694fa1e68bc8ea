"""Objects that people print, in a notebook."""

from seq2see.evaluation import Classes, compare
from seq2see.goals.text_model import Source, TextModel


def test_a_view_shows_the_page_with_its_tokens(models: dict[str, TextModel]) -> None:
    shown = next(iter(models.values())).attention("abc")._repr_html_()
    assert shown.startswith("<iframe srcdoc=") and "&quot;" in shown and len(shown) > 10_000


def test_outputs_and_comparisons_show_what_they_print(models: dict[str, TextModel]) -> None:
    right = Classes.named(["a", "b"], ["a", "a"], ["a", "b"])
    output = next(iter(next(iter(models.values())).decode([Source("abc")])))[0]
    for one in (output, compare(right, right)[0]):
        assert "&lt;" in one._repr_html_() and "object at 0x" not in repr(one)
        assert len(repr(one).splitlines()) <= 3
