// Two views side by side and what is different: plain and edited, two models, two texts, two heads.

import { sureness } from "seq2see/answers";
import { choices, element } from "seq2see/element";
import { Heat } from "seq2see/heat";
import { number, signed, visible } from "seq2see/labels";
import { isStale, Lane } from "seq2see/lane";
import { Legend } from "seq2see/legend";
import { labelled } from "seq2see/map";
import { Scene } from "seq2see/scene";
import { cellSentence } from "seq2see/status";
import { requestOf } from "seq2see/suspended";

const WORDS = { plain: "plain", edited: "edited", model: "other model", text: "other text", target: "other target" };

function headOf(text) {
  if (text === "") return null;
  return text === "mean" ? text : Number(text);
}

/**
 * One side as it was fetched: a view and a map of it, or why there is none.
 * @typedef {{handle: import("seq2see/store").Handle | null, problem: string | null,
 *   map: {meta: any, head: number | "mean", view: import("seq2see/store").View, grid: Grid} | null}} Loaded
 */
/** @typedef {import("seq2see/grid").Grid} Grid */
/** @typedef {import("seq2see/shown").Shown} Shown */

class Side {
  constructor(name, compare) {
    this.name = name;
    const { explorer } = compare;
    this.lane = new Lane();
    this.choice = element("select", {
      id: `side-${name}`,
      "aria-label": `${name} side`,
      change: (event) => explorer.change({ [name]: event.target.value }, event),
    });
    this.output = element("p", { class: "output", dir: "auto", id: `output-${name}` });
    this.score = element("p", { class: "hint" });
    this.heat = new Heat({
      id: `heat-${name}`,
      label: `heat map, ${name}`,
      profiles: false,
      onHover: (cell, event) => compare.hover(cell, event),
      onChoose: (cell, event) => compare.choose(cell, event),
      onFrame: (frame) => compare.follow(frame, this),
    });
    this.tools = element("div", { class: "tools" }, this.choice);
    this.pictures = [this.output, this.score, this.heat.element];
    this.element = element(
      "div",
      { class: "panel side", "data-side": name },
      this.tools,
      this.output,
      this.score,
      this.heat.element,
    );
  }
}

/** @extends {Scene<[Loaded, Loaded], {shown: Shown, maps: Loaded["map"][]}>} */
export class Compare extends Scene {
  constructor(explorer, status) {
    super(explorer, status, "compare");
    this.left = new Side("left", this);
    this.right = new Side("right", this);
    this.other = element("input", {
      id: "other-text",
      type: "text",
      placeholder: "the other text",
      "aria-label": "the other text",
      change: (event) => explorer.change({ other: event.target.value }, event),
    });
    this.otherInto = element("select", {
      id: "other-into",
      "aria-label": "the other target",
      change: (event) => explorer.change({ otherInto: event.target.value }, event),
    });
    this.address = element("select", {
      id: "right-at",
      "aria-label": "address of the right map",
      change: (event) => explorer.change({ rightAt: event.target.value || null }, event),
    });
    this.head = element("select", {
      id: "right-head",
      "aria-label": "head of the right map",
      change: (event) => explorer.change({ rightHead: headOf(event.target.value) }, event),
    });
    this.right.tools.append(this.address, this.head);
    this.legend = new Legend("difference-legend");
    this.apart = new Heat({
      id: "heat-difference",
      label: "left minus right",
      profiles: false,
      onHover: (cell, event) => this.hover(cell, event),
      onChoose: (cell, event) => this.choose(cell, event),
      onFrame: (frame) => this.follow(frame, this),
    });
    this.outputs = element("p", { class: "output", dir: "auto", id: "output-difference" });
    this.summary = element("p", { class: "hint", id: "difference-summary" });
    this.third = element(
      "div",
      { class: "panel side", "data-side": "difference" },
      element("div", { class: "tools" }, element("h2", { text: "Left minus right" }), this.legend.element),
      this.outputs,
      this.summary,
      this.apart.element,
    );
    this.pictures = [...this.left.pictures, ...this.right.pictures, this.third];
    this.trio = element("div", { class: "trio" }, this.left.element, this.right.element, this.third);
    this.element.append(this.other, this.otherInto, this.trio);
    this.heat = this.apart;
  }

  get heats() {
    return [this.left.heat, this.right.heat, this.apart];
  }

  key(event) {
    const moves = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
    if (moves[event.key] && this.explorer.shown?.meta) {
      this.explorer.move(...moves[event.key], event);
      return true;
    }
    return this.left.heat.key(event);
  }

  hide() {
    this.hover(null);
  }

  follow({ zoom, left, top }, from) {
    for (const heat of this.heats) if (heat !== (from.heat ?? from)) heat.follow({ zoom, left, top });
  }

