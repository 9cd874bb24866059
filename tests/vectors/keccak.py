"""Keccak-256 with the original padding (Ethereum's and Solana's, not NIST's SHA3-256), from FIPS 202."""

MASK = (1 << 64) - 1
RATE = 136


def _rotate(lane, by):
    by %= 64
    return ((lane << by) | (lane >> (64 - by))) & MASK if by else lane


def _round_constants():
    """The 24 constants, from the degree-8 LFSR of the standard instead of a table."""
    constants, lfsr = [], 1
    for _ in range(24):
        constant = 0
        for j in range(7):
            if lfsr & 1:
                constant |= 1 << ((1 << j) - 1)
            lfsr = (lfsr << 1) ^ (0x171 if lfsr & 0x80 else 0)
        constants.append(constant)
    return constants


ROUND_CONSTANTS = _round_constants()


def _permute(a):
    for constant in ROUND_CONSTANTS:
        c = [a[x][0] ^ a[x][1] ^ a[x][2] ^ a[x][3] ^ a[x][4] for x in range(5)]
        d = [c[(x - 1) % 5] ^ _rotate(c[(x + 1) % 5], 1) for x in range(5)]
        a = [[a[x][y] ^ d[x] for y in range(5)] for x in range(5)]
        # rho and pi in one walk
        x, y, lane = 1, 0, a[1][0]
        for t in range(24):
            x, y = y, (2 * x + 3 * y) % 5
            lane, a[x][y] = a[x][y], _rotate(lane, (t + 1) * (t + 2) // 2)
        a = [
            [a[x][y] ^ (~a[(x + 1) % 5][y] & MASK & a[(x + 2) % 5][y]) for y in range(5)]
            for x in range(5)
        ]
        a[0][0] ^= constant
    return a


def keccak256(data):
    padded = bytearray(data) + b"\x01" + bytes(-(len(data) + 1) % RATE)
    padded[-1] |= 0x80
    state = [[0] * 5 for _ in range(5)]
    for start in range(0, len(padded), RATE):
        for i in range(RATE // 8):
            lane = int.from_bytes(padded[start + 8 * i : start + 8 * i + 8], "little")
            state[i % 5][i // 5] ^= lane
        state = _permute(state)
    return b"".join(state[i % 5][i // 5].to_bytes(8, "little") for i in range(4))
