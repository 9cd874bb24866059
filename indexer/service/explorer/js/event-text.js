// What an event of the stream says, in one sentence. Pure.

import { epochDay, plural, short, usdc } from "./format.js";

/** Every type of event: its name, its picture and its grade. */
export const KINDS = {
  agent_joined: ["Agent joined", "join", "ok"],
  agent_deactivated: ["Agent deactivated", "leave", "warn"],
  reputation_update: ["Reputation", "star", "info"],
  notary_assigned: ["Notary assigned", "verify", "info"],
  verdict_issued: ["Verdict", "scale", "info"],
  dispute_raised: ["Dispute", "flag", "warn"],
  challenge_submitted: ["Challenge", "bolt", "bad"],
  challenge_resolved: ["Challenge resolved", "scale", "bad"],
  message: ["Message", "mail", "info"],
};

const JOINED = {
  registered: "was registered",
  first_lease: "paid its first lease",
  reactivation: "is active again",
};

function amount(micro) {
  const value = usdc(micro);
  return value ? `${value.text} USDC` : "nothing";
}

const of = (event) =>
  event.source === "market" ? "in a contract" : `in the batch of ${epochDay(event.epoch)}`;

const SAY = {
  agent_joined: (e) => [
    JOINED[e.cause] ?? "joined",
    e.paid_through_epoch !== null && e.paid_through_epoch !== undefined
      ? `, paid through ${epochDay(e.paid_through_epoch)}`
      : "",
  ],
  agent_deactivated: (e) => [
    "was deactivated: lease unpaid",
    e.paid_through_epoch !== null && e.paid_through_epoch !== undefined
      ? ` since ${epochDay(e.paid_through_epoch + 1)}`
      : "",
  ],
  reputation_update: (e) => [
    {
      batch: "counts a new batch",
      rating: "was rated",
      binding: "has a newly bound rating",
      decay: "decays: idle for too long",
    }[e.cause] ?? "changed",
  ],
  notary_assigned: (e) => ["named a notary ", of(e)],
  verdict_issued: (e) => [
    e.ruling ? `verdict "${String(e.ruling)}" ` : `${plural(e.count ?? 1, "verdict")} `,
    of(e),
    e.court ? `, ${String(e.court)} court` : "",
  ],
  dispute_raised: (e) => [
    `${plural(e.count ?? 1, "dispute")} `,
    of(e),
    e.court ? `, ${String(e.court)} court` : "",
  ],
  challenge_submitted: (e) => [
    `is challenged for a ${String(e.ground_name ?? "record").replace("_", " ")} `,
    `of ${epochDay(e.epoch)}`,
  ],
  challenge_resolved: (e) =>
    e.succeeded
      ? [
          `lost a challenge: ${amount(e.slashed_micro_usdc)} slashed, `,
          `${amount(e.reward_micro_usdc)} to the challenger`,
        ]
      : ["won a challenge; the challenger's stake is forfeited"],
  message: (e) => ["sent a message", e.recipient ? ` to ${short(e.recipient)}` : ""],
};

/**
 * The sentence behind the agent's name, and what it is.
 *
 * @returns {{label: string, picture: string, grade: string, text: string}}
 */
export function eventText(event) {
  const known = Object.hasOwn(KINDS, event.type);
  const [label, picture, grade] = known ? KINDS[event.type] : [String(event.type), "info", "info"];
  const text = known ? SAY[event.type](event).join("").trim() : "";
  return {
    label,
    picture,
    grade: event.type === "challenge_resolved" && !event.succeeded ? "ok" : grade,
    text,
  };
}
