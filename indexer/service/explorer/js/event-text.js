// What an event of the stream says, in one sentence. Pure.

import { leafText, scopesOf } from "./authority.js";
import { epochDay, integer, plural, short, usdc } from "./format.js";

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
  key_added: ["Key listed", "lock", "info"],
  key_ended: ["Key ended", "lock", "info"],
  taken_over: ["Take-over", "join", "warn"],
  leaf_asked: ["Leaf asked for", "search", "info"],
  batch_withheld: ["Batch withheld", "warn", "bad"],
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
      chain: "was recomputed: its keys, tenure or batches changed on chain",
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
    e.replaced ? ", by a lower rank" : "",
  ],
  challenge_resolved: (e) =>
    ({
      1: ["was cleared of a challenge: the record was shown"],
      2: [
        `lost a challenge: ${amount(e.slashed_micro_usdc)} slashed, `,
        `${amount(e.reward_micro_usdc)} to the challenger`,
      ],
      3: ["lost a challenge; nothing was left to slash"],
    })[e.outcome] ?? ["has a challenge less"],
  key_added: (e) => {
    const names = scopesOf(e.scopes).map(([name]) => name);
    return [
      `listed a key${names.length ? ` for ${names.join(", ")}` : ""}`,
      Number.isFinite(e.from_epoch) ? `, valid from ${epochDay(e.from_epoch)}` : "",
    ];
  },
  key_ended: (e) => [
    "ended a key",
    Number.isFinite(e.until_epoch) ? `, valid through ${epochDay(e.until_epoch)}` : "",
  ],
  taken_over: (e) => [
    "was taken over",
    Number.isFinite(e.number) ? `: tenure ${integer(e.number)}` : "",
    Number.isFinite(e.from_epoch) ? ` from ${epochDay(e.from_epoch)}` : "",
  ],
  leaf_asked: (e) => [
    `is asked for ${Number.isFinite(e.index) ? leafText(e) : "a leaf"} `,
    `of the batch of ${epochDay(e.epoch)}`,
  ],
  batch_withheld: (e) => [`did not show a leaf of the batch of ${epochDay(e.epoch)}: it counts for nothing`],
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
    grade: event.type === "challenge_resolved" && event.outcome === 1 ? "ok" : grade,
    text,
  };
}
