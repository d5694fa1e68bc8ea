// Under the header, in every view: what stands between what is asked and what is shown, and which edits are on.

import { isSame, sentence } from "seq2see/edits";
import { button, element } from "seq2see/element";
import { shorten } from "seq2see/labels";
import { askedOf } from "seq2see/state";
import { active, suspension, targetSuspension } from "seq2see/suspended";

const NAMED = 3; // edits told by name; the rest is counted
const LETTERS = 12; // unknown tokens told by name

const count = (number) => `${number} ${number === 1 ? "edit" : "edits"}`;

export class Bar {
  /** @param {import("seq2see/explorer").Explorer} explorer */
  constructor(explorer) {
    this.explorer = explorer;
    /** @type {Map<HTMLElement, string>} */
    this.said = new Map();
    this.refusal = element("div", { id: "refusal", class: "notice", role: "alert", hidden: true });
    this.edits = element("div", { id: "edit-bar", class: "line", role: "status", hidden: true });
    this.suspended = element("div", { id: "suspended", class: "line quiet", role: "status", hidden: true });
    this.unknown = element("div", { id: "unknown", class: "line", role: "status", hidden: true });
    this.element = element("div", { class: "bars" }, this.refusal, this.edits, this.suspended, this.unknown);
    explorer.watch(() => this.update());
  }

  update() {
    this.fill(this.refusal, this.explorer.problem ? this.refused(this.explorer.problem) : []);
    this.fill(this.edits, this.tellEdits());
    this.fill(this.suspended, this.tellSuspended());
    this.fill(this.unknown, this.tellUnknown());
  }

  /** A line is made anew when there is something new; the keyboard stays on the button of the same name. */
  fill(line, parts) {
    const said = JSON.stringify([parts.map((part) => part.textContent), askedOf(this.explorer.asked)]);
    if (this.said.get(line) === said) return;
    this.said.set(line, said);
    const focused = line.contains(document.activeElement) ? document.activeElement?.id : null;
    line.hidden = parts.length === 0;
    line.replaceChildren(...parts);
    if (focused) (document.getElementById(focused) ?? line.querySelector("button"))?.focus();
  }

  /** @param {import("seq2see/explorer").Problem} problem */
  refused({ text, sentence: why, edit }) {
    const { explorer } = this;
    const { shown } = explorer;
    const what = text.trim() ? `“${shorten(text, 40)}” cannot be shown: ${why}.` : `Type a text: ${why}.`;
    const parts = [element("span", { class: "why", text: what.replace(/([.?!])\.$/, "$1") })];
    if (edit) {
      parts.push(element("span", { text: `The edit “${sentence(edit)}” is to blame.` }));
      parts.push(button("switch-off", "Switch it off", "", () => this.switchOff(edit)));
      parts.push(button("to-edits", "Change it", "", () => explorer.change({ view: "edit" })));
    }
    if (shown) {
      const still = `Below is still ${shown.words(explorer.models.length > 1)}.`;
      parts.push(element("span", { id: "still", text: still }));
      parts.push(button("to-shown", "Back to it", "", () => explorer.change(askedOf(shown.state))));
    }
    parts.push(button("again", "Try again", "", () => explorer.load()));
    return parts;
  }

  switchOff(edit) {
    const off = (one) => (isSame(one, edit) ? { ...one, on: /** @type {const} */ (false) } : one);
    this.explorer.change({ edits: this.explorer.asked.edits.map(off) });
  }

  tellEdits() {
    const { asked, model, problem, store } = this.explorer;
    const places = active({ ...asked, plain: false }, model);
    if (places.length === 0) return [];
    const named = places.slice(0, NAMED).map((place) => sentence(asked.edits[place]));
    if (places.length > NAMED) named.push(`and ${places.length - NAMED} more`);
    const state = problem ? "asked for" : "on";
    const what = asked.plain ? "left out: this is the plain model" : state;
    const parts = [
      element("b", { text: `${count(places.length)} ${what}` }),
      element("span", { class: "hint names", text: named.join(" · ") }),
    ];
    if (store.saved) return parts;
    parts.push(
      button("show-plain", asked.plain ? "Show edited" : "Show plain", "", () =>
        this.explorer.change({ plain: !asked.plain }),
      ),
      button("remove-edits", "Remove", "", () => this.remove(places)),
    );
    return parts;
  }

  tellSuspended() {
    const { asked, model, store } = this.explorer;
    const why = asked.edits.map((edit) => (edit.on === false ? null : suspension(edit, asked, model)));
    const places = why.flatMap((reason, place) => (reason ? [place] : []));
    const said = targetSuspension(asked, model);
    const told = places.slice(0, NAMED).map((place) => `${sentence(asked.edits[place])} (${why[place]})`);
    if (places.length > NAMED) told.push(`and ${places.length - NAMED} more`);
    if (said) told.push(`“${shorten(asked.target, 24)}” as what to say (${said})`);
    if (told.length === 0 || store.saved) return [];
    const home = said ? asked.targetFor : asked.edits[places[0]].home;
    const number = places.length + (said ? 1 : 0);
    const parts = [
      element("b", { text: `${number} suspended` }),
      element("span", { class: "hint names", text: told.join(" · ") }),
    ];
    if (home?.text && home.text !== asked.text)
      parts.push(button("go-home", `Back to “${shorten(home.text, 20)}”`, "", () => this.explorer.change(home)));
    const forget = () => this.remove(places, said ? { target: null, targetFor: null } : {});
    parts.push(button("remove-suspended", "Remove", "", forget));
    return parts;
  }

  remove(places, more = {}) {
    const edits = this.explorer.asked.edits.filter((_, place) => !places.includes(place));
    this.explorer.change({ edits, ...(edits.length === 0 ? { plain: false } : {}), ...more });
  }

  tellUnknown() {
    const { shown, stale, store } = this.explorer;
    if (!shown || stale || shown.view.unknown.length === 0) return [];
    const { source, unknown, lower } = shown.view;
    const letters = [...new Set(unknown.map((place) => source[place]))];
    const named = letters.slice(0, LETTERS).map((letter) => shorten(letter, 16));
    if (letters.length > LETTERS) named.push(`and ${letters.length - LETTERS} more`);
    const advice = lower === null ? "" : "; try lower case";
    const parts = [
      element("b", { text: "Not known from training:" }),
      element("span", { class: "names", text: `${named.join(" ")}${advice}` }),
    ];
    if (lower !== null && !store.saved && lower === shown.state.text?.toLowerCase())
      parts.push(button("lower-case", `Read “${shorten(lower, 24)}”`, "", () => this.explorer.change({ text: lower })));
    return parts;
  }
}
