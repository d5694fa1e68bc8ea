"""Make the picture of the lab's worked example: `python -m benchmarks.worked_picture`."""

import argparse
import shutil
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from benchmarks.browser import FLAGS
from seq2see.lab.worked_page import worked_page

SHOTS = {
    "worked": ("", "#scores1 tr:nth-child(3) td:nth-of-type(1)"),
    "worked-dark": (
        "h=1,0,1,0;0,1,0,1;1,1,0,0;0,0,1,1&heads=2&scale=root&causal=true&choose=softmax&theme=dark",
        "#weights2 tr:nth-child(5) td:nth-of-type(2)",
    ),
}
"""A state of the page, and the cell that is pointed at."""


def main() -> None:
    """The start in light, and two heads with softmax and a mask in dark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path(__file__).parents[1] / "docs" / "lab")
    arguments = parser.parse_args()
    arguments.out.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        file = Path(folder) / "worked.html"
        file.write_text(worked_page())
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        page = browser.new_page(viewport={"width": 1180, "height": 820})
        for name, (state, cell) in SHOTS.items():
            page.goto("about:blank")
            page.goto(f"{file.as_uri()}#{state}")
            page.locator(cell).hover()
            page.screenshot(path=arguments.out / f"{name}.png")


if __name__ == "__main__":
    main()
