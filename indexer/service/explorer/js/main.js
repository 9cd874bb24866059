// The router: which page the hash means, where the focus goes, where the page was scrolled to.

import { h } from "./dom.js";
import { safeName } from "./format.js";
import agentPage from "./pages/agent.js";
import agentsPage from "./pages/agents.js";
import { askPage, asksPage } from "./pages/asks.js";
import batchPage from "./pages/batch.js";
import batchesPage from "./pages/batches.js";
import { challengePage, challengesPage } from "./pages/challenges.js";
import contractPage from "./pages/contract.js";
import contractsPage from "./pages/contracts.js";
import eventsPage from "./pages/events.js";
import feedPage from "./pages/feed.js";
import feedbackPage from "./pages/feedback.js";
import meshPage from "./pages/mesh.js";
import networkPage from "./pages/network.js";
import overviewPage from "./pages/overview.js";
import searchPage from "./pages/search.js";
import statusPage from "./pages/status.js";
import verifyPage from "./pages/verify.js";
import { href, parseHash } from "./route.js";
import { markPage, start } from "./shell.js";

const PAGES = {
  overview: overviewPage,
  agents: agentsPage,
  agent: agentPage,
  batch: batchPage,
  batches: batchesPage,
  challenges: challengesPage,
  challenge: challengePage,
  asks: asksPage,
  ask: askPage,
  contracts: contractsPage,
  contract: contractPage,
  verify: verifyPage,
  feed: feedPage,
  events: eventsPage,
  feedback: feedbackPage,
  network: networkPage,
  mesh: meshPage,
  search: searchPage,
  status: statusPage,
  missing: missingPage,
};

const main = document.getElementById("main");
let current = null;
let first = true;
let clicked = false;
const scrolls = new Map();

function missingPage() {
  return {
    title: "No such page",
    node: h(
      "article",
      { class: "page" },
      h(
        "header",
        null,
        h("h1", { tabindex: -1 }, "There is no such page"),
        h("p", null, "The address may be mistyped. ", h("a", { href: href() }, "Go to the overview"), "."),
      ),
    ),
  };
}

function setTitle(text) {
  const { text: shown } = safeName(text);
  document.title = shown ? `${shown} · zx1 explorer` : "zx1 explorer";
}

function show() {
  // The link "Skip to the content" names no page.
  if (location.hash === "#main") return;
  const route = parseHash(location.hash);
  const fresh = clicked || first;
  clicked = false;
  if (current && current.path === route.path && current.update) {
    current.update(route.query);
    current.hash = location.hash;
    return;
  }
  if (current) {
    scrolls.set(current.hash, window.scrollY);
    current.controller.abort();
  }
  const controller = new AbortController();
  const context = {
    params: route.params,
    query: route.query,
    signal: controller.signal,
    setTitle,
    go(hash, { replace = false } = {}) {
      if (hash === (location.hash || "#/")) return;
      clicked = true;
      if (replace) {
        history.replaceState(null, "", hash);
        show();
      } else {
        location.hash = hash.slice(1);
      }
    },
  };
  const page = PAGES[route.page](context);
  current = { path: route.path, hash: location.hash, controller, update: page.update };
  main.replaceChildren(page.node);
  setTitle(page.title);
  markPage(route.page);
  // A reader of the screen hears the new page's name; on the first load the browser says the title anyway.
  if (!first) (main.querySelector("h1") ?? main).focus({ preventScroll: true });
  first = false;
  const before = scrolls.get(location.hash);
  if (fresh || !before) window.scrollTo(0, 0);
  else restore(before, controller.signal);
}

/** Back where one was, as soon as the page is long enough again. */
function restore(top, signal) {
  const until = performance.now() + 2000;
  const attempt = () => {
    if (signal.aborted) return;
    window.scrollTo(0, top);
    if (Math.abs(window.scrollY - top) > 2 && performance.now() < until) requestAnimationFrame(attempt);
  };
  attempt();
}

document.addEventListener("click", (event) => {
  const link = event.target.closest?.("a[href^='#']");
  if (!link) return;
  if (link.getAttribute("href").startsWith("#/")) {
    clicked = true;
    return;
  }
  // Places on the page: the hash belongs to the router.
  event.preventDefault();
  const target = document.getElementById(link.getAttribute("href").slice(1));
  target?.scrollIntoView();
  if (target && !target.hasAttribute("tabindex")) target.setAttribute("tabindex", "-1");
  target?.focus({ preventScroll: true });
});

history.scrollRestoration = "manual";
start();
show();
window.addEventListener("hashchange", show);
