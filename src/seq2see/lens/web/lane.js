// A lane carries one request at a time: a newer one sends the older home, so stale answers never arrive.

export class Lane {
  /** @type {{key: string, control: AbortController, promise: Promise<any>} | null} */
  running = null;

  /**
   * @template Value
   * @param {string} key
   * @param {(signal: AbortSignal) => Promise<Value>} task
   * @returns {Promise<Value>}
   */
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
/** @template Value */
export class Recent {
  /** @type {Map<string, Value>} */
  entries = new Map();

  /** @param {number} most */
  constructor(most) {
    this.most = most;
  }

  /** @param {string} key */
  get(key) {
    const value = this.entries.get(key);
    if (value !== undefined) {
      this.entries.delete(key);
      this.entries.set(key, value);
    }
    return value;
  }

  /** @param {string} key @param {Value} value */
  set(key, value) {
    this.entries.delete(key);
    this.entries.set(key, value);
    if (this.entries.size > this.most) this.entries.delete(/** @type {string} */ (this.entries.keys().next().value));
    return value;
  }
}
