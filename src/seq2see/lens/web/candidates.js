// The likeliest next tokens at one step, as bars that can be chosen.

import { candidatesTitle, writes } from "seq2see/answers";
import { element } from "seq2see/element";
import { isolated, shorten } from "seq2see/labels";
import { homeOf } from "seq2see/suspended";

export function percent(logProbability) {
  const share = Math.exp(logProbability);
  if (share >= 0.9995) return "100 %";
  if (share < 0.0005) return "<0.1 %";
  return `${(share * 100).toFixed(1)} %`;
}

export class Candidates {
  constructor(explorer) {
    this.explorer = explorer;
    this.title = element("h2", { text: "Candidates" });
    this.list = element("div", {
      id: "candidates",
      class: "candidates",
      role: "group",
      "aria-label": "candidates at this step",
    });
    this.hint = element("p", { class: "hint" });
    this.element = element("div", { class: "panel" }, this.title, this.list, this.hint);
  }

  /** @param {import("seq2see/shown").Shown} shown */
  update({ view, state }) {
    const { store, stale } = this.explorer;
    const step = view.steps[state.step];
    this.title.textContent = candidatesTitle(view, state.step);
    this.element.hidden = view.kind === "number";
    const locked = store.saved || stale || state.words || !writes(view);
    this.hint.textContent =
      store.saved || stale || !writes(view)
        ? ""
        : state.words
          ? "Switch words off to force single tokens."
          : "Choose one and the model goes on from it.";
    const said = view.predicted[state.step];
    const isSaid = (label) => (view.kind === "labels" ? view.output.split("|").includes(label) : label === said);
    // The list is made anew; whoever was on it with the keyboard stays on it.
    const focused = [...this.list.children].indexOf(document.activeElement);
    this.list.replaceChildren(
      ...(step?.top ?? []).map(([token, label, logProbability]) =>
        this.bar(token, label, logProbability ?? -Infinity, isSaid(label), locked),
      ),
    );
    this.list.children[focused]?.focus();
  }

  bar(token, label, logProbability, said, locked) {
    const share = Math.exp(logProbability);
    const fill = element("span", { class: "fill" });
    fill.style.width = `${Math.max(0.4, share * 100)}%`;
    return element(
      "button",
      {
        type: "button",
        class: said ? "candidate said" : "candidate",
        "data-token": token,
        disabled: locked,
        title: `${isolated(label)} · log-probability ${logProbability.toFixed(3)}`,
        click: () => this.force(token),
      },
      element("span", { class: "name", text: `${said ? "✓ " : ""}${shorten(label, 14)}` }),
      element("span", { class: "bar" }, fill),
      element("span", { class: "value", text: percent(logProbability) }),
    );
  }

  // The token was offered for what is shown, whatever is asked by now.
  force(token) {
    const { asked, shown } = this.explorer;
    if (!shown) return;
    const home = homeOf(shown.state);
    const { step } = shown.state;
    const same = (edit) =>
      edit.kind === "force" && edit.step === step && JSON.stringify(edit.home) === JSON.stringify(home);
    this.explorer.change({
      edits: [...asked.edits.filter((edit) => !same(edit)), { kind: "force", step, token, home }],
    });
  }
}
