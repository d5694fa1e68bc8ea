// Where a heat map lies on its surface: margins for labels and profiles, the size of cells, zoom and pan.

export class Frame {
  zoom = 1;
  left = 0;
  top = 0;
  width = 0;
  height = 0;
  rows = 0;
  columns = 0;
  margin = { left: 0, top: 0, right: 0, bottom: 0 };
  /** @type {{width: number, height: number} | null} */
  room = null;
  across = 0;
  down = 0;
  x = 0;
  y = 0;
  wide = 0;
  tall = 0;

  reset() {
    this.zoom = 1;
    this.left = 0;
    this.top = 0;
  }

  fit({ width, height, rows, columns, margin }) {
    this.width = width;
    this.height = height;
    this.rows = rows;
    this.columns = columns;
    this.margin = margin;
    const room = { width: width - margin.left - margin.right, height: height - margin.top - margin.bottom };
    this.room = room;
    let across = Math.min(72, room.width / columns);
    let down = Math.min(44, room.height / rows);
    // Cells may be oblong so that labels fit, yet not so much that the diagonal is lost.
    across = Math.min(across, down * 2.2);
    down = Math.min(down, across * 1.6);
    this.across = across * this.zoom;
    this.down = down * this.zoom;
    this.clamp();
    return this;
  }

  clamp() {
    const room = this.room ?? { width: 0, height: 0 };
    const wide = this.across * this.columns;
    const tall = this.down * this.rows;
    this.left = Math.max(0, Math.min(this.left, wide - room.width));
    this.top = Math.max(0, Math.min(this.top, tall - room.height));
    this.x = this.margin.left + Math.max(0, (room.width - wide) / 2);
    this.y = this.margin.top;
    this.wide = Math.min(wide, room.width);
    this.tall = Math.min(tall, room.height);
  }

  zoomAt(factor, x, y) {
    const most = Math.max(4, 40 / Math.min(this.across / this.zoom, this.down / this.zoom));
    const zoom = Math.max(1, Math.min(most, this.zoom * factor));
    const change = zoom / this.zoom;
    if (change === 1) return false;
    this.left = (this.left + x - this.x) * change - (x - this.x);
    this.top = (this.top + y - this.y) * change - (y - this.y);
    this.zoom = zoom;
    return true;
  }

  pan(x, y) {
    this.left -= x;
    this.top -= y;
    this.clamp();
  }

  cellX(column) {
    return this.x + column * this.across - this.left;
  }

  cellY(row) {
    return this.y + row * this.down - this.top;
  }

  cell({ x, y }) {
    if (x < this.x || y < this.y || x >= this.x + this.wide || y >= this.y + this.tall) return null;
    const row = Math.min(this.rows - 1, Math.floor((y - this.y + this.top) / this.down));
    const column = Math.min(this.columns - 1, Math.floor((x - this.x + this.left) / this.across));
    return { row, column };
  }

  // First and last (exclusive) rows and columns in sight.
  get seen() {
    return {
      rows: [Math.floor(this.top / this.down), Math.min(this.rows, Math.ceil((this.top + this.tall) / this.down))],
      columns: [
        Math.floor(this.left / this.across),
        Math.min(this.columns, Math.ceil((this.left + this.wide) / this.across)),
      ],
    };
  }

  // Brings a cell into sight when it is not.
  reveal({ row, column }) {
    if (row * this.down < this.top || (row + 1) * this.down > this.top + this.tall)
      this.top = (row + 0.5) * this.down - this.tall / 2;
    if (column * this.across < this.left || (column + 1) * this.across > this.left + this.wide)
      this.left = (column + 0.5) * this.across - this.wide / 2;
    this.clamp();
  }
}
