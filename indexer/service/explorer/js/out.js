// Links out: to the explorers of the cluster and of Nano, as the indexer names them.

import { h, icon } from "./dom.js";

const NAMES = {
  transaction: "transaction in the cluster's explorer",
  account: "account in the cluster's explorer",
  nano_block: "block in Nano's explorer",
  nano_account: "account in Nano's explorer",
};
let templates = {};

/** The address of something outside, or null: only pages of the web, whatever the indexer says. */
export function address(template, id) {
  if (!template || !/^https?:\/\//.test(template)) return null;
  return template.replaceAll("{}", encodeURIComponent(id));
}

function fill(node) {
  const { out, id } = node.dataset;
  const url = address(templates[out], id);
  node.replaceChildren(
    ...(url
      ? [
          h(
            "a",
            { href: url, class: "out-link", rel: "noreferrer noopener", target: "_blank", title: `Open the ${NAMES[out]}` },
            icon("out", 13),
            h("span", { class: "unseen" }, `Open the ${NAMES[out]} in a new tab`),
          ),
        ]
      : []),
  );
}

/** The place of a link out, empty where there is no such explorer. */
export function out(kind, id) {
  if (id === null || id === undefined) return null;
  const node = h("span", { class: "out", data: { out: kind, id: String(id) } });
  fill(node);
  return node;
}

/** What the indexer's status says of links. */
export function setLinks(links) {
  if (!links || JSON.stringify(links) === JSON.stringify(templates)) return;
  templates = links;
  for (const node of document.querySelectorAll("[data-out]")) fill(node);
}
