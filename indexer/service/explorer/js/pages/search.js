// What a pasted text is. Where it can be only one thing, the reader is there at once.

import { get } from "../api.js";
import { h } from "../dom.js";
import { safeName } from "../format.js";
import { kindOf, only, placeOf, textOf } from "../hits.js";
import { empty, loadInto, section, table } from "../parts.js";

export default function searchPage(context) {
  const { signal } = context;
  const place = h("div", { class: "hold" });
  const shown = h("p", null);
  const heading = h("h1", { tabindex: -1 }, "Search");
  let controller = null;
  const start = ({ q = "" }) => {
    controller?.abort();
    controller = new AbortController();
    const text = q.trim();
    const mine = controller.signal;
    shown.replaceChildren(...(text ? ["For ", h("span", { class: "mono break" }, safeName(text).text)] : []));
    if (!text) {
      place.replaceChildren(empty("Nothing to look for.", "Write or paste something into the field at the top."));
      return;
    }
    loadInto(place, {
      signal: mine,
      lines: 4,
      load: () => get("/v1/search", { query: text }, mine),
      draw: ({ hits }) => {
        const to = only(hits);
        if (to) {
          context.go(to, { replace: true });
          return [];
        }
        return hits.length ? results(hits) : nothing();
      },
    });
  };
  signal.addEventListener("abort", () => controller?.abort());
  start(context.query);
  return {
    title: "Search",
    update: start,
    node: h("article", { class: "page" }, h("header", null, heading, shown), section("Found", "found", {}, place)),
  };
}

function results(hits) {
  return table({
    caption: "What was found",
    rows: hits.filter((hit) => placeOf(hit) !== null),
    columns: [
      {
        label: "What",
        cell: (hit) =>
          h(
            "span",
            { class: "stack-left" },
            h("a", { href: placeOf(hit) }, safeName(hit.title).text || textOf(hit)),
            hit.title ? h("span", { class: "sub mono" }, textOf(hit)) : null,
          ),
      },
      {
        label: "Kind",
        cell: (hit) => [
          kindOf(hit),
          hit.slashed ? [" ", h("span", { class: "flag" }, hit.kind === "contract" ? "agent slashed" : "slashed")] : null,
        ],
      },
      { label: "Why", cell: (hit) => hit.note ?? "" },
    ],
  });
}

function nothing() {
  return empty(
    "Nothing was found.",
    "This finds agents by name, number, mint, wallet or key; transactions, slots, days and epochs; contracts by id, " +
      "task or party; Nano accounts and blocks of payments.",
  );
}
