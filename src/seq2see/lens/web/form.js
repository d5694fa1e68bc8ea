// The form for a new edit; it follows the selection until the reader writes something else.

import { isOne } from "seq2see/answers";
import { percent } from "seq2see/candidates";
import { HOW, KINDS, readEdit, texts } from "seq2see/edits";
import { button, choices, element } from "seq2see/element";
import { shorten } from "seq2see/labels";
import { homeOf } from "seq2see/suspended";

const WORDS = {
  at: ["address", "an address, or a pattern such as decoder.*.cross"],
  heads: ["heads", "numbers parted by commas, or all"],
  how: ["in its stead", "what takes the place of the head"],
  count: ["how many", "places kept in each row"],
  value: ["temperature", "above 0"],
  step: ["step", "of the output, from 0"],
  places: ["places", "columns of the map, from 0, parted by commas"],
  token: ["token", "the likeliest at this step"],
  text: ["text", "of the other input, or the name of an image"],
  block: ["block", "a residual block, such as encoder.1.0"],
  model: ["model", ""],
  from: ["from address", "empty: the same"],
  head: ["from head", "empty: the same"],
};

// Every way to put * for one part of an address, widest last.
export function patterns(addresses) {
  const found = new Set(addresses);
  for (const address of addresses) {
    const parts = address.split(".");
    for (const place of parts.keys()) found.add(parts.with(place, "*").join("."));
  }
  return [...found, "*"].slice(0, 120);
}

/** @typedef {import("seq2see/edits").EditOf} EditOf */

export class Form {
  constructor(explorer, onSave) {
    this.explorer = explorer;
    this.onSave = onSave;
    /** Fields that follow the selection no longer. @type {Set<string>} */
    this.touched = new Set();
    /** @type {Record<string, HTMLInputElement | HTMLSelectElement>} */
    this.inputs = {};
    /** The edit that is being changed, or that the server has not agreed to yet. @type {EditOf | null} */
    this.changing = null;
    this.sent = false;
    this.suggested = "";
    this.kind = element(
      "select",
      { id: "edit-kind", change: () => this.anew() },
      ...Object.entries(KINDS).map(([kind, { about }]) =>
        element("option", { value: kind, text: `${kind}: ${about}` }),
      ),
    );
    this.suggestions = element("datalist", { id: "addresses" });
    this.fields = element("div", { class: "fields" });
    this.error = element("p", { id: "edit-error", class: "problem", role: "alert", hidden: true });
    this.quick = element("div", { id: "quick", class: "quick" });
    this.add = element("button", { type: "submit", id: "add-edit", class: "main" });
    this.leave = button("new-edit", "A new edit instead", "", () => this.anew());
    this.element = element(
      "form",
      { id: "edit-form", class: "panel", submit: (event) => this.submit(event) },
      element("h2", { text: "From the selection" }),
      this.quick,
      element("h2", { text: "Or any edit" }),
      element("label", { class: "field" }, element("span", { text: "kind" }), this.kind),
      this.fields,
      this.error,
      this.add,
      this.leave,
      this.suggestions,
    );
  }

  // An empty form, for a new edit.
  anew() {
    this.changing = null;
    this.sent = false;
    this.build();
    this.update();
  }

  /** An edit of the stack in the form, to be changed. @param {EditOf} edit */
  change(edit) {
    this.kind.value = edit.kind;
    this.build();
    for (const [name, text] of Object.entries(texts(edit))) {
      const input = this.inputs[name];
      // A token that is not among the likeliest has no name here.
      if (name === "token") choices(input, [[text, `token ${text}`]], text);
      input.value = text;
      this.touched.add(name);
    }
    this.changing = edit;
    this.sent = false;
    this.update();
    this.add.focus();
  }

  build() {
    this.touched.clear();
    this.inputs = {};
    this.error.hidden = true;
    this.fields.replaceChildren(...KINDS[this.kind.value].fields.map((field) => this.field(field)));
    this.prefill();
  }

  field(name) {
    const chosen = {
      how: HOW.map((how) => [how, how]),
      model: [["", "the same"], ...this.explorer.models.map((model) => [model.name, `${model.name}: ${model.run}`])],
      token: [],
    }[name];
    const attributes = { id: `edit-${name}`, name, input: () => this.touch(name), autocomplete: "off" };
    let input;
    if (chosen) {
      input = element("select", attributes);
      if (chosen.length) choices(input, chosen, chosen[0][0]);
    } else
      input = element("input", {
        ...attributes,
        type: "text",
        list: name === "at" || name === "from" ? "addresses" : null,
        placeholder: name === "heads" ? "all" : null,
      });
    this.inputs[name] = input;
    const [label, hint] = WORDS[name];
    return element("label", { class: "field", title: hint }, element("span", { text: label }), input);
  }