  /** What a side is asked for, beside what is shown. @param {string} side @param {Shown} shown */
  request(side, { state, handle, model }) {
    const { models, store } = this.explorer;
    if (store.saved || side === "edited") return handle.request;
    if (side === "plain") return requestOf({ ...state, edits: [] }, model);
    if (side === "text") {
      if (!state.other.trim()) throw new Error("Write the other text to compare with.");
      return requestOf({ ...state, text: state.other, edits: [] }, model);
    }
    if (side === "target")
      return requestOf({ ...state, into: this.otherTarget(state, model), target: null, edits: [] }, model);
    const other = models.find((one) => one.name !== model.name);
    if (!other) throw new Error("There is no other model; start the explorer with two runs.");
    return requestOf({ ...state, model: other.name, edits: [] }, other);
  }

  /** The target beside the one that is asked for. @returns {string} */
  otherTarget({ into, otherInto }, { targets }) {
    if (targets.length < 2) throw new Error("This model has one target; choose something else to compare with.");
    const asked = into || targets[0];
    return targets.includes(otherInto) ? otherInto : targets.find((name) => name !== asked);
  }

  options() {
    const { models, store, model } = this.explorer;
    if (store.saved) return [["plain", "the saved view"]];
    const further = [...(models.length > 1 ? ["model"] : []), "text", ...(model.targets.length > 1 ? ["target"] : [])];
    return ["plain", "edited", ...further].map((name) => [name, WORDS[name]]);
  }

  /** @param {Shown} shown @returns {Promise<[Loaded, Loaded]>} */
  async fetch(shown) {
    const { left, right, at, head, rightAt, rightHead } = shown.state;
    return [
      await this.load(this.left, left, shown, at, head),
      await this.load(this.right, right, shown, rightAt ?? at, rightHead ?? head),
    ];
  }

  /** A side that cannot be shown says why, and the other is shown all the same. @returns {Promise<Loaded>} */
  async load(side, what, shown, at, head) {
    let handle = null;
    try {
      handle = await this.explorer.ask(this.request(what, shown), side.lane);
      return { handle, problem: null, map: await this.grid(handle, shown, at, head, side.name) };
    } catch (error) {
      if (isStale(error)) throw error;
      return { handle, problem: error.message, map: null };
    }
  }

  tell(shown) {
    this.trio.hidden = !shown;
    this.picture = null;
    if (!shown) return;
    const { state } = shown;
    const options = this.options();
    for (const side of [this.left, this.right])
      choices(side.choice, options, this.explorer.store.saved ? "plain" : state[side.name]);
    this.other.hidden = this.explorer.store.saved || (state.left !== "text" && state.right !== "text");
    const { targets } = shown.model;
    this.otherInto.hidden =
      this.explorer.store.saved || targets.length < 2 || (state.left !== "target" && state.right !== "target");
    if (targets.length > 1)
      choices(
        this.otherInto,
        targets.map((name) => [name, name]),
        this.otherTarget(state, shown.model),
      );
    if (document.activeElement !== this.other || this.written !== state.other) this.other.value = state.other;
    this.written = state.other;
    this.element.classList.toggle("blind", shown.meta === null);
  }

  offer(right, shown) {
    const { state } = shown;
    const same = [["", "same address"]];
    choices(
      this.address,
      [...same, ...right.answer.maps.map((map) => [map.address, map.address])],
      state.rightAt ?? "",
    );
    const meta = this.nearest(right, shown, state.rightAt ?? state.at);
    const heads = Array.from({ length: meta?.heads ?? 0 }, (_, head) => [String(head), `head ${head}`]);
    choices(
      this.head,
      [["", "same head"], ["mean", "mean"], ...heads],
      state.rightHead === null ? "" : String(state.rightHead),
    );
  }

  // Another model may have no such address: the last of the same kind is the nearest thing.
  nearest({ answer }, { meta }, at) {
    const alike = answer.maps.filter((map) => map.rows === meta?.rows && map.columns === meta?.columns);
    return answer.maps.find((map) => map.address === at) ?? alike.at(-1) ?? null;
  }

  describe(side, { handle, problem }) {
    side.output.textContent = handle ? handle.answer.predicted.map(visible).join(" ") : "–";
    side.score.textContent = problem ?? sureness(handle.answer).join(" · ");
  }

  selected({ meta, row, state }) {
    return meta ? { row, column: state.column } : null;
  }

  async grid(handle, shown, at, head, lane) {
    const meta = shown.meta && this.nearest(handle, shown, at);
    if (!meta) return null;
    const bounded = head === "mean" || head < meta.heads ? head : "mean";
    const grid = await this.explorer.weights.grid(handle, meta.address, bounded, lane);
    return { meta, head: bounded, view: handle.answer, grid };
  }

