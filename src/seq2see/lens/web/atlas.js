// All heads of all layers at a glance, in groups of their kind, in the order the reader wants.

import { choices, element } from "seq2see/element";
import { Group, groupsOf } from "seq2see/group";
import { isStale } from "seq2see/lane";
import { SCALE_WORDS } from "seq2see/map";
import { Nothing, Scene } from "seq2see/scene";
import { SCALES, SUMMARIES } from "seq2see/state";

const MEANING = {
  entropy: "entropy: how widely a head looks",
  first: "first: weight on the first token",
  last: "last: weight on the last token",
  diagonality: "diagonality: how close to the diagonal",
  distance: "distance: how far from the diagonal, in tokens",
  coverage: "coverage: how much of the columns is looked at",
  previous: "previous: weight on the token before",
  itself: "itself: weight on the token's own place",
  next: "next: weight on the token after",
  special: "special: weight on symbols such as <begin> and <end>",
  same: "same: weight on the same token elsewhere in the text",
};

/** @extends {Scene<null>} */
export class Atlas extends Scene {
  constructor(explorer, status) {
    super(explorer, status, "atlas");
    /** @type {Group[]} */
    this.groups = [];
    this.shape = "";
    this.fetching = false;
    this.sort = element("select", {
      id: "sort",
      change: (event) => explorer.change({ sort: event.target.value }, event),
    });
    this.scale = element("select", {
      id: "atlas-scale",
      change: (event) => explorer.change({ scale: event.target.value }, event),
    });
    this.hint = element("span", { class: "hint wide" });
    this.room = element("div", { id: "atlas-groups" });
    const order = element("label", {}, "Order ", this.sort);
    const colours = element("label", {}, "Colours ", this.scale);
    const tools = element("div", { class: "tools" }, order, colours, this.hint);
    this.pictures = [element("div", { class: "panel" }, tools, this.room)];
    this.element.append(...this.pictures);
    addEventListener("scroll", () => this.thumbnails(), { passive: true });
  }

  key(event) {
    const group =
      this.groups.find((one) => one.element.contains(document.activeElement)) ??
      this.groups.find((one) => one.has(this.explorer.asked.at));
    if (!group) return false;
    if (event.key === "Enter" && event.target.closest?.(".thumbnails")) {
      this.explorer.change({ view: "map", draw: "weights" }, event);
      return true;
    }
    const item = group.next(event.key, this.explorer.asked, this.groups);
    if (!item) return event.key.startsWith("Arrow");
    this.explorer.change({ at: item.at, head: item.head }, event);
    return true;
  }

  async fetch({ view }) {
    if (view.maps.length === 0) throw new Nothing("This model has no attention, so the atlas is empty.");
    return null;
  }

  paint(shown) {
    const { view, state } = shown;
    choices(this.sort, [["layer", "by layer"], ...SUMMARIES.map((name) => [name, `by ${name}`])], state.sort);
    choices(
      this.scale,
      SCALES.map((kind) => [kind, SCALE_WORDS[kind]]),
      state.scale,
    );
    const summary = state.sort === "layer" ? "entropy" : state.sort;
    this.hint.textContent = `${MEANING[summary]} · click selects, shift-click or Enter opens the map`;
    this.arrange(view);
    for (const group of this.groups) group.show(shown, this.explorer, summary);
    this.thumbnails();
  }

  // Groups are made anew only when the model's addresses are other ones.
  arrange(view) {
    const kinds = groupsOf(view.maps);
    const shape = JSON.stringify(kinds.map(({ name }) => name));
    if (shape === this.shape) {
      for (const [place, { addresses }] of kinds.entries()) this.groups[place].addresses = addresses;
      return;
    }
    this.shape = shape;
    // Few heads leave room for the kinds side by side.
    const most = Math.max(0, ...view.maps.map((map) => map.heads));
    this.room.style.setProperty("--least", `${Math.max(320, most * 84)}px`);
    this.groups = kinds.map(
      (kind) =>
        new Group(kind, {
          onChoose: (item, event) => this.choose(item, event),
          onHover: (text) => this.status.point(text),
          onResize: () => this.thumbnails(),
        }),
    );
    this.room.replaceChildren(...this.groups.map((group) => group.element));
  }

  choose(item, event) {
    const changes = { at: item.at, head: item.head };
    if (event.shiftKey) Object.assign(changes, { view: "map", draw: "weights" });
    this.explorer.change(changes, event);
  }

  hide() {
    this.explorer.weights.lane("thumbnails").stop();
    this.status.point("");
  }

  // One address after the other, only those in sight.
  async thumbnails() {
    if (this.fetching || this.element.hidden) return;
    this.fetching = true;
    try {
      for (let guard = 0; guard < 200; guard += 1) {
        const { shown, weights } = this.explorer;
        if (!shown || this.element.hidden) break;
        const { handle } = shown;
        const wanted = this.groups
          .flatMap((group) => group.inSight())
          .find((at) => !weights.thumbnailsKnown(handle, at));
        if (!wanted) break;
        await weights.thumbnails(handle, wanted);
        for (const group of this.groups) if (group.has(wanted)) group.draw();
      }
    } catch (error) {
      if (!isStale(error)) this.fail(error);
    } finally {
      this.fetching = false;
    }
  }
}
