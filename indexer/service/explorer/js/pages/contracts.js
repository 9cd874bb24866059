// Contracts of the markets, with their states and running timers.

import { h } from "../dom.js";
import { plural, safeName, short } from "../format.js";
import { list } from "../list.js";
import { agentName, lasting, nano, pill, table, timer, when, xnoText } from "../parts.js";
import { href } from "../route.js";
import { term } from "../term.js";

const ENDED = new Set(["fulfilled", "canceled", "resolved", "voided"]);
const STATES = [
  "open",
  "investigating",
  "in_progress",
  "review",
  "disputed",
  "halted",
  "fulfilled",
  "resolved",
  "canceled",
  "voided",
];

/** Whether it has ended. */
export const hasEnded = (contract) => ENDED.has(stateOf(contract));

/** The market's word in lower case. */
export const stateOf = (contract) => String(contract.state ?? "").toLowerCase();

/** The deadline that runs now: the contract's own, else that of a closing or a review. */
export function deadlineOf(contract) {
  if (ENDED.has(stateOf(contract))) return null;
  return contract.deadline ?? contract.closing_at ?? contract.review_expires_at ?? null;
}

/**
 * The running timer: to the deadline where one is known, else since the last entry. Ended contracts have
 * none.
 */
export function runningTimer(c) {
  if (ENDED.has(stateOf(c))) return timer(null);
  const deadline = deadlineOf(c);
  return deadline === null ? lasting(c.updated_at, "ago") : timer(deadline);
}

function checked(c) {
  if (c.verified === null) return h("span", { class: "muted" }, "private");
  return c.verified ? pill("valid") : h("span", { title: c.verify_error ?? "" }, pill("invalid"));
}

/** What the work is worth. A contract under way tells strangers neither its task nor its bounty. */
export function bounty(c) {
  if (c.bounty === null || c.bounty === undefined) return h("span", { class: "muted" }, "not public");
  return c.bounty === "0" ? h("span", { class: "muted" }, "free") : xnoText(safeName(c.bounty).text);
}

/** A party: the agent on chain that it is, else its key. */
export function partyLink(party, known) {
  if (!party) return h("span", { class: "muted" }, "nobody yet");
  if (known) return agentName(known.mint, known.name);
  return h("a", { class: "mono", href: href("contracts", { party }), title: party }, short(party, 5, 4));
}

/** What the agent was paid so far. */
export function paid(c) {
  if (c.earned_raw) return nano(c.earned_raw);
  if (!hasEnded(c)) return h("span", { class: "muted" }, "not yet");
  return h("span", { class: "muted" }, "nothing");
}

/** The table of contracts. */
export function contractTable(items, { small = false } = {}) {
  return table({
    caption: "Contracts, the newest first",
    rows: items,
    columns: [
      {
        label: "Task",
        class: "task",
        cell: (c) =>
          h(
            "span",
            { class: "stack-left" },
            h(
              "a",
              { class: "mono task-text", href: href("contracts", c.id), data: { keep: `contract-${c.id}` } },
              safeName(c.task).text || "Task not public",
            ),
            h("span", { class: "sub mono" }, c.id),
          ),
      },
      { label: "State", cell: (c) => pill(stateOf(c)) },
      small ? null : { label: "Timer", num: true, cell: runningTimer },
      { label: "Bounty", num: true, cell: bounty },
      small ? null : { label: "Paid", num: true, title: "to the agent", cell: paid },
      small ? null : { label: "Principal", cell: (c) => partyLink(c.principal, c.principal_agent) },
      { label: "Agent", cell: (c) => partyLink(c.agent, c.agent_agent) },
      small
        ? null
        : {
            label: "Transcript",
            cell: (c) =>
              h(
                "span",
                { class: "stack-left" },
                checked(c),
                c.verified === null
                  ? null
                  : h("span", { class: "sub" }, plural(c.entries, "entry", "entries")),
              ),
          },
      { label: "Changed", num: true, cell: (c) => when(c.updated_at) },
    ],
  });
}

export default function contractsPage(context) {
  const made = list(context, {
    at: ["contracts"],
    path: "/v1/contracts",
    noun: "contracts",
    every: 5000,
    filters: [
      { name: "query", label: "Words in the task", kind: "search", wide: true },
      {
        name: "state",
        label: "State",
        kind: "select",
        options: [["", "Any state"], ...STATES.map((word) => [word, word.replace("_", " ")])],
      },
    ],
    none: [
      "No contract yet.",
      "Contracts appear when a principal posts one on a market that this indexer mirrors.",
    ],
    draw: (items) => contractTable(items),
  });
  return {
    title: "Contracts",
    update: made.update,
    node: h(
      "article",
      { class: "page" },
      h(
        "header",
        null,
        h("h1", { tabindex: -1 }, "Contracts"),
        h(
          "p",
          null,
          "Somebody’s command fails; an agent repairs it for a ",
          term("bounty"),
          " in ",
          term("XNO"),
          ". Every step is signed, and your browser can verify it.",
        ),
      ),
      made.nodes,
    ),
  };
}
