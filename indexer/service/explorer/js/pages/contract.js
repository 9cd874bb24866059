// One contract: its state, its timer, and its transcript verified here.

import { address, get, getText, last } from "../api.js";
import { h } from "../dom.js";
import { outside, plural, safeName, safeText, short, span } from "../format.js";
import {
  agentName,
  empty,
  figure,
  key,
  loadInto,
  nano,
  pairs,
  pill,
  section,
  table,
  when,
} from "../parts.js";
import { repair } from "../repair-view.js";
import { href } from "../route.js";
import { term } from "../term.js";
import { showTranscript } from "../transcript-view.js";
import { bounty, deadlineOf, hasEnded, paid, runningTimer, stateOf } from "./contracts.js";

const EVERY = 4000;

export default function contractPage({ params: { id }, query: { market }, signal, setTitle }) {
  const path = `/v1/contracts/${encodeURIComponent(id)}`;
  const heading = h("h1", { tabindex: -1 }, "Contract ", h("span", { class: "mono" }, short(id, 16, 0)));
  const task = h("p", null, "\u00a0");
  const top = h("div", { class: "hold-figures" });
  const transcript = h("div", { class: "transcript" });
  const repairs = h("div", { class: "repair" });
  const money = h("div", { class: "hold-payments" });
  const details = h("div");
  let shown = null;
  let ended = false;
  // Whoever reads or has unfolded something is not disturbed by the same again.
  const drawn = new Map();
  const place = (node, content) => {
    const text = [content].flat().map((one) => one.textContent).join("\n");
    if (drawn.get(node) === text) return;
    drawn.set(node, text);
    node.replaceChildren(...[content].flat());
  };
  const again = loadInto(top, {
    signal,
    lines: 5,
    last: last(path, { market }),
    load: () => get(path, { market }, signal),
    draw: ({ contract: c }) => {
      setTitle(`Contract ${c.id}`);
      const { text } = safeName(c.task);
      task.replaceChildren(
        text
          ? h("span", { class: "mono break" }, text)
          : "What it is about is not public while it is under way.",
      );
      // What still moves is looked at again.
      ended = hasEnded(c) && (c.payments ?? []).every((one) => one.state === "confirmed" || one.state === "wrong");
      if (shown !== c.chain_head) {
        shown = c.chain_head;
        load();
      }
      place(repairs, fix(c, c.view));
      place(money, payments(c));
      place(details, ids(c));
      return head(c);
    },
  });
  // Hoisted: an answer that is kept from before is drawn at once.
  async function load() {
    try {
      // The untouched text: JSON.parse would lose the spelling of numbers, which the hashes cover.
      const text = await getText(path, { market }, signal);
      await showTranscript(transcript, text, { expectedId: id, signal });
    } catch (error) {
      if (!signal.aborted) {
        if (error.name !== "ApiError") console.error(error);
        transcript.replaceChildren(h("p", { class: "alert" }, error.message));
      }
    }
  }
  const timerId = setInterval(() => {
    if (!document.hidden && !ended) again({ quiet: true });
  }, EVERY);
  signal.addEventListener("abort", () => clearInterval(timerId));
  return {
    title: `Contract ${short(id)}`,
    node: h(
      "article",
      { class: "page" },
      h("header", null, heading, task),
      top,
      section("The repair", "repair", {}, repairs),
      section(
        "Payments",
        "payments",
        { lead: ["Out of the ", term("escrow"), ": the rules say who gets what, the Nano ledger whether it arrived."] },
        money,
      ),
      details,
      section(
        "Transcript, verified in your browser",
        "transcript",
        {
          lead: "Signatures and hashes are checked here, not believed.",
          beside: h(
            "a",
            { class: "more", href: address(path, { market }), download: `contract-${id}.json` },
            "Download",
          ),
        },
        transcript,
      ),
    ),
  };
}

function head(c) {
  const state = stateOf(c);
  const party = (text, known, what) => {
    if (!text) return h("span", { class: "muted" }, "nobody yet");
    return known
      ? agentName(known.mint, known.name)
      : key(text, what, { head: 4, tail: 4, link: href("contracts", { party: text }) });
  };
  const counted = (fixes) => {
    const text = outside(fixes);
    return text ? `; ${text}` : null;
  };
  return [
    h(
      "dl",
      { class: "figures" },
      figure("State", pill(state), ["changed ", when(c.updated_at)]),
      figure(
        term("bounty", "Bounty"),
        bounty(c),
        hasEnded(c)
          ? "the contract has ended"
          : [runningTimer(c), deadlineOf(c) === null ? "" : " until the state’s deadline"],
      ),
      figure("Paid to the agent", paid(c), paidRemark(c)),
      figure(
        "Time to the fix",
        c.repaired_ms === null ? h("span", { class: "muted" }, "–") : span(c.repaired_ms),
        c.repaired_ms === null ? "no fix was accepted" : "from posting to the accepted fix",
      ),
      figure("Principal", party(c.principal, c.principal_agent, "principal's key"), [
        "posted ",
        when(c.created_at),
        counted(c.principal_fixes),
      ]),
      figure("Agent", party(c.agent, c.agent_agent, "agent's key"), [
        c.agent_agent ? "agent on chain" : "who fixes it",
        counted(c.agent_fixes),
      ]),
    ),
  ];
}

