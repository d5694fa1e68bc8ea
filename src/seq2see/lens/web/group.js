// Thumbnails of one kind of attention, all on one canvas.

import { element } from "seq2see/element";
import { number } from "seq2see/labels";
import { rounded, Surface } from "seq2see/surface";
import { colours, font } from "seq2see/theme";

const GAP = 12;
const CAPTION = 22;
const NAMES = {
  "encoder.self": "Encoder self-attention",
  "decoder.self": "Decoder self-attention",
  "decoder.cross": "Cross-attention, decoder to encoder",
  "head.pool": "Attention pooling, answer to text",
};

// Addresses that differ only in their layer belong together.
export function groupsOf(maps) {
  const groups = new Map();
  for (const map of maps) {
    const name = map.address
      .split(".")
      .filter((part) => !/^\d+$/.test(part))
      .join(".");
    if (!groups.has(name)) groups.set(name, { name, addresses: [] });
    groups.get(name).addresses.push(map.address);
  }
  return [...groups.values()];
}

const layerOf = (at) => at.split(".").find((part) => /^\d+$/.test(part)) ?? null;

export class Group {
  constructor({ name, addresses }, { onChoose, onHover, onResize }) {
    this.name = name;
    this.addresses = addresses;
    this.onHover = onHover;
    /** @type {any[]} */
    this.items = [];
    this.hovered = null;
    this.shown = null;
    this.explorer = null;
    this.summary = "";
    const title = NAMES[name] ?? name;
    this.surface = new Surface({
      id: `atlas-${name.replace(/\W/g, "-")}`,
      label: `${title}: arrows choose a head, Enter opens its map`,
      onResize: () => {
        this.place();
        this.draw();
        onResize();
      },
    });
    this.surface.element.classList.add("thumbnails");
    this.element = element(
      "div",
      { class: "group", "data-group": name },
      element("h2", { text: title }),
      this.surface.element,
    );
    const canvas = this.surface.element;
    canvas.addEventListener("click", (event) => {
      const item = this.find(event);
      if (item) onChoose(item, event);
    });
    canvas.addEventListener("pointermove", (event) => this.hover(this.find(event), event));
    canvas.addEventListener("pointerleave", () => this.hover(null));
  }

  has(at) {
    return this.addresses.includes(at);
  }

  show(shown, explorer, summary) {
    this.shown = shown;
    this.explorer = explorer;
    this.summary = summary;
    const { view, state } = shown;
    this.items = this.addresses.flatMap((at) => {
      const meta = view.maps.find((map) => map.address === at);
      return Array.from({ length: meta.heads }, (_, head) => ({
        at,
        head,
        meta,
        value: meta.summaries?.[head]?.[summary],
      }));
    });
    if (state.sort !== "layer") this.items.sort((one, other) => (other.value ?? -Infinity) - (one.value ?? -Infinity));
    this.place();
    this.draw();
  }

  place() {
    const width = this.surface.element.clientWidth - 6; // room for the mark around the outermost
    if (width <= 0 || this.items.length === 0) return;
    const heads = Math.max(...this.items.map((item) => item.meta.heads));
    const [rows, columns] = this.items[0].meta.shape;
    const wanted = Math.min(132, Math.max(64, (width + GAP) / heads - GAP));
    let each = Math.max(1, Math.floor((width + GAP) / (wanted + GAP)));
    if (this.shown.state.sort === "layer") each = Math.min(each, heads);
    const tall = wanted * Math.max(0.55, Math.min(1.2, rows / columns));
    let line = -1;
    let inLine = each;
    let layer = null;
    for (const item of this.items) {
      const newLayer = this.shown.state.sort === "layer" && item.at !== layer;
      if (inLine >= each || newLayer) {
        line += 1;
        inLine = 0;
      }
      layer = item.at;
      Object.assign(item, {
        line,
        inLine,
        x: 3 + inLine * (wanted + GAP),
        y: 4 + line * (tall + CAPTION + GAP),
        width: wanted,
        height: tall,
      });
      inLine += 1;
    }
    this.surface.element.style.height = `${Math.ceil((line + 1) * (tall + CAPTION + GAP)) + 4}px`;
    this.surface.measure();
  }

