// Pieces that every page is made of.

import { chainTime, now } from "./api.js";
import { copyText, h, icon, prose, s, say } from "./dom.js";
import {
  ago,
  clock,
  epochDay,
  integer,
  safeName,
  score,
  scoreShort,
  short,
  stamp,
  usdc,
  xno,
} from "./format.js";
import { flag } from "./flags.js";
import { out } from "./out.js";
import { href } from "./route.js";
import { SlotClock } from "./slots.js";

/** When slots were, learned from every answer. */
export const slots = new SlotClock();

/** Learn from any answer: every object with a slot and a time beside it. */
export function learn(value) {
  if (Array.isArray(value)) {
    value.forEach(learn);
  } else if (value && typeof value === "object") {
    if (value.block_time) slots.observe(value.slot ?? value.submitted_slot, value.block_time);
    for (const name of ["items", "recent_events"]) if (Array.isArray(value[name])) value[name].forEach(learn);
    if (value.batch) learn(value.batch);
  }
  return value;
}

/** A button that copies; it says so in its place and to screen readers. */
export function copyButton(text, what) {
  const button = h(
    "button",
    { type: "button", class: "copy", "aria-label": `Copy ${what}`, title: `Copy ${what}` },
    icon("copy", 14),
  );
  button.addEventListener("click", async () => {
    const done = await copyText(text);
    button.replaceChildren(icon(done ? "check" : "cross", 14));
    button.classList.toggle("done", done);
    say(done ? `Copied ${what}` : `Could not copy ${what}; select the text instead.`);
    setTimeout(() => {
      button.replaceChildren(icon("copy", 14));
      button.classList.remove("done");
    }, 1600);
  });
  return button;
}

/** A long key: shortened in the middle, whole in its title and in the clipboard. */
export function key(text, what, { head = 5, tail = 5, link = null, whole = false, leads = null } = {}) {
  if (text === null || text === undefined) return h("span", { class: "muted" }, "none");
  const shown = whole ? String(text) : short(text, head, tail);
  const label = h(link ? "a" : "span", { class: "mono", title: text, href: link }, shown);
  const outside = leads ? out(leads, text) : null;
  return h("span", { class: whole ? "key whole" : "key" }, label, copyButton(String(text), what), outside);
}

// Eight bits of a key make a sign that the eye knows again, where names can lie.
function hashOf(text) {
  let value = 0x811c9dc5;
  for (let i = 0; i < text.length; i += 1) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193);
  value ^= value >>> 15;
  return Math.imul(value, 0x2c1b3c6d) >>> 0;
}

/** The sign of a key: five by five, mirrored. */
export function sign(text, size = 28) {
  const bits = hashOf(String(text));
  const hue = hashOf(`hue${text}`) % 12;
  const cells = [];
  for (let row = 0; row < 5; row += 1) {
    for (let column = 0; column < 3; column += 1) {
      if (((bits >>> (row * 3 + column)) & 1) === 0) continue;
      cells.push(`M${column} ${row}h1v1h-1z`);
      if (column < 2) cells.push(`M${4 - column} ${row}h1v1h-1z`);
    }
  }
  return s(
    "svg",
    {
      class: `sign hue${hue}`,
      width: size,
      height: size,
      viewBox: "-1 -1 7 7",
      "aria-hidden": "true",
      "shape-rendering": "crispEdges",
    },
    s("rect", { x: -1, y: -1, width: 7, height: 7, class: "sign-ground" }),
    s("path", { d: cells.join("") }),
  );
}

/** A name from the ledger, or what to say where there is none. */
export function name(text, fallback = "unnamed") {
  const { text: shown, odd } = safeName(text);
  if (shown === "") return h("span", { class: "muted" }, fallback);
  const node = h("bdi", { class: "name" }, shown);
  if (!odd) return node;
  const note = "This name holds hidden characters; they are shown as \ufffd. Compare the key.";
  return h(
    "span",
    { class: "odd-name" },
    node,
    h("span", { class: "odd", title: note }, icon("warn", 13), h("span", { class: "unseen" }, note)),
  );
}

/** A link to an agent: sign, name, number and the mint's ends. */
export function agentLink(mint, text, { number = null, size = 28 } = {}) {
  return h(
    "span",
    { class: "agent" },
    sign(mint, size),
    h(
      "span",
      { class: "agent-text" },
      h(
        "span",
        { class: "agent-line" },
        h("a", { class: "agent-name", href: href("agents", mint) }, name(text, short(mint))),
        flag(mint),
      ),
      h(
        "span",
        { class: "agent-key mono", title: mint },
        number === null ? "" : `#${number} · `,
        short(mint),
      ),
    ),
  );
}

