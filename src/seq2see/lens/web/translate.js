// Source and output with ribbons between them, step by step, with what else could have been said.

import { isOne, sureness, titleOf, writes } from "seq2see/answers";
import { Candidates } from "seq2see/candidates";
import { button, element } from "seq2see/element";
import { isStale } from "seq2see/lane";
import { columnLabels, isolated, number, rowLabels, shorten, signed, visible } from "seq2see/labels";
import { Notice } from "seq2see/notice";
import { Drawing } from "seq2see/ribbons";
import { cellSentence } from "seq2see/status";
import { Strip } from "seq2see/strip";
import { Surface } from "seq2see/surface";
import { colours, font } from "seq2see/theme";

const NARROW = 620;
const AROUND = 30; // tokens of a long output shown on either side of the step
const PACE = 800; // milliseconds per step when playing

export class Translate {
  constructor(explorer, status) {
    Object.assign(this, { explorer, status, grid: null, hovered: null, timer: null });
    this.notice = new Notice("translate-notice");
    this.surface = new Surface({
      id: "ribbons",
      label: "source and output with attention between them",
      onResize: () => this.draw(),
    });
    this.world = element("div", { class: "world" }, this.surface.element);
    this.scroller = element("div", { class: "scroller", tabindex: "-1", scroll: () => this.draw() }, this.world);
    new ResizeObserver(() => this.draw()).observe(this.scroller);
    this.candidates = new Candidates(explorer);
    this.element = element(
      "section",
      { id: "translate", class: "view" },
      this.notice.element,
      element("div", { class: "panel" }, this.scroller),
      element("div", { class: "pair" }, this.walk(), this.candidates.element),
    );
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
    this.player = button("play", "Play", "play or stop (space)", () => this.play());
    this.count = element("output", { class: "count", for: "step" });
    this.said = element("span", { class: "said" });
    this.now = element("mark");
    this.rest = element("span", { class: "rest" });
    this.score = element("p", { class: "hint", id: "score" });
    this.title = element("h2", { id: "answer-title" });
    this.walking = element("div", { class: "walk" }, this.player, this.slider, this.count);
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
    const { view, state } = this.explorer;
    if (this.timer !== null) return this.stop();
    if (state.step >= view.read.length - 1) this.explorer.change({ step: 0 });
    this.timer = setInterval(() => {
      const last = this.explorer.view.read.length - 1;
      if (this.explorer.state.step >= last) this.stop();
      else this.explorer.change({ step: this.explorer.state.step + 1 });
    }, PACE);
    this.player.textContent = "Stop";
  }

  stop() {
    clearInterval(this.timer);
    this.timer = null;
    this.player.textContent = "Play";
  }

  hide() {
    this.stop();
    this.hover(null);
  }

  async update(changed) {
    const { view, handle, meta, state } = this.explorer;
    if (!view) return;
    this.tellOutput(view, state.step);
    this.candidates.update();
    if (!meta) {
      await this.withoutAttention(handle, view);
      return;
    }
    this.owed = null;
    this.grid = this.explorer.weights.cached(handle, meta.address, state.head);
    if (!this.grid) {
      try {
        const grid = await this.explorer.weights.grid(handle, meta.address, state.head);
        if (this.explorer.handle !== handle || this.explorer.meta !== meta || this.explorer.state.head !== state.head)
          return;
        this.grid = grid;
      } catch (error) {
        if (!isStale(error)) this.notice.show(error.message);
        return;
      }
    }
    this.notice.clear();
    this.draw(true);
    this.explorer.paintedHead(changed);
  }

  // A model without attention: its tokens are coloured by what they did for the answer, where that is measured.
  async withoutAttention(handle, view) {
    const nothing = "This model has no attention to look at; its output, candidates and beam are here all the same.";
    this.grid = null;
    this.notice.show(writes(view) ? nothing : "This model has no attention.", "hint");
    if (!writes(view) && !this.explorer.store.saved) {
      try {
        this.owed = await this.explorer.weights.summary(handle, "occlusion");
        if (this.explorer.handle !== handle) return;
        const what = view.kind === "number" ? "the number" : "the log-probability of the answer";
        const told = `blue raised ${what}, orange lowered it, against the same text with the token unknown`;
        this.notice.show(`This model has no attention. Tokens are coloured by what they did: ${told}.`, "hint");
        document.body.dataset.painted = "occlusion";
      } catch (error) {
        this.owed = null;
        if (!isStale(error)) this.notice.add(error.message, "hint");
      }
    }
    this.draw();
  }

