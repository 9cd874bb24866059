import assert from "node:assert/strict";
import test from "node:test";

import * as f from "../js/format.js";

test("integers are grouped, also beyond 2^53", () => {
  assert.equal(f.integer(0), "0");
  assert.equal(f.integer(1234567), "1,234,567");
  assert.equal(
    f.integer("340282366920938463463374607431768211455"),
    "340,282,366,920,938,463,463,374,607,431,768,211,455",
  );
  assert.equal(f.integer(-1234), "-1,234");
  assert.equal(f.integer(null), "–");
});

test("USDC has two digits at least, and all six when they are there", () => {
  assert.equal(f.usdc("10000000").text, "10.00");
  assert.equal(f.usdc("1").text, "0.000001");
  assert.equal(f.usdc("1234567890123456").text, "1,234,567,890.123456");
  assert.equal(f.usdc("0").text, "0.00");
  assert.equal(f.usdc("x"), null);
  assert.equal(f.usdc(null), null);
});

test("XNO is cut, never rounded up, and keeps its exact value beside it", () => {
  assert.deepEqual(f.xno("500000000000000000000000000000"), {
    text: "0.5",
    unit: "XNO",
    exact: "0.5 XNO",
    cut: false,
  });
  const cut = f.xno("1999999999999999999999999999999");
  assert.equal(cut.text, "1.999999");
  assert.equal(cut.exact, "1.999999999999999999999999999999 XNO");
  assert.equal(f.xno("1").text, "<0.000001");
  assert.equal(f.xno("0").text, "0");
  assert.equal(f.xno("340282366920938463463374607431768211455").text, "340,282,366.920938");
});

test("scores are thousandths with a sign", () => {
  assert.equal(f.score(62500), "+62.5");
  assert.equal(f.score(-62505), "−62.505");
  assert.equal(f.score(0), "0.0");
  assert.equal(f.score(-100000), "−100.0");
  assert.equal(f.score(5), "+0.005");
  assert.equal(f.score(-120), "−0.12");
  assert.equal(f.score(null), "–");
});

test("keys are shortened in the middle", () => {
  assert.equal(f.short("7xKXabcdefghijklmnop9fPqW"), "7xKXa…9fPqW");
  assert.equal(f.short("short"), "short");
  assert.equal(f.short(`fix_${"a".repeat(64)}`), `fix_aaaaa…aaaaa`);
});

test("spans, clocks and stamps", () => {
  assert.equal(f.span(0), "0 s");
  assert.equal(f.span(59_999), "59 s");
  assert.equal(f.span(60_000), "1 min");
  assert.equal(f.span(3_600_000 * 27), "1 d 3 h");
  assert.equal(f.span(3_660_000), "1 h 1 min");
  assert.equal(f.clock(8_001), "0:09");
  assert.equal(f.clock(-5), "0:00");
  assert.equal(f.clock(3_723_000), "1:02:03");
  assert.equal(f.clock(86_400_000 * 2 + 3_840_000), "2 d 01:04");
  assert.equal(f.ago(1_000, 61_000), "1 min ago");
  assert.equal(f.ago(61_000, 1_000), "in 1 min");
  assert.equal(f.ago(1_000, 1_500), "just now");
  assert.equal(f.stamp(1795293000000), "2026-11-21 20:30:00 UTC");
  assert.equal(f.stamp(Number.NaN), "–");
  assert.equal(f.stamp(1e99), "–");
  assert.equal(f.epochDay(20778), "2026-11-21");
});

test("names cannot hide or turn what stands around them", () => {
  assert.deepEqual(f.safeName("fixer"), { text: "fixer", odd: false });
  assert.deepEqual(f.safeName("a\u202ebc"), { text: "a\ufffdbc", odd: true });
  assert.deepEqual(f.safeName("pay\u200bpal"), { text: "pay\ufffdpal", odd: true });
  assert.equal(f.safeName("x\n\u0000y").text, "x\ufffd\ufffdy");
  assert.equal(f.safeName("\u2066\u2069\ufeff\u{e0041}").odd, true);
  assert.equal(f.safeName("<script>alert(1)</script>").text, "<script>alert(1)</script>");
  assert.equal(f.safeName("日本語 العربية עברית").odd, false);
  assert.equal(f.safeName("👩‍💻 dev").odd, false);
  assert.equal(f.safeName("👩🏽\u200d💻").odd, false);
  assert.equal(f.safeName("می\u200cخواهم").odd, false);
  assert.equal(f.safeName("क्\u200dष").odd, false);
  assert.equal(f.safeName("a\u200cb").odd, true);
  assert.equal(f.safeName("a\u200db").odd, true);
  assert.ok(f.safeName(`z${"\u0301".repeat(40)}`).text.length <= 4);
});

test("texts of several lines keep their lines", () => {
  assert.equal(f.safeText("a\r\nb\tc\u202e"), "a\nb\tc\ufffd");
});

test("fixes that failed outside are said in words, and nothing is said of none", () => {
  assert.equal(f.outside({ fixes: 14, failed_outside: 2 }), "2 of 14 fixes failed outside the sandbox");
  assert.equal(f.outside({ fixes: 1, failed_outside: 0 }), "0 of 1 fix failed outside the sandbox");
  for (const none of [null, undefined, {}, { fixes: 0, failed_outside: 0 }]) assert.equal(f.outside(none), null);
});

test("bytes and plurals", () => {
  assert.equal(f.bytes(12), "12 B");
  assert.equal(f.bytes(12_345), "12.1 KiB");
  assert.equal(f.bytes(5 * 1024 * 1024), "5.0 MiB");
  assert.equal(f.plural(1, "batch", "batches"), "1 batch");
  assert.equal(f.plural(0, "agent"), "0 agents");
});
