"""The explorer's page for a model that fills gaps, in a real browser on a real server."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import another_view, drawn, needs_chromium, open_at, serving_here, view_id
from fill_runs import NOUNS, PLACES, SMALL, filler
from playwright.sync_api import Page, expect

from seq2see import load
from seq2see.goals.filler import Filler
from seq2see.lens.edits import Block
from seq2see.serving.desk import Desk
from seq2see.text import MASK

pytestmark = needs_chromium
TEXT = f"the {NOUNS[1]} sat on the {MASK} , {MASK}"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Filler:
    """Learns which noun sits where."""
    settings = (*SMALL, "model.width=32", "training.learning_rate=0.01", "model.dropout=0")
    folder = tmp_path_factory.mktemp("gaps")
    return load(filler(folder, settings=settings, max_steps=120), device="cpu")


@pytest.fixture(scope="module")
def address(model: Filler) -> Iterator[str]:
    with serving_here(Desk({"a": (Path("run"), model)}, TEXT)) as found:
        yield found


def test_guesses_for_each_gap_are_shown(page: Page, address: str, model: Filler) -> None:
    view = model.attention(TEXT)
    assert view.predicted[0].endswith(PLACES[1])
    open_at(page, address)
    expect(page.locator("#output")).to_have_text(" ".join(view.predicted))
    bars = page.locator("#candidates .candidate")
    for step, gap in enumerate(view.steps):
        page.locator("#step").fill(str(step))
        expect(bars).to_have_count(len(gap.top))
        for place, (_, label, _) in enumerate(gap.top):
            expect(bars.nth(place)).to_contain_text(label)


def test_an_edit_changes_what_is_filled_in(page: Page, address: str, model: Filler) -> None:
    noun = model.attention(TEXT).source.index(f"▁{NOUNS[1]}")
    edited = model.attention(TEXT, edits=[Block(at="encoder.0.self", places=(noun,))])
    assert edited.effect is not None and edited.predicted[0] != edited.effect.predicted[0]
    open_at(page, address, f"view=edit&at=encoder.0.self&column={noun}")
    plain = view_id(page)
    page.click("#quick [data-edit=block]")
    another_view(page, plain)
    effect = page.locator("#effect")
    expect(effect).to_contain_text(f"− {edited.effect.predicted[0]} + {edited.predicted[0]}")
    expect(effect).to_contain_text(f"after: {edited.output}")
    page.keyboard.press("1")
    expect(page.locator("#output")).to_have_text(" ".join(edited.predicted))


def test_a_text_without_gaps_shows_what_heads_look_at(page: Page, address: str, model: Filler) -> None:
    open_at(page, address, "text=the%20cat%20sat%20on%20the%20mat&view=atlas&sort=same")
    expect(page.locator("#notice")).to_be_hidden()
    expect(page.locator("#atlas .hint")).to_contain_text("the same token elsewhere")
    assert drawn(page, "atlas")
    page.keyboard.press("1")
    expect(page.locator("#score")).to_contain_text(f"there is no {MASK} in the text")
