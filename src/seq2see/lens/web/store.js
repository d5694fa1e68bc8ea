// Where views and weights come from: a running server, or a page that was saved with its data.

import { isStale } from "seq2see/lane";

/**
 * @typedef {{name: string, run: string, about: string, addresses: {address: string, heads: number}[],
 *   features: boolean, reads: boolean, writes: boolean, attributions: string[], images: boolean, names: string[],
 *   blocks: string[], targets: string[]}} Model
 * @typedef {{image: string, height: number, width: number, rows: number, columns: number, down: number,
 *   across: number, first: number}} PictureOf
 * @typedef {{address: string, heads: number, rows: string, columns: string, shape: [number, number],
 *   summaries?: Record<string, number>[]}} MapOf
 * @typedef {{id?: string, code?: string, source: string[], unknown: number[], lower: string | null, read: string[],
 *   predicted: string[], kind: "text" | "class" | "labels" | "number" | "tags" | "gaps", output: string, note: string,
 *   log_probability: number | null, cut: boolean,
 *   steps: {log_probability: number | null, top: [number, string, number | null][]}[], maps: MapOf[],
 *   effect: {output: string, predicted: string[], log_probability: number | null, difference: [string, string][],
 *     change: number | null, kl: number[]} | null,
 *   picture: PictureOf | null,
 *   blocks: {block: string, skipped: boolean, answer: string, value: number | null, change: number | null}[],
 *   features: {stage: string, channels: number[], shape: [number, number], maps: string}[],
 *   tree: {nodes: import("seq2see/tree").Branch[]} | null}} View
 * @typedef {ReturnType<typeof import("seq2see/suspended").requestOf>} Request
 * @typedef {LiveStore | SavedStore} Store
 *
 * A request with its answer.
 * @typedef {{request: Request, answer: View, name?: number}} Handle
 */

export class Refusal extends Error {
  constructor(status, sentence) {
    super(sentence);
    this.status = status;
  }
}

async function sentenceOf(response) {
  try {
    const { detail } = await response.json();
    if (Array.isArray(detail))
      return detail.map((one) => `${(one.loc ?? []).slice(1).join(".")}: ${one.msg}`).join("; ");
    if (detail) return String(detail);
  } catch {
    // An answer without a sentence is told by its number below.
  }
  return `the server answered ${response.status}`;
}

/** What comes over the net, or word that it does not. @template Value @param {Promise<Value>} arriving */
async function arrived(arriving) {
  try {
    return await arriving;
  } catch (error) {
    if (isStale(error)) throw error;
    throw new Refusal(0, "the server does not answer; is `seq2see explore` still running?");
  }
}

async function ask(address, options) {
  // A browser may keep the answer that a view is gone, and give it again after the view is back.
  const response = await arrived(fetch(address, { cache: "no-store", ...options }));
  if (!response.ok) throw new Refusal(response.status, await sentenceOf(response));
  return response;
}

// A handle is a request with its answer; its id may be renewed when the server has forgotten it.
export class LiveStore {
  saved = false;
  asked = {};
  /** @type {string[]} */
  summaries = [];

  async models() {
    return arrived((await ask("/api/models")).json());
  }

  async view(request, signal) {
    const response = await ask("/api/view", {
      method: "POST",
      signal,
      body: JSON.stringify(request),
      headers: { "Content-Type": "application/json" },
    });
    return { request, answer: await arrived(response.json()) };
  }

  /** Gives an image to the server, to look at; the name that it goes by there. @param {File} file */
  async upload(file, most) {
    if (file.size > most) throw new Refusal(0, `${file.name} has ${file.size} bytes, and at most ${most} can be sent`);
    const response = await ask(`/api/image?name=${encodeURIComponent(file.name.slice(-200))}`, {
      method: "POST",
      body: file,
      headers: { "Content-Type": "application/octet-stream" },
    });
    return (await arrived(response.json())).name;
  }

  async numbers(handle, path, signal) {
    try {
      return await ask(path(handle.answer.id), { signal });
    } catch (error) {
      if (error.status !== 410) throw error;
      handle.answer.id = (await this.view(handle.request, signal)).answer.id;
      return ask(path(handle.answer.id), { signal });
    }
  }

