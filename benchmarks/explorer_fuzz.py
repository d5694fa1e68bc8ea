"""The explorer under random hands: whatever is done, the page shows what it says that it shows.

Two runs are served and a page in Chromium is typed into, edited, sent back and forth and reloaded. Every few
actions the server is asked again for what the page says that it shows: header, picture and status must agree.
"""

import argparse
import math
import random
import re
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from playwright.sync_api import Error, Page

from benchmarks.browser import exploring

TEXTS = [
    *("dost", "bam", "gulm", "feir", "kost", "Anna", "CYBERPUNK", "Bam", "é😀", "👩‍👩‍👧", "שלום", "a\u0301b"),
    *("", "   ", "x" * 90, "bam" * 400, "y" * 4100, "a<!-- <script>b", "two words", "~:&=#+%"),
]
NUMBERS = ["0", "1", "2", "0,1", "3,2", "99", "-1", "x", ""]
FIELDS = {
    "at": [
        "decoder.1.cross",
        "decoder.*.cross",
        "decoder.cross",
        "encoder.0.self",
        "decoder.9.cross",
        "*",
        "!",
    ],
    "heads": ["all", "0", "1,2", "9", "x"],
    "count": ["1", "3", "0", "x"],
    "value": ["0.2", "20", "0", "-1"],
    "step": NUMBERS,
    "places": NUMBERS,
    "text": TEXTS,
    "from": ["", "decoder.cross", "decoder.1.cross", "decoder.7.cross"],
    "head": ["", "0", "1", "9"],
}
KINDS = ["off", "hard", "top", "temperature", "pin", "block", "force", "source", "borrow"]
LINKS = [
    "text=dost&edits=off:decoder.9.cross:all:zero",
    "text=bam&edits=force:2:99999~hard:*:all",
    "text=&view=map",
    "model=b&text=Anna&edits=pin:decoder.1.cross:all:0:99:a:dost:",
    "text=dost&target=k+k&targetFor=a:bam:&view=edit",
    "text=dost&edits=borrow:decoder.1.cross:all:b::decoder.1.cross:&view=edit",
    "text=dost&edits=force:0:5&target=k",
    "view=compare&left=text&right=model&text=dost",
    "view=map&draw=occlusion&words=1&text=gulm",
    "model=z&beam=99&head=77&step=x",
]
BUTTONS = [
    *("#show-plain", "#remove-edits", "#remove-suspended", "#go-home", "#lower-case", "#switch-off"),
    *("#to-shown", "#to-edits", "#again", "#undo", "#redo", "#clear-edits", "#new-edit", "#beam-4"),
]
EVERY = 10
"""Actions between two looks at whether all agree."""
TYPED = 650
"""Milliseconds until what was typed has been asked for."""


class DisagreementError(Exception):
    """The page says one thing and shows another."""


class Seen(NamedTuple):
    """What the page says of itself."""

    phase: str
    stale: str
    request: dict[str, Any] | None
    id: str | None
    header: dict[str, Any]
    output: str
    status: str
    refusal: str | None
    still: str | None
    edits: str | None
    unknown: str | None


READ = """() => {
    const text = (id) => {
        const found = document.getElementById(id);
        return found && !found.closest("[hidden]") ? found.textContent : null;
    };
    const value = (id) => document.getElementById(id).value;
    const { phase, stale, request, viewId } = document.body.dataset;
    return {
        phase, stale, id: viewId ?? null, request: request ? JSON.parse(request) : null,
        header: {
            model: value("model"), text: value("text"), target: value("target") || null,
            beam: Number(value("beam-size")), words: document.getElementById("words").checked,
        },
        output: document.getElementById("output").textContent, status: text("status") ?? "",
        refusal: text("refusal"), still: text("still"), edits: text("edit-bar"), unknown: text("unknown"),
    };
}"""