/** A link to an agent in running text: sign, name, and whether it was slashed. */
export function agentName(mint, text, size = 20) {
  return h(
    "span",
    { class: "party" },
    sign(mint, size),
    h("a", { href: href("agents", mint), title: mint }, name(text, short(mint))),
    flag(mint),
  );
}

/** A transaction: its page here, and where it leads outside. */
export function transaction(signature, slot, { whole = false } = {}) {
  const link = href("events", { signature, from_slot: slot, to_slot: slot });
  return key(signature, "transaction signature", { link, whole, leads: "transaction" });
}

/**
 * A moment, as "3 min ago", with the whole of it in its title. Kept up to date by {@link tick}.
 *
 * @param {number|null} at milliseconds
 * @param {{estimate?: boolean, chain?: boolean}} [options] `chain`: measured by the chain's clock, not the
 *   server's: the two differ on local clusters whose time was moved
 */
export function when(at, { estimate = false, chain = false } = {}) {
  if (at === null || at === undefined || !Number.isFinite(at)) return h("span", { class: "muted" }, "–");
  const date = new Date(at);
  const iso = Number.isNaN(date.getTime()) ? null : date.toISOString();
  return h(
    "time",
    {
      datetime: iso,
      title: `${estimate ? "About " : ""}${stamp(at)}`,
      data: {
        at: String(at),
        estimate: estimate ? "1" : "",
        chain: chain ? "1" : "",
      },
    },
    `${estimate ? "≈ " : ""}${ago(at, chain ? chainTime() : now())}`,
  );
}

/** A slot with its time: known, or reckoned and marked with ≈. */
export function slot(value, blockTime = null) {
  if (value === null || value === undefined) return h("span", { class: "muted" }, "–");
  if (blockTime) slots.observe(value, blockTime);
  const moment = blockTime ? { at: blockTime * 1000, exact: true } : slots.at(value);
  return h(
    "span",
    { class: "slot" },
    moment ? when(moment.at, { estimate: !moment.exact, chain: true }) : null,
    h("span", { class: "slot-number" }, `slot ${integer(value)}`),
  );
}

/** An epoch: its day and its number. */
export function epoch(value, link = null) {
  if (value === null || value === undefined) return h("span", { class: "muted" }, "–");
  const day = h(link ? "a" : "span", { href: link, class: "nowrap" }, epochDay(value));
  return h("span", { class: "epoch" }, day, h("span", { class: "slot-number" }, `epoch ${integer(value)}`));
}

/** An amount with its unit; what was cut off stands in the title. */
function money(value, empty) {
  if (!value) return h("span", { class: "muted" }, empty);
  return h(
    "span",
    { class: "money", title: value.exact },
    value.text,
    h("span", { class: "unit" }, ` ${value.unit}`),
    value.cut ? h("span", { class: "unseen" }, ` (exactly ${value.exact})`) : null,
  );
}
export const dollars = (micro, empty = "none", most = 6) => money(usdc(micro, most), empty);
export const nano = (raw, empty = "none") => money(xno(raw), empty);

/** An amount that stands in XNO already, as the market writes it. */
export function xnoText(text) {
  return h("span", { class: "money" }, text, h("span", { class: "unit" }, " XNO"));
}

/** A score with a bar from the neutral middle. */
export function scoreBar(thousandths) {
  if (typeof thousandths !== "number") return h("span", { class: "muted" }, "–");
  const bar = h("span", { class: thousandths < 0 ? "bar-fill below" : "bar-fill", "aria-hidden": "true" });
  bar.style.setProperty("--part", String(Math.min(1, Math.abs(thousandths) / 100_000)));
  return h(
    "span",
    { class: "score", title: `exactly ${score(thousandths)}` },
    h("span", { class: "score-text" }, scoreShort(thousandths)),
    h("span", { class: "bar-track", "aria-hidden": "true" }, bar),
  );
}

