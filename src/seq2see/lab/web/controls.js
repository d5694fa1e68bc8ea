// What is chosen beside the numbers: sizes, scale, mask, argmax or softmax; and undo, reset, link, light or dark.

import { button, choices, copy, element } from "seq2see/element";
import { POSITIONS, sized, WIDTHS } from "seq2see/lab/numbers";
import { theme } from "seq2see/theme";

const counts = (values) => values.map((value) => [String(value), String(value)]);

export class Controls {
  /**
   * @param {import("seq2see/lab/history").History} history
   * @param {import("seq2see/notice").Notice} notice
   */
  constructor(history, notice) {
    this.history = history;
    this.notice = notice;
    this.positions = this.select("positions", counts(POSITIONS), (value) => this.resize(Number(value), null));
    this.width = this.select("width", counts(WIDTHS), (value) => this.resize(null, Number(value)));
    this.heads = this.select("heads", counts([1, 2]), (value) => history.change({ heads: Number(value) }));
    const scales = [
      ["none", "none"],
      ["root", "divide by √d"],
    ];
    this.scale = this.select("scale", scales, (scale) => history.change({ scale }));
    this.choose = this.select("choose", same("argmax", "softmax"), (choose) => history.change({ choose }));
    this.mask = this.select("mask", same("none", "causal"), (mask) => history.change({ causal: mask === "causal" }));
    this.padding = element("span", { class: "padding", role: "group", "aria-label": "padding" });
    this.undo = button("undo", "Undo", "ctrl z", () => history.undo());
    this.redo = button("redo", "Redo", "ctrl shift z", () => history.redo());
    this.reset = button("reset", "Reset", "back to the lecture's numbers", () => history.reset());
    this.link = button("copy-link", "Copy link", "an address that holds all numbers", () =>
      copy(history.link, this.link),
    );
    this.link.dataset.text = "Copy link";
    this.theme = button("theme", "", "light or dark", () =>
      history.set({ ...history.now, theme: theme() === "dark" ? "light" : "dark" }),
    );
    this.element = element(
      "header",
      { class: "top" },
      element(
        "div",
        { class: "title" },
        element("h1", {}, "seq", element("b", { text: "2" }), "see"),
        element("span", { class: "hint", text: "self-attention, worked by hand" }),
        element("span", { class: "spacer" }),
        ...[this.undo, this.redo, this.reset, this.link, this.theme],
      ),
      element(
        "div",
        { class: "more" },
        field("positions", this.positions),
        field("width d", this.width),
        field("heads", this.heads),
        field("scale", this.scale),
        field("mask", this.mask),
        element("span", { class: "field" }, "padding", this.padding),
        field("weights by", this.choose),
      ),
    );
  }

  select(id, entries, act) {
    const made = element("select", { id, change: (event) => act(event.target.value) });
    choices(made, entries, entries[0][0]);
    return made;
  }

  resize(positions, width) {
    const { now } = this.history;
    const next = sized(now, positions ?? now.h.length, width ?? now.h[0].length);
    this.history.change(next);
    if (next.heads !== now.heads)
      this.notice.show(`width ${width} cannot be split among ${now.heads} heads, so there is one`, "hint");
  }

  pad(position, on) {
    const others = this.history.now.padded.filter((other) => other !== position);
    this.history.change({ padded: on ? [...others, position].sort() : others });
  }

  box(position) {
    const change = (event) => this.pad(position, event.target.checked);
    const box = element("input", { type: "checkbox", id: `pad-${position}`, change });
    return element("label", { class: "check" }, box, String(position));
  }

  show() {
    const { now, past, future } = this.history;
    const width = now.h[0].length;
    this.positions.value = String(now.h.length);
    this.width.value = String(width);
    this.heads.value = String(now.heads);
    this.heads.options[1].disabled = width % 2 === 1;
    this.scale.value = now.scale;
    this.scale.options[1].textContent = `divide by √${width / now.heads}`;
    this.choose.value = now.choose;
    this.mask.value = now.causal ? "causal" : "none";
    if (this.padding.childElementCount !== now.h.length)
      this.padding.replaceChildren(...now.h.map((_, place) => this.box(place + 1)));
    for (const [place, box] of this.padding.querySelectorAll("input").entries())
      box.checked = now.padded.includes(place + 1);
    this.theme.textContent = theme() === "dark" ? "Light" : "Dark";
    this.undo.disabled = past.length === 0;
    this.redo.disabled = future.length === 0;
  }
}

const same = (...options) => options.map((option) => [option, option]);
const field = (label, made) => element("label", { class: "field" }, label, made);
