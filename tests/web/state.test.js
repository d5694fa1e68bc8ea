// The page's address holds its whole state, and whatever it holds can be read.

import assert from "node:assert/strict";
import { test } from "node:test";
import { initial, KEYS, read, write } from "seq2see/state";
import { settledIn } from "seq2see/suspended";

test("what is written is read again", () => {
  const state = {
    ...initial(),
    text: "a&b=c #d+e",
    features: "V;PST",
    target: "x:y",
    beam: 4,
    view: "map",
    head: 2,
    rightHead: "mean",
    plain: true,
    edits: [
      { kind: "off", at: "decoder.*.cross", heads: [0, 1], how: "mean" },
      { kind: "source", text: "a~b:c", on: false },
      { kind: "borrow", at: "*", heads: null, model: "b", text: null, from: "decoder.cross", head: 3 },
    ],
  };
  const found = read(`#${write(state)}`);
  assert.deepEqual(found.complaints, []);
  assert.deepEqual(found.state, state);
});

test("what edits and a target were made for is written only where it is not what is asked", () => {
  const made = {
    ...initial(),
    model: "a",
    text: "phonograph",
    target: "F",
    edits: [{ kind: "force", step: 0, token: 21 }],
  };
  const here = { ...made, ...settledIn(made) };
  assert.equal(write(here), "text=phonograph&target=F&edits=force:0:21");
  const there = { ...here, text: "at" };
  const found = read(write(there)).state;
  assert.deepEqual(found.edits[0].home, { model: "a", text: "phonograph", features: "" });
  assert.deepEqual(found.targetFor, { model: "a", text: "phonograph", features: "" });
  assert.deepEqual({ ...found, ...settledIn(found) }, there);
});

test("what makes no sense is left out with a sentence", () => {
  const { state, complaints } = read(
    "#head=x&step=-1&view=zoo&beam=0&zzz=1&edits=zap:1&text=%E0%A4%A&edits=toString:1",
  );
  assert.deepEqual(state, initial());
  assert.equal(complaints.length, 8);
});

test("half a character in a text does not stop the address", () => {
  assert.match(write({ ...initial(), text: "a\ud800" }), /^text=a/);
  assert.ok(KEYS.includes("plain"));
});
