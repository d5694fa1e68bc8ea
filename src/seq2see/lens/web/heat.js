// A heat map with labels, pointer, zoom and the profiles of a row and a column along its margins.

import { Frame } from "seq2see/frame";
import { fit, measure, number, shorten } from "seq2see/labels";
import { drawProfiles } from "seq2see/profile";
import { hatch, rounded, Surface } from "seq2see/surface";
import { colours, font } from "seq2see/theme";

const SPACING = 15; // pixels a label needs; in between, labels are left out

// Every how many rows or columns a label is written.
const stride = (size) => Math.max(1, Math.ceil(SPACING / size));

/** @typedef {{row: number, column: number}} Cell */

export class Heat {
  // `onHover(cell, event)` and `onChoose(cell, event)` get {row, column}; `onFrame` tells of zoom and pan.
  /**
   * @param {{id: string, label: string, onHover: (cell: Cell | null, event: Event) => void,
   *   onChoose: (cell: Cell, event: Event) => void, onFrame?: (frame: Frame) => void, profiles?: boolean}} options
   */
  constructor({ id, label, onHover, onChoose, onFrame = () => {}, profiles = true }) {
    this.onHover = onHover;
    this.onChoose = onChoose;
    this.onFrame = onFrame;
    this.profiles = profiles;
    /** @type {any} */
    this.subject = null;
    /** @type {{row: number, column: number} | null} */
    this.selected = null;
    /** @type {{row: number, column: number} | null} */
    this.hovered = null;
    this.topMost = 0;
    this.frame = new Frame();
    this.surface = new Surface({ id, label, onResize: () => this.draw() });
    this.element = this.surface.element;
    this.element.classList.add("heat");
    this.listen();
  }

  // subject: {grid, scale, rows: [{main, note}], columns: [label], unknown, exact(row) -> values or null}
  show(subject, selected) {
    const grown =
      this.subject &&
      subject &&
      (this.subject.grid.rows !== subject.grid.rows || this.subject.grid.columns !== subject.grid.columns);
    if (grown) this.frame.reset();
    if (grown || !this.subject) this.element.style.height = "";
    this.subject = subject;
    this.choose(selected, false);
    this.draw();
  }

  choose(selected, painted = true) {
    const moved = selected && (selected.row !== this.selected?.row || selected.column !== this.selected?.column);
    this.selected = selected;
    if (!this.subject || !this.surface.ready || !this.frame.room) return;
    if (moved && this.frame.zoom > 1) {
      this.frame.reveal(selected);
      if (painted) this.draw();
    } else if (painted) this.point();
  }

  listen() {
    const target = this.element;
    addEventListener("resize", () => (target.style.height = ""));
    /** @type {{startX: number, startY: number, x: number, y: number, far: boolean} | null} */
    let drag = null;
    target.addEventListener("pointermove", (event) => {
      if (drag && (event.buttons & 1) === 1 && this.frame.zoom > 1) {
        drag.far ||= Math.hypot(event.clientX - drag.startX, event.clientY - drag.startY) > 4;
        if (drag.far) {
          this.frame.pan(event.clientX - drag.x, event.clientY - drag.y);
          Object.assign(drag, { x: event.clientX, y: event.clientY });
          this.moved();
          return;
        }
      }
      this.hover(this.subject ? this.frame.cell(this.surface.at(event)) : null, event);
    });
    target.addEventListener(
      "pointerdown",
      (event) =>
        (drag = { startX: event.clientX, startY: event.clientY, x: event.clientX, y: event.clientY, far: false }),
    );
    target.addEventListener("pointerleave", (event) => this.hover(null, event));
    target.addEventListener("click", (event) => {
      const cell = this.subject && !drag?.far ? this.frame.cell(this.surface.at(event)) : null;
      if (cell) this.onChoose(cell, event);
    });
    target.addEventListener("dblclick", () => this.reset());
    target.addEventListener(
      "wheel",
      (event) => {
        // A wheel that has nothing to zoom out of scrolls the page.
        if (!this.subject || (event.deltaY > 0 && this.frame.zoom === 1)) return;
        event.preventDefault();
        this.zoom(Math.exp(-event.deltaY * 0.0016), this.surface.at(event));
      },
      { passive: false },
    );
  }

