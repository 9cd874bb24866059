// Agents that were slashed: marked wherever their name stands, also where it stood before this was known.

import { get } from "./api.js";
import { h, icon } from "./dom.js";

const EVERY = 60_000;
const PAGES = 20;
let slashed = new Set();

function fill(node) {
  const is = slashed.has(node.dataset.flag);
  if (is === node.childElementCount > 0) return;
  node.replaceChildren(
    ...(is ? [h("span", { class: "flag" }, icon("cross", 12), "slashed")] : []),
  );
}

/** The place of the mark beside an agent's name. */
export function flag(mint) {
  const node = h("span", { class: "flag-place", data: { flag: String(mint) } });
  fill(node);
  return node;
}

async function load() {
  const found = new Set();
  let cursor = null;
  for (let page = 0; page < PAGES; page += 1) {
    const { items, next } = await get("/v1/agents", { slashed: true, limit: 200, cursor });
    for (const agent of items) found.add(agent.mint);
    cursor = next;
    if (!next) break;
  }
  slashed = found;
  for (const node of document.querySelectorAll("[data-flag]")) fill(node);
}

/** Begin to ask who was slashed. */
export function watchFlags() {
  const look = () => {
    if (document.hidden) return;
    load().catch((error) => {
      if (error.name !== "ApiError") console.error(error);
    });
  };
  look();
  setInterval(look, EVERY);
}
