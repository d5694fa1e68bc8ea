// Which attention is looked at: the address and the head, for all views.

import { button, choices, element } from "seq2see/element";

const BUTTONS = 16; // with more heads than this, a list is quicker to read

export class Picker {
  constructor(explorer) {
    this.explorer = explorer;
    this.address = element("select", {
      id: "address",
      "aria-label": "address of the attention",
      change: (event) => explorer.change({ at: event.target.value }, event),
    });
    this.heads = element("div", { id: "heads", class: "heads", role: "group", "aria-label": "head" });
    this.list = element("select", {
      id: "head-list",
      "aria-label": "head",
      change: (event) => this.choose(event.target.value, event),
    });
    this.element = element(
      "div",
      { id: "picker", class: "picker" },
      button("address-before", "‹", "address before ({)", (event) => explorer.turnAddress(-1, event)),
      this.address,
      button("address-after", "›", "next address (})", (event) => explorer.turnAddress(1, event)),
      this.heads,
      this.list,
    );
    explorer.watch(
      (changed) => ["shown", "problem", "at", "head", "view", "draw"].some((key) => changed.has(key)) && this.update(),
    );
  }

  choose(text, event) {
    this.explorer.change({ head: text === "mean" ? "mean" : Number(text) }, event);
  }

  headButton(name) {
    const title = name === "mean" ? "mean of the heads" : `head ${name} ([ and ])`;
    const choose = (event) => this.choose(name, event);
    return element("button", { type: "button", "data-head": name, text: name, title, click: choose });
  }

  update() {
    const { shown } = this.explorer;
    const meta = shown?.meta ?? null;
    this.element.hidden = !meta || this.explorer.asked.view === "beam";
    if (!shown || !meta) return;
    const { view, state } = shown;
    choices(
      this.address,
      view.maps.map((map) => [map.address, map.address]),
      state.at,
    );
    const names = ["mean", ...Array.from({ length: meta.heads }, (_, head) => String(head))];
    const many = meta.heads > BUTTONS;
    this.heads.hidden = many;
    this.list.hidden = !many;
    if (many) {
      choices(
        this.list,
        names.map((name) => [name, name === "mean" ? name : `head ${name}`]),
        String(state.head),
      );
      return;
    }
    if (this.heads.children.length !== names.length) {
      this.heads.replaceChildren(...names.map((name) => this.headButton(name)));
    }
    for (const one of this.heads.children) one.setAttribute("aria-pressed", one.dataset.head === String(state.head));
  }
}
