// What an owner should know about an agent at once. Pure: the page draws what this says.

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
  stake(agent, now.slot, say);
  batches(agent, now.epoch, say);
  if (agent.challenges?.lost > 0) {
    const lost = usdc(agent.slashed_micro_usdc);
    say(
      "bad",
      `Lost ${plural(agent.challenges.lost, "challenge")}; ` +
        `${lost ? `${lost.text} ${lost.unit} ` : ""}of stake slashed.`,
    );
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

function stake(agent, slot, say) {
  const value = agent.stake;
  if (!value) {
    say("warn", "No stake is locked.");
    return;
  }
  if (value.micro_usdc === "0") {
    say("bad", "The stake is gone: nothing answers for what this agent says.");
    return;
  }
  const held = usdc(value.micro_usdc);
  if (value.open_challenges > 0) {
    say(
      "bad",
      `${plural(value.open_challenges, "challenge")} not resolved yet: left unanswered, it costs the whole ` +
        `stake of ${held?.text ?? "?"} USDC.`,
    );
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
    say("ok", `${held?.text ?? "?"} USDC at stake.`);
  }
}

function batches(agent, epoch, say) {
  const value = agent.batches;
  if (value.withheld > 0) {
    say(
      "warn",
      `The data of ${plural(value.withheld, "batch", "batches")} is withheld: it is not served, so it ` +
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
