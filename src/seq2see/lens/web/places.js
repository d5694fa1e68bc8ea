// Edits that a click on an image makes: a place is hidden, blocked or pinned, and at the next click no longer.

import { homeOf } from "seq2see/suspended";

/** @typedef {import("seq2see/edits").EditOf} EditOf */
/** @typedef {import("seq2see/shown").Shown} Shown */

export const CLICKS = ["look", "hide", "block", "pin"];

/** The edit that a click of some kind changes, without its places. @param {string} kind @param {Shown} shown */
function made(kind, { state, meta, row }) {
  const heads = state.head === "mean" ? null : [state.head];
  const home = homeOf(state);
  if (kind === "hide") return { kind, places: [], home };
  const at = meta?.address;
  return kind === "block" ? { kind, at, heads, places: [], home } : { kind, at, heads, step: row, places: [], home };
}

/** Whether two edits differ in their places alone. @param {EditOf} one @param {EditOf} other */
const alike = (one, other) =>
  one.on !== false && JSON.stringify({ ...one, places: [] }) === JSON.stringify({ ...other, places: [] });

/**
 * Edits after a click on a place.
 * @param {EditOf[]} edits
 * @param {string} kind
 * @param {number} place
 * @param {Shown} shown
 */
export function toggled(edits, kind, place, shown) {
  const blank = made(kind, shown);
  const here = edits.findIndex((edit) => alike(edit, blank));
  const before = edits[here]?.places ?? [];
  const places = before.includes(place)
    ? before.filter((one) => one !== place)
    : [...before, place].sort((one, other) => one - other);
  const next = { ...blank, places };
  if (here < 0) return [...edits, next];
  return places.length > 0 ? edits.with(here, next) : edits.filter((_, other) => other !== here);
}
