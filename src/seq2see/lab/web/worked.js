// The worked example of self-attention as a page: change a number, and every step follows.

import { element } from "seq2see/element";
import { work } from "seq2see/lab/arithmetic";
import { Controls } from "seq2see/lab/controls";
import { explain } from "seq2see/lab/explain";
import { History } from "seq2see/lab/history";
import { Matrix } from "seq2see/lab/matrix";
import { MATRICES, MOST } from "seq2see/lab/numbers";
import { Legend } from "seq2see/legend";
import { Notice } from "seq2see/notice";
import { onSystemChange, wear } from "seq2see/theme";

const HINT = "Point at a cell, or walk to it with the tabulator and the arrows, to see how it is made.";
const FORMULAS = { h: "a row for each position", Wq: "for queries", Wk: "for keys", Wv: "for values" };
const numbered = (name, count) => Array.from({ length: count }, (_, place) => `${name}${place + 1}`);

class Page {
  constructor() {
    this.notice = new Notice("notice");
    this.history = new History((complaints) => this.update(complaints));
    this.controls = new Controls(this.history, this.notice);
    /** @type {import("seq2see/lab/explain").Cell | null} */
    this.cell = null;
    this.worked = work(this.history.now);
    const onPoint = (cell) => this.point(cell);
    const result = (name, title, formula = "") => new Matrix({ name, title, formula, onPoint });
    this.given = MATRICES.map((name) => {
      const onEdit = (row, column, value) => this.edit(name, row, column, value);
      return new Matrix({ name, title: name, formula: FORMULAS[name], onPoint, onEdit });
    });
    this.projected = ["q", "k", "v"].map((name) => result(name, name, `${name} = W${name} h`));
    this.heads = [1, 2].map((head) => {
      const scores = result(`scores${head}`, "scores");
      const weights = result(`weights${head}`, "weights");
      const arrow = element("span", { class: "arrow", "aria-hidden": "true", text: "→" });
      return { scores, weights, room: element("div", { class: "head" }, scores.element, arrow, weights.element) };
    });
    this.outputs = result("outputs", "h′");
    const rows = this.heads.flatMap(({ scores, weights }) => [scores, weights]);
    this.matrices = [...this.given, ...this.projected, ...rows, this.outputs];
    this.legend = new Legend();
    this.arithmetic = element("p", { id: "arithmetic", role: "status", text: HINT });
    onSystemChange(() => this.update());
    addEventListener("keydown", (event) => this.press(event));
  }

  get elements() {
    return [
      this.controls.element,
      this.notice.element,
      element(
        "main",
        { class: "steps" },
        stage(1, "Given", null, ...this.given.map((one) => one.element)),
        stage(2, "Queries, keys, values", null, ...this.projected.map((one) => one.element)),
        element(
          "div",
          { class: "last" },
          stage(3, "Who looks at whom", this.legend.element, ...this.heads.map(({ room }) => room)),
          stage(4, "What comes out", null, this.outputs.element),
        ),
      ),
      element("footer", { class: "status" }, this.arithmetic),
    ];
  }

  edit(name, row, column, value) {
    if (value === null) {
      this.arithmetic.textContent = `Numbers here go from −${MOST} to ${MOST}; until then the last one counts.`;
      return;
    }
    const matrix = this.history.now[name].map((values) => [...values]);
    matrix[row][column] = value;
    this.history.change({ [name]: matrix }, `${name} ${row} ${column}`);
  }

  press(event) {
    const key = event.key.toLowerCase();
    if (!(event.ctrlKey || event.metaKey) || event.altKey || !["z", "y"].includes(key)) return;
    event.preventDefault(); // a field would undo its own letters alone
    if (key === "z" && !event.shiftKey) this.history.undo();
    else this.history.redo();
  }

  update(complaints = []) {
    wear(this.history.now.theme);
    if (complaints.length) this.notice.show(complaints.join(" · "));
    else this.notice.clear();
    this.controls.show();
    this.worked = work(this.history.now);
    this.showNumbers(this.history.now);
    this.showHeads(this.history.now);
    this.point(this.cell);
  }

  showNumbers({ h, heads, ...numbers }) {
    const entries = numbered("", h[0].length);
    for (const matrix of this.given)
      if (matrix.name === "h") matrix.show(h, numbered("h", h.length), entries);
      else matrix.show(numbers[matrix.name], entries, entries);
    for (const matrix of this.projected)
      matrix.show(this.worked[matrix.name], numbered(matrix.name, h.length), entries);
    this.outputs.formula.textContent = heads > 1 ? "weights · v, heads side by side" : "weights · v";
    this.outputs.show(
      this.worked.outputs,
      numbered("h", h.length).map((name) => `${name}′`),
      entries,
    );
  }

  showHeads({ h, heads, scale, choose }) {
    const hidden = this.worked.seen.map((row) => row.map((may) => !may));
    const divided = scale === "root" ? ` / √${h[0].length / heads}` : "";
    const labels = [numbered("q", h.length), numbered("k", h.length)];
    for (const [place, { scores, weights, room }] of this.heads.entries()) {
      room.hidden = place >= heads;
      if (room.hidden) continue;
      const head = this.worked.heads[place];
      const named = heads > 1 ? `head ${place + 1}: ` : "";
      scores.formula.textContent = `${named}q · k${divided}`;
      weights.formula.textContent = `${named}${choose} of each row`;
      scores.show(head.scores, ...labels, { hidden });
      this.legend.show(weights.show(head.weights, ...labels, { hidden, weights: true }), "linear");
    }
  }

  // Without a pointer, the cell that has the focus is looked at.
  point(pointed) {
    const focused = document.activeElement?.closest("table.matrix")?.id;
    const cell = pointed ?? this.matrices.find(({ name }) => name === focused)?.cellOf(document.activeElement) ?? null;
    const there = cell && this.matrices.find((matrix) => matrix.name === cell.matrix)?.has(cell);
    this.cell = there ? cell : null;
    const { text, uses } = this.cell ? explain(this.cell, this.history.now, this.worked) : { text: HINT, uses: [] };
    this.arithmetic.textContent = text;
    for (const matrix of this.matrices) matrix.mark(uses, this.cell);
  }
}

const stage = (digit, title, extra, ...parts) =>
  element(
    "section",
    { class: "panel stage" },
    element("h3", {}, element("kbd", { text: digit }), title, extra),
    element("div", { class: "row" }, ...parts),
  );

const page = new Page();
/** @type {HTMLElement} */ (document.getElementById("page")).replaceChildren(...page.elements);
page.update(page.history.complaints);
