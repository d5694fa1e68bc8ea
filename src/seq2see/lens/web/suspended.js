// Edits that name places, steps or tokens mean something for one text of one model only: elsewhere they are suspended.

import { bare } from "seq2see/edits";

/** @typedef {import("seq2see/edits").EditOf} EditOf */
/** @typedef {import("seq2see/edits").Home} Home */
/** @typedef {import("seq2see/state").State} State */
/** @typedef {import("seq2see/store").Model} Model */

const PLACED = ["pin", "block", "hide", "force"];

/**
 * What an edit made now is made for; another edit may put another text in the place of the one asked for.
 * @param {State} state
 * @returns {Home}
 */
export function homeOf({ model, text, features, edits }) {
  const other = edits.findLast((edit) => edit.kind === "source" && edit.on !== false);
  return { model, text: other?.text ?? text, features };
}

/** @param {Home} one @param {Home} other */
const same = (one, other) => one.model === other.model && one.text === other.text && one.features === other.features;

/** Edits and a given target that were made for nothing yet were made for what is asked. @param {State} state */
export function settledIn(state) {
  const home = homeOf(state);
  const edits = state.edits.map((edit) => (edit.home ? edit : { ...edit, home }));
  const targetFor = state.target === null ? null : (state.targetFor ?? home);
  return { edits, targetFor };
}

/** What an edit was made for, where that is not what is asked. @param {EditOf} edit @param {State} state */
export function awayFrom(edit, state) {
  const { home } = edit;
  if (!home) return null;
  if (PLACED.includes(edit.kind)) return same(home, homeOf(state)) ? null : home;
  return edit.at && home.model !== state.model ? { model: home.model, text: "", features: "" } : null;
}

/** @param {Home} home @param {State} state */
function madeFor(home, state) {
  const here = homeOf(state);
  const where = [
    home.text !== here.text && `“${home.text}”`,
    home.features !== here.features && (home.features ? `the features ${home.features}` : "no features"),
    home.model !== here.model && `model ${home.model}`,
  ];
  return `made for ${where.filter(Boolean).join(", ")}`;
}

/** @param {string} pattern @param {Model} model @param {number[] | null | undefined} heads */
function isThere(pattern, model, heads) {
  const expression = new RegExp(
    `^${pattern
      .split("*")
      .map((part) => part.replace(/[.]/g, "\\."))
      .join(".*")}$`,
  );
  const meant = model.addresses.filter(({ address }) => expression.test(address));
  return meant.length > 0 && (heads ?? []).every((head) => meant.every((one) => head < one.heads));
}

/** Why an edit is suspended, or null. @param {EditOf} edit @param {State} state @param {Model} model */
export function suspension(edit, state, model) {
  if (edit.kind === "force" && !model.writes) return "this model says no tokens";
  if (edit.kind === "skip" && !model.blocks.includes(edit.block ?? "")) return "this model has no such block";
  const home = awayFrom(edit, state);
  if (!home) return null;
  if (PLACED.includes(edit.kind)) return madeFor(home, state);
  return edit.at && !isThere(edit.at, model, edit.heads) ? `made for model ${home.model}; not in this one` : null;
}

/** Why a given target is suspended, or null. @param {State} state @param {Model} model */
export function targetSuspension(state, model) {
  if (state.target === null) return null;
  if (!model.writes) return "this model writes nothing";
  return state.targetFor && !same(state.targetFor, homeOf(state)) ? madeFor(state.targetFor, state) : null;
}

/** The places of the edits that are on and not suspended. @param {State} state @param {Model} model */
export function active(state, model) {
  if (state.plain) return [];
  return state.edits.flatMap((edit, place) =>
    edit.on !== false && suspension(edit, state, model) === null ? [place] : [],
  );
}

/** What the server is asked for. @param {State} state @param {Model} model */
export function requestOf(state, model) {
  const { text, features, beam, words } = state;
  const target = targetSuspension(state, model) === null ? state.target : null;
  const edits = active(state, model).map((place) => bare(state.edits[place]));
  // Another model may not have this target; then its first is meant.
  const into = model.targets.includes(state.into) ? state.into : "";
  return { model: state.model, text, features, into, target, beam, words, edits };
}
