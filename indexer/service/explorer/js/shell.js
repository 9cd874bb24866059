// What stands around every page: navigation, search, the state of the service, colours, the ticking of
// timers.

import { get, noteChainTime, now, onAnswer } from "./api.js";
import { h, icon, s, say } from "./dom.js";
import { watchFlags } from "./flags.js";
import { integer } from "./format.js";
import { health } from "./health.js";
import { setLinks } from "./out.js";
import { slots, tick } from "./parts.js";
import { href, jump } from "./route.js";

const POLL_MS = 10_000;
const NAV = [
  ["overview", "Overview", []],
  ["agents", "Agents", ["agents"]],
  ["contracts", "Contracts", ["contracts"]],
  ["feed", "Events", ["feed"]],
  ["feedback", "Feedback", ["feedback"]],
  ["verify", "Verify", ["verify"]],
];
// Which entry of the navigation a page belongs to.
const HOME = {
  agent: "agents",
  batch: "agents",
  batches: "agents",
  challenges: "agents",
  challenge: "agents",
  asks: "agents",
  ask: "agents",
  contract: "contracts",
  events: "feed",
  network: "overview",
  mesh: "overview",
};

/** What the page knows of the service. */
export const service = { status: null, answeredAt: null, failed: false };
const watchers = new Set();

/** Be told of every new answer of /v1/status, and of the present one at once. */
export function onStatus(watcher, signal) {
  watchers.add(watcher);
  signal.addEventListener("abort", () => watchers.delete(watcher));
  if (service.status) watcher(service.status);
}

/** Build the shell and start its clocks. */
export function start() {
  const links = NAV.map(([page, text, path]) =>
    h("a", { href: href(...path), data: { page } }, icon(page, 20), text),
  );
  const dot = h("span", { class: "dot", "aria-hidden": "true" });
  const word = h("span", { class: "word" }, "…");
  const slot = h("span", { class: "slot" });
  const state = h(
    "a",
    { class: "link-state", href: href("status") },
    dot,
    h("span", { class: "unseen" }, "Service status: "),
    word,
    slot,
  );
  document
    .getElementById("top")
    .append(
      h(
        "div",
        { class: "bar" },
        h("a", { class: "brand", href: href() }, mark(), "zx1 ", h("small", null, "explorer")),
        h("nav", { class: "nav", "aria-label": "Pages" }, links),
        search(),
        state,
        theme(),
      ),
    );
  document
    .getElementById("foot")
    .append(
      h(
        "div",
        null,
        h("span", null, "Read from the ledgers; anyone can rebuild it."),
        h("a", { href: href("network") }, "Network figures"),
        h("a", { href: href("mesh") }, "Mesh"),
        h("a", { href: href("batches") }, "Batches"),
        h("a", { href: href("challenges") }, "Challenges"),
        h("a", { href: href("asks") }, "Asks"),
        h("a", { href: href("events") }, "Ledger events"),
        h("a", { href: href("status") }, "Service status"),
        h("a", { href: "/openapi.json" }, "API"),
      ),
    );

  const draw = () => drawState({ dot, word, slot });
  onAnswer((ok) => {
    service.failed = !ok;
    if (ok) service.answeredAt = Date.now();
  });
  const poll = async () => {
    if (document.hidden && service.status) return;
    try {
      service.status = await get("/v1/status");
      slots.observe(service.status.chain_slot, service.status.chain_time);
      noteChainTime(service.status.chain_time);
      setLinks(service.status.links);
      for (const watcher of watchers) watcher(service.status);
    } catch (error) {
      if (error.name !== "ApiError") console.error(error);
    }
    draw();
  };
  poll();
  watchFlags();
  setInterval(poll, POLL_MS);
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) poll();
  });
  let count = 0;
  setInterval(() => {
    if (document.hidden) return;
    count += 1;
    tick(count);
    if (service.failed) draw();
  }, 1000);
}

/** Mark the page in the navigation. */
export function markPage(page) {
  const home = HOME[page] ?? page;
  for (const link of document.querySelectorAll(".nav a")) {
    if (link.dataset.page === home) link.setAttribute("aria-current", page === home ? "page" : "true");
    else link.removeAttribute("aria-current");
  }
}

