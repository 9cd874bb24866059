import assert from "node:assert/strict";
import { createHash, createPrivateKey, createPublicKey, sign, webcrypto } from "node:crypto";
import { readFileSync } from "node:fs";
import test from "node:test";

import { Float, Int, canonical, parse } from "../js/canonical.js";
import { fromHex } from "../js/hex.js";
import { GENESIS, checkForm, read, signingPayload, verify } from "../js/transcript.js";

const { subtle } = webcrypto;
const VECTORS = new URL("../../../../tests/vectors/fix/chain_entries.json", import.meta.url);
// Through our own reader: JSON.parse would make 1708531200 of 1708531200.0.
const vectors = parse(readFileSync(VECTORS));
const sha256 = (text) => createHash("sha256").update(text).digest("hex");

test("the genesis hash is that of the vectors", () => {
  assert.equal(GENESIS, vectors.get("genesis_prev_hash"));
});

for (const list of ["int_timestamps", "float_timestamps"]) {
  test(`${list}: payloads, texts and hashes are those of the vectors`, async () => {
    const items = vectors.get(list);
    assert.ok(items.length >= 5);
    for (const [index, item] of items.entries()) {
      const entry = item.get("entry");
      checkForm(entry, index);
      assert.equal(signingPayload(entry), item.get("signing_payload"));
      assert.equal(canonical(entry), item.get("entry_canonical"));
      assert.equal(sha256(canonical(entry)), item.get("entry_hash"));
    }
    const report = await verify(read(canonical(items.map((item) => item.get("entry")))), { subtle });
    assert.equal(report.problem, null);
    assert.equal(report.verdict, "valid");
    assert.equal(report.good, items.length);
    assert.equal(report.head, items.at(-1).get("entry_hash"));
  });
}

for (const item of vectors.get("tampered")) {
  test(`tampered: ${item.get("name")}`, async () => {
    const transcript = read(canonical(new Map([["transcript", item.get("entries")]])));
    const report = await verify(transcript, { subtle });
    assert.equal(report.verdict === "valid", item.get("valid"), report.problem?.text);
    if (item.get("valid")) return;
    const hint = item.get("error_hint");
    assert.equal(report.problem.index, Number(/Entry (\d+)/.exec(hint)[1]), hint);
    if (hint.includes("Invalid signature")) assert.equal(report.problem.code, 9044);
    if (hint.includes("Unknown fields")) assert.equal(report.problem.code, 9021);
    if (hint.includes("Missing signature")) assert.equal(report.problem.code, 9042);
    assert.equal(report.good, report.problem.index);
  });
}

// A signer of our own, for chains as today's clients write them.
function party(byte) {
  const seed = Buffer.alloc(32, byte);
  const der = Buffer.concat([Buffer.from("302e020100300506032b657004220420", "hex"), seed]);
  const key = createPrivateKey({ key: der, format: "der", type: "pkcs8" });
  const raw = createPublicKey(key).export({ type: "spki", format: "der" }).subarray(-32);
  return { id: `fix_${raw.toString("hex")}`, key };
}
const principal = party(1);
const agent = party(2);
const server = party(3);
const stranger = party(4);

class Chain {
  constructor() {
    this.entries = [];
    this.head = GENESIS;
    this.at = 1795293000.25;
  }

  add(who, type, data, { withTime = true, seq = this.entries.length } = {}) {
    this.at += 1;
    const entry = new Map([
      ["type", type],
      ["data", parse(JSON.stringify(data))],
      ["seq", new Int(String(seq))],
      ["author", who.id],
      ["prev_hash", this.head],
      ["timestamp", new Float(this.at)],
      ["signature", ""],
    ]);
    entry.set("signature", sign(null, Buffer.from(signingPayload(entry, withTime)), who.key).toString("hex"));
    this.entries.push(entry);
    this.head = sha256(canonical(entry));
    return this;
  }

  judged(type, data, judge = server) {
    const names = { ruling: "zx1/fix/ruling/v1", reexecution: "zx1/fix/reexecution/v1" };
    const text = `${names[type]}\n${this.id()}\n${this.head}\n${canonical(parse(JSON.stringify(data)))}`;
    const signature = sign(null, Buffer.from(text), judge.key).toString("hex");
    return this.add(server, type, { ...data, judge_pubkey: judge.id, judge_signature: signature });
  }

  id() {
    return sha256(canonical(this.entries[0])).slice(0, 16);
  }

  text(extra = []) {
    return canonical(
      new Map([
        ["contract_id", this.id()],
        ["server_pubkey", server.id.slice(4)],
        ["transcript", this.entries],
        ...extra,
      ]),
    );
  }
}

function opened({ compat = false, judges = [] } = {}) {
  return new Chain()
    .add(principal, "post", { contract: { task: { command: "make" } }, principal_pubkey: principal.id })
    .add(server, "opened", { terms: { server: server.id, judges, compat } });
}

