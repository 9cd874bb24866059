"""What the committed vectors contain: chosen edge cases and deterministic noise. Every value is built here from the
formats in formats.py; nothing comes from the Rust code."""

import hashlib

import cbor
import ed25519
import formats as f
from keccak import keccak256

U64 = 2**64 - 1
I128_MAX, I128_MIN = 2**127 - 1, -(2**127)
AGENT, OTHER, THIRD = b"\xa1" * 32, b"\xb2" * 32, b"\xc3" * 32
SECRET = bytes(range(32))
DAY = 86_400 * 10**6
NOON = 1_772_313_600_000_000


def noise(label, length):
    return hashlib.shake_256(label.encode()).digest(length)


def message(name, msg_type, payload=b"", secret=SECRET, **changes):
    """A signed message with everything that is made of it."""
    fields = {
        "version": 1,
        "msg_type": msg_type,
        "sender": AGENT,
        "recipient": OTHER,
        "timestamp": NOON + 1,
        "block_ref": 400_000_001,
        "nonce": 7,
        "conversation_id": noise("conversation " + name, 16),
        "payload_hash": keccak256(payload),
        "payload_len": len(payload),
        **changes,
    }
    signed = f.signing_bytes(fields, payload)
    signature = ed25519.sign(secret, signed)
    entry = f.encode_log_entry(fields, signature, f.logged_payload(msg_type, payload))
    return {
        "name": name,
        "secret_key": secret,
        "public_key": ed25519.public_key(secret),
        **fields,
        "payload": payload,
        "signing_bytes": signed,
        "message32": f.message32(fields),
        "signature": signature,
        "envelope": f.encode_envelope(fields, payload, signature),
        "log_entry": entry,
        "leaf": keccak256(entry),
    }


def rating(**changes):
    return f.encode_feedback(
        {
            "conversation_id": noise("rated", 16),
            "target_agent": AGENT,
            "score": -42,
            "outcome": 0,
            "is_dispute": True,
            "role": 0,
            **changes,
        }
    )


def bid_payload(value, content=b"JSON{}"):
    return value.to_bytes(16, "little", signed=True) + content


def messages():
    out = [message(f"type_{number:02x}", number, noise(f"payload {number}", number * 9)) for number in range(1, 14)]
    out += [
        message("propose", f.PROPOSE, bid_payload(5_000_000)),
        message("propose_lowest_value", f.PROPOSE, bid_payload(I128_MIN)),
        message("propose_short_payload", f.PROPOSE, b"\xff"),
        message("counter_without_payload", f.COUNTER),
        message("accept_longest_evidence", f.ACCEPT, bid_payload(-1, noise("terms", 384))),
        message("accept_too_long_for_evidence", f.ACCEPT, bid_payload(-1, noise("terms", 385))),
        message("notarize_assign", f.NOTARIZE_ASSIGN, b"", recipient=THIRD),
        message("feedback_about_agent", f.FEEDBACK, rating(), sender=OTHER, recipient=bytes(32)),
        message("feedback_highest", f.FEEDBACK, rating(score=100, outcome=2, is_dispute=False, role=1), sender=THIRD),
        message("feedback_lowest", f.FEEDBACK, rating(score=-100), sender=THIRD),
        message("feedback_by_agent", f.FEEDBACK, rating(target_agent=AGENT)),
        message("feedback_about_other", f.FEEDBACK, rating(target_agent=THIRD), sender=OTHER),
        message("feedback_unparsable", f.FEEDBACK, b"not a rating", sender=OTHER),
        message("feedback_empty", f.FEEDBACK, b"", sender=OTHER),
        message("notarize_bid", f.NOTARIZE_BID, b"\x01" + noise("task", 16) + b"fee:5"),
        message("largest_numbers", 0x07, b"x", timestamp=U64, block_ref=U64, nonce=U64),
        message("smallest_numbers", 0x0D, b"", timestamp=0, block_ref=0, nonce=0, recipient=bytes(32)),
        message("deliver_256", 0x07, bytes(256)),
    ]
    # Every width of a CBOR integer.
    for bits in (4, 5, 8, 16, 32):
        below = 2**bits - 1
        out.append(message(f"numbers_{bits}_bits", 0x07, b"", timestamp=below, block_ref=below + 1, nonce=below + 2))
    return out


