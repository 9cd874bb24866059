// One agent: what its owner wants to know in five seconds first, then everything.

import { remarks } from "../advice.js";
import { get, last } from "../api.js";
import { isUntaken, presentStake } from "../authority.js";
import { h, icon } from "../dom.js";
import { flag } from "../flags.js";
import { epochDay, integer, plural, safeName, score, short, stamp } from "../format.js";
import {
  copyButton,
  dollars,
  empty,
  figure,
  graded,
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
  when,
} from "../parts.js";
import { href } from "../route.js";
import { chainNow, onStatus } from "../shell.js";
import { standingOf, successRate } from "../standings.js";
import { term } from "../term.js";
import { keyTable, stakeTable, tenureTable, wallet } from "./agent-authority.js";
import { drawPlots, isAlive } from "./agent-plots.js";
import { askTable } from "./asks.js";
import { batchTable } from "./batches.js";
import { challengeTable } from "./challenges.js";
import { contractTable } from "./contracts.js";
import { eventTable } from "./events.js";

const GRADES = { bad: "cross", warn: "warn", ok: "check", info: "info" };

export default function agentPage(context) {
  const {
    params: { mint },
    signal,
    setTitle,
  } = context;
  const path = `/v1/agents/${encodeURIComponent(mint)}`;
  const top = h(
    "header",
    { class: "agent-top" },
    sign(mint, 56),
    h(
      "div",
      { class: "agent-names" },
      h("h1", { tabindex: -1 }, "Agent ", h("span", { class: "mono" }, short(mint))),
      h("p", { class: "agent-ids" }, key(mint, "mint")),
    ),
  );
  const body = h("div", { class: "page-body" });
  const load = (call, query = {}) => get(`${path}${call}`, query, signal);
  loadInto(body, {
    signal,
    lines: 24,
    last: last(path),
    load: () => load(""),
    draw: (answer) => {
      const { agent } = answer;
      setTitle(safeName(agent.name).text || short(mint));
      drawTop(top, agent);
      return [
        drawStanding(agent, signal),
        drawFigures(agent),
        ...sections(agent, answer, { path, load, signal }),
      ];
    },
  });
  return { title: `Agent ${short(mint)}`, node: h("article", { class: "page agent-page" }, top, body) };
}

function drawTop(top, agent) {
  const names = top.querySelector(".agent-names");
  const focused = names.contains(document.activeElement);
  const heading = h(
    "h1",
    { tabindex: -1 },
    name(agent.name),
    agent.standing.startsWith("slashed") ? [" ", graded(...standingOf(agent.standing))] : null,
  );
  names.replaceChildren(
    heading,
    h(
      "p",
      { class: "agent-ids" },
      h("span", null, `agent #${integer(agent.number)}`),
      h("span", null, "mint ", key(agent.mint, "mint")),
      agent.owner
        ? h("span", null, "owner ", wallet(agent.owner, "owner's wallet"))
        : h("span", { class: "alert" }, "no owner"),
      agent.tenure
        ? h(
            "span",
            null,
            `tenure ${integer(agent.tenure.number)}`,
            agent.tenure.from_epoch === null ? null : [" since ", day(agent.tenure.from_epoch)],
          )
        : h("span", { class: "alert" }, "no tenure"),
      isUntaken(agent) ? h("span", { class: "alert" }, "not taken over") : null,
    ),
  );
  if (focused) heading.focus({ preventScroll: true });
}

/** The first five seconds: can one rely on it, and what its owner should know. */
function drawStanding(agent, signal) {
  const place = h("section", { class: "standing", "aria-label": "Standing" });
  const [grade, , headline] = standingOf(agent.standing);
  const draw = () => {
    const list = remarks(agent, chainNow());
    place.dataset.grade = grade;
    place.replaceChildren(
      h(
        "p",
        { class: "standing-word" },
        icon(GRADES[grade], 20),
        h(
          "span",
          null,
          headline,
          agent.standing.startsWith("slashed") && agent.slashed_slot !== null
            ? [" ", h("span", { class: "standing-when" }, slot(agent.slashed_slot))]
            : null,
        ),
      ),
      h(
        "ul",
        null,
        list.map((one) =>
          h("li", { data: { grade: one.grade } }, icon(GRADES[one.grade], 15), h("span", null, one.text)),
        ),
      ),
    );
  };
  draw();
  // The epoch may not have been known when the agent was.
  onStatus(draw, signal);
  return place;
}

