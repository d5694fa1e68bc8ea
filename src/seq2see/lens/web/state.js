// The whole state of the page, and its readable form behind the # of the page's address.

import { readEdits, readHome, writeEdits, writeHome } from "seq2see/edits";
import { awayFrom, homeOf } from "seq2see/suspended";

/**
 * @typedef {{model: string, text: string | null, features: string, into: string, target: string | null,
 *   targetFor: import("seq2see/edits").Home | null, beam: number, words: boolean,
 *   edits: import("seq2see/edits").EditOf[], plain: boolean, view: string, at: string | null,
 *   head: number | "mean", step: number, row: number, column: number, draw: string, scale: string, sort: string,
 *   left: string, right: string, other: string, otherInto: string, rightAt: string | null, rightHead: number | "mean" | null,
 *   theme: "light" | "dark" | null}} State
 */

export const VIEWS = ["translate", "atlas", "map", "beam", "edit", "compare"];
export const SUMMARIES = [
  ...["entropy", "first", "last", "diagonality", "distance", "coverage"],
  ...["previous", "itself", "next", "special", "same"],
];
export const DRAWN = ["weights", "rollout", "gradient", "occlusion"];
export const SCALES = ["linear", "root", "relative"];
export const SIDES = ["plain", "edited", "model", "text", "target"];

// What the server must be asked again for.
/** @type {(keyof State)[]} */
export const ASKED = ["model", "text", "features", "into", "target", "targetFor", "beam", "words", "edits", "plain"];

/** The part of a state that is asked for. @param {State} state @returns {Partial<State>} */
export const askedOf = (state) => Object.fromEntries(ASKED.map((key) => [key, state[key]]));

const text = (initial) => ({ initial, read: (value) => value, write: (value) => value });

const number = (initial, least = 0) => ({
  initial,
  read(value) {
    if (!/^\d{1,6}$/.test(value) || Number(value) < least) throw new Error(`not a number from ${least}`);
    return Number(value);
  },
  write: String,
});

const choice = (list, initial) => ({
  initial,
  read(value) {
    if (!list.includes(value)) throw new Error(`not one of ${list.join(", ")}`);
    return value;
  },
  write: String,
});

const flag = { initial: false, read: (value) => value === "1" || value === "yes", write: () => "1" };
const heads = { initial: "mean", read: (value) => (value === "mean" ? value : number(0).read(value)), write: String };
const edits = {
  initial: [],
  read: readEdits,
  write: (value, state) => writeEdits(value, (edit) => awayFrom(edit, state)),
  raw: true,
};
// Written only where it is not what is asked for.
const home = {
  initial: null,
  read: (value) => readHome(value.split(":").map(decodeURIComponent)),
  write(value, state) {
    const parts = writeHome(value);
    return parts.join() === writeHome(homeOf(state)).join() ? "" : parts.map(encodeURIComponent).join(":");
  },
  raw: true,
};

/** @type {Record<string, any>} */
const FIELDS = {
  model: text("a"),
  text: text(null),
  features: text(""),
  // Which of several targets is written; empty means the first.
  into: text(""),
  // An empty field means the model's own output.
  target: { ...text(null), read: (value) => value || null },
  targetFor: home,
  beam: number(1, 1),
  words: flag,
  edits,
  plain: flag,
  view: choice(VIEWS, "translate"),
  at: text(null),
  head: heads,
  step: number(0),
  row: number(0),
  column: number(0),
  draw: choice(DRAWN, "weights"),
  scale: choice(SCALES, "linear"),
  sort: choice(["layer", ...SUMMARIES], "layer"),
  left: choice(SIDES, "plain"),
  right: choice(SIDES, "edited"),
  other: text(""),
  otherInto: text(""),
  rightAt: text(null),
  rightHead: { ...heads, initial: null },
  theme: choice(["light", "dark"], null),
};

export const KEYS = /** @type {(keyof State)[]} */ (Object.keys(FIELDS));

export function initial() {
  return /** @type {State} */ (Object.fromEntries(KEYS.map((key) => [key, FIELDS[key].initial])));
}

// encodeURIComponent hides too much for a line that people read and send to each other.
const readable = (value) =>
  encodeURIComponent(value.toWellFormed()).replace(/%20/g, "+").replace(/%2C/g, ",").replace(/%3A/g, ":");

/** @param {State} state */
export function write(state) {
  const parts = [];
  for (const key of KEYS) {
    const field = FIELDS[key];
    const value = state[key];
    if (value === null || JSON.stringify(value) === JSON.stringify(field.initial)) continue;
    const written = field.write(value, state);
    if (!field.raw) parts.push(`${key}=${readable(written)}`);
    else if (written) parts.push(`${key}=${written}`);
  }
  return parts.join("&");
}

/** @param {string} hash */
export function read(hash) {
  /** @type {State & Record<string, any>} */
  const state = initial();
  const complaints = [];
  for (const part of hash.replace(/^#/, "").split("&").filter(Boolean)) {
    const cut = part.indexOf("=");
    const key = cut < 0 ? part : part.slice(0, cut);
    const raw = cut < 0 ? "" : part.slice(cut + 1);
    const field = FIELDS[key];
    try {
      if (!Object.hasOwn(FIELDS, key)) throw new Error("not known here");
      state[key] = field.read(field.raw ? raw : decodeURIComponent(raw.replace(/\+/g, " ")));
    } catch (error) {
      complaints.push(`“${part.slice(0, 32)}” in the address was left out: ${error.message}`);
    }
  }
  return { state, complaints };
}
