// The pure parts of the money story: what a fix changes, where a hit leads, how an agent stands, which events are live.

import assert from "node:assert/strict";
import test from "node:test";

import { changes } from "../js/diff.js";
import { STORY, KINDS, eventText } from "../js/event-text.js";
import { TERMS } from "../js/glossary.js";
import { only, placeOf, textOf } from "../js/hits.js";
import { STANDINGS, standingOf, successRate } from "../js/standings.js";

const lines = (fix, command = null) =>
  changes(fix, command).files.map((one) => [one.file, ...one.lines.map((line) => `${line.sign}${line.text}`)]);

test("an edit of the built-in rules is shown as the change of its lines", () => {
  const fix =
    'test "$(sed -n 2p Makefile)" = \'    gcc -o it it.c\' &&\n' +
    "sed -i --follow-symlinks -e '2c\\\n\\\tgcc -o it it.c' Makefile";
  assert.deepEqual(lines({ fix }), [["Makefile", "-    gcc -o it it.c", "+\tgcc -o it it.c"]]);
  const { files } = changes({ fix }, null);
  assert.equal(files[0].lines[0].number, 2);
});

test("inserted, appended and deleted lines stand in the order of the file", () => {
  const fix =
    'test "$(sed -n 1p \'a b.c\')" = \'int main() {\' &&\n' +
    'test "$(sed -n 3p \'a b.c\')" = \'it'+"'\\''"+'s\' &&\n' +
    "sed -i --follow-symlinks -e '3d' -e '1i\\\n#include <a\\\\b.h>' -e '1a\\\n  x;' 'a b.c'";
  assert.deepEqual(lines({ fix }), [
    ["a b.c", "+#include <a\\b.h>", " int main() {", " int main() {", "+  x;", "-it's"],
  ]);
});

test("a unified diff in a script is shown, with the numbers of its lines", () => {
  const fix = "patch -p1 <<'E'\n--- a/m.c\n+++ b/m.c\n@@ -4,2 +4,2 @@\n x\n-y\n+z\nE\nmake";
  const { files, script } = changes({ fix }, null);
  assert.deepEqual(files, [
    {
      file: "m.c",
      lines: [
        { number: 4, sign: " ", text: "x" },
        { number: null, sign: "-", text: "y" },
        { number: 5, sign: "+", text: "z" },
      ],
    },
  ]);
  assert.equal(script, null);
});

test("a corrected command is a change of the command", () => {
  assert.deepEqual(lines({ fix: "true", corrected_command: "gcc m.c -lm" }, "gcc m.c"), [
    ["command", "-gcc m.c", "+gcc m.c -lm"],
  ]);
  assert.equal(changes({ fix: "true", corrected_command: "gcc m.c -lm" }, "gcc m.c").script, null);
});

test("what cannot be read whole is shown as the script that it is", () => {
  for (const fix of [
    "rm -rf build && make",
    'test "$(sed -n 2p Makefile)" = \'x\' &&\nsed -i --follow-symlinks -e \'3d\' Makefile',
    'test "$(sed -n 2p Makefile)" = \'x\' &&\nsed -i --follow-symlinks -e \'2d\' Makefile; rm -rf /',
    'test "$(sed -n 2p Makefile)" = \'x &&\nsed -i',
  ]) {
    assert.deepEqual(changes({ fix }, null), { files: [], script: fix });
  }
  assert.deepEqual(changes({ fix: "" }, null), { files: [], script: null });
});

test("a hit leads to its page, and a single one at once", () => {
  const hit = (kind, id, more = {}) => ({ kind, id, title: "", note: null, slot: null, ...more });
  assert.equal(placeOf(hit("agent", "Mint")), "#/agents/Mint");
  assert.equal(placeOf(hit("contract", "0123456789abcdef")), "#/contracts/0123456789abcdef");
  assert.equal(placeOf(hit("transaction", "Sig", { slot: 7 })), "#/events?signature=Sig&from_slot=7&to_slot=7");
  assert.equal(placeOf(hit("slot", "7")), "#/events?from_slot=7&to_slot=7");
  assert.equal(placeOf(hit("epoch", "20778")), "#/batches?epoch=20778");
  assert.equal(placeOf(hit("party", "fix_0")), "#/contracts?party=fix_0");
  assert.equal(placeOf(hit("account", "A")), "#/events?account=A");
  assert.equal(placeOf(hit("challenge", "A")), "#/challenges/A");
  assert.equal(placeOf(hit("ask", "A")), "#/asks/A");
  assert.equal(placeOf(hit("newer", "A")), null);
  assert.equal(textOf(hit("epoch", "20778")), "2026-11-21 (20,778)");
  assert.equal(only([hit("agent", "M")]), "#/agents/M");
  assert.equal(only([hit("agent", "M"), hit("newer", "x")]), "#/agents/M");
  assert.equal(only([hit("agent", "M"), hit("agent", "N")]), null);
  assert.equal(only([]), null);
});

test("nobody has a perfect record by rounding, and nobody one before the first end", () => {
  assert.equal(successRate(0, 0), null);
  assert.equal(successRate(999, 1), "99 %");
  assert.equal(successRate(3, 0), "100 %");
  assert.equal(successRate(0, 2), "0 %");
});

test("a slashed agent is never of a good grade", () => {
  assert.equal(STANDINGS.slashed[0], "bad");
  assert.match(STANDINGS.slashed[2], /Do not rely/);
  assert.notEqual(STANDINGS.slashed_before[0], "ok");
  assert.deepEqual(standingOf("newer")[0], "info");
});

test("money events show live, with its amount", () => {
  const say = (type, fields) => eventText({ type, ...fields }).text;
  const half = "500000000000000000000000000000";
  assert.equal(say("contract_posted", { task: "make", bounty_raw: half }), "posted “make” for 0.5 XNO");
  assert.equal(say("contract_posted", { task: "make", bounty_raw: "0" }), "posted “make”, without a bounty");
  assert.equal(say("contract_taken", { task: "", bounty_raw: null }), "took a failing command");
  assert.equal(
    say("contract_repaired", { task: "make", repaired_ms: 12_345 }),
    "repaired “make” 12 s after it was posted",
  );
  const pay = "450000000000000000000000000000";
  assert.equal(say("contract_paid", { task: "make", amount_raw: pay }), "was paid 0.45 XNO for “make”");
  for (const kind of STORY) assert.ok(Object.hasOwn(KINDS, kind), kind);
});

test("a dozen words and more have a meaning of one or two sentences", () => {
  assert.ok(Object.keys(TERMS).length >= 12);
  for (const [word, meaning] of Object.entries(TERMS)) {
    assert.match(meaning, /\.$/, word);
    assert.ok(meaning.split(". ").length <= 3, word);
  }
});
