// Asks: a leaf of a batch that somebody paid to see.

import { get, last } from "../api.js";
import { ASK_STATES, leafText } from "../authority.js";
import { h } from "../dom.js";
import { flag } from "../flags.js";
import { integer, short } from "../format.js";
import { list } from "../list.js";
import {
  agentLink,
  dollars,
  epoch,
  figure,
  key,
  loadInto,
  name,
  pairs,
  pill,
  section,
  sign,
  slot,
  table,
  transaction,
} from "../parts.js";
import { href } from "../route.js";

const [WORD, TEXT] = [0, 1];
const state = (a) => pill(a.state_name, ASK_STATES[a.state_name]?.[WORD]);

/** The table of asks; `one`: all of one agent; `batch`: all of one batch. */
export function askTable(items, { one = false, batch = false } = {}) {
  return table({
    caption: "Asks, the newest first",
    rows: items,
    columns: [
      {
        label: "Ask",
        cell: (a) =>
          h("a", { class: "mono", href: href("asks", a.address), title: a.address }, short(a.address)),
      },
      {
        label: "State",
        cell: (a) =>
          h(
            "span",
            { class: "stack" },
            state(a),
            a.closed ? h("span", { class: "sub" }, "account closed") : null,
          ),
      },
      one || batch ? null : { label: "Agent", cell: (a) => agentLink(a.agent, a.agent_name) },
      batch
        ? null
        : { label: "Batch", cell: (a) => epoch(a.epoch, href("agents", a.agent, "batches", a.epoch)) },
      { label: "Leaf", cell: leafText },
      { label: "Asked by", cell: (a) => key(a.asker, "asker") },
      {
        label: "Show until",
        num: true,
        cell: (a) => (a.state_name === "open" ? slot(a.show_until_slot) : h("span", { class: "muted" }, "–")),
      },
      {
        label: "Fine",
        num: true,
        cell: (a) => (a.fine_micro_usdc === null ? "–" : dollars(a.fine_micro_usdc)),
      },
      { label: "Asked", num: true, cell: (a) => slot(a.created_slot) },
    ],
  });
}

export function asksPage(context) {
  const made = list(context, {
    at: ["asks"],
    path: "/v1/asks",
    noun: "asks",
    filters: [
      {
        name: "state",
        label: "State",
        kind: "select",
        options: [
          ["", "Any state"],
          ["open", "Open"],
          ["overdue", "Overdue"],
          ["shown", "Shown"],
          ["withheld", "Marked"],
          ["settled", "Settled"],
          ["closed", "Account closed"],
        ],
      },
    ],
    none: ["No leaf was asked for yet.", "Anyone can ask for a leaf of a batch early in its window."],
    draw: (items) => askTable(items),
  });
  return {
    title: "Asks",
    update: made.update,
    node: h(
      "article",
      { class: "page" },
      h(
        "header",
        null,
        h("h1", { tabindex: -1 }, "Asks"),
        h(
          "p",
          null,
          "Paid requests to show one leaf of a batch. If nobody shows it in time, the batch is withheld: " +
            "it counts for nothing, and its era pays a fine once.",
        ),
      ),
      made.nodes,
    ),
  };
}

export function askPage({ params: { address }, signal }) {
  const path = `/v1/asks/${encodeURIComponent(address)}`;
  const body = h("div", { class: "page-body" });
  loadInto(body, {
    signal,
    lines: 12,
    last: last(path),
    load: () => get(path, {}, signal),
    draw: ({ ask: a }) => [
      h(
        "dl",
        { class: "figures" },
        figure("State", state(a), ASK_STATES[a.state_name]?.[TEXT] ?? ""),
        figure(
          "Of",
          h(
            "span",
            { class: "party" },
            sign(a.agent, 20),
            h("a", { href: href("agents", a.agent) }, name(a.agent_name, short(a.agent))),
            flag(a.agent),
          ),
          ["batch of ", epoch(a.epoch, href("agents", a.agent, "batches", a.epoch))],
        ),
        figure("Leaf", integer(a.index), a.tree === 1 ? "of the arrays" : "of the log"),
        figure(
          "Show until",
          slot(a.show_until_slot),
          a.settled_slot === null ? "not settled" : ["settled ", slot(a.settled_slot)],
        ),
        figure(
          "Fine",
          a.fine_micro_usdc === null ? "–" : dollars(a.fine_micro_usdc),
          "out of the era's stake",
        ),
        figure(
          "To the asker",
          a.to_asker_micro_usdc === null ? "–" : dollars(a.to_asker_micro_usdc),
          "the price among it",
        ),
      ),
      section(
        "Details",
        "details",
        {},
        pairs(
          [
            ["Account", key(a.address, "ask account", { whole: true })],
            ["Asked by", key(a.asker, "asker", { whole: true })],
            ["Asked", slot(a.created_slot)],
            ["Era", integer(a.era)],
            ["Place in the era's asks", integer(a.rank)],
            ["Shown by", a.shower ? key(a.shower, "who showed it", { whole: true }) : "nobody"],
            [
              "Hash of the leaf",
              a.leaf_hash ? key(a.leaf_hash, "leaf's hash", { whole: true }) : "not shown",
            ],
            ["Account closed", a.closed ? "yes" : "no"],
            ["Transaction", transaction(a.signature, a.created_slot, { whole: true })],
          ],
          "pairs wide",
        ),
      ),
    ],
  });
  return {
    title: `Ask ${short(address)}`,
    node: h(
      "article",
      { class: "page" },
      h("header", null, h("h1", { tabindex: -1 }, "Ask ", h("span", { class: "mono" }, short(address)))),
      body,
    ),
  };
}
