// Undo and redo of the stack of edits; travelling through the browser's history counts as a change too.

export class Undo {
  constructor(explorer) {
    this.explorer = explorer;
    this.past = [];
    this.future = [];
    this.now = explorer.asked.edits;
    explorer.watch((changed) => changed.has("edits") && this.notice());
  }

  notice() {
    const edits = this.explorer.asked.edits;
    if (JSON.stringify(edits) === JSON.stringify(this.now)) return;
    this.past.push(this.now);
    this.future = [];
    this.now = edits;
  }

  step(from, to) {
    this.notice();
    if (from.length === 0) return;
    to.push(this.now);
    this.now = from.pop();
    this.explorer.change({ edits: this.now });
  }

  undo() {
    this.step(this.past, this.future);
  }

  redo() {
    this.notice();
    this.step(this.future, this.past);
  }
}
