"""What the committed vectors about an epoch's account contain: batches, bundles, beacons, interaction hashes and
reputation. As in samples.py every value is built here, from formats.py."""

import random

import cbor
import ed25519
import epoch_formats as e
import formats as f
from keccak import keccak256
from samples import (
    AGENT, DAY, I128_MAX, I128_MIN, NOON, OTHER, SECRET, THIRD, U64, bid_payload, message, noise, rating, verdict,
)  # fmt: skip

EPOCH = NOON // DAY


def log():
    """A log with every kind of entry that moves a counter or gives a record; slots are not in order."""
    me, us = {"conversation_id": noise("deal", 16)}, {"sender": OTHER, "recipient": AGENT}
    everyone = {"recipient": bytes(32)}

    def entry(sent, msg_type, payload=b"", attestation=None, **changes):
        made = message("log", msg_type, payload, **{**me, **changes})
        own_bid = sent and msg_type in (f.PROPOSE, f.COUNTER, f.ACCEPT)
        return {
            "sent": sent,
            "entry": made["log_entry"],
            "payload": payload if own_bid else None,
            "attestation": attestation,
        }

    return [
        entry(True, 0x01, b"I exist", **everyone),
        entry(True, f.PROPOSE, bid_payload(-5), block_ref=9, timestamp=NOON + DAY),
        entry(False, f.COUNTER, bid_payload(7), **us),
        entry(True, f.COUNTER, bid_payload(I128_MAX), block_ref=11),
        entry(True, f.ACCEPT, bid_payload(I128_MIN), block_ref=10),
        entry(True, f.ACCEPT, b"", block_ref=10, recipient=THIRD),
        entry(True, 0x07, b"the work"),
        entry(True, f.NOTARIZE_BID, b"\0" + noise("deal", 16), **everyone),
        entry(False, f.NOTARIZE_BID, b"\1" + noise("deal", 16), **{**us, **everyone, "sender": THIRD}),
        entry(True, f.NOTARIZE_ASSIGN, b"please", recipient=THIRD, block_ref=U64),
        entry(False, 0x0A, b"done", sender=THIRD, recipient=AGENT),
        entry(False, 0x0A, b"done", sender=OTHER, recipient=AGENT),
        entry(True, 0x0A, b"judged", recipient=noise("stranger", 32)),
        entry(True, 0x0C, b"no", recipient=THIRD),
        entry(False, 0x0C, b"no", **us),
        entry(False, 0x0D, b"", **{**us, **everyone, "sender": noise("beacon", 32)}),
        entry(False, f.FEEDBACK, rating(), **{**us, **everyone}, block_ref=3),
        entry(False, f.FEEDBACK, rating(score=100, outcome=2), noise("attested", 32), **us, block_ref=2),
        entry(False, f.FEEDBACK, rating(role=1), sender=THIRD, **everyone, block_ref=3),
        entry(False, f.FEEDBACK, rating(target_agent=THIRD), **{**us, **everyone}),
        entry(True, f.FEEDBACK, rating(target_agent=OTHER), **everyone),
    ]


def sign(batch, data, **changes):
    """What is signed of a batch: message, key, signature."""
    head = {"network": noise("network", 32), "covers_from": EPOCH, "previous_digest": noise("previous", 32)}
    text = f.batch_message({**head, **e.commitment(batch, data), **changes})
    return text + ed25519.public_key(SECRET) + ed25519.sign(SECRET, text)


def build(entries, slots, covered=(EPOCH, EPOCH + 1), agent=AGENT, signed=None):
    rows = [(item["sent"], item["entry"], item["payload"], item["attestation"]) for item in entries]
    batch, records, leaves = e.build_batch(agent, covered[1], slots, rows)
    data = e.encode_batch(batch)
    signed = sign(batch, data) if signed is None else signed
    return {
        "agent": agent,
        "from_epoch": covered[0],
        "to_epoch": covered[1],
        "slot_start": slots[0],
        "slot_end": slots[1],
        "log": entries,
        "batch": data,
        "batch_hash": keccak256(data),
        "records": records,
        "leaves": b"".join(leaves),
        "signed": signed,
        "bundle": e.encode_bundle(data, records, leaves, signed),
    }


def built():
    whole = log()
    return [
        build([], (0, 0), signed=b""),
        build(whole[:1], (1, 1)),
        build(whole, (5, U64)),
        build(whole[1:6] + whole[16:18], (400_000_000, 400_216_000)),
        build(whole[::-1], (5, 6)),
    ]


