// Canonical JSON: exactly what Python's json.dumps(value, sort_keys=True, separators=(",", ":")) prints.
//
// Signatures and chain hashes cover this text, so JSON.parse cannot be used: it makes 1708531200 of
// 1708531200.0 and loses the digits of large integers. Decision E2.

import { Refusal } from "./refusal.js";

/** The longest text that is read, in bytes. */
export const MAX_JSON_BYTES = 16 * 1024 * 1024;
/** How deep values may be nested. */
export const MAX_JSON_DEPTH = 32;
/** The longest integer, in digits; Python's reader has the same bound. */
export const MAX_INTEGER_DIGITS = 4300;

/** An integer of any length, in its shortest decimal spelling. */
export class Int {
  /** @param {string} text digits, with a minus sign when negative */
  constructor(text) {
    this.text = text === "-0" ? "0" : text;
  }

  /** The value as a number; large ones lose digits. */
  valueOf() {
    return Number(this.text);
  }

  toString() {
    return this.text;
  }
}

/** A number that was written with a point or an exponent. */
export class Float {
  /** @param {number} value finite */
  constructor(value) {
    this.value = value;
  }

  valueOf() {
    return this.value;
  }

  toString() {
    return floatText(this.value);
  }
}

const NUMBER = /-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?/y;
const BLANK = /[ \t\n\r]*/y;
// A run of characters that stand for themselves inside a string.
const PLAIN = /[^"\\\u0000-\u001f]*/y;
const ESCAPES = { '"': '"', "\\": "\\", "/": "/", b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };

class Reader {
  constructor(text, lastWins) {
    this.text = text;
    this.at = 0;
    this.lastWins = lastWins;
  }

  syntax() {
    return new Refusal(9012, this.at);
  }

  skip(pattern) {
    pattern.lastIndex = this.at;
    const match = pattern.exec(this.text);
    this.at += match[0].length;
    return match[0];
  }

  take(char) {
    if (this.text[this.at] !== char) return false;
    this.at += 1;
    return true;
  }

  word(word, value) {
    if (!this.text.startsWith(word, this.at)) throw this.syntax();
    this.at += word.length;
    return value;
  }

  value(depth) {
    if (depth > MAX_JSON_DEPTH) throw new Refusal(9013);
    const char = this.text[this.at];
    switch (char) {
      case "{":
        return this.object(depth);
      case "[":
        return this.array(depth);
      case '"':
        return this.string();
      case "t":
        return this.word("true", true);
      case "f":
        return this.word("false", false);
      case "n":
        return this.word("null", null);
      case "N":
      case "I":
        throw new Refusal(9014);
      default:
    }
    if (char !== undefined && /[-0-9]/.test(char)) return this.number();
    throw this.syntax();
  }

  object(depth) {
    this.at += 1;
    const fields = new Map();
    this.skip(BLANK);
    if (this.take("}")) return fields;
    for (;;) {
      this.skip(BLANK);
      if (this.text[this.at] !== '"') throw this.syntax();
      const name = this.string();
      this.skip(BLANK);
      if (!this.take(":")) throw this.syntax();
      this.skip(BLANK);
      const value = this.value(depth + 1);
      if (!this.lastWins && fields.has(name)) throw new Refusal(9015, name.slice(0, 64));
      fields.set(name, value);
      this.skip(BLANK);
      if (this.take("}")) return fields;
      if (!this.take(",")) throw this.syntax();
    }
  }

  array(depth) {
    this.at += 1;
    const items = [];
    this.skip(BLANK);
    if (this.take("]")) return items;
    for (;;) {
      this.skip(BLANK);
      items.push(this.value(depth + 1));
      this.skip(BLANK);
      if (this.take("]")) return items;
      if (!this.take(",")) throw this.syntax();
    }
  }

  number() {
    if (this.text.startsWith("-I", this.at)) throw new Refusal(9014);
    NUMBER.lastIndex = this.at;
    const match = NUMBER.exec(this.text);
    if (!match) throw this.syntax();
    const end = this.at + match[0].length;
    // "01" or "1.": the pattern stopped early.
    if (/[0-9.eE]/.test(this.text[end] ?? "")) throw this.syntax();
    this.at = end;
    if (match[1] === undefined && match[2] === undefined) {
      const digits = match[0].replace("-", "").length;
      if (digits > MAX_INTEGER_DIGITS) throw new Refusal(9016, digits);
      return new Int(match[0]);
    }
    const value = Number(match[0]);
    if (!Number.isFinite(value)) throw new Refusal(9014);
    return new Float(value);
  }

  string() {
    this.at += 1;
    let out = "";
    for (;;) {
      out += this.skip(PLAIN);
      const char = this.text[this.at];
      if (char === '"') {
        this.at += 1;
        break;
      }
      if (char !== "\\") throw this.syntax();
      out += this.escape();
    }
    // Half a surrogate pair cannot be UTF-8, so nobody could have signed it.
    if (LONE.test(out)) throw new Refusal(9017);
    return out;
  }

  escape() {
    const kind = this.text[this.at + 1];
    if (kind === "u") {
      const digits = this.text.slice(this.at + 2, this.at + 6);
      if (!/^[0-9a-fA-F]{4}$/.test(digits)) throw this.syntax();
      this.at += 6;
      return String.fromCharCode(Number.parseInt(digits, 16));
    }
    if (kind === undefined || !Object.hasOwn(ESCAPES, kind)) throw this.syntax();
    this.at += 2;
    return ESCAPES[kind];
  }
}

const LONE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;

/**
 * Read JSON text. Objects become Maps, integers {@link Int}, other numbers {@link Float}.
 *
 * @param {string|Uint8Array} input text, or its UTF-8 bytes
 * @param {{lastWins?: boolean}} [options] `lastWins`: of a name that stands twice the last one counts, as in
 *   Python's reader; without it such text is refused, because two readers could see two meanings
 * @throws {Refusal} 9010 to 9017
 */
export function parse(input, { lastWins = false } = {}) {
  let text = input;
  if (typeof input !== "string") {
    if (input.length > MAX_JSON_BYTES) throw new Refusal(9010, input.length);
    try {
      text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(input);
    } catch {
      throw new Refusal(9011);
    }
  } else if (input.length > MAX_JSON_BYTES) {
    throw new Refusal(9010, input.length);
  }
  const reader = new Reader(text, lastWins);
  reader.skip(BLANK);
  const value = reader.value(0);
  reader.skip(BLANK);
  if (reader.at !== text.length) throw reader.syntax();
  return value;
}

/** Order by code point, as Python sorts. JavaScript compares UTF-16 units: an emoji before U+FFEE. */
export function byCodePoint(a, b) {
  const end = Math.min(a.length, b.length);
  for (let i = 0; i < end; i += 1) {
    if (a.charCodeAt(i) !== b.charCodeAt(i)) return rank(a.charCodeAt(i)) - rank(b.charCodeAt(i));
  }
  return a.length - b.length;
}

// Surrogates stand for code points above all others.
function rank(unit) {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}

const SHORT = {
  '"': '\\"',
  "\\": "\\\\",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
  "\b": "\\b",
  "\f": "\\f",
};

function quote(text) {
  // Everything outside of space to tilde is escaped, unit by unit.
  const escaped = text.replace(
    /[^ !#-[\]-~]/g,
    (unit) => SHORT[unit] ?? `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  return `"${escaped}"`;
}

/**
 * Python's repr of a float: the shortest digits that read back, with an exponent below 1e-4 and from 1e16.
 *
 * @param {number} value finite
 */
export function floatText(value) {
  if (!Number.isFinite(value)) throw new Refusal(9014);
  const sign = value < 0 || Object.is(value, -0) ? "-" : "";
  // JavaScript prints the same digits as Python, but puts the point and the exponent elsewhere.
  const [mantissa, exponentText = "0"] = String(Math.abs(value)).split("e");
  const [whole, fraction = ""] = mantissa.split(".");
  let digits = (whole + fraction).replace(/^0+/, "");
  const leading = (whole + fraction).length - digits.length;
  let exponent = Number(exponentText) + whole.length - 1 - leading;
  digits = digits.replace(/0+$/, "");
  if (digits === "") {
    digits = "0";
    exponent = 0;
  }
  if (exponent < -4 || exponent >= 16) {
    const tail = digits.length > 1 ? `.${digits.slice(1)}` : "";
    const size = String(Math.abs(exponent)).padStart(2, "0");
    return `${sign}${digits[0]}${tail}e${exponent < 0 ? "-" : "+"}${size}`;
  }
  if (exponent < 0) return `${sign}0.${"0".repeat(-exponent - 1)}${digits}`;
  if (digits.length <= exponent + 1) return `${sign}${digits.padEnd(exponent + 1, "0")}.0`;
  return `${sign}${digits.slice(0, exponent + 1)}.${digits.slice(exponent + 1)}`;
}

/**
 * The canonical text of what {@link parse} gave. Pure ASCII.
 *
 * Numbers that are not {@link Int} or {@link Float} are refused, because nobody could say which they were.
 */
export function canonical(value) {
  if (value === null) return "null";
  if (value === true) return "true";
  if (value === false) return "false";
  if (typeof value === "string") return quote(value);
  if (value instanceof Int) return value.text;
  if (value instanceof Float) return floatText(value.value);
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (value instanceof Map) {
    const names = [...value.keys()].sort(byCodePoint);
    return `{${names.map((name) => `${quote(name)}:${canonical(value.get(name))}`).join(",")}}`;
  }
  throw new Refusal(9014);
}
