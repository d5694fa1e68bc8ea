"""The explorer of images under random hands; `explorer_fuzz.py` says what must hold.

python -m benchmarks.explorer_image_fuzz RUN RUN

Images are chosen, uploaded and misspelt; places are clicked, hidden, blocked and pinned; residual blocks are
switched; words are hovered over.
"""

import io
import re
from collections.abc import Callable
from typing import Any

from playwright.sync_api import Page

from benchmarks.explorer_fuzz import FIELDS, Hands, Seen, hold, main, visible
from seq2see.data.shapes import draw

NAMES = [
    *("red circle 8 24 6, blue square 40 24 6", "green cross 24 24 6", "no image", "", "   ", "/etc/passwd"),
    *("../kinds/circle/00.png", "é😀.png", "x" * 4100, "upload:0123/none.png", "a<!-- <script>b"),
]
KINDS = ["off", "hard", "top", "temperature", "pin", "block", "force", "source", "borrow", "hide", "skip"]
ADDRESSES = ["encoder.0.self", "encoder.1.self", "decoder.cross", "decoder.0.cross", "head.pool", "*", "!"]
IMAGE_FIELDS = {
    **FIELDS,
    "at": ADDRESSES,
    "places": ["0", "1", "7", "3,8", "35", "999", "x", ""],
    "block": ["encoder.0.0", "encoder.1.1", "encoder.9.0", "x", ""],
    "text": NAMES,
    "from": ["", *ADDRESSES],
}
LINKS = [
    "edits=hide:7~skip:encoder.1.0",
    "edits=hide:999",
    "edits=skip:encoder.9.9&view=edit",
    "edits=pin:decoder.cross:all:1:7&step=1",
    "draw=occlusion&column=5",
    "draw=rollout&row=3&view=translate",
    "text=green+cross+24+24+6&view=map&draw=gradient",
    "model=b&column=999&row=999&step=999",
    "text=nowhere.png&edits=block:encoder.0.self:all:1",
    "view=compare&left=plain&right=edited&edits=hide:3",
    "view=compare&left=text&right=model",
]
BUTTONS = [
    *("#show-plain", "#remove-edits", "#remove-suspended", "#go-home", "#to-shown", "#to-edits", "#again"),
    *("#undo", "#redo", "#clear-edits", "#new-edit", "#from-class", "#bare"),
]


class ImageHands(Hands):
    """Random actions on the page of models that read images."""

    kinds, fields, links = KINDS, IMAGE_FIELDS, LINKS

    def __init__(self, page: Page, address: str, seed: int) -> None:
        super().__init__(page, address, seed)
        listed = page.locator("#image-names option")
        self.names = NAMES + [listed.nth(place).get_attribute("value") or "" for place in range(4)] * 3
        tabs = ["translate", "atlas", "map", "edit", "compare"]
        self.actions: list[tuple[int, Callable[[], object]]] = [
            (5, self.write),
            (2, self.upload),
            (3, self.switch_model),
            (2, self.say_instead),
            (1, self.set_beam),
            (4, lambda: self.press(f"#tab-{self.pick(tabs)}")),
            (5, lambda: self.key(self.pick([*"xbpou? U0[]", "ArrowLeft", "ArrowDown", "Enter", "Escape"]))),
            (8, self.click_place),
            (4, self.choose_click),
            (6, self.switch_block),
            (4, self.point_at_word),
            (4, self.add_edit),
            (2, self.change_edit),
            (2, self.force_candidate),
            (6, lambda: self.press(self.pick(BUTTONS))),
            (4, self.choose_drawing),
            (3, self.page.go_back),
            (2, self.page.go_forward),
            (1, self.page.reload),
            (2, self.follow_link),
        ]

    def key(self, key: str) -> None:
        """A key for the page: a name that is being written is not asked for yet."""
        self.page.evaluate(
            "document.activeElement?.matches('input[type=text]') && document.activeElement.blur()"
        )
        super().key(key)

    def write(self) -> None:
        """Half a name is asked for only when Enter says that it is whole."""
        self.page.fill("#text", self.pick(self.names), timeout=1500)
        self.page.press("#text", "Enter", timeout=1500)

    def upload(self) -> None:
        held = io.BytesIO()
        draw(f"white triangle {self.chance.randrange(8, 40)} 24 6").save(held, "PNG")
        data = held.getvalue() if self.chance.random() < 0.7 else b"nothing of an image"
        name = self.pick(["mine.png", "<b>é😀.png", "a,b~c:d&e.png"])
        self.page.set_input_files("#upload", {"name": name, "mimeType": "image/png", "buffer": data})

    def click_place(self) -> None:
        self.press("#tab-translate")
        found = self.page.locator("#picture")
        if found.count() and found.is_visible() and (box := found.bounding_box()):
            x, y = (self.chance.random() * box[side] for side in ("width", "height"))
            found.click(position={"x": x, "y": y}, timeout=1500)

    def choose_click(self) -> None:
        self.press("#tab-translate")
        self.press_one("[data-click]:enabled")

    def switch_block(self) -> None:
        self.press("#tab-translate")
        self.press_one("[data-block]:enabled")

    def point_at_word(self) -> None:
        self.press("#tab-translate")
        words = self.page.locator("#output .word")
        if count := words.count():
            word = words.nth(self.chance.randrange(count))
            word.hover(timeout=1500)
            if self.chance.random() < 0.5:
                word.click(timeout=1500)


def told(page: Page, address: str, seen: Seen, answer: Any) -> None:
    """The output is the server's, and the weight that is told is one that the server has at that place."""
    words = [visible(label.removeprefix("▁")) for label in answer["predicted"]]
    hold(seen.output.split() == " ".join(words).split(), f"the output is not {words}", seen)
    skipped = {one["block"] for one in answer["blocks"] if one["skipped"]}
    boxes = page.locator("[data-block]:visible:not(:checked)")
    off = boxes.evaluate_all("boxes => boxes.map((box) => box.dataset.block)")
    hold(set(off) == skipped, f"switched off on the page are {off}, left out are {skipped}", seen)
    cell = re.match(
        r".*? looks at (\S+) with ([\d.]+), (?:head (\d+)|mean of the heads) of ([\w.]+)", seen.status
    )
    if cell is None:
        return
    label, value, head, at = cell.groups()
    (one,) = [one for one in answer["maps"] if one["address"] == at]
    weights = page.request.get(f"{address}api/map/{answer['id']}/{at}/{head or 'mean'}").body()
    rows, columns = one["shape"]
    there = [weights[row * columns + answer["source"].index(label)] / 255 for row in range(rows)]
    near = [weight for weight in there if abs(weight - float(value)) < 0.0006]
    hold(bool(near), f"no weight of {label!r} is {value}: {there}", seen)


if __name__ == "__main__":
    main(ImageHands, told, NAMES[0])