def overflow_bids(count):
    """Record i: conversation, value and message are i, the counterparty is OTHER, the slot is i // 3."""
    return [
        {
            "conversation": i.to_bytes(16, "big"), "counterparty": OTHER, "value": i, "slot": i // 3,
            "message": i.to_bytes(32, "big"),
        }
        for i in range(count)
    ]  # fmt: skip


def overflows():
    """Batches over nothing but bids, on both sides of the limit, and what follows from their number."""
    out = []
    for count in (1000, 1001):
        front = empty_batch()
        batch, records = e.make_batch(front, [overflow_bids(count), [], [], []], [])
        data = e.encode_batch(batch)
        out.append(
            {
                "bids": count,
                "overflow": batch["overflow"],
                "overflow_data_hash": batch["overflow_data_hash"],
                "arrays_root": batch["arrays_root"],
                "batch_len": len(data),
                "batch_hash": keccak256(data),
            }
        )
    return out


def empty_batch():
    names = ("epoch_number", "slot_start", "slot_end", "message_count") + e.COUNTERS
    return {**dict.fromkeys(names, 0), "agent_id": AGENT, "msg_type_counts": [0] * 16}


def batch_verdicts():
    entries = log()
    rows = [(item["sent"], item["entry"], item["payload"], item["attestation"]) for item in entries]
    good, records, leaves = e.build_batch(AGENT, EPOCH, (5, 6), rows)
    data = e.encode_batch(good)
    counts = good["msg_type_counts"]

    def again(**changes):
        return e.encode_batch({**good, **changes})

    def counted(number, by):
        return [count + by * (place == number) for place, count in enumerate(counts)]

    bids, ratings = good["bid_values"], good["feedback_events"]
    too_many = [{**bids[0], "value": i} for i in range(1001)]
    cases = {
        "good": data,
        "no_bytes": b"",
        "one_byte_missing": data[:-1],
        "one_byte_more": data + b"\0",
        "array_of_19": b"\x93" + data[1:],
        "first_edition": b"\x94" + data[2:],
        "array_of_22": b"\x96" + data[1:] + b"\0",
        "version_1": data[:1] + b"\1" + data[2:],
        "version_3": data[:1] + b"\3" + data[2:],
        "long_version": data[:1] + b"\x18\2" + data[2:],
        "version_as_text": data[:1] + b"\x61" + data[2:],
        "long_array_head": b"\x98\x15" + data[1:],
        "indefinite": b"\x9f" + data[1:] + b"\xff",
        "entries_1001": again(bid_values=too_many),
        "reversed_bids": again(bid_values=bids[::-1]),
        "reversed_ratings": again(feedback_events=ratings[::-1]),
        "score_101": again(feedback_events=[{**ratings[0], "score": 101}] + ratings[1:]),
        "outcome_3": again(feedback_events=[{**ratings[0], "outcome": 3}] + ratings[1:]),
        "role_2": again(feedback_events=[{**ratings[0], "role": 2}] + ratings[1:]),
        "slots_reversed": again(slot_start=7),
        "message_count": again(message_count=good["message_count"] + 1),
        "type_0": again(msg_type_counts=counted(0, 1), message_count=good["message_count"] + 1),
        "type_14": again(msg_type_counts=counted(14, 1), message_count=good["message_count"] + 1),
        "notarizations": again(notarizations=0),
        "disputes_below_sent": again(disputes=0),
        "more_received_than_logged": again(tasks_completed=len(leaves)),
        "more_sent_than_logged": again(msg_type_counts=counted(7, 99), message_count=good["message_count"] + 99),
        "more_peers_than_entries": again(unique_counterparties=len(leaves) + 1),
        "log_too_long": again(log_len=2**20 + 1),
        "arrays_too_long": again(arrays_len=2**20 + 1),
        "arrays_len": again(arrays_len=good["arrays_len"] + 1),
        "overflow_without_reason": again(overflow=True, overflow_data_hash=noise("x", 32), arrays_len=2000),
        "hash_without_overflow": again(overflow_data_hash=noise("x", 32)),
        "no_root_of_log": again(log_merkle_root=bytes(32)),
        "no_root_of_arrays": again(arrays_root=bytes(32)),
        "root_of_nothing": again(arrays_len=0, **{name: [] for name, _ in e.ARRAYS}),
        "empty": e.encode_batch(e.make_batch(empty_batch(), [[], [], [], []], [])[0]),
    }
    out = [verdict("batch", name, case, e.decode_batch) for name, case in cases.items()]
    pieces = e.split_records(records)
    bundle = e.encode_bundle(data, records, leaves)
    signed, flat = sign(good, data), b"".join(leaves)
    with_signed = e.encode_bundle(data, records, leaves, signed)

    def other(batch=None, arrays=None, cut=None):
        made = records if arrays is None else b"".join(arrays)
        return e.encode_bundle(again(**batch) if batch else data, made, leaves if cut is None else cut)

    same_slot = pieces[1:2] + pieces[:1] + pieces[2:]
    cases = {
        "good": bundle,
        "no_bytes": b"",
        "one_byte_more": bundle + b"\0",
        "one_byte_missing": bundle[:-1],
        "version_3": bundle[:1] + b"\3" + bundle[2:],
        "first_edition": cbor.dumps([1, data, records, flat]),
        "second_version_of_first_form": cbor.dumps([2, data, records, flat]),
        "long_version": bundle[:1] + b"\x18\2" + bundle[2:],
        "array_of_6": b"\x86" + bundle[1:] + b"\0",
        "batch_as_array": cbor.dumps([2, b"", [], b"", b""]),
        "half_a_leaf": cbor.dumps([2, b"", data, records, flat[:-1]]),
        "batch_missing": cbor.dumps([2, b"", b"", records, flat]),
        "batch_of_the_first_edition": cbor.dumps([2, b"", b"\x94" + data[2:], records, flat]),
        "signed": with_signed,
        "signed_short": e.encode_bundle(data, records, leaves, signed[:-1]),
        "signed_long": e.encode_bundle(data, records, leaves, signed + b"\0"),
        "signed_first_edition": e.encode_bundle(data, records, leaves, b"zx1/behavior-batch/v1" + signed[21:]),
        "signed_by_another": e.encode_bundle(data, records, leaves, signed[:237] + ed25519.public_key(AGENT) + signed[269:]),
        "signed_by_nobody": e.encode_bundle(data, records, leaves, signed[:-64] + bytes(64)),
        "signed_other_network": e.encode_bundle(data, records, leaves, signed[:21] + bytes(32) + signed[53:]),
        "signed_other_batch": e.encode_bundle(data, records, leaves, sign(good, data, batch_hash=noise("x", 32))),
        "signed_other_epoch": e.encode_bundle(data, records, leaves, sign(good, data, epoch=EPOCH + 1)),
        "signed_other_length": e.encode_bundle(data, records, leaves, sign(good, data, log_len=len(leaves) + 1)),
        "half_a_record": other(arrays=[records[:-1]]),
        "kind_0": other(arrays=[records, b"\0"]),
        "kinds_reversed": other(arrays=pieces[::-1]),
        "not_by_slot": other(arrays=same_slot),
        "leaf_missing": other(cut=leaves[:-1]),
        "leaves_swapped": other(cut=leaves[1::-1] + leaves[2:]),
        "record_missing": other(arrays=pieces[:-1]),
        "other_log_root": other(batch={"log_merkle_root": noise("x", 32)}),
        "other_arrays_root": other(batch={"arrays_root": noise("x", 32)}),
        "other_value_in_batch": other(batch={"bid_values": [{**bids[0], "value": 6}] + bids[1:]}),
        "other_attestation_in_batch": other(
            batch={"feedback_events": ratings[:-1] + [{**ratings[-1], "attestation": noise("x", 32)}]}
        ),
        "batch_that_contradicts_itself": other(batch={"slot_start": 7}),
    }
    return out + [verdict("bundle", name, case, e.check_bundle) for name, case in cases.items()]


