// A client of the agent relay in JavaScript, written from the description of the wire and nothing of zx1's own. It walks
// the wire once and says on standard output what it has seen, one JSON object a step. It exits with 1 at the first frame
// that is not as described, and says what was expected and what came.
//
//   node walk.mjs ws://HOST:PORT      a relay with no pause between messages and no minimum age of proposals
//
// It needs a node.js with a WebSocket of its own (22 or newer), and no packages.

import { randomBytes } from 'node:crypto';
import { Key, Mismatch, absent, address, check, number, open, opened, sha256, sleep, text } from './client.mjs';
import { pack, unpack } from './slurp.mjs';

const CHUNK_SPACING_MS = 200;

async function step(name, walk) {
  try {
    const seen = await walk();
    process.stdout.write(`${JSON.stringify({ step: name, ...seen })}\n`);
  } catch (why) {
    process.stderr.write(`${name}: ${why instanceof Mismatch ? why.message : why.stack}\n`);
    process.exit(1);
  }
}

// The walk

const [annKey, bobKey] = [new Key(), new Key()];
let ann, bob, eve;

await step('health', async () => {
  const url = address.replace(/^ws/, 'http');
  const answer = await fetch(`${url}/health`);
  const health = check({
    status: 'healthy', server: text, version: text, uptime_seconds: number, started_at: (it) => !absent(it),
    agents: { connected: number, with_identity: number }, channels: { total: number, public: number },
    proposals: { total: number, byStatus: (it) => typeof it === 'object', agents: (it) => it !== undefined }, timestamp: (it) => !absent(it),
  }, await answer.json());
  check(200, answer.status);
  check(404, (await fetch(`${url}/nowhere`)).status);
  return { server: health.server };
});

await step('before identification', async () => {
  ann = await open(annKey);
  await ann.ask('PING', {}, 'PONG');
  const { list } = await ann.ask('LIST_CHANNELS', {}, 'CHANNELS');
  check(['#agents', '#discovery', '#general'], list.map((it) => it.name).sort());
  list.forEach((it) => check({ name: text, agents: 0 }, it));
  await ann.refused('JOIN', { channel: '#general' }, 'AUTH_REQUIRED');
  await ann.refused('MSG', { to: '#general', content: 'hello' }, 'AUTH_REQUIRED');
  ann.socket.send('{"type":');
  await ann.expect('ERROR', { code: 'INVALID_MSG' });
  await ann.refused('NO_SUCH_TYPE', {}, 'INVALID_MSG');
  return { channels: list.length };
});

await step('a key is proven', async () => {
  await ann.identify('ann');
  bob = await open(bobKey);
  const welcome = await bob.identify('bob');
  return { fields: Object.keys(welcome) };
});

await step('a wrong proof', async () => {
  const mallory = await open(annKey);
  await mallory.challenge('mallory');
  mallory.respond(bobKey);
  await mallory.expect('ERROR', { code: 'VERIFICATION_FAILED' });
  await mallory.close();
  await ann.quiet();
});

await step('an ephemeral agent', async () => {
  eve = await open();
  const welcome = await eve.identify('eve');
  check((it) => it !== true, welcome.verified);
  const again = await eve.refused('IDENTIFY', { name: 'again', pubkey: null }, null);
  const bad = await open();
  const { code } = await bad.refused('IDENTIFY', { name: 'no spaces', pubkey: null }, null);
  await bad.refused('IDENTIFY', { name: 'x'.repeat(33), pubkey: null }, code);
  await bad.close();
  return { bad_name: code, again: again.code };
});

