// Source and output with ribbons between them, step by step, with what else could have been said.

import { isOne, sureness, titleOf, writes } from "seq2see/answers";
import { Candidates } from "seq2see/candidates";
import { element } from "seq2see/element";
import { columnLabels, isolated, number, rowLabels, shorten, signed, visible } from "seq2see/labels";
import { Player } from "seq2see/player";
import { Drawing } from "seq2see/ribbons";
import { Scene } from "seq2see/scene";
import { cellSentence } from "seq2see/status";
import { Strip } from "seq2see/strip";
import { Surface } from "seq2see/surface";
import { colours, font } from "seq2see/theme";

const NARROW = 620;
const AROUND = 30; // tokens of a long output shown on either side of the step

/**
 * What is drawn: weights, or what each token did for the answer.
 * @typedef {{grid: Grid | null, owed: Grid | null}} Drawn
 */
/** @typedef {import("seq2see/grid").Grid} Grid */
/** @typedef {import("seq2see/shown").Shown} Shown */

/** @extends {Scene<Drawn, Drawn & {shown: Shown}>} */
export class Translate extends Scene {
  constructor(explorer, status) {
    super(explorer, status, "translate");
    /** @type {{side: "row" | "column", place: number} | null} */
    this.hovered = null;
    this.player = new Player(explorer);
    /** @type {Drawing | null} */
    this.drawing = null;
    this.surface = new Surface({
      id: "ribbons",
      label: "source and output with attention between them",
      onResize: () => this.draw(),
    });
    this.world = element("div", { class: "world" }, this.surface.element);
    this.scroller = element("div", { class: "scroller", tabindex: "-1", scroll: () => this.draw() }, this.world);
    new ResizeObserver(() => this.draw()).observe(this.scroller);
    this.candidates = new Candidates(explorer);
    this.pictures = [element("div", { class: "panel" }, this.scroller)];
    this.told = element("div", { class: "pair" }, this.walk(), this.candidates.element);
    this.element.append(...this.pictures, this.told);
    this.listen();
  }

  walk() {
    this.slider = element("input", {
      type: "range",
      id: "step",
      min: 0,
      step: 1,
      "aria-label": "output step",
      input: (event) => this.explorer.change({ step: Number(event.target.value) }, event),
    });
    this.count = element("output", { class: "count", for: "step" });
    this.said = element("span", { class: "said" });
    this.now = element("mark");
    this.rest = element("span", { class: "rest" });
    this.score = element("p", { class: "hint", id: "score" });
    this.title = element("h2", { id: "answer-title" });
    this.walking = element("div", { class: "walk" }, this.player.button, this.slider, this.count);
    return element(
      "div",
      { class: "panel" },
      this.title,
      element("p", { id: "output", class: "output", dir: "auto" }, this.said, this.now, this.rest),
      this.walking,
      this.score,
    );
  }

  listen() {
    const canvas = this.surface.element;
    canvas.addEventListener("pointermove", (event) =>
      this.hover(this.drawing?.find(this.surface.at(event)) ?? null, event),
    );
    canvas.addEventListener("pointerleave", (event) => this.hover(null, event));
    canvas.addEventListener("click", (event) => {
      const found = this.drawing?.find(this.surface.at(event));
      if (found) this.explorer.select({ [found.side]: found.place }, event);
    });
  }

  key(event) {
    const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    if (event.key === " ") this.play();
    else if (moves[event.key]) this.explorer.move(...moves[event.key], event);
    else return false;
    return true;
  }

  play() {
    this.player.play();
  }

  hide() {
    this.player.stop();
    this.hover(null);
  }

  async fetch({ handle, meta, view, state, model }) {
    const { weights, store } = this.explorer;
    if (meta) return { grid: await weights.grid(handle, meta.address, state.head), owed: null };
    // Without attention tokens are coloured by what they did for the answer, where that is measured.
    const measured = !writes(view) && !store.saved && !state.words && model.attributions.includes("occlusion");
    return { grid: null, owed: measured ? await weights.summary(handle, "occlusion") : null };
  }

  tell(shown) {
    this.told.hidden = !shown;
    if (!shown) return;
    this.tellOutput(shown.view, shown.state.step);
    this.candidates.update(shown);
  }

  paint(shown, drawn, changed) {
    this.picture = { ...drawn, shown };
    if (!shown.meta) this.notice.show(this.without(shown.view, drawn.owed), "hint");
    this.draw(true);
    if (drawn.owed) document.body.dataset.painted = "occlusion";
    else this.explorer.paintedHead(shown, changed);
  }

