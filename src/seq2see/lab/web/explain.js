// The arithmetic of one cell in words, and which other cells it is made of.

/**
 * A cell is named by its matrix and by row and column from 0; heads are numbered in the name, as `scores2`.
 * @typedef {{matrix: string, row: number, column: number}} Cell
 * @typedef {{text: string, uses: Cell[]}} Explained
 */

const RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹";
const raised = (digits) =>
  digits
    .replace("+", "")
    .replace("-", "⁻")
    .replace(/\d/g, (digit) => RAISED[digit]);

/** A number as people write it: whole where it is whole, else with four digits that say something. */
export function shown(value) {
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  const clean = Number(value.toPrecision(12));
  const size = Math.abs(clean);
  const text =
    size !== 0 && (size < 0.001 || size >= 1e8)
      ? clean.toExponential(1).replace(/e(.*)/, (_, power) => `·10${raised(power)}`)
      : Number.isInteger(clean)
        ? String(clean)
        : String(Number(clean.toFixed(size >= 100 ? 1 : size >= 10 ? 2 : 4)));
  return text.replaceAll("-", "−");
}

const isExact = (value) => {
  const clean = Number(value.toPrecision(12));
  return Number(shown(value).replaceAll("−", "-")) === clean;
};
const equals = (value) => `${isExact(value) ? "=" : "≈"} ${shown(value)}`;
const factor = (value) => (value < 0 ? `(${shown(value)})` : shown(value));
const products = (one, other) => one.map((value, place) => `${factor(value)}·${factor(other[place])}`).join(" + ");
const cells = (matrix, row, from, to) =>
  Array.from({ length: to - from }, (_, place) => ({ matrix, row, column: from + place }));

/**
 * @param {Cell} cell
 * @param {import("seq2see/lab/numbers").Numbers} numbers
 * @param {import("seq2see/lab/arithmetic").Worked} worked
 * @returns {Explained}
 */
export function explain({ matrix, row, column }, numbers, worked) {
  const [, kind, digit] = /** @type {string[]} */ (matrix.match(/^(\D+)(\d*)$/));
  const head = Number(digit || 1) - 1;
  const wide = numbers.h[0].length / numbers.heads;
  if (kind in numbers) return given(kind, row, column, numbers);
  if (kind === "scores") return score(row, column, head, wide, worked);
  if (kind === "weights") return weight(row, column, head, numbers, worked);
  if (kind === "outputs") return output(row, column, wide, numbers, worked);
  return projected(kind, row, column, numbers, worked);
}

function given(kind, row, column, numbers) {
  const value = shown(numbers[kind][row][column]);
  const name = kind === "h" ? `h${row + 1}, entry ${column + 1}` : `${kind}, row ${row + 1}, column ${column + 1}`;
  return { text: `${name}: ${value}. Change it, and everything follows.`, uses: [] };
}

function projected(kind, row, column, numbers, worked) {
  const name = `W${kind}`;
  const width = numbers.h[0].length;
  const sum = products(numbers[name][column], numbers.h[row]);
  return {
    text: `${kind}${row + 1}, entry ${column + 1}: row ${column + 1} of ${name} times h${row + 1}: ${sum} ${equals(worked[kind][row][column])}`,
    uses: [...cells(name, column, 0, width), ...cells("h", row, 0, width)],
  };
}

function score(row, column, head, wide, worked) {
  const [from, to] = [head * wide, (head + 1) * wide];
  const uses = [...cells("q", row, from, to), ...cells("k", column, from, to)];
  if (!worked.seen[row][column])
    return { text: `query ${row + 1} may not see position ${column + 1}, so its score is −∞`, uses };
  const sum = products(worked.q[row].slice(from, to), worked.k[column].slice(from, to));
  const value = worked.heads[head].scores[row][column];
  const name = `q${row + 1} · k${column + 1}`;
  if (worked.divisor === 1) return { text: `${name}: ${sum} ${equals(value)}`, uses };
  const whole = shown(value * worked.divisor);
  return {
    text: `${name} / √${wide}: (${sum}) / √${wide} = ${whole} / ${shown(worked.divisor)} ${equals(value)}`,
    uses,
  };
}

function weight(row, column, head, numbers, worked) {
  const { scores, weights } = worked.heads[head];
  const keys = scores[row].map((_, key) => key).filter((key) => worked.seen[row][key]);
  const uses = keys.map((key) => ({ matrix: `scores${head + 1}`, row, column: key }));
  const value = weights[row][column];
  const start = `query ${row + 1} on position ${column + 1}: `;
  if (keys.length === 0) return { text: `${start}0, since query ${row + 1} may see nothing`, uses };
  if (!worked.seen[row][column]) return { text: `${start}0, since it may not see it`, uses };
  const list = keys.map((key) => shown(scores[row][key])).join(", ");
  const own = shown(scores[row][column]);
  if (numbers.choose === "argmax") {
    const tied = keys.filter((key) => scores[row][key] === scores[row][column]).length > 1;
    const why =
      value === 1 ? `is the ${tied ? "first highest" : "highest"}` : `is not the ${tied ? "first " : ""}highest`;
    return { text: `${start}${value}, since ${own} ${why} of ${list}`, uses };
  }
  const sum = keys.map((key) => `e^${factor(scores[row][key])}`).join(" + ");
  return { text: `${start}e^${factor(scores[row][column])} / (${sum}) ${equals(value)}`, uses };
}

function output(row, column, wide, numbers, worked) {
  const head = Math.floor(column / wide);
  const weights = worked.heads[head].weights[row];
  const values = worked.v.map((value) => value[column]);
  const from = numbers.heads > 1 ? ` (head ${head + 1})` : "";
  const uses = [
    ...cells(`weights${head + 1}`, row, 0, weights.length),
    ...values.map((_, key) => ({ matrix: "v", row: key, column })),
  ];
  return {
    text: `h${row + 1}′, entry ${column + 1}${from}: ${products(weights, values)} ${equals(worked.outputs[row][column])}`,
    uses,
  };
}
