// The tree of hypotheses that a beam search kept, dropped and finished.

import { button, element } from "seq2see/element";
import { fit, number, visible } from "seq2see/labels";
import { Scene } from "seq2see/scene";
import { rounded, Surface } from "seq2see/surface";
import { homeOf } from "seq2see/suspended";
import { colours, font } from "seq2see/theme";
import { Tree } from "seq2see/tree";

const ACROSS = 126;
const DOWN = 30;
const BOX = { width: 92, height: 22 };
const TAIL = 16; // tokens shown over the tree
const ROOM = 26; // pixels kept free around the tree

/** @typedef {import("seq2see/tree").Node} Node */

/** @extends {Scene<null, Tree>} */
export class Beam extends Scene {
  constructor(explorer, status) {
    super(explorer, status, "beam");
    /** @type {Node | null} */
    this.hovered = null;
    /** @type {Node | null} */
    this.chosen = null;
    this.left = 0;
    this.top = 0;
    this.zoom = 1;
    /** @type {{x: number, y: number, far: number} | null} */
    this.drag = null;
    this.surface = new Surface({
      id: "tree",
      label: "beam search as a tree; arrows move, Enter forces the path",
      onResize: () => {
        this.start();
        this.draw();
      },
    });
    this.wider = button("beam-4", "Search with a beam of 4", "", () =>
      explorer.change({ beam: Math.min(4, explorer.limits.beam) }),
    );
    this.widen = element(
      "div",
      { id: "widen", class: "empty" },
      element("p", { text: "With a beam of 1 there is one hypothesis and no tree." }),
      this.wider,
    );
    this.words = element("p", { id: "hypothesis", class: "output", dir: "auto" });
    this.about = element("p", { class: "hint" });
    this.board = element("div", { class: "panel" }, this.words, this.about, this.samples(), this.surface.element);
    this.pictures = [this.widen, this.board];
    this.element.append(...this.pictures);
    this.listen();
  }

  samples() {
    const sample = (name, text) => element("span", { class: `sample ${name}` }, element("i"), text);
    return element(
      "p",
      { class: "samples" },
      sample("best", "best"),
      sample("kept", "kept"),
      sample("pruned", "pruned"),
      sample("finished", "finished ■"),
      element("span", {
        class: "hint wide",
        text: "wheel zooms, drag pans, 0 resets; choosing a node forces its path",
      }),
    );
  }

  listen() {
    const target = this.surface.element;
    target.addEventListener("pointerdown", (event) => (this.drag = { x: event.clientX, y: event.clientY, far: 0 }));
    target.addEventListener("pointermove", (event) => {
      if (this.drag && (event.buttons & 1) === 1) {
        const [x, y] = [event.clientX - this.drag.x, event.clientY - this.drag.y];
        this.drag = { x: event.clientX, y: event.clientY, far: this.drag.far + Math.abs(x) + Math.abs(y) };
        if (this.drag.far > 4) {
          this.left -= x;
          this.top -= y;
          this.draw();
        }
        return;
      }
      this.hover(this.find(this.surface.at(event)), event);
    });
    target.addEventListener("pointerleave", (event) => this.hover(null, event));
    target.addEventListener("click", (event) => {
      const node = this.drag && this.drag.far > 4 ? null : this.find(this.surface.at(event));
      if (node) this.force(node);
    });
    target.addEventListener("dblclick", () => this.reset());
    target.addEventListener(
      "wheel",
      (event) => {
        event.preventDefault();
        this.zoomAt(Math.exp(-event.deltaY * 0.0015), this.surface.at(event));
      },
      { passive: false },
    );
  }

  key(event) {
    if (!this.picture) return false;
    if (event.key === "+" || event.key === "=")
      this.zoomAt(1.3, { x: this.surface.width / 2, y: this.surface.height / 2 });
    else if (event.key === "-") this.zoomAt(1 / 1.3, { x: this.surface.width / 2, y: this.surface.height / 2 });
    else if (event.key === "0") this.reset();
    else if (event.key === "Enter" && this.chosen && document.activeElement === this.surface.element)
      this.force(this.chosen);
    else if (event.key.startsWith("Arrow"))
      this.choose(this.picture.next(this.chosen ?? this.picture.nodes[0], event.key));
    else return false;
    return true;
  }

  choose(node) {
    if (!node) return;
    this.chosen = node;
    const [x, y] = this.point(node);
    if (x < 40 || x > this.surface.width - 60) this.left += x - this.surface.width / 2;
    if (y < 20 || y > this.surface.height - 20) this.top += y - this.surface.height / 2;
    this.draw();
    this.describe(node);
    this.status.say(this.sentence(node));
  }

