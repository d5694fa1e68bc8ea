// The kinds of edits: what each needs, how it is told in words, and how it is written in the page's address.

/**
 * Which text of which model an edit was made for.
 * @typedef {{model: string, text: string | null, features: string}} Home
 *
 * An edit as the server knows it, whether it is on, and what it was made for.
 * @typedef {{kind: string, on?: false, home?: Home, at?: string, heads?: number[] | null, how?: string,
 *   count?: number, value?: number, step?: number, places?: number[], token?: number, text?: string | null,
 *   block?: string, model?: string | null, from?: string | null, head?: number | null}} EditOf
 */

export const HOW = ["zero", "mean", "uniform", "first"];

/** @type {Record<string, {about: string, fields: string[]}>} */
export const KINDS = {
  off: { about: "switch heads off", fields: ["at", "heads", "how"] },
  hard: { about: "all weight on the highest place", fields: ["at", "heads"] },
  top: { about: "keep only the highest places", fields: ["at", "heads", "count"] },
  temperature: { about: "sharpen (below 1) or flatten (above 1)", fields: ["at", "heads", "value"] },
  pin: { about: "at one step, look at these places", fields: ["at", "heads", "step", "places"] },
  block: { about: "these places may not be looked at", fields: ["at", "heads", "places"] },
  force: { about: "say this token at a step, then go on", fields: ["step", "token"] },
  source: { about: "read another source text", fields: ["text"] },
  hide: { about: "make these places of the image grey", fields: ["places"] },
  skip: { about: "leave a residual block out", fields: ["block"] },
  borrow: {
    about: "take the pattern of another input or model",
    fields: ["at", "heads", "model", "text", "from", "head"],
  },
};

function whole(text) {
  if (!/^\d+$/.test(text)) throw new Error(`${text || "nothing"} is not a whole number`);
  return Number(text);
}

function numbers(text) {
  const list = text
    .split(",")
    .map((part) => part.trim())
    .filter(Boolean)
    .map(whole);
  if (list.length === 0) throw new Error("at least one number is needed");
  return list;
}

const orNothing = (read) => (text) => (text === "" ? null : read(text));
const same = (text) => text;

function pattern(text) {
  if (!/^[\w.*-]+$/.test(text)) throw new Error(`${text || "nothing"} is not an address`);
  return text;
}

function how(text) {
  if (!HOW.includes(text)) throw new Error(`${text} is not one of ${HOW.join(", ")}`);
  return text;
}

function warmth(text) {
  const value = Number(text);
  if (!(value > 0) || !Number.isFinite(value))
    throw new Error(`a temperature is a number above 0, not ${text || "nothing"}`);
  return value;
}

function sourceText(text) {
  if (text === "") throw new Error("the new source is empty");
  return text;
}

// `read` turns what a person wrote into a value or throws; a kind may read a field in its own way.
/** @type {Record<string, (text: string) => any>} */
export const READ = {
  at: pattern,
  heads: (text) => (text === "" || text === "all" ? null : numbers(text)),
  how,
  count: whole,
  value: warmth,
  step: whole,
  places: numbers,
  token: whole,
  text: orNothing(same),
  model: orNothing(same),
  from: orNothing(pattern),
  head: orNothing(whole),
  block: pattern,
};

/** @param {string} kind @param {Record<string, string>} texts @returns {EditOf} */
export function readEdit(kind, texts) {
  if (!Object.hasOwn(KINDS, kind)) throw new Error(`${kind} is no kind of edit`);
  /** @type {EditOf & Record<string, any>} */
  const edit = { kind };
  for (const field of KINDS[kind].fields) {
    const read = kind === "source" ? sourceText : READ[field];
    edit[field] = read(texts[field] ?? "");
  }
  if (kind === "top" && edit.count === 0) throw new Error("at least 1 place must be kept");
  return edit;
}

function written(field, value) {
  if (value === null || value === undefined) return field === "heads" ? "all" : "";
  return Array.isArray(value) ? value.join(",") : String(value);
}

/** @param {EditOf & Record<string, any>} edit */
export function texts(edit) {
  return Object.fromEntries(KINDS[edit.kind].fields.map((field) => [field, written(field, edit[field])]));
}

// "~" and ":" part edits and their fields, so inside a field they must be escaped.
const escaped = (text) => encodeURIComponent(text).replace(/~/g, "%7E").replace(/%2C/g, ",");

/**
 * Edits in the page's address. What an edit was made for is written only where it is not what is looked at.
 * @param {EditOf[]} edits
 * @param {(edit: EditOf) => Home | null} away
 */
export function writeEdits(edits, away) {
  return edits
    .map((edit) => {
      const home = away(edit);
      const fields = [...Object.values(texts(edit)), ...(home ? writeHome(home) : [])];
      return (edit.on === false ? "!" : "") + [edit.kind, ...fields.map(escaped)].join(":");
    })
    .join("~");
}

/** @param {string} text @returns {EditOf[]} */
export function readEdits(text) {
  return text
    .split("~")
    .filter(Boolean)
    .map((part) => {
      const off = part.startsWith("!");
      const [kind, ...values] = (off ? part.slice(1) : part).split(":").map(decodeURIComponent);
      const fields = KINDS[kind]?.fields ?? [];
      const edit = readEdit(kind, Object.fromEntries(fields.map((field, place) => [field, values[place] ?? ""])));
      if (values.length > fields.length) edit.home = readHome(values.slice(fields.length));
      return off ? { ...edit, on: false } : edit;
    });
}

/** @param {Home} home */
export const writeHome = ({ model, text, features }) => [model, text ?? "", features];

/** @param {string[]} texts @returns {Home} */
export const readHome = ([model, text = "", features = ""]) => ({ model, text, features });

/** @param {EditOf | null} one @param {EditOf | null} other */
export const isSame = (one, other) => JSON.stringify(one) === JSON.stringify(other);

/** @param {EditOf} edit An edit as the server wants it. */
export function bare({ on: _on, home: _home, ...edit }) {
  return edit;
}

/** @param {EditOf} edit */
export function sentence(edit) {
  const heads = edit.heads === null || edit.heads === undefined ? "all heads" : `head ${edit.heads.join(", ")}`;
  const where = `${heads} of ${edit.at}`;
  switch (edit.kind) {
    case "off":
      return `${where}: off (${edit.how})`;
    case "hard":
      return `${where}: all weight on the highest`;
    case "top":
      return `${where}: only the ${edit.count} highest`;
    case "temperature":
      return `${where}: temperature ${edit.value}`;
    case "pin":
      return `${where}: step ${edit.step} looks at ${edit.places?.join(", ")}`;
    case "block":
      return `${where}: never looks at ${edit.places?.join(", ")}`;
    case "force":
      return `step ${edit.step} says token ${edit.token}`;
    case "hide":
      return `${edit.places?.length === 1 ? "place" : "places"} ${edit.places?.join(", ")} made grey`;
    case "skip":
      return `${edit.block}: only its skip is left`;
    case "source":
      return `reads “${edit.text}”`;
    default:
      return `${where}: as in ${
        [
          edit.model && `model ${edit.model}`,
          edit.text && `“${edit.text}”`,
          edit.from && `${edit.from}${edit.head === null ? "" : ` head ${edit.head}`}`,
        ]
          .filter(Boolean)
          .join(", ") || "the same"
      }`;
  }
}
