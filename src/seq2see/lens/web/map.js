// One head's heat map, with a choice of what is drawn.

import { isOne, subject, writes } from "seq2see/answers";
import { choices, element } from "seq2see/element";
import { Heat } from "seq2see/heat";
import { isStale } from "seq2see/lane";
import { columnLabels, isolated, number, rowLabels } from "seq2see/labels";
import { Legend } from "seq2see/legend";
import { Notice } from "seq2see/notice";
import { DRAWN, SCALES } from "seq2see/state";
import { cellSentence } from "seq2see/status";

const RESTED = 60; // milliseconds a pointer rests before exact values are asked for

const SUMMARY_META = {
  rollout: { rows: "source", columns: "source" },
  gradient: { rows: "target", columns: "source" },
  occlusion: { rows: "target", columns: "source" },
};

const DRAWN_WORDS = {
  weights: "attention weights",
  rollout: "rollout through the encoder",
  gradient: "gradient of each answer",
  occlusion: "occlusion of each token",
};
export const SCALE_WORDS = { linear: "linear", root: "square root", relative: "up to the highest" };

export function labelled(view, meta) {
  const rows = rowLabels(view, meta);
  const notes = meta.rows === "target" && !isOne(view) ? view.predicted : [];
  return {
    rows: rows.map((main, place) => ({ main, note: notes[place] ?? null })),
    columns: columnLabels(view, meta),
  };
}

export class MapView {
  constructor(explorer, status) {
    Object.assign(this, { explorer, status, meta: null, timer: null });
    this.notice = new Notice("map-notice");
    this.drawn = element("select", {
      id: "draw",
      change: (event) => explorer.change({ draw: event.target.value }, event),
    });
    this.scale = element("select", {
      id: "scale",
      change: (event) => explorer.change({ scale: event.target.value }, event),
    });
    this.legend = new Legend();
    this.heat = new Heat({
      id: "heat",
      label: "heat map; arrows move the cell, plus and minus zoom",
      onHover: (cell, event) => this.hover(cell, event),
      onChoose: (cell, event) => this.choose(cell, event),
    });
    this.element = element(
      "section",
      { id: "map", class: "view" },
      this.notice.element,
      element(
        "div",
        { class: "panel" },
        element(
          "div",
          { class: "tools" },
          element("label", {}, "Draw ", this.drawn),
          element("label", {}, "Colours ", this.scale),
          this.legend.element,
          element("span", { class: "hint wide", text: "wheel or + − zooms, drag pans, 0 resets" }),
        ),
        this.heat.element,
      ),
    );
  }

  key(event) {
    const moves = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
    if (moves[event.key] && this.meta) {
      this.moveCell(...moves[event.key], event);
      return true;
    }
    return this.heat.key(event);
  }

  moveCell(rows, columns, event) {
    const cell = this.selected();
    const { grid } = this.heat.subject;
    const within = (value, size) => Math.max(0, Math.min(size - 1, value));
    this.choose(
      { row: within(cell.row + rows, grid.rows), column: within(cell.column + columns, grid.columns) },
      event,
    );
  }

  selected() {
    return { row: this.explorer.rowOf(this.meta), column: this.explorer.state.column };
  }

  choose({ row, column }, event) {
    this.explorer.change({ [this.meta.rows === "target" ? "step" : "row"]: row, column }, event);
  }

  hide() {
    this.hover(null);
  }

  async update(changed) {
    const { view, handle, meta, state } = this.explorer;
    if (!view) return;
    const draw = this.drawing();
    choices(
      this.drawn,
      this.offered().map((kind) => [kind, DRAWN_WORDS[kind]]),
      draw,
    );
    choices(
      this.scale,
      SCALES.map((kind) => [kind, SCALE_WORDS[kind]]),
      state.scale,
    );
    if (!meta && draw === "weights") {
      this.notice.show("This model has no attention, so there are no weights to map.", "hint");
      this.meta = null;
      this.heat.show(null, null);
      return;
    }
    const only = [...changed].every((key) => ["step", "row", "column"].includes(key));
    if (only && this.heat.subject && this.subjectOf === this.wanted()) {
      this.heat.choose(this.selected());
      if (draw !== "weights") this.status.say(this.sentence(this.selected()));
      this.exact(this.selected().row);
      return;
    }
    await this.load(handle, meta, state, changed);
  }