  hide() {
    this.hover(null);
  }

  paint({ view }) {
    this.widen.hidden = Boolean(view.tree);
    this.board.hidden = !view.tree;
    this.wider.hidden = this.explorer.store.saved;
    if (!view.tree) {
      this.picture = null;
      return;
    }
    if (this.view !== view) {
      this.view = view;
      this.picture = new Tree(view.tree.nodes);
      this.hovered = null;
      this.chosen = null;
      const height = Math.min(this.size.tall * this.fitting(Infinity) + 8, innerHeight * 0.62);
      this.surface.element.style.height = `${Math.round(Math.max(160, height))}px`;
      this.start(true);
    }
    this.describe(null);
    this.draw();
  }

  reset() {
    this.start(true);
    this.draw();
  }

  get size() {
    const { steps, top, bottom } = this.seen;
    return { wide: steps * ACROSS + 2 * ROOM, tall: (bottom - top + 1) * DOWN + 2 * ROOM };
  }

  // The zoom that shows all, unless labels would become too small to read.
  fitting(height) {
    const { wide, tall } = this.size;
    return Math.max(0.75, Math.min(1, this.surface.element.clientWidth / wide, height / tall));
  }

  // At first the best path is in sight, from its beginning; a small tree is shown whole.
  start(anew = false) {
    this.surface.measure();
    if (!this.picture || !this.surface.ready) return;
    if (!anew && this.started === this.picture) return;
    this.started = this.picture;
    const { tall } = this.size;
    this.zoom = this.fitting(this.surface.height);
    this.left = 0;
    const middle = (tall * this.zoom - this.surface.height) / 2;
    const best = (ROOM - this.picture.top * DOWN) * this.zoom - this.surface.height / 2;
    const end = tall * this.zoom - this.surface.height;
    this.top = end <= 0 ? middle : Math.max(0, Math.min(best, end));
  }

  zoomAt(factor, { x, y }) {
    const zoom = Math.max(0.12, Math.min(2.5, this.zoom * factor));
    const change = zoom / this.zoom;
    this.left = (this.left + x) * change - x;
    this.top = (this.top + y) * change - y;
    this.zoom = zoom;
    this.draw();
  }

  point(node) {
    const x = node.step * ACROSS + ROOM + BOX.width / 2;
    const y = (node.place - this.seen.top) * DOWN + ROOM;
    return [x * this.zoom - this.left, y * this.zoom - this.top];
  }

  find({ x, y }) {
    if (!this.picture) return null;
    const step = Math.round(((x + this.left) / this.zoom - ROOM - BOX.width / 2) / ACROSS);
    const place = Math.round(((y + this.top) / this.zoom - ROOM) / DOWN) + this.picture.top;
    return this.picture.columns[step]?.find((node) => node.place === place) ?? null;
  }

  style(node, inks) {
    if (node.state === "best") return { line: inks.mark, thick: 3, ink: inks.panel, fill: inks.mark, alpha: 1 };
    if (node.state === "pruned")
      return { line: inks.faint, thick: 1, ink: inks.muted, fill: inks.panel, alpha: 0.75, dashed: true };
    if (node.state === "finished")
      return { line: inks.accent, thick: 1.75, ink: inks.panel, fill: inks.accent, alpha: 1 };
    return { line: inks.accent, thick: 1.5, ink: inks.ink, fill: inks.soft, alpha: 1 };
  }

  draw() {
    if (!this.picture || !this.surface.ready) return;
    const context = this.surface.paint();
    const inks = colours();
    const first = Math.max(0, Math.floor((this.left / this.zoom - ROOM) / ACROSS) - 1);
    const last = Math.min(this.picture.steps, Math.ceil((this.left + this.surface.width) / this.zoom / ACROSS) + 1);
    const seen = this.picture.columns
      .slice(first, last)
      .flat()
      .filter((node) => {
        const y = this.point(node)[1];
        return y > -400 && y < this.surface.height + 400;
      });
    const weight = { pruned: 0, kept: 1, finished: 2, best: 3 };
    seen.sort((one, other) => weight[one.state] - weight[other.state]);
    for (const node of seen) if (node.parent) this.branch(context, node, this.style(node, inks));
    for (const node of seen) this.box(context, node, this.style(node, inks));
    this.emphasise();
  }

