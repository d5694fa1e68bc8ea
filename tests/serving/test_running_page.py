"""The explorer's page for a model that goes on with a text, in a real browser on a real server."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import drawn, needs_chromium, open_at, serving_here, settled
from complete_runs import trained
from playwright.sync_api import Page, expect

from seq2see import load
from seq2see.goals.completer import Completer
from seq2see.lens.edits import Off
from seq2see.serving.desk import Desk

pytestmark = needs_chromium
TEXT = "1: the c"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Completer:
    return load(trained(tmp_path_factory.mktemp("running")), device="cpu")


@pytest.fixture(scope="module")
def address(model: Completer) -> Iterator[str]:
    with serving_here(Desk({"a": (Path("run"), model)}, TEXT)) as found:
        yield found


def test_one_text_looks_back_at_itself_in_every_view(page: Page, address: str, model: Completer) -> None:
    view = model.attention(TEXT, beam=3)
    open_at(page, address, "beam=3")
    expect(page.locator("#tab-translate")).to_contain_text("Go on")
    expect(page.locator("#score")).to_contain_text("log-probability")
    expect(page.locator("#candidates .candidate")).to_have_count(len(view.steps[0].top))
    for key, shown in {"1": "translate", "2": "atlas", "3": "map", "4": "beam", "6": "compare"}.items():
        page.keyboard.press(key)
        expect(page.locator(f"#{shown}")).to_be_visible()
        assert drawn(page, shown)
    page.keyboard.press("3")
    for kind in ("rollout", "gradient", "occlusion"):
        page.locator("#map select").first.select_option(kind)
        settled(page)
        assert drawn(page, "map")


def test_an_edit_changes_what_follows(page: Page, address: str, model: Completer) -> None:
    open_at(page, address, "view=edit")
    page.get_by_text("Switch off all heads of decoder.0.self").click()
    settled(page)
    assert "Off(at='decoder.0.self'" in (page.text_content("#code") or "")
    view = model.attention(TEXT, edits=[Off(at="decoder.0.self")])
    assert view.effect is not None
    expect(page.locator("#edit")).to_contain_text(f"{abs(view.effect.change or 0):.3f}")