function mark() {
  return s(
    "svg",
    { width: 22, height: 22, viewBox: "0 0 32 32", "aria-hidden": "true" },
    s("rect", { width: 32, height: 32, rx: 7, fill: "#0b5f54" }),
    s("path", {
      d: "M8 10h10l-10 12h10",
      fill: "none",
      stroke: "#fff",
      "stroke-width": 3,
      "stroke-linecap": "round",
      "stroke-linejoin": "round",
    }),
    s("circle", { cx: 24, cy: 22, r: 2.2, fill: "#8fe3d2" }),
  );
}

function search() {
  const field = h("input", {
    type: "search",
    id: "jump",
    autocomplete: "off",
    spellcheck: "false",
    autocapitalize: "off",
    placeholder: "Search",
    title: "An agent, an address, a transaction, a slot, a day, a contract, a Nano account or block",
    "aria-label": "Search for an agent, an address, a transaction, a slot, a day, a contract, a Nano account or block",
    "aria-keyshortcuts": "/",
  });
  document.addEventListener("keydown", (event) => {
    const inField = event.target.closest?.("input, textarea, select, [contenteditable]");
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || inField) return;
    event.preventDefault();
    field.focus();
    field.select();
  });
  return h(
    "form",
    {
      class: "jump",
      role: "search",
      on: {
        submit: (event) => {
          event.preventDefault();
          const to = jump(field.value);
          if (to) {
            location.hash = to.slice(1);
            field.value = "";
          }
        },
      },
    },
    icon("search", 16),
    field,
    h("kbd", { class: "jump-key", "aria-hidden": "true" }, "/"),
  );
}

let saidWord = null;

function drawState({ dot, word, slot }) {
  const { status, answeredAt, failed } = service;
  const now_ = Date.now();
  const verdict = health(status, { answeredAt, failed, now: now_, slotMs: slots.rate() });
  dot.dataset.grade = verdict.grade;
  word.textContent = verdict.word;
  slot.textContent = status ? `slot ${integer(status.slot)}` : "";
  const banner = document.getElementById("banner");
  if (!verdict.sentence) {
    banner.replaceChildren();
  } else if (banner.textContent !== verdict.sentence) {
    banner.replaceChildren(
      h("p", { data: { grade: verdict.grade } }, icon("warn", 16), h("span", null, verdict.sentence)),
    );
  }
  // Its number of seconds changes all the time; readers hear it once, when the kind changes.
  if (saidWord !== null && saidWord !== verdict.word)
    say(verdict.sentence ?? "The indexer is up to date again.");
  if (verdict.grade !== "wait") saidWord = verdict.word;
}

const THEMES = [
  ["auto", "the system's colours"],
  ["light", "light colours"],
  ["dark", "dark colours"],
];
const PICTURES = { auto: "auto", light: "sun", dark: "moon" };

function theme() {
  const button = h("button", { type: "button", class: "icon-button" });
  let at = Math.max(
    0,
    THEMES.findIndex(([choice]) => choice === document.documentElement.dataset.theme),
  );
  const draw = () => {
    const [choice, text] = THEMES[at];
    button.replaceChildren(icon(PICTURES[choice], 18));
    const label = `Colours: ${text}. Change`;
    button.setAttribute("aria-label", label);
    button.title = label;
  };
  button.addEventListener("click", () => {
    at = (at + 1) % THEMES.length;
    const [choice, text] = THEMES[at];
    if (choice === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = choice;
    try {
      localStorage.setItem("zx1.theme", choice);
    } catch {
      // No storage: the choice lasts as long as the page.
    }
    draw();
    say(`Using ${text}`);
  });
  draw();
  return button;
}

/** The chain's epoch and slot now, as far as they are known. */
export function chainNow() {
  const { status } = service;
  return {
    epoch: status?.epoch ?? Math.floor(now() / 86_400_000),
    slot: status?.chain_slot ?? null,
  };
}
