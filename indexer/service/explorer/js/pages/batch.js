// One batch: what is on chain, what its data says, its records with their proofs.

import { get, last } from "../api.js";
import { coversText } from "../authority.js";
import { h, icon, prose } from "../dom.js";
import { flag } from "../flags.js";
import { bytes, epochDay, integer, short } from "../format.js";
import { list } from "../list.js";
import {
  agentName,
  copyButton,
  empty,
  failure,
  figure,
  key,
  learn,
  loadInto,
  name,
  nano,
  pairs,
  pill,
  section,
  sign,
  skeleton,
  slot,
  table,
  transaction,
} from "../parts.js";
import { href } from "../route.js";
import { term } from "../term.js";
import { askTable } from "./asks.js";

const TYPES = [
  null,
  "ADVERTISE",
  "DISCOVER",
  "PROPOSE",
  "COUNTER",
  "ACCEPT",
  "REJECT",
  "DELIVER",
  "NOTARIZE_BID",
  "NOTARIZE_ASSIGN",
  "VERDICT",
  "FEEDBACK",
  "DISPUTE",
  "BEACON",
];
const KINDS = [
  ["bid", "Bids", "bids"],
  ["selection", "Selections", "selections"],
  ["verifier", "Verifiers", "verifiers"],
  ["feedback", "Feedback", "feedback"],
];

export default function batchPage(context) {
  const {
    params: { mint, epoch: number },
    signal,
    setTitle,
  } = context;
  const path = `/v1/agents/${encodeURIComponent(mint)}/batches/${encodeURIComponent(number)}`;
  const day = /^\d{1,7}$/.test(number) ? epochDay(Number(number)) : number;
  const agent = h(
    "p",
    { class: "party-line" },
    "Agent ",
    h("a", { href: href("agents", mint), class: "mono" }, short(mint)),
  );
  const body = h("div", { class: "page-body" });
  let records = null;
  loadInto(body, {
    signal,
    lines: 20,
    last: last(path),
    load: () => get(path, {}, signal),
    draw: (answer) => {
      const { batch } = answer;
      setTitle(`Batch of ${day}`);
      agent.replaceChildren(
        sign(mint, 20),
        h("a", { href: href("agents", mint) }, name(batch.agent_name, short(mint))),
        flag(mint),
        h(
          "span",
          { class: "muted" },
          `epoch ${integer(batch.epoch)}, tenure ${integer(batch.tenure)}, era ${integer(batch.era)}`,
        ),
      );
      const parts = [
        figures(batch),
        batch.content ? content(batch) : missing(),
        asks(batch, signal),
        commitment(batch, path),
      ];
      if (batch.content?.holds === false) parts.splice(1, 0, faulty(batch.content));
      if (batch.withheld) parts.splice(1, 0, withheld(batch));
      if (batch.content) {
        records = recordList(context, path, batch);
        parts.splice(
          -2,
          0,
          section(
            "Records",
            "records",
            {
              lead:
                "The entries under arrays_root. What a challenger proves to be missing here costs the agent " +
                `the stake of era ${integer(batch.era)}.`,
            },
            records.nodes,
          ),
        );
      }
      return parts;
    },
  });
  return {
    title: `Batch of ${day}`,
    update: (query) => records?.update(query),
    node: h(
      "article",
      { class: "page" },
      h("header", null, h("h1", { tabindex: -1 }, `Batch of ${day}`), agent),
      body,
    ),
  };
}

function figures(b) {
  return h(
    "dl",
    { class: "figures" },
    figure(
      "Data",
      pill(b.data),
      b.data === "missing"
        ? "not served: counts for nothing"
        : `${bytes(b.data_bytes)}, checked against the chain`,
    ),
    figure("Submitted", slot(b.submitted_slot, b.block_time), coversText(b)),
    figure(
      term("window", "Challenge window"),
      b.open ? pill("open") : pill("over"),
      b.open
        ? ["ends ", slot(b.window_ends_slot)]
        : ["ended ", slot(b.window_ends_slot), b.account_open ? "; its account is still there" : ""],
    ),
    figure(
      "Challenges",
      integer(b.challenges),
      b.challenges > 0
        ? h("a", { href: href("challenges", { agent: b.agent }) }, "see them")
        : "nobody objected",
    ),
    figure("Log entries", integer(b.log_len), "signed messages of these epochs"),
    figure("Records", integer(b.arrays_len), "bids, selections, verifiers, feedback"),
  );
}

