// Weights of views, fetched when needed, one request per lane, the recent ones kept.

import { Grid } from "seq2see/grid";
import { Lane, Recent } from "seq2see/lane";

export class Weights {
  constructor(store) {
    this.store = store;
    this.grids = new Recent(40);
    this.rows = new Recent(400);
    this.small = new Recent(64);
    this.lanes = {};
    this.serial = 0;
  }

  // Ids may be renewed by the server, so a handle is known by a name of its own.
  name(handle) {
    handle.name ??= ++this.serial;
    return handle.name;
  }

  lane(name) {
    this.lanes[name] ??= new Lane();
    return this.lanes[name];
  }

  cached(handle, at, head) {
    return this.grids.get(`${this.name(handle)} ${at} ${head}`) ?? null;
  }

  async grid(handle, at, head, lane = "map") {
    const key = `${this.name(handle)} ${at} ${head}`;
    const known = this.grids.get(key);
    if (known) return known;
    const { shape } = handle.answer.maps.find((map) => map.address === at);
    const bytes = await this.lane(lane).run(key, (signal) => this.store.map(handle, at, head, signal));
    return this.grids.get(key) ?? this.grids.set(key, new Grid(shape[0], shape[1], bytes, 1 / 255));
  }

  knownRow(handle, at, head, row) {
    return this.rows.get(`${this.name(handle)} ${at} ${head} ${row}`) ?? null;
  }

  async row(handle, at, head, row) {
    const key = `${this.name(handle)} ${at} ${head} ${row}`;
    const known = this.rows.get(key);
    if (known) return known;
    const values = await this.lane("row").run(key, (signal) => this.store.row(handle, at, head, row, signal));
    return this.rows.set(key, values);
  }

  thumbnailsKnown(handle, at) {
    return this.small.get(`${this.name(handle)} ${at}`) ?? null;
  }

  async thumbnails(handle, at) {
    const key = `${this.name(handle)} ${at}`;
    const known = this.small.get(key);
    if (known) return known;
    const thumbnails = await this.lane("thumbnails").run(key, (signal) => this.store.thumbnails(handle, at, signal));
    thumbnails.grids = Array.from({ length: thumbnails.heads }, (_, head) => {
      const size = thumbnails.rows * thumbnails.columns;
      return new Grid(
        thumbnails.rows,
        thumbnails.columns,
        thumbnails.bytes.subarray(head * size, (head + 1) * size),
        1 / 255,
      );
    });
    return this.small.set(key, thumbnails);
  }

  async summary(handle, kind) {
    const key = `${this.name(handle)} summary ${kind}`;
    const known = this.grids.get(key);
    if (known) return known;
    const { source, read } = handle.answer;
    const values = await this.lane("summary").run(key, (signal) => this.store.summary(handle, kind, signal));
    const rows = kind === "rollout" ? source.length : read.length;
    return this.grids.get(key) ?? this.grids.set(key, new Grid(rows, source.length, values, 1));
  }
}