  // Fill and ink of a token by what it did for the answer in sight.
  owing(place, inks) {
    const { owed } = this;
    const row = Math.min(this.explorer.state.step, (owed?.rows ?? 1) - 1);
    if (!owed || this.explorer.meta || place >= owed.columns) return { fill: inks.soft, ink: inks.ink };
    const share = owed.share(owed.at(row, place), "linear");
    return { fill: inks.palette.css(share, true), ink: Math.abs(share) > 0.6 ? inks.panel : inks.ink, border: inks.line };
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

  // Weights may still be those of the view before.
  get fitting() {
    const { grid, laid } = this;
    return grid && laid && grid.rows === laid.rows.labels.length && grid.columns === laid.columns.labels.length;
  }

  // Tags stand under their words where each token is a word.
  get tagged() {
    const { view, meta } = this.explorer;
    return view.kind === "tags" && meta?.rows === "source" && view.read.length === view.source.length;
  }

  // Sizes follow the tokens: a long text scrolls, a short one is spread over the room there is.
  layout() {
    const { view, meta } = this.explorer;
    const context = this.surface.base.getContext("2d");
    context.font = font(15);
    const down = this.scroller.clientWidth < NARROW;
    const single = meta !== null && meta.rows === meta.columns;
    const rowNames = this.names(view, meta, single, down);
    const columnNames = meta === null ? view.source : columnLabels(view, meta);
    const key = [view.id, meta?.address, down, this.scroller.clientWidth].join(" ");
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
    if (this.explorer.meta === null) return "150px";
    return single && this.explorer.meta.rows === "source" ? "310px" : "270px";
  }

  draw(follow = false) {
    const { view, meta } = this.explorer;
    if (!view || this.element.hidden || this.scroller.clientWidth === 0) return;
    const { rows, columns, down, single } = this.layout();
    this.surface.measure();
    if (!this.surface.ready) return;
    if (follow) this.follow(rows, down);
    const scroll = down ? this.scroller.scrollTop : this.scroller.scrollLeft;
    const { width, height } = this.surface;
    const causal = single && meta.rows === "target";
    const notes = causal || this.tagged ? view.predicted.map((label) => shorten(label, 10)) : null;
    const inside = this.tagged;
    this.drawing = new Drawing({ rows, columns, width, height, down, single, causal, scroll, notes, inside });
    const inks = colours();
    this.drawing.noteInk = inks.muted;
    const context = this.surface.paint();
    if (this.fitting) this.drawing.faint(context, this.grid, inks);
    const plain = () => ({ fill: inks.soft, ink: inks.ink });
    this.drawing.tokens(context, "row", plain);
    if (!single) this.drawing.tokens(context, "column", (place) => this.owing(place, inks));
    this.captions(context, meta, down, single, inks);
    this.emphasise();
  }

  captions(context, meta, down, single, inks) {
    if (down) return;
    context.font = font(11, 600);
    context.textAlign = "left";
    context.fillStyle = inks.muted;
    const { view } = this.explorer;
    const text = writes(view) ? "SOURCE" : "TEXT";
    const names = { source: text, target: { text: "OUTPUT", tags: "TAGS" }[view.kind] ?? "ANSWER" };
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
    const place = Math.min(this.explorer.row, rows.starts.length - 1);
    if (place < 0) return;
    const scroll = down ? "scrollTop" : "scrollLeft";
    const size = down ? this.scroller.clientHeight : this.scroller.clientWidth;
    const centre = rows.centre(place);
    if (centre < this.scroller[scroll] + 20 || centre > this.scroller[scroll] + size - 20)
      this.scroller[scroll] = centre - size / 2;
  }

  emphasise() {
    const { row, state } = this.explorer;
    const context = this.surface.overlay();
    const inks = colours();
    const { drawing, grid } = this;
    const focus = this.hovered ?? { side: "row", place: row };
    if (this.fitting && focus.side === "row" && focus.place < grid.rows)
      drawing.ofRow(context, grid, focus.place, inks);
    if (this.fitting && focus.side === "column" && focus.place < grid.columns)
      drawing.ofColumn(context, grid, focus.place, inks);
    const chosen = { fill: inks.mark, ink: inks.panel, weight: 600 };
    const bordered = { fill: inks.soft, ink: inks.ink, border: inks.mark };
    if (!drawing.single && this.explorer.meta && state.column < drawing.columns.labels.length)
      drawing.token(context, "column", state.column, bordered);
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
    const { view, meta, state } = this.explorer;
    const label = side === "row" ? this.drawing.rows.labels[place] : this.drawing.columns.labels[place];
    if (!meta && side === "column" && this.owed)
      return `${isolated(label)}: ${signed(this.owed.at(Math.min(state.step, this.owed.rows - 1), place), 3)} for the answer`;
    if (!meta || !this.fitting) return isolated(label);
    if (side === "column") {
      const sum = this.grid.column(place).reduce((total, weight) => total + weight, 0);
      return `${isolated(label)}, place ${place}, gets ${number(sum)} in all from ${this.grid.rows} rows`;
    }
    const weights = this.grid.row(place);
    const best = weights.indexOf(Math.max(...weights));
    return cellSentence(view, meta, state.head, place, best, number(weights[best]));
  }
}
