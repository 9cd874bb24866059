// Checking a fix transcript in the browser: form, links, signatures, authors, judges. Decisions E2, E6, E13.
//
// What needs the whole rule book (windows, money, states) is `fix verify`'s work; the page says so.

import { Float, Int, canonical, parse } from "./canonical.js";
import { isSmallOrder, verifyStrict } from "./ed25519.js";
import { fromHex, toHex } from "./hex.js";
import { Refusal } from "./refusal.js";

/** `prev_hash` of the first entry: SHA-256 of nothing. */
export const GENESIS = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
/** The most entries that are read: twice what a chain may have, as in the market's crate. */
export const MAX_ENTRIES = 1024;

/** Every type of entry: who may write it, and what it means. */
export const TYPES = {
  post: ["principal", "Contract posted"],
  cancel: ["principal", "Contract taken back"],
  bond: ["agent", "Agent took the contract"],
  accept: ["agent", "Agent committed itself"],
  decline: ["agent", "Agent gave it back"],
  investigate: ["agent", "Asked for a command's output"],
  result: ["principal", "Output of the command"],
  fix: ["agent", "Fix proposed"],
  verify: ["principal", "Fix verified"],
  review_accept: ["principal", "Review: accepted"],
  review_reject: ["principal", "Review: rejected"],
  dispute_filed: ["either", "Dispute filed"],
  dispute_response: ["either", "Answer to the dispute"],
  appeal: ["either", "Appeal"],
  waive: ["either", "Appeal waived"],
  chat: ["either", "Chat"],
  ask: ["agent", "Question"],
  answer: ["principal", "Answer"],
  message: ["either", "Message"],
  halt: ["principal", "Stopped by the principal"],
  resume: ["principal", "Resumed"],
  back_out: ["either", "A party left"],
  accounts: ["either", "Payout address changed"],
  feedback: ["either", "Feedback"],
  opened: ["server", "Contract opened"],
  bonded: ["server", "Agent's deposit confirmed"],
  auto_decline: ["server", "Investigation time ran out"],
  attempt_timeout: ["server", "Attempt's time ran out"],
  auto_fulfill: ["server", "Fulfilled: a window passed"],
  dispute_metadata: ["server", "Court named"],
  reexecution: ["server", "Verification run again"],
  ruling: ["server", "Ruling"],
  voided: ["server", "Voided: the judge did not rule, or the server was away"],
  resumed: ["server", "Windows move by the server's absence"],
  reopened: ["server", "Waits for another agent"],
  closed: ["server", "Closed"],
};

const FIELDS = ["type", "data", "seq", "author", "prev_hash", "timestamp", "signature"];
const encoder = new TextEncoder();

/**
 * Read a saved transcript, the market's answer of GET /contracts/{id} or the indexer's: `transcript` (or
 * `entries`, or a bare list), and if they are there `received_at`, `server_pubkey` (or `server`),
 * `contract_id` (or `id`), `chain_head`.
 *
 * @param {Uint8Array|string} input the file, untouched
 * @throws {Refusal} when it is not JSON, or holds no list of entries
 */
export function read(input) {
  const json = parse(input);
  let top = json instanceof Map ? json : new Map([["transcript", json]]);
  // The indexer's answer has it one level down, with the market's own answer as `view` beside it.
  const inner = top.get("contract");
  if (!top.has("transcript") && inner instanceof Map && inner.has("transcript")) top = inner;
  const view = top.get("view") instanceof Map ? top.get("view") : new Map();
  const list = top.get("transcript") ?? top.get("entries");
  if (!Array.isArray(list)) throw new Refusal(9020, "transcript");
  if (list.length > MAX_ENTRIES) throw new Refusal(9031, "transcript");
  const text = (name) => [top.get(name), view.get(name)].find((value) => typeof value === "string") ?? null;
  const arrivals = top.get("received_at") ?? view.get("received_at");
  const server = text("server_pubkey") ?? text("server");
  return {
    entries: list,
    contractId: text("contract_id") ?? text("id"),
    server: server && (server.startsWith("fix_") ? server : `fix_${server}`),
    head: text("chain_head"),
    receivedAt: Array.isArray(arrivals) ? arrivals.map(Number) : [],
  };
}

