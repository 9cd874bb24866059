// Challenges: answer or lose.

import { get, last } from "../api.js";
import { h } from "../dom.js";
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
} from "../parts.js";
import { href } from "../route.js";

const WORDS = {
  open: "waits for an answer",
  answered: "answered, not resolved yet",
  unanswered: "unanswered: may be resolved",
  succeeded: "succeeded: agent slashed",
  failed: "failed: resolved for the agent",
};

// "Succeeded" would leave open for whom.
const SHORT = { succeeded: "agent slashed", failed: "agent cleared" };

const ground = (c) => String(c.ground_name ?? c.ground).replaceAll("_", " ");

/** The table of challenges; `one`: all against one agent. */
export function challengeTable(items, { one = false } = {}) {
  return table({
    caption: "Challenges, the newest first",
    rows: items,
    columns: [
      {
        label: "Challenge",
        cell: (c) =>
          h("a", { class: "mono", href: href("challenges", c.address), title: c.address }, short(c.address)),
      },
      {
        label: "State",
        cell: (c) =>
          h(
            "span",
            { class: "stack" },
            pill(c.state, SHORT[c.state]),
            c.closed ? h("span", { class: "sub" }, "account closed") : null,
          ),
      },
      one ? null : { label: "Agent", cell: (c) => agentLink(c.agent, c.agent_name) },
      { label: "Batch", cell: (c) => epoch(c.epoch, href("agents", c.agent, "batches", c.epoch)) },
      { label: "Ground", cell: ground },
      {
        label: "Slashed",
        num: true,
        cell: (c) => (c.slashed_micro_usdc === null ? "–" : dollars(c.slashed_micro_usdc)),
      },
      {
        label: "To the challenger",
        num: true,
        cell: (c) => (c.reward_micro_usdc === null ? "–" : dollars(c.reward_micro_usdc)),
      },
      {
        label: "Answer until",
        num: true,
        cell: (c) => (c.state === "open" ? slot(c.answer_until_slot) : h("span", { class: "muted" }, "–")),
      },
      { label: "Submitted", num: true, cell: (c) => slot(c.submitted_slot) },
    ],
  });
}

export function challengesPage(context) {
  const made = list(context, {
    at: ["challenges"],
    path: "/v1/challenges",
    noun: "challenges",
    filters: [
      {
        name: "state",
        label: "State",
        kind: "select",
        options: [
          ["", "Any state"],
          ["open", "Open"],
          ["answered", "Answered"],
          ["unanswered", "Unanswered"],
          ["succeeded", "Agent slashed"],
          ["failed", "Agent cleared"],
          ["closed", "Account closed"],
        ],
      },
    ],
    none: [
      "No batch was challenged yet.",
      "Anyone who holds a signed message that a batch leaves out can challenge it.",
    ],
    draw: (items) => challengeTable(items),
  });
  return {
    title: "Challenges",
    update: made.update,
    node: h(
      "article",
      { class: "page" },
      h(
        "header",
        null,
        h("h1", { tabindex: -1 }, "Challenges"),
        h(
          "p",
          null,
          "A challenger shows a signed message; the agent answers with the record, or loses its stake: " +
            "half to the challenger, half to the treasury.",
        ),
      ),
      made.nodes,
    ),
  };
}

export function challengePage({ params: { address }, signal }) {
  const path = `/v1/challenges/${encodeURIComponent(address)}`;
  const body = h("div", { class: "page-body" });
  loadInto(body, {
    signal,
    lines: 12,
    last: last(path),
    load: () => get(path, {}, signal),
    draw: ({ challenge: c }) => [
      h(
        "dl",
        { class: "figures" },
        figure("State", pill(c.state, SHORT[c.state]), WORDS[c.state] ?? ""),
        figure(
          "Against",
          h(
            "span",
            { class: "party" },
            sign(c.agent, 20),
            h("a", { href: href("agents", c.agent) }, name(c.agent_name, short(c.agent))),
          ),
          ["batch of ", epoch(c.epoch, href("agents", c.agent, "batches", c.epoch))],
        ),
        figure("Ground", ground(c), `number ${integer(c.ground)}`),
        figure(
          "Answer until",
          slot(c.answer_until_slot),
          c.answered_slot === null ? "not answered" : ["answered ", slot(c.answered_slot)],
        ),
        figure(
          "Slashed",
          c.slashed_micro_usdc === null ? "–" : dollars(c.slashed_micro_usdc),
          "of the agent's stake",
        ),
        figure(
          "Reward",
          c.reward_micro_usdc === null ? "–" : dollars(c.reward_micro_usdc),
          "to the challenger",
        ),
      ),
      section(
        "Details",
        "details",
        {},
        pairs(
          [
            ["Account", key(c.address, "challenge account", { whole: true })],
            ["Challenger", key(c.challenger, "challenger", { whole: true })],
            ["Submitted", slot(c.submitted_slot)],
            ["Answered by", c.answerer ? key(c.answerer, "answerer", { whole: true }) : "nobody"],
            ["Leaf of the answer", integer(c.leaf_index)],
            ["Resolved", slot(c.resolved_slot)],
            ["Entry hash", key(c.entry_hash, "entry hash", { whole: true })],
            ["Evidence hash", key(c.evidence_hash, "evidence hash", { whole: true })],
            [
              "Evidence account",
              c.evidence_account ? key(c.evidence_account, "evidence account", { whole: true }) : "inline",
            ],
            [
              "Record expected",
              c.expected_record ? key(c.expected_record, "expected record", { whole: true }) : "unknown",
            ],
            ["Transaction", key(c.signature, "transaction signature", { whole: true })],
          ],
          "pairs wide",
        ),
      ),
    ],
  });
  return {
    title: `Challenge ${short(address)}`,
    node: h(
      "article",
      { class: "page" },
      h(
        "header",
        null,
        h("h1", { tabindex: -1 }, "Challenge ", h("span", { class: "mono" }, short(address))),
      ),
      body,
    ),
  };
}
