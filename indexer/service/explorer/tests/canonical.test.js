import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import test from "node:test";

import { Float, Int, MAX_JSON_DEPTH, byCodePoint, canonical, floatText, parse } from "../js/canonical.js";

const VECTORS = new URL("../../../../tests/vectors/fix/canonical_json.json", import.meta.url);
const vectors = JSON.parse(readFileSync(VECTORS, "utf8"));
const code = (number) => (error) => error.code === number;

for (const { name, raw, canonical: expected, sha256 } of vectors.accept) {
  test(`canonical_json accepts ${name}`, () => {
    const text = canonical(parse(raw, { lastWins: true }));
    assert.equal(text, expected);
    assert.equal(createHash("sha256").update(text).digest("hex"), sha256);
    // The bytes of the file give the same as its text.
    assert.equal(canonical(parse(new TextEncoder().encode(raw), { lastWins: true })), expected);
  });
}

for (const { name, raw } of vectors.reject) {
  test(`canonical_json refuses ${name}`, () => {
    assert.throws(() => parse(raw), code(9014));
  });
}

test("every vector was run", () => {
  assert.ok(vectors.accept.length >= 22 && vectors.reject.length >= 3);
});

test("a name that stands twice is refused unless asked for", () => {
  assert.throws(() => parse('{"a":1,"a":2}'), code(9015));
  assert.throws(() => parse('{"a":1,"\\u0061":2}'), code(9015));
});

test("names of Object.prototype are names like others", () => {
  const text = '{"__proto__":1,"constructor":{"prototype":2},"toString":3}';
  assert.equal(canonical(parse(text)), text);
  assert.equal({}.polluted, undefined);
});

test("floats print as Python prints them", () => {
  const cases = [
    [1708531200, "1708531200.0"],
    [1.7085312001234e9, "1708531200.1234"],
    [0.1, "0.1"],
    [1e16, "1e+16"],
    [9007199254740993, "9007199254740992.0"],
    [1e15, "1000000000000000.0"],
    [123456789012345680, "1.2345678901234568e+17"],
    [1e22, "1e+22"],
    [1e21, "1e+21"],
    [1e-4, "0.0001"],
    [1e-5, "1e-05"],
    [1.5e-7, "1.5e-07"],
    [5e-324, "5e-324"],
    [1.7976931348623157e308, "1.7976931348623157e+308"],
    [-0, "-0.0"],
    [0, "0.0"],
    [-2.5, "-2.5"],
    [100, "100.0"],
    [1120644135984139.25, "1120644135984139.2"],
    [2 ** 53, "9007199254740992.0"],
    [0.00012345, "0.00012345"],
    [12345678901234567, "1.2345678901234568e+16"],
    [4.35, "4.35"],
    [2.2250738585072014e-308, "2.2250738585072014e-308"],
  ];
  for (const [value, text] of cases) assert.equal(floatText(value), text);
});

test("a float's text reads back as the same float, for a million bit patterns", () => {
  const view = new DataView(new ArrayBuffer(8));
  let seed = 0x9e3779b9;
  const next = () => {
    seed = (Math.imul(seed ^ (seed >>> 15), 0x2c1b3c6d) + 0x6d2b79f5) >>> 0;
    return seed;
  };
  for (let i = 0; i < 1_000_000; i += 1) {
    view.setUint32(0, next());
    view.setUint32(4, next());
    const value = view.getFloat64(0);
    if (!Number.isFinite(value)) continue;
    const text = floatText(value);
    if (Number(text) !== value || !/^-?\d+(\.\d+)?(e[+-]\d{2,3})?$/.test(text) || !/[.e]/.test(text)) {
      assert.fail(`${value} prints as ${text}`);
    }
  }
});

test("integers keep every digit and floats stay floats", () => {
  const value = parse("[1,1.0,-0,-0.0,1e2,123456789012345678901]");
  assert.ok(value[0] instanceof Int && value[1] instanceof Float);
  assert.equal(canonical(value), "[1,1.0,0,-0.0,100.0,123456789012345678901]");
});

test("text that is not JSON is refused with its place", () => {
  const bad = [
    "",
    "{",
    "[1,]",
    '{"a":1,}',
    "01",
    "1.",
    ".5",
    "+1",
    "1e",
    "'a'",
    '"\n"',
    '"\\x"',
    "tru",
    "[1] 2",
    '"\\u12g4"',
    "{a:1}",
    "[1 2]",
    "-",
    "nul",
    "\u00a01",
    "1_0",
    "0x10",
    '"abc',
  ];
  for (const text of bad) assert.throws(() => parse(text), code(9012), JSON.stringify(text));
});

test("half a surrogate pair, deep nesting, long integers and wrong UTF-8 are refused", () => {
  for (const text of ['"\\ud800"', '"\\udc00\\ud800"', '"\\ud800x"', '{"\\udfff":1}']) {
    assert.throws(() => parse(text), code(9017), text);
  }
  assert.equal(parse('"\\ud83d\\ude00"'), "😀");
  const deep = (n) => "[".repeat(n) + "]".repeat(n);
  assert.doesNotThrow(() => parse(deep(MAX_JSON_DEPTH + 1)));
  assert.throws(() => parse(deep(MAX_JSON_DEPTH + 2)), code(9013));
  assert.doesNotThrow(() => parse("9".repeat(4300)));
  assert.throws(() => parse("9".repeat(4301)), code(9016));
  assert.throws(() => parse(Uint8Array.of(0x22, 0xff, 0x22)), code(9011));
  // A byte order mark is not JSON and must not be swallowed.
  assert.throws(() => parse(Uint8Array.of(0xef, 0xbb, 0xbf, 0x31)), code(9012));
  assert.throws(() => parse("1e999"), code(9014));
});

test("names sort by code point", () => {
  assert.ok(byCodePoint("\uffee", "\u{1f600}") < 0);
  assert.ok(byCodePoint("\u{1f600}", "\u{1f601}") < 0);
  assert.ok(byCodePoint("a", "ab") < 0 && byCodePoint("b", "ab") > 0 && byCodePoint("x", "x") === 0);
});

test("canonical text of a canonical text is the same", () => {
  for (const { canonical: text } of vectors.accept) assert.equal(canonical(parse(text)), text);
});