await step('channels', async () => {
  await ann.ask('CREATE_CHANNEL', { channel: '#open' }, 'JOINED', { channel: '#open', agents: [ann.id] });
  await ann.ask('CREATE_CHANNEL', { channel: '#den', invite_only: true }, 'JOINED', { channel: '#den', agents: [ann.id] });
  await ann.quiet();
  const { list } = await bob.ask('LIST_CHANNELS', {}, 'CHANNELS');
  check(['#agents', '#discovery', '#general', '#open'], list.map((it) => it.name).sort());
  check({ agents: 1 }, list.find((it) => it.name === '#open'));
  await bob.refused('CREATE_CHANNEL', { channel: '#open' }, 'CHANNEL_EXISTS');
  const { code } = await bob.refused('CREATE_CHANNEL', { channel: 'no-hash' }, null);
  await bob.refused('CREATE_CHANNEL', { channel: `#${'x'.repeat(32)}` }, code);
  await bob.refused('JOIN', { channel: '#nowhere' }, 'CHANNEL_NOT_FOUND');
  return { bad_channel: code };
});

await step('join', async () => {
  await ann.ask('MSG', { to: '#open', content: 'first' }, 'MSG', { from: ann.id, from_name: 'ann', to: '#open', content: 'first' });
  await ann.ask('MSG', { to: '#open', content: 'second' }, 'MSG', { content: 'second', replay: absent });
  bob.send('JOIN', { channel: '#open' });
  await ann.expect('AGENT_JOINED', { channel: '#open', agent: bob.id, name: 'bob', verified: true });
  const { agents } = await bob.expect('JOINED', { channel: '#open' });
  check([[ann.id, 'ann', true], [bob.id, 'bob', true]], agents.map((it) => [it.id, it.name, it.verified]).sort((x, y) => (x[1] < y[1] ? -1 : 1)));
  await bob.expect('MSG', { from: ann.id, from_name: 'ann', to: '#open', content: 'first', replay: true });
  await bob.expect('MSG', { content: 'second', replay: true });
  const welcome = await bob.expect('MSG', { from: '@server', from_name: 'Server', content: text, replay: absent });
  await bob.quiet();
  await ann.quiet();
  return { welcome: welcome.content };
});

await step('join again', async () => {
  await bob.ask('JOIN', { channel: '#open' }, 'JOINED', { channel: '#open' });
  await bob.expect('MSG', { content: 'first', replay: true });
  await bob.expect('MSG', { content: 'second', replay: true });
  await bob.quiet();
  await ann.quiet();
});

