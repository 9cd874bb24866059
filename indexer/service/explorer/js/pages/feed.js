// The live feed of events.

import { h } from "../dom.js";
import { KINDS } from "../event-text.js";
import { eventList } from "../event-view.js";
import { href } from "../route.js";

const TYPES = Object.keys(KINDS);

export default function feedPage(context) {
  let wanted = read(context.query);
  const live = eventList({ signal: context.signal, limit: 120, wanted: () => wanted });
  const boxes = new Map();
  const choose = () => {
    const chosen = TYPES.filter((type) => boxes.get(type).checked);
    const all = chosen.length === 0 || chosen.length === TYPES.length;
    context.go(href("feed", { types: all ? "" : chosen.join(",") }), { replace: true });
  };
  const field = h(
    "fieldset",
    { class: "chips" },
    h("legend", { class: "unseen" }, "Show these events"),
    TYPES.map((type) => {
      const box = h("input", { type: "checkbox", id: `type-${type}`, on: { change: choose } });
      boxes.set(type, box);
      return h("span", { class: "chip" }, box, h("label", { for: `type-${type}` }, KINDS[type][0]));
    }),
    h(
      "button",
      {
        type: "button",
        class: "button small-button",
        on: {
          click: () => {
            for (const box of boxes.values()) box.checked = false;
            choose();
          },
        },
      },
      "All",
    ),
  );
  const sync = () => {
    for (const [type, box] of boxes) box.checked = wanted?.has(type) ?? false;
  };
  sync();
  return {
    title: "Live events",
    update(query) {
      wanted = read(query);
      sync();
      live.redraw();
    },
    node: h(
      "article",
      { class: "page" },
      h(
        "header",
        null,
        h("h1", { tabindex: -1 }, "Live events"),
        h(
          "p",
          null,
          "What happens in the network, as it happens. ",
          h("a", { href: href("events") }, "The ledgers' own events"),
          " are listed apart.",
        ),
      ),
      field,
      live,
    ),
  };
}

function read(query) {
  const chosen = (query.types ?? "").split(",").filter((type) => TYPES.includes(type));
  return chosen.length > 0 ? new Set(chosen) : null;
}
