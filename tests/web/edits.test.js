// Edits are read from what people write, told in words, and suspended where they would mean something else.

import assert from "node:assert/strict";
import { test } from "node:test";
import { blame } from "seq2see/blame";
import { KINDS, readEdit, readEdits, sentence, texts, writeEdits } from "seq2see/edits";
import { toggled } from "seq2see/places";
import { initial } from "seq2see/state";
import { active, homeOf, requestOf, settledIn, suspension, targetSuspension } from "seq2see/suspended";

const FIELDS = {
  at: "decoder.*.cross",
  heads: "0, 2",
  how: "mean",
  count: "2",
  value: "0.5",
  step: "1",
  places: "0,3",
  token: "7",
  text: "bam",
  model: "b",
  from: "decoder.cross",
  head: "1",
  block: "encoder.1.0",
};
const ADDRESSES = [
  { address: "decoder.0.cross", heads: 4 },
  { address: "decoder.1.cross", heads: 4 },
];
const WRITER = {
  name: "a",
  run: "",
  about: "",
  addresses: ADDRESSES,
  features: false,
  targets: [],
  reads: true,
  writes: true,
  attributions: [],
  images: false,
  names: [],
  blocks: [],
};
const OTHER = { ...WRITER, name: "b", addresses: [{ address: "decoder.cross", heads: 1 }] };

const settled = (state) => ({ ...state, ...settledIn(state) });
const asked = (edits, more = {}) => settled({ ...initial(), model: "a", text: "dost", edits, ...more });

test("every kind is read, written and told", () => {
  for (const kind of Object.keys(KINDS)) {
    const edit = readEdit(kind, FIELDS);
    assert.deepEqual(readEdit(kind, texts(edit)), edit);
    assert.deepEqual(readEdits(writeEdits([edit, { ...edit, on: false }], () => null)), [edit, { ...edit, on: false }]);
    assert.ok(sentence(edit).length > 5);
  }
});

test("clicks on places of an image are one edit, and a second click takes a place back", () => {
  const shown = { state: asked([], { head: 1 }), meta: { address: "decoder.cross" }, row: 2 };
  const home = { model: "a", text: "dost", features: "" };
  const hidden = toggled(toggled([], "hide", 9, shown), "hide", 4, shown);
  assert.deepEqual(hidden, [{ kind: "hide", places: [4, 9], home }]);
  const pinned = toggled(hidden, "pin", 4, shown);
  assert.deepEqual(pinned[1], { kind: "pin", at: "decoder.cross", heads: [1], step: 2, places: [4], home });
  assert.deepEqual(toggled(toggled(pinned, "hide", 9, shown), "hide", 4, shown), [pinned[1]]);
  assert.equal(suspension(hidden[0], asked(hidden, { text: "other" }), WRITER), "made for “dost”");
  const skip = { kind: "skip", block: "encoder.1.0" };
  assert.equal(suspension(skip, asked([skip]), WRITER), "this model has no such block");
  assert.equal(suspension(skip, asked([skip]), { ...WRITER, blocks: ["encoder.1.0"] }), null);
});

test("what is wrong is said", () => {
  assert.throws(() => readEdit("top", { ...FIELDS, count: "0" }), /at least 1/);
  assert.throws(() => readEdit("pin", { ...FIELDS, places: "" }), /at least one number/);
  assert.throws(() => readEdit("off", { ...FIELDS, at: "a b" }), /not an address/);
  assert.throws(() => readEdit("temperature", { ...FIELDS, value: "0" }), /above 0/);
  assert.throws(() => readEdit("constructor", FIELDS), /no kind of edit/);
});

test("places, steps and tokens belong to a text of a model, and come back with it", () => {
  for (const kind of ["pin", "block", "force"]) {
    const here = asked([readEdit(kind, FIELDS)]);
    assert.equal(suspension(here.edits[0], here, WRITER), null);
    const elsewhere = settled({ ...here, text: "bam" });
    assert.equal(suspension(here.edits[0], elsewhere, WRITER), "made for “dost”");
    assert.deepEqual(requestOf(elsewhere, WRITER).edits, []);
    const otherModel = settled({ ...here, model: "b" });
    assert.equal(suspension(here.edits[0], otherModel, OTHER), "made for model a");
    assert.deepEqual(active(settled({ ...elsewhere, text: "dost" }), WRITER), [0]);
  }
});

test("heads are suspended only in a model that has none such", () => {
  const here = asked([
    readEdit("off", { at: "decoder.1.cross", heads: "3", how: "zero" }),
    readEdit("hard", { at: "*" }),
  ]);
  assert.deepEqual(active(settled({ ...here, text: "bam" }), WRITER), [0, 1]);
  assert.deepEqual(active(settled({ ...here, model: "b" }), OTHER), [1]);
  // Made for this very model, it goes to the server, which says what is wrong.
  assert.deepEqual(active(asked([readEdit("hard", { at: "decoder.9.cross" })]), WRITER), [0]);
});

test("another source has other places", () => {
  const block = readEdit("block", FIELDS);
  const here = asked([block]);
  const reworded = settled({ ...here, edits: [...here.edits, readEdit("source", { text: "bam" })] });
  assert.equal(homeOf(reworded).text, "bam");
  assert.deepEqual(active(reworded, WRITER), [1]);
});

test("a given target stays with its text, and a model that reads is forced to nothing", () => {
  const here = asked([readEdit("force", FIELDS)], { target: "k" });
  assert.equal(requestOf(here, WRITER).target, "k");
  assert.equal(targetSuspension(settled({ ...here, text: "bam" }), WRITER), "made for “dost”");
  const reader = { ...WRITER, writes: false };
  assert.deepEqual(requestOf(here, reader).edits, []);
  assert.equal(requestOf(here, reader).target, null);
});

test("edits that are off or left out are not asked for, and nothing but an edit is sent", () => {
  const here = asked([{ ...readEdit("hard", { at: "*" }), on: false }, readEdit("hard", { at: "*" })]);
  assert.deepEqual(requestOf(here, WRITER).edits, [{ kind: "hard", at: "*", heads: null }]);
  assert.deepEqual(requestOf({ ...here, plain: true }, WRITER).edits, []);
});

test("the edit to blame is found among many", async () => {
  const fine = readEdit("hard", { at: "*" });
  const bad = readEdit("hard", { at: "decoder.9.cross" });
  const ask = async ({ edits }) => {
    if (edits.some((edit) => edit.at === bad.at)) throw new Error("refused");
  };
  for (const place of [0, 3, 6]) {
    const edits = Array.from({ length: 7 }, (_, here) => (here === place ? bad : fine));
    assert.equal(await blame(asked([{ ...fine, on: false }, ...edits]), WRITER, ask), place + 1);
  }
  const always = async () => {
    throw new Error("refused");
  };
  assert.equal(await blame(asked([fine]), WRITER, always), null);
});

test("a target is asked of a model that has it, and the first of any other", () => {
  const state = asked([], { into: "fr" });
  assert.equal(requestOf(state, { ...WRITER, targets: ["de", "fr"] }).into, "fr");
  assert.equal(requestOf(state, WRITER).into, "");
});