def by_name(items):
    return {item["name"]: item for item in items}


def verdict(what, name, data, parse):
    """What must be said about some bytes: "Ok" or the name of the refusal."""
    try:
        parse(data)
    except f.Refused as refusal:
        return {"what": what, "name": name, "bytes": data, "verdict": str(refusal)}
    return {"what": what, "name": name, "bytes": data, "verdict": "Ok"}


def log_entry_verdicts():
    base = by_name(messages())
    propose, feedback, notary = base["propose"], base["feedback_about_agent"], base["notarize_bid"]
    entry = propose["log_entry"]

    def again(source, logged=None, **changes):
        fields = {**{name: source[name] for name in f.HEADER_FIELDS}, **changes}
        if logged is None:
            logged = f.logged_payload(source["msg_type"], source["payload"])
        return f.encode_log_entry(fields, source["signature"], logged)

    cases = {
        "good": entry,
        "no_bytes": b"",
        "one_byte_missing": entry[:-1],
        "one_byte_more": entry + b"\0",
        "twice": entry + entry,
        "array_of_11": b"\x8b" + entry[1:],
        "array_of_13": b"\x8d" + entry[1:] + b"\0",
        "long_array_head": b"\x98\x0c" + entry[1:],
        "indefinite_array": b"\x9f" + entry[1:] + b"\xff",
        "long_version": entry[:1] + b"\x18\x01" + entry[2:],
        "long_type": entry[:2] + b"\x19\x00\x03" + entry[3:],
        "negative_version": entry[:1] + b"\x20" + entry[2:],
        "version_2": again(propose, version=2),
        "version_0": again(propose, version=0),
        "type_0": again(propose, msg_type=0),
        "type_14": again(propose, msg_type=14),
        "type_16_bits": again(propose, msg_type=0x0103),
        "sender_as_text": entry[:3] + b"\x78" + entry[4:],
        "indefinite_bytes": entry[:3] + b"\x5f" + entry[3:37] + b"\xff" + entry[37:],
        "short_sender": again(propose, sender=AGENT[:31]),
        "long_sender": again(propose, sender=AGENT + b"\0"),
        "payload_logged_for_propose": again(propose, logged=propose["payload"]),
        "feedback": feedback["log_entry"],
        "feedback_without_payload": again(feedback, logged=b""),
        "feedback_with_other_payload": again(feedback, logged=feedback["payload"][:-1] + b"\x01"),
        "feedback_with_wrong_length": again(feedback, payload_len=feedback["payload_len"] + 1),
        "notarize_bid": notary["log_entry"],
        "notarize_bid_without_payload": again(notary, logged=b""),
        "empty_feedback": base["feedback_empty"]["log_entry"],
        "envelope_instead": propose["envelope"],
    }
    out = [verdict("log_entry", name, data, f.decode_log_entry) for name, data in cases.items()]
    envelope = propose["envelope"]
    cases = {
        "good": envelope,
        "one_byte_more": envelope + b"\0",
        "one_byte_missing": envelope[:-1],
        "long_payload_head": envelope.replace(b"\x56" + propose["payload"], b"\x58\x16" + propose["payload"]),
        "shorter_payload": envelope.replace(b"\x56" + propose["payload"], b"\x55" + propose["payload"][:-1]),
        "log_entry_instead": entry,
    }
    out += [verdict("envelope", name, data, f.decode_envelope) for name, data in cases.items()]
    signed = propose["signing_bytes"]
    cases = {
        "good": signed,
        "header_only": base["counter_without_payload"]["signing_bytes"],
        "no_bytes": b"",
        "short_header": signed[:142],
        "payload_missing": signed[:143],
        "one_byte_missing": signed[:-1],
        "one_byte_more": signed + b"\0",
        "version_2": b"\2" + signed[1:],
        "type_0": signed[:1] + b"\0\0" + signed[3:],
        "type_little_endian": signed[:1] + b"\3\0" + signed[3:],
    }
    out += [verdict("signing_bytes", name, data, f.parse_signing_bytes) for name, data in cases.items()]
    good = rating()
    cases = {
        "good": good,
        "score_101": rating(score=101),
        "score_minus_101": rating(score=-101),
        "score_128": cbor.dumps([bytes(16), bytes(32), 128, 0, False, 0]),
        "score_minus_129": cbor.dumps([bytes(16), bytes(32), -129, 0, False, 0]),
        "long_score": good.replace(b"\x38\x29", b"\x39\x00\x29"),
        "outcome_3": rating(outcome=3),
        "role_2": rating(role=2),
        "dispute_as_number": good.replace(b"\xf5", b"\x01"),
        "one_byte_more": good + b"\0",
        "one_byte_missing": good[:-1],
        "no_bytes": b"",
    }
    return out + [verdict("feedback", name, data, f.decode_feedback) for name, data in cases.items()]


