// The events of the programs, as the chain holds them.

import { h } from "../dom.js";
import { flag } from "../flags.js";
import { integer, safeText, short } from "../format.js";
import { list } from "../list.js";
import { key, name, pairs, pill, sign, slot, table, transaction } from "../parts.js";
import { href } from "../route.js";

const PROGRAMS = [
  ["", "Any program"],
  ["stake_lock", "StakeLock"],
  ["lease", "Lease"],
  ["behavior_log", "BehaviorLog"],
  ["challenge", "Challenge"],
  ["feedback_log", "FeedbackLog"],
  ["sati", "SATI registry"],
];
const PROGRAM_NAMES = Object.fromEntries(PROGRAMS);

/** LeasePaid becomes "Lease paid". */
function words(text) {
  const spaced = String(text)
    .replace(/([a-z])([A-Z])/g, "$1 $2")
    .toLowerCase();
  return spaced.charAt(0).toUpperCase() + spaced.slice(1);
}

function fields(event) {
  const details = h("details", { class: "event-fields" }, h("summary", null, "Fields"));
  details.addEventListener("toggle", () => {
    if (!details.open || details.childElementCount > 1) return;
    details.append(
      pairs(
        [
          ...Object.entries(event.fields).map(([field, value]) => [
            field.replaceAll("_", " "),
            h(
              "span",
              { class: "mono break" },
              safeText(typeof value === "object" ? JSON.stringify(value) : String(value)),
            ),
          ]),
          ["account", key(event.account, "account", { whole: true, leads: "account" })],
          ["transaction", transaction(event.signature, event.slot, { whole: true })],
        ],
        "pairs tight",
      ),
    );
  });
  return details;
}

/** The table of ledger events; `one`: all of one agent. */
export function eventTable(items, { one = false } = {}) {
  return table({
    caption: "Ledger events, the newest first",
    rows: items,
    columns: [
      {
        label: "Event",
        cell: (e) =>
          h(
            "span",
            { class: "stack-left" },
            h("strong", null, words(e.name)),
            h("span", { class: "sub" }, PROGRAM_NAMES[e.program] ?? e.program),
          ),
      },
      one
        ? null
        : {
            label: "Agent",
            cell: (e) =>
              e.agent
                ? h(
                    "span",
                    { class: "party" },
                    sign(e.agent, 20),
                    h(
                      "a",
                      { class: e.agent_name ? null : "mono", href: href("agents", e.agent), title: e.agent },
                      name(e.agent_name, short(e.agent)),
                    ),
                    flag(e.agent),
                  )
                : h("span", { class: "muted" }, "–"),
          },
      { label: "Fields", class: "wide-cell", cell: fields },
      { label: "Sequence", num: true, cell: (e) => integer(e.sequence) },
      {
        label: "Commitment",
        cell: (e) => pill(e.finalized ? "served" : "open", e.finalized ? "finalized" : "confirmed"),
      },
      { label: "When", num: true, cell: (e) => slot(e.slot, e.block_time) },
      { label: "Transaction", class: "tail", cell: (e) => transaction(e.signature, e.slot) },
    ],
  });
}

export default function eventsPage(context) {
  const { agent } = context.query;
  const made = list(context, {
    at: ["events"],
    path: "/v1/events",
    noun: "events",
    filters: [
      { name: "program", label: "Program", kind: "select", options: PROGRAMS },
      {
        name: "finalized",
        label: "Commitment",
        kind: "select",
        options: [
          ["", "Confirmed or finalized"],
          ["true", "Finalized only"],
        ],
      },
    ],
    none: ["No event was seen yet.", "Events appear when the first agent is registered."],
    draw: (items) => eventTable(items),
  });
  return {
    title: "Ledger events",
    update: made.update,
    node: h(
      "article",
      { class: "page" },
      h(
        "header",
        null,
        h("h1", { tabindex: -1 }, "Ledger events"),
        h(
          "p",
          null,
          "What the programs wrote, with each account's own sequence: a missing number would show.",
          agent ? [" Of one agent: ", h("a", { href: href("agents", agent) }, "go to the agent"), "."] : null,
        ),
      ),
      made.nodes,
    ),
  };
}
