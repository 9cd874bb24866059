// What the service knows of itself: how far behind, gaps, its audits, its markets.

import { get, last } from "../api.js";
import { h, icon } from "../dom.js";
import { health } from "../health.js";
import { integer, plural, safeName, span, stamp } from "../format.js";
import { empty, figure, key, loadInto, pairs, pill, section, slots, table, when } from "../parts.js";
import { service } from "../shell.js";

const EVERY = 10_000;

export default function statusPage({ signal }) {
  const top = h("div", { class: "page-body" });
  const audit = h("div", { class: "hold" });
  const gaps = h("div", { class: "hold" });
  const again = [
    loadInto(top, {
      signal,
      lines: 12,
      last: last("/v1/status"),
      load: () => get("/v1/status", {}, signal),
      draw: drawStatus,
    }),
    loadInto(audit, { signal, lines: 4, load: () => get("/v1/audit", {}, signal), draw: drawAudit }),
    loadInto(gaps, { signal, lines: 4, load: () => get("/v1/gaps", { limit: 50 }, signal), draw: drawGaps }),
  ];
  const timer = setInterval(() => {
    if (!document.hidden && !document.activeElement?.closest("main a, main button, main [tabindex='0']")) {
      for (const run of again) run({ quiet: true });
    }
  }, EVERY);
  signal.addEventListener("abort", () => clearInterval(timer));
  return {
    title: "Service status",
    node: h(
      "article",
      { class: "page" },
      h(
        "header",
        null,
        h("h1", { tabindex: -1 }, "Service status"),
        h("p", null, "The indexer only repeats what the ledgers hold. This page says how well it does."),
      ),
      top,
      section("Self-audit", "audit", { lead: "The state, derived anew from the chain and compared." }, audit),
      section("Gaps", "gaps", { lead: "Numbers missing in an account's sequence of events." }, gaps),
    ),
  };
}

function drawStatus(s) {
  const verdict = health(s, {
    answeredAt: service.answeredAt ?? Date.now(),
    failed: false,
    now: Date.now(),
    slotMs: slots.rate(),
  });
  const grade = verdict.grade === "wait" ? "warn" : verdict.grade;
  return [
    h(
      "section",
      { class: "standing", "aria-label": "Service", data: { grade } },
      h(
        "p",
        { class: "standing-word" },
        icon(grade === "ok" ? "check" : "warn", 20),
        grade === "ok" ? "Live and complete" : `Not at its best: ${verdict.word}`,
      ),
      h(
        "ul",
        null,
        h(
          "li",
          { data: { grade } },
          icon(grade === "ok" ? "check" : "warn", 15),
          h("span", null, verdict.sentence ?? `${plural(s.lag_slots, "slot")} behind the chain.`),
        ),
      ),
    ),
    h(
      "dl",
      { class: "figures" },
      figure("Indexed slot", integer(s.slot), `finalized to ${integer(s.finalized_slot)}`),
      figure("Chain's slot", integer(s.chain_slot), `${integer(s.lag_slots)} ahead of the index`),
      figure("Epoch", integer(s.epoch), ["chain's clock ", stamp(s.chain_time * 1000)]),
      figure("Events", integer(s.events), s.gaps_open > 0 ? plural(s.gaps_open, "open gap") : "no gap"),
      figure("Up for", span(s.uptime_seconds * 1000), `version ${safeName(s.version).text}`),
      figure(
        "Chain's stream",
        s.subscribed ? pill("active", "subscribed") : pill("grace", "polling"),
        s.nano.configured
          ? `Nano node ${s.nano.reachable ? "reachable" : "not reachable"}`
          : "no Nano node configured",
      ),
    ),
    pairs(
      [
        ["Cluster", h("span", { class: "break" }, safeName(s.cluster).text)],
        ["Genesis", key(s.genesis, "genesis hash", { whole: true })],
        ["Index digest", key(s.digest, "index digest", { whole: true })],
        [
          "Markets",
          s.markets.length
            ? s.markets.map((m) =>
                h(
                  "span",
                  { class: "line" },
                  h("span", { class: "break" }, safeName(m.url).text),
                  pill(m.reachable ? "active" : "deactivated", m.reachable ? "reachable" : "not reachable"),
                  ` ${plural(m.contracts, "contract")}`,
                ),
              )
            : "none configured",
        ],
      ],
      "pairs wide",
    ),
  ];
}

function drawAudit({ audit }) {
  if (!audit)
    return empty(
      "No audit has run yet.",
      "It runs by itself from time to time; `zx1 audit` does the same from outside.",
    );
  if (audit.differences.length === 0) {
    return h(
      "p",
      { class: "with-icon" },
      icon("check", 15),
      h(
        "span",
        null,
        `${plural(audit.accounts, "account")} and ${plural(audit.events, "event")} compared `,
        when(audit.at * 1000),
        ": no difference.",
      ),
    );
  }
  return table({
    caption: "Differences",
    rows: audit.differences,
    columns: [
      { label: "What", cell: (d) => d.what },
      { label: "Account", cell: (d) => key(d.account, "account") },
      { label: "Index says", cell: (d) => h("span", { class: "break" }, d.index) },
      { label: "Chain says", cell: (d) => h("span", { class: "break" }, d.chain) },
      { label: "In words", class: "wide-cell", cell: (d) => d.sentence },
    ],
  });
}

function drawGaps({ items }) {
  if (items.length === 0) return empty("No gap was ever found.");
  return table({
    caption: "Gaps",
    rows: items,
    columns: [
      { label: "Account", cell: (g) => key(g.account, "account") },
      {
        label: "Missing",
        cell: (g) => (g.first === g.last ? integer(g.first) : `${integer(g.first)} to ${integer(g.last)}`),
      },
      { label: "Found at slot", num: true, cell: (g) => integer(g.found_slot) },
      {
        label: "State",
        cell: (g) => pill(g.state === "open" ? "unanswered" : "answered", g.state.replaceAll("_", " ")),
      },
    ],
  });
}