def record(kind, **changes):
    fields = {
        "conversation": noise("conversation", 16), "counterparty": OTHER, "verifier": OTHER, "from": OTHER,
        "value": 5_000_000, "slot": 400_000_001, "score": -42, "outcome": 0, "role": 0,
        "attestation": noise("attestation", 32), "message": noise("message", 32), **changes,
    }  # fmt: skip
    fields = {name: fields[name] for name, _, _ in f.RECORDS[kind][1]}
    packed = f.pack_record(kind, fields)
    return {"kind": kind, **fields, "packed": packed, "leaf": keccak256(packed)}


def records():
    out = [record(kind) for kind in f.RECORDS]
    out += [record("bid", value=value) for value in (0, 1, -1, I128_MAX, I128_MIN, 2**64)]
    out += [record(kind, slot=slot) for kind in f.RECORDS for slot in (0, U64)]
    out += [record("feedback", score=score, outcome=outcome, role=1) for score, outcome in ((100, 2), (-100, 1), (0, 0))]
    out.append(record("feedback", attestation=bytes(32)))
    return out


def record_verdicts():
    packed = {kind: record(kind)["packed"] for kind in f.RECORDS}
    cases = {"no_bytes": b"", "kind_0": b"\0" + packed["bid"][1:], "kind_5": b"\5" + packed["bid"][1:]}
    for kind, data in packed.items():
        cases |= {kind: data, f"{kind}_short": data[:-1], f"{kind}_long": data + b"\0", f"{kind}_kind_only": data[:1]}
    rated = packed["feedback"]
    for name, at, byte in (("score_101", 49, 101), ("score_minus_101", 49, 155), ("outcome_3", 50, 3), ("role_2", 51, 2)):
        cases[name] = rated[:at] + bytes([byte]) + rated[at + 1 :]
    return [verdict("record", name, data, f.parse_record) for name, data in cases.items()]


def batch_messages():
    out, network = [], noise("network", 32)
    digest = f.open_digest(network, AGENT)
    rows = ((20_512, 20_512, 5, 3), (20_513, 20_520, 1, 0), (20_521, 20_550, 2**20, 2**20), (0, U64, 2**32 - 1, 0))
    for covers_from, epoch, log_len, arrays_len in rows:
        fields = {
            "network": network,
            "agent": AGENT,
            "covers_from": covers_from,
            "epoch": epoch,
            "previous_digest": digest,
            "log_merkle_root": noise(f"log {epoch}", 32),
            "log_len": log_len,
            "batch_hash": noise(f"batch {epoch}", 32),
            "arrays_root": noise(f"arrays {epoch}", 32) if arrays_len else bytes(32),
            "arrays_len": arrays_len,
        }
        text = f.batch_message(fields)
        digest = keccak256(digest + text)
        out.append(
            {
                **fields,
                "secret_key": SECRET,
                "public_key": ed25519.public_key(SECRET),
                "message": text,
                "signature": ed25519.sign(SECRET, text),
                "digest": digest,
            }
        )
    return out


