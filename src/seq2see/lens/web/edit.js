// Edits of the model's attention: made here, stacked, undone, measured, and written as Python.

import { sentence } from "seq2see/edits";
import { Effect } from "seq2see/effect";
import { button, copy, element } from "seq2see/element";
import { Form } from "seq2see/form";
import { isolated } from "seq2see/labels";

export class Edit {
  constructor(explorer, status, undo) {
    Object.assign(this, { explorer, undo });
    this.locked = element("p", {
      class: "notice",
      "data-tone": "hint",
      hidden: true,
      text: "A saved view cannot be edited; `seq2see explore RUN` opens a live one.",
    });
    this.form = new Form(explorer, (edit) => this.add(edit));
    this.list = element("ol", { id: "edits", class: "stack" });
    this.empty = element("p", { class: "hint", text: "Nothing is changed yet." });
    this.back = button("undo", "Undo", "undo (u)", () => undo.undo());
    this.forth = button("redo", "Redo", "redo (shift u)", () => undo.redo());
    this.clear = button("clear-edits", "Remove all", "", () => explorer.change({ edits: [] }));
    this.effect = new Effect(explorer, status);
    this.code = element("code");
    this.copier = element("button", {
      type: "button",
      id: "copy-code",
      text: "Copy",
      "data-text": "Copy",
      click: () => copy(this.code.textContent, this.copier),
    });
    this.python = element(
      "div",
      { class: "panel" },
      element("div", { class: "tools" }, element("h2", { text: "The same in Python" }), this.copier),
      element("pre", { id: "code", tabindex: "0" }, this.code),
    );
    this.element = element(
      "section",
      { id: "edit", class: "view" },
      this.locked,
      element(
        "div",
        { class: "pair" },
        element("div", { class: "column" }, this.form.element),
        element(
          "div",
          { class: "column" },
          element(
            "div",
            { class: "panel" },
            element(
              "div",
              { class: "tools" },
              element("h2", { text: "Edits, in order" }),
              this.back,
              this.forth,
              this.clear,
            ),
            this.empty,
            this.list,
          ),
          this.effect.element,
          this.python,
        ),
      ),
    );
  }

  key() {
    return false;
  }

  hide() {}

  add(edit) {
    const edits = this.explorer.state.edits;
    if (edits.length >= this.explorer.limits.edits) {
      this.explorer.notice.show(`at most ${this.explorer.limits.edits} edits can be stacked; remove one first`);
      return;
    }
    this.explorer.change({ edits: [...edits, edit] });
  }

  update() {
    const { state, view, store } = this.explorer;
    if (!view) return;
    this.locked.hidden = !store.saved;
    this.form.element.hidden = store.saved;
    this.element.classList.toggle("alone", store.saved);
    if (!store.saved) this.form.update();
    this.stack(state.edits, store.saved);
    this.back.disabled = store.saved || this.undo.past.length === 0;
    this.forth.disabled = store.saved || this.undo.future.length === 0;
    this.clear.disabled = store.saved || state.edits.length === 0;
    this.effect.update();
    this.code.textContent = view.code ?? "";
    this.python.hidden = !view.code;
  }

  stack(edits, locked) {
    const drawn = JSON.stringify([edits, locked, edits.map((edit) => this.words(edit))]);
    if (drawn === this.drawn) return;
    this.drawn = drawn;
    this.empty.hidden = edits.length > 0;
    // The list is made anew; the keyboard stays on the button of the same name.
    const focused = this.list.contains(document.activeElement)
      ? document.activeElement.getAttribute("aria-label")
      : null;
    this.list.replaceChildren(...edits.map((edit, place) => this.item(edit, place, edits, locked)));
    if (focused) this.refocus(focused);
  }

  // A button that has become useless hands the keyboard to the next one of its line.
  refocus(label) {
    const same = [...this.list.querySelectorAll("[aria-label]")].find(
      (one) => one.getAttribute("aria-label") === label,
    );
    const enabled = same?.disabled ? same.closest("li").querySelector("button:not(:disabled)") : same;
    enabled?.focus();
  }

  // A forced token is named by what was then said; sub-words merged to words have other steps.
  words(edit) {
    const { view, state } = this.explorer;
    const said = edit.kind === "force" && edit.on !== false && !state.words ? view.predicted[edit.step] : undefined;
    return said === undefined ? sentence(edit) : `${sentence(edit)}, ${isolated(said)}`;
  }

  item(edit, place, edits, locked) {
    const change = (next) => this.explorer.change({ edits: next });
    const swapped = (other) =>
      edits.map((one, here) => (here === place ? edits[other] : here === other ? edits[place] : one));
    const words = this.words(edit);
    const on = element("input", {
      type: "checkbox",
      "aria-label": `on: ${words}`,
      disabled: locked,
      change: (event) =>
        change(
          edits.map((one, here) => {
            const { on: _, ...plain } = one;
            return here === place ? (event.target.checked ? plain : { ...plain, on: false }) : one;
          }),
        ),
    });
    on.checked = edit.on !== false;
    const small = (text, label, disabled, act) =>
      element("button", {
        type: "button",
        class: "quiet",
        "aria-label": `${label}: ${words}`,
        title: label,
        disabled: locked || disabled,
        text,
        click: act,
      });
    return element(
      "li",
      { "data-kind": edit.kind, class: edit.on === false ? "off" : null },
      element("label", {}, on, element("b", { text: edit.kind }), element("span", { text: words })),
      small("↑", "move up", place === 0, () => change(swapped(place - 1))),
      small("↓", "move down", place === edits.length - 1, () => change(swapped(place + 1))),
      small("×", "remove", false, () => change(edits.filter((_, here) => here !== place))),
    );
  }
}
