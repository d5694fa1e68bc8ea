// An image with what the model looks at drawn over it: for each word of a caption, or for the answer.

import { isOne, sureness, titleOf, writes } from "seq2see/answers";
import { Blocks } from "seq2see/blocks";
import { Candidates } from "seq2see/candidates";
import { choices, element } from "seq2see/element";
import { number, signed, visible } from "seq2see/labels";
import { DRAWN_WORDS, offered } from "seq2see/map";
import { Overlay, stops } from "seq2see/overlay";
import { CLICKS, toggled } from "seq2see/places";
import { Player } from "seq2see/player";
import { Scene } from "seq2see/scene";
import { active } from "seq2see/suspended";

const CLICK_WORDS = {
  look: ["Look", "a click chooses a place"],
  hide: ["Hide", "a click makes a place grey, for all of the model (x)"],
  block: ["Block", "a click keeps this attention from a place (b)"],
  pin: ["Pin", "a click pins the gaze of this step on a place (p)"],
};
const KEYS = { x: "hide", b: "block", p: "pin" };

/** @typedef {import("seq2see/grid").Grid} Grid */
/** @typedef {import("seq2see/shown").Shown} Shown */
/** @typedef {{grid: Grid | null, draw: string | null, shown: Shown}} Drawn */

const wordOf = (label) => visible(label.replace(/^▁/, ""));

/** @extends {Scene<Drawn, Drawn>} */
export class Look extends Scene {
  constructor(explorer, status) {
    super(explorer, status, "translate");
    /** What a click on the image does. */
    this.click = "look";
    this.bare = false;
    /** The word under the pointer or the keyboard. @type {number | null} */
    this.pointed = null;
    this.player = new Player(explorer);
    /** @type {HTMLButtonElement[]} */
    this.buttons = CLICKS.map((kind) => this.clicking(kind));
    this.overlay = new Overlay(
      (place, event) => this.hover(place, event),
      (place, event) => this.act(this.click, place, event),
    );
    this.candidates = new Candidates(explorer);
    this.blocks = new Blocks(explorer);
    const room = element("div", { class: "panel" }, this.tools(), this.overlay.element, this.below());
    this.pictures = [room];
    this.told = element("div", { class: "column" }, this.answer(), this.candidates.element);
    this.element.append(element("div", { class: "pair" }, room, this.told), this.blocks.element);
    this.listen();
  }

  clicking(kind) {
    const [text, title] = CLICK_WORDS[kind];
    return element("button", { type: "button", "data-click": kind, text, title, click: () => this.choose(kind) });
  }

  tools() {
    this.drawn = element("select", {
      id: "look-draw",
      change: (event) => this.explorer.change({ draw: event.target.value }, event),
    });
    this.clicks = element("div", { class: "heads", role: "group", "aria-label": "what a click does" }, ...this.buttons);
    this.plain = element("input", { id: "bare", type: "checkbox", change: () => this.strip() });
    return element(
      "div",
      { class: "tools" },
      element("label", {}, "Draw ", this.drawn),
      this.clicks,
      element("label", { class: "check", title: "the image alone (o)" }, this.plain, "image alone"),
    );
  }

  below() {
    this.bar = element("span", { class: "bar" });
    this.low = element("span");
    this.high = element("span");
    this.legend = element("span", { id: "look-legend", class: "legend" }, this.low, this.bar, this.high);
    this.from = element("span", { id: "from", class: "hint" });
    this.token = element("button", {
      type: "button",
      id: "from-class",
      text: "from the class token",
      click: (event) => this.explorer.change({ row: 0 }, event),
    });
    return element("div", { class: "tools under" }, this.legend, this.from, this.token);
  }

  answer() {
    this.title = element("h2", { id: "answer-title" });
    this.words = element("p", { id: "output", class: "output words", dir: "auto" });
    this.score = element("p", { class: "hint", id: "score" });
    this.walking = element(
      "div",
      { class: "walk" },
      this.player.button,
      (this.count = element("output", { class: "count" })),
    );
    return element("div", { class: "panel" }, this.title, this.words, this.walking, this.score);
  }

  listen() {
    const step = (event) => {
      const word = event.target.closest?.("[data-step]");
      return word ? Number(word.dataset.step) : null;
    };
    this.words.addEventListener("pointerover", (event) => this.point(step(event)));
    this.words.addEventListener("pointerleave", () => this.point(null));
    this.words.addEventListener("focusin", (event) => this.point(step(event)));
    this.words.addEventListener("focusout", () => this.point(null));
    this.words.addEventListener("click", (event) => {
      const chosen = step(event);
      if (chosen !== null) this.explorer.change({ step: chosen }, event);
    });
  }

