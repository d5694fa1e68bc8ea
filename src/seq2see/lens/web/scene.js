// What all views have in common: each shows what is shown, waits for what it draws, and says why where it cannot.

import { element } from "seq2see/element";
import { isStale } from "seq2see/lane";
import { Notice } from "seq2see/notice";

/** @typedef {import("seq2see/shown").Shown} Shown */

const SOON = 150; // milliseconds after which an old picture is dimmed while a new one is fetched

/** There is nothing to draw, and that is no failure. */
export class Nothing extends Error {}

/**
 * @template Data What is fetched.
 * @template [Picture=null] What a drawing keeps of what it shows.
 */
export class Scene {
  /**
   * @param {import("seq2see/explorer").Explorer} explorer
   * @param {import("seq2see/status").Status} status
   * @param {string} id
   */
  constructor(explorer, status, id) {
    this.explorer = explorer;
    this.status = status;
    this.notice = new Notice(`${id}-notice`);
    this.element = element("section", { id, class: "view" }, this.notice.element);
    /** What cannot be seen without a drawing. @type {HTMLElement[]} */
    this.pictures = [];
    /** All of one moment. @type {Picture | null} */
    this.picture = null;
    this.turn = 0;
  }

  /** What is drawn, fetched; throws where it cannot be had. @param {Shown} _shown @returns {Promise<Data | null>} */
  async fetch(_shown) {
    return null;
  }

  /** Shows what needs nothing fetched. @param {Shown | null} _shown @param {Set<string>} _changed */
  tell(_shown, _changed) {}

  /** Draws what was fetched. @param {Shown} _shown @param {Data | null} _data @param {Set<string>} _changed */
  paint(_shown, _data, _changed) {}

  /** What the picture shows; only asked for where there is one. */
  get seen() {
    if (!this.picture) throw new Error("nothing is drawn");
    return this.picture;
  }

  hide() {}

  /** @param {KeyboardEvent} _event */
  key(_event) {
    return false;
  }

  /** @param {Set<string>} changed */
  async update(changed) {
    const { shown } = this.explorer;
    const turn = ++this.turn;
    const waiting = setTimeout(() => turn === this.turn && this.mark("waiting", true), SOON);
    /** @type {Data | null} */
    let data = null;
    let problem = shown ? null : new Nothing("There is nothing to show yet.");
    try {
      if (shown) data = await this.fetch(shown);
    } catch (error) {
      if (isStale(error)) return;
      problem = error;
    } finally {
      clearTimeout(waiting);
    }
    // Whoever came later has taken over.
    if (turn !== this.turn) return;
    this.mark("waiting", false);
    this.tell(shown, changed);
    this.notice.clear();
    if (problem) this.fail(problem);
    else this.mark("missing", false);
    if (shown && !problem) this.paint(shown, data, changed);
  }

  /** A drawing that failed takes the old one with it. @param {Error} problem */
  fail(problem) {
    this.mark("missing", true);
    this.notice.show(problem.message, problem instanceof Nothing ? "hint" : "error");
    delete document.body.dataset.painted;
  }

  mark(name, on) {
    for (const picture of this.pictures) picture.classList.toggle(name, on);
  }
}
