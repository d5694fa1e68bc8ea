// The one selection that all views share, and the view of the model that it points into.

import { bare } from "seq2see/edits";
import { Lane, Recent, isStale } from "seq2see/lane";
import { ASKED } from "seq2see/state";
import { Trail } from "seq2see/trail";
import { Weights } from "seq2see/weights";

export class Explorer {
  constructor(store, notice) {
    this.store = store;
    this.notice = notice;
    this.weights = new Weights(store);
    this.trail = new Trail((changed, complaints) => this.travelled(changed, complaints));
    this.lane = new Lane();
    this.known = new Recent(12);
    this.watchers = [];
    this.changed = new Set();
    this.handle = null;
    this.eventTime = 0;
    this.measures = 0;
  }

  get state() {
    return this.trail.state;
  }

  get view() {
    return this.handle?.answer ?? null;
  }

  get model() {
    return this.models.find((model) => model.name === this.state.model) ?? this.models[0];
  }

  get meta() {
    return this.view?.maps.find((map) => map.address === this.state.at) ?? null;
  }

  rowOf(meta) {
    return meta.rows === "target" ? this.state.step : this.state.row;
  }

  get row() {
    return this.meta ? this.rowOf(this.meta) : this.state.step;
  }

  watch(watcher) {
    this.watchers.push(watcher);
  }

  // Learns what the server has and makes the state fit it.
  async prepare() {
    const { models, example, limits } = await this.store.models();
    Object.assign(this, { models, limits, example });
    const complaints = this.trail.complaints;
    if (this.store.saved) this.keepSaved();
    const { model, text, beam } = this.state;
    if (!models.some((one) => one.name === model)) {
      if (model !== "a") complaints.push(`there is no model “${model}” here`);
      this.trail.correct({ model: models[0].name });
    }
    if (beam > limits.beam)
      complaints.push(`a beam of ${beam} is more than ${limits.beam}, the most this server allows`);
    this.trail.correct({ text: text ?? example ?? "", beam: Math.min(beam, limits.beam) });
    this.fit();
    if (complaints.length) this.notice.show(complaints.join(" · "), "hint");
  }

  // A saved page has one view; whatever the address says, that one is shown.
  keepSaved() {
    const request = this.store.data.request;
    this.trail.correct(Object.fromEntries(ASKED.map((key) => [key, request[key] ?? this.state[key]])));
  }

  // A model that does not write has no beam, says no other target, and can be forced to nothing.
  fit() {
    if (this.model.writes) return;
    const { view, target, edits } = this.state;
    const fitting = { target: null, edits: edits.filter((edit) => edit.kind !== "force") };
    if (view === "beam") fitting.view = "translate";
    if (target !== null || fitting.edits.length < edits.length || fitting.view) this.trail.correct(fitting);
  }

  travelled(changed, complaints) {
    this.notice.clear();
    if (complaints.length) this.notice.show(complaints.join(" · "), "hint");
    if (this.store.saved) this.keepSaved();
    if (this.state.text === null) this.trail.correct({ text: this.example ?? "" });
    if (!this.models.some((one) => one.name === this.state.model)) this.trail.correct({ model: this.models[0].name });
    this.react(changed);
  }

  change(changes, event = null) {
    this.eventTime = event?.timeStamp || performance.now();
    this.react(this.trail.change(this.together(changes)));
  }

  // Where every token is a word with a tag, the word and its tag are chosen together.
  together(changes) {
    const { view } = this;
    if (view?.kind !== "tags" || view.read.length !== view.source.length) return changes;
    if ("step" in changes) return { ...changes, row: changes.step };
    return "row" in changes ? { ...changes, step: changes.row } : changes;
  }

  react(changed) {
    if (changed.size === 0) return;
    this.fit();
    if (this.handle && ASKED.every((key) => !changed.has(key))) this.settle();
    this.tell(changed);
    if (ASKED.some((key) => changed.has(key))) this.load();
  }

  // Watchers are told once per frame, however many keys were struck since.
  tell(changed) {
    if (this.changed.size === 0) {
      requestAnimationFrame(() => {
        const told = this.changed;
        this.changed = new Set();
        for (const watcher of this.watchers) watcher(told);
        // Named only now: whoever waits for the name finds the page up to date.
        if (told.has("handle")) document.body.dataset.viewId = this.handle.answer.id;
      });
    }
    for (const key of changed) this.changed.add(key);
  }

