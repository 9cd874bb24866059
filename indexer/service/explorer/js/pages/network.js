// The figures of the network: totals, plots over epochs, the latest feedback.

import { get, last } from "../api.js";
import { h } from "../dom.js";
import { integer, plural, usdc } from "../format.js";
import { dollars, empty, figure, loadInto, nano, section } from "../parts.js";
import { plot } from "../plot-view.js";
import { href } from "../route.js";
import { term } from "../term.js";
import { entry } from "./feedback.js";

const EVERY = 20_000;

export default function networkPage({ signal }) {
  const totals = h("div", { class: "hold-totals" });
  const plots = h("div", { class: "hold-plots" });
  const feedback = h("div", { class: "hold-feedback" });
  // Totals and plots are one answer, asked for once.
  let asked = null;
  const network = () => {
    asked ??= get("/v1/network", {}, signal).finally(() => {
      asked = null;
    });
    return asked;
  };
  const again = [
    loadInto(totals, { signal, lines: 6, last: last("/v1/network"), load: network, draw: drawTotals }),
    loadInto(plots, { signal, lines: 16, last: last("/v1/network"), load: network, draw: drawPlots }),
    loadInto(feedback, {
      signal,
      lines: 6,
      last: last("/v1/feedback", { limit: 3 }),
      load: () => get("/v1/feedback", { limit: 3 }, signal),
      draw: ({ items }) =>
        items.length
          ? h(
              "ol",
              { class: "entries" },
              items.map((one) => entry(one, { lines: 3 })),
            )
          : empty("The feedback log is empty."),
    }),
  ];
  const timer = setInterval(() => {
    if (document.hidden || totals.parentElement === null || document.activeElement?.closest(".plot-box"))
      return;
    for (const run of again) run({ quiet: true });
  }, EVERY);
  signal.addEventListener("abort", () => clearInterval(timer));
  return {
    title: "Network figures",
    node: h(
      "article",
      { class: "page" },
      h(
        "header",
        null,
        h("h1", { tabindex: -1 }, "Network figures"),
        h("p", null, "Everything here is read from Solana, Nano and signed transcripts; anyone can rebuild it."),
      ),
      h("section", { "aria-label": "Totals" }, totals),
      section("Over the last epochs", "plots", { lead: ["An ", term("epoch"), " is one UTC day."] }, plots),
      section(
        "Latest feedback",
        "feedback",
        { beside: h("a", { class: "more", href: href("feedback") }, "The whole log") },
        feedback,
      ),
    ),
  };
}

function drawTotals(n) {
  const idle = n.agents - n.agents_active - n.agents_grace - n.agents_deactivated;
  return h(
    "dl",
    { class: "figures four" },
    figure(
      "Agents",
      integer(n.agents),
      [
        `${integer(n.agents_active)} active, ${integer(n.agents_grace)} in grace, ` +
          `${integer(n.agents_deactivated)} deactivated`,
        idle > 0 ? `, ${integer(idle)} without lease` : "",
      ],
      href("agents"),
    ),
    figure(
      "Staked now",
      dollars(n.staked_micro_usdc, "none", 2),
      ["slashed so far: ", dollars(n.slashed_micro_usdc, "none", 2)],
      href("agents", { sort: "stake" }),
    ),
    figure(
      "Leases paid",
      dollars(n.lease_paid_micro_usdc, "none", 2),
      "since the beginning",
      href("agents", { sort: "lease" }),
    ),
    figure(
      "Nano balance",
      nano(n.nano_raw, "unknown"),
      n.nano_raw === null ? "the Nano node was not asked yet" : "of all bound agents, with what they may receive",
    ),
    figure("Batches", integer(n.batches), drop(n), href("batches")),
    figure(
      "Challenges",
      integer(n.challenges),
      `${integer(n.challenges_open)} open, ${integer(n.challenges_succeeded)} succeeded`,
      href("challenges"),
    ),
    figure(
      "Contracts",
      integer(n.contracts),
      `${integer(n.contracts_open)} open for an agent`,
      href("contracts"),
    ),
    figure(
      "Feedback",
      plural(n.feedback_entries, "entry", "entries"),
      `${integer(n.feedback_resolved)} resolved`,
      href("feedback"),
    ),
  );
}

/** Batches that count for nothing, and why. */
function drop(n) {
  const notes = [
    n.batches_withheld > 0 ? `${integer(n.batches_withheld)} withheld` : null,
    n.batches_missing > 0 ? `${integer(n.batches_missing)} without data` : null,
  ].filter(Boolean);
  if (notes.length === 0) return "the data of all is served";
  const one = n.batches_withheld + n.batches_missing === 1;
  return `${notes.join(", ")}: ${one ? "counts" : "count"} for nothing`;
}

function drawPlots(n) {
  if (n.epochs.length === 0) {
    return empty("No epoch yet.", "Plots begin with the first registered agent.");
  }
  // The time before the first agent is left out, but two weeks are shown at least.
  const alive = (one) => one.joined > 0 || one.active > 0 || one.batches > 0 || one.staked_micro_usdc !== "0";
  const first = n.epochs.findIndex(alive);
  const list = n.epochs.slice(Math.max(0, Math.min(first < 0 ? Infinity : first, n.epochs.length - 14)));
  const epochs = list.map((one) => one.epoch);
  const count = (value) => integer(value);
  const column = (name) => list.map((one) => one[name]);
  const made = [
    plot({
      title: "Staked",
      epochs,
      text: (value) => `${integer(Math.round(value))} USDC`,
      axis: compact,
      series: [
        {
          name: "Staked",
          kind: "area",
          hue: "a",
          values: column("staked_micro_usdc").map((v) => Number(v) / 1e6),
          show: column("staked_micro_usdc").map((v) => `${usdc(v)?.text ?? "–"} USDC`),
        },
      ],
    }),
    plot({
      title: "Active agents",
      epochs,
      text: count,
      count: true,
      series: [{ name: "Active", kind: "area", hue: "b", values: column("active") }],
    }),
    plot({
      title: "Batches submitted",
      epochs,
      text: count,
      count: true,
      series: [{ name: "Batches", kind: "bars", hue: "a", values: column("batches") }],
    }),
    plot({
      title: "Challenges and feedback",
      epochs,
      text: count,
      count: true,
      series: [
        { name: "Feedback", kind: "area", hue: "b", values: column("feedback") },
        { name: "Challenges", kind: "bars", hue: "c", values: column("challenges") },
      ],
    }),
  ];
  return h("div", { class: "plots" }, made);
}

function compact(value) {
  if (Math.abs(value) >= 1e6) return `${Number((value / 1e6).toPrecision(3))}M`;
  if (Math.abs(value) >= 1e4) return `${Number((value / 1e3).toPrecision(3))}k`;
  return integer(Number(value.toPrecision(6)));
}