/** A batch that the chain has marked. */
function withheld(b) {
  return h(
    "section",
    { class: "standing", "aria-label": "Withheld", data: { grade: "bad" } },
    h("p", { class: "standing-word" }, icon("cross", 20), "This batch is withheld and counts for nothing"),
    h(
      "ul",
      null,
      h(
        "li",
        { data: { grade: "bad" } },
        icon("cross", 15),
        h(
          "span",
          null,
          "A leaf that somebody asked for was not shown in time. The mark stays for ever. ",
          b.withheld_slot === null ? null : slot(b.withheld_slot),
        ),
      ),
    ),
  );
}

function asks(b, signal) {
  const place = h("div", { class: "hold" });
  loadInto(place, {
    signal,
    lines: 3,
    load: () => get(`/v1/agents/${encodeURIComponent(b.agent)}/asks`, { epoch: b.epoch, limit: 50 }, signal),
    draw: ({ items }) =>
      items.length ? askTable(items, { batch: true }) : empty("No leaf of this batch was asked for."),
  });
  return section("Asks", "asks", { lead: "Leaves of this batch that somebody paid to see." }, place);
}

function missing() {
  return h(
    "section",
    { class: "standing", "aria-label": "Missing data", data: { grade: "warn" } },
    h("p", { class: "standing-word" }, icon("warn", 20), "The data of this batch is missing"),
    h(
      "ul",
      null,
      h(
        "li",
        { data: { grade: "info" } },
        icon("info", 15),
        h(
          "span",
          null,
          prose(
            "The chain holds its commitments, but what they commit to is not served. It can be uploaded " +
              "with `zx1 batch submit`; " +
              "until then it counts for nothing.",
          ),
        ),
      ),
    ),
  );
}

/** A batch that contradicts itself: shown, because its challengers need it. */
function faulty(c) {
  return h(
    "section",
    { class: "standing", "aria-label": "Contradiction", data: { grade: "bad" } },
    h(
      "p",
      { class: "standing-word" },
      icon("cross", 20),
      "This batch contradicts itself and counts for nothing",
    ),
    c.fault
      ? h("ul", null, h("li", { data: { grade: "bad" } }, icon("cross", 15), h("span", null, c.fault)))
      : null,
  );
}

function content({ content: c }) {
  if (!Array.isArray(c.msg_type_counts)) return null;
  const counts = TYPES.map((type, i) => [type, c.msg_type_counts[i] ?? 0]).filter(([type]) => type);
  const most = Math.max(1, ...counts.map(([, count]) => count));
  const bar = (count) => {
    const fill = h("span", { class: "count-fill" });
    fill.style.setProperty("--part", String(count / most));
    return h("span", { class: "count-track", "aria-hidden": "true" }, fill);
  };
  return h(
    "div",
    { class: "halves" },
    section(
      "Activity",
      "activity",
      {},
      pairs([
        ["Slots", h("span", { class: "stack-left" }, slot(c.slot_start), slot(c.slot_end))],
        ["Messages sent", integer(c.message_count)],
        ["Counterparties", integer(c.unique_counterparties)],
        ["Tasks completed", integer(c.tasks_completed)],
        ["Notarizations", integer(c.notarizations)],
        ["Disputes", integer(c.disputes)],
        [
          "Overflow",
          c.overflow ? ["yes, full arrays hash to ", key(c.overflow_data_hash, "overflow hash")] : "no",
        ],
      ]),
    ),
    section(
      "Messages by type",
      "types",
      {},
      h(
        "table",
        { class: "counts" },
        h("caption", { class: "unseen" }, "Messages by type"),
        h(
          "tbody",
          null,
          counts.map(([type, count]) =>
            h(
              "tr",
              null,
              h("th", { scope: "row", class: "mono" }, type),
              h("td", null, bar(count)),
              h("td", { class: "num" }, integer(count)),
            ),
          ),
        ),
      ),
    ),
  );
}

