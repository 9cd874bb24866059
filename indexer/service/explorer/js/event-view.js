// The live list of events: newest first, nothing jumps while one reads, and nobody is talked over.

import { h, icon, say } from "./dom.js";
import { eventText } from "./event-text.js";
import { flag } from "./flags.js";
import { plural, short } from "./format.js";
import { out } from "./out.js";
import { copyButton, empty, name, skeleton, slot, when } from "./parts.js";
import { href } from "./route.js";
import { stream } from "./stream.js";

const SAY_EVERY = 30_000;

function where(event) {
  if (event.contract) return href("contracts", event.contract);
  if (event.challenge) return href("challenges", event.challenge);
  if (event.ask) return href("asks", event.ask);
  const ofBatch = event.source === "batch" || event.type === "batch_withheld";
  if (event.agent && Number.isFinite(event.epoch) && ofBatch) {
    return href("agents", event.agent, "batches", event.epoch);
  }
  return null;
}

/** One event. */
export function eventRow(event, { small = false } = {}) {
  const { label, picture, grade, text } = eventText(event);
  const to = where(event);
  const who = event.agent
    ? h(
        "a",
        { class: "event-who", href: href("agents", event.agent) },
        name(event.agent_name, event.agent.slice(0, 8)),
      )
    : event.party
      ? h(
          "a",
          { class: "event-who", href: href("contracts", { party: event.party }), title: event.party },
          h("span", { class: "mono" }, short(event.party)),
        )
      : null;
  return h(
    "li",
    { class: event.retracted ? "event retracted" : "event", data: { id: String(event.id) } },
    h("span", { class: "event-icon", data: { grade } }, icon(picture, 16)),
    h(
      "div",
      { class: "event-body" },
      h(
        "p",
        null,
        h("span", { class: "event-kind" }, label),
        " ",
        who,
        event.agent ? [" ", flag(event.agent)] : null,
        " ",
        to ? h("a", { class: "event-to", href: to }, text) : text,
        event.retracted ? h("strong", { class: "event-gone" }, " Retracted: its slot vanished.") : null,
      ),
      h(
        "p",
        { class: "event-when" },
        small || event.slot === null ? when(event.at) : slot(event.slot, event.block_time),
        !small && event.signature
          ? h(
              "span",
              { class: "event-tx" },
              "transaction ",
              copyButton(event.signature, "transaction signature"),
              out("transaction", event.signature),
            )
          : null,
        !small && event.hash
          ? h(
              "span",
              { class: "event-tx" },
              "block ",
              copyButton(event.hash, "hash of the Nano block"),
              out("nano_block", event.hash),
            )
          : null,
      ),
    ),
  );
}

/**
 * A list that follows the stream.
 *
 * @param {{signal: AbortSignal, limit: number, quiet?: boolean, wanted?: () => Set<string>|null}} plan
 * `quiet`: a
 *   glance on another page, without controls and announcements
 */
export function eventList({ signal, limit, quiet = false, wanted = () => null }) {
  const rows = h("ol", { class: quiet ? "events small" : "events", "aria-label": "Events, newest first" });
  const fresh = h("button", { type: "button", class: "button fresh", hidden: true });
  const pause = h("button", { type: "button", class: "button" });
  const link = h("span", { class: "stream-state" });
  let paused = false;
  let shownId = 0;
  let waiting = 0;
  let saidAt = Date.now();

  const list = () => {
    const only = wanted();
    return stream.events.filter((event) => !only || only.has(event.type));
  };
  const draw = () => {
    const all = list().slice(0, limit);
    shownId = all[0]?.id ?? 0;
    waiting = 0;
    fresh.hidden = true;
    // Rows that are there stay the same nodes: focus and selection survive.
    const old = new Map([...rows.children].map((row) => [row.dataset.id, row]));
    const next = all.map((event) => {
      const row = old.get(String(event.id));
      return row && !event.retracted ? row : eventRow(event, { small: quiet });
    });
    if (next.length === 0) {
      rows.replaceChildren(
        h(
          "li",
          { class: "event-none" },
          stream.state === "live"
            ? empty("No event yet.", "The next one appears here by itself.")
            : skeleton(quiet ? 9 : 12),
        ),
      );
      return;
    }
    // Moving only what changed keeps the focus where it is.
    const keep = new Set(next);
    for (const row of [...rows.children]) if (!keep.has(row)) row.remove();
    next.forEach((row, i) => {
      if (rows.children[i] !== row) rows.insertBefore(row, rows.children[i] ?? null);
    });
  };
  const reading = () =>
    !quiet &&
    (paused || window.scrollY > 160 || rows.contains(document.activeElement) || rows.matches(":hover"));
  const told = (events) => {
    link.textContent = {
      live: "Live",
      connecting: "Connecting",
      broken: "Connection lost; trying again",
      closed: "",
    }[stream.state];
    link.dataset.state = stream.state;
    const only = wanted();
    const count = events.filter((event) => !only || only.has(event.type)).length;
    if (count > 0 && reading() && shownId > 0) {
      waiting += count;
      fresh.hidden = false;
      fresh.textContent = `Show ${plural(waiting, "new event")}`;
    } else {
      draw();
    }
    if (!quiet && count > 0 && shownId > 0 && Date.now() - saidAt > SAY_EVERY && !document.hidden) {
      saidAt = Date.now();
      say(plural(waiting || count, "new event"));
    }
  };
  const drawPause = () => {
    pause.replaceChildren(icon(paused ? "play" : "pause", 14), paused ? "Go on" : "Pause");
  };
  pause.addEventListener("click", () => {
    paused = !paused;
    drawPause();
    if (!paused) draw();
    say(paused ? "Paused" : "Going on");
  });
  fresh.addEventListener("click", () => {
    window.scrollTo(0, 0);
    draw();
    rows.querySelector("a")?.focus({ preventScroll: true });
  });
  drawPause();
  told([]);
  const end = stream.subscribe(told);
  signal.addEventListener("abort", end);
  if (quiet) return rows;
  return Object.assign(
    h(
      "div",
      { class: "live" },
      h("div", { class: "live-bar" }, link, pause, h("span", { class: "fresh-place" }, fresh)),
      rows,
    ),
    { redraw: draw },
  );
}
