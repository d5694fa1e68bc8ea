// All numbers and choices of the worked example, and their form behind the # of the page's address.

/**
 * @typedef {{h: number[][], Wq: number[][], Wk: number[][], Wv: number[][], scale: "none" | "root", causal: boolean,
 *   padded: number[], choose: "argmax" | "softmax", heads: 1 | 2, theme: "light" | "dark" | null}} Numbers
 */

export const POSITIONS = [2, 3, 4, 5, 6];
export const WIDTHS = [2, 3, 4];
export const MOST = 1000; // the largest number that may stand in a matrix
const LONGEST = 4000; // characters of an address that are read

// The lecture's numbers stand first; the others come into sight with more positions or a larger width.
const ROOM = {
  h: [
    [5, 1, 2, 0],
    [4, 3, -1, 1],
    [-2, 6, 0, 2],
    [1, -3, 2, 1],
    [3, 0, 1, -2],
    [-1, 2, -2, 3],
  ],
  Wq: [
    [1, 0, 1, 0],
    [2, 9, 0, 1],
    [0, 1, 1, -1],
    [1, 0, -1, 2],
  ],
  Wk: [
    [0, 1, 0, 1],
    [6, 0, 1, 0],
    [1, 0, 2, -1],
    [0, -1, 1, 1],
  ],
  Wv: [
    [4, 3, 0, 1],
    [9, 1, -1, 0],
    [0, 2, 1, 1],
    [1, 0, 3, -2],
  ],
};
export const MATRICES = /** @type {("h" | "Wq" | "Wk" | "Wv")[]} */ (Object.keys(ROOM));

/** A matrix of another size: what is there stays, what is new comes from the start. */
const resized = (name, matrix, rows, columns) =>
  Array.from({ length: rows }, (_, row) =>
    Array.from({ length: columns }, (_, column) => matrix[row]?.[column] ?? ROOM[name][row][column]),
  );

/** The numbers in another size; what no longer fits is left out. @param {Numbers} numbers @returns {Numbers} */
export function sized(numbers, positions, width) {
  const made = Object.fromEntries(
    MATRICES.map((name) => [name, resized(name, numbers[name], name === "h" ? positions : width, width)]),
  );
  const padded = numbers.padded.filter((position) => position <= positions);
  return /** @type {Numbers} */ ({
    ...numbers,
    ...made,
    padded,
    heads: width % numbers.heads === 0 ? numbers.heads : 1,
  });
}

/** The lecture's example. @returns {Numbers} */
export function start() {
  const choices = { scale: "none", causal: false, padded: [], choose: "argmax", heads: 1, theme: null };
  return sized(/** @type {any} */ ({ ...choices, h: [], Wq: [], Wk: [], Wv: [] }), 3, 2);
}

/** A number that may stand in a matrix, of at most four decimals; null for any other. @param {string} text */
export function numberOf(text) {
  const value = text.trim() === "" ? Number.NaN : Number(text);
  return Math.abs(value) <= MOST ? Math.round(value * 1e4) / 1e4 + 0 : null;
}

const matrix = (rows, columns) => ({
  read(text) {
    const values = text.split(";").map((row) => row.split(",").map(numberOf));
    if (values.some((row) => row.includes(null))) throw new Error(`its numbers go from −${MOST} to ${MOST}`);
    if (
      !rows.includes(values.length) ||
      !columns.includes(values[0].length) ||
      values.some((row) => row.length !== values[0].length)
    )
      throw new Error(`it should have ${rows[0]} to ${rows.at(-1)} rows of ${columns[0]} to ${columns.at(-1)} numbers`);
    return values;
  },
  write: (value) => value.map((row) => row.join(",")).join(";"),
});

const choice = (...options) => ({
  read(text) {
    const found = options.find((option) => String(option) === text);
    if (found === undefined) throw new Error(`it should be one of ${options.join(", ")}`);
    return found;
  },
  write: String,
});

const FIELDS = {
  h: matrix(POSITIONS, WIDTHS),
  Wq: matrix(WIDTHS, WIDTHS),
  Wk: matrix(WIDTHS, WIDTHS),
  Wv: matrix(WIDTHS, WIDTHS),
  scale: choice("none", "root"),
  causal: choice(false, true),
  padded: {
    read(text) {
      const found = text.split(",").map(Number);
      if (!found.every((position) => POSITIONS.includes(position) || position === 1))
        throw new Error("it should name positions");
      return [...new Set(found)].sort();
    },
    write: (value) => value.join(","),
  },
  choose: choice("argmax", "softmax"),
  heads: choice(1, 2),
  theme: choice("light", "dark"),
};

/** Only what is not as at the start. @param {Numbers} numbers */
export function write(numbers) {
  const initial = sized(start(), numbers.h.length, numbers.h[0].length);
  const shape = numbers.h.length === 3 && numbers.h[0].length === 2;
  return Object.keys(FIELDS)
    .filter((key) => JSON.stringify(numbers[key]) !== JSON.stringify(initial[key]) || (key === "h" && !shape))
    .map((key) => `${key}=${FIELDS[key].write(numbers[key])}`)
    .join("&");
}

/** @param {string} hash @returns {{numbers: Numbers, complaints: string[]}} */
export function read(hash) {
  const complaints = hash.length > LONGEST ? ["the address is too long, so the lecture's numbers are shown"] : [];
  const text = complaints.length ? "" : hash.replace(/^#/, "");
  const found = {};
  for (const part of text.split("&").filter(Boolean)) {
    const [key, value = ""] = part.split("=");
    try {
      if (!Object.hasOwn(FIELDS, key)) throw new Error("it is not known here");
      found[key] = FIELDS[key].read(decodeURIComponent(value));
    } catch (error) {
      complaints.push(`“${part.slice(0, 32)}” in the address was left out: ${error.message}`);
    }
  }
  const width = (found.h ?? start().h)[0].length;
  for (const name of ["Wq", "Wk", "Wv"])
    if (found[name] && (found[name].length !== width || found[name][0].length !== width)) {
      complaints.push(
        `${name} in the address was left out: h has width ${width}, so it should be ${width} by ${width}`,
      );
      delete found[name];
    }
  if (width % (found.heads ?? 1) !== 0)
    complaints.push(`width ${width} cannot be split among ${found.heads} heads, so there is one`);
  const numbers = /** @type {Numbers} */ ({ ...start(), Wq: [], Wk: [], Wv: [], ...found });
  return { numbers: sized(numbers, numbers.h.length, width), complaints };
}
