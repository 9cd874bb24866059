import assert from "node:assert/strict";
import test from "node:test";

import { eventText, KINDS } from "../js/event-text.js";
import { KEEP, Stream } from "../js/stream.js";

// Stands for the browser's EventSource.
class Source {
  constructor(url) {
    this.url = url;
    this.listeners = {};
    this.closed = false;
    Source.all.push(this);
  }

  addEventListener(type, listener) {
    this.listeners[type] = listener;
  }

  close() {
    this.closed = true;
  }

  emit(id, extra = {}) {
    const data = JSON.stringify({ id, type: "agent_joined", retracts: null, ...extra });
    this.listeners.agent_joined?.({ lastEventId: String(id), data });
  }
}
Source.all = [];

function fresh() {
  Source.all = [];
  const stream = new Stream((url) => new Source(url));
  const told = [];
  const end = stream.subscribe((events) => told.push(...events));
  return { stream, told, end, source: Source.all[0] };
}

test("it listens to all types, and to nothing before somebody asks", () => {
  Source.all = [];
  const stream = new Stream((url) => new Source(url));
  assert.equal(Source.all.length, 0);
  const end = stream.subscribe(() => {});
  assert.deepEqual(Object.keys(Source.all[0].listeners).sort(), Object.keys(KINDS).sort());
  assert.equal(Object.keys(KINDS).length, 18);
  end();
  assert.ok(Source.all[0].closed);
  assert.equal(stream.state, "closed");
});

test("events are kept newest first, and told once", () => {
  const { stream, told, end, source } = fresh();
  source.onopen();
  assert.equal(stream.state, "live");
  source.emit(1);
  source.emit(2);
  stream.flush();
  source.emit(2);
  source.emit(1);
  stream.flush();
  assert.deepEqual(
    stream.events.map((e) => e.id),
    [2, 1],
  );
  assert.deepEqual(
    told.map((e) => e.id),
    [1, 2],
  );
  end();
});

test("it asks for no more of the past than it keeps, and after a break for what follows the last id", () => {
  const { stream, end, source } = fresh();
  assert.equal(source.url, `/v1/stream?last_event_id=0&last=${KEEP}`);
  source.emit(41);
  source.onerror();
  assert.equal(stream.state, "broken");
  assert.ok(source.closed);
  stream.connect();
  assert.equal(Source.all[1].url, `/v1/stream?last_event_id=41&last=${KEEP}`);
  // The old connection's late error must not disturb the new one.
  Source.all[1].onopen();
  source.onerror();
  assert.equal(stream.state, "live");
  end();
});

test("a page that comes back goes on where it left", () => {
  const { stream, end, source } = fresh();
  source.emit(7);
  end();
  const again = stream.subscribe(() => {});
  assert.equal(Source.all[1].url, `/v1/stream?last_event_id=7&last=${KEEP}`);
  assert.deepEqual(
    stream.events.map((e) => e.id),
    [7],
  );
  again();
});

test("no more than the last events are kept, whatever comes", () => {
  const { stream, end, source } = fresh();
  for (let id = 1; id <= 5 * KEEP; id += 1) source.emit(id);
  stream.flush();
  assert.equal(stream.events.length, KEEP);
  assert.equal(stream.events[0].id, 5 * KEEP);
  end();
});

test("retracted events are marked, broken ones are left out", () => {
  const { stream, end, source } = fresh();
  source.emit(1);
  stream.flush();
  source.listeners.agent_joined({ lastEventId: "2", data: "{" });
  source.listeners.agent_joined({ lastEventId: "x", data: "{}" });
  source.emit(3, { retracts: 1 });
  stream.flush();
  assert.deepEqual(
    stream.events.map((e) => [e.id, Boolean(e.retracted)]),
    [
      [3, false],
      [1, true],
    ],
  );
  end();
});

test("every type has a sentence, also with fields missing", () => {
  for (const type of Object.keys(KINDS)) {
    const { label, text } = eventText({ type, epoch: 20_000, source: "batch" });
    assert.ok(label.length > 3, type);
    assert.doesNotMatch(text, /undefined|NaN|null/, `${type}: ${text}`);
  }
  assert.equal(eventText({ type: "constructor" }).text, "");
  assert.equal(eventText({ type: "new_thing" }).label, "new_thing");
});

test("sentences say what happened", () => {
  const lost = {
    type: "challenge_resolved",
    outcome: 2,
    slashed_micro_usdc: "25000000",
    reward_micro_usdc: "12500000",
  };
  assert.equal(eventText(lost).text, "lost a challenge: 25.00 USDC slashed, 12.50 USDC to the challenger");
  assert.equal(eventText(lost).grade, "bad");
  assert.equal(eventText({ ...lost, outcome: 3 }).text, "lost a challenge; nothing was left to slash");
  assert.equal(eventText({ ...lost, outcome: 1 }).text, "was cleared of a challenge: the record was shown");
  assert.equal(eventText({ ...lost, outcome: 1 }).grade, "ok");
  assert.equal(
    eventText({ type: "key_added", scopes: 6, from_epoch: 20778 }).text,
    "listed a key for batch, deal, valid from 2026-11-21",
  );
  assert.equal(
    eventText({ type: "key_ended", until_epoch: 20778 }).text,
    "ended a key, valid through 2026-11-21",
  );
  assert.equal(
    eventText({ type: "taken_over", number: 2, from_epoch: 20778 }).text,
    "was taken over: tenure 2 from 2026-11-21",
  );
  assert.equal(
    eventText({ type: "leaf_asked", tree: 0, index: 7, epoch: 20778 }).text,
    "is asked for log leaf 7 of the batch of 2026-11-21",
  );
  assert.equal(eventText({ type: "batch_withheld", epoch: 20778 }).grade, "bad");
  assert.equal(
    eventText({ type: "agent_joined", cause: "first_lease", paid_through_epoch: 20778 }).text,
    "paid its first lease, paid through 2026-11-21",
  );
  assert.equal(
    eventText({ type: "agent_deactivated", cause: "tick", paid_through_epoch: 20777 }).text,
    "was deactivated: lease unpaid since 2026-11-21",
  );
});
