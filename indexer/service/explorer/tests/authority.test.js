import assert from "node:assert/strict";
import test from "node:test";

import * as a from "../js/authority.js";

test("scopes are named in the order of their bits, unknown bits are left out", () => {
  const names = (bits) => a.scopesOf(bits).map(([name]) => name);
  assert.deepEqual(names(15), ["pay", "batch", "deal", "peer"]);
  assert.deepEqual(names(6), ["batch", "deal"]);
  assert.deepEqual(names(0), []);
  assert.deepEqual(names(240), []);
  assert.deepEqual(names(null), []);
});

test("an agent that was sold is another's turn until its holder takes over", () => {
  const tenure = { number: 1, owner: "me", era: 0 };
  assert.equal(a.isUntaken({ owner: "me", tenure }), false);
  assert.equal(a.isUntaken({ owner: "buyer", tenure }), true);
  assert.equal(a.isUntaken({ owner: null, tenure }), false);
  assert.equal(a.isUntaken({ owner: "me", tenure: null }), false);
  // Whose turn it is may not have been read yet.
  assert.equal(a.isUntaken({ owner: "me", tenure: { ...tenure, owner: null } }), false);
});

test("the present stake is that of the tenure's era", () => {
  const stakes = [{ era: 0 }, { era: 2 }];
  assert.equal(a.presentStake({ stakes, tenure: { era: 2 } }), stakes[1]);
  assert.equal(a.presentStake({ stakes, tenure: { era: 1 } }), null);
  assert.equal(a.presentStake({ stakes, tenure: null }), null);
  assert.equal(a.presentStake({}), null);
});

test("a key acts from its first epoch on, while its owner holds the agent", () => {
  const now = { epoch: 100, owner: "me" };
  const one = { from_epoch: 100, until_epoch: null, owner: "me" };
  assert.equal(a.keyStands(one, now).state, "live");
  assert.equal(a.keyStands({ ...one, from_epoch: 102 }, now).state, "later");
  assert.equal(a.keyStands({ ...one, owner: "former" }, now).state, "idle");
  // Nobody holds the agent: nobody's key acts.
  assert.equal(a.keyStands(one, { epoch: 100, owner: null }).state, "idle");
});

test("an ended key's signatures count through its last epoch, one that ended unborn never counted", () => {
  const now = { epoch: 20_800, owner: "me" };
  const ended = a.keyStands({ from_epoch: 20_700, until_epoch: 20_778, owner: "me" }, now);
  assert.equal(ended.state, "ended");
  assert.match(ended.text, /count through 2026-11-21/);
  const unborn = a.keyStands({ from_epoch: 20_802, until_epoch: 20_801, owner: "me" }, now);
  assert.match(unborn.text, /none of its signatures counts/);
});

test("an era says who holds it up, when it is free, and when it was slashed", () => {
  const one = {
    era: 2,
    ended: false,
    ended_slot: null,
    slashed_slot: null,
    unlock_available_slot: null,
    open_challenges: 0,
  };
  const now = { era: 2, slot: 1_000_000 };
  const said = (change) => a.eraStands({ ...one, ...change }, now);
  assert.equal(said({}).state, "current");
  assert.deepEqual(said({ open_challenges: 2 }), { state: "held", text: "held by 2 open challenges" });
  assert.equal(said({ unlock_available_slot: 1_000_001 }).state, "unlocking");
  assert.match(said({ unlock_available_slot: 1_000_001 }).text, /from slot 1,000,001/);
  assert.match(said({ unlock_available_slot: 1_000_000 }).text, /the delay is over/);
  const ended = { ended: true, ended_slot: 568_000 };
  // An ended era is free strictly after the delay.
  assert.match(said(ended).text, /from slot 1,000,001/);
  assert.match(said({ ...ended, ended_slot: 567_999 }).text, /the delay is over/);
  assert.match(said({ ended: true }).text, /no batch lands/);
  assert.match(said({ ...ended, open_challenges: 1 }).text, /held by 1 open challenge$/);
  assert.equal(said({ ...ended, slashed_slot: 568_000 }).state, "slashed");
  // One that was slashed a moment ago may have other challenges in its order.
  assert.match(said({ ...ended, slashed_slot: 568_000, open_challenges: 3 }).text, /3 open challenges/);
  assert.equal(said({ era: 1 }).state, "ended");
});

test("only a bid has a value that is known or not, and nothing answers two values", () => {
  assert.match(a.valueText({ ground: 1, value_known: true }), /^known/);
  assert.match(a.valueText({ ground: 1, value_known: false }), /any value answers/);
  assert.match(a.valueText({ ground: 2, value_known: true }), /not about a value/);
  assert.match(a.valueText({ ground: a.DOUBLE_BID, value_known: true }), /nothing answers it/);
});

test("asks name a leaf, batches what they cover", () => {
  assert.equal(a.leafText({ tree: 0, index: 1234 }), "log leaf 1,234");
  assert.equal(a.leafText({ tree: 1, index: 0 }), "arrays leaf 0");
  assert.equal(a.coversText({ covers_from_epoch: 20_778, epoch: 20_778 }), "covers 2026-11-21");
  assert.equal(
    a.coversText({ covers_from_epoch: 20_776, epoch: 20_778 }),
    "covers 2026-11-19 to 2026-11-21, 3 epochs",
  );
});