def beacons():
    names = ("", "agent", "Größe 日本語 🦀", "a\0b")
    items = [{"agent_id": AGENT, "verifying_key": noise("key", 32), "name": name} for name in names]
    return [{**item, "bytes": e.encode_beacon(item)} for item in items]


def beacon_verdicts():
    cases = {
        "good": AGENT + OTHER + b"name", "no_name": AGENT + OTHER, "no_bytes": b"", "short_key": AGENT + OTHER[:-1],
        "half_a_character": AGENT + OTHER + "é".encode()[:1], "overlong": AGENT + OTHER + b"\xc0\x80",
        "surrogate": AGENT + OTHER + b"\xed\xa0\x80",
    }  # fmt: skip
    return [verdict("beacon", name, data, e.parse_beacon) for name, data in cases.items()]


def interactions():
    return [
        {
            "conversation_id": conversation,
            "counterparty": counterparty,
            "slot_accepted": slot,
            "interaction_hash": e.interaction_hash(conversation, counterparty, slot),
            "task_ref": e.task_ref(conversation),
        }
        for conversation in (bytes(16), bytes(range(16)))
        for counterparty, slot in ((OTHER, 400_000_001), (bytes(32), 0), (noise("peer", 32), U64))
    ]


def reputation_item(batches, at):
    states = [{"counted": a, "apart": b, "tally": tally} for a, b, tally in e.reputation(batches)]
    # Later scores are those of the last batch's tenure.
    last = batches[-1]["epoch"]
    later = [{"epoch": epoch, "counted": e.decay(states[-1]["counted"], last, epoch)} for epoch in at]
    return {"batches": batches, "states": states, "later": later}


