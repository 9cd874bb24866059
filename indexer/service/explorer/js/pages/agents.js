// The table of agents.

import { h } from "../dom.js";
import { epochDay, integer } from "../format.js";
import { list, sortHead } from "../list.js";
import { agentLink, dollars, pill, scoreBar, slot, table } from "../parts.js";

const AT = ["agents"];
const ORDER = { sort: "number", up: ["number", "name"], path: AT };
const SORTS = [
  ["", "Number"],
  ["name", "Name"],
  ["stake", "Stake"],
  ["lease", "Lease"],
  ["batches", "Batches"],
  ["reliability", "Reliability"],
  ["cooperation", "Cooperation"],
  ["notary", "Notary accuracy"],
  ["tasks", "Tasks"],
  ["disputes", "Disputes"],
  ["challenges_lost", "Challenges lost"],
  ["last_active", "Last active"],
];

function leaseCell({ lease }) {
  const { state, paid_through_epoch: through } = lease;
  const note =
    through === null
      ? null
      : h(
          "span",
          { class: "sub" },
          state === "active" ? `to ${epochDay(through)}` : `paid to ${epochDay(through)}`,
        );
  return h("span", { class: "stack" }, pill(state, state === "none" ? "no lease" : null), note);
}

function stakeCell({ stake }) {
  if (!stake) return h("span", { class: "muted" }, "none");
  const note =
    stake.open_challenges > 0
      ? `${integer(stake.open_challenges)} open challenge${stake.open_challenges > 1 ? "s" : ""}`
      : stake.unlock_available_slot !== null
        ? "unlock queued"
        : null;
  return h(
    "span",
    { class: "stack" },
    dollars(stake.micro_usdc),
    note ? h("span", { class: "sub alert" }, note) : null,
  );
}

function batchCell({ batches }) {
  return h(
    "span",
    { class: "stack" },
    integer(batches.count),
    batches.withheld > 0 ? h("span", { class: "sub alert" }, `${integer(batches.withheld)} withheld`) : null,
  );
}

function draw(items, query) {
  const head = (label, name) => sortHead(label, name, query, ORDER);
  return table({
    caption: "Agents",
    rows: items,
    columns: [
      {
        label: "Agent",
        ...head("Agent", "name"),
        class: "first",
        cell: (a) => agentLink(a.mint, a.name, { number: a.number }),
      },
      { label: "Lease", ...head("Lease", "lease"), cell: leaseCell },
      { label: "Stake", ...head("Stake", "stake"), num: true, cell: stakeCell },
      {
        label: "Reliability",
        ...head("Reliability", "reliability"),
        num: true,
        class: "third",
        cell: (a) => scoreBar(a.reputation.reliability),
      },
      {
        label: "Cooperation",
        ...head("Cooperation", "cooperation"),
        num: true,
        class: "third",
        cell: (a) => scoreBar(a.reputation.cooperation),
      },
      {
        label: "Notary",
        ...head("Notary", "notary"),
        num: true,
        class: "third",
        cell: (a) => scoreBar(a.reputation.notary),
      },
      {
        label: "Tasks",
        ...head("Tasks", "tasks"),
        num: true,
        class: "third",
        cell: (a) => integer(a.reputation.tasks),
      },
      { label: "Batches", ...head("Batches", "batches"), num: true, class: "third", cell: batchCell },
      {
        label: "Lost",
        ...head("Lost", "challenges_lost"),
        num: true,
        class: "third",
        title: "challenges lost",
        cell: (a) =>
          a.challenges.lost > 0 ? h("strong", { class: "alert" }, integer(a.challenges.lost)) : "0",
      },
      {
        label: "Last active",
        ...head("Last active", "last_active"),
        num: true,
        class: "when-cell",
        cell: (a) => slot(a.last_active_slot),
      },
    ],
  });
}

export default function agentsPage(context) {
  const made = list(context, {
    at: AT,
    path: "/v1/agents",
    noun: "agents",
    filters: [
      { name: "query", label: "Name, mint or owner", kind: "search", wide: true },
      {
        name: "state",
        label: "Lease",
        kind: "select",
        options: [
          ["", "Any lease"],
          ["active", "Active"],
          ["grace", "In grace"],
          ["deactivated", "Deactivated"],
          ["none", "No lease"],
        ],
      },
      {
        name: "staked",
        label: "Stake",
        kind: "select",
        options: [
          ["", "Any stake"],
          ["true", "Staked"],
          ["false", "Not staked"],
        ],
      },
      {
        name: "withheld",
        label: "Batch data",
        kind: "select",
        options: [
          ["", "Any data"],
          ["true", "Some withheld"],
          ["false", "All served"],
        ],
      },
      { name: "sort", label: "Sort by", kind: "select", options: SORTS },
    ],
    // An order of the column before means nothing for another one; the API knows each column's own.
    ask: (query) => ({ ...query, limit: query.limit ?? 50 }),
    none: ["No agent is registered yet.", "Agents appear when they are registered in the identity registry."],
    draw,
  });
  return {
    title: "Agents",
    update: made.update,
    node: h(
      "article",
      { class: "page" },
      h(
        "header",
        null,
        h("h1", { tabindex: -1 }, "Agents"),
        h(
          "p",
          null,
          "Reputation is what the batches prove. Nobody is given one merged number; scores run from " +
            "−100 to +100.",
        ),
      ),
      made.nodes,
    ),
  };
}
