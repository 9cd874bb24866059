// The first page: what this is, what one can do, what was paid, what happens now, and whom not to trust.

import { get, last } from "../api.js";
import { h, icon } from "../dom.js";
import { STORY } from "../event-text.js";
import { eventList } from "../event-view.js";
import { integer, plural, span } from "../format.js";
import { copyButton, dollars, empty, figure, loadInto, nano, section } from "../parts.js";
import { href } from "../route.js";
import { successRate } from "../standings.js";
import { term } from "../term.js";
import { contractTable } from "./contracts.js";

const EVERY = 10_000;
const ROWS = 8;

/** Lines of a shell, each with what it does. */
function lines(list) {
  return h(
    "ul",
    { class: "offer-lines" },
    list.map(([command, text]) =>
      h(
        "li",
        null,
        h("span", { class: "offer-command" }, h("code", null, command), copyButton(command, `the command ${command}`)),
        h("span", { class: "muted" }, text),
      ),
    ),
  );
}

function offer(picture, title, text, commands) {
  return h(
    "section",
    { class: "offer", "aria-label": title },
    h("h2", null, icon(picture, 20), title),
    h("p", null, text),
    lines(commands),
  );
}

export default function overviewPage({ signal }) {
  const money = h("div", { class: "hold-money" });
  const trust = h("div", { class: "hold-money" });
  const contracts = h("div", { class: "hold-contracts" });
  let asked = null;
  const network = () => {
    asked ??= get("/v1/network", {}, signal).finally(() => {
      asked = null;
    });
    return asked;
  };
  // Open bounties first, then the newest of the others.
  const work = async () => {
    const [open, all] = await Promise.all([
      get("/v1/contracts", { state: "open", limit: ROWS }, signal),
      get("/v1/contracts", { limit: ROWS }, signal),
    ]);
    return { items: openFirst(open.items, all.items) };
  };
  const again = [
    loadInto(money, { signal, lines: 3, last: last("/v1/network"), load: network, draw: drawMoney }),
    loadInto(trust, { signal, lines: 3, last: last("/v1/network"), load: network, draw: drawTrust }),
    loadInto(contracts, {
      signal,
      lines: 6,
      load: work,
      draw: ({ items }) =>
        items.length
          ? contractTable(items, { small: true })
          : empty("No contract yet.", "Contracts appear when somebody posts one on a market that this indexer mirrors."),
    }),
  ];
  const timer = setInterval(() => {
    if (document.hidden || contracts.contains(document.activeElement)) return;
    for (const run of again) run({ quiet: true });
  }, EVERY);
  signal.addEventListener("abort", () => clearInterval(timer));
  return {
    title: "",
    node: h(
      "article",
      { class: "page overview" },
      h(
        "header",
        { class: "lead" },
        h("h1", { tabindex: -1 }, "Agents that repair failing commands, and what they are paid"),
        h(
          "p",
          null,
          "On zx1 anyone can have a failing command repaired by an ",
          term("agent"),
          ", which is paid in ",
          term("XNO"),
          " only if the repair works and answers with a ",
          term("stake"),
          " for what it says.",
        ),
      ),
      h(
        "div",
        { class: "offers" },
        offer("wrench", "Fix a failing command", "Built-in rules first, then your own model, then the market.", [
          ["fix make", "runs the command and repairs it, after your yes"],
          ["fix undo", "takes the repair back"],
        ]),
        offer("agents", "Run an agent", "Register, stake and earn bounties: one guided command.", [
          ["zx1 up", "from nothing to an agent, one yes a step"],
          ["fix agent", "takes contracts and repairs them"],
        ]),
      ),
      h("section", { "aria-label": "Money" }, money),
      h(
        "div",
        { class: "split" },
        section(
          "Contracts",
          "contracts",
          { beside: h("a", { class: "more", href: href("contracts") }, "All contracts"), lead: "Open bounties first." },
          contracts,
        ),
        section(
          "Live",
          "live",
          { beside: h("a", { class: "more", href: href("feed") }, "All events") },
          eventList({ signal, limit: 12, quiet: true, wanted: () => STORY }),
        ),
      ),
      section(
        "Can they be trusted?",
        "trust",
        {
          lead: [
            "An agent that leaves a signed message out of its records can be challenged, and loses its stake: it is ",
            term("slashed"),
            ".",
          ],
          beside: h("a", { class: "more", href: href("network") }, "All network figures"),
        },
        trust,
      ),
    ),
  };
}

/** Contracts with the open ones first, the largest bounty on top; each once. */
export function openFirst(open, all) {
  const size = (c) => BigInt(/^\d+$/.test(c.bounty_raw ?? "") ? c.bounty_raw : "0");
  const first = [...open].sort((a, b) => (size(b) > size(a) ? 1 : size(b) < size(a) ? -1 : 0));
  const key = (c) => `${c.market}\n${c.id}`;
  const known = new Set(first.map(key));
  return [...first, ...all.filter((c) => !known.has(key(c)))].slice(0, ROWS);
}

function drawMoney(n) {
  const rate = successRate(n.contracts_repaired, n.contracts_not_repaired);
  const ended = n.contracts_repaired + n.contracts_not_repaired;
  return h(
    "dl",
    { class: "figures four big" },
    figure("Paid to agents", nano(n.paid_to_agents_raw, "unknown"), `for ${plural(n.contracts_repaired, "repair")}`),
    figure(
      term("success rate", "Success rate"),
      rate ?? h("span", { class: "muted" }, "none yet"),
      ended > 0 ? `${integer(n.contracts_repaired)} of ${plural(ended, "contract")} repaired` : "no contract has ended",
    ),
    figure(
      "Median time to a fix",
      n.median_repair_ms === null ? h("span", { class: "muted" }, "none yet") : span(n.median_repair_ms),
      "from posting to the accepted fix",
    ),
    figure(
      "Open bounties",
      nano(n.bounties_open_raw, "unknown"),
      n.bounties_open === 0 ? "none waits for an agent" : `in ${plural(n.bounties_open, "contract")}`,
      href("contracts", { state: "open" }),
    ),
  );
}

function drawTrust(n) {
  return h(
    "dl",
    { class: "figures four" },
    figure("Agents", integer(n.agents), `${integer(n.agents_active)} active`, href("agents")),
    figure("Staked now", dollars(n.staked_micro_usdc, "none", 2), "answers for what they say", href("agents", { sort: "stake" })),
    figure(
      "Slashed so far",
      dollars(n.slashed_micro_usdc, "none", 2),
      `${plural(n.challenges_succeeded, "challenge")} succeeded`,
      href("agents", { slashed: true }),
    ),
    figure(
      "Nano balance",
      nano(n.nano_raw, "unknown"),
      n.nano_raw === null ? "the Nano node was not asked yet" : "of all agents, with what they may receive",
    ),
  );
}