  branch(context, node, style) {
    const [x, y] = this.point(node);
    const [fromX, fromY] = this.point(node.parent);
    const half = (BOX.width / 2) * this.zoom;
    context.strokeStyle = style.line;
    context.globalAlpha = style.alpha;
    context.lineWidth = style.thick;
    context.setLineDash(style.dashed ? [3, 3] : []);
    context.beginPath();
    context.moveTo(fromX + half, fromY);
    context.bezierCurveTo((fromX + half + x - half) / 2, fromY, (fromX + half + x - half) / 2, y, x - half, y);
    context.stroke();
    context.setLineDash([]);
    context.globalAlpha = 1;
  }

  box(context, node, style) {
    const [x, y] = this.point(node);
    const { width, height } = { width: BOX.width * this.zoom, height: BOX.height * this.zoom };
    rounded(context, x - width / 2, y - height / 2, width, height, 6 * this.zoom);
    context.fillStyle = style.fill;
    context.fill();
    context.strokeStyle = style.line;
    context.lineWidth = 1;
    context.setLineDash(style.dashed ? [3, 3] : []);
    context.stroke();
    context.setLineDash([]);
    const ended = node.state === "finished" || (node.state === "best" && node.children.length === 0);
    if (this.zoom < 0.45) return;
    context.font = font(12 * this.zoom, node.state === "best" ? 600 : 400);
    context.textAlign = "left";
    context.fillStyle = style.ink;
    const score = node.parent ? number(node.log_probability) : "";
    context.fillText(fit(context, node.label, width * (score ? 0.52 : 0.85)), x - width / 2 + 6 * this.zoom, y + 0.5);
    context.font = font(10.5 * this.zoom);
    context.textAlign = "right";
    context.fillText(score, x + width / 2 - 5 * this.zoom, y + 0.5);
    if (!ended) return;
    context.fillStyle = style.line;
    context.fillRect(x + width / 2 + 4 * this.zoom, y - 4 * this.zoom, 8 * this.zoom, 8 * this.zoom);
  }

  emphasise() {
    const context = this.surface.overlay();
    const inks = colours();
    const focus = this.hovered ?? this.chosen;
    if (!focus) return;
    for (const node of this.seen.path(focus)) {
      if (node.parent) this.branch(context, node, { line: inks.ink, thick: 2.5, alpha: 0.85 });
      const [x, y] = this.point(node);
      const width = (BOX.width + 4) * this.zoom;
      const height = (BOX.height + 4) * this.zoom;
      rounded(context, x - width / 2, y - height / 2, width, height, 7);
      context.strokeStyle = inks.ink;
      context.lineWidth = 2;
      context.stroke();
    }
  }

  hover(node, event) {
    if (node === this.hovered || !this.picture) return;
    this.hovered = node;
    this.surface.element.style.cursor = node ? "pointer" : "";
    this.emphasise();
    this.describe(node);
    this.status.point(node ? this.sentence(node) : "");
    if (event) this.explorer.painted("paint-hover", event.timeStamp);
  }

  hypothesis(node) {
    return this.line(this.seen.path(node).slice(1)) || visible(node.label);
  }

  line(nodes) {
    return nodes.map((node) => visible(node.label)).join(" ");
  }

  sentence(node) {
    return `${node.state} at step ${node.step}: \u2068${this.hypothesis(node)}\u2069, log-probability ${number(node.log_probability, 3)}`;
  }

  describe(node) {
    const best = node ?? this.seen.nodes.filter((one) => one.state === "best").at(-1) ?? this.seen.nodes[0];
    // The end matters most and must not push the tree away; the whole is in the line at the foot of the page.
    const path = this.seen.path(best).slice(1);
    this.words.textContent = path.length > TAIL ? `… ${this.line(path.slice(-TAIL))}` : this.hypothesis(best);
    const which = node ? `${node.state}, step ${node.step}` : "the best hypothesis";
    const size = `${this.seen.nodes.length} nodes in ${this.seen.steps - 1} steps`;
    this.about.textContent = `${which} · log-probability ${number(best.log_probability, 3)} · ${size}`;
  }

  force(node) {
    const { asked, shown, stale, store, limits } = this.explorer;
    if (store.saved || stale || !shown) return;
    if (shown.state.words) {
      this.explorer.notice.show("Switch words off to force single tokens.", "hint");
      return;
    }
    const home = homeOf(shown.state);
    const forced = this.seen
      .path(node)
      .slice(1)
      .map((one, step) => ({ kind: "force", step, token: one.token, home }));
    const same = (edit) => edit.kind === "force" && JSON.stringify(edit.home) === JSON.stringify(home);
    this.explorer.change({ edits: [...asked.edits.filter((edit) => !same(edit)), ...forced].slice(0, limits.edits) });
  }
}