  key(event) {
    const { shown } = this.explorer;
    const moves = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
    const one = !shown || isOne(shown.view);
    if (event.key === " " && !one) this.player.play();
    else if (moves[event.key]) {
      const [down, across] = moves[event.key];
      if (one || event.shiftKey || event.target.closest?.("#picture")) this.move(down, across, event);
      else this.walk(down + across, event);
    } else if (event.key === "Enter") this.act(this.click, this.place, event);
    else if (KEYS[event.key.toLowerCase()]) this.act(KEYS[event.key.toLowerCase()], this.place, event);
    else if (event.key === "o") this.strip(!this.bare);
    else return false;
    return true;
  }

  /** The chosen place; the class token is none. */
  get place() {
    return Math.max(this.image.first, this.seen.shown.state.column);
  }

  /** The image in sight, with its grid. */
  get image() {
    return /** @type {import("seq2see/store").PictureOf} */ (this.seen.shown.view.picture);
  }

  walk(by, event) {
    const { shown } = this.explorer;
    if (!shown) return;
    const step = Math.max(0, Math.min(shown.view.read.length - 1, shown.state.step + by));
    if (document.activeElement?.closest("#output")) this.words.querySelector(`[data-step="${step}"]`)?.focus();
    this.explorer.change({ step }, event);
  }

  move(down, across, event) {
    const { first, rows, columns } = this.image;
    const cell = this.place - first;
    const within = (value, size) => Math.max(0, Math.min(size - 1, value));
    const row = within(Math.floor(cell / columns) + down, rows);
    this.act("look", first + row * columns + within((cell % columns) + across, columns), event);
  }

  play() {
    this.player.play();
  }

  hide() {
    this.player.stop();
    this.pointed = null;
    this.status.point("");
  }

  choose(kind) {
    this.click = kind;
    this.mend();
  }

  strip(bare = this.plain.checked) {
    this.bare = this.plain.checked = bare;
    if (this.picture) this.draw();
  }

  /** What a click on a place does. */
  act(kind, place, event) {
    const { asked, store, stale } = this.explorer;
    if (!this.picture) return;
    const { shown, draw } = this.picture;
    if (kind === "look") {
      const looks = draw === "rollout" || (draw === "weights" && shown.meta?.rows === "source");
      this.explorer.change({ column: place, ...(looks ? { row: place } : {}) }, event);
      return;
    }
    if (store.saved || stale || !this.allows(kind, shown)) return;
    this.explorer.change({ column: place, edits: toggled(asked.edits, kind, place, shown), plain: false }, event);
  }

  /** Attention on words cannot be kept from places. @param {string} kind @param {Shown} shown */
  allows(kind, { meta }) {
    return kind === "look" || kind === "hide" || meta?.columns === "source";
  }

  mend() {
    const { shown, store } = this.explorer;
    for (const one of this.buttons) {
      const kind = one.dataset.click ?? "look";
      one.disabled = store.saved ? kind !== "look" : !shown || !this.allows(kind, shown);
      if (one.disabled && this.click === kind) this.click = "look";
    }
    for (const one of this.buttons) one.setAttribute("aria-pressed", String(one.dataset.click === this.click));
  }

  /** What is drawn: what was asked for, or the nearest thing that there is. @param {Shown} shown */
  drawing(shown) {
    const there = this.offered(shown);
    if (there.includes(shown.state.draw)) return shown.state.draw;
    return there.includes("weights") ? "weights" : (there.at(-1) ?? null);
  }

  offered(shown) {
    const seen = shown.view.maps.some((map) => map.columns === "source");
    return offered(shown, this.explorer.store).filter((kind) => kind !== "weights" || seen);
  }

  async fetch(shown) {
    const draw = this.drawing(shown);
    const { weights } = this.explorer;
    const onWords = draw === "weights" && shown.meta?.columns !== "source";
    if (draw === null || onWords) return { grid: null, draw, shown };
    const { handle, meta, state } = shown;
    const grid =
      draw === "weights" ? await weights.grid(handle, meta.address, state.head) : await weights.summary(handle, draw);
    return { grid, draw, shown };
  }

  tell(shown) {
    this.told.hidden = this.blocks.element.hidden = !shown;
    this.mend();
    if (!shown) return;
    const pairs = this.offered(shown).map((kind) => [kind, DRAWN_WORDS[kind]]);
    choices(this.drawn, pairs, this.drawing(shown));
    this.drawn.disabled = pairs.length < 2;
    this.tellAnswer(shown.view, shown.state.step);
    this.candidates.update(shown);
    this.blocks.update(shown);
  }