  without(view, owed) {
    if (writes(view))
      return "This model has no attention to look at; its output, candidates and beam are here all the same.";
    if (!owed) return "This model has no attention.";
    const what = view.kind === "number" ? "the number" : "the log-probability of the answer";
    const told = `blue raised ${what}, orange lowered it, against the same text with the token unknown`;
    return `This model has no attention. Tokens are coloured by what they did: ${told}.`;
  }

  // Fill and ink of a token by what it did for the answer in sight.
  owing(place, inks) {
    const { owed, shown } = this.seen;
    const row = Math.min(shown.state.step, (owed?.rows ?? 1) - 1);
    if (!owed || place >= owed.columns) return { fill: inks.soft, ink: inks.ink };
    const share = owed.share(owed.at(row, place), "linear");
    return {
      fill: inks.palette.css(share, true),
      ink: Math.abs(share) > 0.6 ? inks.panel : inks.ink,
      border: inks.line,
    };
  }

  tellOutput(view, step) {
    this.title.textContent = titleOf(view);
    this.walking.hidden = isOne(view);
    const { predicted } = view;
    const spoken = (from, to) => predicted.slice(from, to).map(visible).join(" ");
    const from = Math.max(0, step - AROUND);
    this.said.textContent = `${from > 0 ? "… " : ""}${spoken(from, step)} `;
    this.now.textContent = visible(predicted[step]);
    this.rest.textContent = ` ${spoken(step + 1, step + 1 + AROUND)}${step + 1 + AROUND < predicted.length ? " …" : ""}`;
    this.slider.max = Math.max(0, view.read.length - 1);
    this.slider.value = step;
    this.count.textContent = `${step} of ${Math.max(0, view.read.length - 1)}`;
    const here = view.steps[step];
    const parts = sureness(view);
    if (here && !isOne(view))
      parts.push(`${number(here.log_probability, 3)} ${writes(view) ? "at this step" : "for this word"}`);
    if (view.cut) parts.push("the output was cut at the longest length");
    this.score.textContent = parts.join(" · ");
  }

  names(view, meta, single, down) {
    if (meta === null) return view.predicted;
    if (down && this.tagged)
      return view.source.map((label, word) => `${visible(label)}\u2009→\u2009${visible(view.predicted[word])}`);
    if (!single) return meta.rows === "target" ? view.predicted : view.source;
    if (meta.rows !== "target" || !down) return rowLabels(view, meta);
    return view.read.map((label, step) => `${visible(label)}\u2009→\u2009${visible(view.predicted[step])}`);
  }

  // Tags stand under their words where each token is a word.
  get tagged() {
    const { view, meta } = this.seen.shown;
    return view.kind === "tags" && meta?.rows === "source" && view.read.length === view.source.length;
  }

  // Sizes follow the tokens: a long text scrolls, a short one is spread over the room there is.
  layout() {
    const { view, meta } = this.seen.shown;
    const context = this.surface.base.getContext("2d");
    context.font = font(15);
    const down = this.scroller.clientWidth < NARROW;
    const single = meta !== null && meta.rows === meta.columns;
    const rowNames = this.names(view, meta, single, down);
    const columnNames = meta === null ? view.source : columnLabels(view, meta);
    const named = this.explorer.weights.name(this.seen.shown.handle);
    const key = [named, meta?.address, down, this.scroller.clientWidth].join(" ");
    if (this.laid?.key !== key) {
      const rows = new Strip(context, rowNames, down);
      const columns = new Strip(context, columnNames, down);
      const room = down ? 0 : this.scroller.clientWidth;
      const total = Math.max(room, rows.natural, columns.natural);
      this.laid = { key, rows: rows.spread(total), columns: columns.spread(total), total, down, single };
      this.world.style.width = down ? "100%" : `${total}px`;
      this.world.style.height = down ? `${total}px` : "auto";
      this.scroller.classList.toggle("down", down);
      const seen = Math.round(innerHeight * 0.58);
      this.scroller.style.maxHeight = down ? `${seen}px` : "";
      this.surface.element.style.width = `${this.scroller.clientWidth}px`;
      this.surface.element.style.height = down ? `${Math.min(total, seen)}px` : this.flat(single);
    }
    return this.laid;
  }

  // Without weights there is nothing between the lines that needs room.
  flat(single) {
    const { meta } = this.seen.shown;
    if (meta === null) return "150px";
    return single && meta.rows === "source" ? "310px" : "270px";
  }