const STATES = {
  active: ["ok", "check"],
  grace: ["warn", "clock"],
  deactivated: ["bad", "cross"],
  none: ["off", "info"],
  served: ["ok", "check"],
  missing: ["bad", "warn"],
  withheld: ["bad", "warn"],
  live: ["ok", "check"],
  later: ["info", "clock"],
  idle: ["warn", "pause"],
  ended: ["off", "lock"],
  current: ["ok", "check"],
  held: ["warn", "lock"],
  unlocking: ["warn", "clock"],
  slashed: ["bad", "cross"],
  expired: ["off", "clock"],
  open: ["info", "clock"],
  investigating: ["info", "search"],
  in_progress: ["info", "bolt"],
  review: ["warn", "clock"],
  disputed: ["bad", "scale"],
  halted: ["warn", "pause"],
  backed_out: ["warn", "leave"],
  unfunded: ["off", "clock"],
  fulfilled: ["ok", "check"],
  canceled: ["off", "cross"],
  resolved: ["ok", "scale"],
  voided: ["off", "cross"],
  answered: ["ok", "check"],
  unanswered: ["bad", "warn"],
  succeeded: ["bad", "cross"],
  empty: ["off", "cross"],
  shown: ["ok", "check"],
  overdue: ["bad", "warn"],
  settled: ["off", "check"],
  closed: ["off", "lock"],
  bound: ["ok", "check"],
  left_out: ["warn", "warn"],
  unbound: ["off", "info"],
  repeated: ["off", "info"],
  owed: ["warn", "clock"],
  signed: ["info", "clock"],
  claimed: ["info", "info"],
  confirmed: ["ok", "check"],
  wrong: ["bad", "cross"],
  over: ["off", "check"],
  valid: ["ok", "check"],
  invalid: ["bad", "cross"],
};

const PICTURES = { bad: "cross", warn: "warn", ok: "check", info: "info" };

/** A pill of a grade. */
export function graded(grade, text) {
  return h("span", { class: "pill", data: { grade } }, icon(PICTURES[grade] ?? "info", 13), text);
}

/** A state: a colour, a picture and a word, so that none has to be told by colour alone. */
export function pill(state, text = null) {
  const word = String(state ?? "").toLowerCase();
  const [grade, picture] = STATES[word] ?? ["off", "info"];
  return h("span", { class: "pill", data: { grade } }, icon(picture, 13), text ?? word.replaceAll("_", " "));
}

/**
 * A running timer to a deadline in milliseconds. Silent for screen readers, who can read it when they want.
 */
export function timer(deadline) {
  if (deadline === null || deadline === undefined) return h("span", { class: "muted" }, "–");
  const node = h("span", {
    class: "timer",
    role: "timer",
    "aria-live": "off",
    title: `Until ${stamp(deadline)}`,
    data: {
      deadline: String(deadline),
    },
  });
  runTimer(node);
  return node;
}

/** A timer that runs upward: how long something has lasted. */
export function lasting(since, what) {
  if (since === null || since === undefined) return h("span", { class: "muted" }, "–");
  const node = h("span", {
    class: "timer",
    role: "timer",
    "aria-live": "off",
    title: `Since ${stamp(since)}`,
    data: {
      since: String(since),
      what,
    },
  });
  runSince(node);
  return node;
}

function runSince(node) {
  const text = `${clock(now() - Number(node.dataset.since))} ${node.dataset.what}`;
  if (node.textContent !== text) node.textContent = text;
}

function runTimer(node) {
  const left = Number(node.dataset.deadline) - now();
  const text = left > 0 ? `${clock(left)} left` : "due";
  if (node.textContent !== text) node.textContent = text;
  node.dataset.urgent = left > 0 && left < 15_000 ? "1" : "";
}

/** Bring timers and "ago" up to date. Called once a second by the shell; only changed texts are touched. */
export function tick(count) {
  for (const node of document.querySelectorAll("[data-deadline]")) runTimer(node);
  for (const node of document.querySelectorAll("[data-since]")) runSince(node);
  if (count % 5 !== 0) return;
  for (const node of document.querySelectorAll("time[data-at]")) {
    const present = node.dataset.chain ? chainTime() : now();
    const text = `${node.dataset.estimate ? "≈ " : ""}${ago(Number(node.dataset.at), present)}`;
    if (node.textContent !== text) node.textContent = text;
  }
}

/** Pairs of names and values. */
export function pairs(list, className = "pairs") {
  return h(
    "dl",
    { class: className },
    list
      .filter(Boolean)
      .map(([term, ...values]) => h("div", null, h("dt", null, term), h("dd", null, values))),
  );
}

/** A figure with its name and a remark. */
export function figure(term, value, remark = null, link = null) {
  return h(
    "div",
    { class: "figure" },
    h("dt", null, link ? h("a", { href: link }, term) : term),
    h("dd", null, h("span", { class: "figure-value" }, value), h("span", { class: "figure-remark" }, remark)),
  );
}

