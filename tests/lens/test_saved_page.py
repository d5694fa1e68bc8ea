"""What the explorer's page is given of a view: what was asked for, and what the model has never seen."""

import json
import re

import pytest
from reading_runs import READ

from seq2see.lens.edits import Block, Off, Reword
from seq2see.lens.page import described, saved_page
from seq2see.text import Codec, Tokenizer, TokenizerSettings

EDITS = (Off(at="decoder.*.cross", how="uniform"), Block(at="decoder.1.cross", places=(1,)))


def saved_of(view):
    """The data inside a saved page."""
    (held,) = re.findall(r'<script type="application/json" id="saved">(.*?)</script>', saved_page(view), re.S)
    return json.loads(held)


@pytest.mark.parametrize("text", ["a<!-- <script>b", "</script>", "a\u2028\u2029"])
def test_no_text_can_end_the_script_that_holds_it(models, text):
    view = models["transformer"].attention(text, beam=1)
    page = saved_page(view)
    held = page[page.index('id="saved">') + len('id="saved">') :].split("</script>")[0]
    assert not set(held) & set("<\u2028\u2029")
    assert json.loads(held)["request"]["text"] == text


def test_a_saved_page_knows_what_it_was_asked_for(models):
    view = models["transformer"].attention("dost", beam=2, edits=[*EDITS, Reword(text="bam")])
    saved = saved_of(view)
    assert saved["models"]["models"][0]["run"] == "transformer"
    request = saved["request"]
    assert (request["text"], request["beam"], request["words"]) == ("dost", 2, False)
    assert [edit["kind"] for edit in request["edits"]] == ["off", "block", "source"]
    assert saved_of(models["sentences"].attention("dost bam").in_words())["request"]["words"]


def test_unknown_letters_are_named_by_their_place(models):
    view = models["transformer"].attention("Dost😀", beam=1)
    assert view.unknown.tokens == {0: "D", 4: "😀"}
    assert view.unknown.lower == "dost😀"
    shown = described(view)
    assert (shown["source"][0], shown["unknown"]) == ("D", [0, 4])
    assert models["transformer"].attention("ost😀", beam=1).unknown.lower is None
    assert models["sentences"].attention("Dost😀").unknown.tokens == {}


def test_unknown_words_stay_unknown_when_sub_words_are_merged(models):
    view = models["transformer"].attention("Bam", beam=1).in_words()
    assert view.unknown.tokens == {0: "B"}


@pytest.mark.parametrize("name", ["classes", "tags", "counts"])
def test_models_that_read_tell_what_they_have_never_seen(readers, name):
    assert readers[name].attention(READ[name]).unknown.tokens == {}
    text = f"{READ[name]} ☃"
    view = readers[name].attention(text)
    assert [written for written in view.unknown.tokens.values() if "☃" in written]
    assert saved_of(view)["request"]["text"] == text


def test_unknown_features_stand_in_brackets():
    tokenizer = Tokenizer.learn(["bam"], TokenizerSettings())
    codec = Codec(tokenizer, tokenizer, Tokenizer.learn_features(["V;PST"]))
    assert codec.unknown_tokens("bXm", "V;FUT") == {1: "[FUT]", 3: "X"}
    assert len(codec.encode_sources(["bXm"], ["V;FUT"])[0]) == 6