  // What can be shown: without attention no weights, not every attribution of every model, what was saved of a page.
  offered() {
    const { view, model, store } = this.explorer;
    const layers = view.maps.some((map) => map.rows === "source") ? ["rollout"] : [];
    const measured = store.saved ? Object.keys(store.data.summaries ?? {}) : [...layers, ...model.attributions];
    const there = [...(view.maps.length > 0 ? ["weights"] : []), ...measured];
    return DRAWN.filter((kind) => there.includes(kind));
  }

  // What is drawn: what was asked for, or the nearest thing that there is.
  drawing() {
    const offered = this.offered();
    return offered.includes(this.explorer.state.draw) ? this.explorer.state.draw : (offered[0] ?? "weights");
  }

  wanted() {
    const { handle, state } = this.explorer;
    const draw = this.drawing();
    return [
      this.explorer.weights.name(handle),
      draw,
      draw === "weights" ? `${state.at} ${state.head}` : "",
      state.scale,
    ].join(" ");
  }

  async load(handle, meta, state, changed) {
    const wanted = this.wanted();
    const { weights } = this.explorer;
    const draw = this.drawing();
    const summary = draw !== "weights";
    try {
      const grid = summary
        ? await weights.summary(handle, draw)
        : await weights.grid(handle, meta.address, state.head);
      if (this.wanted() !== wanted) return;
      this.meta = summary ? { ...SUMMARY_META[draw], address: DRAWN_WORDS[draw] } : meta;
      this.subjectOf = wanted;
      const { at, head } = state;
      this.heat.show(
        {
          grid,
          scale: state.scale,
          ...labelled(handle.answer, this.meta),
          exact: summary ? null : (row) => weights.knownRow(handle, at, head, row),
        },
        this.selected(),
      );
      this.legend.show(grid, state.scale);
      this.notice.clear();
      this.explorer.paintedHead(changed);
      this.exact(this.selected().row);
      if (summary) {
        document.body.dataset.painted = draw;
        this.status.say(this.sentence(this.selected()));
      }
    } catch (error) {
      if (!isStale(error)) this.notice.show(error.message);
    }
  }

  // Bytes are shown at once, the exact values of the row when the pointer has rested.
  exact(row) {
    clearTimeout(this.timer);
    const { handle, state, weights } = this.explorer;
    if (this.drawing() !== "weights" || !this.meta || weights.knownRow(handle, state.at, state.head, row)) return;
    this.timer = setTimeout(async () => {
      try {
        await weights.row(handle, state.at, state.head, row);
        this.heat.point();
        if (this.heat.hovered?.row === row) this.status.point(this.sentence(this.heat.hovered));
      } catch {
        // The rounded value stays, which says of itself that it is rounded.
      }
    }, RESTED);
  }

  hover(cell, event) {
    if (!this.meta || !this.heat.subject) return;
    this.heat.hovered = cell;
    this.heat.point();
    if (cell) this.exact(cell.row);
    this.status.point(cell ? this.sentence(cell) : "");
    if (event) this.explorer.painted("paint-hover", event.timeStamp);
  }

  sentence({ row, column }) {
    const { view, state } = this.explorer;
    const { value, exact } = this.heat.value({ row, column });
    const shown = number(value, exact ? 4 : 2);
    if (this.drawing() === "weights") return cellSentence(view, this.meta, state.head, row, column, shown);
    const labels = labelled(view, this.meta);
    const label = isolated(labels.rows[row].note ?? labels.rows[row].main);
    const who = writes(view) || this.meta.rows === "source" ? `${label} and` : `${subject(view, row)} and`;
    return `${who} ${isolated(labels.columns[column])}: ${shown}, ${this.meta.address}`;
  }
}
