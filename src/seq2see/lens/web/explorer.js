// What is asked and what is shown: the reader's wishes, the view that answers them, and what stands between the two.

import { blame } from "seq2see/blame";
import { isStale, Lane, Recent } from "seq2see/lane";
import { Shown } from "seq2see/shown";
import { ASKED } from "seq2see/state";
import { Refusal } from "seq2see/store";
import { requestOf, settledIn } from "seq2see/suspended";
import { Trail } from "seq2see/trail";
import { Weights } from "seq2see/weights";

/** @typedef {import("seq2see/state").State} State */
/** @typedef {import("seq2see/store").Handle} Handle */
/** @typedef {import("seq2see/store").Model} Model */
/** Why a text that was asked for cannot be shown, and the edit that is to blame, if one is. */
/** @typedef {{text: string, sentence: string, edit: import("seq2see/edits").EditOf | null}} Problem */

export class Explorer {
  /** What the reader sees; views read this and nothing else. @type {Shown | null} */
  shown = null;
  /** @type {Problem | null} */
  problem = null;
  /** @type {"asking" | "shown" | "refused"} */
  phase = "asking";
  /** @type {Model[]} */
  models = [];
  limits = { characters: 0, edits: 0, beam: 1, upload: 0 };
  /** @type {string | null} */
  example = null;
  /** @type {((changed: Set<string>) => unknown)[]} */
  watchers = [];
  /** @type {Set<string>} */
  changed = new Set();
  eventTime = 0;
  frames = 0;
  measures = 0;

  /** @param {import("seq2see/store").Store} store @param {import("seq2see/notice").Notice} notice */
  constructor(store, notice) {
    this.store = store;
    this.notice = notice;
    this.weights = new Weights(store);
    this.trail = new Trail((changed, complaints) => this.travelled(changed, complaints));
    this.lane = new Lane();
    this.blaming = new Lane();
    /** @type {Recent<Handle>} */
    this.known = new Recent(12);
  }

  /** What the reader asks for; header, edits and tabs show this. */
  get asked() {
    return this.trail.state;
  }

  /** The model that is asked. */
  get model() {
    return this.models.find((model) => model.name === this.asked.model) ?? this.models[0];
  }

  /** Whether the screen shows something else than what is asked. */
  get stale() {
    return this.shown !== null && this.problem !== null;
  }

  /** @param {(changed: Set<string>) => unknown} watcher */
  watch(watcher) {
    this.watchers.push(watcher);
  }

  // Learns what the server has and makes the state fit it.
  async prepare() {
    Object.assign(this, await this.store.models());
    this.adopt(this.trail.complaints);
  }

  /** A state that came with an address is made to fit. @param {string[]} complaints */
  adopt(complaints) {
    // A saved page has one view; whatever the address says, that one is shown.
    if (this.store.saved) this.trail.correct(this.store.asked);
    const { model, text, beam } = this.asked;
    if (!this.models.some((one) => one.name === model)) {
      if (model !== "a") complaints.push(`there is no model “${model}” here`);
      this.trail.correct({ model: this.models[0].name });
    }
    if (beam > this.limits.beam && !this.store.saved) {
      complaints.push(`a beam of ${beam} is more than ${this.limits.beam}, the most this server allows`);
      this.trail.correct({ beam: this.limits.beam });
    }
    this.trail.correct({ text: text ?? this.example ?? "" });
    this.trail.correct(settledIn(this.asked));
    this.fit();
    if (complaints.length) this.notice.show(complaints.join(" · "), "hint");
  }

  // A model that does not write has no beam.
  fit() {
    if (!this.model.writes && this.asked.view === "beam") this.trail.correct({ view: "translate" });
  }

  travelled(changed, complaints) {
    // Before it is known what there is, any state will be made to fit when it is.
    if (this.models.length === 0) return;
    this.notice.clear();
    this.adopt(complaints);
    this.react(changed);
  }

  /** @param {Partial<State>} changes @param {Event | null} event */
  change(changes, event = null) {
    this.eventTime = event?.timeStamp || performance.now();
    const next = this.together(changes);
    this.react(this.trail.change({ ...next, ...settledIn({ ...this.asked, ...next }) }));
  }

  // Where every token is a word with a tag, the word and its tag are chosen together.
  together(changes) {
    const view = this.shown?.view;
    if (view?.kind !== "tags" || view.read.length !== view.source.length) return changes;
    if ("step" in changes) return { ...changes, row: changes.step };
    return "row" in changes ? { ...changes, step: changes.row } : changes;
  }

  /** @param {Set<string>} changed */
  react(changed) {
    if (changed.size === 0) return;
    this.fit();
    const anew = ASKED.some((key) => changed.has(key));
    if (!anew) this.settle();
    this.tell(changed);
    if (anew) this.load();
  }

  /** Watchers are told once per frame, however many keys were struck since. @param {Set<string>} changed */
  tell(changed) {
    if (this.changed.size === 0) {
      requestAnimationFrame(async () => {
        const frame = ++this.frames;
        const told = this.changed;
        this.changed = new Set();
        document.body.dataset.stale = this.stale ? "yes" : "no";
        await Promise.all(this.watchers.map((watcher) => watcher(told)));
        if (frame === this.frames) this.mark();
      });
    }
    for (const key of changed) this.changed.add(key);
  }

