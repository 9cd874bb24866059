// Strict Ed25519 (decision A4). WebCrypto verifies the equation; what it does not promise is checked here:
// a reduced S, and no point of small order, under which one signature would hold for many messages.

const P = (1n << 255n) - 19n;
/** The order of the group. */
export const L = (1n << 252n) + 27742317777372353535851937790883648493n;
// y of the four points of order 8 with positive and negative sign; a test derives it from the curve.
const Y8 = 0x7a03ac9277fdc74ec6cc392cfa53202a0f67100d760b3cba4fd84d3d706a17c7n;
// y of the eight points whose order divides 8.
const SMALL = new Set([0n, 1n, P - 1n, Y8, P - Y8]);
const MASK = (1n << 255n) - 1n;

/** 32 bytes, little-endian, as an integer. */
export function fromLittleEndian(bytes) {
  let value = 0n;
  for (let i = bytes.length - 1; i >= 0; i -= 1) value = (value << 8n) | BigInt(bytes[i]);
  return value;
}

/** Whether the encoded y is below p, as every honest encoder writes it. */
export function isCanonicalPoint(bytes) {
  return (fromLittleEndian(bytes) & MASK) < P;
}

/** Whether the bytes encode a point whose order divides 8, also when written unreduced. */
export function isSmallOrder(bytes) {
  return SMALL.has((fromLittleEndian(bytes) & MASK) % P);
}

/** Whether S of a signature is below the group's order, so that nobody can write it differently. */
export function isCanonicalS(signature) {
  return fromLittleEndian(signature.subarray(32)) < L;
}

/**
 * What this browser can do: "ok", "insecure" (no WebCrypto, because the page came over plain HTTP) or
 * "missing" (no Ed25519).
 *
 * @param {SubtleCrypto|undefined} subtle
 * @returns {Promise<"ok"|"insecure"|"missing">}
 */
export async function support(subtle) {
  if (!subtle) return "insecure";
  try {
    await subtle.importKey("raw", PROBE, "Ed25519", false, ["verify"]);
    return "ok";
  } catch {
    return "missing";
  }
}

// The base point: a key that every implementation imports.
const PROBE = Uint8Array.from({ length: 32 }, (_, i) => (i === 0 ? 0x58 : 0x66));

/**
 * Whether a signature holds, strictly.
 *
 * @param {SubtleCrypto} subtle
 * @param {Uint8Array} key 32 bytes
 * @param {Uint8Array} message
 * @param {Uint8Array} signature 64 bytes
 */
export async function verifyStrict(subtle, key, message, signature) {
  if (key.length !== 32 || signature.length !== 64) return false;
  const r = signature.subarray(0, 32);
  if (!isCanonicalS(signature) || !isCanonicalPoint(key) || !isCanonicalPoint(r)) return false;
  if (isSmallOrder(key) || isSmallOrder(r)) return false;
  let imported;
  try {
    imported = await subtle.importKey("raw", key, "Ed25519", false, ["verify"]);
  } catch {
    return false; // No point of the curve.
  }
  return subtle.verify("Ed25519", imported, signature, message);
}
