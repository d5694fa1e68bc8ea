// The worked example: its arithmetic, the words for it, and the address that holds it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { harden, project, seenBy, soften, work } from "seq2see/lab/arithmetic";
import { explain, shown } from "seq2see/lab/explain";
import { numberOf, read, sized, start, write } from "seq2see/lab/numbers";

const near = (found, wanted) => {
  assert.equal(found.length, wanted.length);
  for (const [place, value] of wanted.entries())
    assert.ok(Math.abs(found[place] - value) < 1e-12, `${found} ${wanted}`);
};

test("the lecture's numbers come out", () => {
  const { q, k, v, heads, outputs } = work(start());
  assert.deepEqual(q[1], [4, 35]);
  assert.deepEqual(k, [
    [1, 30],
    [3, 24],
    [6, -12],
  ]);
  assert.deepEqual(v[0], [23, 46]);
  assert.deepEqual(heads[0].scores[1], [1054, 852, -396]);
  assert.deepEqual(heads[0].weights[1], [1, 0, 0]);
  assert.deepEqual(outputs[1], [23, 46]);
});

test("a matrix multiplies from the left", () => {
  assert.deepEqual(project([[1, 10]], [[1, 2], [3, 4]]), [[21, 43]]); // biome-ignore format: as it is written by hand
});

test("softmax and argmax see what they may, and nothing gives zeros", () => {
  near(soften([0, Math.log(3)], [true, true]), [0.25, 0.75]);
  near(soften([1000, 0], [false, true]), [0, 1]);
  near(soften([1e6, -1e6], [true, true]), [1, 0]);
  near(soften([1, 2], [false, false]), [0, 0]);
  assert.deepEqual(harden([2, 5, 5], [true, true, true]), [0, 1, 0]);
  assert.deepEqual(harden([9, 5], [false, true]), [0, 1]);
  assert.deepEqual(harden([1, 2], [false, false]), [0, 0]);
});

test("causal and padding together leave the first query nothing", () => {
  assert.deepEqual(seenBy(2, true, []), [
    [true, false],
    [true, true],
  ]);
  const { outputs, heads } = work({ ...start(), causal: true, padded: [1], choose: "softmax" });
  assert.deepEqual(outputs[0], [0, 0]);
  assert.deepEqual(heads[0].weights[1], [0, 1, 0]);
  assert.deepEqual(outputs[1], [25, 39]);
});

test("two heads share the width, and the scale is that of a head", () => {
  const two = { ...start(), heads: /** @type {2} */ (2), scale: /** @type {"root"} */ ("root") };
  const { heads, divisor } = work(two);
  assert.equal(divisor, 1);
  assert.deepEqual(heads[0].scores[1], [4, 12, 24]);
  assert.deepEqual(heads[1].scores[1], [35 * 30, 35 * 24, 35 * -12]);
  assert.deepEqual(work(two).outputs[1], [10, 46], "v3 for the first head, v1 for the second");
  assert.equal(work(sized(two, 3, 4)).divisor, Math.SQRT2);
});

test("the arithmetic of a cell is written out, with the cells that it is made of", () => {
  const numbers = start();
  const said = (matrix, row, column, more = {}) => {
    const changed = { ...numbers, ...more };
    return explain({ matrix, row, column }, changed, work(changed));
  };
  assert.equal(said("scores1", 1, 0).text, "q2 · k1: 4·1 + 35·30 = 1054");
  assert.equal(said("scores1", 1, 2).text, "q2 · k3: 4·6 + 35·(−12) = −396");
  assert.deepEqual(said("scores1", 1, 0).uses, [
    { matrix: "q", row: 1, column: 0 },
    { matrix: "q", row: 1, column: 1 },
    { matrix: "k", row: 0, column: 0 },
    { matrix: "k", row: 0, column: 1 },
  ]);
  assert.match(said("scores1", 1, 0, { scale: "root" }).text, /= 1054 \/ 1\.4142 ≈ 745\.3$/);
  assert.match(said("scores1", 0, 1, { causal: true }).text, /may not see position 2/);
  assert.equal(said("q", 1, 1).text, "q2, entry 2: row 2 of Wq times h2: 2·4 + 9·3 = 35");
  assert.match(said("weights1", 1, 0).text, /1, since 1054 is the highest of 1054, 852, −396/);
  assert.match(said("weights1", 1, 1, { choose: "softmax" }).text, /e\^852 \/ \(e\^1054 .* ≈ 1\.9·10⁻⁸⁸$/);
  assert.match(said("weights1", 0, 1, { padded: [1, 2, 3] }).text, /may see nothing/);
  assert.equal(said("outputs", 1, 0).text, "h2′, entry 1: 1·23 + 0·25 + 0·10 = 23");
  assert.match(said("Wq", 0, 1).text, /row 1, column 2: 0/);
});

test("numbers are whole where they are, and small ones do not vanish", () => {
  assert.equal(shown(0.1 + 0.2), "0.3");
  assert.equal(shown(-12), "−12");
  assert.equal(shown(1 / 3), "0.3333");
  assert.equal(shown(2e-9), "2.0·10⁻⁹");
  assert.equal(shown(-Infinity), "−∞");
});

test("what is written is read again, and the start is an empty address", () => {
  assert.equal(write(start()), "");
  const numbers = sized(
    { ...start(), scale: "root", causal: true, padded: [2], choose: "softmax", theme: "dark" },
    5,
    4,
  );
  numbers.h[4][3] = -0.25;
  numbers.Wk[0][0] = 7;
  for (const one of [numbers, { ...numbers, heads: /** @type {2} */ (2) }, sized(start(), 2, 3)]) {
    const found = read(`#${write(one)}`);
    assert.deepEqual(found.complaints, []);
    assert.deepEqual(found.numbers, one);
  }
});

test("what makes no sense is left out with a sentence", () => {
  const { numbers, complaints } = read(
    "#h=1,2;3&Wq=1,2,3;4,5,6;7,8,9&Wk=9999,0;0,1&Wv=a,b;c,d&scale=2&heads=3&padded=9&zzz=1&__proto__=1&choose=%E0%A4%A",
  );
  assert.deepEqual(numbers, start());
  assert.equal(complaints.length, 10);
  assert.match(read("#h=1,2,3;4,5,6&heads=2").complaints[0], /cannot be split among 2 heads/);
  assert.equal(read("#h=1,2,3;4,5,6&heads=2").numbers.heads, 1);
  assert.deepEqual(read(`#h=${"1,".repeat(5000)}`).numbers, start());
  assert.deepEqual(read("#h=1,2;3,4&padded=1,3").numbers.padded, [1]);
});

test("a field takes numbers within bounds, of four decimals", () => {
  for (const text of ["", "x", "1001", "-1e9", "Infinity"]) assert.equal(numberOf(text), null);
  assert.equal(numberOf("1e2"), 100);
  assert.equal(numberOf("0.123456"), 0.1235);
  assert.ok(Object.is(numberOf("-0.00001"), 0));
});
