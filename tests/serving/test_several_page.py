"""The explorer of a model with several targets: one is picked, and two stand side by side."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import needs_chromium, open_at, serving_here, settled
from fastapi.testclient import TestClient
from playwright.sync_api import Page, expect

from seq2see import load
from seq2see.goals.several_model import SeveralModel
from seq2see.lens.page import saved_page
from seq2see.serving.app import explorer
from seq2see.serving.desk import Desk


@pytest.fixture(scope="module")
def desk(several: Path) -> Desk:
    model = load(several / "run", device="cpu")
    assert isinstance(model, SeveralModel)
    return Desk({"a": (Path("run"), model)}, "dom")


@pytest.fixture(scope="module")
def address(desk: Desk) -> Iterator[str]:
    with serving_here(desk) as found:
        yield found


def test_the_server_knows_targets(desk: Desk) -> None:
    """D10: targets are listed, each gives its own view and code, and wrong ones are refused in a sentence."""
    client = TestClient(explorer(desk, ["testserver"]))
    assert client.get("/api/models").json()["models"][0]["targets"] == ["capital", "twice"]
    assert client.post("/api/view", json={"text": "dom"}).json()["output"] == "DOM"
    found = client.post("/api/view", json={"text": "dom", "into": "twice"}).json()
    assert found["output"] == "ddoomm" and "into='twice'" in found["code"]
    assert client.get(f"/api/summary/{found['id']}/occlusion").status_code == 200
    wrong = client.post("/api/view", json={"text": "dom", "into": "twise"})
    assert wrong.status_code == 422 and "did you mean 'twice'" in wrong.json()["detail"]


@needs_chromium
def test_a_target_is_picked(page: Page, address: str) -> None:
    """D10: the picker changes the output, and the link keeps it."""
    open_at(page, address, "view=edit")
    expect(page.locator("#code")).to_contain_text("model.attention('dom', beam=1)")
    page.locator("#into").select_option("twice")
    expect(page.locator("#code")).to_contain_text("into='twice'")
    open_at(page, address, "view=compare&into=twice&left=plain")
    expect(page.locator("#into")).to_have_value("twice")
    expect(page.locator("#output-left")).to_contain_text("d d o o m m")


@needs_chromium
def test_targets_side_by_side(page: Page, address: str) -> None:
    """D10: the compare view has another target beside the one that is asked for."""
    open_at(page, address, "view=compare&left=plain&right=target")
    expect(page.locator("#output-left")).to_contain_text("D O M")
    expect(page.locator("#output-right")).to_contain_text("d d o o m m")
    page.locator("#other-into").select_option("capital")
    expect(page.locator("#output-right")).to_contain_text("D O M")


@needs_chromium
def test_a_saved_view_opens(page: Page, desk: Desk, tmp_path: Path) -> None:
    """D10: a view of a target that was saved opens from disk, without a picker."""
    _, model = desk._models["a"]
    assert isinstance(model, SeveralModel)
    (tmp_path / "view.html").write_text(saved_page(model.attention("dom", into="twice")))
    page.goto(f"file://{tmp_path}/view.html")
    settled(page)
    expect(page.locator("#saved-note")).to_be_visible()
    expect(page.locator("#into")).to_be_hidden()