// A date is not broken at its hyphens.
const day = (epoch) => h("span", { class: "nowrap" }, epochDay(epoch));

function drawFigures(agent) {
  const { lease, batches, challenges, nano: balance, work } = agent;
  const present = presentStake(agent);
  const waiting =
    balance?.receivable_raw && balance.receivable_raw !== "0"
      ? [nano(balance.receivable_raw), " of it to receive"]
      : null;
  const rate = successRate(work.repaired, work.not_repaired);
  return h(
    "dl",
    { class: "figures four" },
    figure(
      "Earned",
      nano(work.earned_raw, "unknown"),
      agent.parties.length > 0 ? "for repairs, its own deposits left out" : "no key of it is known at markets",
    ),
    figure(
      "Contracts",
      integer(work.contracts),
      work.contracts === 0
        ? "none taken yet"
        : `${integer(work.repaired)} repaired, ${integer(work.not_repaired)} not, ${integer(work.under_way)} under way`,
    ),
    figure(
      term("success rate", "Success rate"),
      rate ?? h("span", { class: "muted" }, "none yet"),
      rate ? `of ${plural(work.repaired + work.not_repaired, "ended contract")}` : "no contract has ended",
    ),
    figure(
      "Nano balance",
      balance
        ? balance.total_raw === null
          ? h("span", { class: "muted" }, "unknown")
          : nano(balance.total_raw)
        : h("span", { class: "muted" }, "not bound"),
      balance
        ? balance.total_raw === null
          ? "the Nano node was not asked yet"
          : (waiting ?? ["seen ", when(seconds(balance.checked))])
        : "no binding record proves an account",
    ),
    figure(
      term("stake", "Stake"),
      agent.stakes.length > 0 ? dollars(agent.staked_micro_usdc, "none", 2) : dollars(null),
      agent.stakes.length > 1
        ? `of ${plural(agent.stakes.length, "era")}`
        : present
          ? present.slashed_slot === null
            ? ["locked ", slot(present.locked_since_slot)]
            : ["slashed ", slot(present.slashed_slot)]
          : agent.stakes.length === 1
            ? `of era ${integer(agent.stakes[0].era)}`
            : "nothing is locked",
    ),
    figure(
      term("lease", "Lease"),
      pill(lease.state, lease.state === "none" ? "no lease" : null),
      lease.paid_through_epoch === null ? "never paid" : ["paid through ", day(lease.paid_through_epoch)],
    ),
    figure(
      "Batches",
      integer(batches.count),
      batches.last_epoch === null ? "none yet" : ["last for ", day(batches.last_epoch)],
    ),
    figure(
      "Challenges lost",
      integer(challenges.lost),
      `${integer(challenges.open)} open, ${integer(challenges.answered)} answered`,
    ),
    figure("Last active", slot(agent.last_active_slot), ["registered ", slot(agent.registered_slot)]),
  );
}

