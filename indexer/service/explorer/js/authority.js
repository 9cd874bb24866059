// What an agent's tenure, keys and eras mean, and how challenges and asks stand, in words. Pure.

import { epochDay, integer, plural } from "./format.js";

/** Slots between the end of an era and the claim of its stake. */
export const UNLOCK_DELAY_SLOTS = 432_000;

/** Bit, name and meaning of each scope. */
export const SCOPES = [
  [1, "pay", "pays the lease"],
  [2, "batch", "signs batches"],
  [4, "deal", "signs PROPOSE, COUNTER, ACCEPT and NOTARIZE_ASSIGN, which can be evidence"],
  [8, "peer", "signs all other messages, and identifies the agent's network process"],
];

/** The scopes that a sum of bits holds: `[["pay", "pays the lease"], …]`. */
export function scopesOf(bits) {
  return SCOPES.filter(([bit]) => (Number(bits) & bit) !== 0).map(([, name, meaning]) => [name, meaning]);
}

const known = (value) => value !== null && value !== undefined;

/** Whether somebody holds the agent whose turn it is not: a sale before the take-over. */
export function isUntaken(agent) {
  return known(agent.tenure?.owner) && known(agent.owner) && agent.tenure.owner !== agent.owner;
}

/** The stake of the tenure's era, or null. */
export function presentStake(agent) {
  return (agent.stakes ?? []).find((one) => one.era === agent.tenure?.era) ?? null;
}

/**
 * How a key stands in an epoch.
 *
 * @param {{from_epoch: number, until_epoch: number|null, owner: string}} one
 * @param {{epoch: number|null, owner: string|null}} now the chain's epoch, and who holds the agent's NFT
 * @returns {{state: string, text: string}} a state of `pill` and what follows from it
 */
export function keyStands(one, { epoch, owner }) {
  const { from_epoch: from, until_epoch: until } = one;
  if (known(until)) {
    return until < from
      ? { state: "ended", text: "ended before its first epoch: none of its signatures counts" }
      : { state: "ended", text: `its signatures count through ${epochDay(until)}` };
  }
  if (one.owner !== owner) {
    return { state: "idle", text: "who listed it does not hold the agent" };
  }
  if (Number.isFinite(epoch) && from > epoch) {
    return { state: "later", text: `acts and counts from ${epochDay(from)} on` };
  }
  return { state: "live", text: `acts and counts since ${epochDay(from)}` };
}

/**
 * How the stake of an era stands.
 *
 * @param {object} one of an agent's stakes
 * @param {{era: number|null, slot: number|null}} now the tenure's era and the chain's slot
 * @returns {{state: string, text: string}}
 */
export function eraStands(one, { era, slot }) {
  const after = (first, what) =>
    Number.isFinite(slot) && slot >= first
      ? `${what}; the delay is over`
      : `${what}; can be claimed from slot ${integer(first)} on`;
  const held = one.open_challenges > 0 ? `held by ${plural(one.open_challenges, "open challenge")}` : null;
  if (known(one.slashed_slot)) return { state: "slashed", text: held ?? "a challenge was not answered" };
  if (one.ended) {
    const text = "no batch lands in it any more";
    if (held) return { state: "ended", text: held };
    return {
      state: "ended",
      text: known(one.ended_slot) ? after(one.ended_slot + UNLOCK_DELAY_SLOTS + 1, text) : text,
    };
  }
  if (known(one.unlock_available_slot)) {
    return { state: "unlocking", text: held ?? after(one.unlock_available_slot, "unlock queued") };
  }
  if (held) return { state: "held", text: held };
  return known(era) && one.era !== era
    ? { state: "ended", text: "not the tenure's era" }
    : { state: "current", text: "answers for the batches of this era" };
}

/** What a challenge's state is called and what it means. */
export const CHALLENGE_STATES = {
  open: ["open", "waits for an answer"],
  unanswered: ["unanswered", "can be resolved when every lower rank of the era is settled or lapsed"],
  answered: ["answered", "somebody showed the record"],
  succeeded: ["succeeded", "nobody showed the record: the challenger was paid out of the era's stake"],
  empty: ["nothing left", "nobody showed the record, but nothing was left of the era's stake"],
};

/** The ground that nothing answers. */
export const DOUBLE_BID = 5;

/** What a challenge says of a bid's value. */
export function valueText(one) {
  if (one.ground === DOUBLE_BID) return "two values for one message: nothing answers it";
  if (one.ground !== 1) return "not about a value";
  return one.value_known ? "known: the evidence fixes it" : "not known: a record with any value answers";
}

/** What an ask's state is called and what it means. */
export const ASK_STATES = {
  open: ["open", "waits for the leaf"],
  overdue: ["overdue", "not shown in time: can be settled"],
  shown: ["shown", "somebody showed the leaf"],
  withheld: ["marked", "not shown: the batch is withheld, and a fine waits for open challenges of the era"],
  settled: ["settled", "not shown in time: the price went back to the asker"],
};

/** The leaf that an ask names: "log leaf 12". */
export function leafText(one) {
  return `${one.tree === 1 ? "arrays" : "log"} leaf ${integer(one.index)}`;
}

/** The epochs that a batch covers: one day, or the first and the last. */
export function coversText(batch) {
  const { covers_from_epoch: from, epoch } = batch;
  if (!(from < epoch)) return `covers ${epochDay(epoch)}`;
  return `covers ${epochDay(from)} to ${epochDay(epoch)}, ${plural(epoch - from + 1, "epoch")}`;
}
