"""The payloads on which the nodes of the mesh agree, a second time: ADVERTISE, DISCOVER, a notary's offer, VERDICT,
DISPUTE, and the context of a conversation. Written from wire.md: the writer sorts the keys itself (RFC 8949, 4.2.1),
the reader reads any CBOR of the kinds that occur and compares with what the writer makes of it."""

import cbor
from formats import Refused

HINT, CONTEXT_HINT = b"CBOR", b"CTX1"
MAX_CONTEXT_LEN, MAX_CONTEXT_ENVELOPES = 60_000, 256
AMOUNT, HASH, TEXT, TEXTS, U32, U8 = "amount", "hash", "text", "texts", "u32", "u8"

# type -> (keys that must be there, keys that may be there)
MAPS = {
    "advertise": (
        {"caps": TEXTS, "schema": TEXT, "unit": TEXT, "price": AMOUNT, "ttl": U32},
        {"contract": TEXT},
    ),
    "discover": ({"want": TEXTS, "max": U32}, {}),
    "offer": ({"fee": AMOUNT, "unit": TEXT, "seconds": U32}, {}),
    "verdict": ({"outcome": U8, "deliver": HASH, "reason": TEXT}, {}),
    "dispute": ({"verdict": HASH, "reason": TEXT}, {}),
}
# key -> shortest and longest text in bytes
LENGTHS = {
    "caps": (1, 64), "want": (1, 64), "schema": (0, 256), "unit": (1, 32), "contract": (1, 256), "reason": (0, 1024),
}  # fmt: skip


def text(string):
    data = string.encode()
    return cbor.head(3, len(data)) + data


def encode_value(kind, value):
    match kind:
        case "amount":
            return cbor.head(2, 16) + value.to_bytes(16, "big", signed=True)
        case "hash":
            return cbor.head(2, 32) + value
        case "text":
            return text(value)
        case "texts":
            return cbor.head(4, len(value)) + b"".join(map(text, value))
        case _:
            return cbor.head(0, value)


def encode_map(what, fields):
    """The payload: hint and map. Says nothing about ranges."""
    must, may = MAPS[what]
    kinds = must | may
    pairs = sorted((text(key), encode_value(kinds[key], value)) for key, value in fields.items())
    return HINT + cbor.head(5, len(pairs)) + b"".join(key + value for key, value in pairs)


def read_text(reader):
    major, size = reader._head()
    if major != 3:
        raise cbor.Malformed
    try:
        return reader.take(size).decode("utf-8")
    except UnicodeDecodeError:
        raise cbor.Malformed from None


def read_value(reader, kind):
    match kind:
        case "amount":
            return int.from_bytes(reader.bytes(16), "big", signed=True)
        case "hash":
            return reader.bytes(32)
        case "text":
            return read_text(reader)
        case "texts":
            return [read_text(reader) for _ in range(reader.array())]
        case "u32":
            return reader.uint(32)
        case _:
            return reader.uint(8)


def decode_map(what, data):
    """The fields, in range and from the one encoding."""
    if data[:4] != HINT:
        raise Refused("Hint")
    must, may = MAPS[what]
    fields = {}
    try:
        reader = cbor.Reader(data[4:])
        major, count = reader._head()
        keys = sorted(must if count == len(must) else must | may, key=lambda key: (len(key), key))
        if major != 5 or count != len(keys):
            raise cbor.Malformed
        for key in keys:
            if read_text(reader) != key:
                raise cbor.Malformed
            fields[key] = read_value(reader, (must | may)[key])
    except cbor.Malformed:
        raise Refused("Malformed") from None
    if encode_map(what, fields) != data:
        raise Refused("NotCanonical")
    check_map(fields)
    return fields


def check_map(fields):
    """Ranges, in the order in which the Rust code looks at them."""
    for key in ("caps", "want"):
        if key in fields and not 1 <= len(fields[key]) <= 16:
            raise Refused("Count")
    for key in ("caps", "want", "schema", "unit", "contract", "reason"):
        low, high = LENGTHS[key]
        found = fields.get(key, [])
        for one in [found] if isinstance(found, str) else found:
            if not low <= len(one.encode()) <= high:
                raise Refused("TextLength")
    for key in ("price", "fee"):
        if fields.get(key, 0) < 0:
            raise Refused("Amount")
    if fields.get("outcome", 0) > 2:
        raise Refused("Outcome")
    if fields.get("seconds", 1) == 0:
        raise Refused("Seconds")


def encode_context(envelopes):
    return CONTEXT_HINT + cbor.dumps(envelopes)


def decode_context(data):
    if len(data) > MAX_CONTEXT_LEN:
        raise Refused("TooLong")
    if data[:4] != CONTEXT_HINT:
        raise Refused("Hint")
    try:
        reader = cbor.Reader(data[4:])
        envelopes = [reader.bytes() for _ in range(reader.array())]
    except cbor.Malformed:
        raise Refused("Malformed") from None
    if encode_context(envelopes) != data:
        raise Refused("NotCanonical")
    if not 1 <= len(envelopes) <= MAX_CONTEXT_ENVELOPES:
        raise Refused("Count")
    return envelopes
