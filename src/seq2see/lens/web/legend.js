// What a colour is worth.

import { element } from "seq2see/element";
import { number } from "seq2see/labels";
import { colours } from "seq2see/theme";

export class Legend {
  constructor(id = "legend") {
    this.low = element("span");
    this.bar = element("span", { class: "bar" });
    this.high = element("span");
    this.element = element("span", { id, class: "legend", role: "img" }, this.low, this.bar, this.high);
  }

  show(grid, scale) {
    const { palette } = colours();
    const limit = grid.limit(scale);
    const from = grid.signed ? -1 : 0;
    const stops = Array.from({ length: 13 }, (_, place) => {
      const share = from + ((1 - from) * place) / 12;
      return palette.css(grid.share(share * limit, scale), grid.signed);
    });
    this.bar.style.background = `linear-gradient(90deg, ${stops.join(", ")})`;
    const digits = limit < 0.1 ? 4 : limit === 1 ? 0 : 2;
    this.low.textContent = from === 0 ? "0" : number(from * limit, digits);
    this.high.textContent = number(limit, digits);
    this.element.setAttribute("aria-label", `colours from ${this.low.textContent} to ${this.high.textContent}`);
  }
}
