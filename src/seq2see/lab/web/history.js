// What the numbers are now, what they were, and the browser's address in step with them.

import { read, start, write } from "seq2see/lab/numbers";

const SAME_EDIT = 900; // milliseconds: typing a number, or holding an arrow, is one edit
const SETTLED = 160; // browsers refuse pages that write their address too often
const KEPT = 200; // edits that can be undone

export class History {
  /** @param {(complaints: string[]) => void} onChange */
  constructor(onChange) {
    this.onChange = onChange;
    const { numbers, complaints } = read(location.hash);
    this.now = numbers;
    this.complaints = complaints;
    this.written = location.hash.slice(1);
    /** @type {import("seq2see/lab/numbers").Numbers[]} */
    this.past = [];
    /** @type {import("seq2see/lab/numbers").Numbers[]} */
    this.future = [];
    this.last = { what: "", time: 0 };
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
    addEventListener("hashchange", () => this.travel());
    addEventListener("pagehide", () => this.put());
  }

  // A link that is opened in the same page is an edit like any other.
  travel() {
    if (location.hash.slice(1) === this.written) return;
    this.written = location.hash.slice(1);
    const { numbers, complaints } = read(location.hash);
    this.change(numbers, "", complaints);
  }

  /** Edits of the same thing in a row are undone together. */
  change(changes, what = "", complaints = []) {
    const next = { ...this.now, ...changes };
    if (JSON.stringify(next) === JSON.stringify(this.now) && complaints.length === 0) return;
    const time = performance.now();
    if (!(what && what === this.last.what && time - this.last.time < SAME_EDIT)) this.past.push(this.now);
    this.past.splice(0, this.past.length - KEPT);
    this.last = { what, time };
    this.future = [];
    this.set(next, complaints);
  }

  set(next, complaints = []) {
    this.now = next;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.put(), SETTLED);
    this.onChange(complaints);
  }

  step(from, to) {
    const next = from.pop();
    if (!next) return;
    to.push(this.now);
    this.last = { what: "", time: 0 };
    this.set(next);
  }

  undo() {
    this.step(this.past, this.future);
  }

  redo() {
    this.step(this.future, this.past);
  }

  reset() {
    this.change({ ...start(), theme: this.now.theme });
  }

  put() {
    clearTimeout(this.timer);
    if (this.written === write(this.now)) return;
    this.written = write(this.now);
    history.replaceState(null, "", `#${this.written}`);
  }

  get link() {
    return `${location.href.split("#")[0]}#${write(this.now)}`;
  }
}