  request(changes = {}) {
    const state = { ...this.state, ...changes };
    const { model, text, features, target, beam, words } = state;
    return { model, text, features, target, beam, words, edits: bare(state.edits) };
  }

  async ask(request, lane = this.lane) {
    const key = JSON.stringify(request);
    const known = this.known.get(key);
    if (known) {
      lane.stop();
      return known;
    }
    return lane.run(key, async (signal) => this.known.set(key, await this.store.view(request, signal)));
  }

  async load() {
    const busy = setTimeout(() => (document.body.dataset.busy = "yes"), 120);
    try {
      const handle = await this.ask(this.request());
      this.handle = handle;
      this.failed = false;
      this.settle();
      this.notice.clear("error");
      this.tell(new Set(["handle"]));
    } catch (error) {
      if (isStale(error)) return;
      this.failed = true;
      this.notice.show(error.message, "error");
    } finally {
      clearTimeout(busy);
      if (!this.lane.running) delete document.body.dataset.busy;
    }
  }

  // What the address asks for may not exist in this view: the nearest thing that does is taken.
  settle() {
    const { at, head, step, row, column } = this.state;
    const maps = this.view.maps;
    const meta = maps.find((map) => map.address === at) ?? this.usual();
    const corrected = { step: Math.min(step, Math.max(0, this.view.read.length - 1)) };
    if (meta) {
      if (at !== null && meta.address !== at && !this.settled)
        this.notice.add(`this model has no attention at “${at}”; ${meta.address} is shown`, "hint");
      corrected.at = meta.address;
      corrected.head = head === "mean" || head < meta.heads ? head : "mean";
      const rows = meta.rows === "target" ? this.view.source.length : meta.shape[0];
      corrected.row = Math.max(0, Math.min(row, rows - 1));
      corrected.column = Math.max(0, Math.min(column, meta.shape[1] - 1));
    }
    this.settled = true;
    if (Object.entries(corrected).some(([key, value]) => this.state[key] !== value)) this.trail.correct(corrected);
  }

  usual() {
    const cross = this.view.maps.filter((map) => map.rows === "target" && map.columns === "source");
    return cross.at(-1) ?? this.view.maps[0] ?? null;
  }

  // Choosing a row means a step of the output or a place in the source, as the map has it.
  select({ row, ...rest }, event) {
    const at = rest.at ?? this.state.at;
    const meta = this.view.maps.find((map) => map.address === at);
    const changes = { ...rest };
    if (row !== undefined) changes[!meta || meta.rows === "target" ? "step" : "row"] = row;
    this.change(changes, event);
  }

  move(rows, columns, event) {
    const meta = this.meta;
    const height = meta ? meta.shape[0] : this.view.read.length;
    const width = meta ? meta.shape[1] : 1;
    const within = (value, size) => Math.max(0, Math.min(size - 1, value));
    this.select({ row: within(this.row + rows, height), column: within(this.state.column + columns, width) }, event);
  }

  turnHead(by, event) {
    const meta = this.meta;
    if (!meta) return;
    const heads = ["mean", ...Array.from({ length: meta.heads }, (_, head) => head)];
    const place = heads.indexOf(this.state.head);
    this.change({ head: heads[(place + by + heads.length) % heads.length] }, event);
  }

  turnAddress(by, event) {
    const maps = this.view?.maps ?? [];
    if (maps.length === 0) return;
    const place = maps.findIndex((map) => map.address === this.state.at);
    this.change({ at: maps[(place + by + maps.length) % maps.length].address }, event);
  }

  // Tests and benchmarks wait for the name of what is painted.
  paintedHead(changed) {
    document.body.dataset.painted = `${this.state.at}/${this.state.head}`;
    if (changed.has("head") || changed.has("at")) this.painted("paint-head");
  }

  painted(name, start = this.eventTime) {
    performance.measure(name, { start, end: performance.now() });
    // Browsers keep every measure for ever; a long afternoon of hovering should not fill memory.
    this.measures += 1;
    if (this.measures % 5000 === 0) performance.clearMeasures();
  }
}
