// Asking the indexer. Own origin only.

const TIMEOUT_MS = 20_000;
const KEEP = 60;

/** An answer that is a refusal, or none at all. */
export class ApiError extends Error {
  constructor(message, { status = 0, code = null } = {}) {
    super(message);
    this.name = "ApiError";
    this.status = status;
    this.code = code;
  }
}

/** The server's clock minus ours, in milliseconds: timers of 30 seconds must not depend on a wrong clock. */
let skew = 0;
const kept = new Map();
const watchers = new Set();

/** Now, by the server's clock as far as it is known. */
export function now() {
  return Date.now() + skew;
}

/** The chain's clock minus the server's. Not zero on local clusters whose time was moved. */
let chainSkew = 0;

/** Now, by the chain's clock: what slots are measured with. */
export function chainTime() {
  return now() + chainSkew;
}

/** Learn the chain's clock from a status, in Unix seconds. */
export function noteChainTime(seconds) {
  if (!Number.isFinite(seconds) || seconds <= 0) return;
  const difference = seconds * 1000 - now();
  // Clusters run seconds late; that is no other clock.
  chainSkew = Math.abs(difference) > 120_000 ? difference : 0;
}

/** Be told of every answer and every failure: `(ok: boolean) => void`. */
export function onAnswer(watcher) {
  watchers.add(watcher);
}

function noteClock(response, sentAt) {
  const date = Date.parse(response.headers.get("date") ?? "");
  if (!Number.isFinite(date)) return;
  // The header has whole seconds, and the answer was half way at about the middle.
  const difference = date + 500 - (sentAt + Date.now()) / 2;
  skew = Math.abs(difference) > 2000 ? difference : 0;
}

/** The address of a call; empty parameters are left out. */
export function address(path, query = {}) {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== null && value !== undefined && value !== "") search.set(name, String(value));
  }
  const tail = search.toString();
  return `${path}${tail ? `?${tail}` : ""}`;
}

/**
 * The text of an answer, untouched: transcripts are hashed, and JSON.parse would lose digits.
 *
 * @throws {ApiError}
 */
export async function getText(path, query, signal) {
  const url = address(path, query);
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  const sentAt = Date.now();
  let response;
  let text;
  try {
    response = await fetch(url, {
      headers: { accept: "application/json" },
      credentials: "omit",
      signal: signal ? either(signal, timeout) : timeout,
    });
    text = await response.text();
  } catch (error) {
    if (signal?.aborted) throw error;
    for (const watcher of watchers) watcher(false);
    throw new ApiError(
      timeout.aborted
        ? "The indexer did not answer within 20 seconds. Try again."
        : "The indexer cannot be reached. Check the connection and try again.",
    );
  }
  noteClock(response, sentAt);
  for (const watcher of watchers) watcher(true);
  if (response.ok) return text;
  throw refused(response.status, text);
}

/** A refusal (`application/problem+json`): what is wrong, and what to do. */
export function refused(status, text) {
  let problem = null;
  try {
    problem = JSON.parse(text);
  } catch {
    // A proxy's page: its text is of no use to the reader.
  }
  const said = [problem?.detail, problem?.next].filter((part) => typeof part === "string" && part !== "");
  const sentence = said.length > 0 ? said.join(" ") : `The indexer answered ${status}. Try again.`;
  return new ApiError(sentence, { status, code: problem?.code ?? null });
}

function either(a, b) {
  if (AbortSignal.any) return AbortSignal.any([a, b]);
  const controller = new AbortController();
  for (const signal of [a, b]) signal.addEventListener("abort", () => controller.abort(), { once: true });
  return controller.signal;
}

/** An answer as data. */
export async function get(path, query, signal) {
  const text = await getText(path, query, signal);
  let value;
  try {
    value = JSON.parse(text);
  } catch {
    throw new ApiError("The indexer's answer is not JSON. Try again, and tell its operator.");
  }
  const url = address(path, query);
  kept.delete(url);
  kept.set(url, value);
  if (kept.size > KEEP) kept.delete(kept.keys().next().value);
  return value;
}

/** The last answer to the same question, if it is still kept: shown while the new one is under way. */
export function last(path, query) {
  return kept.get(address(path, query)) ?? null;
}