class Hands:
    """Random actions on a page, each of which may find nothing to act on."""

    kinds, fields, links = KINDS, FIELDS, LINKS

    def __init__(self, page: Page, address: str, seed: int) -> None:
        self.page, self.address, self.chance = page, address, random.Random(seed)
        self.actions: list[tuple[int, Callable[[], object]]] = [
            (6, self.write),
            (3, self.type_on),
            (3, self.switch_model),
            (2, self.say_instead),
            (2, self.set_beam),
            (1, lambda: self.press("#words")),
            (
                5,
                lambda: self.press(
                    f"#tab-{self.pick(['translate', 'atlas', 'map', 'beam', 'edit', 'compare'])}"
                ),
            ),
            (
                4,
                lambda: self.key(self.pick([*"[]{}u? U+0", "ArrowLeft", "ArrowDown", "Escape"])),
            ),
            (8, self.add_edit),
            (3, self.change_edit),
            (4, self.force_candidate),
            (2, self.force_node),
            (8, lambda: self.press(self.pick(BUTTONS))),
            (3, self.choose_drawing),
            (3, self.page.go_back),
            (2, self.page.go_forward),
            (1, self.page.reload),
            (2, self.follow_link),
        ]

    def pick(self, of: list[str]) -> str:
        return self.chance.choice(of)

    def act(self) -> str:
        """One action; its name."""
        (action,) = self.chance.choices(
            [action for _, action in self.actions], [weight for weight, _ in self.actions]
        )
        try:
            action()
        except Error as error:
            # Whatever is hidden, covered or gone cannot be acted on by a hand either.
            if "Timeout" not in str(error) and "detached" not in str(error):
                raise
        self.page.wait_for_timeout(self.chance.choice([0, 0, 20, 150]))
        return getattr(action, "__name__", "act").strip("<>")

    def press(self, selector: str) -> None:
        found = self.page.locator(selector)
        if found.count() and found.first.is_visible() and found.first.is_enabled():
            found.first.click(timeout=1500)

    def press_one(self, selector: str) -> bool:
        """Press any of these; whether there was one."""
        found = self.page.locator(selector)
        if not (count := found.count()):
            return False
        found.nth(self.chance.randrange(count)).click(timeout=1500)
        return True

    def key(self, key: str) -> None:
        self.page.keyboard.press(key)

    def write(self) -> None:
        self.page.fill("#text", self.pick(TEXTS), timeout=1500)
        if self.chance.random() < 0.7:
            self.page.press("#text", "Enter", timeout=1500)

    def type_on(self) -> None:
        self.page.focus("#text", timeout=1500)
        self.page.keyboard.type(self.pick(["ba", "Q", "o", "😀"]), delay=15)
        if self.chance.random() < 0.3:
            self.page.keyboard.press("Backspace")

    def switch_model(self) -> None:
        self.page.select_option("#model", self.pick(["a", "b"]), timeout=1500)

    def say_instead(self) -> None:
        self.page.fill("#target", self.pick(["k k", "m a b", "", "zzz 😀"]), timeout=1500)
        if self.chance.random() < 0.5:
            self.page.press("#target", "Enter", timeout=1500)

    def set_beam(self) -> None:
        self.page.fill("#beam-size", self.pick(["1", "3", "4", "99", "0"]), timeout=1500)
        self.page.press("#beam-size", "Enter", timeout=1500)

    def add_edit(self) -> None:
        self.press("#tab-edit")
        if self.chance.random() < 0.4 and self.press_one("#quick button"):
            return
        self.page.select_option("#edit-kind", self.pick(self.kinds), timeout=1500)
        for name, values in self.fields.items():
            field = self.page.locator(f"input#edit-{name}")
            if field.count() and self.chance.random() < 0.8:
                field.fill(self.pick(values), timeout=1500)
        self.press("#add-edit")

    def change_edit(self) -> None:
        self.press("#tab-edit")
        self.press_one("#edits button:enabled, #edits input:enabled")

    def force_candidate(self) -> None:
        self.press("#tab-translate")
        self.press_one("#candidates .candidate:enabled")

    def force_node(self) -> None:
        self.press("#tab-beam")
        if not self.page.locator("#tree").is_visible():
            return
        self.page.focus("#tree", timeout=1500)
        for key in self.chance.choices(["ArrowRight", "ArrowDown", "ArrowUp"], k=4):
            self.page.keyboard.press(key)
        self.page.keyboard.press("Enter")

    def choose_drawing(self) -> None:
        found = self.page.locator("main select:visible, #picker select:visible")
        if not (count := found.count()):
            return
        box = found.nth(self.chance.randrange(count))
        values = box.evaluate(
            "box => [...box.options].filter((one) => !one.disabled).map((one) => one.value)"
        )
        if values:
            box.select_option(self.pick(values), timeout=1500)

    def follow_link(self) -> None:
        if self.chance.random() < 0.5:
            self.page.goto("about:blank")
        self.page.goto(f"{self.address}#{self.pick(self.links)}")


Tells = Callable[[Page, str, Seen, Any], None]
"""Holds what the page tells of a view against what the server answers."""


def settle(page: Page) -> None:
    """Wait until nothing is being asked."""
    page.wait_for_timeout(TYPED)
    page.locator("body[data-phase]:not([data-phase=asking]):not([data-busy])").wait_for(timeout=30_000)


def agree(page: Page, address: str, tells: Tells) -> str:
    """Whether header, picture, status and server say the same; raises where they do not. Gives the phase."""
    if not page.url.startswith(address):
        page.goto(address)
    settle(page)
    named(Seen(**page.evaluate(READ)))
    # A dialog, if one is open, and whatever else was being done.
    page.keyboard.press("Escape")
    page.locator("#tab-translate").click(timeout=5000)
    settle(page)
    seen = Seen(**page.evaluate(READ))
    answer = None
    if seen.request is not None:
        asked = page.request.post(f"{address}api/view", data=seen.request)
        hold(asked.status == 200, f"what is shown is refused by the server: {asked.status}", seen)
        answer = asked.json()
        hold(answer["id"] == seen.id, "the picture has another name than what it was asked for", seen)
        tells(page, address, seen, answer)
    named(seen)
    if seen.phase == "shown":
        shown(seen, answer)
    return seen.phase