function commitment(b, path) {
  return section(
    "On chain",
    "chain",
    {},
    pairs(
      [
        ["Batch hash", key(b.batch_hash, "batch hash", { whole: true })],
        ["Log root", key(b.log_merkle_root, "log's Merkle root", { whole: true })],
        ["Arrays root", key(b.arrays_root, "arrays' Merkle root", { whole: true })],
        ["Signer", key(b.signer, "signer", { whole: true })],
        ["Tenure", integer(b.tenure)],
        ["Era", [integer(b.era), h("span", { class: "muted" }, ", whose stake answers for the batch")]],
        [
          "Epochs covered",
          b.covers_from_epoch < b.epoch
            ? `${integer(b.covers_from_epoch)} to ${integer(b.epoch)}`
            : integer(b.epoch),
        ],
        ["Previous digest", key(b.previous_digest, "previous digest", { whole: true })],
        ["Paid by", key(b.payer, "payer", { whole: true })],
        ["Transaction", transaction(b.signature, b.submitted_slot, { whole: true })],
        [
          "Signed message",
          h(
            "details",
            null,
            h("summary", null, `${integer(b.message.length / 2)} bytes`),
            h("p", { class: "mono break" }, b.message, copyButton(b.message, "signed message")),
          ),
        ],
        b.data === "served"
          ? [
              "Bundle",
              h(
                "a",
                { href: `${path}/data`, download: `batch-${b.epoch}.cbor` },
                `Download ${bytes(b.data_bytes)}`,
              ),
              b.content?.signed ? ", with the signed message" : ", without the signed message",
            ]
          : null,
      ],
      "pairs wide",
    ),
  );
}

function recordList(context, path, batch) {
  const at = ["agents", batch.agent, "batches", batch.epoch];
  const kindOf = (query) => (KINDS.some(([kind]) => kind === query.kind) ? query.kind : "bid");
  const tabs = h("nav", { class: "tabs", "aria-label": "Kinds of records" });
  const drawTabs = (query) =>
    tabs.replaceChildren(
      ...KINDS.map(([kind, text, field]) =>
        h(
          "a",
          {
            href: href(...at, { kind }),
            "aria-current": kindOf(query) === kind ? "true" : null,
            data: { keep: `kind-${kind}` },
          },
          text,
          h("span", { class: "muted" }, ` ${integer(batch.content.records?.[field] ?? 0)}`),
        ),
      ),
    );
  drawTabs(context.query);
  const made = list(context, {
    at,
    path: `${path}/records`,
    noun: "records",
    ask: (query) => ({ kind: kindOf(query), cursor: query.cursor, limit: 25 }),
    none: ["No record of this kind.", null],
    draw: (items, query) => recordTable(items, kindOf(query), path, context.signal),
  });
  return {
    nodes: [tabs, ...made.nodes],
    update: (query) => {
      drawTabs(query);
      made.update(query);
    },
  };
}

const OUTCOMES = ["negative", "neutral", "positive"];

function who(mint, text) {
  return text
    ? agentName(mint, text)
    : h(
        "span",
        { class: "party" },
        sign(mint, 20),
        h("a", { href: href("agents", mint), title: mint, class: "mono" }, short(mint)),
        flag(mint),
      );
}

/** A bid's value: XNO where it is a market's contract, else in units that only the two agents know. */
function value(r) {
  if (r.contract) return nano(r.value);
  return [h("span", { class: "mono" }, integer(r.value)), " ", term("bid value", "units")];
}

