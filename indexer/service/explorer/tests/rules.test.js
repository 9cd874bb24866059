import assert from "node:assert/strict";
import test from "node:test";

import { remarks, standing } from "../js/advice.js";
import { health } from "../js/health.js";
import { href, isAddress, jump, parseHash } from "../js/route.js";
import { SlotClock } from "../js/slots.js";

test("routes are read and written", () => {
  assert.equal(parseHash("").page, "overview");
  assert.equal(parseHash("#/").page, "overview");
  const batch = parseHash("#/agents/Abc/batches/7?kind=bid&x=a%20b");
  assert.equal(batch.page, "batch");
  assert.deepEqual({ ...batch.params }, { mint: "Abc", epoch: "7" });
  assert.deepEqual({ ...batch.query }, { kind: "bid", x: "a b" });
  assert.equal(parseHash("#/nowhere").page, "missing");
  assert.equal(parseHash("#/agents/a/b/c/d").page, "missing");
  assert.equal(parseHash("#/agents/%E0%A4%A").params.mint, "%E0%A4%A");
  assert.equal(href("agents", "a/b?c", { query: "é&", empty: "" }), "#/agents/a%2Fb%3Fc?query=%C3%A9%26");
  assert.equal(parseHash(href("agents", "a/b?c")).params.mint, "a/b?c");
  assert.equal(parseHash("#/agents?__proto__=1").query.__proto__, "1");
});

test("a pasted text leads somewhere", () => {
  assert.equal(jump("  "), null);
  assert.equal(jump("0123456789abcdef"), "#/contracts/0123456789abcdef");
  assert.equal(jump(" fixer "), "#/agents?query=fixer");
  assert.ok(isAddress("satiRkxEiwZ51cv8PRu8UMzuaqeaNU9jABo6oAFMsLe"));
  assert.ok(!isAddress("0".repeat(40)) && !isAddress("short"));
});

test("slots between known moments are reckoned, and marked so", () => {
  const clock = new SlotClock();
  assert.equal(clock.at(5), null);
  clock.observe(1000, 5000);
  assert.deepEqual(clock.at(1000), { at: 5_000_000, exact: true });
  assert.deepEqual(clock.at(1010), { at: 5_004_000, exact: false });
  clock.observe(2000, 5800);
  assert.deepEqual(clock.at(1500), { at: 5_400_000, exact: false });
  assert.equal(clock.rate(), 800);
  assert.equal(clock.at(3000).at, 6_600_000);
  assert.equal(clock.at(500).at, 4_600_000);
  clock.observe(null, 5);
  clock.observe(7, null);
  assert.equal(clock.known.length, 2);
  for (let i = 0; i < 3000; i += 1) clock.observe(3000 + i, 7000 + i);
  assert.ok(clock.known.length <= 513);
  assert.equal(clock.at(5999).exact, true);
});

const agent = (change = {}) => ({
  owner: "x",
  stake: { micro_usdc: "10000000", open_challenges: 0, unlock_available_slot: null },
  lease: { state: "active", paid_through_epoch: 110, behind: 0 },
  batches: { count: 3, last_epoch: 99, withheld: 0 },
  challenges: { open: 0, answered: 0, lost: 0 },
  slashed_micro_usdc: "0",
  ...change,
});
const now = { epoch: 100, slot: 5000 };

test("an agent in order is in good standing", () => {
  assert.equal(standing(remarks(agent(), now)).grade, "ok");
});

test("what an owner must know comes first", () => {
  const first = (change) => remarks(agent(change), now)[0];
  assert.match(
    first({ lease: { state: "deactivated", paid_through_epoch: 90, behind: 10 } }).text,
    /deactivated/,
  );
  assert.match(
    first({ lease: { state: "grace", paid_through_epoch: 98, behind: 2 } }).text,
    /2 epochs behind: 1 day/,
  );
  assert.match(
    first({ lease: { state: "grace", paid_through_epoch: 97, behind: 3 } }).text,
    /today is the last day/,
  );
  assert.match(first({ batches: { count: 3, last_epoch: 99, withheld: 2 } }).text, /2 batches is withheld/);
  assert.match(first({ stake: null }).text, /No stake/);
  const open = { micro_usdc: "10000000", open_challenges: 1, unlock_available_slot: null };
  assert.deepEqual(first({ stake: open }).grade, "bad");
  const gone = { micro_usdc: "0", open_challenges: 0, unlock_available_slot: null };
  assert.equal(first({ stake: gone }).grade, "bad");
  assert.match(first({ stake: gone }).text, /nothing answers for what this agent says/);
  const queued = { micro_usdc: "1", open_challenges: 0, unlock_available_slot: 9000 };
  assert.match(first({ stake: queued }).text, /until slot 9,000/);
  assert.match(first({ stake: { ...queued, unlock_available_slot: 100 } }).text, /can be claimed/);
  const lost = { challenges: { open: 0, answered: 0, lost: 1 }, slashed_micro_usdc: "5000000" };
  assert.match(first(lost).text, /Lost 1 challenge; 5.00 USDC/);
  assert.match(first({ batches: { count: 3, last_epoch: 80, withheld: 0 } }).text, /decay/);
  assert.match(first({ lease: { state: "active", paid_through_epoch: 100, behind: 0 } }).text, /after today/);
  const nothing = {
    stake: null,
    lease: null,
    batches: { count: 0, last_epoch: null, withheld: 0 },
    owner: null,
  };
  assert.doesNotThrow(() => remarks(agent(nothing), { epoch: null, slot: null }));
});

const status = (change = {}) => ({
  state: "live",
  lag_slots: 2,
  gaps_open: 0,
  backfill: null,
  last_audit: null,
  ...change,
});

test("stale data is reported, fresh data is not", () => {
  const link = { answeredAt: 1000, failed: false, now: 2000 };
  assert.deepEqual(health(status(), link), { grade: "ok", word: "live", sentence: null });
  assert.equal(health(null, { answeredAt: null, failed: false, now: 0 }).grade, "wait");
  assert.equal(health(null, { answeredAt: null, failed: true, now: 0 }).word, "offline");
  assert.equal(health(status(), { answeredAt: 0, failed: true, now: 60_000 }).word, "offline");
  assert.equal(health(status(), { answeredAt: 0, failed: true, now: 5_000 }).word, "live");
  assert.match(health(status({ lag_slots: 450 }), link).sentence, /450 slots \(about 3 min\)/);
  assert.equal(health(status({ state: "stalled", lag_slots: 9999 }), link).grade, "bad");
  const backfill = { from_slot: 0, to_slot: 200, done_slot: 50 };
  assert.match(health(status({ state: "backfill", backfill }), link).sentence, /25 % of 200 slots/);
  assert.doesNotMatch(health(status({ state: "backfill" }), link).sentence, /%/);
  assert.match(health(status({ gaps_open: 1 }), link).sentence, /1 gap in/);
  assert.match(health(status({ last_audit: { at: 1, differences: 2 } }), link).sentence, /2 differences/);
});