  key(event) {
    if (event.key === "+" || event.key === "=") this.zoom(1.4);
    else if (event.key === "-") this.zoom(1 / 1.4);
    else if (event.key === "0") this.reset();
    else return false;
    return true;
  }

  /** @param {number} factor @param {{x: number, y: number} | null} place */
  zoom(factor, place = null) {
    if (!this.subject || !this.frame.room) return;
    const { frame, selected } = this;
    const centre = selected
      ? { x: frame.cellX(selected.column + 0.5), y: frame.cellY(selected.row + 0.5) }
      : { x: frame.x, y: frame.y };
    const { x, y } = place ?? centre;
    if (frame.zoomAt(factor, x, y)) this.moved();
  }

  reset() {
    this.frame.reset();
    this.moved();
  }

  moved() {
    this.draw();
    this.onFrame(this.frame);
  }

  follow({ zoom, left, top }) {
    Object.assign(this.frame, { zoom, left, top });
    this.draw();
  }

  hover(cell, event) {
    if (cell?.row === this.hovered?.row && cell?.column === this.hovered?.column) return;
    this.hovered = cell;
    this.onHover(cell, event);
  }

  margins(context) {
    const { rows, columns } = this.subject;
    const narrow = this.surface.width < 520;
    context.font = font(12, 700); // as wide as the label of the row that is chosen
    const widest = (labels) =>
      labels.slice(0, 400).reduce((most, label) => Math.max(most, measure(context, shorten(label, 14))), 0);
    const wordy = rows.some((row) => row.note);
    const left = Math.min(
      narrow ? 112 : 170,
      widest(rows.map((row) => row.main)) + (wordy ? widest(rows.map((row) => row.note ?? "")) + 18 : 0) + 16,
    );
    const top = Math.min(96, Math.max(24, widest(columns) + 14));
    this.topMost = top;
    const bars = this.profiles ? (narrow ? 44 : 74) : 8;
    return { left: Math.max(34, left), top, right: bars, bottom: this.profiles ? bars : 8 };
  }

  draw() {
    this.surface.measure();
    if (!this.surface.ready) return;
    const context = this.surface.paint();
    if (!this.subject) {
      this.surface.overlay();
      return;
    }
    const { grid, scale } = this.subject;
    const { width, height, ratio } = this.surface;
    const { frame } = this;
    const inks = colours();
    frame.fit({ width, height, rows: grid.rows, columns: grid.columns, margin: this.margins(context) });
    if (this.shrink(height)) return;
    this.element.dataset.zoom = frame.zoom.toFixed(2);
    this.element.style.touchAction = frame.zoom > 1 ? "none" : "pan-y";
    const factor = Math.max(1, Math.ceil(1 / (Math.min(frame.across, frame.down) * ratio) - 0.001));
    const image = grid.raster(inks.palette, scale, factor);
    context.save();
    context.beginPath();
    context.rect(frame.x, frame.y, frame.wide, frame.tall);
    context.clip();
    context.imageSmoothingEnabled = false;
    context.drawImage(
      image,
      frame.x - frame.left,
      frame.y - frame.top,
      image.width * factor * frame.across,
      image.height * factor * frame.down,
    );
    this.lines(context, inks);
    context.restore();
    context.strokeStyle = inks.line;
    context.lineWidth = 1;
    context.strokeRect(frame.x - 0.5, frame.y - 0.5, frame.wide + 1, frame.tall + 1);
    this.labels(context, inks);
    this.point();
  }

