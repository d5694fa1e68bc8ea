// A matrix as a table: of fields that can be changed, or of results coloured as in the explorer's heat maps.

import { element } from "seq2see/element";
import { Grid } from "seq2see/grid";
import { shown } from "seq2see/lab/explain";
import { MOST, numberOf } from "seq2see/lab/numbers";
import { colours } from "seq2see/theme";

const INKS = { dark: "#11141a", light: "#ffffff" };
const MOVES = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

/** Whether black reads better than white on a colour: its relative luminance, as WCAG 2 has it. */
function isLight(colour) {
  const [red, green, blue] = colour.match(/\d+/g).map((part) => (part / 255) ** 2.2);
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.18;
}

export class Matrix {
  /**
   * `onPoint(cell or null)` tells what is looked at; with `onEdit(row, column, value)` the cells are fields.
   * @param {{name: string, title: string, formula: string, onPoint: (cell: any) => void,
   *   onEdit?: ((row: number, column: number, value: number | null) => void) | null}} options
   */
  constructor({ name, title, formula, onPoint, onEdit = null }) {
    this.name = name;
    this.onPoint = onPoint;
    this.onEdit = onEdit;
    this.place = { row: 0, column: 0 };
    /** @type {HTMLTableCellElement[][]} */
    this.cells = [];
    this.table = element("table", { id: name, class: onEdit ? "matrix given" : "matrix", "aria-label": title });
    this.formula = element("span", { class: "hint", text: formula });
    this.element = element(
      "figure",
      { class: "step" },
      element("figcaption", {}, element("h2", { text: title }), this.formula),
      this.table,
    );
    this.listen();
  }

  listen() {
    const at = (event) => this.cellOf(event.target);
    this.table.addEventListener("pointerover", (event) => this.onPoint(at(event)));
    this.table.addEventListener("pointerleave", () => this.onPoint(null));
    this.table.addEventListener("focusin", (event) => this.onPoint(at(event)));
    this.table.addEventListener("focusout", () => this.onPoint(null));
    if (this.onEdit) {
      this.table.addEventListener("input", (event) => this.edited(event.target));
      this.table.addEventListener("focusout", (event) => this.settled(event.target));
    } else this.table.addEventListener("keydown", (event) => this.moved(event));
  }

  cellOf(target) {
    const found = target.closest?.("td");
    return found ? { matrix: this.name, row: Number(found.dataset.row), column: Number(found.dataset.column) } : null;
  }

  edited(field) {
    const value = numberOf(field.value);
    field.setAttribute("aria-invalid", String(value === null));
    const { row, column } = /** @type {any} */ (this.cellOf(field));
    this.onEdit?.(row, column, value);
  }

  // What is no number gives way to the last one when the field is left.
  settled(field) {
    if (field.getAttribute("aria-invalid") !== "true") return;
    field.value = field.dataset.value;
    field.setAttribute("aria-invalid", "false");
  }

  // Results are one stop of the tabulator; arrows walk in them.
  moved(event) {
    const move = MOVES[event.key];
    const cell = this.cells[this.place.row + (move?.[0] ?? 0)]?.[this.place.column + (move?.[1] ?? 0)];
    if (!move || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    cell?.focus();
  }

  /** `hidden[row][column]` are masked; `weights` are coloured from 0 to 1, all else by its sign. */
  show(values, rows, columns, { hidden = null, weights = false } = {}) {
    if (values.length !== this.cells.length || values[0].length !== this.cells[0].length) this.build(rows, columns);
    const flat = values.flatMap((row, at) => row.map((value, place) => (hidden?.[at][place] ? 0 : value)));
    const grid = weights
      ? new Grid(
          values.length,
          values[0].length,
          Uint8Array.from(flat, (value) => Math.round(255 * value)),
          1 / 255,
        )
      : new Grid(values.length, values[0].length, Float32Array.from(flat), 1);
    for (const [row, cells] of this.cells.entries())
      for (const [column, cell] of cells.entries()) {
        const value = values[row][column];
        if (this.onEdit) this.fill(cell.querySelector("input"), value);
        else this.paint(cell, value, hidden?.[row][column] ?? false, grid, weights);
      }
    return grid;
  }

  fill(field, value) {
    field.dataset.value = String(value);
    if (field.value === "" || Number(field.value) !== value) field.value = String(value);
    field.setAttribute("aria-invalid", "false");
  }

  paint(cell, value, hidden, grid, weights) {
    const share = hidden ? 0 : grid.share(value, "linear");
    cell.classList.toggle("masked", hidden);
    cell.textContent = hidden && !weights ? "−∞" : shown(value);
    const colour = colours().palette.css(share, !weights);
    cell.style.background = hidden ? "" : colour;
    cell.style.color = hidden ? "" : INKS[isLight(colour) ? "dark" : "light"];
  }

  build(rows, columns) {
    const cell = (row, column) =>
      element(
        "td",
        {
          "data-row": row,
          "data-column": column,
          tabindex: this.onEdit ? null : row + column === 0 ? "0" : "-1",
          focus: () => this.stop(row, column),
        },
        this.onEdit ? this.field(rows[row], columns[column]) : null,
      );
    this.cells = rows.map((_, row) => columns.map((_, column) => cell(row, column)));
    this.place = { row: 0, column: 0 };
    const head = element("tr", {}, element("td"), ...columns.map((text) => element("th", { scope: "col", text })));
    head.firstChild.className = "corner";
    const body = this.cells.map((cells, row) =>
      element("tr", {}, element("th", { scope: "row", text: rows[row] }), ...cells),
    );
    this.table.replaceChildren(head, ...body);
  }

  stop(row, column) {
    if (this.onEdit) return;
    this.cells[this.place.row][this.place.column].tabIndex = -1;
    this.cells[row][column].tabIndex = 0;
    this.place = { row, column };
  }

  field(row, column) {
    const label = `${this.name}, ${row}, ${column}`;
    return element("input", {
      type: "number",
      step: "any",
      min: -MOST,
      max: MOST,
      "aria-label": label,
      autocomplete: "off",
    });
  }

  has({ row, column }) {
    return Boolean(this.cells[row]?.[column]?.offsetParent); // a head that is not in use has no place
  }

  // Cells that what is looked at is made of.
  mark(uses, own) {
    for (const [row, cells] of this.cells.entries())
      for (const [column, cell] of cells.entries()) {
        const here = (one) => one && one.matrix === this.name && one.row === row && one.column === column;
        cell.classList.toggle("used", uses.some(here));
        cell.classList.toggle("own", Boolean(here(own)));
      }
  }
}
