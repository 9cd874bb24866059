// Where a hit of the search leads, and what it is called. Pure.

import { epochDay, integer, short } from "./format.js";
import { href } from "./route.js";

const PLACES = {
  agent: (hit) => href("agents", hit.id),
  challenge: (hit) => href("challenges", hit.id),
  ask: (hit) => href("asks", hit.id),
  contract: (hit) => href("contracts", hit.id),
  party: (hit) => href("contracts", { party: hit.id }),
  account: (hit) => href("events", { account: hit.id }),
  transaction: (hit) =>
    href("events", { signature: hit.id, from_slot: hit.slot, to_slot: hit.slot }),
  slot: (hit) => href("events", { from_slot: hit.id, to_slot: hit.id }),
  epoch: (hit) => href("batches", { epoch: hit.id }),
};
const NAMES = {
  agent: "Agent",
  challenge: "Challenge",
  ask: "Ask",
  contract: "Contract",
  party: "Contracts of a party",
  account: "Account",
  transaction: "Transaction",
  slot: "Slot",
  epoch: "Epoch",
};

/** The place of a hit, or null for a kind that this explorer does not know. */
export const placeOf = (hit) => (Object.hasOwn(PLACES, hit.kind) ? PLACES[hit.kind](hit) : null);

/** What kind of thing it is. */
export const kindOf = (hit) => NAMES[hit.kind] ?? String(hit.kind);

/** What it is called, where it has no name. */
export function textOf(hit) {
  if (hit.kind === "slot") return integer(hit.id);
  if (hit.kind === "epoch") return `${epochDay(Number(hit.id))} (${integer(hit.id)})`;
  return hit.kind === "contract" ? hit.id : short(hit.id);
}

/** The one place to go to at once: when there is only one. */
export function only(hits) {
  const known = hits.filter((hit) => placeOf(hit) !== null);
  return known.length === 1 ? placeOf(known[0]) : null;
}