  // A small map needs no more height than it has; it is then drawn anew.
  shrink(height) {
    const { frame } = this;
    const needed = Math.ceil(frame.margin.top + frame.tall + frame.margin.bottom);
    if (frame.zoom > 1 || needed >= height - 2) return false;
    this.element.style.height = `${needed}px`;
    this.draw();
    return true;
  }

  lines(context, inks) {
    const { frame } = this;
    if (Math.min(frame.across, frame.down) < 9) return;
    const { rows, columns } = frame.seen;
    context.strokeStyle = inks.line;
    context.lineWidth = 1;
    context.globalAlpha = 0.7;
    context.beginPath();
    for (let row = rows[0]; row <= rows[1]; row += 1) {
      const y = Math.round(frame.cellY(row)) - 0.5;
      context.moveTo(frame.x, y);
      context.lineTo(frame.x + frame.wide, y);
    }
    for (let column = columns[0]; column <= columns[1]; column += 1) {
      const x = Math.round(frame.cellX(column)) - 0.5;
      context.moveTo(x, frame.y);
      context.lineTo(x, frame.y + frame.tall);
    }
    context.stroke();
    context.globalAlpha = 1;
  }

  rowLabel(context, row, inks, strong) {
    const { frame } = this;
    const { main, note } = this.subject.rows[row];
    const y = frame.cellY(row + 0.5);
    if (y < frame.y - 2 || y > frame.y + frame.tall + 2) return;
    const room = frame.margin.left - 14;
    context.textAlign = "right";
    context.font = font(12, strong ? 700 : 400);
    context.fillStyle = strong ? inks.mark : inks.ink;
    if (!note) {
      const shown = fit(context, main, room);
      const width = measure(context, shown) + 6;
      if (this.subject.unknown.rows.has(row)) hatch(context, [frame.x - 5 - width, y - 8, width, 16], inks.loss);
      context.fillText(shown, frame.x - 8, y);
      return;
    }
    // Read on the left, quietly; predicted on the right, next to its row.
    const right = fit(context, note, room * 0.55);
    context.fillText(right, frame.x - 8, y);
    const used = measure(context, right) + 18;
    context.font = font(12);
    context.fillStyle = inks.muted;
    context.fillText(`${fit(context, main, room - used)} →`, frame.x - 8 - measure(context, right) - 5, y);
  }

  columnLabel(context, column, inks, strong) {
    const { frame } = this;
    const slant = this.slant(context, column);
    const x = frame.cellX(column + 0.5);
    if (x < frame.x - 2 || x > frame.x + frame.wide + 2) return;
    context.font = font(12, strong ? 700 : 400);
    context.fillStyle = strong ? inks.mark : inks.ink;
    context.save();
    context.translate(x, frame.y - 7);
    context.rotate(slant);
    context.textAlign = slant === 0 ? "center" : "left";
    const label = this.subject.columns[column];
    const shown = slant === 0 ? shorten(label, 24) : fit(context, label, this.topMost - 12);
    const y = slant === 0 ? -4 : 0;
    const width = measure(context, shown) + 6;
    const left = slant === 0 ? -width / 2 : -3;
    if (this.subject.unknown.columns.has(column)) hatch(context, [left, y - 8, width, 15], inks.loss);
    context.fillText(shown, 0, y);
    context.restore();
  }

  // Labels that fit over their column stay upright, the others are turned as far as they must.
  slant(context, column) {
    const { across } = this.frame;
    context.font = font(12);
    if (measure(context, shorten(this.subject.columns[column], 24)) <= across - 2) return 0;
    return across < 34 ? -Math.PI / 2 : -Math.PI / 4;
  }

  labels(context, inks) {
    const { rows, columns } = this.frame.seen;
    const rowStep = stride(this.frame.down);
    const columnStep = stride(this.frame.across);
    for (let row = Math.ceil(rows[0] / rowStep) * rowStep; row < rows[1]; row += rowStep)
      this.rowLabel(context, row, inks, false);
    for (let column = Math.ceil(columns[0] / columnStep) * columnStep; column < columns[1]; column += columnStep) {
      this.columnLabel(context, column, inks, false);
    }
  }

