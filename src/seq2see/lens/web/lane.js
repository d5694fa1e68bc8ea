// A lane carries one request at a time: a newer one sends the older home, so stale answers never arrive.

export class Lane {
  constructor() {
    this.running = null;
  }

  run(key, task) {
    if (this.running?.key === key) return this.running.promise;
    this.running?.control.abort();
    const control = new AbortController();
    const promise = task(control.signal).finally(() => {
      if (this.running?.control === control) this.running = null;
    });
    this.running = { key, control, promise };
    return promise;
  }

  stop() {
    this.running?.control.abort();
    this.running = null;
  }
}

export function isStale(error) {
  return error?.name === "AbortError";
}

// The most recent few of anything that is costly to get again.
export class Recent {
  constructor(most) {
    this.most = most;
    this.entries = new Map();
  }

  get(key) {
    const value = this.entries.get(key);
    if (value !== undefined) {
      this.entries.delete(key);
      this.entries.set(key, value);
    }
    return value;
  }

  set(key, value) {
    this.entries.delete(key);
    this.entries.set(key, value);
    if (this.entries.size > this.most) this.entries.delete(this.entries.keys().next().value);
    return value;
  }
}
