// A page that is a list: filters, a table or other rows, pages by cursor. The address holds it all, so that a
// list can be sent to somebody, and Back goes where one was.

import { get, last } from "./api.js";
import { h, icon, say } from "./dom.js";
import { plural, short } from "./format.js";
import { empty, loadInto } from "./parts.js";
import { href } from "./route.js";

/**
 * A list that follows its query.
 *
 * @param {object} context of the page
 * @param {object} plan
 * @param {string[]} plan.at the page's path in the hash
 * @param {string} plan.path the call
 * @param {object[]} plan.filters {name, label, kind: "search"|"select", options: [value, text][]}
 * @param {(query: object) => object} [plan.ask] what the call is asked, of the page's query
 * @param {(items: object[], query: object, answer: object) => Node|Node[]} plan.draw
 * @param {[string, string]} plan.none title and text when there is nothing at all
 * @param {string} plan.noun
 * @param {number} [plan.every] interval in milliseconds between quiet refreshes
 * @returns {{nodes: Node[], update: (query: object) => void}}
 */
export function list(context, plan) {
  let query = context.query;
  const place = h("div", { class: "list", "aria-live": "off" });
  const pager = h("nav", { class: "pager", "aria-label": `Pages of ${plan.noun}` });
  const form = plan.filters?.length ? filters(plan, () => query, context) : null;
  const others = h("p", { class: "others" });
  drawOthers(others, plan, query);
  let reload = null;
  let controller = null;

  const start = () => {
    controller?.abort();
    controller = new AbortController();
    const { signal } = controller;
    const ask = plan.ask ? plan.ask(query) : { ...query };
    const mine = query;
    const shown = place.childElementCount > 0;
    // The rows of the query before stay until the new ones are there: nothing jumps.
    if (shown) place.classList.add("waiting");
    reload = loadInto(place, {
      signal,
      lines: 12,
      last: last(plan.path, ask),
      load: () => get(plan.path, ask, signal),
      draw: (answer) => {
        place.classList.remove("waiting");
        turn(pager, plan, mine, answer);
        if (answer.items.length > 0) return plan.draw(answer.items, mine, answer);
        return none(plan, mine);
      },
    });
  };
  context.signal.addEventListener("abort", () => controller?.abort());
  if (plan.every) {
    const timer = setInterval(() => {
      if (!document.hidden && !place.contains(document.activeElement)) reload?.({ quiet: true });
    }, plan.every);
    context.signal.addEventListener("abort", () => clearInterval(timer));
  }
  start();
  return {
    nodes: [form, others, place, pager].filter(Boolean),
    update(next) {
      const moved = next.cursor !== query.cursor;
      query = next;
      form?.sync(next);
      drawOthers(others, plan, next);
      start();
      if (moved) {
        place.scrollIntoView({ block: "nearest" });
        window.scrollTo({ top: 0 });
        say(next.cursor ? "Next page" : "First page");
      }
    },
  };
}

// Filters that came with a link and have no field of their own: shown, so that nobody wonders what is
// missing.
function drawOthers(place, plan, query) {
  const own = new Set([
    ...(plan.filters ?? []).map(({ name }) => name),
    "cursor",
    "limit",
    "sort",
    "order",
    "kind",
  ]);
  const names = Object.keys(query).filter((name) => !own.has(name) && query[name]);
  place.hidden = names.length === 0;
  place.replaceChildren(
    ...names.map((name) =>
      h(
        "a",
        {
          class: "button small-button",
          href: href(...plan.at, { ...query, [name]: null, cursor: null }),
          title: `Remove this filter: ${query[name]}`,
        },
        `${name}: `,
        h("span", { class: "mono" }, short(query[name])),
        icon("cross", 12),
        h("span", { class: "unseen" }, "remove this filter"),
      ),
    ),
  );
}

