// The feedback log: append-only, newest first.

import { h, icon } from "../dom.js";
import { integer, safeText, short } from "../format.js";
import { list } from "../list.js";
import { copyButton, key, pairs, sign, slot, transaction } from "../parts.js";
import { href } from "../route.js";

/** One entry. `lines`: how many lines are shown before the rest is folded away. */
export function entry(one, { lines = 8 } = {}) {
  const text = safeText(one.text);
  const long = text.split("\n").length > lines || text.length > lines * 110;
  const body = h("p", { class: long ? "text clamp" : "text", dir: "auto" }, text);
  if (long) body.style.setProperty("--lines", String(lines));
  const open = long
    ? h(
        "button",
        {
          type: "button",
          class: "link-button",
          "aria-expanded": "false",
          on: {
            click: (event) => {
              const all = body.classList.toggle("clamp") === false;
              event.currentTarget.textContent = all ? "Show less" : "Show all";
              event.currentTarget.setAttribute("aria-expanded", String(all));
            },
          },
        },
        "Show all",
      )
    : null;
  const { resolution } = one;
  return h(
    "li",
    { class: "entry" },
    h(
      "div",
      { class: "entry-head" },
      h("span", { class: "mono entry-index" }, `#${integer(one.index)}`),
      h(
        "span",
        { class: "party" },
        sign(one.sender, 20),
        h(
          "a",
          { class: "mono", href: href("feedback", { sender: one.sender }), title: one.sender },
          short(one.sender),
        ),
      ),
      one.payer === one.sender
        ? null
        : h(
            "span",
            { class: "muted" },
            "paid by ",
            h("span", { class: "mono", title: one.payer }, short(one.payer)),
          ),
      h("span", { class: "entry-when" }, slot(one.slot, one.timestamp)),
    ),
    body,
    open,
    resolution
      ? h(
          "p",
          { class: "resolution" },
          icon("check", 15),
          h(
            "span",
            null,
            "Resolved by commit ",
            key(resolution.commit, "commit", { head: 8, tail: 0 }),
            " ",
            slot(resolution.slot),
          ),
        )
      : null,
    details(one),
  );
}

function details(one) {
  const node = h("details", { class: "entry-details" }, h("summary", null, "Hashes"));
  node.addEventListener("toggle", () => {
    if (!node.open || node.childElementCount > 1) return;
    node.append(
      pairs(
        [
          ["Head after it", key(one.head, "head", { whole: true })],
          ["Head before it", key(one.previous_head, "previous head", { whole: true })],
          ["Sender", key(one.sender, "sender", { whole: true })],
          ["Payer", key(one.payer, "payer", { whole: true })],
          [
            "Transaction",
            one.signature ? transaction(one.signature, one.slot, { whole: true }) : "unknown",
          ],
          one.resolution
            ? ["Contract hash", key(one.resolution.contract_hash, "contract hash", { whole: true })]
            : null,
          one.resolution ? ["Commit", key(one.resolution.commit, "commit", { whole: true })] : null,
          one.resolution
            ? ["Maintainer", key(one.resolution.maintainer, "maintainer", { whole: true })]
            : null,
          ["Text", ["as it stands on chain ", copyButton(one.text, "text")]],
        ],
        "pairs wide",
      ),
    );
  });
  return node;
}

export default function feedbackPage(context) {
  const made = list(context, {
    at: ["feedback"],
    path: "/v1/feedback",
    noun: "entries",
    one: "entry",
    filters: [
      { name: "query", label: "Words in the text", kind: "search", wide: true },
      {
        name: "resolved",
        label: "Resolution",
        kind: "select",
        options: [
          ["", "Resolved or not"],
          ["true", "Resolved"],
          ["false", "Not resolved"],
        ],
      },
    ],
    ask: (query) => ({ ...query, limit: query.limit ?? 25 }),
    none: [
      "The feedback log is empty.",
      "Anyone can write to it with `zx1 feedback submit`; nothing in it can be edited or removed.",
    ],
    draw: (items) =>
      h(
        "ol",
        { class: "entries" },
        items.map((one) => entry(one)),
      ),
  });
  return {
    title: "Feedback log",
    update: made.update,
    node: h(
      "article",
      { class: "page" },
      h(
        "header",
        null,
        h("h1", { tabindex: -1 }, "Feedback log"),
        h(
          "p",
          null,
          "What users and agents say about zx1 itself. Each entry hangs on the one before, on chain; " +
            "nobody can edit or remove it.",
        ),
      ),
      made.nodes,
    ),
  };
}