  draw() {
    if (!this.surface.ready || !this.explorer) return;
    const context = this.surface.paint();
    const inks = colours();
    const { handle, state } = this.shown;
    const { weights } = this.explorer;
    context.imageSmoothingEnabled = false;
    for (const item of this.items) {
      const thumbnails = weights.thumbnailsKnown(handle, item.at);
      if (thumbnails)
        context.drawImage(
          thumbnails.grids[item.head].raster(inks.palette, state.scale),
          item.x,
          item.y,
          item.width,
          item.height,
        );
      context.strokeStyle = inks.line;
      context.lineWidth = 1;
      context.strokeRect(
        Math.round(item.x) - 0.5,
        Math.round(item.y) - 0.5,
        Math.round(item.width) + 1,
        Math.round(item.height) + 1,
      );
      const layer = layerOf(item.at);
      context.font = font(11.5);
      context.fillStyle = inks.muted;
      context.textAlign = "left";
      const short = layer === null || item.width < 112;
      const name = short ? `${layer === null ? "head " : `${layer}·`}${item.head}` : `layer ${layer} · ${item.head}`;
      context.fillText(name, item.x, item.y + item.height + 12);
      context.fillStyle = inks.ink;
      context.textAlign = "right";
      context.fillText(number(item.value), item.x + item.width, item.y + item.height + 12);
    }
    this.mark();
  }

  mark() {
    const context = this.surface.overlay();
    const inks = colours();
    const { state } = this.shown;
    for (const item of this.items) {
      // The mean has no thumbnail of its own; its layer is marked instead.
      const chosen = item.at === state.at && (item.head === state.head || state.head === "mean");
      if (!chosen && item !== this.hovered) continue;
      rounded(context, item.x - 1.5, item.y - 1.5, item.width + 3, item.height + 3, 4);
      context.strokeStyle = chosen ? inks.mark : inks.muted;
      context.lineWidth = chosen && state.head !== "mean" ? 3 : 1.5;
      context.stroke();
    }
  }

  hover(item, event) {
    if (item === this.hovered) return;
    this.hovered = item;
    this.surface.element.style.cursor = item ? "pointer" : "";
    this.mark();
    const values =
      item &&
      Object.entries(item.meta.summaries?.[item.head] ?? {})
        .map(([name, value]) => `${name} ${number(value)}`)
        .join(", ");
    this.onHover(item ? `head ${item.head} of ${item.at}: ${values}` : "");
    if (event) this.explorer.painted("paint-hover", event.timeStamp);
  }

  find(event) {
    const { x, y } = this.surface.at(event);
    return (
      this.items.find(
        (item) => x >= item.x && x <= item.x + item.width && y >= item.y && y <= item.y + item.height + CAPTION,
      ) ?? null
    );
  }

  // The item an arrow leads to, also over the border to the next group.
  next(key, state, groups) {
    const here =
      this.items.find((item) => item.at === state.at && item.head === state.head) ??
      this.items.find((item) => item.at === state.at);
    if (!here) return null;
    const place = this.items.indexOf(here);
    if (state.head === "mean" && key.startsWith("Arrow")) return here;
    if (key === "ArrowLeft") return this.items[place - 1] ?? null;
    if (key === "ArrowRight") return this.items[place + 1] ?? null;
    if (key !== "ArrowUp" && key !== "ArrowDown") return null;
    const by = key === "ArrowUp" ? -1 : 1;
    const near = (items, line) =>
      items
        .filter((item) => item.line === line)
        .sort((one, other) => Math.abs(one.x - here.x) - Math.abs(other.x - here.x))[0];
    const within = near(this.items, here.line + by);
    if (within) return within;
    const other = groups[groups.indexOf(this) + by];
    return other ? near(other.items, by > 0 ? 0 : other.items.at(-1).line) : null;
  }

  inSight() {
    const box = this.surface.element.getBoundingClientRect();
    const seen = this.items.filter(
      (item) => item.y !== undefined && box.top + item.y + item.height > -100 && box.top + item.y < innerHeight + 100,
    );
    return [...new Set(seen.map((item) => item.at))];
  }
}