  // Told only when all is painted: whoever waits for these words finds the page up to date.
  mark() {
    const { dataset } = document.body;
    dataset.phase = this.phase;
    if (!this.shown) return;
    dataset.viewId = this.shown.view.id ?? "saved";
    dataset.request = JSON.stringify(this.shown.handle.request);
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

  // What needs no server to be refused.
  check({ text, features }) {
    if (this.store.saved) return;
    const most = this.limits.characters;
    const empty = text.trim() === "" && features.trim() === "";
    if (!empty && text.length <= most) return;
    this.lane.stop();
    const long = `it has ${text.length} characters, and at most ${most} can be read`;
    throw new Refusal(0, empty ? "there is nothing to read yet" : long);
  }

  async load() {
    const state = this.asked;
    const { model } = this;
    const request = requestOf(state, model);
    this.blaming.stop();
    document.body.dataset.phase = this.phase = "asking";
    const busy = setTimeout(() => (document.body.dataset.busy = "yes"), 120);
    try {
      this.check(request);
      this.answered(await this.ask(request), model, state);
    } catch (error) {
      if (isStale(error)) return;
      if (!(error instanceof Refusal)) throw error;
      const problem = { text: request.text ?? "", sentence: error.message, edit: null };
      this.refused(problem);
      if (error.status > 0 && request.edits.length > 0) await this.blame(problem, state, model);
    } finally {
      clearTimeout(busy);
      if (!this.lane.running) delete document.body.dataset.busy;
    }
  }

  answered(handle, model, state) {
    this.problem = null;
    this.phase = "shown";
    this.shown = new Shown(handle, model, state);
    this.settle();
    this.tell(new Set(["shown"]));
  }

  refused(problem) {
    this.problem = problem;
    this.phase = "refused";
    // What the address selects is kept for when what is asked can be shown.
    if (this.shown) this.shown = this.shown.under({ ...this.asked, ...this.shown.nearest(this.asked) });
    this.tell(new Set(["problem"]));
  }

  async blame(problem, state, model) {
    try {
      const place = await this.blaming.run(JSON.stringify(state), (signal) =>
        blame(state, model, (request) => this.store.view(request, signal)),
      );
      const edit = place === null ? null : state.edits[place];
      if (this.problem === problem && this.phase === "refused") this.refused({ ...problem, edit });
    } catch {
      // Who is to blame stays unknown; all edits can be switched off by hand.
    }
  }

  // What the address selects may not exist in what is shown: the nearest thing that does is taken.
  settle() {
    if (!this.shown) return;
    const { at } = this.asked;
    const nearest = this.shown.nearest(this.asked);
    if (at !== null && nearest.at && nearest.at !== at && !this.settled)
      this.notice.add(`this model has no attention at “${at}”; ${nearest.at} is shown`, "hint");
    this.settled = true;
    if (Object.entries(nearest).some(([key, value]) => this.asked[key] !== value)) this.trail.correct(nearest);
    this.shown = this.shown.under(this.asked);
  }

  /**
   * Choosing a row means a step of the output or a place in the source, as the map has it.
   * @param {{row?: number, column?: number, at?: string}} selection
   * @param {Event} event
   */
  select({ row, ...rest }, event) {
    const { shown } = this;
    if (!shown) return;
    const meta = shown.view.maps.find((map) => map.address === (rest.at ?? shown.state.at));
    /** @type {Partial<State>} */
    const changes = { ...rest };
    if (row !== undefined) changes[!meta || meta.rows === "target" ? "step" : "row"] = row;
    this.change(changes, event);
  }

  move(rows, columns, event) {
    const { shown } = this;
    if (!shown) return;
    const [height, width] = shown.meta?.shape ?? [shown.view.read.length, 1];
    const within = (value, size) => Math.max(0, Math.min(size - 1, value));
    const cell = { row: within(shown.row + rows, height), column: within(shown.state.column + columns, width) };
    this.select(cell, event);
  }

  turnHead(by, event) {
    const meta = this.shown?.meta;
    if (!this.shown || !meta) return;
    /** @type {(number | "mean")[]} */
    const heads = ["mean", ...Array.from({ length: meta.heads }, (_, head) => head)];
    const place = heads.indexOf(this.shown.state.head);
    this.change({ head: heads[(place + by + heads.length) % heads.length] }, event);
  }

  turnAddress(by, event) {
    const maps = this.shown?.view.maps ?? [];
    if (maps.length === 0) return;
    const place = maps.findIndex((map) => map.address === this.shown?.state.at);
    this.change({ at: maps[(place + by + maps.length) % maps.length].address }, event);
  }

  // Tests and benchmarks wait for the name of what is painted.
  paintedHead({ state }, changed) {
    document.body.dataset.painted = `${state.at}/${state.head}`;
    if (changed.has("head") || changed.has("at")) this.painted("paint-head");
  }

  painted(name, start = this.eventTime) {
    performance.measure(name, { start, end: performance.now() });
    // Browsers keep every measure for ever; a long afternoon of hovering should not fill memory.
    this.measures += 1;
    if (this.measures % 5000 === 0) performance.clearMeasures();
  }
}