/** The form of one entry: the seven fields and no other, each well spelled. Throws what is wrong first. */
export function checkForm(entry, index) {
  if (!(entry instanceof Map)) throw new Refusal(9022, `transcript[${index}]`);
  const place = (name) => `transcript[${index}].${name}`;
  if (entry.get("signature") === undefined || entry.get("signature") === null) throw new Refusal(9042, index);
  for (const name of entry.keys()) if (!FIELDS.includes(name)) throw new Refusal(9021, place(name));
  for (const name of FIELDS) if (!entry.has(name)) throw new Refusal(9020, place(name));
  const type = entry.get("type");
  if (typeof type !== "string") throw new Refusal(9023, place("type"));
  if (!Object.hasOwn(TYPES, type)) throw new Refusal(9040, type.slice(0, 64));
  if (!(entry.get("data") instanceof Map)) throw new Refusal(9022, place("data"));
  const seq = entry.get("seq");
  if (!(seq instanceof Int) || !/^[0-9]{1,15}$/.test(seq.text)) throw new Refusal(9026, place("seq"));
  keyOf(entry.get("author"));
  if (!isHex(entry.get("prev_hash"), 64)) throw new Refusal(9029, place("prev_hash"));
  const time = entry.get("timestamp");
  const good = (time instanceof Int || time instanceof Float) && Number(time) >= 0 && Number(time) < 1e13;
  if (!good) throw new Refusal(9041);
  if (!isHex(entry.get("signature"), 128)) throw new Refusal(9044, index);
}

function isHex(text, length) {
  return typeof text === "string" && text.length === length && /^[0-9a-f]*$/.test(text);
}

/** The 32 bytes of a `fix_` id. */
export function keyOf(party) {
  if (typeof party !== "string" || !party.startsWith("fix_")) throw new Refusal(9001);
  const hex = party.slice(4);
  if (!isHex(hex, 64)) throw new Refusal(9002);
  const key = fromHex(hex);
  if (isSmallOrder(key)) throw new Refusal(9004);
  return key;
}

/** The canonical text that a signature covers. Old clients left the timestamp out (decision E13). */
export function signingPayload(entry, withTime = true) {
  const left = withTime ? ["signature"] : ["signature", "timestamp"];
  return canonical(new Map([...entry].filter(([name]) => !left.includes(name))));
}

async function sha256(subtle, text) {
  return toHex(new Uint8Array(await subtle.digest("SHA-256", encoder.encode(text))));
}

async function holds(subtle, party, text, signature) {
  if (!isHex(signature, 128)) return false;
  return verifyStrict(subtle, keyOf(party), encoder.encode(text), fromHex(signature));
}

// The parts of a ruling or re-execution that the judge signed, in the form that it signed them.
const JUDGED = {
  ruling: ["zx1/fix/ruling/v1", ["outcome", "reasoning", "court", "level", "final", "flags"]],
  reexecution: ["zx1/fix/reexecution/v1", ["ran", "success", "exit_code", "output", "note"]],
};

async function checkJudge(entry, terms, contractId, subtle) {
  const data = entry.get("data");
  const judge = data.get("judge_pubkey");
  const signature = data.get("judge_signature");
  if (judge == null && signature == null) return null;
  if (judge == null || signature == null) throw new Refusal(9053, "judge_signature");
  if (terms.known && judge !== terms.server && !terms.judges.includes(judge)) throw new Refusal(9138);
  const [domain, names] = JUDGED[entry.get("type")];
  const bare = new Map(names.map((name) => [name, data.get(name)]).filter(([, value]) => value != null));
  for (const name of ["output", "note"]) {
    if (names.includes(name) && !bare.has(name)) bare.set(name, "");
  }
  const text = `${domain}\n${contractId}\n${entry.get("prev_hash")}\n${canonical(bare)}`;
  if (!(await holds(subtle, judge, text, signature))) throw new Refusal(9053, "judge_signature");
  return judge;
}

