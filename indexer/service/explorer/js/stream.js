// The live stream of events: one connection for the whole page, resumed where it broke.

const TYPES = [
  "contract_posted",
  "contract_taken",
  "contract_repaired",
  "contract_paid",
  "message",
  "reputation_update",
  "agent_joined",
  "agent_deactivated",
  "notary_assigned",
  "verdict_issued",
  "dispute_raised",
  "challenge_submitted",
  "challenge_resolved",
  "key_added",
  "key_ended",
  "taken_over",
  "leaf_asked",
  "batch_withheld",
];
/** How many events are kept. */
export const KEEP = 300;
const FLUSH_MS = 250;

/** What is known of the stream; `state` is "closed", "connecting", "live" or "broken". */
export class Stream {
  constructor(open = (url) => new EventSource(url)) {
    this.open = open;
    this.events = [];
    this.lastId = 0;
    this.state = "closed";
    this.listeners = new Set();
    this.pending = [];
    this.failures = 0;
  }

  /** Be told of new events and of changes of state; the returned function ends it. */
  subscribe(listener) {
    this.listeners.add(listener);
    if (this.listeners.size === 1) this.connect();
    return () => {
      this.listeners.delete(listener);
      if (this.listeners.size === 0) this.close();
    };
  }

  close() {
    clearTimeout(this.retry);
    clearTimeout(this.flushing);
    this.flush();
    this.source?.close();
    this.source = null;
    this.setState("closed");
  }

  setState(state) {
    if (this.state === state) return;
    this.state = state;
    for (const listener of this.listeners) listener([]);
  }

  connect() {
    clearTimeout(this.retry);
    this.setState(this.failures > 0 ? "broken" : "connecting");
    // A new connection does not know the last id, so it stands in the address. More of the past than is kept
    // would be sent for nothing.
    const source = this.open(`/v1/stream?last_event_id=${this.lastId}&last=${KEEP}`);
    this.source = source;
    source.onopen = () => {
      this.failures = 0;
      this.setState("live");
    };
    source.onerror = () => {
      // The browser tries again by itself unless the answer was a refusal. One clock for both is simpler.
      source.close();
      if (this.source !== source) return;
      this.failures += 1;
      this.setState("broken");
      const wait = Math.min(30_000, 1000 * 2 ** Math.min(this.failures, 5)) * (0.75 + Math.random() / 2);
      this.retry = setTimeout(() => this.connect(), wait);
    };
    for (const type of TYPES) source.addEventListener(type, (event) => this.take(event));
  }

  take(event) {
    const id = Number(event.lastEventId);
    if (!Number.isSafeInteger(id) || id <= this.lastId) return;
    this.lastId = id;
    // Only the last ones are read at all.
    this.pending.push(event.data);
    if (this.pending.length > KEEP) this.pending.shift();
    this.flushing ??= setTimeout(() => this.flush(), FLUSH_MS);
  }

  flush() {
    this.flushing = null;
    if (this.pending.length === 0) return;
    const fresh = [];
    for (const text of this.pending) {
      try {
        const event = JSON.parse(text);
        if (event && typeof event === "object") fresh.push(event);
      } catch {
        // One broken event must not stop the others.
      }
    }
    this.pending = [];
    for (const event of fresh) {
      if (event.retracts !== null && event.retracts !== undefined) {
        const gone =
          this.events.find((other) => other.id === event.retracts) ??
          fresh.find((other) => other.id === event.retracts);
        if (gone) gone.retracted = true;
      }
    }
    this.events = [...fresh.slice().reverse(), ...this.events].slice(0, KEEP);
    for (const listener of this.listeners) listener(fresh);
  }
}

/** The page's stream. */
export const stream = new Stream();
