"""The explorer's page in a real browser, on a real server."""

from collections.abc import Iterator
from typing import Any

import pytest
from browser import (
    another_view,
    drawn,
    needs_chromium,
    open_at,
    output,
    serving,
    serving_here,
    settled,
    view_id,
)
from playwright.sync_api import expect

from seq2see.lens.view import View
from seq2see.serving.desk import Desk

pytestmark = needs_chromium
VIEWS = ["translate", "atlas", "map", "beam", "edit", "compare"]
EDITS: dict[str, dict[str, str]] = {
    "off": {"how": "uniform", "heads": "all"},
    "hard": {"heads": "all"},
    "top": {"heads": "all", "count": "1"},
    "temperature": {"heads": "0,1", "value": "20"},
    "pin": {"heads": "all", "step": "0", "places": "2,3"},
    "block": {"heads": "all", "places": "0,4"},
    "force": {"step": "1"},
    "source": {"text": "bam"},
    "borrow": {"heads": "all", "text": "gulst"},
}


@pytest.fixture(scope="module")
def address(runs) -> Iterator[str]:
    with serving(runs["transformer"], runs["recurrent"], text="dost") as address:
        yield address


def spoken(view: View) -> str:
    return " ".join(view.predicted[:-1])


def test_the_page_shows_what_the_model_says(page, address, models):
    open_at(page, address)
    assert page.input_value("#text") == "dost"
    assert output(page) == spoken(models["transformer"].attention("dost", beam=1))
    before = view_id(page)
    page.fill("#text", "gulm")
    page.click("#run")
    another_view(page, before)
    assert output(page) == spoken(models["transformer"].attention("gulm", beam=1))
    before = view_id(page)
    page.select_option("#model", "b")
    another_view(page, before)
    assert output(page) == spoken(models["recurrent"].attention("gulm", beam=1))


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_view_draws(page, address, theme):
    open_at(page, address, f"theme={theme}&beam=3")
    for number, view in enumerate(VIEWS, 1):
        page.keyboard.press(str(number))
        expect(page.locator(f"#{view}")).to_be_visible()
        assert [other for other in VIEWS if page.is_visible(f"#{other}")] == [view]
        canvases = page.locator(f"#{view} canvas:visible")
        if view != "edit":
            expect(canvases.first).to_be_visible()
            assert drawn(page, view)
    assert page.evaluate("document.documentElement.dataset.theme") == theme


@pytest.mark.parametrize("kind", EDITS)
def test_every_edit_changes_the_model_and_can_be_undone(page, address, kind):
    open_at(page, address, "view=edit&at=decoder.1.cross&step=1")
    plain, before = view_id(page), page.text_content("#code")
    page.select_option("#edit-kind", kind)
    if page.locator("#edit-at").count():
        page.fill("#edit-at", "decoder.*.cross")
    for name, value in EDITS[kind].items():
        if name == "how":
            page.select_option("#edit-how", value)
        else:
            page.fill(f"#edit-{name}", value)
    page.click("#add-edit")
    another_view(page, plain)
    expect(page.locator("#edits li")).to_have_count(1)
    assert f"edits={kind}:" in page.url
    assert "edits=[" in (page.text_content("#code") or "")
    expect(page.locator("#effect")).to_contain_text("log-probability")
    edited = view_id(page)
    page.locator("body").press("u")
    another_view(page, edited)
    expect(page.locator("#edits li")).to_have_count(0)
    assert view_id(page) == plain
    assert page.text_content("#code") == before
    page.locator("body").press("Shift+U")
    another_view(page, plain)
    assert view_id(page) == edited


def test_a_candidate_can_be_forced(page, address, models):
    open_at(page, address, "step=1")
    plain, said = view_id(page), output(page).split()
    page.locator("#candidates .candidate").nth(1).click()
    another_view(page, plain)
    assert output(page).split()[0] == said[0]
    assert output(page).split()[1] != said[1]
    assert "edits=force:1:" in page.url