function sections(agent, answer, { path, load, signal }) {
  const place = (lines, plan) => {
    const node = h("div", { class: "hold" });
    loadInto(node, { signal, lines, ...plan });
    return node;
  };
  return [
    section(
      "Contracts",
      "contracts",
      {
        beside:
          agent.work.contracts > 0
            ? h("a", { class: "more", href: href("contracts", { agent: agent.mint }) }, "All of its contracts")
            : null,
      },
      place(4, {
        load: () => get("/v1/contracts", { agent: agent.mint, limit: 8 }, signal),
        draw: ({ items }) =>
          items.length
            ? contractTable(items)
            : empty("It took no contract yet.", "They appear when it takes one on a market that this indexer mirrors."),
      }),
    ),
    section(
      "Reputation",
      "reputation",
      {
        lead:
          "Of the present tenure: who buys an agent gets no reputation with it. What batches prove counts; what was " +
          "heard in real time is for information; unbound ratings belong to no known task.",
      },
      reputation(agent),
    ),
    section(
      "Tenures",
      "tenures",
      { lead: "Whose turn the agent was. A take-over ends all keys and the era of the stake." },
      tenureTable(agent),
    ),
    section(
      "Keys",
      "keys",
      {
        lead: "What was signed with them counts in the epochs from the first to the last, whatever was ended since.",
      },
      watched(signal, () => keyTable(agent, chainNow())),
    ),
    section(
      "Stakes",
      "stakes",
      { lead: "Each era answers with its own stake for its own batches. A slash or a take-over ends it." },
      watched(signal, () => stakeTable(agent, chainNow())),
    ),
    section(
      "Over the epochs",
      "epochs",
      {},
      place(8, {
        last: last(`${path}/history`),
        load: () => load("/history"),
        draw: ({ epochs }) =>
          epochs.some(isAlive)
            ? drawPlots(epochs)
            : empty("No epoch yet.", "Plots begin with the first lease or stake."),
      }),
    ),
    section(
      "Batches",
      "batches",
      {},
      place(8, {
        load: () => load("/batches", { limit: 8 }),
        draw: ({ items, next }) =>
          items.length
            ? [
                batchTable(items, { one: true }),
                next
                  ? more(
                      `All ${integer(agent.batches.count)} batches`,
                      href("batches", { agent: agent.mint }),
                    )
                  : null,
              ]
            : empty("No batch was submitted yet.", "Batches can be submitted for each completed epoch."),
      }),
    ),
    h(
      "div",
      { class: "halves" },
      section(
        "Counterparties",
        "counterparties",
        {},
        place(8, {
          load: () => load("/counterparties", { limit: 8 }),
          draw: ({ items }) =>
            items.length
              ? counterparties(items)
              : empty(
                  "No counterparty is known.",
                  "They are read from the batches' bids, selections, verifiers and feedback.",
                ),
        }),
      ),
      section(
        "Ratings received",
        "ratings",
        {},
        place(8, {
          load: () => load("/ratings", { limit: 8 }),
          draw: ({ items }) => (items.length ? ratings(items) : empty("No rating was received yet.")),
        }),
      ),
    ),
    section(
      "Challenges",
      "challenges",
      {},
      place(4, {
        load: () => load("/challenges", { limit: 20 }),
        draw: ({ items }) =>
          items.length
            ? challengeTable(items, { one: true })
            : empty("No batch of this agent was challenged."),
      }),
    ),
    section(
      "Asks",
      "asks",
      { lead: "Leaves of its batches that somebody paid to see." },
      place(4, {
        load: () => load("/asks", { limit: 20 }),
        draw: ({ items, next }) =>
          items.length
            ? [
                askTable(items, { one: true }),
                next ? more("All asks for its leaves", href("asks", { agent: agent.mint })) : null,
              ]
            : empty("No leaf of this agent's batches was asked for."),
      }),
    ),
    section("Identity", "identity", {}, identity(agent)),
    section(
      "Latest events on chain",
      "events",
      {
        beside: h(
          "a",
          { class: "more", href: href("events", { agent: agent.mint }) },
          "All events of this agent",
        ),
      },
      answer.recent_events.length
        ? eventTable(answer.recent_events.slice(0, 8), { one: true })
        : empty("No event of this agent was seen."),
      h(
        "p",
        { class: "rests small muted" },
        "This answer rests on the agent's digest on chain: ",
        key(answer.digest, "digest", { head: 8, tail: 8 }),
        ", read at ",
        slot(answer.slot),
        ".",
      ),
    ),
  ];
}

/** A part that follows the chain's epoch and slot, which may not have been known when the agent was. */
function watched(signal, make) {
  const place = h("div", { class: "hold" });
  let drawn = null;
  onStatus(() => {
    const { epoch } = chainNow();
    if (drawn === epoch) return;
    drawn = epoch;
    place.replaceChildren(make());
  }, signal);
  if (drawn === null) place.replaceChildren(make());
  return place;
}

const more = (text, link) => h("p", { class: "more-line" }, h("a", { href: link }, text));

const seconds = (value) => (Number.isFinite(value) && value > 0 ? value * 1000 : null);

