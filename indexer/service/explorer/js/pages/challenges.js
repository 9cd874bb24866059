// Challenges: answer or lose.

import { get, last } from "../api.js";
import { CHALLENGE_STATES, DOUBLE_BID, valueText } from "../authority.js";
import { h } from "../dom.js";
import { flag } from "../flags.js";
import { integer, short } from "../format.js";
import { list } from "../list.js";
import {
  agentLink,
  agentName,
  dollars,
  epoch,
  figure,
  key,
  loadInto,
  name,
  nano,
  pairs,
  pill,
  section,
  sign,
  slot,
  table,
  transaction,
} from "../parts.js";
import { href } from "../route.js";
import { term } from "../term.js";

const GROUNDS = {
  bid: "a deal’s value is missing",
  selection: "a choice is missing",
  verifier: "a verifier is missing",
  feedback: "a rating is missing",
  double_bid: "two values for one bid",
};
const [WORD, TEXT] = [0, 1];
const state = (c) => pill(c.state, CHALLENGE_STATES[c.state]?.[WORD]);
const amount = (micro) => (micro === null ? "–" : dollars(micro));

const ground = (c) => String(c.ground_name ?? c.ground).replaceAll("_", " ");

/** What the batch is said to leave out, in one sentence. */
function hiddenText(c) {
  const agent = h("strong", null, name(c.agent_name, short(c.agent)));
  const of = [" of ", epoch(c.epoch, href("agents", c.agent, "batches", c.epoch))];
  if (c.ground === DOUBLE_BID) {
    return [agent, " signed two different values for the same bid, and its batch", of, " holds only one of them."];
  }
  const { hidden } = c;
  if (!hidden) return ["The batch", of, " of ", agent, ` is said to leave out a ${ground(c)}.`];
  const other = agentName(hidden.other, hidden.other_name);
  const begin = ["The batch", of, " leaves out that ", agent];
  const said = {
    bid: [
      " made a deal with ",
      other,
      hidden.value === null ? " for a value that the evidence leaves open" : [" for ", bid(hidden)],
    ],
    selection: [" chose ", other, " for a job"],
    verifier: [" made ", other, " the verifier of a job"],
    feedback: [" was rated ", `${hidden.score > 0 ? "+" : ""}${hidden.score}`.replace("-", "−"), " by ", other],
  }[hidden.kind];
  return [begin, said, "."];
}

function bid(hidden) {
  return hidden.contract
    ? nano(hidden.value)
    : [h("span", { class: "mono" }, integer(hidden.value)), " ", term("bid value", "units")];
}

/** How it ended, or what it waits for. */
function endText(c) {
  if (c.state === "succeeded") {
    return ["Nobody showed the record, so ", dollars(c.slashed_micro_usdc), " of its stake were slashed."];
  }
  if (c.state === "answered") return "The record was shown: the batch does hold it.";
  if (c.state === "empty") return "Nobody showed the record, but nothing was left of its stake.";
  if (c.state === "unanswered") return "Nobody has shown the record, and the time for it is over.";
  return ["If nobody shows the record until ", slot(c.answer_until_slot), ", the stake is slashed."];
}

function hiddenSection(c) {
  const grade = { succeeded: "bad", unanswered: "bad", empty: "bad", answered: "ok" }[c.state] ?? "warn";
  return h(
    "section",
    { class: "standing", "aria-label": "What was left out", data: { grade } },
    h("p", { class: "standing-text" }, hiddenText(c)),
    h("p", null, endText(c)),
  );
}

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
            state(c),
            c.closed ? h("span", { class: "sub" }, "account closed") : null,
          ),
      },
      one ? null : { label: "Agent", cell: (c) => agentLink(c.agent, c.agent_name) },
      { label: "Batch", cell: (c) => epoch(c.epoch, href("agents", c.agent, "batches", c.epoch)) },
      { label: "Ground", cell: ground },
      {
        label: "Rank",
        num: true,
        title: "place in the era's order",
        cell: (c) =>
          h(
            "span",
            { class: "stack" },
            integer(c.rank),
            h("span", { class: "sub" }, `era ${integer(c.era)}`),
          ),
      },
      { label: "Slashed", num: true, cell: (c) => amount(c.slashed_micro_usdc) },
      { label: "To the challenger", num: true, cell: (c) => amount(c.reward_micro_usdc) },
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
          ["succeeded", "Succeeded"],
          ["empty", "Nothing left"],
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
          "A challenger shows a message whose record the batch must hold. Whoever shows the record answers it. " +
            "If nobody does, the stake of the batch's era is slashed: the finders take their part in the " +
            "order of ranks, the rest goes to the treasury.",
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
      hiddenSection(c),
      h(
        "dl",
        { class: "figures" },
        figure("State", state(c), CHALLENGE_STATES[c.state]?.[TEXT] ?? ""),
        figure(
          "Against",
          h(
            "span",
            { class: "party" },
            sign(c.agent, 20),
            h("a", { href: href("agents", c.agent) }, name(c.agent_name, short(c.agent))),
            flag(c.agent),
          ),
          ["batch of ", epoch(c.epoch, href("agents", c.agent, "batches", c.epoch))],
        ),
        figure("Ground", ground(c), GROUNDS[c.ground_name] ?? "what is said to be missing"),
        figure(
          "Answer until",
          c.ground === DOUBLE_BID ? "–" : slot(c.answer_until_slot),
          c.settled_slot === null ? "not settled" : ["settled ", slot(c.settled_slot)],
        ),
        figure("Slashed", amount(c.slashed_micro_usdc), `of the stake of era ${integer(c.era)}`),
        c.outcome === 1
          ? figure("To the answerer", amount(c.to_answerer_micro_usdc), [
              "and to the stake ",
              amount(c.to_stake_micro_usdc),
            ])
          : figure("Reward", amount(c.reward_micro_usdc), "to the challenger, beside its own stake"),
      ),
      section(
        "Details",
        "details",
        {},
        pairs(
          [
            ["Account", key(c.address, "challenge account", { whole: true, leads: "account" })],
            ["Challenger", key(c.challenger, "challenger", { whole: true })],
            c.taken_over
              ? [
                  "First opened by",
                  [
                    key(c.first_challenger, "first challenger", { whole: true }),
                    " The claim went over to a lower rank.",
                  ],
                ]
              : null,
            ["Rank", `${integer(c.rank)} in the order of era ${integer(c.era)}`],
            ["Value", valueText(c)],
            ["Submitted", slot(c.submitted_slot)],
            ["Answered by", c.answerer ? key(c.answerer, "answerer", { whole: true }) : "nobody"],
            ["Leaf of the answer", integer(c.leaf_index)],
            ["Settled", slot(c.settled_slot)],
            ["Claim", key(c.claim, "claim", { whole: true })],
            ["Hash of what was shown", key(c.entry_hash, "hash of what was shown", { whole: true })],
            ["Evidence draft", key(c.draft, "evidence draft", { whole: true })],
            [
              "Record expected, packed",
              c.expected_record ? key(c.expected_record, "expected record", { whole: true }) : "none",
            ],
            ["Account closed", c.closed ? "yes" : "no"],
            ["Transaction", transaction(c.signature, c.submitted_slot, { whole: true })],
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