function whole() {
  return opened()
    .add(agent, "bond", { agent_pubkey: agent.id })
    .add(server, "bonded", { round: 0 })
    .add(agent, "accept", { agent_pubkey: agent.id })
    .add(agent, "fix", { fix: "touch Makefile", explanation: "é 😀 \u2028" })
    .add(principal, "verify", { success: true, explanation: "" });
}

test("a whole chain is valid, and says who is who", async () => {
  const chain = whole();
  const report = await verify(read(chain.text([["chain_head", chain.head]])), {
    subtle,
    expectedId: chain.id(),
  });
  assert.equal(report.verdict, "valid", report.problem?.text);
  assert.equal(report.contractId, chain.id());
  assert.equal(report.principal, principal.id);
  assert.deepEqual(report.agents, [agent.id]);
  assert.equal(report.server, server.id);
  assert.deepEqual(
    report.entries.map((e) => e.role),
    ["principal", "server", "agent", "server", "agent", "agent", "principal"],
  );
  assert.deepEqual(report.notes, []);
});

test("the indexer's and the market's answers are read, and a bare list too", async () => {
  const chain = whole();
  const list = canonical(chain.entries);
  const nested =
    `{"slot":1,"contract":{"id":"${chain.id()}","server":"${server.id}","chain_head":"${chain.head}",` +
    `"view":{"server_pubkey":"${server.id.slice(4)}"},"transcript":${list}}}`;
  const market =
    `{"id":"${chain.id()}","contract":{"task":{}},"transcript":${list},` + `"chain_head":"${chain.head}"}`;
  for (const text of [nested, market, list, `{"entries":${list}}`]) {
    assert.equal((await verify(read(text), { subtle })).verdict, "valid");
  }
  assert.equal(read(nested).head, chain.head);
  assert.throws(
    () => read("{}"),
    (error) => error.code === 9020,
  );
  assert.throws(
    () => read("[1"),
    (error) => error.code === 9012,
  );
});

async function problem(chain, options = {}, extra = []) {
  const report = await verify(read(chain.text(extra)), { subtle, ...options });
  assert.equal(report.verdict, "invalid");
  return [report.problem.index, report.problem.code];
}

test("a removed, swapped or repeated entry fails", async () => {
  const removed = whole();
  removed.entries.splice(3, 1);
  assert.deepEqual(await problem(removed), [3, 9051]);
  const swapped = whole();
  [swapped.entries[4], swapped.entries[5]] = [swapped.entries[5], swapped.entries[4]];
  assert.deepEqual(await problem(swapped), [4, 9051]);
  const repeated = whole();
  repeated.entries.push(repeated.entries[6]);
  assert.deepEqual(await problem(repeated), [7, 9051]);
});

test("an entry that hangs on another one fails, though its number and signature are right", async () => {
  const chain = whole();
  chain.head = sha256(canonical(chain.entries[2]));
  chain.add(principal, "review_accept", {});
  assert.deepEqual(await problem(chain), [7, 9051]);
});

test("a file cut off at the end fails when the head came with it", async () => {
  const chain = whole();
  const { head } = chain;
  chain.entries.pop();
  assert.deepEqual(await problem(chain, {}, [["chain_head", head]]), [null, 9051]);
});

test("an entry of another contract's chain fails", async () => {
  assert.deepEqual(await problem(whole(), { expectedId: "0123456789abcdef" }), [null, 9005]);
});

test("entries of authors to whom their type does not belong fail", async () => {
  const cases = [
    [opened().add(agent, "opened", { terms: {} }), [2, 9116]],
    [opened().add(principal, "closed", { reason: "no_agent" }), [2, 9116]],
    [opened().add(stranger, "cancel", { reason: "x" }), [2, 9113]],
    [whole().add(stranger, "fix", { fix: "x", explanation: "" }), [7, 9114]],
    [whole().add(stranger, "chat", { message: "x" }), [7, 9115]],
    [opened().add(stranger, "bond", { agent_pubkey: agent.id }), [2, 9114]],
    [opened().add(principal, "post", { contract: {}, principal_pubkey: principal.id }), [2, 9143]],
    [opened().add(server, "cancel", { reason: "x", on_behalf_of: principal.id }), [2, 9144]],
  ];
  for (const [chain, expected] of cases) assert.deepEqual(await problem(chain), expected);
});

test("another server than the one that came with the file fails", async () => {
  const chain = opened();
  const text = canonical(
    new Map([
      ["server_pubkey", stranger.id],
      ["transcript", chain.entries],
    ]),
  );
  const report = await verify(read(text), { subtle });
  assert.deepEqual([report.verdict, report.problem.code], ["invalid", 9149]);
});

