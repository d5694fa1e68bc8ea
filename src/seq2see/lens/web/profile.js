// Bars along the margins of a heat map: the row of a cell below it, its column beside it.

import { number } from "seq2see/labels";
import { font } from "seq2see/theme";

const AWAY = 8; // pixels between the map and its bars
const SPARE = 18;
const LEAST = 0.25; // a row of tiny weights should not look like a strong one

function highest(values, grid) {
  const most = values.reduce((high, value) => Math.max(high, Math.abs(value)), 0) || 1;
  return grid.unit === 1 ? most : Math.max(LEAST, most);
}

const gap = (size) => (size > 6 ? 1.5 : 0);
const thick = (size) => Math.max(1, size - 2 * gap(size));

// With signs, colour tells the sign and a frame tells the cell.
/** @param {number[]} box */
function bar(context, box, value, chosen, signed, inks) {
  const [x, y, width, height] = box;
  context.fillStyle = value < 0 ? inks.loss : chosen && !signed ? inks.mark : inks.accent;
  context.fillRect(x, y, width, height);
  if (!chosen || !signed) return;
  context.strokeStyle = inks.ink;
  context.lineWidth = 1.5;
  context.strokeRect(x, y, width, height);
}

export function drawProfiles(context, frame, { grid, exact }, { row, column }, inks) {
  const { rows, columns } = frame.seen;
  const along = exact?.(row) ?? grid.row(row);
  const beside = grid.column(column);
  const below = frame.y + frame.tall + AWAY;
  const right = frame.x + frame.wide + AWAY;
  const tallest = (frame.margin.bottom - SPARE) / highest(along, grid);
  const longest = (frame.margin.right - SPARE) / highest(beside, grid);
  for (let place = columns[0]; place < columns[1]; place += 1) {
    const box = [frame.cellX(place) + gap(frame.across), below, thick(frame.across), Math.abs(along[place]) * tallest];
    bar(context, box, along[place], place === column, grid.signed, inks);
  }
  for (let place = rows[0]; place < rows[1]; place += 1) {
    const box = [right, frame.cellY(place) + gap(frame.down), Math.abs(beside[place]) * longest, thick(frame.down)];
    bar(context, box, beside[place], place === row, grid.signed, inks);
  }
  context.font = font(11);
  context.fillStyle = inks.muted;
  context.textAlign = "left";
  const sum = beside.reduce((total, value) => total + value, 0);
  context.fillText(`Σ ${number(sum)}`, right, frame.y - 10);
}
