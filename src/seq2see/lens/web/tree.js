// The layout of a beam's tree: a column per step, no crossings, and the best path as a straight line.

/**
 * A hypothesis as the server tells it, and as a node of the tree.
 * @typedef {{id: number, parent: number | null, token: number, label: string, log_probability: number, step: number,
 *   state: "kept" | "pruned" | "finished" | "best"}} Branch
 * @typedef {Omit<Branch, "parent"> & {parent: Node | null, children: Node[], order: number, place: number}} Node
 */

export class Tree {
  top = 0;
  bottom = 0;
  steps = 0;

  /** @param {Branch[]} branches */
  constructor(branches) {
    /** @type {Node[]} */
    this.nodes = branches.map((one) => ({ ...one, parent: null, children: [], order: 0, place: 0 }));
    const byId = new Map(this.nodes.map((node) => [node.id, node]));
    for (const [place, node] of this.nodes.entries()) {
      const { parent } = branches[place];
      node.parent = parent === null ? null : (byId.get(parent) ?? null);
      node.parent?.children.push(node);
    }
    /** @type {Node[][]} */
    this.columns = [];
    for (const node of this.nodes) (this.columns[node.step] ??= []).push(node);
    this.columns = Array.from(this.columns, (column) => column ?? []);
    this.arrange();
  }

  // Children follow the order of their parents, so lines never cross; each column is shifted to put the best at zero.
  arrange() {
    for (const column of this.columns) {
      const order = (node) => node.parent?.order ?? 0;
      column.sort((one, other) => order(one) - order(other) || other.log_probability - one.log_probability);
      const best = Math.max(
        0,
        column.findIndex((node) => node.state === "best"),
      );
      const bestKnown = column.some((node) => node.state === "best");
      column.forEach((node, order) => {
        node.order = order;
        node.place = order - (bestKnown ? best : Math.floor(column.length / 2));
      });
    }
    this.top = this.nodes.reduce((least, node) => Math.min(least, node.place), 0);
    this.bottom = this.nodes.reduce((most, node) => Math.max(most, node.place), 0);
    this.steps = this.columns.length;
  }

  path(node) {
    const path = [];
    for (let here = node; here; here = here.parent) path.unshift(here);
    return path;
  }

  // Neighbours for the arrow keys.
  next(node, key) {
    const column = this.columns[node.step];
    if (key === "ArrowLeft") return node.parent;
    if (key === "ArrowRight") return node.children.find((child) => child.state === "best") ?? node.children[0] ?? null;
    if (key === "ArrowUp") return column[node.order - 1] ?? null;
    if (key === "ArrowDown") return column[node.order + 1] ?? null;
    return null;
  }
}
