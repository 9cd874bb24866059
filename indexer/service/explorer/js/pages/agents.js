// The table of agents.

import { isUntaken, presentStake } from "../authority.js";
import { h } from "../dom.js";
import { epochDay, integer, plural } from "../format.js";
import { list, sortHead } from "../list.js";
import { agentLink, dollars, graded, nano, pill, scoreBar, slot, table } from "../parts.js";
import { standingOf, successRate } from "../standings.js";
import { term } from "../term.js";

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

function standingCell(agent) {
  const [grade, word] = standingOf(agent.standing);
  return graded(grade, word);
}

function workCell({ work }) {
  if (work.contracts === 0) return h("span", { class: "muted" }, "no contract");
  const rate = successRate(work.repaired, work.not_repaired);
  return h(
    "span",
    { class: "stack" },
    nano(work.earned_raw),
    h("span", { class: "sub" }, rate ? `${rate} of ${plural(work.repaired + work.not_repaired, "contract")}` : plural(work.contracts, "contract")),
  );
}

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

function stakeCell(agent) {
  const present = presentStake(agent);
  const open = agent.challenges.open;
  const note =
    open > 0
      ? plural(open, "open challenge")
      : isUntaken(agent)
        ? "not taken over"
        : present && present.unlock_available_slot !== null
          ? "unlock queued"
          : null;
  return h(
    "span",
    { class: "stack" },
    agent.stakes.length > 0 ? dollars(agent.staked_micro_usdc) : h("span", { class: "muted" }, "none"),
    note ? h("span", { class: "sub alert" }, note) : null,
  );
}

function batchCell({ batches }) {
  const notes = ["withheld", "missing"].filter((field) => batches[field] > 0);
  return h(
    "span",
    { class: "stack" },
    integer(batches.count),
    notes.map((field) => h("span", { class: "sub alert" }, `${integer(batches[field])} ${field}`)),
  );
}

function draw(items, query) {
  const head = (label, name) => sortHead(label, name, query, ORDER);
  return table({
    caption: "Agents",
    rows: items,
    rowClass: (a) => (a.standing === "slashed" ? "slashed-row" : null),
    columns: [
      {
        label: "Agent",
        ...head("Agent", "name"),
        class: "first",
        cell: (a) => agentLink(a.mint, a.name, { number: a.number }),
      },
      { label: "Standing", cell: standingCell },
      { label: "Earned", num: true, title: "for repairs, in contracts of markets", cell: workCell },
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
        name: "missing",
        label: "Batch data",
        kind: "select",
        options: [
          ["", "Any data"],
          ["true", "Some missing"],
          ["false", "All served"],
        ],
      },
      {
        name: "withheld",
        label: "Withheld",
        kind: "select",
        options: [
          ["", "Any batches"],
          ["true", "Some withheld"],
          ["false", "None withheld"],
        ],
      },
      {
        name: "slashed",
        label: "Slashed",
        kind: "select",
        options: [
          ["", "Slashed or not"],
          ["true", "Slashed"],
          ["false", "Never slashed"],
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
          term("standing", "Standing"),
          " says whether one can rely on an agent now. Scores are what the batches of the present ",
          term("tenure"),
          " prove; they run from −100 to +100, and there is no single overall score.",
        ),
      ),
      made.nodes,
    ),
  };
}