def test_keys_move_through_cells_heads_and_layers(page, address):
    open_at(page, address, "view=map&at=decoder.0.cross&head=0")
    status = page.locator("#status")
    expect(status).to_contain_text("head 0 of decoder.0.cross")
    expect(status).to_contain_text("step 0")
    page.locator("#heat").focus()
    page.keyboard.press("ArrowDown")
    expect(status).to_contain_text("step 1")
    page.keyboard.press("ArrowRight")
    expect(status).to_contain_text("looks at \u2068o\u2069")
    page.keyboard.press("]")
    expect(status).to_contain_text("head 1 of decoder.0.cross")
    page.keyboard.press("[")
    expect(status).to_contain_text("head 0 of decoder.0.cross")
    page.keyboard.press("}")
    expect(status).not_to_contain_text("decoder.0.cross")
    page.keyboard.press("?")
    expect(page.locator("#keys")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#keys")).to_be_hidden()


def test_the_status_tells_the_exact_weight(page, address, models):
    open_at(page, address, "view=map&at=decoder.1.cross&head=2&step=1&column=2")
    weight = models["transformer"].attention("dost", beam=1).at("decoder.1.cross", 2)[1, 2].item()
    expect(page.locator("#status")).to_contain_text(f"{weight:.2f}")


def test_the_address_holds_the_whole_view(page, address):
    open_at(page, address, "view=map&at=decoder.1.cross&head=1&step=2&column=1&beam=2")
    page.keyboard.press("5")
    before = view_id(page)
    page.click("#quick [data-edit=block]")
    another_view(page, before)
    url, told = page.url, page.text_content("#status")
    code, shown = page.text_content("#code"), view_id(page)
    page.goto("about:blank")
    page.goto(url)
    settled(page)
    assert (page.url, view_id(page), page.text_content("#code")) == (url, shown, code)
    expect(page.locator("#status")).to_have_text(told or "")
    page.go_back()
    page.go_forward()
    settled(page)
    assert page.url == url


def test_an_address_that_makes_no_sense_does_no_harm(page, address):
    open_at(page, address, "view=map&at=nope.1&head=99&step=999&column=7777&row=x&zzz=1&beam=99&edits=zap:1")
    expect(page.locator("#heat")).to_be_visible()
    expect(page.locator("#notice")).to_be_visible()


def test_the_tree_of_a_beam_can_be_forced(page, address):
    open_at(page, address, "view=beam")
    before = view_id(page)
    page.click("#beam-4")
    another_view(page, before)
    assert "beam=4" in page.url
    page.focus("#tree")
    for key in ("ArrowRight", "ArrowRight", "ArrowDown"):
        page.keyboard.press(key)
    before = view_id(page)
    page.keyboard.press("Enter")
    another_view(page, before)
    assert "edits=force:0:" in page.url


def test_two_models_are_compared(page, address):
    open_at(page, address, "view=compare&left=plain&right=model&at=decoder.1.cross")
    expect(page.locator("#heat-left")).to_be_visible()
    expect(page.locator("#heat-right")).to_be_visible()
    expect(page.locator("#output-left")).not_to_be_empty()
    expect(page.locator("#output-right")).not_to_be_empty()


def test_a_refusal_is_shown_and_the_last_view_stays(page, address):
    open_at(page, address)
    before, said = view_id(page), output(page)
    page.fill("#text", "x" * 3990)
    page.click("#run")
    expect(page.locator("#refusal")).to_contain_text("a view of this model shows")
    assert (view_id(page), output(page)) == (before, said)


def test_strange_text_is_only_text(page, address):
    open_at(page, address)
    before = view_id(page)
    page.fill("#text", "<b onclick=alert(1)>é😀\u202e</b>")
    page.click("#run")
    another_view(page, before)
    assert page.locator("main b[onclick]").count() == 0


@pytest.mark.parametrize("name", ["recurrent", "bottleneck", "sentences"])
def test_every_architecture_has_its_page(page, runs, models, name):
    with serving_here(Desk({"a": (runs[name], models[name])}, "dost bam")) as address:
        open_at(page, address, "beam=3")
        for number, view in enumerate(VIEWS, 1):
            page.keyboard.press(str(number))
            expect(page.locator(f"#{view}")).to_be_visible()
        page.goto("about:blank")  # what it still waits for would be refused by a server that ends


def test_a_saved_view_opens_without_a_server(page, models, tmp_path):
    view = models["transformer"].attention("dost", beam=3)
    file: Any = view.save(tmp_path / "view.html")
    page.goto(f"file://{file}")
    expect(page.locator("#ribbons")).to_be_visible()
    expect(page.locator("#saved-note")).to_be_visible()
    expect(page.locator("#text")).to_be_disabled()
    assert output(page) == spoken(view)
    for number, name in enumerate(VIEWS, 1):
        page.keyboard.press(str(number))
        expect(page.locator(f"#{name}")).to_be_visible()
    page.keyboard.press("3")
    page.keyboard.press("]")
    expect(page.locator("#status")).to_contain_text("head 0")
