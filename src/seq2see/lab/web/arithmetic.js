// Self-attention on plain arrays, step by step. A matrix is a list of rows; a row of states is one position.

/** @typedef {number[][]} Matrix */
/**
 * @typedef {{scores: Matrix, weights: Matrix, outputs: Matrix}} Head
 * @typedef {{q: Matrix, k: Matrix, v: Matrix, seen: boolean[][], divisor: number, heads: Head[], outputs: Matrix}} Worked
 */

/** @param {number[]} one @param {number[]} other */
export const dot = (one, other) => one.reduce((sum, value, place) => sum + value * other[place], 0);

/** W h for the state h of each position. @param {Matrix} states @param {Matrix} weight @returns {Matrix} */
export const project = (states, weight) => states.map((state) => weight.map((row) => dot(row, state)));

/** Which keys each query may see: not those after it if `causal`, and none that is padding (counted from 1). */
export const seenBy = (positions, causal, padded) =>
  Array.from({ length: positions }, (_, query) =>
    Array.from({ length: positions }, (_, key) => !(causal && key > query) && !padded.includes(key + 1)),
  );

/** The softmax of the scores that may be seen; zeros where there are none. */
export function soften(scores, seen) {
  const highest = Math.max(...scores.filter((_, key) => seen[key]));
  const powers = scores.map((score, key) => (seen[key] ? Math.exp(score - highest) : 0));
  const sum = powers.reduce((total, power) => total + power, 0);
  return powers.map((power) => (sum > 0 ? power / sum : 0));
}

/** All weight on the highest score that may be seen, the first of several; zeros where there are none. */
export function harden(scores, seen) {
  const highest = Math.max(...scores.filter((_, key) => seen[key]));
  const chosen = scores.findIndex((score, key) => seen[key] && score === highest);
  return scores.map((_, key) => (key === chosen ? 1 : 0));
}

const columns = (matrix, from, to) => matrix.map((row) => row.slice(from, to));

/** One head of these queries, keys and values. @returns {Head} */
function attend(queries, keys, values, divisor, seen, choose) {
  const scores = queries.map((query) => keys.map((key) => dot(query, key) / divisor));
  const weights = scores.map((row, query) => (choose === "argmax" ? harden : soften)(row, seen[query]));
  const outputs = weights.map((row) =>
    values[0].map((_, entry) => row.reduce((sum, weight, key) => sum + weight * values[key][entry], 0)),
  );
  return { scores, weights, outputs };
}

/**
 * All steps; several heads share the width among them, and their outputs stand side by side.
 * @param {import("seq2see/lab/numbers").Numbers} numbers @returns {Worked}
 */
export function work({ h, Wq, Wk, Wv, scale, causal, padded, choose, heads }) {
  const [q, k, v] = [Wq, Wk, Wv].map((weight) => project(h, weight));
  const seen = seenBy(h.length, causal, padded);
  const wide = h[0].length / heads;
  const divisor = scale === "root" ? Math.sqrt(wide) : 1;
  const each = Array.from({ length: heads }, (_, head) => {
    const [queries, keys, values] = [q, k, v].map((matrix) => columns(matrix, head * wide, (head + 1) * wide));
    return attend(queries, keys, values, divisor, seen, choose);
  });
  return { q, k, v, seen, divisor, heads: each, outputs: h.map((_, row) => each.flatMap((head) => head.outputs[row])) };
}
