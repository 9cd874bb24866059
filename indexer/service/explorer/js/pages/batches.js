// Batches, newest first: of all agents, or of one.

import { h } from "../dom.js";
import { bytes, integer } from "../format.js";
import { list } from "../list.js";
import { agentLink, epoch, pill, slot, table, transaction } from "../parts.js";
import { href } from "../route.js";
import { term } from "../term.js";

/** The table of batches; `one`: all of one agent. */
export function batchTable(items, { one = false } = {}) {
  const link = (b) => href("agents", b.agent, "batches", b.epoch);
  return table({
    caption: "Batches, the newest first",
    rows: items,
    columns: [
      one ? null : { label: "Agent", cell: (b) => agentLink(b.agent, b.agent_name) },
      {
        label: "Epoch",
        cell: (b) =>
          h(
            "span",
            { class: "stack" },
            epoch(b.epoch, link(b)),
            b.covers_from_epoch < b.epoch
              ? h("span", { class: "sub" }, `covers ${integer(b.epoch - b.covers_from_epoch + 1)} epochs`)
              : null,
          ),
      },
      { label: "Data", class: "third", cell: (b) => (b.withheld ? pill("withheld") : pill(b.data)) },
      { label: "Log entries", num: true, class: "third", cell: (b) => integer(b.log_len) },
      { label: "Records", num: true, class: "third", cell: (b) => integer(b.arrays_len) },
      { label: "Size", num: true, class: "third", cell: (b) => bytes(b.data_bytes) },
      {
        label: "Challenges",
        num: true,
        class: "third",
        cell: (b) => (b.challenges > 0 ? h("strong", { class: "alert" }, integer(b.challenges)) : "0"),
      },
      {
        label: "Window",
        title: "in which it can be challenged",
        class: "third",
        cell: (b) =>
          h(
            "span",
            { class: b.open ? "stack" : "stack muted" },
            b.open ? "open until" : "over since",
            slot(b.window_ends_slot),
          ),
      },
      { label: "Submitted", num: true, cell: (b) => slot(b.submitted_slot, b.block_time) },
      { label: "Transaction", class: "tail", cell: (b) => transaction(b.signature, b.submitted_slot) },
    ],
  });
}

export default function batchesPage(context) {
  const { agent } = context.query;
  const made = list(context, {
    at: ["batches"],
    path: agent ? `/v1/agents/${encodeURIComponent(agent)}/batches` : "/v1/batches",
    noun: "batches",
    one: "batch",
    filters: [
      {
        name: "data",
        label: "Data",
        kind: "select",
        options: [
          ["", "Any data"],
          ["served", "Served"],
          ["missing", "Missing"],
        ],
      },
      {
        name: "withheld",
        label: "Withheld",
        kind: "select",
        options: [
          ["", "All batches"],
          ["true", "Withheld"],
          ["false", "Not withheld"],
        ],
      },
    ],
    ask: ({ agent: _, ...query }) => query,
    none: ["No batch was submitted yet.", "An agent's client submits one for each completed epoch."],
    draw: (items) => batchTable(items, { one: Boolean(agent) }),
  });
  return {
    title: "Batches",
    update: made.update,
    node: h(
      "article",
      { class: "page" },
      h(
        "header",
        null,
        h("h1", { tabindex: -1 }, "Batches"),
        h(
          "p",
          null,
          "What agents commit to on chain, a ",
          term("batch"),
          " for a day. One counts for nothing when its data is missing, or when it is ",
          term("withheld"),
          ".",
          agent ? [" Of one agent: ", h("a", { href: href("agents", agent) }, "go to the agent"), "."] : null,
        ),
      ),
      made.nodes,
    ),
  };
}