  draw(follow = false) {
    if (!this.picture || this.element.hidden || this.scroller.clientWidth === 0) return;
    const { view, meta } = this.seen.shown;
    const { rows, columns, down, single } = this.layout();
    this.surface.measure();
    if (!this.surface.ready) return;
    if (follow) this.follow(rows, down);
    const scroll = down ? this.scroller.scrollTop : this.scroller.scrollLeft;
    const { width, height } = this.surface;
    const causal = single && meta?.rows === "target";
    const notes = causal || this.tagged ? view.predicted.map((label) => shorten(label, 10)) : null;
    const inside = this.tagged;
    this.drawing = new Drawing({ rows, columns, width, height, down, single, causal, scroll, notes, inside });
    const inks = colours();
    this.drawing.noteInk = inks.muted;
    const context = this.surface.paint();
    const unknown = new Set(view.unknown);
    const hatch = (place) => (unknown.has(place) ? inks.loss : null);
    const { grid } = this.seen;
    if (grid) this.drawing.faint(context, grid, inks);
    const sources = meta?.rows === "source";
    const plain = (place) => ({ fill: inks.soft, ink: inks.ink, hatch: sources ? hatch(place) : null });
    this.drawing.tokens(context, "row", plain);
    const column = (place) => ({ ...this.owing(place, inks), hatch: hatch(place) });
    if (!single) this.drawing.tokens(context, "column", column);
    this.captions(context, meta, down, single, inks);
    this.emphasise();
  }

  captions(context, meta, down, single, inks) {
    if (down) return;
    context.font = font(11, 600);
    context.textAlign = "left";
    context.fillStyle = inks.muted;
    const { view } = this.seen.shown;
    const text = writes(view) ? "SOURCE" : "TEXT";
    const names = { source: text, target: { text: "OUTPUT", tags: "TAGS", gaps: "GAPS" }[view.kind] ?? "ANSWER" };
    if (single) {
      context.fillText(
        meta.rows === "source" ? `${text} · arcs above look back, below look ahead` : "READ → PREDICTED",
        8,
        10,
      );
      return;
    }
    context.fillText(text, 8, 10);
    context.fillText(names[meta?.rows ?? "target"], 8, this.surface.height - 10);
  }

  // Scrolling to the selected token only when it is out of sight, so the reader keeps their place.
  follow(rows, down) {
    const place = Math.min(this.seen.shown.row, rows.starts.length - 1);
    if (place < 0) return;
    const scroll = down ? "scrollTop" : "scrollLeft";
    const size = down ? this.scroller.clientHeight : this.scroller.clientWidth;
    const centre = rows.centre(place);
    if (centre < this.scroller[scroll] + 20 || centre > this.scroller[scroll] + size - 20)
      this.scroller[scroll] = centre - size / 2;
  }

  emphasise() {
    const { grid, shown } = this.seen;
    const { row, state, meta } = shown;
    const context = this.surface.overlay();
    const inks = colours();
    const { drawing } = this;
    if (!drawing) return;
    const focus = this.hovered ?? { side: "row", place: row };
    if (grid && focus.side === "row" && focus.place < grid.rows) drawing.ofRow(context, grid, focus.place, inks);
    if (grid && focus.side === "column" && focus.place < grid.columns)
      drawing.ofColumn(context, grid, focus.place, inks);
    const chosen = { fill: inks.mark, ink: inks.panel, weight: 600 };
    const bordered = { fill: inks.soft, ink: inks.ink, border: inks.mark };
    if (!drawing.single && meta && state.column < drawing.columns.labels.length) {
      const hatch = shown.view.unknown.includes(state.column) ? inks.loss : null;
      drawing.token(context, "column", state.column, { ...bordered, hatch });
    }
    if (row < drawing.rows.labels.length) drawing.token(context, "row", row, this.hovered ? bordered : chosen);
    if (this.hovered) drawing.token(context, focus.side, focus.place, chosen);
  }

  hover(found, event) {
    if (!this.drawing || (found?.side === this.hovered?.side && found?.place === this.hovered?.place)) return;
    this.hovered = found;
    this.surface.element.style.cursor = found ? "pointer" : "";
    this.emphasise();
    this.status.point(found ? this.describe(found) : "");
    if (event) this.explorer.painted("paint-hover", event.timeStamp);
  }

  describe({ side, place }) {
    const { rows, columns } = /** @type {Drawing} */ (this.drawing);
    const { shown, grid, owed } = this.seen;
    const { view, meta, state } = shown;
    const label = (side === "row" ? rows : columns).labels[place];
    if (side === "column" && owed)
      return `${isolated(label)}: ${signed(owed.at(Math.min(state.step, owed.rows - 1), place), 3)} for the answer`;
    if (!meta || !grid) return isolated(label);
    if (side === "column") {
      const sum = grid.column(place).reduce((total, weight) => total + weight, 0);
      return `${isolated(label)}, place ${place}, gets ${number(sum)} in all from ${grid.rows} rows`;
    }
    const weights = grid.row(place);
    const best = weights.indexOf(Math.max(...weights));
    return cellSentence(view, meta, state.head, place, best, number(weights[best]));
  }
}