/** A conversation, and the contract that it is. */
function conversation(r) {
  if (!r.contract) return key(r.conversation, "conversation id", { head: 6, tail: 4 });
  return h("span", { class: "stack-left" }, [
    h("a", { class: "mono", href: href("contracts", r.contract) }, r.contract),
    h("span", { class: "sub" }, "contract"),
  ]);
}

function recordTable(items, kind, path, signal) {
  const common = [
    { label: "Entry", cell: (r) => `#${integer(r.entry)}` },
    { label: "Conversation", cell: conversation },
    { label: "Message", cell: (r) => key(r.message, "hash of the message", { head: 6, tail: 4 }) },
  ];
  const own = {
    bid: [
      { label: "Counterparty", cell: (r) => who(r.counterparty, r.name) },
      { label: "Value", num: true, cell: value },
    ],
    selection: [{ label: "Counterparty", cell: (r) => who(r.counterparty, r.name) }],
    verifier: [{ label: "Verifier", cell: (r) => who(r.verifier, r.name) }],
    feedback: [
      { label: "From", cell: (r) => who(r.from, r.name) },
      {
        label: "Score",
        num: true,
        cell: (r) =>
          h(
            "span",
            { class: "stack" },
            h(
              "span",
              { class: r.score < 0 ? "alert" : null },
              r.score > 0 ? `+${r.score}` : String(r.score).replace("-", "−"),
            ),
            h("span", { class: "sub" }, OUTCOMES[r.outcome] ?? "?"),
          ),
      },
      { label: "As", cell: (r) => (r.role === 1 ? "notary" : "participant") },
      { label: "Standing", cell: (r) => pill(r.standing) },
      {
        label: "Attestation",
        cell: (r) =>
          /^0*$/.test(r.attestation)
            ? h("span", { class: "muted" }, "none")
            : key(r.attestation, "attestation"),
      },
    ],
  }[kind];
  return table({
    caption: `Records: ${kind}`,
    rows: items,
    columns: [
      ...common,
      ...own,
      { label: "Slot", num: true, cell: (r) => slot(r.slot) },
      {
        label: "Proof",
        class: "tail",
        cell: (r) =>
          h(
            "button",
            {
              type: "button",
              class: "button small-button",
              "aria-label": `Proof of entry ${r.entry}`,
              on: { click: () => proof(path, r, signal) },
            },
            "Proof",
          ),
      },
    ],
  });
}

/** The Merkle proof of a record, in a dialog. */
async function proof(path, record, signal) {
  const place = h("div", { class: "proof" }, skeleton(5));
  const close = h("button", { type: "button", class: "button" }, "Close");
  const dialog = h(
    "dialog",
    { "aria-labelledby": "proof-title" },
    h("h2", { id: "proof-title" }, `Proof of entry #${integer(record.entry)}`),
    place,
    close,
  );
  close.addEventListener("click", () => dialog.close());
  dialog.addEventListener("close", () => dialog.remove());
  signal.addEventListener("abort", () => dialog.close());
  document.body.append(dialog);
  dialog.showModal();
  try {
    const { proof: p } = learn(await get(`${path}/proof`, { record: record.entry }, signal));
    place.replaceChildren(
      pairs(
        [
          ["Packed record", key(record.packed, "packed record", { head: 16, tail: 16 })],
          ["Leaf", key(p.leaf, "leaf", { whole: true })],
          ["Index in the padded tree", integer(p.index)],
          [
            "Path",
            p.path.length
              ? h(
                  "ol",
                  { class: "proof-path" },
                  p.path.map((one) => h("li", { class: "mono break" }, one)),
                )
              : "empty",
          ],
          ["Root", key(p.root, "root", { whole: true })],
          [
            "All of it",
            [copyButton(JSON.stringify({ record: record.packed, ...p }), "proof as JSON"), " as JSON"],
          ],
        ],
        "pairs wide",
      ),
    );
  } catch (error) {
    if (!signal.aborted) place.replaceChildren(failure(error, null));
  }
}
