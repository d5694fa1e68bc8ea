// The drawing of who looks at whom: ribbons between two lines of tokens, or arcs over one.

import { hatch as hatched, rounded } from "seq2see/surface";
import { font } from "seq2see/theme";

const LEAST = 0.03; // fainter links would only grey the picture
const EACH = 8; // links drawn per token while none is chosen

// The strongest places of one row of weights.
export function strongest(grid, row, most, least) {
  const found = [];
  for (let column = 0; column < grid.columns; column += 1) {
    const weight = grid.at(row, column);
    if (weight >= least) found.push([column, weight]);
  }
  found.sort((one, other) => other[1] - one[1]);
  return found.slice(0, most);
}

export class Drawing {
  // `down`: lines of tokens run from top to bottom, for narrow windows. `single`: rows and columns are the same tokens.
  // Notes stand under tokens, or with `inside` in the same box, where arcs run on both sides.
  constructor({ rows, columns, width, height, down, single, causal, scroll, notes, inside }) {
    this.rows = rows;
    this.columns = columns;
    this.down = down;
    this.single = single;
    this.scroll = scroll;
    this.notes = notes;
    this.inside = inside;
    this.noteInk = "";
    this.length = down ? height : width;
    this.depth = down ? width : height;
    const side = down ? Math.min(120, this.depth * 0.32) : inside ? 48 : 34;
    this.thickness = side;
    // Where nothing looks ahead, arcs need room on one side only.
    const middle = causal ? this.depth - side - (down ? 8 : 30) : (this.depth - side) / 2;
    if (single) this.lines = { column: middle, row: middle };
    else this.lines = { column: down ? 4 : 22, row: this.depth - side - (down ? 4 : 22) };
  }

  point(along, across) {
    return this.down ? [across, along - this.scroll] : [along - this.scroll, across];
  }

  link(context, row, column, weight, colour, alpha) {
    const from = this.rows.centre(row);
    const to = this.columns.centre(column);
    context.strokeStyle = colour;
    context.globalAlpha = alpha;
    context.lineWidth = this.single && row === column ? 1.2 + weight * 5 : 1.2 + weight * 13;
    context.beginPath();
    if (this.single) this.arc(context, from, to);
    else {
      const start = this.lines.row;
      const end = this.lines.column + this.thickness;
      const middle = (start + end) / 2;
      context.moveTo(...this.point(from, start));
      context.bezierCurveTo(...this.point(from, middle), ...this.point(to, middle), ...this.point(to, end));
    }
    context.stroke();
    context.globalAlpha = 1;
  }

  // What came before is looked at over the line, what comes after under it, the token itself in a small loop.
  arc(context, from, to) {
    const back = to <= from;
    const edge = back ? this.lines.row : this.lines.row + this.thickness;
    const room = back ? edge - 8 : this.depth - edge - 8;
    // The further the higher; a curve of this kind rises to three quarters of its handles.
    const share = Math.min(1, Math.abs(to - from) / (0.8 * this.length)) ** 0.6;
    const reach = from === to ? 24 : (16 + (room - 16) * share) / 0.75;
    const top = back ? edge - reach : edge + reach;
    const spread = from === to ? 11 : 0;
    context.moveTo(...this.point(from + spread, edge));
    context.bezierCurveTo(
      ...this.point(from + spread, top),
      ...this.point(to - spread, top),
      ...this.point(to - spread, edge),
    );
  }

  faint(context, grid, inks) {
    const [first, last] = this.rows.seen(this.scroll - 80, this.scroll + this.length + 80);
    for (let row = first; row < last; row += 1) {
      for (const [column, weight] of strongest(grid, row, EACH, LEAST)) {
        this.link(context, row, column, weight, inks.accent, 0.05 + 0.3 * weight);
      }
    }
  }

  ofRow(context, grid, row, inks) {
    for (const [column, weight] of strongest(grid, row, 64, 0.008).reverse()) {
      this.link(context, row, column, weight, inks.mark, 0.28 + 0.66 * weight);
    }
  }

  ofColumn(context, grid, column, inks) {
    for (let row = 0; row < grid.rows; row += 1) {
      const weight = grid.at(row, column);
      if (weight >= LEAST) this.link(context, row, column, weight, inks.mark, 0.15 + 0.75 * weight);
    }
  }

  box(strip, place, side) {
    const start = strip.starts[place] - this.scroll;
    const across = this.lines[side];
    if (this.down) return [across, start, this.thickness, strip.sizes[place]];
    return [start, across, strip.sizes[place], this.thickness];
  }

  token(context, side, place, { fill, ink, border = null, weight = 400, hatch = null }) {
    const strip = side === "row" ? this.rows : this.columns;
    const [x, y, width, height] = this.box(strip, place, side);
    rounded(context, x, y, width, height, 6);
    context.fillStyle = fill;
    context.fill();
    if (border) {
      context.strokeStyle = border;
      context.lineWidth = 1.5;
      context.stroke();
    }
    if (hatch) hatched(context, [x, y, width, height], hatch);
    context.font = font(15, weight);
    context.textAlign = "center";
    context.fillStyle = ink;
    const note = side === "row" ? this.notes?.[place] : null;
    const boxed = note && this.inside && !this.down;
    context.fillText(strip.shown[place], x + width / 2, boxed ? y + 17 : y + height / 2 + 1, width - 6);
    if (boxed) {
      context.font = font(11, 600);
      context.fillText(note, x + width / 2, y + 36, width - 4);
    } else if (note && !this.down) {
      context.font = font(11);
      context.fillStyle = this.noteInk;
      context.fillText(`→ ${note}`, x + width / 2, y + height + 11, width + 8);
    }
  }

  tokens(context, side, styleOf) {
    const strip = side === "row" ? this.rows : this.columns;
    const [first, last] = strip.seen(this.scroll, this.scroll + this.length);
    for (let place = first; place < last; place += 1) this.token(context, side, place, styleOf(place));
  }

  // The token under a point: which line, which place.
  find({ x, y }) {
    const along = (this.down ? y : x) + this.scroll;
    const across = this.down ? x : y;
    const near = (line) => across >= line - 10 && across <= line + this.thickness + 10;
    if (near(this.lines.row)) {
      const place = this.rows.find(along);
      if (place !== null) return { side: "row", place };
    }
    if (!this.single && near(this.lines.column)) {
      const place = this.columns.find(along);
      if (place !== null) return { side: "column", place };
    }
    return null;
  }
}
