"""The explorer at its largest: 512 tokens, 8 layers of 8 heads. Nodes, bytes and milliseconds, in Chromium.

A model of that size is made on the spot, with weights as one step of training leaves them: what it says is
nonsense, and every head looks somewhere. Playwright comes with the extra `dev`, Chromium from the system.
"""

import argparse
import random
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from playwright.sync_api import Page, Response

from benchmarks.browser import exploring, shown
from benchmarks.lab import write_json

BOUNDS = {
    "DOM nodes": 1500,
    "first response, bytes": 1_000_000,
    "map, bytes": 300_000,
    "switching heads, ms": 100,
    "hovering, ms": 16,
}
SETTINGS = (
    *("model.width=64", "model.max_length=600", "data.max_length=600", "training.batch_tokens=2048"),
    *(
        f"model.{side}.{name}"
        for side in ("encoder", "decoder")
        for name in ("layers=8", "heads=8", "feedforward=64")
    ),
    *("text.source.kind=characters", "text.target.kind=characters", "training.dev_examples=2"),
)


def main() -> None:
    """Print each figure beside its bound."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--tokens", type=int, default=512)
    parser.add_argument("--repeats", type=int, default=30)
    parser.add_argument("--out", type=Path, help="a JSON file for the figures")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        run, text = make_run(Path(place), arguments.tokens)
        with exploring(run, text) as (page, address):
            found = measure(page, address, text, arguments.repeats)
    print("| what | measured | bound |\n|---|---|---|")
    for name, value in found.items():
        print(f"| {name} | {value:,.1f} | {BOUNDS[name]:,} |")
    if arguments.out:
        write_json(arguments.out, found)
    if any(value > BOUNDS[name] for name, value in found.items()):
        sys.exit(1)


def make_run(place: Path, tokens: int) -> tuple[Path, str]:
    """A run of the size in question, and a text of so many tokens, the end symbol counted."""
    letters = random.Random(1)
    lines = ["".join(letters.choices("abcdefgh", k=tokens - 1)) for _ in range(8)]
    (place / "pairs.tsv").write_text("".join(f"{line}\t{line}\n" for line in lines))
    words: list[str | Path] = [
        "train",
        place / "pairs.tsv",
        "--preset",
        "transformer-tiny",
        "--max-steps",
        "1",
        "--out",
        place / "run",
    ]
    for setting in SETTINGS:
        words += ["--set", setting]
    subprocess.run([sys.executable, "-m", "seq2see", *words], check=True, capture_output=True)
    return place / "run", lines[0]


def measure(page: Page, address: str, text: str, repeats: int) -> dict[str, float]:
    """With the whole text on both sides."""
    sizes: dict[str, list[int]] = {"view": [], "map": []}

    def weigh(response: Response) -> None:
        for kind in sizes:
            if f"/api/{kind}" in response.url and "?row" not in response.url:
                sizes[kind].append(int(response.headers["content-length"]))

    page.on("response", weigh)
    page.goto(f"{address}#text={text}&target={text}&view=map&at=decoder.0.cross&head=0")
    shown(page)
    nodes = []
    for view in "123456":
        page.keyboard.press(view)
        page.wait_for_timeout(1000)
        nodes.append(page.evaluate("document.getElementsByTagName('*').length"))
    page.keyboard.press("3")
    page.wait_for_timeout(500)
    # Every eighth time another layer: no map comes from memory, each is fetched.
    for place in range(repeats):
        page.keyboard.press("]" if place % 8 else "}")
        page.wait_for_timeout(300)
    box = page.locator("#heat").bounding_box()
    assert box is not None
    for place in range(repeats * 4):
        page.mouse.move(box["x"] + 200 + 5 * (place % 100), box["y"] + 200 + 3 * (place % 90))
        page.wait_for_timeout(20)
    return {
        "DOM nodes": max(nodes),
        "first response, bytes": max(sizes["view"]),
        "map, bytes": max(sizes["map"]),
        "switching heads, ms": _median(page, "paint-head"),
        "hovering, ms": _median(page, "paint-hover"),
    }


def _median(page: Page, name: str) -> float:
    """Of the times that the page itself has measured, from the event to the painting."""
    found = page.evaluate(
        "name => performance.getEntriesByName(name, 'measure').map((one) => one.duration)", name
    )
    assert found, f"the page measured no {name}"
    return float(median(found))


if __name__ == "__main__":
    main()