  async map(handle, at, head, signal) {
    const response = await this.numbers(handle, (id) => `/api/map/${id}/${at}/${head}`, signal);
    return new Uint8Array(await arrived(response.arrayBuffer()));
  }

  async row(handle, at, head, row, signal) {
    const response = await this.numbers(handle, (id) => `/api/map/${id}/${at}/${head}?row=${row}`, signal);
    return new Float32Array(await arrived(response.arrayBuffer()));
  }

  async thumbnails(handle, at, signal) {
    const response = await this.numbers(handle, (id) => `/api/thumbnails/${id}/${at}`, signal);
    const [heads, rows, columns] = (response.headers.get("X-Shape") ?? "").split(",").map(Number);
    return { heads, rows, columns, bytes: new Uint8Array(await arrived(response.arrayBuffer())) };
  }

  async summary(handle, kind, signal) {
    const response = await this.numbers(handle, (id) => `/api/summary/${id}/${kind}`, signal);
    return new Float32Array(await arrived(response.arrayBuffer()));
  }
}

const THUMBNAIL = 48; // as many rows and columns as the server's thumbnails have at most

export function bytesOf(text) {
  return Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));
}

export class SavedStore {
  saved = true;

  constructor(data) {
    this.data = data;
  }

  /** What the saved view was asked for. */
  get asked() {
    const { model, text, features, into, target, beam, words, edits } = this.data.request;
    return { model, text, features, into, target, targetFor: null, beam, words, edits, plain: false };
  }

  /** The drawings besides weights that were saved. */
  get summaries() {
    return Object.keys(this.data.summaries);
  }

  async models() {
    return this.data.models;
  }

  async upload() {
    throw new Refusal(0, "a saved view takes no images; `seq2see explore RUN` opens a live one");
  }

  async view() {
    return { request: this.data.request, answer: this.data.view };
  }

  heads(at) {
    const text = this.data.maps?.[at];
    if (!text) throw new Refusal(404, `the weights of ${at} were not saved with this page`);
    const meta = this.data.view.maps.find((map) => map.address === at);
    return { bytes: bytesOf(text), heads: meta.heads, rows: meta.shape[0], columns: meta.shape[1] };
  }

  async map(_handle, at, head) {
    const { bytes, heads, rows, columns } = this.heads(at);
    const size = rows * columns;
    if (head !== "mean") return bytes.slice(head * size, (head + 1) * size);
    const mean = new Uint8Array(size);
    for (let place = 0; place < size; place += 1) {
      let sum = 0;
      for (let one = 0; one < heads; one += 1) sum += bytes[one * size + place];
      mean[place] = Math.round(sum / heads);
    }
    return mean;
  }

  async row(handle, at, head, row) {
    const columns = this.heads(at).columns;
    const map = await this.map(handle, at, head);
    return Float32Array.from(map.subarray(row * columns, (row + 1) * columns), (value) => value / 255);
  }

  async thumbnails(_handle, at) {
    const { bytes, heads, rows, columns } = this.heads(at);
    const small = { heads, rows: Math.min(rows, THUMBNAIL), columns: Math.min(columns, THUMBNAIL) };
    small.bytes = new Uint8Array(heads * small.rows * small.columns);
    for (let place = 0; place < bytes.length; place += 1) {
      const head = Math.floor(place / (rows * columns));
      const row = Math.floor((Math.floor((place % (rows * columns)) / columns) * small.rows) / rows);
      const column = Math.floor(((place % columns) * small.columns) / columns);
      const target = (head * small.rows + row) * small.columns + column;
      small.bytes[target] = Math.max(small.bytes[target], bytes[place]);
    }
    return small;
  }

  async summary(_handle, kind) {
    const text = this.data.summaries?.[kind];
    if (!text) throw new Refusal(404, `${kind} was not saved with this page`);
    return new Float32Array(bytesOf(text).buffer);
  }
}

export function openStore() {
  const saved = document.getElementById("saved");
  return saved ? new SavedStore(JSON.parse(saved.textContent)) : new LiveStore();
}
