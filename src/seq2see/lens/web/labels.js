// Labels of tokens in any script: made visible, shortened in the middle, fitted to a width.

const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" });
const SEEN = { " ": "␣", "\n": "⏎", "\r": "␍", "\t": "⇥", "\u00a0": "⍽" };

export function visible(label) {
  if (label === "" || label === null || label === undefined) return "∅";
  const shown = String(label)
    .replace(/[ \n\r\t\u00a0]/g, (sign) => SEEN[sign])
    .replace(/\p{Cc}/gu, "�");
  // A mark that joins the letter before it needs something to sit on.
  return /^\p{M}/u.test(shown) ? `◌${shown}` : shown;
}

// Isolated, so that right-to-left tokens do not turn the sentence around them.
export function isolated(label) {
  return `\u2068${visible(label)}\u2069`;
}

export function shorten(label, most) {
  const shown = visible(label);
  if (shown.length <= most) return shown;
  const signs = Array.from(graphemes.segment(shown), (part) => part.segment);
  if (signs.length <= most) return shown;
  const head = Math.ceil((most - 1) / 2);
  const tail = most - 1 - head;
  return `${signs.slice(0, head).join("")}…${tail > 0 ? signs.slice(-tail).join("") : ""}`;
}

const widths = new Map();

export function measure(context, text) {
  const key = `${context.font}\u0000${text}`;
  let width = widths.get(key);
  if (width === undefined) {
    if (widths.size > 8000) widths.clear();
    width = context.measureText(text).width;
    widths.set(key, width);
  }
  return width;
}

export function fit(context, label, width) {
  let shown = shorten(label, 24);
  for (let most = Math.min(shown.length, 24); most > 1 && measure(context, shown) > width; most -= 1)
    shown = shorten(label, most);
  return shown;
}

export function number(value, digits = 2) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (value !== 0 && Math.abs(value) < 0.5 * 10 ** -digits)
    return value < 0 ? `−${(0).toFixed(digits)}` : `<${(10 ** -digits).toFixed(digits)}`;
  return value.toFixed(digits).replace("-", "−");
}

export function signed(value, digits = 2) {
  return value > 0 ? `+${number(value, digits)}` : number(value, digits);
}

// Labels of a map's rows and columns, as the contract of the server has them.
export function rowLabels(view, meta) {
  if (meta.rows !== "target") return view.source;
  return ["text", "tags", "gaps"].includes(view.kind) ? view.read : view.predicted;
}

export function columnLabels(view, meta) {
  return meta.columns === "target" ? view.read : view.source;
}
