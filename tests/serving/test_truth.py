"""The explorer's page shows nothing that is not so: after refusals, under edits, with letters never seen."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from browser import another_view, needs_chromium, open_at, output, serving, serving_here, settled, view_id
from playwright.sync_api import Page, expect

from seq2see.lens.edits import Block, Off
from seq2see.serving.desk import Desk

pytestmark = needs_chromium
BAD = "edits=pin:decoder.1.cross:all:0:2~off:decoder.9.cross:all:zero"


@pytest.fixture(scope="module")
def address(runs, models) -> Iterator[str]:
    desk = Desk(
        {"a": (runs["transformer"], models["transformer"]), "b": (runs["recurrent"], models["recurrent"])},
        "dost",
    )
    with serving_here(desk) as address:
        yield address


def spoken(models: Any, text: str, name: str = "transformer", **options: Any) -> str:
    return " ".join(models[name].attention(text, beam=1, **options).predicted[:-1])


def type_text(page: Page, text: str) -> None:
    before = view_id(page)
    page.fill("#text", text)
    page.click("#run")
    another_view(page, before)
    settled(page)


def force_second(page: Page) -> None:
    """Let the model say the second likeliest token at the step in sight."""
    before = view_id(page)
    page.locator("#candidates .candidate").nth(1).click()
    another_view(page, before)
    settled(page)


def test_a_forced_token_does_not_follow_to_another_text(page, address, models):
    open_at(page, address, "step=1")
    force_second(page)
    forced = output(page)
    expect(page.locator("#edit-bar")).to_contain_text("1 edit on")
    type_text(page, "bam")
    assert output(page) == spoken(models, "bam")
    expect(page.locator("#edit-bar")).to_be_hidden()
    expect(page.locator("#suspended")).to_contain_text("1 suspended")
    expect(page.locator("#suspended")).to_contain_text("made for “dost”")
    page.reload()
    settled(page)
    assert output(page) == spoken(models, "bam")
    type_text(page, "dost")
    assert output(page) == forced != spoken(models, "dost")
    expect(page.locator("#suspended")).to_be_hidden()


def test_what_names_places_is_suspended_in_another_model(page, address, models):
    open_at(page, address, "edits=block:decoder.1.cross:all:0~force:0:5")
    before = view_id(page)
    page.select_option("#model", "b")
    another_view(page, before)
    settled(page)
    assert output(page) == spoken(models, "dost", "recurrent")
    expect(page.locator("#suspended")).to_contain_text("2 suspended")
    expect(page.locator("#suspended")).to_contain_text("made for model a")


def test_a_given_target_is_suspended_with_another_text(page, address, models):
    open_at(page, address, "target=k+k")
    assert output(page) == "k k"
    type_text(page, "bam")
    assert output(page) == spoken(models, "bam")
    assert page.input_value("#target") == ""
    expect(page.locator("#suspended")).to_contain_text("“k␣k” as what to say (made for “dost”)")
    before = view_id(page)
    page.click("#go-home")
    another_view(page, before)
    settled(page)
    assert (output(page), page.input_value("#target")) == ("k k", "k k")


def test_places_of_a_reworded_source_are_those_of_its_words(page, address, models):
    open_at(page, address, "edits=block:*.cross:all:0")
    before = view_id(page)
    page.keyboard.press("5")
    page.select_option("#edit-kind", "source")
    page.fill("#edit-text", "bam")
    page.click("#add-edit")
    another_view(page, before)
    page.click("#tab-translate")
    expect(page.locator("#output")).to_contain_text(spoken(models, "bam"))
    expect(page.locator("#suspended")).to_contain_text("made for “dost”")


def test_edits_can_be_left_out_and_taken_away_in_every_view(page, address, models):
    open_at(page, address, "edits=off:decoder.*.cross:all:uniform")
    edited = view_id(page)
    for key in "123456":
        page.keyboard.press(key)
        expect(page.locator("#edit-bar")).to_contain_text("1 edit on")
    page.keyboard.press("1")
    page.click("#show-plain")
    another_view(page, edited)
    settled(page)
    assert output(page) == spoken(models, "dost")
    expect(page.locator("#edit-bar")).to_contain_text("1 edit left out")
    page.click("#show-plain")
    page.locator(f'body[data-view-id="{edited}"]').wait_for()
    page.click("#remove-edits")
    another_view(page, edited)
    expect(page.locator("#edit-bar")).to_be_hidden()


def test_after_a_refusal_the_old_picture_says_what_it_is(page, address, models):
    open_at(page, address)
    before = view_id(page)
    page.fill("#text", "")
    page.click("#run")
    expect(page.locator("#refusal")).to_contain_text("nothing to read")
    expect(page.locator("#still")).to_have_text("Below is still “dost”, model a.")
    expect(page.locator("body[data-stale=yes]")).to_be_visible()
    page.fill("#text", "x" * 4100)
    page.click("#run")
    expect(page.locator("#refusal")).to_contain_text("at most 4000 can be read")
    assert (view_id(page), output(page)) == (before, spoken(models, "dost"))
    page.click("#to-shown")
    expect(page.locator("#refusal")).to_be_hidden()
    expect(page.locator("body[data-stale=no]")).to_be_visible()
    assert page.input_value("#text") == "dost"


def test_the_edit_that_is_refused_is_named_and_can_be_switched_off(page, address):
    open_at(page, address, "view=edit")
    before = view_id(page)
    for kind, fields in {"off": {"at": "decoder.1.cross"}, "hard": {"at": "decoder.9.cross"}}.items():
        page.select_option("#edit-kind", kind)
        for name, value in fields.items():
            page.fill(f"#edit-{name}", value)
        page.click("#add-edit")
        settled(page)
    refusal = page.locator("#refusal")
    expect(refusal).to_contain_text("no attention of this model is at 'decoder.9.cross'")
    expect(refusal).to_contain_text("“all heads of decoder.9.cross: all weight")
    expect(refusal).to_contain_text("with 1 edit")
    expect(page.locator("#edits li").nth(1)).to_contain_text("refused")
    page.click("#switch-off")
    expect(refusal).to_be_hidden()
    assert view_id(page) != before
    expect(page.locator("#edits li").nth(1).get_by_role("checkbox")).not_to_be_checked()


def test_a_dead_server_leaves_the_picture_under_its_own_name(page, runs):
    with serving(runs["transformer"], text="dost") as address:
        open_at(page, address)
    said = output(page)
    page.fill("#text", "bam")
    page.click("#run")
    expect(page.locator("#refusal")).to_contain_text("the server does not answer")
    expect(page.locator("#still")).to_have_text("Below is still “dost”.")
    assert output(page) == said
    # A map that was not fetched in time is not another's.
    page.keyboard.press("Escape")
    page.click("#tab-map")
    page.click("#heads [data-head='2']")
    expect(page.locator("#map-notice")).to_contain_text("the server does not answer")
    expect(page.locator("#heat")).to_be_hidden()
    expect(page.locator("#status")).to_be_empty()


def test_a_link_to_a_refused_state_can_be_repaired(page, address, models):
    open_at(page, address, BAD)
    expect(page.locator("#refusal")).to_contain_text("'decoder.9.cross'")
    expect(page.locator("#translate-notice")).to_have_text(re.compile("There is nothing to show yet."))
    page.click("#to-edits")
    lines = page.locator("#edits li")
    expect(lines).to_have_count(2)
    expect(page.get_by_text("Nothing is changed yet.")).to_be_hidden()
    lines.nth(1).get_by_role("button", name=re.compile("^change")).click()
    assert page.input_value("#edit-at") == "decoder.9.cross"
    page.fill("#edit-at", "decoder.0.cross")
    page.click("#add-edit")
    settled(page)
    expect(page.locator("#refusal")).to_be_hidden()
    expect(lines).to_have_count(2)
    expect(page.locator("#effect")).to_contain_text("log-probability")
    assert "off:decoder.0.cross" in page.url


def test_a_link_to_a_refused_state_can_be_switched_off(page, address):
    open_at(page, address, BAD)
    page.click("#switch-off")
    settled(page)
    expect(page.locator("#refusal")).to_be_hidden()
    expect(page.locator("#ribbons")).to_be_visible()
    expect(page.locator("#edit-bar")).to_contain_text("1 edit on")


def test_a_form_keeps_what_was_typed_until_the_server_agrees(page, address):
    open_at(page, address, "view=edit")
    page.select_option("#edit-kind", "borrow")
    typed = {"at": "decoder.1.cross", "heads": "0,1", "text": "gulst", "from": "decoder.7.cross"}
    for name, value in typed.items():
        page.fill(f"#edit-{name}", value)
    page.select_option("#edit-model", "b")
    page.click("#add-edit")
    expect(page.locator("#refusal")).to_be_visible()
    settled(page)
    assert {name: page.input_value(f"#edit-{name}") for name in typed} == typed
    page.fill("#edit-from", "decoder.cross")
    page.fill("#edit-head", "0")
    page.click("#add-edit")
    expect(page.locator("#refusal")).to_be_hidden()
    expect(page.locator("#edits li")).to_have_count(1)


def test_letters_that_training_never_showed_are_told(page, address, models):
    open_at(page, address)
    type_text(page, "Bam")
    told = page.locator("#unknown")
    expect(told).to_contain_text(re.compile("Not known from training: *B; try lower case"))
    expect(page.locator("#status")).to_contain_text("B")
    before = view_id(page)
    page.click("#lower-case")
    another_view(page, before)
    settled(page)
    assert (page.input_value("#text"), output(page)) == ("bam", spoken(models, "bam"))
    expect(told).to_be_hidden()
    type_text(page, "ba😀")
    expect(told).to_contain_text("😀")
    expect(told).not_to_contain_text("lower case")


def test_going_back_is_seen_in_the_box_that_has_the_focus(page, address, models):
    open_at(page, address)
    type_text(page, "bam")
    page.focus("#text")
    before = view_id(page)
    page.go_back()
    another_view(page, before)
    settled(page)
    assert page.evaluate("document.activeElement.id") == "text"
    assert (page.input_value("#text"), output(page)) == ("dost", spoken(models, "dost"))


def test_a_saved_edited_view_shows_its_edits_and_its_model(page, models, tmp_path):
    edits = [Off(at="decoder.*.cross", how="uniform"), Block(at="decoder.1.cross", places=(1,))]
    view = models["transformer"].attention("dost", beam=1, edits=edits)
    page.goto(f"file://{view.save(tmp_path / 'view.html')}")
    settled(page)
    expect(page.locator("#about")).to_contain_text("transformer")
    expect(page.locator("#edit-bar")).to_contain_text("2 edits on")
    page.keyboard.press("5")
    expect(page.locator("#edits li")).to_have_count(2)
    expect(page.get_by_text("Nothing is changed yet.")).to_be_hidden()
    expect(page.locator("#effect")).to_contain_text("log-probability before")


def test_a_saved_page_offers_only_what_was_saved(page, models, tmp_path):
    view = models["transformer"].attention("dost", beam=1)
    page.goto(f"file://{view.save(tmp_path / 'view.html')}#view=map&draw=occlusion")
    settled(page)
    assert page.locator("#draw option").all_text_contents() == [
        "attention weights",
        "rollout through all layers",
    ]
    assert page.input_value("#draw") == "weights"


def test_a_saved_text_with_marks_of_a_script_is_only_text(page, models, tmp_path):
    for number, text in enumerate(("a<!-- <script>b", "</script>\u2028\u2029<b>")):
        view = models["transformer"].attention(text, beam=1)
        page.goto(f"file://{view.save(tmp_path / f'{number}.html')}")
        settled(page)
        assert page.input_value("#text") == text
        assert output(page) == " ".join(view.predicted[:-1])


def test_compare_shows_no_old_map_beside_a_text_that_is_not_written_yet(page, address):
    open_at(page, address, "view=compare&left=plain&right=edited&edits=off:decoder.*.cross:all:uniform")
    expect(page.locator("#heat-right")).to_be_visible()
    page.select_option("#side-right", "text")
    expect(page.locator("[data-side=right]")).to_contain_text("Write the other text")
    expect(page.locator("#heat-right")).to_be_hidden()
    expect(page.locator("[data-side=difference]")).to_be_hidden()
    expect(page.locator("#heat-left")).to_be_visible()
    page.fill("#other-text", "bamb")
    page.press("#other-text", "Enter")
    expect(page.locator("#heat-right")).to_be_visible()


def test_attributions_of_merged_words_are_not_offered(page, address):
    open_at(page, address, "view=map&draw=occlusion&words=1")
    expect(page.locator("#heat")).to_be_visible()
    assert page.input_value("#draw") == "weights"
