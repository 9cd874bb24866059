// One contract: its state, its timer, and its transcript verified here.

import { address, get, getText, last } from "../api.js";
import { h } from "../dom.js";
import { outside, plural, safeName, short } from "../format.js";
import { figure, key, loadInto, nano, pairs, pill, section, when } from "../parts.js";
import { href } from "../route.js";
import { showTranscript } from "../transcript-view.js";
import { bounty, deadlineOf, hasEnded, runningTimer, stateOf } from "./contracts.js";

const EVERY = 4000;

export default function contractPage({ params: { id }, query: { market }, signal, setTitle }) {
  const path = `/v1/contracts/${encodeURIComponent(id)}`;
  const heading = h("h1", { tabindex: -1 }, "Contract ", h("span", { class: "mono" }, short(id, 16, 0)));
  const task = h("p", null, "\u00a0");
  const top = h("div", { class: "hold-figures" });
  const transcript = h("div", { class: "transcript" });
  let shown = null;
  let ended = false;
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
      ended = hasEnded(c);
      if (shown !== c.chain_head) {
        shown = c.chain_head;
        load();
      }
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
  const party = (text, what) =>
    text
      ? key(text, what, { head: 4, tail: 4, link: href("contracts", { party: text }) })
      : h("span", { class: "muted" }, "nobody yet");
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
        "Timer",
        runningTimer(c),
        hasEnded(c)
          ? "no timer runs"
          : deadlineOf(c) === null
            ? "since the last entry"
            : "until the state's deadline",
      ),
      figure("Bounty", bounty(c), c.verified === null ? null : plural(c.entries, "entry", "entries")),
      figure("Principal", party(c.principal, "principal's key"), [
        "posted ",
        when(c.created_at),
        counted(c.principal_fixes),
      ]),
      figure("Agent", party(c.agent, "agent's key"), ["who fixes it", counted(c.agent_fixes)]),
      figure(
        "The indexer says",
        c.verified === null ? "private" : pill(c.verified ? "valid" : "invalid"),
        c.verify_error ?? "about the transcript",
      ),
    ),
    h(
      "details",
      { class: "more-details" },
      h("summary", null, "Market and ids"),
      pairs(
        [
          ["Market", h("span", { class: "break" }, safeName(c.market).text)],
          ["Server", key(c.server, "server's key", { whole: true })],
          ["Conversation", key(c.conversation, "conversation id", { whole: true })],
          ["Chain head", c.chain_head ? key(c.chain_head, "chain head", { whole: true }) : "not public"],
          ["Principal", key(c.principal, "principal's key", { whole: true })],
          c.agent ? ["Agent", key(c.agent, "agent's key", { whole: true })] : null,
          ...(c.escrow ?? []).map((one, i) => [
            `Escrow account ${i + 1}`,
            [
              key(one.account, "escrow account", { whole: true }),
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
    ),
  ];
}
