"""The protocol's formats and rules a second time, written from docs/ and not from the
Rust code: envelopes and log entries (C1, C2), records (B9, P3), batch messages (B7, P2), trees (C5), evidence and what
follows from it (B10, B11, P4), the feedback log (B13); epoch_formats.py and rules.py have the rest. A refusal carries
the name of the Rust error variant, so that both sides can be compared on damaged bytes too."""

import cbor
from keccak import keccak256

FEEDBACK, NOTARIZE_BID = 0x0B, 0x08
PROPOSE, COUNTER, ACCEPT, NOTARIZE_ASSIGN = 0x03, 0x04, 0x05, 0x09
ZERO = bytes(32)
MAX_EVIDENCE_PAYLOAD = 400

HEADER_FIELDS = (
    "version", "msg_type", "sender", "recipient", "timestamp", "block_ref", "nonce", "conversation_id",
    "payload_hash", "payload_len",
)  # fmt: skip
HEADER_SIZES = (1, 2, 32, 32, 8, 8, 8, 16, 32, 4)
HEADER_BYTES = {"sender": 32, "recipient": 32, "conversation_id": 16, "payload_hash": 32}
HEADER_LEN = sum(HEADER_SIZES)


class Refused(Exception):
    """Bytes that must not be accepted; the argument is the reason."""


# Envelopes and log entries


def signing_header(fields):
    return b"".join(
        fields[name] if name in HEADER_BYTES else fields[name].to_bytes(size, "big")
        for name, size in zip(HEADER_FIELDS, HEADER_SIZES)
    )


def message32(fields):
    return keccak256(signing_header(fields))


def signing_bytes(fields, payload):
    return signing_header(fields) + payload


def parse_signing_bytes(data):
    if len(data) < HEADER_LEN:
        raise Refused("Malformed")
    fields, at = {}, 0
    for name, size in zip(HEADER_FIELDS, HEADER_SIZES):
        piece, at = data[at : at + size], at + size
        fields[name] = piece if name in HEADER_BYTES else int.from_bytes(piece, "big")
    check_header(fields)
    payload = data[at:]
    if len(payload) != fields["payload_len"]:
        raise Refused("PayloadLength")
    return fields, payload


def check_header(fields):
    if fields["version"] != 1:
        raise Refused("WrongVersion")
    if not 1 <= fields["msg_type"] <= 0x0D:
        raise Refused("UnknownType")


def check_payload(fields, payload):
    if len(payload) != fields["payload_len"]:
        raise Refused("PayloadLength")
    if keccak256(payload) != fields["payload_hash"]:
        raise Refused("PayloadHash")


def header_items(fields):
    return [fields[name] for name in HEADER_FIELDS]


def read_header(reader):
    bits = {name: 8 * size for name, size in zip(HEADER_FIELDS, HEADER_SIZES)}
    fields = {}
    reader.array(12)
    for name in HEADER_FIELDS:
        size = HEADER_BYTES.get(name)
        fields[name] = reader.bytes(size) if size else reader.uint(bits[name])
    check_header(fields)
    return fields


def encode_envelope(fields, payload, signature):
    return cbor.dumps(header_items(fields) + [payload, signature])


def decode_envelope(data):
    try:
        reader = cbor.Reader(data)
        fields = read_header(reader)
        payload, signature = reader.bytes(), reader.bytes(64)
    except cbor.Malformed:
        raise Refused("Malformed") from None
    if len(payload) != fields["payload_len"]:
        raise Refused("PayloadLength")
    if encode_envelope(fields, payload, signature) != data:
        raise Refused("NotCanonical")
    return fields, payload, signature


def logged_payload(msg_type, payload):
    return payload if msg_type in (FEEDBACK, NOTARIZE_BID) else b""


def encode_log_entry(fields, signature, logged):
    return cbor.dumps(header_items(fields) + [signature, logged])


def decode_log_entry(data):
    try:
        reader = cbor.Reader(data)
        fields = read_header(reader)
        signature, logged = reader.bytes(64), reader.bytes()
    except cbor.Malformed:
        raise Refused("Malformed") from None
    if encode_log_entry(fields, signature, logged) != data:
        raise Refused("NotCanonical")
    if fields["msg_type"] in (FEEDBACK, NOTARIZE_BID):
        check_payload(fields, logged)
    elif logged:
        raise Refused("PayloadNotLogged")
    return fields, signature, logged


# Payloads


def bid_value(payload):
    return int.from_bytes(payload[:16].ljust(16, b"\0"), "little", signed=True)


FEEDBACK_FIELDS = ("conversation_id", "target_agent", "score", "outcome", "is_dispute", "role")


def encode_feedback(feedback):
    return cbor.dumps([feedback[name] for name in FEEDBACK_FIELDS])