  // Everything that follows the pointer or the selection.
  point() {
    if (!this.subject || !this.surface.ready || !this.frame.room) return;
    const context = this.surface.overlay();
    const inks = colours();
    const { frame, selected, hovered } = this;
    const { grid } = this.subject;
    const inside = (cell) => cell && cell.row < grid.rows && cell.column < grid.columns;
    const focus = inside(hovered) ? hovered : inside(selected) ? selected : null;
    if (!focus) return;
    context.save();
    context.beginPath();
    context.rect(frame.x - 2, frame.y - 2, frame.wide + 4, frame.tall + 4);
    context.clip();
    // Lines, not a tint: a tint would change the colours that are to be read.
    context.strokeStyle = inks.mark;
    context.globalAlpha = 0.6;
    context.lineWidth = 1;
    context.strokeRect(frame.x - 4, frame.cellY(focus.row), frame.wide + 8, Math.max(1, frame.down));
    context.strokeRect(frame.cellX(focus.column), frame.y - 4, Math.max(1, frame.across), frame.tall + 8);
    context.globalAlpha = 1;
    if (selected && inside(selected)) this.outline(context, selected, inks.mark, 2.5);
    if (hovered && inside(hovered)) this.outline(context, hovered, inks.ink, 1.5);
    context.restore();
    this.emphasise(context, focus, inks);
    if (this.profiles) drawProfiles(context, frame, this.subject, focus, inks);
    if (inside(hovered)) this.tip(context, hovered, inks);
  }

  outline(context, { row, column }, colour, thick) {
    const { frame } = this;
    const width = Math.max(4, frame.across);
    const height = Math.max(4, frame.down);
    context.strokeStyle = colour;
    context.lineWidth = thick;
    rounded(
      context,
      frame.cellX(column) - (width - frame.across) / 2,
      frame.cellY(row) - (height - frame.down) / 2,
      width,
      height,
      3,
    );
    context.stroke();
  }

  // The strong label replaces the plain one, and those that would show from under it.
  emphasise(context, { row, column }, inks) {
    const { frame } = this;
    const slant = this.slant(context, column);
    context.fillStyle = inks.panel;
    for (const place of this.near(row, frame.down)) {
      context.fillRect(0, frame.cellY(place + 0.5) - SPACING / 2, frame.x - 4, SPACING);
    }
    if (slant !== -Math.PI / 4) {
      const wide = slant === 0 ? Math.max(frame.across, 20) : SPACING;
      for (const place of this.near(column, frame.across)) {
        context.fillRect(frame.cellX(place + 0.5) - wide / 2, 0, wide, frame.y - 3);
      }
    }
    this.rowLabel(context, row, inks, true);
    this.columnLabel(context, column, inks, true);
  }

  near(place, size) {
    const step = stride(size);
    const before = Math.floor(place / step) * step;
    return [before, place, before + step].filter((other) => Math.abs(other - place) * size < SPACING);
  }

  value({ row, column }) {
    const exact = this.subject.exact?.(row);
    return exact
      ? { value: exact[column], exact: true }
      : { value: this.subject.grid.at(row, column), exact: this.subject.grid.unit === 1 };
  }

  tip(context, cell, inks) {
    const { value, exact } = this.value(cell);
    const text = `${exact ? "" : "≈ "}${number(value, exact ? 4 : 2)}`;
    context.font = font(13, 600);
    const width = measure(context, text) + 16;
    const { frame } = this;
    const x = Math.max(2, Math.min(this.surface.width - width - 4, frame.cellX(cell.column + 1) + 8));
    const y = Math.max(2, Math.min(this.surface.height - 30, frame.cellY(cell.row) - 30));
    rounded(context, x, y, width, 25, 6);
    context.fillStyle = inks.ink;
    context.fill();
    context.fillStyle = inks.panel;
    context.textAlign = "left";
    context.fillText(text, x + 8, y + 13);
  }
}
