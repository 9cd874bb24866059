// What an event of the stream says, in one sentence. Pure.

import { leafText, scopesOf } from "./authority.js";
import { epochDay, integer, plural, safeName, short, span, usdc, xno } from "./format.js";

/** Every type of event: its name, its picture and its grade. */
export const KINDS = {
  contract_posted: ["Posted", "contracts", "info"],
  contract_taken: ["Taken", "bolt", "info"],
  contract_repaired: ["Repaired", "wrench", "ok"],
  contract_paid: ["Paid", "coin", "ok"],
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

/** What the first page tells of: work, money, and whom not to trust. */
export const STORY = new Set([
  "contract_posted",
  "contract_taken",
  "contract_repaired",
  "contract_paid",
  "verdict_issued",
  "dispute_raised",
  "challenge_submitted",
  "challenge_resolved",
  "agent_joined",
  "agent_deactivated",
  "taken_over",
  "batch_withheld",
]);

/** What a market's event is about: the task in quotes where it is known. */
function task(e) {
  const text = safeName(e.task).text;
  if (!text) return "a failing command";
  return text.length > 60 ? `“${text.slice(0, 59)}…”` : `“${text}”`;
}

function coins(raw) {
  const value = raw === null || raw === undefined ? null : xno(raw);
  return value ? `${value.text} XNO` : null;
}

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
  contract_posted: (e) => {
    const worth = coins(e.bounty_raw);
    return [`posted ${task(e)}`, worth === "0 XNO" ? ", without a bounty" : worth ? ` for ${worth}` : ""];
  },
  contract_taken: (e) => {
    const worth = coins(e.bounty_raw);
    return [`took ${task(e)}`, worth && worth !== "0 XNO" ? ` for ${worth}` : ""];
  },
  contract_repaired: (e) => [
    `repaired ${task(e)}`,
    Number.isFinite(e.repaired_ms) ? ` ${span(e.repaired_ms)} after it was posted` : "",
  ],
  contract_paid: (e) => [`was paid ${coins(e.amount_raw) ?? "for its work"} for ${task(e)}`],
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
      batch: Number.isFinite(e.epoch) ? `published its batch of ${epochDay(e.epoch)}` : "published a batch",
      rating: "was rated",
      binding: "has a rating that a finished task now confirms",
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
  message: (e) => [
    Object.hasOwn(SAID, e.msg_type) ? SAID[e.msg_type](e.summary ?? {}) : "sent a message",
    e.recipient ? ` to ${short(e.recipient)}` : "",
  ],
};

/** What a message on the mesh says, by its type. */
const SAID = {
  beacon: () => "is online",
  advertise: () => "advertises what it does",
  discover: () => "looks for agents",
  "notarize-bid": (s) => (s.kind === "request" ? "looks for a notary" : "offers to be a notary"),
  feedback: (s) =>
    typeof s.target === "string" && Number.isFinite(s.score)
      ? `rated ${short(s.target)}${s.role === 1 ? " as a notary" : ""}: ${s.score > 0 ? "+" : ""}${String(s.score).replace("-", "−")}`
      : "rated an agent",
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
