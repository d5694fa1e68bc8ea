// The whole state of the page, and its readable form behind the # of the page's address.

import { readEdits, writeEdits } from "seq2see/edits";

export const VIEWS = ["translate", "atlas", "map", "beam", "edit", "compare"];
export const SUMMARIES = ["entropy", "first", "last", "diagonality", "distance", "coverage"];
export const DRAWN = ["weights", "rollout", "gradient", "occlusion"];
export const SCALES = ["linear", "root", "relative"];
export const SIDES = ["plain", "edited", "model", "text"];

// What the server must be asked again for.
export const ASKED = ["model", "text", "features", "target", "beam", "words", "edits"];

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
const edits = { initial: [], read: readEdits, write: writeEdits, raw: true };

const FIELDS = {
  model: text("a"),
  text: text(null),
  features: text(""),
  target: text(null),
  beam: number(1, 1),
  words: flag,
  edits,
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
  rightAt: text(null),
  rightHead: { ...heads, initial: null },
  theme: choice(["light", "dark"], null),
};

export const KEYS = Object.keys(FIELDS);

export function initial() {
  return Object.fromEntries(Object.entries(FIELDS).map(([key, field]) => [key, field.initial]));
}

// encodeURIComponent hides too much for a line that people read and send to each other.
const readable = (value) => encodeURIComponent(value).replace(/%20/g, "+").replace(/%2C/g, ",").replace(/%3A/g, ":");

export function write(state) {
  const parts = [];
  for (const [key, field] of Object.entries(FIELDS)) {
    const value = state[key];
    if (value === null || JSON.stringify(value) === JSON.stringify(field.initial)) continue;
    parts.push(`${key}=${field.raw ? field.write(value) : readable(field.write(value))}`);
  }
  return parts.join("&");
}

export function read(hash) {
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