def named(seen: Seen) -> None:
    """What is shown is what the header asks for, or else it is dimmed and has its own name on it."""
    request = seen.request
    if seen.phase == "shown":
        assert request is not None
        asked = {name: request[name] for name in seen.header}
        hold(seen.header == asked, f"the header asks for {seen.header}, shown is {asked}", seen)
        hold(seen.stale == "no" and seen.refusal is None, "the picture is new and called old", seen)
        return
    hold(seen.refusal is not None, "refused without a word", seen)
    hold(seen.unknown is None, "letters of another text are told", seen)
    if request is None:
        hold(seen.still is None, "nothing is shown, and something is named", seen)
        return
    hold(seen.stale == "yes", "the old picture is not dimmed", seen)
    name = f"Below is still “{request['text']}”, model {request['model']}"
    hold((seen.still or "").startswith(name), f"the old picture is not {name!r}", seen)


def shown(seen: Seen, answer: Any) -> None:
    """Edits and unknown letters of what is shown are told."""
    assert seen.request is not None
    number = len(seen.request["edits"])
    bar = seen.edits or ""
    left_out = "left out" in bar
    hold(left_out or bar.startswith(f"{number} edit") or (number == 0 and not bar), "the bar miscounts", seen)
    hold((answer["effect"] is not None) == (number > 0), "edits without an effect", seen)
    hold((seen.unknown is not None) == bool(answer["unknown"]), "unknown letters are not told", seen)


def told(page: Page, address: str, seen: Seen, answer: Any) -> None:
    """The output is the server's, and the line at the foot of the page tells a weight that the server has."""
    said = seen.output.replace("…", "").split()
    hold(" ".join(said) in " ".join(map(visible, answer["predicted"])), "the output is another", seen)
    cell = re.match(
        r"(step|place) (\d+): .*?looks at \u2068(.*?)\u2069(?: \(not known\))? with ([<\d.]+), "
        r"(?:head (\d+)|mean of the heads) of ([\w.]+)",
        seen.status,
    )
    if cell is None:
        hold(not answer["maps"] and bool(seen.status), "the status tells no cell", seen)
        return
    _, row, label, value, head, at = cell.groups()
    (one,) = [one for one in answer["maps"] if one["address"] == at]
    path = f"{address}api/map/{answer['id']}/{at}/{head or 'mean'}"
    weights = page.request.get(path).body()
    labels = answer["read" if one["columns"] == "target" else "source"]
    start = int(row) * one["shape"][1]
    there = [weights[start + place] / 255 for place, name in enumerate(labels) if visible(name) == label]
    hold(
        any(written(weight) == value for weight in there), f"no weight of {label!r} is {value}: {there}", seen
    )


def written(weight: float) -> str:
    """A weight as the page writes it, halves rounded as it does."""
    return "<0.01" if 0 < weight < 0.005 else f"{math.floor(weight * 100 + 0.5) / 100:.2f}"


def visible(label: str) -> str:
    """A label as the page shows it."""
    return re.sub(r"\s", lambda sign: {" ": "␣", "\n": "⏎", "\t": "⇥"}.get(sign[0], "�"), label)


def hold(holds: bool, what: str, seen: Seen) -> None:
    """Complain unless something holds."""
    if not holds:
        raise DisagreementError(f"{what}\n  {seen}")


def play(
    page: Page, address: str, seed: int, count: int, make: type[Hands], tells: Tells
) -> tuple[Counter[str], list[str]]:
    """One seed: how often each phase was found, and what was wrong."""
    wrong: list[str] = []
    expected = re.compile("status of 4|willReadFrequently")

    def complain(what: str) -> None:
        if not expected.search(what):
            wrong.append(what)

    page.on("pageerror", lambda error: complain(f"error: {error}"))
    page.on("console", lambda said: complain(said.text) if said.type in ("error", "warning") else None)
    page.on("response", lambda got: complain(f"{got.status} {got.url}") if got.status >= 500 else None)
    page.goto(address)
    settle(page)
    hands, phases, done = make(page, address, seed), Counter[str](), list[str]()
    for number in range(1, count + 1):
        done.append(hands.act())
        if number % EVERY and number < count:
            continue
        try:
            phases[agree(page, address, tells)] += 1
        except (DisagreementError, Error) as error:
            wrong.append(f"after {', '.join(done[-EVERY:])} at {page.url}: {error}")
            break
    return phases, wrong


def main(make: type[Hands] = Hands, tells: Tells = told, text: str = "dost") -> None:
    """Print what was found for each seed; fails where anything was wrong."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("runs", type=Path, nargs=2)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--actions", type=int, default=100)
    arguments = parser.parse_args()
    failed = False
    with exploring(arguments.runs[0], text, arguments.runs[1]) as (page, address):
        browser = page.context.browser
        assert browser is not None
        for seed in range(arguments.first, arguments.first + arguments.seeds):
            context = browser.new_context(viewport={"width": 1280, "height": 800})
            phases, wrong = play(context.new_page(), address, seed, arguments.actions, make, tells)
            context.close()
            print(f"seed {seed}: {dict(phases)}", *wrong, sep="\n  ", flush=True)
            failed = failed or bool(wrong)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
