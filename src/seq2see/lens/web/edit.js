// Edits of the model's attention: made here, stacked, undone, measured, and written as Python.

import { isSame, sentence } from "seq2see/edits";
import { Effect } from "seq2see/effect";
import { button, copy, element } from "seq2see/element";
import { Form } from "seq2see/form";
import { isolated } from "seq2see/labels";
import { Scene } from "seq2see/scene";
import { active, suspension } from "seq2see/suspended";

/** @extends {Scene<null>} */
export class Edit extends Scene {
  constructor(explorer, status, undo) {
    super(explorer, status, "edit");
    this.undo = undo;
    this.drawn = "";
    this.form = new Form(explorer, (edit, instead) => this.save(edit, instead));
    this.list = element("ol", { id: "edits", class: "stack" });
    this.empty = element("p", { class: "hint", text: "Nothing is changed yet." });
    this.back = button("undo", "Undo", "undo (u)", () => undo.undo());
    this.forth = button("redo", "Redo", "redo (shift u)", () => undo.redo());
    this.clear = button("clear-edits", "Remove all", "", () => explorer.change({ edits: [], plain: false }));
    this.effect = new Effect(status);
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
    const title = element("h2", { text: "Edits, in order" });
    const tools = element("div", { class: "tools" }, title, this.back, this.forth, this.clear);
    this.pictures = [this.effect.element, this.python];
    this.element.append(
      element(
        "div",
        { class: "pair" },
        element("div", { class: "column" }, this.form.element),
        element(
          "div",
          { class: "column" },
          element("div", { class: "panel" }, tools, this.empty, this.list),
          ...this.pictures,
        ),
      ),
    );
  }

  /** A new edit comes last; a changed one stays where it was. */
  save(edit, instead) {
    const { asked, limits, notice } = this.explorer;
    const place = asked.edits.findIndex((one) => isSame(one, instead));
    if (place >= 0) this.explorer.change({ edits: asked.edits.with(place, edit) });
    else if (asked.edits.length < limits.edits) this.explorer.change({ edits: [...asked.edits, edit], plain: false });
    else notice.show(`at most ${limits.edits} edits can be stacked; remove one first`);
  }

  // Edits are those that are asked for, so that one that is refused can be mended.
  tell() {
    const { asked, store } = this.explorer;
    this.form.element.hidden = store.saved;
    this.element.classList.toggle("alone", store.saved);
    if (!store.saved) this.form.update();
    this.stack(asked.edits, store.saved);
    this.back.disabled = store.saved || this.undo.past.length === 0;
    this.forth.disabled = store.saved || this.undo.future.length === 0;
    this.clear.disabled = store.saved || asked.edits.length === 0;
  }

  // Edits can be mended where there is nothing to see yet.
  fail() {
    this.mark("missing", true);
  }

  paint({ view }) {
    const saved = "A saved view cannot be edited; `seq2see explore RUN` opens a live one.";
    if (this.explorer.store.saved) this.notice.show(saved, "hint");
    this.effect.update(view);
    this.code.textContent = view.code ?? "";
    this.python.hidden = !view.code;
  }

  stack(edits, locked) {
    const { problem } = this.explorer;
    const words = edits.map((edit) => [this.words(edit), this.suspended(edit)]);
    const drawn = JSON.stringify([edits, locked, words, problem?.edit]);
    if (drawn === this.drawn) return;
    this.drawn = drawn;
    this.empty.hidden = edits.length > 0;
    // The list is made anew; the keyboard stays on the button of the same name.
    const focused = this.list.contains(document.activeElement)
      ? document.activeElement?.getAttribute("aria-label")
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
    const { shown, stale } = this.explorer;
    const place = shown?.state.edits.findIndex((one) => isSame(one, edit)) ?? -1;
    const there = shown && edit.kind === "force" && active(shown.state, shown.model).includes(place);
    const said = there && !stale && !shown.state.words ? shown.view.predicted[edit.step] : undefined;
    return said === undefined ? sentence(edit) : `${sentence(edit)}, ${isolated(said)}`;
  }

  suspended(edit) {
    return edit.on === false ? null : suspension(edit, this.explorer.asked, this.explorer.model);
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
    const why = this.suspended(edit);
    const blamed = isSame(edit, this.explorer.problem?.edit ?? null);
    const note = blamed ? "refused" : why ? `suspended: ${why}` : null;
    return element(
      "li",
      {
        "data-kind": edit.kind,
        class: edit.on === false ? "off" : why ? "suspended" : blamed ? "refused" : null,
      },
      element(
        "label",
        {},
        on,
        element("b", { text: edit.kind }),
        element("span", { text: words }),
        note && element("em", { text: note }),
      ),
      small("✎", "change", false, () => this.form.change(edit)),
      small("↑", "move up", place === 0, () => change(swapped(place - 1))),
      small("↓", "move down", place === edits.length - 1, () => change(swapped(place + 1))),
      small("×", "remove", false, () => change(edits.filter((_, here) => here !== place))),
    );
  }
}
