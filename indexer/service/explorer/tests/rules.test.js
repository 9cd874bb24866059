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
  assert.equal(jump(" fixer "), "#/search?q=fixer");
  assert.equal(parseHash(jump("a&b #1")).query.q, "a&b #1");
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

const stake = (change = {}) => ({
  era: 2,
  owner: "x",
  micro_usdc: "30000000",
  pot_micro_usdc: "0",
  open_challenges: 0,
  unlock_available_slot: null,
  ended: false,
  ended_slot: null,
  slashed_slot: null,
  ...change,
});
const key = (change = {}) => ({ scopes: 15, from_epoch: 90, until_epoch: null, owner: "x", ...change });
const agent = (change = {}) => ({
  owner: "x",
  tenure: { number: 1, owner: "x", era: 2, from_epoch: 80 },
  stakes: [stake()],
  keys: [key()],
  lease: { state: "active", paid_through_epoch: 110, behind: 0 },
  batches: { count: 3, last_epoch: 99, missing: 0, withheld: 0 },
  challenges: { open: 0, answered: 0, lost: 0 },
  asks: { open: 0, shown: 0, withheld: 0 },
  slashed_micro_usdc: "0",
  fined_micro_usdc: "0",
  ...change,
});
const now = { epoch: 100, slot: 5000 };
const first = (change) => remarks(agent(change), now)[0];

test("an agent in order is in good standing", () => {
  assert.equal(standing(remarks(agent(), now)).grade, "ok");
});

test("what an owner must know comes first", () => {
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
  const lost = { challenges: { open: 0, answered: 0, lost: 1 }, slashed_micro_usdc: "5000000" };
  assert.match(first(lost).text, /Lost 1 challenge; 5.00 USDC/);
  assert.match(first({ fined_micro_usdc: "10000000" }).text, /10.00 USDC of fines/);
  assert.match(first({ lease: { state: "active", paid_through_epoch: 100, behind: 0 } }).text, /after today/);
  const nothing = {
    tenure: null,
    stakes: [],
    keys: [],
    lease: null,
    batches: { count: 0, last_epoch: null, missing: 0, withheld: 0 },
    owner: null,
  };
  assert.doesNotThrow(() => remarks(agent(nothing), { epoch: null, slot: null }));
});

test("missing data and withheld batches are told apart", () => {
  const batches = { count: 3, last_epoch: 99, missing: 0, withheld: 0 };
  const missing = first({ batches: { ...batches, missing: 2 } });
  assert.deepEqual([missing.grade, /2 batches is missing/.test(missing.text)], ["warn", true]);
  const withheld = first({ batches: { ...batches, withheld: 1 } });
  assert.deepEqual([withheld.grade, /1 batch is withheld.*it counts/.test(withheld.text)], ["bad", true]);
  assert.match(first({ batches: { ...batches, withheld: 2 } }).text, /2 batches are withheld.*they count/);
  assert.match(first({ batches: { ...batches, last_epoch: 80 } }).text, /decay/);
  assert.match(first({ asks: { open: 2 } }).text, /^2 asks not answered yet/);
});

test("each era's stake answers for its own batches", () => {
  const of = (...stakes) => first({ stakes });
  assert.match(of().text, /No stake is locked in the present era/);
  // The money of an era that has ended answers for its batches only.
  assert.match(of(stake({ era: 1, ended: true, ended_slot: 3 })).text, /No stake is locked/);
  const open = of(stake({ era: 1, ended: true, ended_slot: 3, open_challenges: 1 }), stake());
  assert.equal(open.grade, "bad");
  assert.match(open.text, /1 challenge of era 1 .* 30.00 USDC/);
  const slashed = of(stake({ micro_usdc: "0", ended: true, ended_slot: 9, slashed_slot: 9 }));
  assert.deepEqual([slashed.grade, /was slashed/.test(slashed.text)], ["bad", true]);
  const gone = of(stake({ micro_usdc: "0" }));
  assert.match(gone.text, /nothing answers for what this agent says/);
  assert.match(of(stake({ unlock_available_slot: 9000 })).text, /until slot 9,000/);
  assert.match(of(stake({ unlock_available_slot: 100 })).text, /can be claimed/);
});

test("keys count while their owner holds the agent, and a sale stops them until the take-over", () => {
  const batch = { scopes: 2 };
  assert.match(first({ keys: [] }).text, /No live key signs batches/);
  assert.match(first({ keys: [key({ until_epoch: 99 })] }).text, /No live key signs batches/);
  assert.match(first({ keys: [key({ from_epoch: 101 })] }).text, /No live key signs batches/);
  assert.match(first({ keys: [key({ owner: "former" })] }).text, /No live key signs batches/);
  assert.match(first({ keys: [key(batch)] }).text, /No live key signs deals/);
  const sold = remarks(agent({ owner: "buyer" }), now)[0];
  assert.match(sold.text, /has not taken over: no key acts/);
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
