// An image as the model saw it, with the cells of its grid coloured: never smoothed, since a model looks at cells.

import { hatch, Surface } from "seq2see/surface";
import { colours, font } from "seq2see/theme";

/** @type {Record<string, [number, number, number]>} */
const TINTS = { weights: [255, 176, 0], above: [56, 166, 255], below: [255, 122, 26] };
const STRONGEST = 0.78; // how much of the image the strongest colour covers
const LARGEST = 560; // pixels of the longer side

/**
 * Values of the places, and what is marked.
 * @typedef {{picture: import("seq2see/store").PictureOf, values: Float32Array | null, limit: number, signed: boolean,
 *   chosen: number | null, from: number | null, hidden: Set<number>, blocked: Set<number>, pinned: Set<number>,
 *   bare: boolean}} Subject
 */

/** The colours of an overlay, from its lowest value to its highest. @param {boolean} signed */
export function stops(signed) {
  const tint = ([red, green, blue], alpha) => `rgb(${red} ${green} ${blue} / ${alpha})`;
  const high = tint(signed ? TINTS.above : TINTS.weights, STRONGEST);
  return [...(signed ? [tint(TINTS.below, STRONGEST)] : []), "transparent", high];
}

export class Overlay {
  /** @param {(place: number | null, event: Event) => void} onHover @param {(place: number, event: Event) => void} onClick */
  constructor(onHover, onClick) {
    /** @type {Subject | null} */
    this.subject = null;
    /** @type {HTMLImageElement | null} */
    this.image = null;
    this.surface = new Surface({
      id: "picture",
      label: "the image, and where the model looks; Enter does what a click does",
      onResize: () => this.draw(),
    });
    this.element = this.surface.element;
    this.element.classList.add("picture");
    this.element.addEventListener("pointermove", (event) => onHover(this.find(event), event));
    for (const name of ["focus", "blur"]) this.element.addEventListener(name, () => this.draw());
    this.element.addEventListener("pointerleave", (event) => onHover(null, event));
    this.element.addEventListener("click", (event) => {
      const place = this.find(event);
      if (place !== null) onClick(place, event);
    });
  }

  /** @param {Subject} subject */
  async show(subject) {
    this.subject = subject;
    const { picture } = subject;
    if (this.image?.src !== picture.image) {
      const image = new Image();
      image.src = picture.image;
      await image.decode();
      // Whoever came later has another image.
      if (this.subject.picture.image !== picture.image) return;
      this.image = image;
    }
    this.element.style.aspectRatio = `${picture.width} / ${picture.height}`;
    const shape = picture.width / picture.height;
    this.element.style.maxWidth = `min(${Math.round(LARGEST * Math.min(1, shape))}px, max(240px, 100vh - 330px) * ${shape})`;
    this.surface.measure();
    this.draw();
  }

  /** Where a cell lies, in pixels of the screen; patches at the border may reach beyond the image. @returns {[number, number, number, number]} */
  box(place) {
    const { picture } = /** @type {Subject} */ (this.subject);
    const cell = place - picture.first;
    const scale = this.surface.width / picture.width;
    const x = (cell % picture.columns) * picture.across;
    const y = Math.floor(cell / picture.columns) * picture.down;
    const width = Math.min(picture.across, picture.width - x);
    const height = Math.min(picture.down, picture.height - y);
    return [x * scale, y * scale, width * scale, height * scale];
  }

  find(event) {
    const { picture } = this.subject ?? {};
    if (!picture || !this.surface.ready) return null;
    const { x, y } = this.surface.at(event);
    const scale = this.surface.width / picture.width;
    const column = Math.floor(x / scale / picture.across);
    const row = Math.floor(y / scale / picture.down);
    if (column < 0 || row < 0 || column >= picture.columns || row >= picture.rows) return null;
    return picture.first + row * picture.columns + column;
  }

  draw() {
    const { subject, image, surface } = this;
    if (!subject || !image || !surface.ready) return;
    const context = surface.paint();
    context.imageSmoothingEnabled = false;
    context.drawImage(image, 0, 0, surface.width, surface.height);
    if (!subject.bare) this.tint(context, subject);
    this.marks(context, subject);
  }

  tint(context, { picture, values, limit, signed }) {
    const count = picture.rows * picture.columns;
    for (let place = picture.first; values && place < picture.first + count; place += 1) {
      const share = Math.min(1, Math.abs(values[place]) / limit);
      const [red, green, blue] = signed ? (values[place] < 0 ? TINTS.below : TINTS.above) : TINTS.weights;
      context.fillStyle = `rgb(${red} ${green} ${blue} / ${STRONGEST * share})`;
      context.fillRect(...this.box(place));
    }
    context.strokeStyle = "rgb(128 128 128 / 35%)";
    context.lineWidth = 1;
    for (let place = picture.first; place < picture.first + count; place += 1) context.strokeRect(...this.box(place));
  }

  marks(context, { picture, chosen, from, hidden, blocked, pinned }) {
    const inks = colours();
    for (const place of hidden) hatch(context, this.box(place), "#ffffff");
    for (const place of blocked) this.cross(context, this.box(place));
    context.lineWidth = 2.5;
    context.strokeStyle = "#ffffff";
    for (const place of pinned) {
      const [x, y, width, height] = this.box(place);
      context.beginPath();
      context.arc(x + width / 2, y + height / 2, Math.min(width, height) / 4, 0, 2 * Math.PI);
      context.stroke();
    }
    // The first place is chosen before anybody has chosen one.
    const told = chosen || document.activeElement === this.element ? chosen : null;
    for (const place of [from, told]) {
      if (place === null || place < picture.first) continue;
      const [x, y, width, height] = this.box(place);
      context.strokeStyle = place === from ? "#ffffff" : inks.mark;
      context.strokeRect(x + 1.25, y + 1.25, width - 2.5, height - 2.5);
    }
    if (from === null || from < picture.first || from === chosen) return;
    const [x, y] = this.box(from);
    context.font = font(11, 650);
    context.fillStyle = "#ffffff";
    context.fillText("from", x + 4, y + 10);
  }

  cross(context, [x, y, width, height]) {
    context.save();
    context.lineWidth = 2;
    context.strokeStyle = "#ffffff";
    context.beginPath();
    context.moveTo(x + 4, y + 4);
    context.lineTo(x + width - 4, y + height - 4);
    context.moveTo(x + width - 4, y + 4);
    context.lineTo(x + 4, y + height - 4);
    context.stroke();
    context.restore();
  }
}