def decode_feedback(data):
    try:
        r = cbor.Reader(data)
        r.array(6)
        values = (r.bytes(16), r.bytes(32), r.int8(), r.uint(8), r.bool(), r.uint(8))
    except cbor.Malformed:
        raise Refused("Malformed") from None
    feedback = dict(zip(FEEDBACK_FIELDS, values))
    if encode_feedback(feedback) != data:
        raise Refused("NotCanonical")
    for name, fits in (
        ("Score", -100 <= feedback["score"] <= 100),
        ("Outcome", feedback["outcome"] <= 2),
        ("Role", feedback["role"] <= 1),
    ):
        if not fits:
            raise Refused(name)
    return feedback


# Records: name -> (kind byte, fields with their sizes; a negative size is a signed number)

BYTES, UINT, INT = "bytes", "uint", "int"
RECORDS = {
    "bid": (
        1,
        (
            ("conversation", BYTES, 16), ("counterparty", BYTES, 32), ("value", INT, 16), ("slot", UINT, 8),
            ("message", BYTES, 32),
        ),
    ),
    "selection": (
        2,
        (("conversation", BYTES, 16), ("counterparty", BYTES, 32), ("slot", UINT, 8), ("message", BYTES, 32)),
    ),
    "verifier": (
        3,
        (("conversation", BYTES, 16), ("verifier", BYTES, 32), ("slot", UINT, 8), ("message", BYTES, 32)),
    ),
    "feedback": (
        4,
        (
            ("conversation", BYTES, 16), ("from", BYTES, 32), ("score", INT, 1), ("outcome", UINT, 1),
            ("role", UINT, 1), ("slot", UINT, 8), ("attestation", BYTES, 32), ("message", BYTES, 32),
        ),
    ),
}  # fmt: skip
BID_LEN = 105


def pack_record(kind, fields):
    number, layout = RECORDS[kind]
    out = bytes([number])
    for name, how, size in layout:
        value = fields[name]
        out += value if how == BYTES else value.to_bytes(size, "big", signed=how == INT)
    return out


def parse_record(data):
    for kind, (number, layout) in RECORDS.items():
        if data[:1] != bytes([number]):
            continue
        if len(data) != 1 + sum(size for _, _, size in layout):
            raise Refused("WrongLength")
        fields, at = {}, 1
        for name, how, size in layout:
            piece, at = data[at : at + size], at + size
            fields[name] = piece if how == BYTES else int.from_bytes(piece, "big", signed=how == INT)
        if kind == "feedback" and not (
            -100 <= fields["score"] <= 100 and fields["outcome"] <= 2 and fields["role"] <= 1
        ):
            raise Refused("OutOfRange")
        return kind, fields
    raise Refused("UnknownKind")


# Batch messages


BATCH_PREFIX = b"zx1/behavior-batch/v2"
BATCH_FIELDS = (
    ("network", BYTES, 32), ("agent", BYTES, 32), ("covers_from", UINT, 8), ("epoch", UINT, 8),
    ("previous_digest", BYTES, 32), ("log_merkle_root", BYTES, 32), ("log_len", UINT, 4), ("batch_hash", BYTES, 32),
    ("arrays_root", BYTES, 32), ("arrays_len", UINT, 4),
)  # fmt: skip


def batch_message(fields):
    out = BATCH_PREFIX
    for name, how, size in BATCH_FIELDS:
        out += fields[name] if how == BYTES else fields[name].to_bytes(size, "little")
    return out


def parse_batch_message(data):
    """The fields; None for anything else."""
    if not data.startswith(BATCH_PREFIX) or len(data) != 237:
        return None
    fields, at = {}, len(BATCH_PREFIX)
    for name, how, size in BATCH_FIELDS:
        piece, at = data[at : at + size], at + size
        fields[name] = piece if how == BYTES else int.from_bytes(piece, "little")
    return fields


def open_digest(network, agent):
    return keccak256(b"zx1/head/v2" + network + agent)


# Trees: the whole padded row, level by level


def tree_levels(entries):
    row = [keccak256(entry) for entry in entries]
    width = 1
    while width < len(row):
        width *= 2
    row = [ZERO] * (width - len(row)) + row
    levels = [row]
    while len(row) > 1:
        row = [keccak256(row[i] + row[i + 1]) for i in range(0, len(row), 2)]
        levels.append(row)
    return levels


def tree_root(entries):
    return tree_levels(entries)[-1][0] if entries else ZERO


def tree_proof(levels, count, entry):
    """(padded index, path) of an entry counted without the padding."""
    index = len(levels[0]) - count + entry
    return index, [level[(index >> height) ^ 1] for height, level in enumerate(levels[:-1])]


def proof_root(leaf, index, path):
    for height, sibling in enumerate(path):
        leaf = keccak256(sibling + leaf if index >> height & 1 else leaf + sibling)
    return leaf


# Evidence


def _place(leaf_index, proof):
    return leaf_index.to_bytes(4, "little") + bytes([len(proof)]) + b"".join(proof)