/** What the `opened` entry says about the server. */
function termsOf(entries, claimed) {
  const opened = entries.find((e) => e instanceof Map && e.get("type") === "opened");
  const terms = opened?.get("data") instanceof Map ? opened.get("data").get("terms") : undefined;
  if (!(terms instanceof Map)) return { known: false, server: claimed, judges: [], compat: false };
  const server = terms.get("server");
  const judges = terms.get("judges");
  return {
    known: true,
    server: typeof server === "string" ? server : claimed,
    judges: Array.isArray(judges) ? judges : [],
    compat: terms.get("compat") === true,
  };
}

/** Who is who, as far as the entries so far have said it. */
class Parties {
  constructor(terms) {
    this.terms = terms;
    this.principal = null;
    this.agent = null;
  }

  /** The role in which an entry was signed. Throws when its type does not belong to its author. */
  role(entry) {
    const type = entry.get("type");
    const data = entry.get("data");
    const author = entry.get("author");
    const [owner] = TYPES[type];
    if (owner === "server") {
      if (this.terms.server && author !== this.terms.server) throw new Refusal(9116, type);
      return "server";
    }
    const behalf = data.get("on_behalf_of");
    const party = behalf ?? author;
    if (behalf != null && (!this.terms.compat || author !== this.terms.server)) throw new Refusal(9144);
    if (type === "post") {
      if (this.principal) throw new Refusal(9143);
      if ((data.get("principal_pubkey") ?? party) !== party) throw new Refusal(9113);
      this.principal = party;
    }
    if (type === "bond" || (type === "accept" && !this.agent)) {
      if ((data.get("agent_pubkey") ?? party) !== party) throw new Refusal(9114);
      this.agent = party;
    }
    const by = behalf == null ? "" : "server for ";
    if (owner === "principal" || (owner === "either" && party === this.principal)) {
      // A chain of an older client has no post; its first principal's entry says who that is.
      this.principal ??= party;
      if (party !== this.principal) throw new Refusal(9113);
      return `${by}principal`;
    }
    if (party !== this.agent) throw new Refusal(owner === "agent" ? 9114 : 9115);
    return `${by}agent`;
  }
}

/**
 * Check a transcript from the first entry to the last. Never throws for what is in it.
 *
 * @param {ReturnType<typeof read>} transcript
 * @param {{subtle: SubtleCrypto, signatures?: boolean, expectedId?: string,
 *   onProgress?: (done: number, total: number) => void}} options `signatures`: false where the browser has no
 *   Ed25519; then links and forms are checked, and the verdict is "unsigned" at best
 * @returns {Promise<object>} `verdict`: "valid", "unsigned" or "invalid"; `problem`: the first thing that is
 *   wrong; one item for each entry
 */
export async function verify(transcript, { subtle, signatures = true, expectedId, onProgress } = {}) {
  const terms = termsOf(transcript.entries, transcript.server);
  const parties = new Parties(terms);
  const report = {
    verdict: "invalid",
    problem: null,
    entries: [],
    notes: [],
    contractId: null,
    server: terms.server ?? null,
    principal: null,
    agents: [],
    judges: [],
    head: GENESIS,
    good: 0,
    total: transcript.entries.length,
    compat: terms.compat,
    signatures,
  };
  const first = transcript.entries[0];
  const posted = first instanceof Map && first.get("type") === "post";
  let head = GENESIS;
  for (const [index, entry] of transcript.entries.entries()) {
    const item = { index, form: "bad", link: "unknown", signature: "unknown", role: null, problem: null };
    report.entries.push(item);
    const blame = (error) => {
      if (!(error instanceof Refusal)) throw error;
      item.problem ??= { code: error.code, text: error.message };
      report.problem ??= { index, code: error.code, text: error.message };
    };
    try {
      checkForm(entry, index);
      item.form = "ok";
    } catch (error) {
      blame(error);
    }
    if (item.form === "ok") {
      describe(item, entry, transcript.receivedAt[index]);
      const linked = entry.get("prev_hash") === head && Number(entry.get("seq")) === index;
      item.link = linked ? "ok" : "broken";
      if (!linked) blame(new Refusal(9051, index));
      head = await sha256(subtle, canonical(entry));
      item.hash = head;
      if (index === 0 && posted) report.contractId = head.slice(0, 16);
      if (signatures) {
        item.signature = await signatureOf(entry, terms.compat, subtle);
        if (item.signature === "bad") blame(new Refusal(9044, index));
      }
      try {
        item.role = parties.role(entry);
        const judged = signatures && Object.hasOwn(JUDGED, item.type);
        item.judge = judged ? await checkJudge(entry, terms, report.contractId ?? "", subtle) : null;
        if (item.judge) report.judges.push(item.judge);
      } catch (error) {
        blame(error);
      }
      if (parties.agent && !report.agents.includes(parties.agent)) report.agents.push(parties.agent);
    } else {
      head = "";
    }
    if (!report.problem) report.good = index + 1;
    onProgress?.(index + 1, report.total);
  }
  report.principal = parties.principal;
  report.head = head;
  conclude(report, transcript, terms, posted, expectedId);
  return report;
}