  tellAnswer(view, step) {
    this.title.textContent = writes(view) ? "Caption, word by word" : titleOf(view);
    const one = isOne(view);
    this.walking.hidden = one;
    this.count.textContent = `${step} of ${view.read.length - 1} · arrow keys step`;
    const spoken = JSON.stringify([one, view.predicted]);
    if (this.words.dataset.spoken !== spoken) {
      this.words.dataset.spoken = spoken;
      this.words.replaceChildren(
        ...view.predicted.flatMap((label, place) => [
          one
            ? element("mark", { text: wordOf(label) })
            : element("button", { type: "button", class: "word", "data-step": place, text: wordOf(label) }),
          " ",
        ]),
      );
    }
    for (const word of this.words.querySelectorAll("[data-step]"))
      word.setAttribute("aria-pressed", String(Number(word.dataset.step) === step));
    const parts = sureness(view);
    const here = view.steps[step];
    if (here && !one) parts.push(`${number(here.log_probability, 3)} at this step`);
    if (view.cut) parts.push("the output was cut at the longest length");
    this.score.textContent = parts.join(" · ");
  }

  async paint(shown, drawn, changed) {
    this.picture = drawn;
    if (this.pointed !== null && this.pointed >= shown.view.read.length) this.pointed = null;
    if (drawn.grid === null && drawn.draw === "weights")
      this.notice.show(`${shown.state.at} looks at words, not at the image; choose another address.`, "hint");
    await this.draw();
    if (drawn.draw === "weights" || drawn.draw === null) this.explorer.paintedHead(shown, changed);
    else document.body.dataset.painted = drawn.draw;
  }

  /** The row of the map that is seen: a step, or the place that looks. */
  get row() {
    const { draw, shown, grid } = this.seen;
    const places = draw === "rollout" || (draw === "weights" && shown.meta?.rows === "source");
    const row = places ? shown.state.row : (this.pointed ?? shown.state.step);
    return { row: Math.min(row, (grid?.rows ?? 1) - 1), places };
  }

  async draw() {
    const { shown, grid, draw } = this.seen;
    const { state, model } = shown;
    const { row, places } = this.row;
    const values = grid ? grid.row(row) : null;
    const signed = draw === "gradient" || draw === "occlusion";
    const cells = values ? values.subarray(this.image.first) : [0];
    const limit = Math.max(...Array.from(cells, Math.abs)) || 1;
    const on = active(state, model).map((place) => state.edits[place]);
    const of = (kind) =>
      new Set(
        on.flatMap((edit) => (edit.kind === kind && (kind !== "pin" || edit.step === row) ? (edit.places ?? []) : [])),
      );
    this.label(limit, signed, values, row, places);
    await this.overlay.show({
      picture: this.image,
      values,
      limit,
      signed,
      chosen: state.column,
      from: places ? row : null,
      hidden: of("hide"),
      blocked: of("block"),
      pinned: of("pin"),
      bare: this.bare,
    });
    this.status.say(this.sentence(state.column) + this.strongest(values));
  }

  label(limit, signed, values, row, places) {
    const { view } = this.seen.shown;
    this.legend.hidden = !values;
    this.bar.style.background = `linear-gradient(90deg, ${stops(signed).join(", ")})`;
    this.low.textContent = signed ? number(-limit, 3) : "0";
    this.high.textContent = number(limit, 3);
    const first = this.image.first > 0;
    const own = first && values && !signed ? `; ${number(values[0])} on the class token` : "";
    const who = places ? `seen from ${view.source[row]}` : isOne(view) ? "" : `at “${wordOf(view.predicted[row])}”`;
    this.from.textContent = values ? `${who}${own}` : "";
    this.token.hidden = !(places && first && row > 0);
  }

  point(step) {
    if (!this.picture || step === this.pointed) return;
    this.pointed = step;
    this.draw();
  }

  hover(place, event) {
    if (!this.picture) return;
    this.overlay.element.style.cursor = place === null ? "" : this.click === "look" ? "pointer" : "crosshair";
    this.status.point(place === null ? "" : this.sentence(place));
    this.explorer.painted("paint-hover", event.timeStamp);
  }

  // The place that matters most is seldom the one that was chosen.
  strongest(values) {
    const { draw, shown } = this.seen;
    if (!values || (draw !== "weights" && draw !== "rollout")) return "";
    const best = values.indexOf(Math.max(...values));
    return best === shown.state.column ? "" : `; most at ${shown.view.source[best]} with ${number(values[best], 3)}`;
  }

  sentence(place) {
    const { grid, draw, shown } = this.seen;
    const { view, meta, state } = shown;
    const { row, places } = this.row;
    if (!grid || place >= grid.columns) return view.source[place] ?? "";
    const value = grid.at(row, place);
    const subject = places ? view.source[row] : isOne(view) ? "the answer" : `“${wordOf(view.predicted[row])}”`;
    if (draw === "weights") {
      const who = state.head === "mean" ? "mean of the heads" : `head ${state.head}`;
      return `${subject} looks at ${view.source[place]} with ${number(value, 3)}, ${who} of ${meta?.address}`;
    }
    if (draw === "rollout")
      return `${subject} has ${number(value, 3)} from ${view.source[place]}, ${DRAWN_WORDS[draw]}`;
    return `${view.source[place]}: ${signed(value, 3)} for ${subject}, ${DRAWN_WORDS[draw]}`;
  }
}
