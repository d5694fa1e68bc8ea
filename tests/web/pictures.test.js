// What pictures are made of: labels, lines of tokens, grids of numbers, trees; and lanes that carry one request.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Grid } from "seq2see/grid";
import { fit, number, shorten, signed, visible } from "seq2see/labels";
import { isStale, Lane, Recent } from "seq2see/lane";
import { Strip } from "seq2see/strip";
import { Tree } from "seq2see/tree";

const context = { font: "12px", measureText: (text) => ({ width: 7 * text.length }) };

test("labels are visible and short", () => {
  assert.equal(visible("a b\n"), "a␣b⏎");
  assert.equal(visible(""), "∅");
  assert.equal(visible("\u0007"), "�");
  assert.equal(visible("\u0301"), "◌\u0301");
  assert.equal(shorten("abcdefghij", 5), "ab…ij");
  assert.equal(shorten("👩‍👩‍👧👩‍👩‍👧", 3), "👩‍👩‍👧👩‍👩‍👧");
  assert.equal(fit(context, "abcdefghij", 35), "ab…ij");
});

test("numbers keep their sign and never round to nothing", () => {
  assert.equal(number(0.001), "<0.01");
  assert.equal(number(-0.001), "−0.00");
  assert.equal(number(-1.5), "−1.50");
  assert.equal(number(null), "–");
  assert.equal(signed(2), "+2.00");
});

test("a token is found where it lies", () => {
  const strip = new Strip(context, ["a", "long word", "b"], false).spread(400);
  for (const place of [0, 1, 2]) assert.equal(strip.find(strip.centre(place)), place);
  assert.equal(strip.find(-50), null);
  assert.deepEqual(strip.seen(-10, 1000), [0, 3]);
  assert.equal(strip.natural, 30 + (63 + 18) + 30 + 4 * 6);
});

test("a grid knows its rows, columns and extent", () => {
  const grid = new Grid(2, 3, new Uint8Array([0, 51, 255, 102, 0, 0]), 1 / 255);
  assert.equal(grid.at(0, 2), 1);
  assert.deepEqual(
    [...grid.column(0)].map((value) => Number(value.toFixed(2))),
    [0, 0.4],
  );
  assert.equal(grid.limit("relative"), 1);
  assert.equal(grid.share(0.25, "root"), 0.5);
  assert.equal(grid.pooled(2).columns, 2);
  const apart = grid.minus(new Grid(2, 3, new Uint8Array(6).fill(51), 1 / 255));
  assert.ok(apart.signed);
  assert.throws(() => new Grid(2, 2, new Uint8Array(3), 1), /came with 3 values/);
});

test("the best path of a tree is a straight line", () => {
  const node = (id, parent, step, state, log_probability) => ({
    id,
    parent,
    step,
    state,
    log_probability,
    token: id,
    label: `t${id}`,
  });
  const tree = new Tree([
    node(0, null, 0, "best", 0),
    node(1, 0, 1, "kept", -0.5),
    node(2, 0, 1, "best", -1),
    node(3, 1, 2, "pruned", -3),
    node(4, 2, 2, "best", -1.5),
  ]);
  assert.deepEqual(
    tree.nodes.filter((one) => one.state === "best").map((one) => one.place),
    [0, 0, 0],
  );
  assert.deepEqual(
    tree.path(tree.nodes[4]).map((one) => one.id),
    [0, 2, 4],
  );
  assert.equal(tree.next(tree.nodes[0], "ArrowRight")?.id, 2);
  assert.equal(tree.next(tree.nodes[2], "ArrowUp")?.id, 1);
  assert.equal(tree.next(tree.nodes[0], "ArrowLeft"), null);
});

test("a newer request sends the older home", async () => {
  const lane = new Lane();
  const waits = (signal) =>
    new Promise((done, fail) => {
      signal.addEventListener("abort", () => fail(new DOMException("", "AbortError")));
      setTimeout(done, 20, "done");
    });
  const older = lane.run("one", waits).catch((error) => error);
  assert.equal(await lane.run("two", waits), "done");
  assert.ok(isStale(await older));
  assert.equal(lane.running, null);
});

test("only the recent are kept", () => {
  const recent = new Recent(2);
  recent.set("a", 1);
  recent.set("b", 2);
  recent.get("a");
  recent.set("c", 3);
  assert.deepEqual([recent.get("a"), recent.get("b"), recent.get("c")], [1, undefined, 3]);
});