  touch(name) {
    this.touched.add(name);
    if (name === "step") this.tokens();
  }

  tokens() {
    if (!this.inputs.token || this.touched.has("token")) return;
    const step = Number(this.inputs.step.value);
    const top = this.explorer.shown?.view.steps[step]?.top ?? [];
    choices(
      this.inputs.token,
      top.map(([token, label, log]) => [String(token), `${shorten(label, 18)} · ${percent(log)}`]),
      this.inputs.token.value,
    );
    const { token } = this.inputs;
    if (token instanceof HTMLSelectElement && token.selectedIndex < 0)
      token.selectedIndex = Math.min(1, top.length - 1);
  }

  prefill() {
    const state = this.explorer.shown?.state ?? this.explorer.asked;
    const usual = {
      at: state.at ?? "*",
      heads: state.head === "mean" ? "all" : String(state.head),
      how: "zero",
      count: "1",
      value: "0.5",
      step: String(state.step),
      places: String(state.column),
      text: state.text ?? "",
      block: this.explorer.model.blocks[0] ?? "",
      from: "",
      head: "",
      model: "",
    };
    for (const [name, input] of Object.entries(this.inputs)) {
      if (!this.touched.has(name) && name in usual) input.value = usual[name];
    }
    this.tokens();
  }

  update() {
    const { model, shown, phase } = this.explorer;
    // Once the server has agreed, the form follows the selection again.
    if (this.sent && phase === "shown") {
      this.changing = null;
      this.sent = false;
      this.touched.clear();
    }
    const addresses = model.addresses.map((one) => one.address);
    if (this.suggested !== addresses.join()) {
      this.suggested = addresses.join();
      this.suggestions.replaceChildren(...patterns(addresses).map((value) => element("option", { value })));
    }
    if (!this.fields.hasChildNodes()) this.build();
    this.restrict(model);
    this.prefill();
    this.add.textContent = this.changing ? "Change this edit" : "Add this edit";
    this.leave.hidden = this.changing === null;
    this.quick.replaceChildren(...(shown?.meta ? this.suggest(shown, shown.meta) : [this.without(model)]));
  }

  without(model) {
    if (model.addresses.length > 0) return element("p", { class: "hint", text: "Nothing is selected yet." });
    const text = model.writes
      ? "A model without attention can be forced to say tokens, or to read another source."
      : model.images
        ? "Without attention places can be hidden, and residual blocks left out."
        : "A model without attention can be given another text to read.";
    return element("p", { class: "hint", text });
  }

  // A model that does not write says no tokens, so none can be forced; without attention, none can be changed.
  restrict({ writes, addresses, images, blocks }) {
    const there = { force: writes, hide: images, skip: blocks.length > 0 };
    const fits = (kind) => (there[kind] ?? true) && (addresses.length > 0 || !KINDS[kind].fields.includes("at"));
    for (const option of this.kind.options) option.hidden = option.disabled = !fits(option.value);
    if (!this.kind.selectedOptions[0]?.disabled) return;
    this.kind.value = [...this.kind.options].find((option) => !option.disabled).value;
    this.build();
  }

  // Offered for what is shown, whatever is asked by now.
  suggest(shown, meta) {
    const { state, view } = shown;
    const row = shown.rowOf(meta);
    const home = homeOf(state);
    const heads = state.head === "mean" ? null : [state.head];
    const at = meta.address;
    const where = heads ? `head ${state.head} of ${at}` : `all heads of ${at}`;
    const label = shorten((meta.columns === "target" ? view.read : view.source)[state.column], 12);
    /** @type {[string, EditOf][]} */
    const offers = [[`Switch off ${where}`, { kind: "off", at, heads, how: "zero" }]];
    offers.push([
      `Pin ${meta.rows !== "target" ? `place ${row}` : isOne(view) ? "the answer" : `step ${row}`} to “${label}”`,
      { kind: "pin", at, heads, step: row, places: [state.column] },
    ]);
    offers.push([`Block “${label}” (place ${state.column})`, { kind: "block", at, heads, places: [state.column] }]);
    offers.push([`Make ${where} hard`, { kind: "hard", at, heads }]);
    return offers.map(([text, edit]) =>
      element("button", {
        type: "button",
        "data-edit": edit.kind,
        text,
        click: () => this.onSave({ ...edit, home }, null),
      }),
    );
  }

  submit(event) {
    event.preventDefault();
    try {
      const written = Object.fromEntries(
        Object.entries(this.inputs).map(([name, input]) => [name, input.value.trim()]),
      );
      const edit = readEdit(this.kind.value, written);
      const { changing } = this;
      this.error.hidden = true;
      this.changing = { ...edit, home: homeOf(this.explorer.asked) };
      this.sent = true;
      this.onSave(this.changing, changing);
    } catch (error) {
      this.error.textContent = error.message;
      this.error.hidden = false;
    }
  }
}
