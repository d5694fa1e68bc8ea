// A map of numbers that can paint itself once and be drawn at any size afterwards.

import { inkOf } from "seq2see/element";

export class Grid {
  /**
   * `unit` is what one step of a value is worth: 1/255 for bytes, 1 for floats.
   * @param {number} rows
   * @param {number} columns
   * @param {Uint8Array | Float32Array} values
   * @param {number} unit
   */
  constructor(rows, columns, values, unit) {
    if (values.length !== rows * columns)
      throw new Error(`a map of ${rows} by ${columns} came with ${values.length} values`);
    this.rows = rows;
    this.columns = columns;
    this.values = values;
    this.unit = unit;
    /** @type {Map<string, HTMLCanvasElement>} */
    this.rasters = new Map();
    /** @type {{low: number, high: number} | null} */
    this.known = null;
  }

  at(row, column) {
    return this.values[row * this.columns + column] * this.unit;
  }

  row(row) {
    return Float32Array.from(
      this.values.subarray(row * this.columns, (row + 1) * this.columns),
      (value) => value * this.unit,
    );
  }

  column(column) {
    return Float32Array.from({ length: this.rows }, (_, row) => this.at(row, column));
  }

  get extent() {
    if (!this.known) {
      let low = Infinity;
      let high = -Infinity;
      for (const value of this.values) {
        if (value < low) low = value;
        if (value > high) high = value;
      }
      this.known = { low: low * this.unit, high: high * this.unit };
    }
    return this.known;
  }

  get signed() {
    return this.extent.low < 0;
  }

  // The value that gets the strongest colour.
  limit(scale) {
    const { low, high } = this.extent;
    const strongest = Math.max(Math.abs(low), Math.abs(high)) || 1;
    return this.unit === 1 || scale === "relative" ? strongest : 1;
  }

  // Colour for each value; the square root lets small weights be seen.
  share(value, scale) {
    const part = Math.min(1, Math.abs(value) / this.limit(scale));
    return Math.sign(value) * (scale === "root" ? Math.sqrt(part) : part);
  }

  // Reduced by maxima, as the server does for thumbnails: a single bright cell must not vanish.
  pooled(factor) {
    if (factor <= 1) return this;
    const rows = Math.ceil(this.rows / factor);
    const columns = Math.ceil(this.columns / factor);
    const values =
      this.values instanceof Uint8Array ? new Uint8Array(rows * columns) : new Float32Array(rows * columns);
    for (let row = 0; row < this.rows; row += 1) {
      const target = Math.floor(row / factor) * columns;
      for (let column = 0; column < this.columns; column += 1) {
        const place = target + Math.floor(column / factor);
        const value = this.values[row * this.columns + column];
        if (Math.abs(value) > Math.abs(values[place])) values[place] = value;
      }
    }
    const small = new Grid(rows, columns, values, this.unit);
    small.known = this.extent;
    return small;
  }

  raster(palette, scale, factor = 1) {
    const key = `${palette.name} ${scale} ${factor}`;
    let canvas = this.rasters.get(key);
    if (!canvas) {
      if (this.rasters.size >= 4) this.rasters.clear();
      canvas = this.pooled(factor).paint(palette, scale);
      this.rasters.set(key, canvas);
    }
    return canvas;
  }

  paint(palette, scale) {
    const canvas = document.createElement("canvas");
    canvas.width = this.columns;
    canvas.height = this.rows;
    const context = inkOf(canvas);
    const image = context.createImageData(this.columns, this.rows);
    const pixels = new Uint32Array(image.data.buffer);
    const table = this.values instanceof Uint8Array ? this.table(palette, scale) : null;
    for (let place = 0; place < pixels.length; place += 1) {
      const value = this.values[place];
      pixels[place] = table ? table[value] : this.colour(value * this.unit, palette, scale);
    }
    context.putImageData(image, 0, 0);
    return canvas;
  }

  table(palette, scale) {
    return Uint32Array.from({ length: 256 }, (_, value) => this.colour(value * this.unit, palette, scale));
  }

  colour(value, palette, scale) {
    const share = this.share(value, scale);
    return this.signed ? palette.signed[Math.round((share + 1) * 255)] : palette.weights[Math.round(share * 255)];
  }

  minus(other) {
    const values = new Float32Array(this.values.length);
    for (let place = 0; place < values.length; place += 1)
      values[place] = this.values[place] * this.unit - other.values[place] * other.unit;
    return new Grid(this.rows, this.columns, values, 1);
  }
}