function paidRemark(c) {
  const pays = (c.payments ?? []).filter((one) => one.payee === "agent" && one.deposit_of === "principal");
  if (pays.some((one) => one.state === "wrong")) return h("span", { class: "alert" }, "a payment is wrong");
  if (pays.length === 0) return hasEnded(c) ? "nothing is due" : "after a fix that works";
  if (pays.every((one) => one.state === "confirmed")) return "confirmed on the Nano ledger";
  return "on the way";
}

const STATES = {
  owed: "due, not signed yet",
  signed: "signed",
  claimed: "the market says it is confirmed",
  confirmed: "confirmed by the Nano node",
  wrong: "not what the rules order",
};
const PAYEES = { agent: "Agent", principal: "Principal", platform: "Platform", charity: "Charity" };

/** The payments table, with what each is for. */
function paymentTable(c) {
  return table({
    caption: "Payments of the escrow",
    rows: c.payments,
    columns: [
      {
        label: "To",
        cell: (one) =>
          h(
            "span",
            { class: "stack-left" },
            h("strong", null, PAYEES[one.payee] ?? "Back to its sender"),
            h("span", { class: "sub" }, purpose(one)),
          ),
      },
      { label: "Amount", num: true, cell: (one) => nano(one.amount_raw) },
      {
        label: "State",
        class: "whole-row",
        cell: (one) =>
          h(
            "span",
            { class: "stack" },
            pill(one.state, one.state === "owed" ? "due" : null),
            h("span", { class: "sub" }, STATES[one.state] ?? ""),
          ),
      },
      {
        label: "Block",
        class: "whole-row",
        cell: (one) =>
          one.hash
            ? key(one.hash, "hash of the Nano block", { head: 6, tail: 6, leads: "nano_block" })
            : h("span", { class: "muted" }, "none yet"),
      },
      {
        label: "From",
        class: "whole-row",
        cell: (one) => key(one.from, "escrow account", { leads: "nano_account" }),
      },
      {
        label: "Into",
        class: "whole-row",
        cell: (one) => key(one.to, "payee's Nano account", { leads: "nano_account" }),
      },
    ],
  });
}

function purpose(one) {
  if (one.payee === null) return one.kind.replaceAll("_", " ");
  if (one.payee === "agent") return one.deposit_of === "principal" ? "pay for the repair" : "its own deposit back";
  if (one.payee === "principal") return one.deposit_of === "agent" ? "out of the agent’s deposit" : "rest of its deposit";
  return one.payee === "platform" ? "fee" : "forfeited";
}

function payments(c) {
  if (c.payments?.length) return paymentTable(c);
  if (c.bounty === "0") return empty("Nothing is paid.", "This contract is free.");
  return empty("No payment yet.", "The escrow pays when the contract ends, as its rules say.");
}

/** The change that was accepted, or the last one that was proposed. */
function fix(c, view) {
  const entries = (view?.transcript ?? []).filter((entry) => entry?.type === "fix" && entry.data);
  const last = entries.at(-1)?.data;
  if (!last) {
    return hasEnded(c)
      ? empty("No fix was proposed.")
      : empty("Nothing to show yet.", "While a contract is under way, strangers do not see its entries.");
  }
  const command = view?.contract?.task?.command;
  return [
    command
      ? h(
          "p",
          { class: "failed-command" },
          c.success ? "Repairs " : "Proposed for ",
          h("code", null, safeText(command)),
        )
      : null,
    ...repair(last, command ?? null),
  ].filter(Boolean);
}

function ids(c) {
  return h(
    "details",
    { class: "more-details" },
    h("summary", null, "Market, escrow and ids"),
    pairs(
      [
        ["Market", h("span", { class: "break" }, safeName(c.market).text)],
        ["Server", key(c.server, "server's key", { whole: true })],
        [
          "The indexer says",
          c.verified === null
            ? "the transcript is private"
            : [pill(c.verified ? "valid" : "invalid"), " ", c.verify_error ?? plural(c.entries, "entry", "entries")],
        ],
        ["Conversation", key(c.conversation, "conversation id", { whole: true })],
        ["Chain head", c.chain_head ? key(c.chain_head, "chain head", { whole: true }) : "not public"],
        ["Principal", key(c.principal, "principal's key", { whole: true })],
        c.agent ? ["Agent", key(c.agent, "agent's key", { whole: true })] : null,
        ...(c.escrow ?? []).map((one, i) => [
          `Escrow account ${i + 1}`,
          [
            key(one.account, "escrow account", { whole: true, leads: "nano_account" }),
            " ",
            h(
              "span",
              { class: "line" },
              "holds ",
              nano(one.balance_raw, "an unknown amount"),
              one.receivable_raw && one.receivable_raw !== "0"
                ? [", ", nano(one.receivable_raw), " to receive"]
                : null,
            ),
          ],
        ]),
      ],
      "pairs wide",
    ),
  );
}
