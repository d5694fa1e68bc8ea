"""The explorer's page for models that read but do not write, in a real browser on a real server."""

from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from browser import another_view, drawn, needs_chromium, open_at, serving_here, settled, view_id
from playwright.sync_api import Page, expect
from reading_runs import READ

from seq2see.serving.desk import Desk

pytestmark = needs_chromium
VIEWS = {"1": "translate", "2": "atlas", "3": "map", "5": "edit", "6": "compare"}
PAIRS = [("classes", "counts"), ("number", "letters"), ("tags", "cut"), ("labels", "members")]
NAMES = [name for pair in PAIRS for name in pair]


@pytest.fixture(scope="module")
def addresses(reader_runs, readers) -> Iterator[dict[str, tuple[str, str]]]:
    """Where each run is served, and as which model; two runs share a server."""
    with ExitStack() as stack:
        found = {}
        for pair in PAIRS:
            named = dict(zip("ab", pair, strict=True))
            models = {place: (reader_runs[name], readers[name]) for place, name in named.items()}
            address = stack.enter_context(serving_here(Desk(models, READ[pair[0]])))
            found |= {name: (address, place) for place, name in named.items()}
        yield found


def open_reader(page: Page, addresses: dict[str, tuple[str, str]], name: str, state: str = "") -> None:
    address, place = addresses[name]
    open_at(page, address, f"model={place}&{state}")


@pytest.mark.parametrize("name", NAMES)
def test_the_answer_is_shown_and_no_view_speaks_of_writing(page, addresses, readers, name):
    view = readers[name].attention(READ[name])
    open_reader(page, addresses, name)
    expect(page.locator("#output")).to_have_text(" ".join(view.predicted))
    expect(page.locator("#step")).to_be_visible(visible=view.kind == "tags")
    bars = page.locator("#candidates .candidate")
    expect(bars).to_have_count(len(view.steps[0].top) if view.steps else 0)
    for place, (_, label, _) in enumerate(view.steps[0].top if view.steps else ()):
        expect(bars.nth(place)).to_contain_text(label)
        expect(bars.nth(place)).to_be_disabled()
    expect(page.locator("#score")).to_contain_text(view.note or "log-probability")
    for key, shown in VIEWS.items():
        page.keyboard.press(key)
        expect(page.locator(f"#{shown}")).to_be_visible()
        if shown in ("translate", "map") or (view.weights and shown != "edit"):
            assert drawn(page, shown)
        told = page.locator("body").inner_text().lower()
        for word in ("translat", "target", "beam", "hypothes", "candidate", "predicted"):
            assert word not in told, (shown, word)
    expect(page.locator("#tab-beam")).to_be_hidden()
    expect(page.locator("#tab-translate")).to_contain_text("Read")
    page.keyboard.press("4")
    expect(page.locator("#beam")).to_be_hidden()


@pytest.mark.parametrize("name", ["classes", "number", "tags", "labels"])
def test_an_edit_is_made_measured_and_undone(page, addresses, name):
    open_reader(page, addresses, name, "view=edit&column=1")
    plain = view_id(page)
    page.click("#quick [data-edit=block]")
    another_view(page, plain)
    expect(page.locator("#edits li")).to_have_count(1)
    expect(page.locator("#effect")).to_contain_text(
        "change of the number" if name == "number" else "plain answer"
    )
    expect(page.locator("#kl")).to_be_visible(visible=name != "number")
    assert "beam" not in (page.text_content("#code") or "")
    assert page.locator("#edit-kind option[value=force]").is_disabled()
    edited = view_id(page)
    page.locator("body").press("u")
    another_view(page, edited)
    assert view_id(page) == plain


@pytest.mark.parametrize("name", ["counts", "letters", "cut"])
def test_without_attention_tokens_are_coloured_by_what_they_did(page, addresses, name):
    open_reader(page, addresses, name)
    expect(page.locator("#translate-notice")).to_contain_text(
        "This model has no attention. Tokens are coloured"
    )
    expect(page.locator("body[data-painted=occlusion]")).to_be_visible()
    page.keyboard.press("3")
    offered = page.locator("#draw option")
    expect(offered).to_have_count(1 if name != "cut" else 2)
    expect(page.locator("#map-notice")).to_be_hidden()
    page.keyboard.press("5")
    expect(page.locator("#edit-kind option:enabled")).to_have_count(1)


def test_a_word_and_its_tag_are_chosen_together(page, addresses):
    open_reader(page, addresses, "tags", "at=encoder.0.self")
    page.locator("#step").fill("2")
    expect(page.locator("#candidates").locator("xpath=..")).to_contain_text("Tags for “big”")
    expect(page.locator("#status")).to_contain_text("place 2")


@pytest.mark.parametrize("state", ["view=beam", "target=abc", "edits=force:0:4"])
def test_an_address_from_a_model_that_writes_does_no_harm(page, addresses, state):
    open_reader(page, addresses, "classes", state)
    expect(page.locator("#translate")).to_be_visible()
    expect(page.locator("#notice")).to_be_hidden()


@pytest.mark.parametrize("name", ["classes", "number", "tags", "counts"])
def test_a_saved_view_opens_without_a_server(page, readers, tmp_path, name):
    view = readers[name].attention(READ[name])
    page.goto(f"file://{view.save(tmp_path / 'view.html')}")
    settled(page)
    expect(page.locator("#output")).to_have_text(" ".join(view.predicted))
    for key, shown in VIEWS.items():
        page.keyboard.press(key)
        expect(page.locator(f"#{shown}")).to_be_visible()
