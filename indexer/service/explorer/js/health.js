// Whether what the page shows may be old or incomplete. Pure.

import { integer, plural, span } from "./format.js";

/** Slots behind the chain from which on a reader is told. About one minute. */
export const LAG_SLOTS = 150;
/** Milliseconds without an answer from which on a reader is told. */
export const SILENCE_MS = 20_000;

/**
 * The state of the service in a word, a grade and, if there is something to tell, a sentence.
 *
 * @param {object|null} status the last answer of /v1/status
 * @param {{answeredAt: number|null, failed: boolean, now: number, slotMs?: number}} link
 * @returns {{grade: "ok"|"warn"|"bad"|"wait", word: string, sentence: string|null}}
 */
export function health(status, { answeredAt, failed, now, slotMs = 400 }) {
  const silence = answeredAt === null ? null : now - answeredAt;
  if (!status) {
    return failed
      ? { grade: "bad", word: "offline", sentence: "The indexer cannot be reached. Trying again." }
      : { grade: "wait", word: "connecting", sentence: null };
  }
  if (failed && silence > SILENCE_MS) {
    return {
      grade: "bad",
      word: "offline",
      sentence: `The indexer cannot be reached. What you see is ${span(silence)} old. Trying again.`,
    };
  }
  const behind = `${plural(status.lag_slots, "slot")} (about ${span(status.lag_slots * slotMs)})`;
  if (status.state === "backfill") {
    const done = progress(status.backfill);
    return {
      grade: "warn",
      word: "backfill",
      sentence: `The indexer reads the chain's past${done}. Numbers are incomplete until it has ended.`,
    };
  }
  if (status.state === "stalled") {
    return {
      grade: "bad",
      word: "stalled",
      sentence: `The indexer has stalled ${behind} behind the chain. What you see is old.`,
    };
  }
  if (status.lag_slots > LAG_SLOTS) {
    return { grade: "warn", word: "behind", sentence: `The indexer is ${behind} behind the chain.` };
  }
  if (status.gaps_open > 0) {
    return {
      grade: "warn",
      word: "gaps",
      sentence:
        `${plural(status.gaps_open, "gap")} in the events of an account: numbers may be incomplete ` +
        "until the indexer has filled them.",
    };
  }
  if (status.last_audit?.differences > 0) {
    return {
      grade: "warn",
      word: "audit",
      sentence:
        `The last self-audit found ${plural(status.last_audit.differences, "difference")} between the ` +
        "indexer and the chain.",
    };
  }
  return { grade: "ok", word: "live", sentence: null };
}

function progress(backfill) {
  if (!backfill) return "";
  const all = backfill.to_slot - backfill.from_slot;
  const done = backfill.done_slot - backfill.from_slot;
  if (!(all > 0)) return "";
  const percent = Math.max(0, Math.min(100, Math.floor((100 * done) / all)));
  return `: ${percent} % of ${integer(all)} slots`;
}
