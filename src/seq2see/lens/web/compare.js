// Two views side by side and what is different: plain and edited, two models, two texts, two heads.

import { sureness } from "seq2see/answers";
import { choices, element } from "seq2see/element";
import { Heat } from "seq2see/heat";
import { Lane, isStale } from "seq2see/lane";
import { number, signed, visible } from "seq2see/labels";
import { Legend } from "seq2see/legend";
import { labelled } from "seq2see/map";
import { Notice } from "seq2see/notice";
import { ASKED } from "seq2see/state";
import { cellSentence } from "seq2see/status";

const WORDS = { plain: "plain", edited: "edited", model: "other model", text: "other text" };

function headOf(text) {
  if (text === "") return null;
  return text === "mean" ? text : Number(text);
}

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
      onHover: (cell, event) => compare.hover(cell, this, event),
      onChoose: (cell, event) => compare.choose(cell, event),
      onFrame: (frame) => compare.follow(frame, this),
    });
    this.tools = element("div", { class: "tools" }, this.choice);
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

export class Compare {
  constructor(explorer, status) {
    Object.assign(this, { explorer, status, turn: 0 });
    this.notice = new Notice("compare-notice");
    this.left = new Side("left", this);
    this.right = new Side("right", this);
    this.other = element("input", {
      id: "other-text",
      type: "text",
      placeholder: "the other text",
      "aria-label": "the other text",
      change: (event) => explorer.change({ other: event.target.value }, event),
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
      onHover: (cell, event) => this.hover(cell, this, event),
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
    this.element = element(
      "section",
      { id: "compare", class: "view" },
      this.notice.element,
      this.other,
      element("div", { class: "trio" }, this.left.element, this.right.element, this.third),
    );
    this.heat = this.apart;
  }

  get heats() {
    return [this.left.heat, this.right.heat, this.apart];
  }

  key(event) {
    const moves = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
    if (moves[event.key] && this.explorer.meta) {
      this.explorer.move(...moves[event.key], event);
      return true;
    }
    return this.left.heat.key(event);
  }

  hide() {
    this.hover(null, this);
  }

  follow({ zoom, left, top }, from) {
    for (const heat of this.heats) if (heat !== (from.heat ?? from)) heat.follow({ zoom, left, top });
  }

  // A side that cannot be shown is said why.
  request(side) {
    const { state, models, store } = this.explorer;
    if (store.saved) return this.explorer.request();
    if (side === "edited") return this.explorer.request();
    if (side === "plain") return this.explorer.request({ edits: [] });
    if (side === "text")
      return state.other ? this.explorer.request({ text: state.other, edits: [], target: null }) : null;
    const other = models.find((model) => model.name !== state.model);
    return other ? this.explorer.request({ model: other.name, edits: [] }) : null;
  }

  options() {
    const { models, store } = this.explorer;
    if (store.saved) return [["plain", "the saved view"]];
    return ["plain", "edited", ...(models.length > 1 ? ["model"] : []), "text"].map((name) => [name, WORDS[name]]);
  }

  async update(changed) {
    const { view, state, meta } = this.explorer;
    // What was asked anew arrives as a new handle; asking for it here too would ask twice.
    if (!view || (!changed.has("handle") && !changed.has("view") && ASKED.some((key) => changed.has(key)))) return;
    if (this.pair && [...changed].every((key) => ["step", "row", "column"].includes(key))) {
      const cell = this.selected();
      for (const heat of this.heats) heat.choose(cell);
      return;
    }
    const options = this.options();
    for (const side of [this.left, this.right])
      choices(side.choice, options, this.explorer.store.saved ? "plain" : state[side.name]);
    this.other.hidden = state.left !== "text" && state.right !== "text";
    if (document.activeElement !== this.other) this.other.value = state.other;
    this.element.classList.toggle("blind", meta === null);
    const turn = ++this.turn;
    try {
      const [left, right] = [await this.load(this.left, state.left), await this.load(this.right, state.right)];
      if (turn !== this.turn) return;
      this.offer(right);
      await this.draw(left, right, turn);
      this.explorer.paintedHead(changed);
    } catch (error) {
      if (!isStale(error) && turn === this.turn) this.notice.show(error.message);
    }
  }

  async load(side, what) {
    const request = this.request(what);
    if (request === null)
      throw new Error(
        what === "text"
          ? "write the other text to compare with"
          : "there is no other model; start the explorer with two runs",
      );
    return this.explorer.ask(request, side.lane);
  }

  offer(right) {
    const { state } = this.explorer;
    const same = [["", "same address"]];
    choices(
      this.address,
      [...same, ...right.answer.maps.map((map) => [map.address, map.address])],
      state.rightAt ?? "",
    );
    const meta = this.nearest(right, state.rightAt ?? state.at);
    const heads = Array.from({ length: meta?.heads ?? 0 }, (_, head) => [String(head), `head ${head}`]);
    choices(
      this.head,
      [["", "same head"], ["mean", "mean"], ...heads],
      state.rightHead === null ? "" : String(state.rightHead),
    );
  }

  // Another model may have no such address: the last of the same kind is the nearest thing.
  nearest({ answer }, at) {
    const { meta } = this.explorer;
    const alike = answer.maps.filter((map) => map.rows === meta?.rows && map.columns === meta?.columns);
    return answer.maps.find((map) => map.address === at) ?? alike.at(-1) ?? null;
  }

  tell(side, { answer }) {
    side.output.textContent = answer.predicted.map(visible).join(" ");
    side.score.textContent = sureness(answer).join(" · ");
  }

  selected() {
    return this.explorer.meta ? { row: this.explorer.row, column: this.explorer.state.column } : null;
  }

  async grid(handle, at, head, lane) {
    const meta = this.nearest(handle, at);
    if (!meta) return null;
    const bounded = head === "mean" || head < meta.heads ? head : "mean";
    return {
      meta,
      head: bounded,
      view: handle.answer,
      grid: await this.explorer.weights.grid(handle, meta.address, bounded, lane),
    };
  }

  async draw(left, right, turn) {
    const { state } = this.explorer;
    this.tell(this.left, left);
    this.tell(this.right, right);
    const said = [left.answer.predicted, right.answer.predicted].sort((one, other) => other.length - one.length);
    const differing = said[0].filter((label, step) => label !== said[1][step]).length;
    const [single, several] = { text: ["output step", "output steps"], tags: ["tag", "tags"] }[left.answer.kind] ?? [
      "answer",
      "answers",
    ];
    const same = left.answer.kind === "text" ? "same output" : `same ${left.answer.kind === "tags" ? several : single}`;
    this.outputs.textContent =
      differing === 0 ? same : `${differing} ${differing === 1 ? `${single} differs` : `${several} differ`}`;
    if (state.at === null) {
      this.notice.show("This model has no attention; what the two sides say is compared.", "hint");
      return;
    }
    const one = await this.grid(left, state.at, state.head, "left");
    const other = await this.grid(right, state.rightAt ?? state.at, state.rightHead ?? state.head, "right");
    if (turn !== this.turn) return;
    this.pair = [one, other];
    if (other && other.meta.address !== state.at) this.right.score.textContent += ` · ${other.meta.address}`;
    const shown = (map) => map && { grid: map.grid, scale: state.scale, ...labelled(map.view, map.meta) };
    this.left.heat.show(shown(one), this.selected());
    this.right.heat.show(shown(other), this.selected());
    this.subtract(one, other);
  }

  subtract(one, other) {
    const missing = !one ? "left" : !other ? "right" : null;
    const problem = missing
      ? `the ${missing} model has no attention of this kind; choose another address`
      : this.unlike(one, other);
    this.third.hidden = problem !== null;
    if (problem !== null) {
      this.notice.show(problem, "hint");
      this.apart.show(null, null);
      return;
    }
    this.notice.clear();
    const grid = one.grid.minus(other.grid);
    this.apart.show({ grid, scale: "linear", ...labelled(one.view, one.meta) }, this.selected());
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
    return `the maps have other shapes (${shapes}), so there is no difference to draw; ${where.join("; ")}`;
  }

  hover(cell, from, event) {
    for (const heat of this.heats) {
      heat.hovered = cell;
      heat.point();
    }
    this.status.point(cell && this.pair ? this.sentence(cell) : "");
    if (event) this.explorer.painted("paint-hover", event.timeStamp);
  }

  sentence({ row, column }) {
    const [one, other] = this.pair;
    const inside = (map) => map && row < map.grid.rows && column < map.grid.columns;
    if (!inside(one)) return "";
    const value = one.grid.at(row, column);
    const told = cellSentence(one.view, one.meta, one.head, row, column, number(value));
    return inside(other)
      ? `${told}; right ${number(other.grid.at(row, column))}, difference ${signed(value - other.grid.at(row, column))}`
      : told;
  }

  choose({ row, column }, event) {
    const { meta, view } = this.explorer;
    const [rows, columns] = meta?.shape ?? [view.read.length, view.source.length];
    if (row < rows && column < columns) this.explorer.select({ row, column }, event);
  }
}
