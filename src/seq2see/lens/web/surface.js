// Canvases as sharp as the screen: a base that is painted when something changes, an overlay for the pointer.

import { element, inkOf } from "seq2see/element";
import { font } from "seq2see/theme";

export class Surface {
  width = 0;
  height = 0;
  ratio = 1;

  /**
   * @param {{id: string, label: string, role?: string, onResize: () => void, height?: number | null}} options
   */
  constructor({ id, label, role = "application", onResize, height = null }) {
    this.base = element("canvas", { class: "base" });
    this.over = element("canvas", { class: "over" });
    this.element = element(
      "div",
      { id, class: "surface", role, "aria-label": label, tabindex: "0" },
      this.base,
      this.over,
    );
    if (height !== null) this.element.style.height = `${height}px`;
    this.onResize = onResize;
    new ResizeObserver(() => this.measure() && onResize()).observe(this.element);
  }

  // Says whether the size is new; a hidden surface has none.
  measure() {
    const width = this.element.clientWidth;
    const height = this.element.clientHeight;
    const ratio = Math.min(3, devicePixelRatio || 1);
    if (width === 0 || height === 0) return false;
    if (width === this.width && height === this.height && ratio === this.ratio) return false;
    this.width = width;
    this.height = height;
    this.ratio = ratio;
    for (const canvas of [this.base, this.over]) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
    }
    return true;
  }

  clean(canvas) {
    const context = inkOf(canvas);
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    context.clearRect(0, 0, this.width, this.height);
    context.font = font(13);
    context.textBaseline = "middle";
    context.lineCap = "butt";
    context.globalAlpha = 1;
    context.direction = "ltr";
    return context;
  }

  paint() {
    return this.clean(this.base);
  }

  overlay() {
    return this.clean(this.over);
  }

  at(event) {
    const box = this.base.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  }

  get ready() {
    return this.width > 0 && this.element.clientWidth > 0;
  }
}

/** Slanting lines over a box: what a model has never seen. */
export function hatch(context, [x, y, width, height], colour) {
  context.save();
  context.beginPath();
  context.rect(x, y, width, height);
  context.clip();
  context.strokeStyle = colour;
  context.globalAlpha = 0.4;
  context.lineWidth = 1.2;
  context.beginPath();
  for (let from = x - height; from < x + width; from += 6) {
    context.moveTo(from, y + height);
    context.lineTo(from + height, y);
  }
  context.stroke();
  context.restore();
}

export function rounded(context, x, y, width, height, radius) {
  context.beginPath();
  context.roundRect(x, y, Math.max(0, width), Math.max(0, height), Math.min(radius, width / 2, height / 2));
}
