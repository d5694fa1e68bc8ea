// What is shown keeps the state that it was asked with, whatever is asked later.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Shown } from "seq2see/shown";
import { initial } from "seq2see/state";

const MAP = { address: "decoder.1.cross", heads: 2, rows: "target", columns: "source", shape: [3, 5] };
const SELF = { address: "encoder.0.self", heads: 2, rows: "source", columns: "source", shape: [5, 5] };
const VIEW = { maps: [SELF, MAP], read: ["<s>", "a", "b"], source: [..."dost", "<end>"] };
const MODEL = { name: "a", addresses: [MAP], writes: true };
const state = { ...initial(), model: "a", text: "dost", at: "decoder.1.cross" };
const shown = new Shown({ request: {}, answer: VIEW }, MODEL, state);

test("a newer state changes the selection, not the subject", () => {
  const later = shown.under({ ...state, text: "bam", step: 2, edits: [{ kind: "hard", at: "*" }] });
  assert.equal(later.state.text, "dost");
  assert.deepEqual(later.state.edits, []);
  assert.equal(later.row, 2);
  assert.equal(later.words(true), "“dost”, model a");
});

test("what does not exist is replaced by the nearest thing that does", () => {
  const far = { ...state, at: "nope", head: 9, step: 99, row: 99, column: 99 };
  assert.deepEqual(shown.nearest(far), { step: 2, at: "decoder.1.cross", head: "mean", row: 4, column: 4 });
  const blind = new Shown({ request: {}, answer: { ...VIEW, maps: [] } }, MODEL, state);
  assert.deepEqual(blind.nearest(far), { step: 2 });
  assert.equal(blind.meta, null);
});
