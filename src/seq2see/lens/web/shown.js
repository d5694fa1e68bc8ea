// What is on the screen: a view of a model, the state that it was asked with, and what is selected in it.

import { askedOf } from "seq2see/state";
import { active } from "seq2see/suspended";

/** @typedef {import("seq2see/state").State} State */
/** @typedef {import("seq2see/store").Handle} Handle */
/** @typedef {import("seq2see/store").MapOf} MapOf */
/** @typedef {import("seq2see/store").Model} Model */

export class Shown {
  /**
   * @param {Handle} handle
   * @param {Model} model
   * @param {State} state As it was asked for.
   */
  constructor(handle, model, state) {
    this.handle = handle;
    this.model = model;
    this.state = state;
    this.view = handle.answer;
  }

  /** The same view, with the selection of a newer state. @param {State} state */
  under(state) {
    return new Shown(this.handle, this.model, { ...state, ...askedOf(this.state) });
  }

  /** @returns {MapOf | null} */
  get meta() {
    return this.view.maps.find((map) => map.address === this.state.at) ?? null;
  }

  /** The selected row of a map: a step of the output, or a place in the source. @param {{rows: string}} meta */
  rowOf(meta) {
    return meta.rows === "target" ? this.state.step : this.state.row;
  }

  get row() {
    return this.meta ? this.rowOf(this.meta) : this.state.step;
  }

  /** What is seen, in words. @param {boolean} several Whether there are other models. */
  words(several) {
    const on = active(this.state, this.model).length;
    const told = [
      `“${this.state.text}”`,
      several && `model ${this.model.name}`,
      on > 0 && `with ${on} ${on === 1 ? "edit" : "edits"}`,
    ];
    return told.filter(Boolean).join(", ");
  }

  /** What a state selects may not exist here: the nearest thing that does. @param {State} state */
  nearest(state) {
    const { maps, read, source } = this.view;
    const meta = maps.find((map) => map.address === state.at) ?? this.usual;
    const within = (value, size) => Math.max(0, Math.min(value, size - 1));
    const step = within(state.step, read.length);
    if (!meta) return { step };
    const rows = meta.rows === "target" ? source.length : meta.shape[0];
    const head = state.head === "mean" || state.head < meta.heads ? state.head : /** @type {const} */ ("mean");
    return {
      step,
      at: meta.address,
      head,
      row: within(state.row, rows),
      column: within(state.column, meta.shape[1]),
    };
  }

  /** @returns {MapOf | null} */
  get usual() {
    const cross = this.view.maps.filter((map) => map.rows === "target" && map.columns === "source");
    // The last layer is what an answer is made of; a text is read from the first on.
    return cross.at(-1) ?? this.view.maps.at(this.view.picture ? -1 : 0) ?? null;
  }
}