/** A section with a heading, something beside it, and its body. */
export function section(title, id, { lead = null, beside = null, level = 2 } = {}, ...body) {
  const heading = h(`h${level}`, { id }, title);
  return h(
    "section",
    { class: "section", "aria-labelledby": id },
    h(
      "div",
      { class: "section-head" },
      heading,
      beside,
      lead ? h("p", { class: "section-lead" }, lead) : null,
    ),
    body,
  );
}

/** Grey lines in the place of what is under way. */
export function skeleton(lines = 4) {
  return h(
    "div",
    { class: "skeleton", "aria-hidden": "true" },
    Array.from({ length: lines }, () => h("i")),
  );
}

/** Nothing there, and why that may be so. */
export function empty(title, text = null) {
  return h(
    "div",
    { class: "empty" },
    h("p", { class: "empty-title" }, title),
    text ? h("p", null, prose(text)) : null,
  );
}

/** What went wrong, and a way to try again. */
export function failure(error, retry) {
  const number = error.code ? h("span", { class: "code" }, `refusal ${error.code}`) : null;
  return h(
    "div",
    { class: "failure", role: "alert" },
    icon("warn", 18),
    h("div", null, h("p", null, prose(error.message)), number),
    retry ? h("button", { type: "button", class: "button", on: { click: retry } }, "Try again") : null,
  );
}

/**
 * Load into a place: grey lines first (or what was there last), then the answer, or what went wrong with a
 * way
 * to try again. Returns a function that loads anew.
 *
 * @param {Element} place
 * @param {{load: () => Promise<any>, draw: (data: any) => Node|Node[], signal: AbortSignal, lines?: number,
 *   last?: any}} plan
 */
export function loadInto(place, { load, draw, signal, lines = 4, last = null }) {
  let running = 0;
  const show = (data) => {
    // Whoever stands on a control inside stays on its successor.
    const active = place.contains(document.activeElement) ? document.activeElement.dataset.keep : null;
    place.replaceChildren(...[draw(data)].flat().filter(Boolean));
    if (active) place.querySelector(`[data-keep="${CSS.escape(active)}"]`)?.focus({ preventScroll: true });
  };
  const run = async ({ quiet = false } = {}) => {
    running += 1;
    const mine = running;
    place.setAttribute("aria-busy", "true");
    if (!quiet && last) show(last);
    else if (!quiet && (place.childElementCount === 0 || place.querySelector(".failure"))) {
      place.replaceChildren(skeleton(lines));
    }
    try {
      const data = learn(await load());
      if (signal.aborted || mine !== running) return;
      show(data);
    } catch (error) {
      if (signal.aborted || mine !== running) return;
      if (!("status" in error)) console.error(error);
      // A quiet refresh that fails leaves what is there; the banner tells that it is old.
      if (!quiet || place.querySelector(".skeleton")) {
        const note = failure(error, () => {
          run();
          // The button is gone: the focus stays in its place.
          place.tabIndex = -1;
          place.focus({ preventScroll: true });
        });
        // What was there last is better than nothing when nobody answers; a refusal is the newer answer.
        if (!quiet && last && error.status === 0) place.prepend(note);
        else place.replaceChildren(note);
      }
    } finally {
      if (mine === running) place.removeAttribute("aria-busy");
    }
  };
  run();
  return run;
}

/**
 * The table of a list. On narrow screens its rows become cards, with the columns' names before the values.
 */
export function table({ caption, columns, rows, rowClass = null }) {
  const shown = columns.filter(Boolean);
  const head = h(
    "tr",
    { role: "row" },
    shown.map((column) =>
      h(
        "th",
        {
          scope: "col",
          role: "columnheader",
          class: column.num ? "num" : null,
          "aria-sort": column.sorted ?? null,
          title: column.title ?? null,
        },
        column.head ?? column.label,
      ),
    ),
  );
  const body = rows.map((row) =>
    h(
      "tr",
      { role: "row", class: rowClass?.(row) },
      shown.map((column, i) =>
        h(
          i === 0 ? "th" : "td",
          {
            scope: i === 0 ? "row" : null,
            role: i === 0 ? "rowheader" : "cell",
            class: [column.num ? "num" : "", column.class ?? ""].join(" ").trim() || null,
            data: { label: column.label },
          },
          column.cell(row),
        ),
      ),
    ),
  );
  return h(
    "div",
    { class: "table-wrap", role: "region", "aria-label": caption, tabindex: 0 },
    h(
      "table",
      { role: "table" },
      h("caption", { class: "unseen" }, caption),
      h("thead", { role: "rowgroup" }, head),
      h("tbody", { role: "rowgroup" }, body),
    ),
  );
}
