// Whose turn an agent was, which keys act for it, and which stakes answer for it.

import { eraStands, isUntaken, keyStands, scopesOf } from "../authority.js";
import { h } from "../dom.js";
import { integer, plural, scoreShort } from "../format.js";
import { dollars, empty, epoch, key, pill, slot, table } from "../parts.js";
import { href } from "../route.js";

/** A wallet, linked to the agents that it holds. */
export const wallet = (address, what) => key(address, what, { link: href("agents", { owner: address }) });

const muted = (text) => h("span", { class: "muted" }, text);

/** The tenures of an agent, the present one first, each with the reputation of its own. */
export function tenureTable(agent) {
  const rows = [...(agent.tenures ?? [])].sort((a, b) => b.number - a.number);
  if (rows.length === 0) {
    return empty("No tenure was opened yet.", "The owner opens it with the first key or the first stake.");
  }
  const present = agent.tenure?.number;
  const scores = (one, field) => (one.reputation ? scoreShort(one.reputation[field]) : muted("–"));
  return [
    table({
      caption: "Tenures, the present one first",
      rows,
      columns: [
        {
          label: "Tenure",
          cell: (one) =>
            h(
              "span",
              { class: "line" },
              h("strong", null, `Tenure ${integer(one.number)}`),
              one.number === present ? pill("current", "present") : null,
            ),
        },
        { label: "Owner", cell: (one) => wallet(one.owner, "tenure's owner") },
        { label: "From", cell: (one) => epoch(one.from_epoch) },
        { label: "To", cell: (one) => (one.to_epoch === null ? muted("now") : epoch(one.to_epoch)) },
        { label: "Batches", num: true, class: "third", cell: (one) => integer(one.reputation?.batches ?? 0) },
        {
          label: "Uncovered",
          num: true,
          class: "third",
          title: "epochs that no batch covers",
          cell: (one) =>
            one.uncovered_epochs > 0
              ? h("span", { class: "alert nowrap" }, plural(one.uncovered_epochs, "epoch"))
              : "none",
        },
        { label: "Reliability", num: true, class: "third", cell: (one) => scores(one, "reliability") },
        { label: "Cooperation", num: true, class: "third", cell: (one) => scores(one, "cooperation") },
        { label: "Notary", num: true, class: "third", cell: (one) => scores(one, "notary") },
        { label: "Tasks", num: true, class: "third", cell: (one) => integer(one.reputation?.tasks ?? 0) },
      ],
    }),
    isUntaken(agent)
      ? h(
          "p",
          { class: "small alert" },
          "Its holder has not taken over: no key acts and no batch lands until then.",
        )
      : null,
  ];
}

function scopes(one) {
  const list = scopesOf(one.scopes);
  return h(
    "span",
    { class: "tags" },
    list.length
      ? list.map(([name, meaning]) => h("span", { class: "tag", title: meaning }, name))
      : muted("none"),
  );
}

/** The keys of an agent, live ones first. */
export function keyTable(agent, now) {
  const order = { live: 0, later: 1, idle: 2, ended: 3 };
  const rows = (agent.keys ?? [])
    .map((one) => ({ ...one, stands: keyStands(one, { epoch: now.epoch, owner: agent.owner }) }))
    .sort((a, b) => order[a.stands.state] - order[b.stands.state] || b.created_slot - a.created_slot);
  if (rows.length === 0) {
    return empty("No key is listed.", "Without one nobody can sign batches or messages for this agent.");
  }
  return table({
    caption: "Keys, live ones first",
    rows,
    columns: [
      { label: "Key", cell: (one) => key(one.key, "key") },
      { label: "Scopes", cell: scopes },
      {
        label: "State",
        class: "wide-cell",
        cell: (one) =>
          h(
            "span",
            { class: "stack-left" },
            pill(one.stands.state, STATES[one.stands.state]),
            h("span", { class: "sub" }, one.stands.text),
          ),
      },
      { label: "First epoch", cell: (one) => epoch(one.from_epoch) },
      {
        label: "Last epoch",
        cell: (one) => (one.until_epoch === null ? muted("open") : epoch(one.until_epoch)),
      },
      { label: "Tenure", num: true, cell: (one) => integer(one.tenure) },
      { label: "Listed by", cell: (one) => wallet(one.owner, "owner's wallet") },
      {
        label: "Ended",
        num: true,
        cell: (one) => (one.ended_slot === null ? muted("–") : slot(one.ended_slot)),
      },
    ],
  });
}

const STATES = { later: "not yet", idle: "does not act" };
const ERAS = { current: "present", held: "present", unlocking: "unlocking" };

/** The stakes of an agent, the newest era first. */
export function stakeTable(agent, now) {
  const rows = [...(agent.stakes ?? [])].sort((a, b) => b.era - a.era);
  if (rows.length === 0) return empty("No stake is locked.", "No batch can land without one.");
  return table({
    caption: "Stakes, the newest era first",
    rows,
    columns: [
      { label: "Era", cell: (one) => h("strong", null, `Era ${integer(one.era)}`) },
      {
        label: "Stake",
        num: true,
        cell: (one) =>
          h(
            "span",
            { class: "stack" },
            dollars(one.micro_usdc),
            one.pot_micro_usdc !== "0"
              ? h(
                  "span",
                  { class: "sub", title: "what is left of the finders' part" },
                  "pot ",
                  dollars(one.pot_micro_usdc),
                )
              : null,
          ),
      },
      {
        label: "State",
        class: "wide-cell",
        cell: (one) => {
          const stands = eraStands(one, { era: agent.tenure?.era ?? null, slot: now.slot });
          return h(
            "span",
            { class: "stack-left" },
            pill(stands.state, ERAS[stands.state]),
            h("span", { class: "sub" }, stands.text),
          );
        },
      },
      {
        label: "Open challenges",
        num: true,
        class: "third",
        cell: (one) =>
          one.open_challenges > 0 ? h("strong", { class: "alert" }, integer(one.open_challenges)) : "0",
      },
      { label: "Locked", num: true, class: "third", cell: (one) => slot(one.locked_since_slot) },
      {
        label: "Ended",
        num: true,
        class: "third",
        cell: (one) => (one.ended_slot === null ? muted("not yet") : slot(one.ended_slot)),
      },
      { label: "Locked by", cell: (one) => wallet(one.owner, "owner of the stake") },
    ],
  });
}
