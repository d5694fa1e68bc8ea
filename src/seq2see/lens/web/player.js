// Plays the steps of an output, one after the other.

import { button } from "seq2see/element";

const PACE = 800; // milliseconds per step

export class Player {
  /** @param {import("seq2see/explorer").Explorer} explorer */
  constructor(explorer) {
    this.explorer = explorer;
    this.timer = 0;
    this.button = button("play", "Play", "play or stop (space)", () => this.play());
  }

  play() {
    const { shown } = this.explorer;
    if (this.timer !== 0) return this.stop();
    if (!shown) return undefined;
    if (shown.state.step >= shown.view.read.length - 1) this.explorer.change({ step: 0 });
    this.timer = setInterval(() => this.step(), PACE);
    this.button.textContent = "Stop";
    return undefined;
  }

  step() {
    const { shown } = this.explorer;
    if (!shown || shown.state.step >= shown.view.read.length - 1) this.stop();
    else this.explorer.change({ step: shown.state.step + 1 });
  }

  stop() {
    clearInterval(this.timer);
    this.timer = 0;
    this.button.textContent = "Play";
  }
}