test("signatures without the time hold only where the terms say so", async () => {
  const data = { agent_pubkey: agent.id };
  assert.deepEqual(await problem(opened().add(agent, "bond", data, { withTime: false })), [2, 9044]);
  const chain = opened({ compat: true })
    .add(agent, "bond", data, { withTime: false })
    .add(server, "accept", { agent_pubkey: agent.id, on_behalf_of: agent.id });
  const report = await verify(read(chain.text()), { subtle });
  assert.equal(report.verdict, "valid", report.problem?.text);
  assert.equal(report.entries[2].signature, "no time");
  assert.equal(report.entries[3].role, "server for agent");
  assert.equal(report.notes.length, 1);
});

test("a judge's signature covers contract, head and decision", async () => {
  const ruling = {
    outcome: "fulfilled",
    reasoning: "The fix works.",
    court: "district",
    level: 0,
    final: false,
    flags: [],
  };
  const judge = party(9);
  const good = opened({ judges: [judge.id] })
    .judged("reexecution", { ran: false, output: "", note: "no inputs" }, judge)
    .judged("ruling", ruling, judge);
  const report = await verify(read(good.text()), { subtle });
  assert.equal(report.verdict, "valid", report.problem?.text);
  assert.deepEqual(report.judges, [judge.id, judge.id]);
  assert.deepEqual(await problem(opened().judged("ruling", ruling, judge)), [2, 9138]);
  const moved = opened();
  const early = { ...ruling };
  const other = whole().judged("ruling", ruling).entries.at(-1).get("data");
  moved.add(server, "ruling", {
    ...early,
    judge_pubkey: server.id,
    judge_signature: other.get("judge_signature"),
  });
  assert.deepEqual(await problem(moved), [2, 9053]);
});

test("moments of arrival that do not fit are reported, though nobody signs them", async () => {
  const chain = whole();
  const times = chain.entries.map((entry) => Math.round(Number(entry.get("timestamp")) * 1000) + 50);
  const notes = async (list) => {
    const received = parse(JSON.stringify(list));
    const report = await verify(read(chain.text([["received_at", received]])), { subtle });
    assert.equal(report.verdict, "valid");
    return report.notes.join(" ");
  };
  assert.equal(await notes(times), "");
  assert.match(await notes(times.slice(1)), /not one moment/);
  assert.match(await notes(times.map((t, i) => (i === 3 ? t + 61_000 : t))), /entry 3/);
  assert.match(await notes(times.map((t, i) => (i === 4 ? t - 6_000 : t))), /entry 4/);
  assert.match(await notes(times.map((t, i) => (i === 4 ? times[3] - 1 : t))), /entry 4/);
});

test("every byte of an entry counts", async () => {
  const chain = whole();
  const text = chain.text();
  const at = text.indexOf("touch Makefile");
  const report = await verify(read(text.slice(0, at) + "T" + text.slice(at + 1)), { subtle });
  assert.equal(report.problem.index, 5);
  // Spaces outside of strings do not count: the canonical text is signed.
  const spaced = text.replaceAll('","', '" ,\n"').replaceAll('":', '" :');
  assert.equal((await verify(read(spaced), { subtle })).verdict, "valid");
});

test("a browser without Ed25519 still checks links, and says unsigned", async () => {
  const report = await verify(read(whole().text()), { subtle, signatures: false });
  assert.equal(report.verdict, "unsigned");
  const removed = whole();
  removed.entries.splice(2, 1);
  const broken = await verify(read(removed.text()), { subtle, signatures: false });
  assert.equal(broken.problem.code, 9051);
});

test("wrong forms are refused by their numbers, and never thrown out of verify", async () => {
  const cases = [
    ["type", new Int("1"), 9023],
    ["type", "nonsense", 9040],
    ["data", [], 9022],
    ["seq", new Float(1), 9026],
    ["seq", new Int("-1"), 9026],
    ["author", "nobody", 9001],
    ["author", "fix_zz", 9002],
    ["prev_hash", "AB", 9029],
    ["author", `fix_${"01".padEnd(64, "0")}`, 9004],
    ["timestamp", "now", 9041],
    ["timestamp", new Int("-5"), 9041],
    ["signature", "00", 9044],
    ["signature", null, 9042],
  ];
  for (const [name, value, code] of cases) {
    const chain = whole();
    chain.entries[4].set(name, value);
    const report = await verify(read(chain.text()), { subtle });
    assert.deepEqual([report.problem.index, report.problem.code], [4, code], `${name} ${value}`);
  }
  for (const text of ["[null]", "[[]]", "[1]", '["x"]', "[{}]"]) {
    assert.equal((await verify(read(text), { subtle })).verdict, "invalid");
  }
  assert.equal((await verify(read("[]"), { subtle })).problem.code, 9143);
  assert.equal(fromHex("0a")[0], 10);
});
