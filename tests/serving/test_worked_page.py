"""The worked example of self-attention in a browser, held against NumPy."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
from browser import needs_chromium
from numpy.typing import NDArray
from playwright.sync_api import Locator, Page

from seq2see.lab.worked_page import worked_page

pytestmark = needs_chromium

Matrix = NDArray[np.float64]
H = np.array([[5.0, 1], [4, 3], [-2, 6]])
WQ, WK, WV = (np.array(one, dtype=float) for one in ([[1, 0], [2, 9]], [[0, 1], [6, 0]], [[4, 3], [9, 1]]))


@pytest.fixture(scope="session")
def file(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The page on a disk."""
    path = tmp_path_factory.mktemp("worked") / "worked.html"
    path.write_text(worked_page())
    return path.as_uri()


def opened(page: Page, address: str, state: str = "") -> None:
    page.goto("about:blank")
    page.goto(f"{address}#{state}")
    page.locator("#outputs td").first.wait_for()


def cell(page: Page, matrix: str, row: int, column: int) -> Locator:
    """A cell, counted from 1 as on the page."""
    return page.locator(f'#{matrix} td[data-row="{row - 1}"][data-column="{column - 1}"]')


def numbers(page: Page, matrix: str) -> Matrix:
    """A matrix as the page shows it."""
    shown = page.evaluate(
        """name => [...document.querySelectorAll(`#${name} tr`)].slice(1).map((row) =>
            [...row.querySelectorAll("td")].map((cell) => (cell.querySelector("input") ?? cell))
            .map((shown) => shown.value ?? shown.textContent))""",
        matrix,
    )
    return np.array([[number(text) for text in row] for row in shown])


def number(text: str) -> float:
    if text == "−∞":
        return -np.inf
    powers = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
    return float(text.replace("·10", "e").translate(powers).replace("−", "-"))


def attention(h: Matrix, weights: tuple[Matrix, ...], mask: Matrix, heads: int, root: bool) -> list[Matrix]:
    """Scores and weights of every head, then the outputs, by softmax."""
    q, k, v = (np.stack([weight @ state for state in h]) for weight in weights)
    found, outputs, wide = [], [], h.shape[1] // heads
    for head in range(heads):
        part = slice(head * wide, (head + 1) * wide)
        scores = np.where(mask, q[:, part] @ k[:, part].T / (wide**0.5 if root else 1), -np.inf)
        powers = np.exp(scores - scores.max(1, keepdims=True))
        found += [scores, powers / powers.sum(1, keepdims=True)]
        outputs.append(found[-1] @ v[:, part])
    return [*found, np.concatenate(outputs, 1)]


def agrees(page: Page, matrix: str, wanted: Matrix) -> None:
    np.testing.assert_allclose(numbers(page, matrix), wanted, rtol=2e-3, atol=6e-5)


def test_it_begins_with_the_lecture(page: Page, file: str) -> None:
    opened(page, file)
    for name, wanted in {"h": H, "Wq": WQ, "Wk": WK, "Wv": WV, "q": H @ WQ.T, "v": H @ WV.T}.items():
        assert (numbers(page, name) == wanted).all(), name
    assert numbers(page, "k").tolist() == [[1, 30], [3, 24], [6, -12]]
    assert numbers(page, "scores1")[1].tolist() == [1054, 852, -396]
    assert numbers(page, "weights1")[1].tolist() == [1, 0, 0]
    assert numbers(page, "outputs")[1].tolist() == [23, 46]


def test_the_arithmetic_of_a_cell_is_written_out(page: Page, file: str) -> None:
    opened(page, file)
    cell(page, "scores1", 2, 1).hover()
    assert page.locator("#arithmetic").text_content() == "q2 · k1: 4·1 + 35·30 = 1054"
    assert page.locator("td.used").count() == 4 and page.locator("#q td.used").first.text_content() == "4"
    cell(page, "outputs", 2, 2).hover()
    assert page.locator("#arithmetic").text_content() == "h2′, entry 2: 1·46 + 0·39 + 0·(−12) = 46"
    page.locator("h1").hover()
    assert page.locator("td.used").count() == 0


def test_an_edit_follows_at_once(page: Page, file: str) -> None:
    opened(page, file)
    page.locator("#choose").select_option("softmax")
    page.locator("#scale").select_option("root")
    for name, matrix in {"Wq": WQ, "Wk": WK}.items():
        for row in range(2):
            for column in range(2):
                cell(page, name, row + 1, column + 1).locator("input").fill(str(matrix[row, column] / 10))
    cell(page, "h", 3, 1).locator("input").fill("2.5")
    h = H.copy()
    h[2, 0] = 2.5
    mask = np.ones((3, 3), dtype=bool)
    scores, weights, outputs = attention(h, (WQ / 10, WK / 10, WV), mask, heads=1, root=True)
    assert weights[2].min() > 0.01 or weights[0].max() < 0.999, "the example should not be at its limits"
    agrees(page, "scores1", scores)
    agrees(page, "weights1", weights)
    agrees(page, "outputs", outputs)