const ROWS = [
  ["Reliability", "reliability", score],
  ["Cooperation", "cooperation", score],
  ["Notary accuracy", "notary", score],
  ["Tasks", "tasks", integer],
  ["Notarized", "notarized", integer],
  ["Disputes", "disputes", integer],
  ["Batches counted", "batches", integer],
  ["Last active", "last_active_slot", null],
];

function reputation(agent) {
  const { batch, unbound, real_time: realTime, tally, as_of_epoch: asOf } = agent.reputation_detail;
  const columns = [
    ["From batches", batch, "counts"],
    ["Real time", realTime, "for info"],
    ["Unbound", unbound, "no weight"],
  ];
  const cell = (vector, field, text) => {
    if (!vector) return "–";
    if (text === null)
      return vector[field] > 0 ? slot(vector[field]) : h("span", { class: "muted" }, "never");
    if (text !== score) return text(vector[field]);
    return scoreCell(vector[field]);
  };
  const body = ROWS.map(([label, field, text]) =>
    h(
      "tr",
      null,
      h("th", { scope: "row" }, label),
      columns.map(([, vector], i) =>
        h("td", { class: i === 0 ? "num main" : "num" }, cell(vector, field, text)),
      ),
    ),
  );
  return [
    h(
      "div",
      { class: "table-wrap", role: "region", tabindex: 0, "aria-label": "Reputation vectors" },
      h(
        "table",
        { class: "vectors" },
        h("caption", { class: "unseen" }, "Reputation from batches, in real time, and of unbound ratings"),
        h(
          "thead",
          null,
          h(
            "tr",
            null,
            h("td", null),
            columns.map(([title, , note]) =>
              h("th", { scope: "col", class: "num" }, title, h("span", { class: "sub" }, note)),
            ),
          ),
        ),
        h("tbody", null, body),
      ),
    ),
    h(
      "p",
      { class: "small muted" },
      `Ratings: ${integer(tally.bound)} bound, ${integer(tally.left_out)} left out by a batch but counted, ` +
        `${integer(tally.unbound)} unbound, ${integer(tally.repeated)} repeated. ` +
        `As of epoch ${epochDay(asOf)}.`,
      agent.elo === null ? "" : ` Elo ${integer(agent.elo)}.`,
    ),
    left(agent),
  ];
}

/** What no reputation rests on: epochs without a batch, and batches that count for nothing. */
function left(agent) {
  const { tenures, batches } = agent;
  // What a tenure left open up to its end is known before the next one has a batch.
  const uncovered = tenures.reduce((sum, one) => sum + one.uncovered_epochs, 0);
  const notes = [
    uncovered > 0 ? `${plural(uncovered, "epoch")} that no batch covers` : null,
    batches.withheld > 0 ? `${plural(batches.withheld, "withheld batch", "withheld batches")}` : null,
    batches.missing > 0 ? `${plural(batches.missing, "batch", "batches")} without data` : null,
  ].filter(Boolean);
  if (notes.length === 0)
    return h("p", { class: "small muted" }, "No epoch is uncovered and no batch is withheld.");
  return h("p", { class: "small alert" }, `Left out, over all tenures: ${notes.join(", ")}.`);
}

function scoreCell(value) {
  const bar = h("span", { class: value < 0 ? "bar-fill below" : "bar-fill" });
  bar.style.setProperty("--part", String(Math.min(1, Math.abs(value) / 100_000)));
  return h(
    "span",
    { class: "score wide" },
    h("span", { class: "score-text" }, score(value)),
    h("span", { class: "bar-track", "aria-hidden": "true" }, bar),
  );
}

function party(mint, text) {
  return h(
    "span",
    { class: "party" },
    sign(mint, 20),
    h(
      "a",
      { href: href("agents", mint), title: mint },
      text ? name(text) : h("span", { class: "mono" }, short(mint)),
    ),
    flag(mint),
  );
}

