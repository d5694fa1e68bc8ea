// The residual blocks of a network: what each is worth, a switch for each, and the maps that stages of them give.

import { percent } from "seq2see/candidates";
import { element, inkOf } from "seq2see/element";
import { Grid } from "seq2see/grid";
import { number, signed } from "seq2see/labels";
import { bytesOf } from "seq2see/store";
import { colours } from "seq2see/theme";

const TILE = 62; // pixels of a map, and what is left between two
const GAP = 6;

export class Blocks {
  /** @param {import("seq2see/explorer").Explorer} explorer */
  constructor(explorer) {
    this.explorer = explorer;
    this.rows = element("tbody");
    this.head = element("tr");
    this.table = element("table", { id: "blocks", class: "blocks" }, element("thead", {}, this.head), this.rows);
    this.hint = element("p", { class: "hint" });
    this.sheets = element("div", { id: "features", class: "sheets" });
    this.worth = element(
      "div",
      { class: "panel" },
      element("h2", { text: "What each residual block is worth" }),
      this.hint,
      element("div", { class: "scroller" }, this.table),
    );
    this.maps = element(
      "div",
      { class: "panel" },
      element("h2", { text: "Feature maps of each stage, the strongest channels" }),
      this.sheets,
    );
    this.element = element("div", { class: "pair" }, this.worth, this.maps);
  }

  /** @param {import("seq2see/shown").Shown} shown */
  update({ view }) {
    this.element.hidden = view.blocks.length === 0;
    if (this.element.hidden) return;
    const isNumber = view.kind === "number";
    this.hint.textContent = `Without a block only its skip is left: x instead of F(x) + x. The change is that of ${
      isNumber ? "the number" : "the log-probability of the answer above"
    }.`;
    const titles = ["", "block", "says without it", isNumber ? "" : "probability", "change"];
    this.head.replaceChildren(...titles.map((text) => element("th", { text, scope: "col" })));
    const focused = document.activeElement?.getAttribute("data-block");
    this.rows.replaceChildren(...view.blocks.map((one) => this.row(one, view, isNumber)));
    if (focused) this.rows.querySelector(`[data-block="${CSS.escape(focused)}"]`)?.focus();
    this.sheets.replaceChildren(...view.features.map((one) => this.sheet(one)));
  }

  row({ block, skipped, answer, value, change }, view, isNumber) {
    const greatest = Math.max(1e-9, ...view.blocks.map((one) => Math.abs(one.change ?? 0)));
    const { store, stale } = this.explorer;
    const on = element("input", {
      type: "checkbox",
      "data-block": block,
      "aria-label": `${block} is on`,
      disabled: store.saved || stale,
      change: (event) => this.toggle(block, event),
    });
    on.checked = !skipped;
    const fill = element("span", { class: (change ?? 0) < 0 ? "fill loss" : "fill" });
    fill.style.width = `${(100 * Math.abs(change ?? 0)) / greatest}%`;
    return element(
      "tr",
      { class: skipped ? "off" : null },
      element("td", {}, on),
      element("td", { class: "value", text: block }),
      element("td", { class: "said", text: skipped ? "left out" : answer || "no label" }),
      element("td", { class: "value", text: skipped || isNumber || value === null ? "" : percent(value) }),
      element(
        "td",
        {},
        element(
          "span",
          { class: "change" },
          element("span", { class: "bar" }, fill),
          element("span", { class: "value", text: change === null ? "" : signed(change) }),
        ),
      ),
    );
  }

  // A block that is left out by several edits comes back when all of them are gone.
  toggle(block, event) {
    const { asked } = this.explorer;
    const edits = asked.edits.filter((edit) => edit.kind !== "skip" || edit.block !== block);
    const next = event.target.checked ? edits : [...edits, { kind: "skip", block }];
    this.explorer.change({ edits: next, plain: false }, event);
  }

  /** One canvas for each stage. */
  sheet({ stage, channels, shape, maps }) {
    const bytes = bytesOf(maps);
    const [rows, columns] = shape;
    const canvas = element("canvas", {
      role: "img",
      "aria-label": `${stage}: maps of channels ${channels.join(", ")}`,
      "data-stage": stage,
    });
    const each = Math.min(8, channels.length);
    const lines = Math.ceil(channels.length / each);
    const tall = Math.round((TILE * rows) / columns);
    const ratio = Math.min(3, devicePixelRatio || 1);
    const [width, height] = [each * (TILE + GAP) - GAP, lines * (tall + GAP) - GAP];
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.style.width = `${width}px`;
    const context = inkOf(canvas);
    context.scale(ratio, ratio);
    context.imageSmoothingEnabled = false;
    const inks = colours();
    for (const place of channels.keys()) {
      const size = rows * columns;
      const grid = new Grid(rows, columns, bytes.subarray(place * size, (place + 1) * size), 1 / 255);
      const [x, y] = [(place % each) * (TILE + GAP), Math.floor(place / each) * (tall + GAP)];
      context.drawImage(grid.raster(inks.palette, "root"), x, y, TILE, tall);
      context.strokeStyle = inks.line;
      context.strokeRect(x + 0.5, y + 0.5, TILE - 1, tall - 1);
    }
    const told = `${stage} · ${rows} x ${columns} · channels ${channels
      .slice(0, 4)
      .map((one) => number(one, 0))
      .join(", ")} …`;
    return element("figure", {}, element("figcaption", { class: "hint", text: told }), canvas);
  }
}
