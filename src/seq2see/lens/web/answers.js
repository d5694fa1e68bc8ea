// What a model answers with, in words: a text that it writes, a class, labels, a number, a tag for each word, or what fills each gap.

import { number, visible } from "seq2see/labels";

export const writes = (view) => view.kind === "text";

/** Whether source and output are one text, as they are for a decoder alone. @param {{source: string[], read: string[]}} view */
export const readsItself = (view) => view.source.join("\0") === view.read.join("\0");

// Whether there is one answer to the whole text, rather than one for each token or word.
export const isOne = (view) => ["class", "labels", "number"].includes(view.kind);

const TITLES = {
  text: "Output, step by step",
  class: "Class",
  labels: "Labels",
  number: "Number",
  tags: "Tags, word by word",
  gaps: "Gaps, one by one",
};

export const titleOf = (view) => TITLES[view.kind];

export function candidatesTitle(view, step) {
  if (view.kind === "text") return `Candidates at step ${step}`;
  if (view.kind === "tags") return `Tags for “${visible(view.read[step])}”`;
  if (view.kind === "gaps") return `Candidates for ${visible(view.read[step])}`;
  return view.kind === "labels" ? "How likely each label is" : "How likely each class is";
}

// One answer of a view, as the subject of a sentence.
export function subject(view, row) {
  const said = `\u2068${visible(view.predicted[row])}\u2069`;
  const read = `\u2068${visible(view.read[row])}\u2069`;
  if (view.kind === "text") return `step ${row}: read ${read}, predicted ${said},`;
  if (view.kind === "gaps") return `${read}, filled with ${said},`;
  return view.kind === "tags" ? `word ${row}: ${read}, tagged ${said},` : `the answer ${said}`;
}

// How sure the whole answer is, or the interval of a number.
export function sureness(view) {
  const parts = [];
  const all = isOne(view) ? "" : " in all";
  if (view.log_probability !== null) parts.push(`log-probability ${number(view.log_probability, 3)}${all}`);
  if (view.note) parts.push(view.note);
  return parts;
}