def trees():
    out = []
    for count in (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 13, 16, 17, 33):
        entries = [noise(f"entry {i} of {count}", 1 + i * 5) for i in range(count)]
        proofs = []
        if entries:
            levels = f.tree_levels(entries)
            for entry in range(count):
                index, path = f.tree_proof(levels, count, entry)
                proofs.append({"entry": entry, "index": index, "path": path})
        out.append({"entries": entries, "root": f.tree_root(entries), "proofs": proofs})
    return out


def feedback_log():
    out, head = [], bytes(32)
    texts = ["a", "Der Befehl schlägt fehl: 日本語 🦀", "x" * 2048]
    for index, text in enumerate(texts):
        entry = {
            "index": index,
            "timestamp": (1_772_313_600, -1, 2**63 - 1)[index],
            "slot": (400_000_001, 0, U64)[index],
            "sender": AGENT,
            "payer": (AGENT, OTHER, THIRD)[index],
            "previous_head": head,
            "text": text.encode(),
        }
        packed = f.packed_feedback(entry, head)
        head = keccak256(head + packed)
        out.append({**entry, "packed": packed, "head": head})
    return out


def text_verdicts():
    cases = {
        "empty": b"", "one_byte": b"a", "longest": b"x" * 2048, "too_long": b"x" * 2049,
        "too_long_in_bytes_only": "é".encode() * 1025, "half_a_character": "é".encode()[:1],
        "surrogate": b"\xed\xa0\x80", "overlong": b"\xc0\x80", "zero_byte": b"\0",
    }  # fmt: skip
    return [verdict("text", name, data, f.check_text) for name, data in cases.items()]


def evidence():
    log = [item["log_entry"] for item in messages()[:13]]
    levels = f.tree_levels(log)
    array = [record("bid", slot=slot)["packed"] for slot in (1, 2, 3)] + [record("bid", slot=1, value=7)["packed"]]
    array_levels = f.tree_levels(array)

    def entry(number, shown):
        index, path = f.tree_proof(levels, len(log), number)
        return {"kind": 1, "leaf_index": index, "proof": path, "entry": log[number], "shown_payload": shown}

    def bids(a, b):
        out = []
        for number in (a, b):
            index, path = f.tree_proof(array_levels, len(array), number)
            out.append({"record": array[number], "leaf_index": index, "proof": path})
        return {"kind": 2, "bids": out}

    alone = {"kind": 1, "leaf_index": 0, "proof": [], "entry": log[2], "shown_payload": b""}
    items = [entry(2, None), entry(2, messages()[2]["payload"]), entry(12, None), bids(0, 3), bids(1, 2), alone]
    return [{**item, "bytes": f.encode_evidence(item)} for item in items]


def evidence_verdicts():
    shown, bids = evidence()[1]["bytes"], evidence()[3]["bytes"]
    hidden = evidence()[0]["bytes"]
    cases = {
        "no_bytes": b"",
        "kind_0": b"\0" + shown[1:],
        "kind_3": b"\3" + shown[1:],
        "kind_only": shown[:1],
        "one_byte_missing": shown[:-1],
        "one_byte_more": shown + b"\0",
        "payload_without_flag": hidden + b"\0\0",
        "flag_2": hidden[:-1] + b"\2",
        "flag_without_payload": hidden[:-1] + b"\1",
        "flag_missing": hidden[:-1],
        "proof_count_255": shown[:5] + b"\xff" + shown[6:],
        "bids_one_byte_missing": bids[:-1],
        "bids_one_byte_more": bids + b"\0",
        "selection_instead_of_bid": b"\2\2" + bids[2:],
        "one_bid": bids[: 1 + f.BID_LEN + 5 + 64],
        "bids_of_the_first_edition": b"\2" + 2 * (bids[1:74] + bids[106:175]),
    }
    return [verdict("evidence", name, data, f.parse_evidence) for name, data in cases.items()]


