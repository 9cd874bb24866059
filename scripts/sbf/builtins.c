// The 128-bit library calls that LLVM's BPF back end emits. rustc returns an i128 through a hidden
// pointer and LLVM 23 expects it in r0 and r2, so the ones of compiler_builtins would write through
// a wild pointer. These are compiled by clang, which agrees with LLVM, and win over the weak ones.
// Only 64-bit operations inside: a 128-bit one would call itself.

typedef unsigned long u64;
typedef unsigned __int128 u128;
typedef __int128 i128;

static inline u64 lo(u128 v) { return (u64)v; }
static inline u64 hi(u128 v) { return (u64)(v >> 64); }
static inline u128 join(u64 high, u64 low) { return ((u128)high << 64) | low; }

// The full product of two 64-bit numbers, by 32-bit halves.
static inline u128 mul64(u64 a, u64 b) {
  u64 a0 = a & 0xffffffffUL, a1 = a >> 32, b0 = b & 0xffffffffUL, b1 = b >> 32;
  u64 p00 = a0 * b0, p01 = a0 * b1, p10 = a1 * b0, p11 = a1 * b1;
  u64 middle = (p00 >> 32) + (p01 & 0xffffffffUL) + (p10 & 0xffffffffUL);
  return join(p11 + (p01 >> 32) + (p10 >> 32) + (middle >> 32), (middle << 32) | (p00 & 0xffffffffUL));
}

u128 __multi3(u128 a, u128 b) {
  u128 low = mul64(lo(a), lo(b));
  return join(hi(low) + lo(a) * hi(b) + hi(a) * lo(b), lo(low));
}

static inline int leading_zeros(u64 v) {
  int n = 0;
  if (v == 0) return 64;
  if (!(v >> 32)) { n += 32; v <<= 32; }
  if (!(v >> 48)) { n += 16; v <<= 16; }
  if (!(v >> 56)) { n += 8; v <<= 8; }
  if (!(v >> 60)) { n += 4; v <<= 4; }
  if (!(v >> 62)) { n += 2; v <<= 2; }
  if (!(v >> 63)) n += 1;
  return n;
}

static inline int leading_zeros128(u128 v) {
  return hi(v) ? leading_zeros(hi(v)) : 64 + leading_zeros(lo(v));
}

// Shift and subtract, starting at the first bit that can matter. Division by zero never comes here:
// rustc checks the divisor first.
static u128 divide(u128 n, u128 d, u128 *remainder) {
  if (n < d) { *remainder = n; return 0; }
  if (hi(n) == 0) { *remainder = lo(n) % lo(d); return lo(n) / lo(d); }
  int shift = leading_zeros128(d) - leading_zeros128(n);
  u128 quotient = 0;
  d <<= shift;
  for (; shift >= 0; shift--) {
    quotient <<= 1;
    if (n >= d) { n -= d; quotient |= 1; }
    d >>= 1;
  }
  *remainder = n;
  return quotient;
}

u128 __udivti3(u128 n, u128 d) { u128 r; return divide(n, d, &r); }
u128 __umodti3(u128 n, u128 d) { u128 r; divide(n, d, &r); return r; }

static inline u128 magnitude(i128 v) { return v < 0 ? (u128)0 - (u128)v : (u128)v; }

i128 __divti3(i128 n, i128 d) {
  u128 r, q = divide(magnitude(n), magnitude(d), &r);
  return (n < 0) != (d < 0) ? (i128)((u128)0 - q) : (i128)q;
}

i128 __modti3(i128 n, i128 d) {
  u128 r;
  divide(magnitude(n), magnitude(d), &r);
  return n < 0 ? (i128)((u128)0 - r) : (i128)r;
}
