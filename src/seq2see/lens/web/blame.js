// Which edit is to blame for a refusal: the last of the fewest first edits that are refused together.

import { isStale } from "seq2see/lane";
import { active, requestOf } from "seq2see/suspended";

/**
 * @param {import("seq2see/state").State} state
 * @param {import("seq2see/store").Model} model
 * @param {(request: object) => Promise<unknown>} ask
 * @returns {Promise<number | null>} Its place among all edits; null where the plain request is refused too.
 */
export async function blame(state, model, ask) {
  const places = active(state, model);
  const request = requestOf(state, model);
  const refuses = async (count) => {
    try {
      await ask({ ...request, edits: request.edits.slice(0, count) });
      return false;
    } catch (error) {
      if (isStale(error)) throw error;
      return true;
    }
  };
  if (places.length === 0 || (await refuses(0))) return null;
  let [fine, bad] = [0, places.length];
  while (bad - fine > 1) {
    const middle = (fine + bad) >> 1;
    if (await refuses(middle)) bad = middle;
    else fine = middle;
  }
  return places[bad - 1];
}