def test_masks_hide_what_may_not_be_seen(page: Page, file: str) -> None:
    opened(page, file)
    page.locator("#mask").select_option("causal")
    assert np.isneginf(numbers(page, "scores1")).tolist() == [[0, 1, 1], [0, 0, 1], [0, 0, 0]]
    page.locator("#pad-1").check()
    assert numbers(page, "weights1").tolist() == [[0, 0, 0], [0, 1, 0], [0, 1, 0]]
    assert numbers(page, "outputs").tolist() == [[0, 0], [25, 39], [25, 39]], "query 1 sees nothing"
    cell(page, "weights1", 1, 1).hover()
    assert "may see nothing" in str(page.locator("#arithmetic").text_content())


def test_sizes_and_heads_change(page: Page, file: str) -> None:
    opened(page, file, "choose=softmax&scale=root&Wq=0.1,0;0.2,0.9&Wk=0,0.1;0.6,0")
    page.locator("#positions").select_option("4")
    page.locator("#width").select_option("4")
    page.locator("#heads").select_option("2")
    h, *weights = (numbers(page, name) for name in ("h", "Wq", "Wk", "Wv"))
    assert h.shape == (4, 4) and (h[:3, :2] == H).all(), "what was there stays"
    found = attention(h, tuple(weights), np.ones((4, 4), dtype=bool), heads=2, root=True)
    for name, wanted in zip(("scores1", "weights1", "scores2", "weights2", "outputs"), found, strict=True):
        agrees(page, name, wanted)
    page.locator("#width").select_option("3")
    assert page.locator("#heads").input_value() == "1"
    assert "cannot be split among 2 heads" in str(page.locator("#notice").text_content())
    assert page.locator("#heads option").nth(1).is_disabled() and page.locator("#scores2").is_hidden()


def test_the_link_holds_all_of_it(page: Page, file: str) -> None:
    opened(page, file)
    cell(page, "Wv", 1, 2).locator("input").fill("-7.25")
    page.locator("#mask").select_option("causal")
    page.locator("#pad-2").check()
    page.locator("#choose").select_option("softmax")
    page.wait_for_url("**causal=true*choose=softmax*")
    held = parse_qs(urlsplit(page.url).fragment, separator="&")
    assert held["Wv"] == ["4,-7.25;9,1"] and "Wq" not in held
    before = numbers(page, "outputs")
    opened(page, file, urlsplit(page.url).fragment)
    assert (numbers(page, "outputs") == before).all() and page.locator("#pad-2").is_checked()
    page.locator("#reset").click()
    assert numbers(page, "outputs")[1].tolist() == [23, 46]
    page.wait_for_url(lambda address: not urlsplit(address).fragment)


def test_a_broken_link_is_told_and_opens(page: Page, file: str) -> None:
    opened(page, file, "h=1,2;3&heads=7&h=<img src=x>")
    assert "in the address was left out" in str(page.locator("#notice").text_content())
    assert numbers(page, "scores1")[1].tolist() == [1054, 852, -396]


def test_keys_are_enough(page: Page, file: str) -> None:
    opened(page, file)
    cell(page, "h", 1, 1).locator("input").focus()
    page.keyboard.press("ArrowUp")
    assert numbers(page, "q")[0].tolist() == [6, 21]
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowDown")
    assert numbers(page, "h")[0].tolist() == [6, 0]
    page.keyboard.press("Control+z")
    assert numbers(page, "h")[0].tolist() == [6, 1]
    page.keyboard.press("Control+z")
    assert (numbers(page, "h") == H).all() and page.locator("#undo").is_disabled()
    page.keyboard.press("Control+Shift+z")
    assert numbers(page, "h")[0].tolist() == [6, 1]
    cell(page, "scores1", 1, 1).focus()
    page.keyboard.press("ArrowDown")
    assert str(page.locator("#arithmetic").text_content()).startswith("q2 · k1:")
    page.keyboard.press("Tab")
    assert "since" in str(page.locator("#arithmetic").text_content()), "a matrix of results is one stop"


def test_what_is_no_number_changes_nothing(page: Page, file: str) -> None:
    opened(page, file)
    field = cell(page, "Wq", 1, 1).locator("input")
    for text in ("", "5000"):
        field.fill(text)
        assert "go from −1000 to 1000" in str(page.locator("#arithmetic").text_content())
        assert field.get_attribute("aria-invalid") == "true" and numbers(page, "q")[0].tolist() == [5, 19]
    field.blur()
    assert field.input_value() == "1"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_wears_the_systems_colours_and_the_readers(page: Page, file: str, scheme: str) -> None:
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    opened(page, file)
    worn = "document.documentElement.dataset.theme"
    assert page.evaluate(worn) == scheme
    page.locator("#theme").click()
    assert page.evaluate(worn) != scheme


@contextmanager
def served(out: Path) -> Iterator[str]:
    """The page as `--open` serves it; gives its address."""
    command = [sys.executable, "-m", "seq2see", "lab", "worked", "--open", "--out", str(out)]
    without = {name: value for name, value in os.environ.items() if name != "DISPLAY"}
    with subprocess.Popen(
        command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, env=without
    ) as process:
        assert process.stderr is not None
        try:
            said = (re.search(r"http://127\.0\.0\.1:\d+/", line) for line in process.stderr)
            address = next(filter(None, said), None)
            assert address is not None, "it ended without an address"
            yield address[0]
        finally:
            process.terminate()


def test_it_is_served(page: Page, tmp_path: Path) -> None:
    with served(tmp_path) as address:
        opened(page, address)
        assert numbers(page, "outputs")[1].tolist() == [23, 46]
    assert (tmp_path / "worked.html").read_text() == worked_page()
