// An agent's plots over epochs.

import { h } from "../dom.js";
import { integer, usdc } from "../format.js";
import { plot } from "../plot-view.js";

const tens = (value) => `${value > 0 ? "+" : value < 0 ? "−" : ""}${Math.abs(value).toFixed(1)}`;

/** Whether an epoch shows anything of the agent. */
export const isAlive = (one) =>
  one.batch || one.lease_paid_through !== null || Number(one.stake_micro_usdc) > 0;

/** Stake, lease, reputation, counterparties. The time before the agent's first sign is left out. */
export function drawPlots(all) {
  const first = all.findIndex(isAlive);
  // At least two weeks, so that one bar is not as wide as the page.
  const list = all.slice(Math.max(0, Math.min(first, all.length - 14)));
  const epochs = list.map((one) => one.epoch);
  const column = (field) => list.map((one) => one[field] ?? null);
  const share = (field) =>
    list.map((one) => (one[field] === null || one[field] === undefined ? null : one[field] / 1000));
  const stake = column("stake_micro_usdc");
  const ahead = list.map((one) =>
    one.lease_paid_through === null ? null : one.lease_paid_through - one.epoch,
  );
  const marks = list.map((one) => {
    if (one.withheld) return "withheld";
    if (one.missing) return "data missing";
    return one.batch ? null : "no batch";
  });
  return h(
    "div",
    { class: "plots" },
    plot({
      title: "Stake of all eras",
      epochs,
      text: (value) => `${integer(Math.round(value))} USDC`,
      axis: (value) => integer(value),
      series: [
        {
          name: "Stake",
          kind: "area",
          hue: "a",
          values: stake.map((v) => (v === null ? null : Number(v) / 1e6)),
          show: stake.map((v) => (v === null ? null : `${usdc(v)?.text ?? "–"} USDC`)),
        },
      ],
    }),
    plot({
      title: "Lease: epochs paid ahead",
      epochs,
      marks: column("lease_state"),
      text: (value) => (value < 0 ? `${integer(-value)} behind` : `${integer(value)} ahead`),
      axis: (value) => integer(value).replace("-", "−"),
      series: [{ name: "Lease", kind: "bars", hue: "b", values: ahead }],
      note: "Shaded: in grace or deactivated.",
    }),
    plot({
      title: "Reputation from batches",
      epochs,
      domain: [-100, 100],
      text: tens,
      axis: (value) => tens(value).replace(".0", ""),
      series: [
        { name: "Reliability", kind: "line", hue: "a", values: share("reliability") },
        { name: "Cooperation", kind: "line", hue: "b", values: share("cooperation") },
        { name: "Notary", kind: "line", hue: "c", values: share("notary") },
      ],
    }),
    plot({
      title: "Counterparties",
      epochs,
      count: true,
      marks,
      text: (value) => integer(value),
      series: [{ name: "Counterparties", kind: "bars", hue: "a", values: column("counterparties") }],
      note: "Shaded: the batch is withheld, or its data is missing. Empty: no batch.",
    }),
  );
}
