// What is selected and what the pointer is over, in words.

import { subject } from "seq2see/answers";
import { element } from "seq2see/element";
import { columnLabels, isolated, number } from "seq2see/labels";

const RESTED = 150; // milliseconds
const rest = (time) => new Promise((done) => setTimeout(done, time));

export function cellSentence(view, meta, head, row, column, value) {
  const who = `${head === "mean" ? "mean of the heads" : `head ${head}`} of ${meta.address}`;
  const strange = meta.columns === "source" && view.unknown.includes(column) ? " (not known)" : "";
  const looks = `looks at ${isolated(columnLabels(view, meta)[column])}${strange} with ${value}, ${who}`;
  if (meta.rows === "target") return `${subject(view, row)} ${looks}`;
  return `place ${row}: ${isolated(view.source[row])} ${looks}`;
}

export class Status {
  constructor(explorer) {
    this.explorer = explorer;
    this.turn = 0;
    this.said = element("span", { id: "status", role: "status", "aria-live": "polite" });
    this.pointer = element("span", { id: "pointer", "aria-hidden": "true" });
    this.element = element("footer", { class: "status" }, this.said, this.pointer);
    explorer.watch((changed) => this.update(changed));
  }

  async update(changed) {
    if (!["shown", "problem", "view", "draw", "at", "head", "step", "row", "column"].some((key) => changed.has(key)))
      return;
    const { shown } = this.explorer;
    const turn = ++this.turn;
    this.element.classList.toggle("missing", !shown);
    if (!shown) return;
    const { handle, view, meta, state, row } = shown;
    // The first view of an image tells what it draws.
    if (view.picture && state.view === "translate") return;
    // What the map draws besides weights it tells itself.
    if (state.view === "map" && (!meta || state.draw !== "weights")) return;
    this.point("");
    if (!meta) {
      this.say(subject(view, state.step).replace(/,$/, ""));
      return;
    }
    try {
      // Compare fetches its maps on lanes of its own; waiting for them saves asking twice.
      if (state.view === "compare" && !this.explorer.weights.cached(handle, meta.address, state.head))
        await rest(RESTED);
      if (turn !== this.turn) return;
      const grid = await this.explorer.weights.grid(handle, meta.address, state.head);
      if (turn !== this.turn || row >= grid.rows) return;
      const told = cellSentence(view, meta, state.head, row, state.column, number(grid.at(row, state.column)));
      this.say(state.view === "translate" ? told + this.strongest(shown, grid) : told);
    } catch {
      // The view that shows the map says what went wrong.
      if (turn === this.turn) this.say("");
    }
  }

  // Where whole rows are walked through, the place that matters most is seldom the one selected.
  strongest({ view, meta, row, state }, grid) {
    const weights = grid.row(row);
    const best = weights.indexOf(weights.reduce((high, weight) => Math.max(high, weight), 0));
    if (best === state.column || best < 0) return "";
    return `; most at ${isolated(columnLabels(view, meta)[best])} with ${number(weights[best])}`;
  }

  say(sentence) {
    if (this.said.textContent !== sentence) this.said.textContent = sentence;
  }

  // Follows the pointer many times a second, so it is not read aloud.
  point(sentence) {
    if (this.pointer.textContent !== sentence) this.pointer.textContent = sentence;
    this.element.classList.toggle("pointing", sentence !== "");
  }
}
