// Texts of values: amounts, times, keys, names. Pure.

const GROUP = /\B(?=(\d{3})+(?!\d))/g;

/** A whole number with commas: 1234567 becomes 1,234,567. Takes numbers, BigInts and digit strings. */
export function integer(value) {
  if (value === null || value === undefined) return "–";
  const text = String(value);
  return /^-?\d+$/.test(text) ? text.replace(GROUP, ",") : text;
}

// Digits before and after the point of an integer count of 10^-places.
function decimal(text, places) {
  const negative = text.startsWith("-");
  const digits = (negative ? text.slice(1) : text).padStart(places + 1, "0");
  return {
    sign: negative ? "−" : "",
    whole: digits
      .slice(0, -places)
      .replace(/^0+(?=\d)/, "")
      .replace(GROUP, ","),
    fraction: digits.slice(-places).replace(/0+$/, ""),
  };
}

function amount(value, places, least, most, unit) {
  const text = String(value ?? "");
  if (!/^-?\d+$/.test(text)) return null;
  const { sign, whole, fraction } = decimal(text, places);
  const exact = `${sign}${whole}${fraction ? `.${fraction}` : ""} ${unit}`;
  // More digits than fit are cut, never rounded up: nobody is shown money that is not there.
  const shown = fraction.slice(0, most).padEnd(least, "0");
  const cut = fraction.length > most;
  if (cut && whole === "0" && /^0*$/.test(shown)) {
    return { text: `${sign}<0.${"0".repeat(most - 1)}1`, unit, exact, cut };
  }
  return { text: `${sign}${whole}${shown ? `.${shown}` : ""}`, unit, exact, cut };
}

/**
 * USDC from a decimal string of micro-USDC: `{text, unit, exact, cut}`, or null. `most`: digits after the
 * point.
 */
export const usdc = (micro, most = 6) => amount(micro, 6, 2, most, "USDC");

/** XNO from a decimal string of raw (10^30 in one): six digits after the point, the rest in `exact`. */
export const xno = (raw) => amount(raw, 30, 0, 6, "XNO");

/** A score in thousandths with its sign: 62500 becomes +62.5. */
export function score(thousandths) {
  if (typeof thousandths !== "number") return "–";
  const sign = thousandths > 0 ? "+" : thousandths < 0 ? "−" : "";
  const whole = Math.trunc(Math.abs(thousandths) / 1000);
  const rest = Math.abs(thousandths) % 1000;
  const fraction = String(rest)
    .padStart(3, "0")
    .replace(/0{1,2}$/, "");
  return `${sign}${whole}.${fraction}`;
}

/** The same with one digit after the point, for tables. */
export function scoreShort(thousandths) {
  if (typeof thousandths !== "number") return "–";
  return score(Math.sign(thousandths) * Math.round(Math.abs(thousandths) / 100) * 100);
}

/** The beginning and the end of a long key. Short texts stay whole. */
export function short(text, head = 5, tail = 5) {
  const value = String(text ?? "");
  const start = value.startsWith("nano_") || value.startsWith("fix_") ? value.indexOf("_") + 1 + head : head;
  return value.length <= start + tail + 1
    ? value
    : `${value.slice(0, start)}…${tail > 0 ? value.slice(-tail) : ""}`;
}

/** 1,234 B, 12.3 KiB, 4.0 MiB. */
export function bytes(count) {
  if (typeof count !== "number") return "–";
  if (count < 1024) return `${count} B`;
  if (count < 1024 * 1024) return `${(count / 1024).toFixed(1)} KiB`;
  return `${(count / 1024 / 1024).toFixed(1)} MiB`;
}

/** A span as two units at most: 3 d 4 h, 12 min, 45 s. */
export function span(milliseconds) {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  const parts = [
    [Math.floor(seconds / 86_400), "d"],
    [Math.floor(seconds / 3600) % 24, "h"],
    [Math.floor(seconds / 60) % 60, "min"],
    [seconds % 60, "s"],
  ];
  const first = parts.findIndex(([n]) => n > 0);
  if (first < 0) return "0 s";
  const [n, unit] = parts[first];
  // Seconds beside minutes are noise in "12 min ago".
  const next = first < 2 ? parts[first + 1] : null;
  return next && next[0] > 0 ? `${n} ${unit} ${next[0]} ${next[1]}` : `${n} ${unit}`;
}