function none(plan, query) {
  const filtered = Object.keys(query).some(
    (name) => !["cursor", "limit", "sort", "order", "kind"].includes(name) && query[name],
  );
  if (!filtered) return empty(...plan.none);
  return h(
    "div",
    { class: "empty" },
    h("p", { class: "empty-title" }, `No ${plan.noun} match these filters.`),
    h("p", null, h("a", { href: href(...plan.at) }, "Clear the filters")),
  );
}

function turn(pager, plan, query, answer) {
  const first = query.cursor
    ? h(
        "a",
        {
          class: "button",
          href: href(...plan.at, { ...query, cursor: null }),
          data: { turn: "first" },
        },
        "First page",
      )
    : null;
  const next = answer.next
    ? h(
        "a",
        {
          class: "button",
          href: href(...plan.at, { ...query, cursor: answer.next }),
          data: { turn: "next" },
        },
        "Next page",
        icon("next", 14),
      )
    : null;
  const count = plural(answer.items.length, plan.one ?? plan.noun.replace(/s$/, ""), plan.noun);
  const text = answer.next || query.cursor ? `${count} on this page` : count;
  // Whoever turned the page by the keyboard stays here: on the same link, or where it is gone on the other.
  const focused = pager.contains(document.activeElement) ? document.activeElement.dataset.turn : null;
  pager.replaceChildren(
    h("span", { class: "muted" }, answer.items.length ? text : ""),
    ...[first, next].filter(Boolean),
  );
  if (focused) ((focused === "next" ? next : first) ?? next ?? first)?.focus({ preventScroll: true });
}

function filters(plan, current, context) {
  const fields = new Map();
  const go = (replace) => {
    const query = { ...current() };
    for (const [name, field] of fields) query[name] = field.value.trim();
    delete query.cursor;
    // Each column has an order of its own.
    if ((query.sort ?? "") !== (current().sort ?? "")) delete query.order;
    context.go(href(...plan.at, query), { replace });
  };
  let typing = 0;
  const make = ({ name, label, kind, options, wide }) => {
    const id = `filter-${name}`;
    const value = current()[name] ?? "";
    const field =
      kind === "search"
        ? h("input", {
            id,
            type: "search",
            value,
            autocomplete: "off",
            spellcheck: "false",
            placeholder: label,
          })
        : h(
            "select",
            { id },
            options.map(([option, text]) => h("option", { value: option, selected: option === value }, text)),
          );
    field.value = value;
    fields.set(name, field);
    if (kind === "search") {
      field.addEventListener("input", () => {
        clearTimeout(typing);
        typing = setTimeout(() => go(true), 300);
      });
    } else {
      field.addEventListener("change", () => go(false));
    }
    return h(
      "div",
      { class: `field${wide ? " wide" : ""}` },
      h("label", { for: id, class: kind === "search" ? "unseen" : null }, label),
      field,
    );
  };
  const form = h(
    "form",
    {
      class: "filters",
      role: "search",
      "aria-label": `Filter ${plan.noun}`,
      on: {
        submit: (event) => {
          event.preventDefault();
          clearTimeout(typing);
          go(false);
        },
      },
    },
    plan.filters.map(make),
  );
  form.sync = (query) => {
    for (const [name, field] of fields) {
      // What is being typed is newer than the address.
      if (field !== document.activeElement) field.value = query[name] ?? "";
    }
  };
  return form;
}

/** The head of a column that can be sorted by: a link, so that it works without a mouse and can be sent. */
export function sortHead(label, name, query, at, { up = false } = {}) {
  const sorted = (query.sort ?? at.sort) === name;
  const order = sorted ? (query.order ?? (at.up.includes(name) ? "asc" : "desc")) : null;
  const next = sorted ? (order === "asc" ? "desc" : "asc") : up ? "asc" : "desc";
  const link = h(
    "a",
    {
      class: "sort",
      href: href(...at.path, { ...query, sort: name, order: next, cursor: null }),
      data: {
        keep: `sort-${name}`,
      },
    },
    label,
    icon(sorted ? (order === "asc" ? "up" : "down") : "updown", 12),
  );
  return { head: link, sorted: sorted ? (order === "asc" ? "ascending" : "descending") : null };
}
