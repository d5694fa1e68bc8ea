// What the edits did: outputs before and after, and how far each step moved.

import { writes } from "seq2see/answers";
import { element } from "seq2see/element";
import { isolated, number, shorten, signed, visible } from "seq2see/labels";
import { Surface } from "seq2see/surface";
import { colours, font } from "seq2see/theme";

const STEPS = { text: "step", tags: "word", gaps: "gap" };
const RUNS = 160; // as many pieces of a difference as the page draws; the rest is counted

// Neighbours of the same sign become one piece.
export function runs(difference) {
  const joined = [];
  for (const [sign, label] of difference) {
    const last = joined.at(-1);
    if (last && last.sign === sign) last.labels.push(label);
    else joined.push({ sign, labels: [label] });
  }
  return joined;
}

export class Effect {
  constructor(status) {
    this.status = status;
    /** What the drawing is of. @type {import("seq2see/store").View | null} */
    this.view = null;
    this.each = 0;
    this.difference = element("p", { id: "difference", class: "output difference", dir: "auto" });
    this.before = element("p", { class: "hint before" });
    this.figures = element("dl", { class: "figures" });
    this.caption = element("h3", { text: "How far each step moved (KL divergence)" });
    this.bars = new Surface({
      id: "kl",
      role: "img",
      label: "KL divergence per step",
      height: 110,
      onResize: () => this.draw(),
    });
    this.empty = element("p", {
      class: "hint",
      text: "No edit is on: this is the plain model. Add one and its effect is measured here.",
    });
    this.body = element("div", {}, this.difference, this.before, this.figures, this.caption, this.bars.element);
    this.element = element(
      "div",
      { id: "effect", class: "panel" },
      element("h2", { text: "Measured effect" }),
      this.empty,
      this.body,
    );
    this.bars.element.addEventListener("pointermove", (event) => this.point(event));
    this.bars.element.addEventListener("pointerleave", () => this.status.point(""));
  }

  /** @param {import("seq2see/store").View} view */
  update(view) {
    this.view = view;
    const effect = view.effect ?? null;
    this.empty.hidden = effect !== null;
    this.body.hidden = effect === null;
    if (effect === null) return;
    this.tell(effect.difference);
    const same = effect.difference.every(([sign]) => sign === "=");
    this.before.textContent = same
      ? `The ${writes(view) ? "output" : "answer"} stays the same.`
      : `before: ${effect.output}  ·  after: ${view.output}`;
    const figure = (name, value) => element("div", {}, element("dt", { text: name }), element("dd", { text: value }));
    const said = writes(view) ? "output" : "answer";
    this.figures.replaceChildren(
      ...(view.kind === "number"
        ? [figure("change of the number", signed(effect.change, 3))]
        : [
            figure(`change for the plain ${said}`, signed(effect.change, 3)),
            figure("log-probability before", number(effect.log_probability, 3)),
            figure(`after, of its own ${said}`, number(view.log_probability, 3)),
          ]),
    );
    this.caption.textContent = `How far each ${STEPS[view.kind] ?? "answer"} moved (KL divergence)`;
    this.caption.hidden = this.bars.element.hidden = effect.kl.length === 0;
    this.draw();
  }

  tell(difference) {
    const pieces = runs(difference);
    const shown = pieces.slice(0, RUNS).flatMap(({ sign, labels }) => {
      const text = labels.map(visible).join(" ");
      if (sign === "=") return [element("span", { text }), " "];
      return [element(sign === "-" ? "del" : "ins", { text: `${sign === "-" ? "−" : "+"} ${text}` }), " "];
    });
    if (pieces.length > RUNS)
      shown.push(element("span", { class: "hint", text: `… and ${pieces.length - RUNS} more pieces` }));
    this.difference.replaceChildren(...shown);
  }

  draw() {
    const effect = this.view?.effect;
    this.bars.measure();
    if (!effect || !this.bars.ready) return;
    const context = this.bars.paint();
    const inks = colours();
    const { width, height } = this.bars;
    const most = Math.max(0.01, ...effect.kl);
    this.each = Math.min(46, (width - 40) / Math.max(1, effect.kl.length));
    const base = height - 22;
    context.font = font(11);
    context.fillStyle = inks.muted;
    context.textAlign = "left";
    context.fillText(number(most, 2), 0, 12);
    context.fillText("0", 0, base);
    context.fillStyle = inks.line;
    context.fillRect(34, base, this.each * effect.kl.length, 1);
    const stride = Math.max(1, Math.ceil(30 / this.each));
    effect.kl.forEach((value, step) => {
      const x = 36 + step * this.each;
      context.fillStyle = inks.accent;
      const tall = Math.max(value > 0 ? 1.5 : 0, (value / most) * (base - 12));
      context.fillRect(x, base - tall, Math.max(1, this.each - (this.each > 5 ? 3 : 0)), tall);
      if (step % stride !== 0) return;
      context.fillStyle = inks.muted;
      context.textAlign = "center";
      context.fillText(shorten(effect.predicted[step], 5), x + this.each / 2 - 1, base + 12, Math.max(30, this.each));
    });
  }

  point(event) {
    const effect = this.view?.effect;
    if (!this.view || !effect) return;
    const step = Math.floor((this.bars.at(event).x - 36) / this.each);
    const inside = step >= 0 && step < effect.kl.length;
    const who = `${STEPS[this.view.kind] ?? "answer"} ${step}, ${isolated(effect.predicted[step])}`;
    this.status.point(inside ? `${who}: KL ${number(effect.kl[step], 4)}` : "");
  }
}
