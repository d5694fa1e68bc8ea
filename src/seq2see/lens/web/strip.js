// Tokens in a line, across or down: where each begins, how long it is, and which can be seen.

import { measure, shorten } from "seq2see/labels";

const LINE = 30; // height of a token when the line runs down
const GAP = 6;
const MOST = 58; // pixels between tokens
const PADDING = 9;

export class Strip {
  constructor(context, labels, down) {
    this.labels = labels;
    this.shown = labels.map((label) => shorten(label, 16));
    this.sizes = down
      ? labels.map(() => LINE - 4)
      : this.shown.map((label) => Math.max(30, measure(context, label) + 2 * PADDING));
    /** @type {number[]} */
    this.starts = [];
    this.gap = 0;
    this.natural = this.sizes.reduce((sum, size) => sum + size + GAP, GAP);
  }

  // Lines that are linked get the same length, so that what belongs together stays near.
  spread(total) {
    // Far apart, tokens no longer read as one line.
    const length = Math.min(total, this.natural + MOST * this.sizes.length);
    const gap = (length - this.natural + GAP * (this.sizes.length + 1)) / (this.sizes.length + 1);
    let place = (total - length) / 2 + gap;
    this.starts = this.sizes.map((size) => {
      const start = place;
      place += size + gap;
      return start;
    });
    this.gap = gap;
    return this;
  }

  centre(place) {
    return this.starts[place] + this.sizes[place] / 2;
  }

  // First token that ends after the position; tokens are in order, so halving finds it.
  after(position) {
    let low = 0;
    let high = this.starts.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.starts[middle] + this.sizes[middle] < position) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  seen(from, to) {
    return [this.after(from), Math.min(this.starts.length, this.after(to) + 1)];
  }

  find(position) {
    const place = this.after(position - this.gap / 2);
    return place < this.starts.length && position >= this.starts[place] - this.gap / 2 ? place : null;
  }
}