def event(number, score=10, outcome=2, role=0, binding="selection", **changes):
    return {
        "score": score, "outcome": outcome, "role": role, "is_dispute": False, "from": noise(f"rater {number}", 32),
        "conversation": noise(f"task {number}", 16), "slot": 1000 + number, "in_batch": True,
        "envelope_at_hand": True, "binding": binding, **changes,
    }  # fmt: skip


def account(epoch, events, **changes):
    numbers = {"epoch": epoch, "tenure": 1, "slot_end": epoch * 216_000, "message_count": 1, "disputes": 0}
    return {**numbers, "events": events, **changes}


def random_account(rng, epoch):
    def one():
        number = rng.randrange(40)
        return event(
            number, rng.randint(-100, 100), rng.randrange(3), rng.randrange(2),
            rng.choice(("selection", "verifier", "contract", None)), in_batch=rng.random() < 0.8,
            envelope_at_hand=rng.random() < 0.9, is_dispute=rng.random() < 0.1,
        )  # fmt: skip

    events = [one() for _ in range(rng.randrange(8))]
    return account(epoch, events, message_count=rng.randrange(2), disputes=rng.randrange(3))


def reputations():
    negative = [event(1, -100, 0), event(2, -99, 0), event(3, 1, 1), event(4, 0, 2)]
    apart = [event(1, binding=None), event(2, envelope_at_hand=False), event(3), event(3, -100), event(3, 50, role=1)]
    left_out = [event(9, in_batch=False), event(8, -7, in_batch=False), event(7), event(9, 5)]
    rng, epoch, random_life = random.Random(20261121), 100, []
    for _ in range(25):
        random_life.append({**random_account(rng, epoch), "tenure": 1 + len(random_life) // 10})
        epoch += rng.choice((1, 1, 1, 2, 7, 8, 9, 30))
    return [
        reputation_item([account(10, [event(1, 100)])], (10, 11, 16, 17, 18, 19, 30, 400, U64)),
        reputation_item([account(10, negative)], (17, 18, 100)),
        reputation_item([account(10, apart), account(18, [event(3, 1), event(4)], disputes=2)], (25, 26)),
        reputation_item([account(10, left_out, message_count=0), account(11, [])], (11,)),
        reputation_item([account(10, [event(1), event(2, 99)]), account(17, []), account(25, [])], (25,)),
        reputation_item([account(10, [event(1, 100)]), account(30, [event(1, 5), event(2)], tenure=2)], (30, 38)),
        reputation_item(random_life, (epoch, epoch + 6, epoch + 50)),
    ]


def uncovered():
    cases = (
        (5, []), (5, [(5, 5)]), (5, [(5, 9), (10, 10), (11, 40)]), (5, [(7, 9), (12, 12)]), (0, [(71, 100)]),
        (5, [(5, 9), (20, 25), (60, 89)]),
    )  # fmt: skip
    return [
        {"first": first, "batches": [list(pair) for pair in batches], "uncovered": e.uncovered(first, batches)}
        for first, batches in cases
    ]


FILES = {
    "batches": (
        "built: a log and the batch, records, leaves and bundle that follow from it (decisions B9, C6, C7), and what "
        "is signed of it: message, key, signature; "
        "overflows: batches over so many bids (bid i: conversation, value and message i, counterparty b2.., slot i // 3, "
        "counters 0, no log)",
        {"built": built, "overflows": overflows, "verdicts": batch_verdicts},
    ),
    "beacons": (
        "BEACON payloads (decision C3); interaction hashes and task references for SATI (decision D5)",
        {"beacons": beacons, "interactions": interactions, "verdicts": beacon_verdicts},
    ),
    "reputation": (
        "lives: batches with their ratings, the scores of their tenure after each, and the decayed scores of the last "
        "tenure in later epochs (decisions D1 to D3); thousandths; uncovered: how many epochs no batch covers (P1)",
        {"reputations": reputations, "uncovered": uncovered},
    ),
}