def claim(ground, known, message32):
    return {"ground": ground, "known": known, "message": message32, "claim": f.claim32(ground, known, message32)}


def claims():
    grounds = [(f.BID, False)] + [(ground, True) for ground in range(1, 6)]
    return [claim(*ground, message32) for ground in grounds for message32 in (bytes(32), noise("message", 32))]


def commit(challenger, batch, shown):
    return {"challenger": challenger, "batch": batch, "evidence": shown, "commit": f.commit32(challenger, batch, shown)}


def commits():
    """Of a draft's bytes, of an envelope's signed bytes, and of nothing."""
    batch, signed = noise("batch account", 32), by_name(messages())["propose"]["signing_bytes"]
    shown = [item["bytes"] for item in evidence()[:1]] + [signed, b""]
    return [commit(who, batch, data) for who in (AGENT, OTHER) for data in shown]


def derivation(source, data, agent, ground, shown=None):
    item = {"source": source, "bytes": data, "agent": agent, "ground": ground, "shown_payload": shown}
    try:
        if source == "log_entry":
            packed, known = f.derive_from_log_entry(data, agent, ground, shown)
        else:
            packed, known = f.derive_from_envelope(data, agent, ground)
        return {**item, "record": packed, "value_known": known, "verdict": "Ok"}
    except f.Refused as refusal:
        return {**item, "record": None, "value_known": None, "verdict": str(refusal)}


def derivations():
    """Every type on every ground; the chosen messages on the grounds that fit them, with the right payload, with a
    wrong one, and for another agent."""
    out = []
    for item in messages():
        entry, signed, payload = item["log_entry"], item["signing_bytes"], item["payload"]
        of_type = item["name"].startswith("type_")
        for ground in range(1, 6):
            tries = [
                derivation("log_entry", entry, AGENT, ground),
                derivation("envelope", signed, AGENT, ground),
            ]
            if not of_type:
                tries += [derivation("log_entry", entry, AGENT, ground, shown) for shown in (payload, payload + b"\0")]
                tries += [derivation("log_entry", entry, THIRD, ground), derivation("envelope", signed, THIRD, ground)]
            out += [made for made in tries if of_type or made["verdict"] != "NoGround"]
    return out


FILES = {
    "log_entries": (
        "messages: a signed message, the hash of its header (message32), its envelope (CBOR array of 12), its log entry "
        "(decision C2) and the entry's leaf; "
        "verdicts: bytes and what a reader must say about them",
        {"messages": messages, "verdicts": log_entry_verdicts},
    ),
    "records": (
        "packed big-endian records of the economic arrays (decisions B9, P3); value is a decimal string",
        {"records": records, "verdicts": record_verdicts},
    ),
    "batch_messages": (
        "what is signed to submit a batch, and the head's digest before and after it (decisions B7, P2); the first "
        "previous_digest is that of an opened head",
        {"batch_messages": batch_messages},
    ),
    "proofs": (
        "trees with all their proofs (decision C5); entry counts without the padding, index with it",
        {"trees": trees},
    ),
    "feedback_log": (
        "the feedback log's chain (decision B13): head = keccak256(previous_head || packed)",
        {"feedback_log": feedback_log, "verdicts": text_verdicts},
    ),
    "evidence": (
        "evidence bytes, claims, commitments of ranks, and the record that follows from evidence on a ground (decisions "
        "B10, B11, P4)",
        {
            "evidence": evidence,
            "verdicts": evidence_verdicts,
            "claims": claims,
            "commits": commits,
            "derivations": derivations,
        },
    ),
}  # fmt: skip
