// The keys of the page, and the dialog that tells them.

import { element } from "seq2see/element";
import { VIEWS } from "seq2see/state";

const TOLD = [
  ["1 – 6", "views"],
  ["← → ↑ ↓", "move the selected cell, step or node"],
  ["[ ]", "head before, next head"],
  ["{ }", "address before, next address"],
  ["space", "play or stop the steps"],
  ["u", "undo an edit"],
  ["shift u", "redo"],
  ["+ − 0", "zoom in, out, reset (Map, Beam, Compare)"],
  ["Enter", "in the atlas: open the map; in the beam: force the path"],
  ["x b p", "in an image: hide, block or pin the chosen place; o shows it alone"],
  ["/", "to the text"],
  ["?", "these keys"],
];

export class Keys {
  constructor(explorer, undo, views) {
    this.explorer = explorer;
    this.undo = undo;
    this.views = views;
    this.dialog = element(
      "dialog",
      { id: "keys", "aria-labelledby": "keys-title" },
      element("h2", { id: "keys-title", text: "Keys" }),
      element(
        "dl",
        {},
        ...TOLD.flatMap(([key, meaning]) => [
          element("dt", {}, element("kbd", { text: key })),
          element("dd", { text: meaning }),
        ]),
      ),
      element("form", { method: "dialog" }, element("button", { class: "main", text: "Close" })),
    );
    document.body.append(this.dialog);
    addEventListener("keydown", (event) => this.press(event));
  }

  help() {
    if (this.dialog.open) this.dialog.close();
    else this.dialog.showModal();
  }

  press(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    const target = event.target;
    // Whoever is writing, or in a list, keeps their keys.
    if (target.closest?.("input:not([type=checkbox]):not([type=range]), textarea, select") || this.dialog.open) return;
    if (target.matches?.("[type=range]") && event.key.startsWith("Arrow")) return;
    if (event.key === " " && target.closest?.("button, [type=checkbox]")) return;
    if (event.key === "Enter" && target.closest?.("button, a, summary")) return;
    if (this.common(event) || (this.explorer.shown && this.views[this.explorer.asked.view].key(event)))
      event.preventDefault();
  }

  common(event) {
    const { explorer } = this;
    const place = Number(event.key) - 1;
    if (VIEWS[place] && (VIEWS[place] !== "beam" || explorer.model.writes))
      explorer.change({ view: VIEWS[place] }, event);
    else if (event.key === "[") explorer.turnHead(-1, event);
    else if (event.key === "]") explorer.turnHead(1, event);
    else if (event.key === "{") explorer.turnAddress(-1, event);
    else if (event.key === "}") explorer.turnAddress(1, event);
    else if (event.key === "u" && !explorer.store.saved) this.undo.undo();
    else if (event.key === "U" && !explorer.store.saved) this.undo.redo();
    else if (event.key === "?") this.help();
    else if (event.key === "/") document.getElementById("text")?.focus();
    else if (event.key === " " && explorer.asked.view !== "translate" && explorer.shown?.view.kind === "text")
      this.views.translate.play();
    else return false;
    return true;
  }
}