/** A running timer of constant width: 0:09, 12:34, 1:02:03, 2 d 03:04. */
export function clock(milliseconds) {
  const seconds = Math.max(0, Math.ceil(milliseconds / 1000));
  const two = (n) => String(n).padStart(2, "0");
  const days = Math.floor(seconds / 86_400);
  const hours = Math.floor(seconds / 3600) % 24;
  const minutes = Math.floor(seconds / 60) % 60;
  if (days > 0) return `${days} d ${two(hours)}:${two(minutes)}`;
  if (hours > 0) return `${hours}:${two(minutes)}:${two(seconds % 60)}`;
  return `${minutes}:${two(seconds % 60)}`;
}

/** "3 min ago", "in 2 h 5 min", "just now". */
export function ago(at, now) {
  const distance = now - at;
  if (Math.abs(distance) < 2000) return "just now";
  return distance > 0 ? `${span(distance)} ago` : `in ${span(-distance)}`;
}

/** 2026-11-21 19:31:34 UTC, from milliseconds. */
export function stamp(at) {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return "–";
  return `${date.toISOString().slice(0, 19).replace("T", " ")} UTC`;
}

/** The day of an epoch: 2026-11-20. An epoch is a UTC day (decision B1). */
export function epochDay(epoch) {
  const date = new Date(epoch * 86_400_000);
  return Number.isNaN(date.getTime()) ? "–" : date.toISOString().slice(0, 10);
}

// Controls, invisible characters and those that turn the direction of text around: with them a name can look
// like another one. Joiners stay where writing needs them: between two pictures that make one, and inside the
// scripts that spell with them.
const PICTURE = "\\p{Extended_Pictographic}\\ufe0f?|\\p{Emoji_Modifier}";
const JOINING = "Arabic Bengali Devanagari Gujarati Gurmukhi Kannada Malayalam Sinhala Tamil Telugu"
  .split(" ")
  .map((script) => `\\p{Script=${script}}`)
  .join("");
const HIDDEN = new RegExp(
  "[\\u0000-\\u001f\\u007f-\\u009f\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f" +
    "\\u200b\\u200e\\u200f\\u2028-\\u202e\\u2060-\\u206f\\u3164\\ufeff\\uffa0\\ufff0-\\ufffc" +
    `\\u{e0000}-\\u{e0fff}]|(?<!${PICTURE}|[${JOINING}])\\u200d|` +
    `\\u200d(?!\\p{Extended_Pictographic}|[${JOINING}])|` +
    `(?<![${JOINING}])\\u200c|\\u200c(?![${JOINING}])`,
  "gu",
);

/**
 * A name as it may be shown in one line.
 *
 * @returns {{text: string, odd: boolean}} hidden characters became U+FFFD; `odd` when there were any
 */
export function safeName(name) {
  const text = String(name ?? "").replace(HIDDEN, "\ufffd");
  // Many marks on one letter reach over their neighbours' lines.
  const calm = text.replace(/(\p{M}{3})\p{M}+/gu, "$1");
  return { text: calm.trim(), odd: text !== String(name ?? "") || calm !== text };
}

/** Text of several lines: as {@link safeName}, but line ends and tabs stay. */
export function safeText(value) {
  return String(value ?? "")
    .replace(/\r\n?/g, "\n")
    .split(/([\n\t])/)
    .map((part) =>
      part === "\n" || part === "\t"
        ? part
        : part.replace(HIDDEN, "\ufffd").replace(/(\p{M}{3})\p{M}+/gu, "$1"),
    )
    .join("");
}

/** One or several: plural(1, "agent") is "1 agent". */
export function plural(count, one, many = `${one}s`) {
  return `${integer(count)} ${count === 1 ? one : many}`;
}

/** What a market has counted of a party's fixes: `{ fixes, failed_outside }`. Null when it does not say, or has none. */
export function outside(fixes) {
  if (!fixes || !(fixes.fixes > 0)) return null;
  return `${integer(fixes.failed_outside)} of ${plural(fixes.fixes, "fix", "fixes")} failed outside the sandbox`;
}