  paint(shown, [left, right], changed) {
    this.describe(this.left, left);
    this.describe(this.right, right);
    if (right.handle) this.offer(right.handle, shown);
    const { state } = shown;
    this.picture = { shown, maps: [left.map, right.map] };
    if (right.map && right.map.meta.address !== state.at)
      this.right.score.textContent += ` · ${right.map.meta.address}`;
    const selected = this.selected(shown);
    for (const [side, { map }] of /** @type {[Side, Loaded][]} */ ([
      [this.left, left],
      [this.right, right],
    ])) {
      side.heat.element.hidden = !map;
      side.heat.show(map && { grid: map.grid, scale: state.scale, ...labelled(map.view, map.meta) }, selected);
    }
    this.subtract(left, right, shown);
    this.explorer.paintedHead(shown, changed);
  }

  // The two outputs in a few words.
  compared(left, right) {
    const said = [left.predicted, right.predicted].sort((one, other) => other.length - one.length);
    const differing = said[0].filter((label, step) => label !== said[1][step]).length;
    const [single, several] = { text: ["output step", "output steps"], tags: ["tag", "tags"], gaps: ["gap", "gaps"] }[
      left.kind
    ] ?? ["answer", "answers"];
    if (differing > 0) return `${differing} ${differing === 1 ? `${single} differs` : `${several} differ`}`;
    return left.kind === "text" ? "same output" : `same ${left.kind === "tags" ? several : single}`;
  }

  // Why there is no difference to draw, or null.
  apartness(left, right, { meta }) {
    if (!left.handle || !right.handle) return "There is nothing to compare with yet.";
    if (!meta) return "This model has no attention; what the two sides say is compared.";
    if (left.problem || right.problem) return `The ${left.problem ? "left" : "right"} map cannot be drawn.`;
    if (!left.map || !right.map)
      return `The ${left.map ? "right" : "left"} model has no attention of this kind; choose another address.`;
    return this.unlike(left.map, right.map);
  }

  subtract(left, right, shown) {
    const problem = this.apartness(left, right, shown);
    if (problem !== null) this.notice.show(problem, "hint");
    const drawn = problem === null;
    this.third.hidden = !drawn && shown.meta !== null;
    if (left.handle && right.handle) this.outputs.textContent = this.compared(left.handle.answer, right.handle.answer);
    if (!drawn) {
      this.summary.textContent = "";
      this.apart.show(null, null);
      return;
    }
    const [one, other] = [left.map, right.map];
    const grid = one.grid.minus(other.grid);
    this.apart.show({ grid, scale: "linear", ...labelled(one.view, one.meta) }, this.selected(shown));
    this.legend.show(grid, "linear");
    const mean = grid.values.reduce((sum, value) => sum + Math.abs(value), 0) / grid.values.length;
    const greatest = Math.max(grid.extent.high, -grid.extent.low);
    const told = `mean difference ${number(mean, 4)}, greatest ${number(greatest, 3)}`;
    this.summary.textContent = greatest === 0 ? "the two maps are the same" : told;
  }

  // Maps of other shapes cannot be subtracted; which tokens differ is said instead.
  unlike(one, other) {
    if (one.grid.rows === other.grid.rows && one.grid.columns === other.grid.columns) return null;
    const names = (map) => labelled(map.view, map.meta);
    const apart = (mine, theirs) => {
      const longer = mine.length >= theirs.length ? mine : theirs;
      const place = longer.findIndex((_, here) => mine[here] !== theirs[here]);
      return place < 0 ? null : `“${visible(mine[place] ?? "")}” and “${visible(theirs[place] ?? "")}” at ${place}`;
    };
    const rows = apart(
      names(one).rows.map((row) => row.note ?? row.main),
      names(other).rows.map((row) => row.note ?? row.main),
    );
    const columns = apart(names(one).columns, names(other).columns);
    const shapes = `${one.grid.rows} by ${one.grid.columns} and ${other.grid.rows} by ${other.grid.columns}`;
    const where = [rows && `rows first differ in ${rows}`, columns && `columns first differ in ${columns}`].filter(
      Boolean,
    );
    return `The maps have other shapes (${shapes}), so there is no difference to draw; ${where.join("; ")}.`;
  }

  hover(cell, event) {
    for (const heat of this.heats) {
      heat.hovered = cell;
      heat.point();
    }
    this.status.point(cell && this.picture ? this.sentence(cell) : "");
    if (event) this.explorer.painted("paint-hover", event.timeStamp);
  }

  sentence({ row, column }) {
    const [one, other] = this.seen.maps;
    const inside = (map) => row < map.grid.rows && column < map.grid.columns;
    if (!one || !inside(one)) return "";
    const value = one.grid.at(row, column);
    const told = cellSentence(one.view, one.meta, one.head, row, column, number(value));
    return other && inside(other)
      ? `${told}; right ${number(other.grid.at(row, column))}, difference ${signed(value - other.grid.at(row, column))}`
      : told;
  }

  choose({ row, column }, event) {
    const { meta, view } = this.seen.shown;
    const [rows, columns] = meta?.shape ?? [view.read.length, view.source.length];
    if (row < rows && column < columns) this.explorer.select({ row, column }, event);
  }
}