function describe(item, entry, receivedAt) {
  item.type = entry.get("type");
  item.label = TYPES[item.type][1];
  item.seq = entry.get("seq").text;
  item.author = entry.get("author");
  item.at = Number(entry.get("timestamp")) * 1000;
  item.receivedAt = Number.isFinite(receivedAt) ? receivedAt : null;
  item.data = entry.get("data");
  item.prevHash = entry.get("prev_hash");
}

async function signatureOf(entry, compat, subtle) {
  const author = entry.get("author");
  const signature = entry.get("signature");
  if (await holds(subtle, author, signingPayload(entry), signature)) return "ok";
  if (compat && (await holds(subtle, author, signingPayload(entry, false), signature))) return "no time";
  return "bad";
}

// An entry is taken within a minute of its signature, or up to five seconds before it (a clock ahead).
const MAX_AGE_MS = 60_000;
const MAX_AHEAD_MS = 5_000;

/** What is wrong with the moments of arrival, which the file says and nobody signs; null when nothing is. */
function arrivalFault(entries, receivedAt) {
  if (receivedAt.length === 0) return null;
  if (receivedAt.length !== entries.length) return "The file has not one moment of arrival for each entry.";
  for (const [index, at] of receivedAt.entries()) {
    const age = at - (entries[index].at ?? at);
    if (
      !Number.isFinite(at) ||
      age > MAX_AGE_MS ||
      age < -MAX_AHEAD_MS ||
      at < (receivedAt[index - 1] ?? 0)
    ) {
      return `The moment of arrival of entry ${index} does not fit its signed time or the entry before.`;
    }
  }
  return null;
}

function conclude(report, transcript, terms, posted, expectedId) {
  const blame = (code, text) => {
    report.problem ??= { index: null, code, text };
  };
  if (report.total === 0) blame(9143, new Refusal(9143).message);
  if (terms.known && transcript.server && transcript.server !== terms.server) {
    blame(9149, new Refusal(9149, terms.server).message);
  }
  for (const id of [transcript.contractId, expectedId]) {
    if (id && report.contractId && id !== report.contractId) {
      blame(
        9005,
        `The entries belong to contract ${report.contractId}, not to ${String(id).slice(0, 64)}; ` +
          "ask the sender for the right file.",
      );
    }
  }
  // The head of an answer is that of the chain; a file that was cut off at the end differs in it.
  if (transcript.head && report.total > 0 && transcript.head !== report.head) {
    blame(
      9051,
      "The chain head that came with the transcript is not that of its last entry; entries were cut " +
        "off or changed.",
    );
  }
  if (!posted && report.total > 0) {
    report.notes.push(
      "The chain does not begin with a `post` entry, so the contract's terms are not inside it. " +
        "Older clients write such chains.",
    );
  }
  if (!terms.known && report.total > 0) {
    report.notes.push(
      terms.server
        ? "No `opened` entry: the server's key is the one that came with the file."
        : "No `opened` entry and no server key: who the server is cannot be told from this file.",
    );
  }
  if (report.entries.some((item) => item.signature === "no time")) {
    report.notes.push("Some signatures leave the time out, as older clients sign. Their times are claims.");
  }
  const late = arrivalFault(report.entries, transcript.receivedAt);
  if (late) {
    report.notes.push(
      `${late} Nobody signs the moments of arrival, so the entries hold all the same; ` +
        "`fix verify` refuses such a file.",
    );
  }
  if (report.problem) return;
  report.verdict = report.signatures ? "valid" : "unsigned";
}