def encode_evidence(evidence):
    if evidence["kind"] == 2:
        return b"\x02" + b"".join(
            bid["record"] + _place(bid["leaf_index"], bid["proof"]) for bid in evidence["bids"]
        )
    entry, shown = evidence["entry"], evidence["shown_payload"]
    out = b"\x01" + _place(evidence["leaf_index"], evidence["proof"])
    out += len(entry).to_bytes(2, "little") + entry
    return out + (b"\0" if shown is None else b"\1" + len(shown).to_bytes(2, "little") + shown)


def parse_evidence(data):
    at = 0

    def take(length):
        nonlocal at
        if at + length > len(data):
            raise Refused("Truncated")
        at += length
        return data[at - length : at]

    def number(length):
        return int.from_bytes(take(length), "little")

    def place():
        leaf_index, count = number(4), number(1)
        flat = take(32 * count)
        return {"leaf_index": leaf_index, "proof": [flat[i : i + 32] for i in range(0, len(flat), 32)]}

    def bid():
        record = take(BID_LEN)
        where = place()
        if record[0] != 1:
            raise Refused("NotABid")
        return {"record": record, **where}

    kind = take(1)[0] if data else 0
    if kind == 1:
        evidence = {"kind": 1, **place(), "entry": take(number(2))}
        shown = number(1)
        if shown > 1:
            raise Refused("BadFlag")
        evidence["shown_payload"] = take(number(2)) if shown else None
    elif kind == 2:
        evidence = {"kind": 2, "bids": [bid(), bid()]}
    else:
        raise Refused("UnknownKind")
    if at != len(data):
        raise Refused("TrailingBytes")
    return evidence


def claim32(ground, known, message):
    return keccak256(b"zx1/claim/v2" + bytes([ground, known]) + message)


def commit32(challenger, batch, evidence):
    return keccak256(b"zx1/commit/v2" + challenger + batch + evidence)


# What follows from evidence: (packed record, whether a bid's value is known)

BID, SELECTION, VERIFIER, RATING = 1, 2, 3, 4
OWN_MESSAGES = {BID: (PROPOSE, COUNTER, ACCEPT), SELECTION: (ACCEPT,), VERIFIER: (NOTARIZE_ASSIGN,)}


def _own_message(fields, agent, ground):
    if fields["msg_type"] not in OWN_MESSAGES.get(ground, ()):
        raise Refused("NoGround")
    if fields["sender"] != agent:
        raise Refused("NotAgentsEntry")


def _own_record(fields, ground, payload):
    common = {
        "conversation": fields["conversation_id"],
        "slot": fields["block_ref"],
        "message": message32(fields),
    }
    if ground == VERIFIER:
        return pack_record("verifier", {**common, "verifier": fields["recipient"]}), True
    common["counterparty"] = fields["recipient"]
    if ground == SELECTION:
        return pack_record("selection", common), True
    value = 0 if payload is None else bid_value(payload)
    return pack_record("bid", {**common, "value": value}), payload is not None


def derive_from_log_entry(entry, agent, ground, shown):
    fields, _, logged = decode_log_entry(entry)
    if ground == RATING:
        if shown is not None:
            raise Refused("PayloadNotAllowed")
        return _rating_record(fields, logged, agent)
    _own_message(fields, agent, ground)
    if shown is not None:
        if ground != BID:
            raise Refused("PayloadNotAllowed")
        try:
            check_payload(fields, shown)
        except Refused:
            raise Refused("PayloadHashMismatch") from None
    return _own_record(fields, ground, shown)


def _rating_record(fields, logged, agent):
    if fields["msg_type"] != FEEDBACK:
        raise Refused("NoGround")
    if fields["sender"] == agent:
        raise Refused("FeedbackBySelf")
    try:
        rating = decode_feedback(logged)
    except Refused:
        raise Refused("FeedbackUnparsable") from None
    if rating["target_agent"] != agent:
        raise Refused("FeedbackAboutAnother")
    event = {
        "conversation": rating["conversation_id"],
        "from": fields["sender"],
        "slot": fields["block_ref"],
        "attestation": ZERO,
        "message": message32(fields),
        **{name: rating[name] for name in ("score", "outcome", "role")},
    }
    return pack_record("feedback", event), True


def derive_from_envelope(signed, agent, ground):
    fields, payload = parse_signing_bytes(signed)
    _own_message(fields, agent, ground)
    if len(payload) > MAX_EVIDENCE_PAYLOAD:
        raise Refused("PayloadTooLong")
    return _own_record(fields, ground, payload)


# The feedback log


def packed_feedback(entry, previous_head):
    return (
        entry["index"].to_bytes(8, "big")
        + entry["timestamp"].to_bytes(8, "big", signed=True)
        + entry["slot"].to_bytes(8, "big")
        + entry["sender"]
        + entry["payer"]
        + previous_head
        + entry["text"]
    )


def check_text(text):
    if not text:
        raise Refused("Empty")
    if len(text) > 2048:
        raise Refused("TooLong")
    try:
        text.decode("utf-8")
    except UnicodeDecodeError:
        raise Refused("NotUtf8") from None
