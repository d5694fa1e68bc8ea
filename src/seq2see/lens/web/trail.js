// Keeps the state and the browser's address in step, so that back, forward and shared links work.

import { KEYS, read, write } from "seq2see/state";

// Going back should undo a decision, not every step of a pointer; these are the decisions.
const DECISIONS = new Set([
  "model",
  "text",
  "features",
  "into",
  "target",
  "beam",
  "words",
  "edits",
  "plain",
  "view",
  "at",
  "head",
  "draw",
  "left",
  "right",
  "other",
  "otherInto",
  "rightAt",
  "rightHead",
]);
const FLOWING = new Set(["text", "features", "target", "head", "at"]);
const SAME_DECISION = 900; // milliseconds: typing and holding a key are one decision
const SETTLED = 160; // browsers refuse pages that write their address too often

export class Trail {
  constructor(onTravel) {
    const { state, complaints } = read(location.hash);
    this.state = state;
    this.complaints = complaints;
    this.last = { kind: "", time: 0 };
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
    const travelled = () => this.travel(onTravel);
    addEventListener("popstate", travelled);
    addEventListener("hashchange", travelled);
  }

  travel(onTravel) {
    if (location.hash.slice(1) === this.written) return;
    clearTimeout(this.timer);
    const { state, complaints } = read(location.hash);
    const changed = this.differing(state);
    this.state = state;
    this.written = location.hash.slice(1);
    this.complaints = complaints;
    onTravel(changed, complaints);
  }

  differing(state) {
    return new Set(KEYS.filter((key) => JSON.stringify(state[key]) !== JSON.stringify(this.state[key])));
  }

  change(changes) {
    const next = { ...this.state, ...changes };
    const changed = this.differing(next);
    if (changed.size === 0) return changed;
    const kind = [...changed].filter((key) => DECISIONS.has(key)).join();
    const now = performance.now();
    const continued = FLOWING.has(kind) && kind === this.last.kind && now - this.last.time < SAME_DECISION;
    const decided = kind && !continued;
    // The entry that is left behind should hold the last step looked at.
    if (decided && this.timer !== undefined) this.put("replaceState");
    this.state = next;
    if (decided) this.put("pushState");
    else this.later();
    if (kind) this.last = { kind, time: now };
    return changed;
  }

  // What the page itself corrected is no decision of the reader.
  correct(changes) {
    this.state = { ...this.state, ...changes };
    this.later();
  }

  later() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.put("replaceState"), SETTLED);
  }

  put(way) {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.written = write(this.state);
    history[way](null, "", `#${this.written}`);
  }

  get link() {
    return `${location.href.split("#")[0]}#${write(this.state)}`;
  }
}
