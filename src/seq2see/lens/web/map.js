// One head's heat map, with a choice of what is drawn.

import { isOne, readsItself, subject, writes } from "seq2see/answers";
import { choices, element } from "seq2see/element";
import { Heat } from "seq2see/heat";
import { columnLabels, isolated, number, rowLabels } from "seq2see/labels";
import { Legend } from "seq2see/legend";
import { Nothing, Scene } from "seq2see/scene";
import { DRAWN, SCALES } from "seq2see/state";
import { cellSentence } from "seq2see/status";

const RESTED = 60; // milliseconds a pointer rests before exact values are asked for

const SUMMARY_META = {
  rollout: { rows: "source", columns: "source" },
  gradient: { rows: "target", columns: "source" },
  occlusion: { rows: "target", columns: "source" },
};

export const DRAWN_WORDS = {
  weights: "attention weights",
  rollout: "rollout through all layers",
  gradient: "gradient of each answer",
  occlusion: "occlusion of each token or place",
};
export const SCALE_WORDS = { linear: "linear", root: "square root", relative: "up to the highest" };

export function labelled(view, meta) {
  const rows = rowLabels(view, meta);
  const notes = meta.rows === "target" && !isOne(view) ? view.predicted : [];
  const strange = (side) => new Set(side === "source" ? view.unknown : []);
  return {
    rows: rows.map((main, place) => ({ main, note: notes[place] ?? null })),
    columns: columnLabels(view, meta),
    unknown: { rows: strange(meta.rows), columns: strange(meta.columns) },
  };
}

/**
 * What can be drawn: no weights without attention, of a saved page what was saved.
 * @param {Shown} shown
 * @param {import("seq2see/store").Store} store
 */
export function offered({ view, model, state }, store) {
  const layers = view.maps.some((map) => map.rows === "source" || readsItself(view)) ? ["rollout"] : [];
  // Attributions are measured token by token.
  const live = [...layers, ...(state.words ? [] : model.attributions)];
  const there = [...(view.maps.length > 0 ? ["weights"] : []), ...(store.saved ? store.summaries : live)];
  return DRAWN.filter((kind) => there.includes(kind));
}

/** @typedef {import("seq2see/grid").Grid} Grid */
/** @typedef {import("seq2see/shown").Shown} Shown */

/** @extends {Scene<Grid, {shown: Shown, draw: string, meta: any}>} */
export class MapView extends Scene {
  constructor(explorer, status) {
    super(explorer, status, "map");
    this.timer = 0;
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
    this.pictures = [this.legend.element, this.heat.element];
    const tools = element(
      "div",
      { class: "tools" },
      element("label", {}, "Draw ", this.drawn),
      element("label", {}, "Colours ", this.scale),
      this.legend.element,
      element("span", { class: "hint wide", text: "wheel or + − zooms, drag pans, 0 resets" }),
    );
    this.panel = element("div", { class: "panel" }, tools, this.heat.element);
    this.element.append(this.panel);
  }

  key(event) {
    const moves = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
    if (moves[event.key] && this.picture) {
      this.moveCell(moves[event.key], event);
      return true;
    }
    return this.heat.key(event);
  }

  moveCell([rows, columns], event) {
    const cell = this.selected();
    const { grid } = this.heat.subject;
    const within = (value, size) => Math.max(0, Math.min(size - 1, value));
    this.choose(
      { row: within(cell.row + rows, grid.rows), column: within(cell.column + columns, grid.columns) },
      event,
    );
  }

  selected() {
    const { shown, meta } = this.seen;
    return { row: shown.rowOf(meta), column: shown.state.column };
  }

  choose({ row, column }, event) {
    this.explorer.change({ [this.seen.meta.rows === "target" ? "step" : "row"]: row, column }, event);
  }

  hide() {
    this.hover(null);
  }

  /** What is drawn: what was asked for, or the nearest thing that there is. @param {Shown} shown */
  drawing(shown) {
    const there = offered(shown, this.explorer.store);
    return there.includes(shown.state.draw) ? shown.state.draw : (there[0] ?? null);
  }

  async fetch(shown) {
    const draw = this.drawing(shown);
    if (draw === null) throw new Nothing("This model has no attention, so there are no weights to map.");
    const { weights } = this.explorer;
    if (draw !== "weights") return weights.summary(shown.handle, draw);
    return weights.grid(shown.handle, shown.meta.address, shown.state.head);
  }

  tell(shown) {
    this.panel.hidden = !shown;
    this.picture = null;
    if (!shown) return;
    const pairs = offered(shown, this.explorer.store).map((kind) => [kind, DRAWN_WORDS[kind]]);
    choices(this.drawn, pairs, this.drawing(shown));
    choices(
      this.scale,
      SCALES.map((kind) => [kind, SCALE_WORDS[kind]]),
      shown.state.scale,
    );
  }

  fail(problem) {
    super.fail(problem);
    this.heat.show(null, null);
    this.subjectOf = null;
    this.status.say("");
  }

  paint(shown, grid, changed) {
    const draw = this.drawing(shown);
    const summary = draw !== "weights";
    const { weights } = this.explorer;
    const { at, head, scale } = shown.state;
    const meta = summary ? { ...SUMMARY_META[draw], address: DRAWN_WORDS[draw] } : shown.meta;
    this.picture = { shown, draw, meta };
    const wanted = [weights.name(shown.handle), draw, summary ? "" : `${at} ${head}`, scale].join(" ");
    if (wanted === this.subjectOf && !changed.has("view") && !changed.has("theme")) this.heat.choose(this.selected());
    else {
      const exact = summary ? null : (row) => weights.knownRow(shown.handle, at, head, row);
      this.heat.show({ grid, scale, ...labelled(shown.view, meta), exact }, this.selected());
      this.legend.show(grid, scale);
      this.subjectOf = wanted;
    }
    this.explorer.paintedHead(shown, changed);
    this.exact(this.selected().row);
    if (!summary) return;
    document.body.dataset.painted = draw;
    this.status.say(this.sentence(this.selected()));
  }

  // Bytes are shown at once, the exact values of the row when the pointer has rested.
  exact(row) {
    clearTimeout(this.timer);
    const { shown, draw } = this.seen;
    const { handle, state } = shown;
    const { weights } = this.explorer;
    if (draw !== "weights" || weights.knownRow(handle, state.at, state.head, row)) return;
    this.timer = setTimeout(async () => {
      try {
        await weights.row(handle, state.at, state.head, row);
        this.heat.point();
        const { hovered } = this.heat;
        if (this.picture && hovered && hovered.row === row) this.status.point(this.sentence(hovered));
      } catch {
        // The rounded value stays, which says of itself that it is rounded.
      }
    }, RESTED);
  }

  hover(cell, event) {
    if (!this.picture || !this.heat.subject) return;
    this.heat.hovered = cell;
    this.heat.point();
    if (cell) this.exact(cell.row);
    this.status.point(cell ? this.sentence(cell) : "");
    if (event) this.explorer.painted("paint-hover", event.timeStamp);
  }

  sentence({ row, column }) {
    const { shown, draw, meta } = this.seen;
    const { view, state } = shown;
    const { value, exact } = this.heat.value({ row, column });
    const told = number(value, exact ? 4 : 2);
    if (draw === "weights") return cellSentence(view, meta, state.head, row, column, told);
    const labels = labelled(view, meta);
    const label = isolated(labels.rows[row].note ?? labels.rows[row].main);
    const who = writes(view) || meta.rows === "source" ? `${label} and` : `${subject(view, row)} and`;
    return `${who} ${isolated(labels.columns[column])}: ${told}, ${meta.address}`;
  }
}
