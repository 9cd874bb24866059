import assert from "node:assert/strict";
import { generateKeyPairSync, sign, webcrypto } from "node:crypto";
import test from "node:test";

import {
  L,
  fromLittleEndian,
  isCanonicalPoint,
  isCanonicalS,
  isSmallOrder,
  support,
  verifyStrict,
} from "../js/ed25519.js";
import { fromHex, toHex } from "../js/hex.js";

const { subtle } = webcrypto;
const P = (1n << 255n) - 19n;
const mod = (n) => ((n % P) + P) % P;
function power(base, exponent) {
  let out = 1n;
  for (let b = mod(base), e = exponent; e > 0n; e >>= 1n, b = mod(b * b)) if (e & 1n) out = mod(out * b);
  return out;
}
const inverse = (n) => power(n, P - 2n);
const D = mod(-121665n * inverse(121666n));
function root(n) {
  let x = power(n, (P + 3n) / 8n);
  if (mod(x * x) !== mod(n)) x = mod(x * power(2n, (P - 1n) / 4n));
  return mod(x * x) === mod(n) ? x : null;
}
function add([x1, y1], [x2, y2]) {
  const t = mod(D * x1 * x2 * y1 * y2);
  return [mod((x1 * y2 + x2 * y1) * inverse(1n + t)), mod((y1 * y2 + x1 * x2) * inverse(1n - t))];
}
function encode(y, sign = 0n) {
  let value = y | (sign << 255n);
  const out = new Uint8Array(32);
  for (let i = 0; i < 32; i += 1, value >>= 8n) out[i] = Number(value & 0xffn);
  return out;
}
function decodePoint(y) {
  const x = root(mod((y * y - 1n) * inverse(D * y * y + 1n)));
  return x === null ? null : [x, y];
}

test("small order is exactly order 1, 2, 4 or 8, by the group law", () => {
  // Multiply points by the group's odd order: what is left is a point of the torsion.
  const found = new Set();
  for (let y = 2n; found.size < 5 && y < 400n; y += 1n) {
    const point = decodePoint(y);
    if (!point) continue;
    let sum = [0n, 1n];
    for (let p = point, k = L; k > 0n; k >>= 1n, p = add(p, p)) if (k & 1n) sum = add(sum, p);
    for (let i = 0, p = sum; i < 8; i += 1, p = add(p, sum)) found.add(p[1]);
  }
  assert.equal(found.size, 5, "y of order 1, 2, 4 (one each) and 8 (two)");
  for (const y of found) {
    assert.ok(isSmallOrder(encode(y)) && isSmallOrder(encode(y, 1n)));
    // Unreduced spellings, where they fit 255 bits.
    if (y + P < 1n << 255n) assert.ok(isSmallOrder(encode(y + P)) && !isCanonicalPoint(encode(y + P)));
  }
});

test("honest keys are not of small order", () => {
  for (let i = 0; i < 50; i += 1) {
    const { publicKey } = generateKeyPairSync("ed25519");
    const raw = Uint8Array.from(publicKey.export({ type: "spki", format: "der" }).subarray(-32));
    assert.ok(!isSmallOrder(raw) && isCanonicalPoint(raw));
  }
});

test("a signature holds, and no changed one does", async () => {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const key = Uint8Array.from(publicKey.export({ type: "spki", format: "der" }).subarray(-32));
  const message = new TextEncoder().encode("a message");
  const signature = Uint8Array.from(sign(null, message, privateKey));
  assert.equal(await verifyStrict(subtle, key, message, signature), true);
  for (const at of [0, 31, 32, 63]) {
    const bad = signature.slice();
    bad[at] ^= 1;
    assert.equal(await verifyStrict(subtle, key, message, bad), false);
  }
  assert.equal(await verifyStrict(subtle, key, message.slice(1), signature), false);
  assert.equal(await verifyStrict(subtle, key, message, signature.slice(0, 63)), false);
  // S + L satisfies the same equation.
  const s = fromLittleEndian(signature.subarray(32)) + L;
  const malleable = Uint8Array.from([...signature.subarray(0, 32), ...encode(s)]);
  assert.equal(isCanonicalS(signature), true);
  assert.equal(isCanonicalS(malleable), false);
  assert.equal(await verifyStrict(subtle, key, message, malleable), false);
});

test("a key of small order proves nothing, though the equation may hold", async () => {
  // A = R = identity, S = 0: 0·B = R + k·A for every message.
  const identity = encode(1n);
  const forged = Uint8Array.from([...identity, ...new Uint8Array(32)]);
  assert.equal(await verifyStrict(subtle, identity, new Uint8Array(3), forged), false);
  // An honest key with R of small order.
  const { publicKey } = generateKeyPairSync("ed25519");
  const key = Uint8Array.from(publicKey.export({ type: "spki", format: "der" }).subarray(-32));
  assert.equal(await verifyStrict(subtle, key, new Uint8Array(3), forged), false);
});

test("the strict checks do not depend on the browser's", async () => {
  // A WebCrypto that says yes to everything.
  const lenient = { importKey: async () => ({}), verify: async () => true };
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const key = Uint8Array.from(publicKey.export({ type: "spki", format: "der" }).subarray(-32));
  const good = Uint8Array.from(sign(null, new Uint8Array(3), privateKey));
  const r = good.subarray(0, 32);
  const s = good.subarray(32);
  const identity = encode(1n);
  const unreduced = encode(P + 3n);
  const hold = (k, signature) => verifyStrict(lenient, k, new Uint8Array(3), signature);
  assert.equal(await hold(key, good), true);
  assert.equal(await hold(key, Uint8Array.from([...r, ...encode(fromLittleEndian(s) + L)])), false);
  assert.equal(await hold(identity, good), false);
  assert.equal(await hold(key, Uint8Array.from([...identity, ...s])), false);
  assert.equal(await hold(unreduced, good), false);
  assert.equal(await hold(key, Uint8Array.from([...unreduced, ...s])), false);
});

test("RFC 8032, test 3", async () => {
  const key = fromHex("fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025");
  const signature = fromHex(
    "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac" +
      "18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a",
  );
  assert.equal(await verifyStrict(subtle, key, fromHex("af82"), signature), true);
  assert.equal(toHex(fromHex("00ff10")), "00ff10");
});

test("what a browser can do is told apart", async () => {
  assert.equal(await support(undefined), "insecure");
  assert.equal(await support({ importKey: () => Promise.reject(new Error("no")) }), "missing");
  assert.equal(await support(subtle), "ok");
});
