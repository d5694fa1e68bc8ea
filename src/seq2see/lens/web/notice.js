// A sentence next to what caused it.

import { element } from "seq2see/element";

export class Notice {
  /** @param {string} id */
  constructor(id) {
    this.text = element("span");
    this.close = element("button", {
      type: "button",
      class: "quiet",
      "aria-label": "close this notice",
      text: "×",
      click: () => this.clear(),
    });
    this.element = element("div", { id, class: "notice", role: "status", hidden: true }, this.text, this.close);
  }

  show(sentence, tone = "error") {
    this.text.textContent = sentence;
    this.element.dataset.tone = tone;
    this.element.hidden = false;
  }

  // A second sentence does not hide the first.
  add(sentence, tone) {
    const before = this.element.hidden ? [] : [this.text.textContent];
    this.show([...before, sentence].join(" · "), tone);
  }

  clear() {
    this.element.hidden = true;
    this.text.textContent = "";
  }
}
