// A connection to the relay as its clients make it: frames in order, a key, its proof.

import { createHash, generateKeyPairSync, sign, verify } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';

const PATIENCE_MS = 30_000;
export const address = process.argv[2];

export class Mismatch extends Error {
  constructor(expected, came) {
    super(`expected ${show(expected)}, came ${show(came)}`);
  }
}

const show = (what) => (typeof what === 'string' ? what : JSON.stringify(what, (_, it) =>
  (it instanceof RegExp || typeof it === 'function' ? String(it) : it)));
export const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
export const sha256 = (bytes) => createHash('sha256').update(bytes).digest('hex');

/** True when `came` is as `wanted` says: a value, a pattern, a predicate, or an object with at least these fields. */
function fits(wanted, came) {
  if (typeof wanted === 'function') return wanted(came);
  if (wanted instanceof RegExp) return typeof came === 'string' && wanted.test(came);
  if (Array.isArray(wanted) || wanted === null || typeof wanted !== 'object') return isDeepStrictEqual(wanted, came);
  return came !== null && typeof came === 'object' && Object.entries(wanted).every(([key, it]) => fits(it, came[key]));
}

export function check(wanted, came) {
  if (!fits(wanted, came)) throw new Mismatch(wanted, came);
  return came;
}

export const number = (it) => typeof it === 'number';
export const text = (it) => typeof it === 'string';
export const absent = (it) => it === undefined || it === null;

export class Key {
  constructor() {
    const { publicKey, privateKey } = generateKeyPairSync('ed25519');
    this.pem = publicKey.export({ type: 'spki', format: 'pem' });
    this.private = privateKey;
    this.public = publicKey;
    this.id = `@${sha256(this.pem).slice(0, 8)}`;
  }

  sign(content) {
    return sign(null, Buffer.from(content), this.private).toString('base64');
  }

  signed(content, signature) {
    return verify(null, Buffer.from(content), this.public, Buffer.from(signature, 'base64'));
  }
}

/** A connection. Frames are kept in order until they are taken. */
class Connection {
  static async open(key = null) {
    const it = new Connection();
    it.key = key;
    it.frames = [];
    it.wake = () => {};
    it.socket = new WebSocket(address);
    it.socket.addEventListener('message', ({ data }) => {
      it.frames.push(JSON.parse(data));
      it.wake();
    });
    it.closed = new Promise((done) => {
      it.socket.addEventListener('close', ({ code, reason }) => {
        it.end = { code, reason };
        it.wake();
        done(it.end);
      });
    });
    await new Promise((done, failed) => {
      it.socket.addEventListener('open', done);
      it.socket.addEventListener('error', () => failed(new Error(`no connection to ${address}`)));
    });
    return it;
  }

  send(type, fields = {}) {
    this.socket.send(JSON.stringify({ type, ts: Date.now(), ...fields }));
  }

  async next() {
    const deadline = Date.now() + PATIENCE_MS;
    while (this.frames.length === 0) {
      if (this.end) throw new Mismatch('a frame', { closed: this.end });
      const left = deadline - Date.now();
      if (left <= 0) {
        const others = opened.flatMap((it) => it.frames.map((frame) => ({ at: it.name, frame })));
        throw new Mismatch(`a frame for ${this.name}`, { others });
      }
      await Promise.race([sleep(left), new Promise((done) => { this.wake = done; })]);
    }
    return this.frames.shift();
  }

  /** The next frame, which must be of this type and have these fields. */
  async expect(type, fields = {}) {
    const frame = await this.next();
    check({ type, ts: number, ...fields }, frame);
    check(['type', 'ts'], Object.keys(frame).slice(0, 2));
    return frame;
  }

  async ask(type, fields, answer, answered = {}) {
    this.send(type, fields);
    return this.expect(answer, answered);
  }

  /** An ERROR with this code is the next frame; null: any of the codes. */
  async refused(type, fields, code) {
    this.send(type, fields);
    return this.expect('ERROR', { code: code ?? ((it) => CODES.has(it)), message: text });
  }

  /** What came until now: all that is in front of the answer to a PING. */
  async drain() {
    const before = [];
    this.send('PING');
    for (;;) {
      const frame = await this.next();
      if (frame.type === 'PONG') return before;
      before.push(frame);
    }
  }

  async quiet() {
    const came = await this.drain();
    if (came.length > 0) throw new Mismatch('no frame', came);
  }

  async identify(name) {
    this.name = name;
    if (!this.key) {
      const welcome = await this.ask('IDENTIFY', { name, pubkey: null }, 'WELCOME', { name, agent_id: /^@[A-Za-z0-9]{8}$/ });
      this.id = welcome.agent_id;
      return welcome;
    }
    await this.challenge(name);
    const welcome = await this.answer();
    this.id = welcome.agent_id;
    return welcome;
  }

  async challenge(name) {
    this.asked = await this.ask('IDENTIFY', { name, pubkey: this.key.pem }, 'CHALLENGE', {
      nonce: /^[0-9a-f]{32}$/, challenge_id: /^chal_[0-9a-z]+_[0-9a-f]{8}$/, expires_at: (it) => it > Date.now(),
    });
    this.name = name;
  }

  async answer(key = this.key) {
    this.respond(key);
    return this.expect('WELCOME', { agent_id: this.key.id, name: this.name, verified: true, server: text, disclaimer: text });
  }

  respond(key) {
    const { nonce, challenge_id } = this.asked;
    const timestamp = Date.now();
    const signature = key.sign(`AGENTCHAT_AUTH|${nonce}|${challenge_id}|${timestamp}`);
    this.send('VERIFY_IDENTITY', { challenge_id, signature, timestamp });
  }

  close() {
    this.socket.close(1000);
    return this.closed;
  }
}

const CODES = new Set(`AUTH_REQUIRED CHANNEL_NOT_FOUND NOT_INVITED INVALID_MSG RATE_LIMITED AGENT_NOT_FOUND CHANNEL_EXISTS
  INVALID_NAME PROPOSAL_NOT_FOUND PROPOSAL_EXPIRED INVALID_PROPOSAL SIGNATURE_REQUIRED NOT_PROPOSAL_PARTY
  INSUFFICIENT_REPUTATION INVALID_STAKE VERIFICATION_FAILED VERIFICATION_EXPIRED NO_PUBKEY NOT_ALLOWED BANNED`.split(/\s+/));

export const opened = [];
export async function open(key) {
  const it = await Connection.open(key);
  opened.push(it);
  return it;
}
