// Building nodes. Text from outside only ever becomes a text node or an attribute of a fixed name: there is
// no
// way in here to put markup into the page.

const SVG = "http://www.w3.org/2000/svg";

function fill(node, kids) {
  for (const kid of kids.flat(Infinity)) {
    if (kid === null || kid === undefined || kid === false) continue;
    node.append(kid instanceof Node ? kid : String(kid));
  }
  return node;
}

/**
 * An element: `h("a", { class: "x", href: "#/" }, "text", node)`.
 *
 * `on` holds listeners, `data` the dataset. true sets an empty attribute; null, undefined and false leave the
 * attribute out.
 */
export function h(tag, props, ...kids) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "on")
      for (const [type, listener] of Object.entries(value)) node.addEventListener(type, listener);
    else if (name === "data") Object.assign(node.dataset, value);
    else if (name === "value") node.value = value;
    else node.setAttribute(name, value === true ? "" : value);
  }
  return fill(node, kids);
}

/** An SVG element. */
export function s(tag, attributes, ...kids) {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value !== null && value !== undefined && value !== false) node.setAttribute(name, value);
  }
  return fill(node, kids);
}

const PATHS = {
  overview: "M4 13h6V4H4zM14 20h6v-9h-6zM4 20h6v-3H4zM14 7h6V4h-6z",
  agents: "M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM4.5 20c.8-3.6 3.7-5.5 7.5-5.5s6.7 1.9 7.5 5.5",
  contracts: "M7 3.5h7l4 4v13H7zM14 3.5v4h4M10 12h5M10 16h5",
  feed: "M3 12h4l3-7 4 14 3-7h4",
  feedback: "M4 5h16v11H11l-5 4v-4H4z",
  verify: "M12 3l7.5 3v5.5c0 4.5-3 7.7-7.5 9.5-4.5-1.8-7.5-5-7.5-9.5V6zM8.5 12l2.5 2.5 4.5-5",
  copy: "M9 9h11v11H9zM15 9V4H4v11h5",
  check: "M5 12.5l4.5 4.5L19 7.5",
  cross: "M6 6l12 12M18 6L6 18",
  warn: "M12 4l9 16H3zM12 10v4.5M12 17.2v.3",
  info: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM12 11v5.5M12 7.5v.3",
  clock: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM12 7v5l3.5 2",
  search: "M10.5 17a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13zM15.5 15.5L20 20",
  pause: "M8 5v14M16 5v14",
  play: "M7 5l11 7-11 7z",
  sun:
    "M12 16.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9zM12 2.5v2M12 19.5v2M2.5 12h2M19.5 12h2M5.3 5.3l1.4 " +
    "1.4M17.3 17.3l1.4 1.4M5.3 18.7l1.4-1.4M17.3 6.7l1.4-1.4",
  moon: "M20 14.5A8.5 8.5 0 0 1 9.5 4 8.5 8.5 0 1 0 20 14.5z",
  auto: "M4 5h16v11H4zM9 20h6M12 16v4",
  up: "M6 15l6-6 6 6",
  down: "M6 9l6 6 6-6",
  next: "M9 6l6 6-6 6",
  out: "M14 4h6v6M20 4l-9 9M17 14v6H4V7h6",
  updown: "M8 10l4-4 4 4M8 14l4 4 4-4",
  coin: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM9 16V8l6 8V8M8 11h8M8 14h8",
  wrench: "M20 7.5a5 5 0 0 1-6.7 4.7L6 19.5 4.5 18l7.3-7.3A5 5 0 0 1 16.5 4L14 6.5l.5 3 3 .5z",
  join: "M10 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM3 20c.7-3.6 3.4-5.5 7-5.5 1.3 0 2.5.2 3.5.7M18 14v6M15 17h6",
  leave: "M10 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM3 20c.7-3.6 3.4-5.5 7-5.5 1.3 0 2.5.2 3.5.7M15 17h6",
  scale: "M12 4v16M7 20h10M5 8h14M5 8l-2.5 6h5zM19 8l-2.5 6h5z",
  flag: "M6 21V4h12l-3 4 3 4H6",
  bolt: "M13 3L5 13.5h6L10 21l8-10.5h-6z",
  star: "M12 4l2.4 5.1 5.6.7-4.1 3.9 1.1 5.5-5-2.8-5 2.8 1.1-5.5L4 9.8l5.6-.7z",
  mail: "M4 6h16v12H4zM4 7l8 6 8-6",
  lock: "M6 11h12v9H6zM8.5 11V8a3.5 3.5 0 0 1 7 0v3",
  file: "M7 3.5h7l4 4v13H7zM14 3.5v4h4",
};

/** A picture from the set above, silent for screen readers. */
export function icon(name, size = 16) {
  return s(
    "svg",
    {
      width: size,
      height: size,
      viewBox: "0 0 24 24",
      fill: "none",
      stroke: "currentColor",
      "stroke-width": 1.9,
      "stroke-linecap": "round",
      "stroke-linejoin": "round",
      "aria-hidden": "true",
      focusable: "false",
    },
    s("path", { d: PATHS[name] ?? PATHS.info }),
  );
}

/** A sentence with commands in backticks: they become code. Only for our own and the indexer's sentences. */
export function prose(text) {
  return String(text)
    .split(/`([^`]+)`/)
    .map((part, i) => (i % 2 === 1 ? h("code", null, part) : part));
}

let sayTimer = 0;

/** Say something to screen readers, politely. What comes in quick succession is said once, the last of it. */
export function say(text) {
  clearTimeout(sayTimer);
  sayTimer = setTimeout(() => {
    const region = document.getElementById("said");
    // The same text twice would not be said again.
    region.textContent = region.textContent === text ? `${text}\u00a0` : text;
  }, 150);
}

/** Put text on the clipboard. */
export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Plain HTTP has no clipboard: the old way, through a selection.
  }
  const active = document.activeElement;
  const area = h("textarea", { class: "unseen", "aria-hidden": "true", value: text });
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  active?.focus({ preventScroll: true });
  return done;
}
