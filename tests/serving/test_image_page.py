"""The explorer's page for models that read images, in a real browser on a real server."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from browser import another_view, drawn, needs_chromium, open_at, serving, serving_here, settled, view_id
from playwright.sync_api import Page, expect

from seq2see.data import Pair
from seq2see.data.shapes import draw
from seq2see.lens.edits import Hide, Pin, Skip
from seq2see.serving.desk import Desk
from seq2see.serving.gallery import Gallery

pytestmark = needs_chromium
SCENE = "red circle 8 24 6, blue square 40 24 6"
OTHER = "green cross 24 24 6"
PLACE = "task:shapes//"


@pytest.fixture(scope="module")
def addresses(image_runs, image_models) -> Iterator[dict[str, str]]:
    """Where each run is served."""
    with ExitStack() as stack:
        found = {}
        for name in ("vit", "resnet", "caption"):
            gallery = Gallery([Pair(1, f"{PLACE}{one}", "", "") for one in (SCENE, OTHER)], draws=True)
            desk = Desk({"a": (image_runs[name], image_models[name])}, SCENE, gallery)
            found[name] = stack.enter_context(serving_here(desk))
        yield found


def click_place(page: Page, row: int, column: int) -> None:
    """Click the middle of a cell of the grid."""
    at = page.evaluate(
        """async ([row, column]) => {
            const { picture } = (await (await fetch('/api/view', {method: 'POST', headers:
                {'Content-Type': 'application/json'}, body: document.body.dataset.request})).json());
            const { across, down, width, height } = picture;
            return [(column + .4) * across / width, (row + .4) * down / height];
        }""",
        [row, column],
    )
    box = page.locator("#picture").bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + at[0] * box["width"], box["y"] + at[1] * box["height"])


def test_a_class_is_shown_with_the_gaze_of_the_class_token(page, addresses, image_models):
    view = image_models["vit"].attention(PLACE + SCENE)
    open_at(page, addresses["vit"])
    expect(page.locator("#tab-translate")).to_contain_text("Picture")
    expect(page.locator("#output")).to_have_text(view.output)
    expect(page.locator("#candidates .candidate")).to_have_count(2)
    assert drawn(page, "translate")
    expect(page.locator("#from")).to_contain_text("seen from <class>")
    best = int(view.weights["encoder.1.self"].mean(0)[0].argmax())
    expect(page.locator("#status")).to_contain_text(f"most at {view.source[best]}")
    for kind in ("rollout", "gradient", "occlusion"):
        page.select_option("#look-draw", kind)
        expect(page.locator(f"body[data-painted={kind}]")).to_be_visible()
    page.select_option("#look-draw", "weights")
    click_place(page, 1, 2)
    expect(page.locator("#from")).to_contain_text("seen from r1c2")
    page.keyboard.press("ArrowDown")
    expect(page.locator("#from")).to_contain_text("seen from r2c2")
    page.click("#from-class")
    expect(page.locator("#from")).to_contain_text("seen from <class>")
    for key, shown in {"2": "atlas", "3": "map", "6": "compare"}.items():
        page.keyboard.press(key)
        assert drawn(page, shown)


def test_a_place_is_hidden_by_a_click_undone_and_kept_in_the_address(page, addresses, image_models):
    model = image_models["vit"]
    place = model.attention(PLACE + SCENE).source.index("r1c2")
    changed = model.attention(PLACE + SCENE, edits=[Hide(places=[place])])
    open_at(page, addresses["vit"])
    plain = view_id(page)
    page.click("[data-click=hide]")
    click_place(page, 1, 2)
    another_view(page, plain)
    expect(page.locator("#score")).to_contain_text(f"{changed.log_probability:.3f}".replace("-", "−"))
    page.wait_for_function(f"location.hash.includes('hide:{place}')")
    address = page.url
    edited = view_id(page)
    click_place(page, 1, 2)
    another_view(page, edited)
    assert view_id(page) == plain
    page.keyboard.press("u")
    another_view(page, plain)
    page.goto("about:blank")
    page.goto(address)
    settled(page)
    assert view_id(page) == edited
    page.keyboard.press("5")
    expect(page.locator("#edits li[data-kind=hide]")).to_have_count(1)
    expect(page.locator("#code")).to_contain_text(f"Hide(places=({place},))")


def test_words_of_a_caption_show_where_they_looked(page, addresses, image_models):
    model = image_models["caption"]
    view = model.attention(PLACE + SCENE, beam=1)
    open_at(page, addresses["caption"])
    words = page.locator("#output .word")
    expect(words).to_have_text([label.replace("▁", "") for label in view.predicted])
    page.keyboard.press("ArrowRight")
    expect(words.nth(1)).to_have_attribute("aria-pressed", "true")
    last = len(view.predicted) - 1
    best = view.source[int(view.at("decoder.cross")[last].argmax())]
    words.nth(last).hover()
    expect(page.locator("#from")).to_contain_text("<end>")
    page.mouse.move(5, 5)
    expect(page.locator("#from")).not_to_contain_text("<end>")
    words.nth(last).focus()
    expect(page.locator("#from")).to_contain_text("<end>")
    page.keyboard.press("Enter")
    expect(page.locator("#status")).to_contain_text(best)


def test_the_gaze_of_a_word_is_pinned(page, addresses, image_models):
    model = image_models["caption"]
    place = model.attention(PLACE + SCENE).source.index("r2c1")
    changed = model.attention(PLACE + SCENE, edits=[Pin(at="decoder.cross", step=1, places=[place])], beam=1)
    open_at(page, addresses["caption"], "step=1")
    plain = view_id(page)
    page.click("[data-click=pin]")
    click_place(page, 2, 1)
    another_view(page, plain)
    expect(page.locator("#status")).to_contain_text("looks at r2c1 with 1.000")
    expect(page.locator("#output .word")).to_have_count(len(changed.predicted))


def test_blocks_are_switched_and_measured(page, addresses, image_models):
    model = image_models["resnet"]
    view = model.attention(PLACE + SCENE)
    changed = model.attention(PLACE + SCENE, edits=[Skip(block="encoder.1.1")])
    open_at(page, addresses["resnet"])
    rows = page.locator("#blocks tbody tr")
    expect(rows).to_have_count(3)
    for place, one in enumerate(view.blocks):
        expect(rows.nth(place)).to_contain_text(one.answer)
    expect(page.locator("#features canvas")).to_have_count(2)
    plain = view_id(page)
    page.uncheck("[data-block='encoder.1.1']")
    another_view(page, plain)
    expect(page.locator("#score")).to_contain_text(f"{changed.log_probability:.3f}".replace("-", "−"))
    expect(rows.nth(2)).to_contain_text("left out")
    edited = view_id(page)
    page.check("[data-block='encoder.1.1']")
    another_view(page, edited)
    assert view_id(page) == plain


def test_a_block_that_is_switched_while_edits_are_left_out_brings_them_back(page, addresses, image_models):
    edits = [Hide(places=[3]), Skip(block="encoder.1.1")]
    changed = image_models["resnet"].attention(PLACE + SCENE, edits=edits)
    open_at(page, addresses["resnet"], "edits=hide:3&plain=1")
    before = view_id(page)
    page.uncheck("[data-block='encoder.1.1']")
    another_view(page, before)
    expect(page.locator("#score")).to_contain_text(f"{changed.log_probability:.3f}".replace("-", "−"))
    expect(page.locator("#edit-bar")).to_contain_text("2 edits on")


def test_a_name_is_asked_for_when_its_field_is_left(page, addresses):
    open_at(page, addresses["resnet"])
    page.focus("#text")
    page.keyboard.type("x")
    expect(page.locator("body")).to_have_attribute("data-phase", "shown")
    page.click("#answer-title")
    expect(page.locator("body[data-phase=refused]")).to_be_visible()
    expect(page.locator("#still")).to_contain_text("Below is still")


def test_another_image_is_chosen_by_name_or_uploaded(page, addresses, image_models, tmp_path):
    model = image_models["caption"]
    open_at(page, addresses["caption"])
    expect(page.locator("#image-names option")).to_have_count(2)
    before = view_id(page)
    page.fill("#text", OTHER)
    another_view(page, before)
    assert model(PLACE + OTHER, beam=1) in (page.text_content("#output") or "").replace("  ", " ")
    file = tmp_path / "mine.png"
    draw("white triangle 24 24 6").save(file)
    before = view_id(page)
    page.set_input_files("#upload", file)
    another_view(page, before)
    assert model(str(file), beam=1) in (page.text_content("#output") or "").replace("  ", " ")
    assert page.input_value("#text").startswith("upload:") and "mine.png" in page.input_value("#text")


@pytest.mark.parametrize("name", ["vit", "caption"])
def test_a_bad_file_is_refused_with_a_sentence(page, addresses, tmp_path, name):
    bad = tmp_path / "<b>bad.png"
    bad.write_bytes(b"nothing of an image")
    open_at(page, addresses[name])
    before = view_id(page)
    page.set_input_files("#upload", bad)
    expect(page.locator("#notice")).to_contain_text("<b>bad.png' is no image that can be read")
    assert view_id(page) == before
    page.fill("#text", "/etc/passwd")
    page.keyboard.press("Enter")
    expect(page.locator("body[data-phase=refused]")).to_be_visible()
    expect(page.locator("#translate")).to_be_visible()


@pytest.mark.parametrize("name", ["vit", "resnet", "number", "caption", "transformer"])
def test_a_saved_picture_opens_without_a_server(page, image_models, tmp_path: Path, name):
    view = image_models[name].attention(PLACE + SCENE)
    page.goto(f"file://{view.save(tmp_path / 'view.html')}")
    settled(page)
    if name == "vit":
        expect(page.locator("#output")).to_have_text(view.output)
    assert drawn(page, "translate")
    expect(page.locator("#choose-file")).to_be_hidden()
    expect(page.locator("#blocks tbody tr")).to_have_count(len(view.blocks))
    if view.blocks:
        expect(page.locator("#blocks input").first).to_be_disabled()
    expect(page.locator("[data-click=hide]")).to_be_disabled()
    page.keyboard.press("x")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#translate")).to_be_visible()


def test_a_narrow_screen_has_room_for_the_picture(page, addresses):
    page.set_viewport_size({"width": 390, "height": 780})
    open_at(page, addresses["resnet"])
    box = page.locator("#picture").bounding_box()
    assert box is not None and 200 <= box["width"] <= 390
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_the_command_serves_a_folder_of_images(page, image_runs, image_models, tmp_path, seq2see):
    file = tmp_path / "some" / "one.png"
    file.parent.mkdir()
    draw(OTHER).save(file)
    with serving(image_runs["vit"], file.parent, text="one.png") as address:
        open_at(page, address)
        expect(page.locator("#image-names option")).to_have_count(1)
        expect(page.locator("#output")).to_have_text(image_models["vit"](str(file)))
    said = seq2see("explore", image_runs["vit"], tmp_path / "nowhere")
    assert said.code != 0 and "nowhere" in said.err


def test_models_of_texts_and_of_images_are_not_mixed(image_runs, reader_runs, tmp_path, seq2see):
    said = seq2see("explore", image_runs["vit"], reader_runs["classes"])
    assert said.code != 0 and "one of these runs reads images and the other texts" in said.err
    said = seq2see("explore", reader_runs["classes"], tmp_path)
    assert said.code != 0 and "is no run directory" in said.err