function counterparties(items) {
  return table({
    caption: "Counterparties, the latest first",
    rows: items,
    columns: [
      { label: "Agent", cell: (one) => party(one.agent, one.name) },
      { label: "Bids", num: true, class: "third", cell: (one) => integer(one.bids) },
      { label: "Selections", num: true, class: "third", cell: (one) => integer(one.selections) },
      {
        label: "Ratings",
        num: true,
        class: "third",
        title: "given and received",
        cell: (one) =>
          h(
            "span",
            { class: "nowrap" },
            `${integer(one.ratings_given)} given, ${integer(one.ratings_received)} received`,
          ),
      },
      { label: "Last", num: true, cell: (one) => slot(one.last_slot) },
    ],
  });
}

const OUTCOMES = ["negative", "neutral", "positive"];
const BOUND = { selection: "a selection", verifier: "a verifier", contract: "a settled contract" };

function ratings(items) {
  return table({
    caption: "Ratings received, the newest first",
    rows: items,
    columns: [
      { label: "From", cell: (one) => party(one.from, one.from_name) },
      {
        label: "Score",
        num: true,
        cell: (one) =>
          h(
            "span",
            { class: "stack" },
            h(
              "span",
              { class: one.score < 0 ? "alert" : null },
              one.score > 0 ? `+${one.score}` : String(one.score).replace("-", "−"),
            ),
            h("span", { class: "sub" }, OUTCOMES[one.outcome] ?? "?"),
          ),
      },
      { label: "As", cell: (one) => (one.role === 1 ? "notary" : "participant") },
      {
        label: "Bound by",
        cell: (one) =>
          h(
            "span",
            { class: "stack" },
            BOUND[one.binding] ?? h("span", { class: "muted" }, "nothing"),
            h("span", { class: "sub" }, [
              one.in_batch ? "in a batch" : "not in a batch",
              one.is_dispute ? ", disputed" : "",
            ]),
          ),
      },
      { label: "When", num: true, cell: (one) => slot(one.slot, micros(one.timestamp_micros)) },
    ],
  });
}

function micros(text) {
  const value = Number(text) / 1e6;
  return Number.isFinite(value) && value > 0 ? value : null;
}

function identity(agent) {
  const delegates =
    agent.delegates.length === 0
      ? "none"
      : agent.delegates.map((one) =>
          h(
            "span",
            { class: "line" },
            key(one.delegate, "attested key"),
            pill(one.live ? "info" : "expired", one.live ? "not expired" : "expired"),
            one.expiry > 0 ? ` until ${stamp(one.expiry * 1000)}` : " without end",
          ),
        );
  const { nano: balance } = agent;
  return pairs(
    [
      ["Mint", key(agent.mint, "mint", { whole: true, leads: "account" })],
      [
        "Owner",
        agent.owner ? key(agent.owner, "owner's wallet", { whole: true, leads: "account" }) : "nobody now",
      ],
      [
        "At markets",
        agent.parties.length
          ? agent.parties.map((one) =>
              h("span", { class: "line" }, key(one, "party's key", { whole: true, link: href("contracts", { party: one }) })),
            )
          : "no key is known",
      ],
      [
        "Token account",
        agent.token_account ? key(agent.token_account, "token account", { whole: true }) : "none",
      ],
      ["Member index", key(agent.member_index, "member index", { whole: true })],
      ["Registered", slot(agent.registered_slot)],
      ["Transfer", agent.soulbound ? "cannot be transferred" : "can be transferred"],
      // Shown, not linked: an address from outside is only text here.
      [
        "Metadata address",
        agent.uri
          ? [
              h("span", { class: "mono break" }, safeName(agent.uri).text),
              copyButton(agent.uri, "metadata address"),
            ]
          : "none",
      ],
      [
        "DelegateV1 attestations",
        [h("span", { class: "muted" }, "of SATI; they give no authority: "), delegates],
      ],
      ["Nano account", balance ? key(balance.address, "Nano account", { whole: true, leads: "nano_account" }) : "not bound"],
      ["Slashed", dollars(agent.slashed_micro_usdc)],
      ["Fined", dollars(agent.fined_micro_usdc)],
      ["Digest of batches", key(agent.batches.digest, "digest of batches", { whole: true })],
      ...agent.metadata.map(([field, value]) => [name(field), name(value, "empty")]),
    ],
    "pairs wide",
  );
}