await step('invitation', async () => {
  await bob.refused('JOIN', { channel: '#den' }, 'NOT_INVITED');
  await bob.refused('INVITE', { channel: '#den', agent: bob.id }, null);
  ann.send('INVITE', { channel: '#den', agent: bob.id });
  const confirmed = await ann.drain();
  const told = await bob.expect('MSG', { from: '@server', from_name: 'Server', content: /#den/ });
  await bob.ask('JOIN', { channel: '#den' }, 'JOINED', { channel: '#den' });
  await ann.expect('AGENT_JOINED', { channel: '#den', agent: bob.id });
  await bob.expect('MSG', { from: '@server' });
  await bob.quiet();
  await ann.refused('INVITE', { channel: '#den', agent: '@00000000' }, 'AGENT_NOT_FOUND');
  await eve.refused('JOIN', { channel: '#den' }, 'NOT_INVITED');
  return { invited: told.content, inviter: confirmed.map((it) => it.type) };
});

await step('talk and echo', async () => {
  const said = { from: bob.id, from_name: 'bob', to: '#open', content: 'hej ✓' };
  await bob.ask('MSG', { to: '#open', content: 'hej ✓' }, 'MSG', said);
  await ann.expect('MSG', said);
  const longest = '\u{1F600}'.repeat(2048);
  await bob.ask('MSG', { to: '#open', content: longest }, 'MSG', { content: longest });
  await ann.expect('MSG', { content: longest });
  await bob.refused('MSG', { to: '#open', content: `${longest}x` }, 'INVALID_MSG');
  await bob.refused('MSG', { to: '#open' }, 'INVALID_MSG');
  await eve.refused('MSG', { to: '#open', content: 'from outside' }, null);
  await bob.refused('MSG', { to: '#nowhere', content: 'x' }, 'CHANNEL_NOT_FOUND');
  await bob.refused('MSG', { to: '@00000000', content: 'x' }, 'AGENT_NOT_FOUND');
  await ann.quiet();
});

await step('a signed direct message', async () => {
  const ts = Date.now();
  const body = { to: bob.id, content: 'between us' };
  const sig = annKey.sign(JSON.stringify({ ...body, ts }));
  const sent = { from: ann.id, from_name: 'ann', ...body, sig };
  await ann.ask('MSG', { ts, ...body, sig }, 'MSG', sent);
  const came = await bob.expect('MSG', sent);
  await eve.quiet();
  // The signature is over the sender's time; the frame's is the relay's.
  check(true, annKey.signed(JSON.stringify({ ...body, ts }), came.sig));
});

await step('typing', async () => {
  ann.send('TYPING', { channel: '#open' });
  await bob.expect('TYPING', { from: ann.id, from_name: 'ann', channel: '#open' });
  await ann.quiet();
});

await step('presence', async () => {
  ann.send('SET_PRESENCE', { status: 'busy', status_text: 'building' });
  await bob.expect('PRESENCE_CHANGED', { agent_id: ann.id, name: 'ann', presence: 'busy', status_text: 'building' });
  await ann.quiet();
  // They share two channels: it comes once.
  await bob.quiet();
  await eve.quiet();
  const { list } = await bob.ask('LIST_AGENTS', { channel: '#open' }, 'AGENTS', { channel: '#open' });
  check({ name: 'ann', presence: 'busy', status_text: 'building', verified: true }, list.find((it) => it.id === ann.id));
  check({ name: 'bob', presence: 'online', verified: true }, list.find((it) => it.id === bob.id));
  await ann.refused('SET_PRESENCE', { status: 'asleep' }, 'INVALID_MSG');
  await ann.refused('SET_PRESENCE', { status: 'online', status_text: 'x'.repeat(101) }, 'INVALID_MSG');
});

await step('nick', async () => {
  bob.send('SET_NICK', { nick: 'robert' });
  const changed = { agent_id: bob.id, old_nick: 'bob', new_nick: 'robert' };
  await ann.expect('NICK_CHANGED', changed);
  for (const frame of [...await bob.drain(), ...await ann.drain()]) check({ type: 'NICK_CHANGED', ...changed }, frame);
  await bob.refused('SET_NICK', { nick: 'rob' }, 'RATE_LIMITED');
  const { code } = await ann.refused('SET_NICK', { nick: 'x'.repeat(25) }, null);
  const reserved = await ann.refused('SET_NICK', { nick: 'server' }, null);
  return { bad_nick: code, reserved: reserved.code };
});

await step('skills', async () => {
  const skills = [{ capability: 'proofreading', rate: 5, currency: 'XNO', description: 'of "any" text ✓' }, { capability: 'rust' }];
  const sig = bobKey.sign(`REGISTER_SKILLS|${sha256(JSON.stringify(skills))}`);
  await bob.ask('REGISTER_SKILLS', { skills, sig }, 'SKILLS_REGISTERED', {
    agent_id: bob.id, skills_count: 2, registered_at: number,
  });
  const query = { capability: 'proofread' };
  const found = await ann.ask('SEARCH_SKILLS', { query, query_id: 'q1' }, 'SEARCH_RESULTS', { query_id: 'q1', query, total: 1 });
  check({ agent_id: bob.id, capability: 'proofreading', rate: 5, currency: 'XNO' }, found.results[0]);
  const cheap = { capability: 'proofreading', max_rate: 4 };
  await ann.ask('SEARCH_SKILLS', { query: cheap }, 'SEARCH_RESULTS', { total: 0, results: [] });
  const forged = annKey.sign(`REGISTER_SKILLS|${sha256(JSON.stringify(skills))}`);
  const { code } = await bob.refused('REGISTER_SKILLS', { skills, sig: forged }, null);
  return { forged: code, result: Object.keys(found.results[0]) };
});

await step('agents verify each other', async () => {
  const nonce = randomBytes(16).toString('hex');
  const { request_id } = await ann.ask('VERIFY_REQUEST', { target: bob.id, nonce }, 'VERIFY_REQUEST', { target: bob.id, status: 'pending' });
  await bob.expect('VERIFY_REQUEST', { request_id, from: ann.id, nonce });
  await bob.ask('VERIFY_RESPONSE', { request_id, nonce, sig: bobKey.sign(nonce) }, 'VERIFY_SUCCESS', { request_id, verified: true });
  await ann.expect('VERIFY_SUCCESS', { request_id, agent: bob.id, pubkey: bobKey.pem });

  const again = await ann.ask('VERIFY_REQUEST', { target: bob.id, nonce }, 'VERIFY_REQUEST', { status: 'pending' });
  await bob.expect('VERIFY_REQUEST', { request_id: again.request_id });
  bob.send('VERIFY_RESPONSE', { request_id: again.request_id, nonce, sig: annKey.sign(nonce) });
  await ann.expect('VERIFY_FAILED', { request_id: again.request_id, target: bob.id, reason: text });
  const answer = await bob.drain();
  await ann.refused('VERIFY_REQUEST', { target: bob.id, nonce: 'short' }, 'INVALID_MSG');
  await ann.refused('VERIFY_REQUEST', { target: eve.id, nonce }, 'NO_PUBKEY');
  await ann.refused('VERIFY_REQUEST', { target: '@00000000', nonce }, 'AGENT_NOT_FOUND');
  return { forger: answer.map((it) => [it.type, it.code]) };
});

// Proposals

const join = (...parts) => parts.map((it) => it || '').join('|');

async function both(type, wanted) {
  const [a, b] = [await ann.expect(type, wanted), await bob.expect(type, wanted)];
  check({ ...a, ts: number }, { ...b, ts: b.ts });
  return a;
}

async function propose(fields) {
  const { task, amount, currency, payment_code, terms, expires, elo_stake } = fields;
  const sig = annKey.sign(join(bob.id, task, amount, currency, payment_code, expires, elo_stake));
  ann.send('PROPOSAL', { to: bob.id, ...fields, sig });
  return both('PROPOSAL', {
    id: text, from: ann.id, to: bob.id, task, status: 'pending', created_at: number, sig,
    ...(amount ? { amount, currency, payment_code, terms, elo_stake } : {}),
    expires: expires ? (it) => Math.abs(it - Date.now() - expires * 1000) < 10_000 : absent,
  });
}

async function accept(id, payment_code, elo_stake) {
  const sig = bobKey.sign(join('ACCEPT', id, payment_code, elo_stake));
  bob.send('ACCEPT', { proposal_id: id, payment_code, elo_stake, sig });
  return both('ACCEPT', { proposal_id: id, status: 'accepted', updated_at: number, from: bob.id, to: ann.id, sig });
}

const full = { task: 'Fix the | build ✓', amount: 0.1, currency: 'XNO', payment_code: 'nano_1abc', terms: 'today', expires: 3600, elo_stake: 20 };
const rise = { oldRating: 1200, newRating: (it) => it > 1200, change: (it) => it > 0, transactions: 1 };

await step('propose, accept, complete, confirm', async () => {
  const { id } = await propose(full);
  check({ proposer_stake: 20, acceptor_stake: 10, payment_code: 'nano_2def' }, await accept(id, 'nano_2def', 10));
  const done = (key, proof) => ({ proposal_id: id, proof, sig: key.sign(join('COMPLETE', id, proof)) });
  const first = done(bobKey, 'tx 42');
  bob.send('COMPLETE', first);
  const one = await both('COMPLETE', {
    proposal_id: id, status: text, completed_by: bob.id, completed_at: number, updated_at: number, proof: 'tx 42', sig: first.sig,
    from: bob.id, to: ann.id, elo_stakes: { proposer: 20, acceptor: 10 },
  });
  ann.send('COMPLETE', done(annKey));
  const two = await both('COMPLETE', { proposal_id: id, status: 'completed' });
  check({ [ann.id]: rise, [bob.id]: rise, _escrow: { proposer_stake: 20, acceptor_stake: 10, settlement: 'returned' } }, two.rating_changes);
  return { first: one.status, first_rating_changes: one.rating_changes, rating_changes: two.rating_changes };
});

await step('reject', async () => {
  const { id } = await propose({ task: 'Dig a hole' });
  const sig = bobKey.sign(join('REJECT', id, 'no time'));
  bob.send('REJECT', { proposal_id: id, reason: 'no time', sig });
  await both('REJECT', { proposal_id: id, status: 'rejected', reason: 'no time', from: bob.id, to: ann.id, sig });
  const late = bobKey.sign(join('ACCEPT', id, '', ''));
  const refusal = await bob.refused('ACCEPT', { proposal_id: id, sig: late }, 'INVALID_PROPOSAL');
  check('PROPOSAL_NOT_PENDING', refusal.message);
});

await step('dispute', async () => {
  const { id } = await propose({ task: 'Paint the shed', elo_stake: 5, amount: 1, currency: 'XNO', payment_code: 'nano_1abc', terms: 'blue' });
  const early = annKey.sign(join('DISPUTE', id, 'not blue'));
  const refusal = await ann.refused('DISPUTE', { proposal_id: id, reason: 'not blue', sig: early }, 'INVALID_PROPOSAL');
  check('PROPOSAL_NOT_ACCEPTED', refusal.message);
  await accept(id);
  const sig = annKey.sign(join('DISPUTE', id, 'not blue'));
  ann.send('DISPUTE', { proposal_id: id, reason: 'not blue', sig });
  const disputed = await both('DISPUTE', {
    proposal_id: id, status: 'disputed', disputed_by: ann.id, disputed_at: number, reason: 'not blue', from: ann.id, to: bob.id, sig,
    elo_stakes: { proposer: 5, acceptor: 0 },
  });
  return { rating_changes: disputed.rating_changes };
});

await step('proposals that are refused', async () => {
  const { id } = await propose({ task: 'Sweep' });
  const forged = annKey.sign(join('ACCEPT', id, '', ''));
  const { code } = await bob.refused('ACCEPT', { proposal_id: id, sig: forged }, null);
  const own = await ann.refused('ACCEPT', { proposal_id: id, sig: forged }, 'INVALID_PROPOSAL');
  check('NOT_PROPOSAL_RECIPIENT', own.message);
  await bob.refused('ACCEPT', { proposal_id: 'prop_none', sig: bobKey.sign(join('ACCEPT', 'prop_none', '', '')) }, 'PROPOSAL_NOT_FOUND');
  const unknown = await bob.refused('REJECT', { proposal_id: 'prop_none', sig: bobKey.sign(join('REJECT', 'prop_none', '')) }, 'INVALID_PROPOSAL');
  check('PROPOSAL_NOT_FOUND', unknown.message);
  const unsigned = await ann.refused('PROPOSAL', { to: bob.id, task: 'Sweep' }, null);
  const nobody = annKey.sign(join('@00000000', 'Sweep', '', '', '', '', ''));
  await ann.refused('PROPOSAL', { to: '@00000000', task: 'Sweep', sig: nobody }, 'AGENT_NOT_FOUND');
  const stake = await ann.refused('PROPOSAL', { to: bob.id, task: 'Sweep', elo_stake: -1, sig: nobody }, null);
  return { forged: code, unsigned: unsigned.code, negative_stake: stake.code };
});

await step('files', async () => {
  const files = [
    { path: 'notes/read.me', bytes: Buffer.from('line one\n=== not a file ===\nline three ✓\n') },
    { path: 'blob.bin', bytes: Buffer.concat([Buffer.from([0, 1, 2, 255]), randomBytes(150_000)]) },
  ];
  const archive = pack('two', files);
  const size = 96 * 1024;
  const parts = Array.from({ length: Math.ceil(archive.length / size) }, (_, it) => archive.slice(it * size, (it + 1) * size));
  const tid = randomBytes(8).toString('hex');
  const sum = sha256(archive);
  const letter = async (from, to, content) => {
    const sent = { from: from.id, to: to.id, content: JSON.stringify(content) };
    await from.ask('MSG', { to: to.id, content: JSON.stringify(content) }, 'MSG', sent);
    return JSON.parse((await to.expect('MSG', sent)).content);
  };
  const refused = randomBytes(8).toString('hex');
  await letter(ann, bob, { _ft: 'offer', tid: refused, files: [{ name: 'x', size: 1 }], totalSize: 1, sha256: sha256('x'), chunks: 1, senderNick: 'ann' });
  await letter(bob, ann, { _ft: 'reject', tid: refused });

  const offer = await letter(ann, bob, {
    _ft: 'offer', tid, files: files.map(({ path, bytes }) => ({ name: path, size: bytes.length })),
    totalSize: files.reduce((total, { bytes }) => total + bytes.length, 0), sha256: sum, chunks: parts.length, senderNick: 'ann',
  });
  await letter(bob, ann, { _ft: 'accept', tid });
  const received = [];
  for (const [idx, data] of parts.entries()) {
    if (idx > 0) await sleep(CHUNK_SPACING_MS);
    const content = JSON.stringify({ _ft: 'chunk', tid, idx, total: parts.length, data });
    ann.send('FILE_CHUNK', { to: bob.id, content });
    received.push(JSON.parse((await bob.expect('FILE_CHUNK', { from: ann.id, to: bob.id, content })).content));
  }
  await ann.quiet();
  await letter(ann, bob, { _ft: 'complete', tid, sha256: sum });
  const whole = received.map((it) => it.data).join('');
  check(offer.sha256, sha256(whole));
  check(files, unpack(whole));
  await letter(bob, ann, { _ft: 'ack', tid, ok: true });

  // Two without a pause: the second is refused. To a channel: never.
  await sleep(CHUNK_SPACING_MS);
  ann.send('FILE_CHUNK', { to: bob.id, content: 'one' });
  await ann.refused('FILE_CHUNK', { to: bob.id, content: 'two' }, 'RATE_LIMITED');
  await bob.expect('FILE_CHUNK', { content: 'one' });
  await bob.quiet();
  await sleep(CHUNK_SPACING_MS);
  await ann.refused('FILE_CHUNK', { to: '#open', content: 'x' }, 'INVALID_MSG');
  return { chunks: parts.length, sha256: sum };
});

await step('what an ephemeral agent may', async () => {
  await eve.ask('JOIN', { channel: '#open' }, 'JOINED', { channel: '#open' });
  for (const it of [ann, bob]) await it.expect('AGENT_JOINED', { channel: '#open', agent: eve.id, name: 'eve', verified: (is) => is !== true });
  const backlog = await eve.drain();
  check({ from: '@server' }, backlog.at(-1));
  backlog.slice(0, -1).forEach((it) => check({ type: 'MSG', to: '#open', replay: true }, it));
  const said = { from: eve.id, from_name: 'eve', to: '#open', content: 'hello' };
  await eve.ask('MSG', { to: '#open', content: 'hello' }, 'MSG', said);
  for (const it of [ann, bob]) await it.expect('MSG', said);
  await bob.ask('MSG', { to: eve.id, content: 'psst' }, 'MSG', { to: eve.id });
  await eve.expect('MSG', { from: bob.id, to: eve.id, content: 'psst' });
  const sig = new Key().sign('anything');
  const proposal = await eve.refused('PROPOSAL', { to: bob.id, task: 'Sweep', sig }, null);
  const skills = await eve.refused('REGISTER_SKILLS', { skills: [{ capability: 'rust' }], sig }, null);
  const to = annKey.sign(join(eve.id, 'Sweep', '', '', '', '', ''));
  ann.send('PROPOSAL', { to: eve.id, task: 'Sweep', sig: to });
  const offered = await ann.next();
  await eve.drain();
  const admin = await eve.refused('ADMIN_LIST', { admin_key: 'guess' }, null);
  await bob.quiet();
  return { proposal: proposal.code, skills: skills.code, proposal_to_it: offered.code ?? offered.type, admin: admin.code };
});

await step('leave', async () => {
  await eve.ask('LEAVE', { channel: '#open' }, 'LEFT', { channel: '#open' });
  for (const it of [ann, bob]) await it.expect('AGENT_LEFT', { channel: '#open', agent: eve.id });
  await eve.refused('MSG', { to: '#open', content: 'still here' }, null);
  await eve.quiet();
});

await step('a second connection with the same key', async () => {
  const second = await open(annKey);
  await second.identify('ann');
  await ann.expect('SESSION_DISPLACED', { reason: text, new_ip: (it) => it !== undefined });
  check({ code: 1000, reason: 'Identity claimed by verified connection' }, await ann.closed);
  const left = await bob.drain();
  left.forEach((it) => check({ type: 'AGENT_LEFT', agent: ann.id }, it));
  await second.ask('MSG', { to: bob.id, content: 'it is still me' }, 'MSG', { from: ann.id });
  await bob.expect('MSG', { from: ann.id, content: 'it is still me' });
  ann = second;
  return { bystander: left.map((it) => `${it.type} ${it.channel}`) };
});

await step('a connection that ends', async () => {
  await ann.ask('JOIN', { channel: '#agents' }, 'JOINED', { channel: '#agents' });
  await ann.drain();
  await bob.ask('JOIN', { channel: '#agents' }, 'JOINED', { channel: '#agents' });
  await ann.expect('AGENT_JOINED', { channel: '#agents', agent: bob.id });
  await bob.drain();
  await ann.close();
  await bob.expect('AGENT_LEFT', { channel: '#agents', agent: ann.id });
  await bob.refused('MSG', { to: ann.id, content: 'gone' }, 'AGENT_NOT_FOUND');
});

await step('too many messages', async () => {
  const early = await open();
  for (let sent = 0; sent < 10; sent += 1) await early.ask('PING', {}, 'PONG');
  early.send('PING');
  check({ code: 1008, reason: 'Rate limit exceeded' }, await early.closed);
  check([], early.frames);
  // In one burst: an older server sends its answers before it closes. The wire's description does not say it.
  const burst = await open();
  for (let sent = 0; sent < 11; sent += 1) burst.send('PING');
  check({ code: 1008, reason: 'Rate limit exceeded' }, await burst.closed);
  check((it) => it.length <= 10 && it.every(({ type }) => type === 'PONG'), burst.frames);
  const later = await open();
  await later.identify('later');
  for (let sent = 0; sent < 61; sent += 1) later.send('PING');
  let pongs = 0;
  let frame;
  while ((frame = await later.next()).type === 'PONG') pongs += 1;
  check({ type: 'ERROR', code: 'RATE_LIMITED' }, frame);
  await later.close();
  return { burst_answers: burst.frames.length, answers: pongs };
});

await step('too large a frame', async () => {
  const large = await open();
  await large.identify('large');
  large.send('MSG', { to: bob.id, content: 'x'.repeat(300 * 1024) });
  check({ code: 1009 }, await large.closed);
});

await Promise.all(opened.map((it) => it.close()));
process.exit(0);
