// What an owner should know about an agent at once. Pure: the page draws what this says.

import { isUntaken, keyStands, presentStake, scopesOf } from "./authority.js";
import { epochDay, integer, plural, usdc } from "./format.js";

/** Grace epochs after paid_through (decision B5). */
export const GRACE_EPOCHS = 3;
/** Idle epochs before the reputation decays (decision D3). */
export const DECAY_AFTER = 6;

/**
 * Remarks about an agent, the gravest first.
 *
 * @param {object} agent an AgentSummary
 * @param {{epoch: number|null, slot: number|null}} now of the chain
 * @returns {{grade: "bad"|"warn"|"ok"|"info", text: string}[]}
 */
export function remarks(agent, now) {
  const out = [];
  const say = (grade, text) => out.push({ grade, text });
  lease(agent.lease, now.epoch, say);
  keys(agent, now.epoch, say);
  stakes(agent, now.slot, say);
  batches(agent, now.epoch, say);
  asks(agent, say);
  if (agent.challenges?.lost > 0) {
    const lost = usdc(agent.slashed_micro_usdc);
    say(
      "bad",
      `Lost ${plural(agent.challenges.lost, "challenge")}; ` +
        `${lost ? `${lost.text} ${lost.unit} ` : ""}of stake slashed.`,
    );
  }
  if (Number(agent.fined_micro_usdc) > 0) {
    say("warn", `Paid ${money(agent.fined_micro_usdc)} of fines for leaves that were not shown.`);
  }
  if (agent.owner === null)
    say("warn", "Nobody holds the agent's token now: it was burned or is in transfer.");
  const rank = { bad: 0, warn: 1, info: 2, ok: 3 };
  return out.sort((a, b) => rank[a.grade] - rank[b.grade]);
}

function lease(value, epoch, say) {
  if (!value || value.state === "none") {
    say("info", "No lease was ever paid, so no batch can be submitted.");
    return;
  }
  const through = value.paid_through_epoch;
  if (value.state === "deactivated") {
    say(
      "bad",
      `Lease deactivated: unpaid since ${epochDay(through + 1)}. Reactivation pays ` +
        `${GRACE_EPOCHS + 1} epochs.`,
    );
  } else if (value.state === "grace") {
    const left = GRACE_EPOCHS - value.behind;
    const when = left <= 0 ? "today is the last day" : `${plural(left, "day")} after today`;
    say("warn", `Lease in grace, ${plural(value.behind, "epoch")} behind: ${when} before deactivation.`);
  } else if (Number.isFinite(epoch) && through - epoch <= 1) {
    const when = through <= epoch ? "today" : "tomorrow";
    say("info", `Lease paid through ${epochDay(through)}: it enters grace after ${when}.`);
  } else {
    say("ok", `Lease paid through ${epochDay(through)}.`);
  }
}

function money(micro) {
  const value = usdc(micro);
  return value ? `${value.text} ${value.unit}` : "? USDC";
}

function keys(agent, epoch, say) {
  if (isUntaken(agent)) {
    say("warn", "Its holder has not taken over: no key acts and no batch lands until then.");
    return;
  }
  const live = (agent.keys ?? []).filter(
    (one) => keyStands(one, { epoch, owner: agent.owner }).state === "live",
  );
  const held = new Set(live.flatMap((one) => scopesOf(one.scopes).map(([name]) => name)));
  if (!held.has("batch")) {
    say("warn", "No live key signs batches, so none can be submitted.");
  } else if (!held.has("deal")) {
    say("info", "No live key signs deals: the agent makes no offers.");
  }
}

function stakes(agent, slot, say) {
  const all = agent.stakes ?? [];
  for (const one of all.filter((other) => other.open_challenges > 0)) {
    const open = `${plural(one.open_challenges, "challenge")} of era ${integer(one.era)} not settled yet`;
    if (one.micro_usdc === "0") say("warn", `${open}; nothing is left of its stake.`);
    else {
      say("bad", `${open}: left unanswered, it costs the whole stake of the era, ${money(one.micro_usdc)}.`);
    }
  }
  const value = presentStake(agent);
  if (!value || value.ended) {
    const slashed = value?.slashed_slot !== null && value?.slashed_slot !== undefined;
    if (slashed) say("bad", "The stake was slashed: nothing answers for what this agent says.");
    else say("warn", "No stake is locked in the present era, so no batch can land.");
    return;
  }
  if (value.micro_usdc === "0") {
    say("bad", "The stake is gone: nothing answers for what this agent says.");
    return;
  }
  if (value.unlock_available_slot !== null && value.unlock_available_slot !== undefined) {
    const free = Number.isFinite(slot) && slot >= value.unlock_available_slot;
    say(
      "warn",
      free
        ? "The stake's unlock was queued and its delay has passed: it can be claimed."
        : `The stake's unlock is queued until slot ${integer(value.unlock_available_slot)}.`,
    );
  } else if (value.open_challenges === 0) {
    say("ok", `${money(value.micro_usdc)} at stake.`);
  }
}

function asks(agent, say) {
  if (agent.asks?.open > 0) {
    say(
      "warn",
      `${plural(agent.asks.open, "ask")} not answered yet: a leaf that is not shown costs a fine, and its ` +
        "batch counts for nothing.",
    );
  }
}

function batches(agent, epoch, say) {
  const value = agent.batches;
  if (value.withheld > 0) {
    const are = value.withheld === 1 ? "is" : "are";
    say(
      "bad",
      `${plural(value.withheld, "batch", "batches")} ${are} withheld, because a leaf that was asked for was ` +
        `not shown: ${value.withheld === 1 ? "it counts" : "they count"} for nothing.`,
    );
  }
  if (value.missing > 0) {
    say(
      "warn",
      `The data of ${plural(value.missing, "batch", "batches")} is missing: it is not served, so it ` +
        "counts for nothing.",
    );
  }
  if (value.count === 0) {
    say("info", "No batch was submitted yet.");
    return;
  }
  if (!Number.isFinite(epoch) || value.last_epoch === null) return;
  // Only completed epochs can be submitted, so yesterday's is the newest there can be.
  const idle = epoch - 1 - value.last_epoch;
  if (idle > DECAY_AFTER) {
    say("warn", `No batch for ${plural(idle, "epoch")}: reliability and cooperation decay.`);
  } else if (idle >= 3) {
    say("info", `No batch for ${plural(idle, "epoch")}; after ${DECAY_AFTER} the reputation decays.`);
  } else {
    say("ok", `Last batch: ${epochDay(value.last_epoch)}.`);
  }
}

/** One word for the whole: the gravest grade there is. */
export function standing(list) {
  if (list.some((r) => r.grade === "bad")) return { grade: "bad", text: "Needs attention now" };
  if (list.some((r) => r.grade === "warn")) return { grade: "warn", text: "Needs attention" };
  return { grade: "ok", text: "In good standing" };
}
