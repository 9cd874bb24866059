"""The second half of the second implementation: what an agent says of a whole epoch and what follows for its
reputation. Beacons (C3), batches (C6), bundles (C7), reputation (D1 to D3) and the interaction hash (D5)."""

import cbor
import ed25519
from formats import (  # fmt: skip
    BID, BYTES, FEEDBACK, INT, OWN_MESSAGES, RATING, RECORDS, Refused, UINT, ZERO, decode_log_entry,
    derive_from_log_entry, parse_batch_message, parse_record, pack_record, tree_root,
)
from keccak import keccak256

# Beacons and interaction hashes


def encode_beacon(beacon):
    return beacon["agent_id"] + beacon["verifying_key"] + beacon["name"].encode()


def parse_beacon(data):
    if len(data) < 64:
        raise Refused("TooShort")
    try:
        name = data[64:].decode("utf-8")
    except UnicodeDecodeError:
        raise Refused("NameNotUtf8") from None
    return {"agent_id": data[:32], "verifying_key": data[32:64], "name": name}


def interaction_hash(conversation_id, counterparty, slot):
    return keccak256(conversation_id + counterparty + slot.to_bytes(8, "big"))


def task_ref(conversation_id):
    return conversation_id + bytes(16)


# Batches: fields with the bits of a number or the bytes of a string

MAX_ENTRIES, MAX_LEN, MAX_BATCH_BYTES = 1000, 2**20, 436_000
BATCH_VERSION, BUNDLE_VERSION = 2, 2
FRONT = (
    ("agent_id", BYTES, 32), ("epoch_number", UINT, 64), ("slot_start", UINT, 64), ("slot_end", UINT, 64),
    ("message_count", UINT, 32),
)  # fmt: skip
COUNTERS = ("unique_counterparties", "tasks_completed", "notarizations", "disputes")
ARRAYS = (
    ("bid_values", "bid"), ("task_selections", "selection"), ("verifier_ids", "verifier"),
    ("feedback_events", "feedback"),
)  # fmt: skip
BACK = (
    ("log_merkle_root", BYTES, 32), ("log_len", UINT, 32), ("arrays_root", BYTES, 32), ("arrays_len", UINT, 32),
)  # fmt: skip


def record_items(kind, fields):
    """A record in a batch: the fields in order, a bid's value as 16 bytes."""
    return [
        fields[name].to_bytes(16, "big", signed=True) if name == "value" else fields[name]
        for name, _, _ in RECORDS[kind][1]
    ]


def read_record(reader, kind):
    layout = RECORDS[kind][1]
    reader.array(len(layout))
    fields = {}
    for name, how, size in layout:
        if name == "value":
            fields[name] = int.from_bytes(reader.bytes(16), "big", signed=True)
        elif how == BYTES:
            fields[name] = reader.bytes(size)
        else:
            fields[name] = reader.int8() if how == INT else reader.uint(8 * size)
    return fields


def encode_batch(batch):
    items = [BATCH_VERSION] + [batch[name] for name, _, _ in FRONT] + [list(batch["msg_type_counts"])]
    items += [batch[name] for name in COUNTERS]
    items += [[record_items(kind, fields) for fields in batch[name]] for name, kind in ARRAYS]
    items += [batch["overflow"], batch["overflow_data_hash"]] + [batch[name] for name, _, _ in BACK]
    return cbor.dumps(items)


def expect_version(found, wanted):
    if found != wanted:
        raise Refused(f"Version {{ version: {found} }}")


def decode_batch(data):
    if len(data) > MAX_BATCH_BYTES:
        raise Refused("TooLarge")
    r, batch = cbor.Reader(data), {}

    def read(fields):
        for name, how, size in fields:
            batch[name] = r.bytes(size) if how == BYTES else r.uint(size)

    try:
        length = r.array()
        # The first edition had one field less: no version.
        if length not in (20, 21):
            raise Refused("Malformed")
        expect_version(1 if length == 20 else r.uint(8), BATCH_VERSION)
        read(FRONT)
        r.array(16)
        batch["msg_type_counts"] = [r.uint(32) for _ in range(16)]
        read((name, UINT, 32) for name in COUNTERS)
        for name, kind in ARRAYS:
            length = r.array()
            if length > MAX_ENTRIES:
                raise Refused("TooManyEntries")
            batch[name] = [read_record(r, kind) for _ in range(length)]
        batch["overflow"], batch["overflow_data_hash"] = r.bool(), r.bytes(32)
        read(BACK)
    except cbor.Malformed:
        raise Refused("Malformed") from None
    if encode_batch(batch) != data:
        raise Refused("NotCanonical")
    check_batch(batch)
    return batch


def in_order(records):
    return all(a["slot"] <= b["slot"] for a, b in zip(records, records[1:]))


def check_batch(batch):
    held = [len(batch[name]) for name, _ in ARRAYS]
    counts, total = batch["msg_type_counts"], batch["arrays_len"]
    received = batch["log_len"] - sum(counts)
    received_disputes = batch["disputes"] - counts[0x0C]
    cut = batch["overflow"]
    for name, fits in (
        ("TooManyEntries", max(held) <= MAX_ENTRIES),
        (
            "RatingOutOfRange",
            all(-100 <= e["score"] <= 100 and e["outcome"] <= 2 and e["role"] <= 1 for e in batch["feedback_events"]),
        ),
        ("NotChronological", all(in_order(batch[name]) for name, _ in ARRAYS)),
        ("SlotsReversed", batch["slot_start"] <= batch["slot_end"]),
        (
            "Counters",
            counts[0] == counts[14] == counts[15] == 0
            and sum(counts) == batch["message_count"]
            and counts[0x0A] == batch["notarizations"]
            and batch["unique_counterparties"] <= batch["log_len"]
            and received_disputes >= 0
            and received >= received_disputes + batch["tasks_completed"],
        ),
        ("TreeTooLong", max(batch["log_len"], total) <= MAX_LEN),
        (
            "Overflow",
            MAX_ENTRIES in held and sum(held) < total and batch["overflow_data_hash"] != ZERO
            if cut
            else sum(held) == total and batch["overflow_data_hash"] == ZERO,
        ),
        (
            "EmptyRoot",
            (batch["log_len"] == 0) == (batch["log_merkle_root"] == ZERO)
            and (total == 0) == (batch["arrays_root"] == ZERO),
        ),
    ):  # fmt: skip
        if not fits:
            raise Refused(name)


def overflow_data_hash(arrays):
    """Of the uncut arrays, as lists of records in the batch's order; zeros when none has to be cut."""
    if max(map(len, arrays)) <= MAX_ENTRIES:
        return ZERO
    return keccak256(
        b"".join(
            cbor.dumps([record_items(kind, fields) for fields in array]) for (_, kind), array in zip(ARRAYS, arrays)
        )
    )


def make_batch(front, arrays, leaves):
    """(batch, packed records): the arrays are uncut, in the batch's order, each already by slot."""
    packed = [pack_record(kind, fields) for (_, kind), array in zip(ARRAYS, arrays) for fields in array]
    hash_of_arrays = overflow_data_hash(arrays)
    batch = {
        **front,
        **{name: array[:MAX_ENTRIES] for (name, _), array in zip(ARRAYS, arrays)},
        "overflow": hash_of_arrays != ZERO,
        "overflow_data_hash": hash_of_arrays,
        "log_merkle_root": root_of_leaves(leaves),
        "log_len": len(leaves),
        "arrays_root": tree_root(packed),
        "arrays_len": len(packed),
    }
    return batch, b"".join(packed)


def root_of_leaves(leaves):
    if not leaves:
        return ZERO
    width = 1 << (len(leaves) - 1).bit_length()
    row = [ZERO] * (width - len(leaves)) + leaves
    while len(row) > 1:
        row = [keccak256(row[i] + row[i + 1]) for i in range(0, len(row), 2)]
    return row[0]


def build_batch(agent, epoch, slots, log):
    """What section 8.2 and decision C6 make of a log: a list of (sent, encoded entry, payload, attestation)."""
    arrays = {kind: [] for _, kind in ARRAYS}
    counts, peers = [0] * 16, set()
    verdicts = disputes = 0
    for sent, entry, payload, attestation in log:
        fields = decode_log_entry(entry)[0]
        msg_type = fields["msg_type"]
        disputes += msg_type == 0x0C
        if fields["recipient"] != ZERO:
            peers.add(fields["recipient"] if sent else fields["sender"])
        if sent:
            counts[msg_type] += 1
            grounds = [ground for ground, types in OWN_MESSAGES.items() if msg_type in types]
        else:
            verdicts += msg_type == 0x0A
            grounds = [RATING] if msg_type == FEEDBACK else []
        for ground in grounds:
            try:
                packed, _ = derive_from_log_entry(entry, agent, ground, payload if ground == BID else None)
            except Refused:
                continue
            kind, record = parse_record(packed)
            if kind == "feedback" and attestation is not None:
                record["attestation"] = attestation
            arrays[kind].append(record)
    front = {
        "agent_id": agent,
        "epoch_number": epoch,
        "slot_start": slots[0],
        "slot_end": slots[1],
        "message_count": sum(counts),
        "msg_type_counts": counts,
        "unique_counterparties": len(peers - {agent}),
        "tasks_completed": verdicts,
        "notarizations": counts[0x0A],
        "disputes": disputes,
    }
    arrays = [sorted(arrays[kind], key=lambda record: record["slot"]) for _, kind in ARRAYS]
    leaves = [keccak256(entry) for _, entry, _, _ in log]
    batch, records = make_batch(front, arrays, leaves)
    return batch, records, leaves


# Bundles


def encode_bundle(batch, records, leaves, signed=b""):
    return cbor.dumps([BUNDLE_VERSION, signed, batch, records, b"".join(leaves)])


def parse_signed(data):
    """(fields, message, key, signature); None for a bundle that is not signed."""
    if not data:
        return None
    fields = parse_batch_message(data[:237])
    if fields is None or len(data) != 237 + 32 + 64:
        raise Refused("MalformedSigned")
    return fields, data[:237], data[237:269], data[269:]


def split_records(records):
    """The packed records; they must come kind after kind."""
    out, at, kinds = [], 0, sorted(RECORDS.items(), key=lambda item: item[1][0])
    for _, (number, layout) in kinds:
        length = 1 + sum(size for _, _, size in layout)
        while records[at : at + 1] == bytes([number]):
            try:
                parse_record(records[at : at + length])
            except Refused as refusal:
                raise Refused(f"Record({refusal})") from None
            out.append(records[at : at + length])
            at += length
    if at < len(records):
        raise Refused("KindOrder" if records[at] in (1, 2, 3, 4) else "Record(UnknownKind)")
    if len(out) > MAX_LEN:
        raise Refused("TooManyRecords")
    return out


def decode_bundle(data):
    try:
        r = cbor.Reader(data)
        length = r.array()
        expect_version(r.uint(8), BUNDLE_VERSION)
        if length != 5:
            raise Refused("Malformed")
        signed, batch, records, leaves = r.bytes(), r.bytes(), r.bytes(), r.bytes()
    except cbor.Malformed:
        raise Refused("Malformed") from None
    if cbor.dumps([BUNDLE_VERSION, signed, batch, records, leaves]) != data:
        raise Refused("NotCanonical")
    if len(leaves) % 32:
        raise Refused("CutLeaf")
    signed = parse_signed(signed)
    if len(batch) > MAX_BATCH_BYTES:
        raise Refused("Batch(TooLarge)")
    if len(leaves) > 32 * MAX_LEN:
        raise Refused("TooManyLeaves")
    return signed, batch, split_records(records), [leaves[i : i + 32] for i in range(0, len(leaves), 32)]


def commitment(batch, data):
    """What is signed of a batch, and kept on chain."""
    names = ("log_merkle_root", "log_len", "arrays_root", "arrays_len")
    same = {"agent": batch["agent_id"], "epoch": batch["epoch_number"], "batch_hash": keccak256(data)}
    return {**same, **{name: batch[name] for name in names}}


def is_signed(signed, batch, data):
    """Whether what is signed is this batch, and the signature holds."""
    same = all(signed[0][name] == value for name, value in commitment(batch, data).items())
    return same and ed25519.verify(signed[2], signed[1], signed[3])


def check_bundle(data):
    """What is signed may be anything of the right form: it is for who compares it, see is_signed."""
    _, batch_bytes, packed, leaves = decode_bundle(data)
    try:
        batch = decode_batch(batch_bytes)
    except Refused as refusal:
        raise Refused(f"Batch({refusal})") from None
    arrays = {kind: [] for _, kind in ARRAYS}
    for record in packed:
        kind, fields = parse_record(record)
        arrays[kind].append(fields)
    arrays = list(arrays.values())
    for name, fits in (
        ("NotChronological", all(map(in_order, arrays))),
        ("LogLength", batch["log_len"] == len(leaves)),
        ("ArraysLength", batch["arrays_len"] == len(packed)),
        ("LogRoot", lambda: batch["log_merkle_root"] == root_of_leaves(leaves)),
        ("ArraysRoot", lambda: batch["arrays_root"] == tree_root(packed)),
        ("Arrays", [batch[name] for name, _ in ARRAYS] == [array[:MAX_ENTRIES] for array in arrays]),
        ("OverflowHash", lambda: batch["overflow_data_hash"] == overflow_data_hash(arrays)),
    ):  # fmt: skip
        if not (fits() if callable(fits) else fits):
            raise Refused(name)
    return batch, packed, leaves


# Reputation, in thousandths


def toward_zero(numerator, denominator):
    quotient = abs(numerator) // denominator
    return quotient if numerator >= 0 else -quotient


def new_scores():
    names = ("reliability_score", "cooperation_index", "notary_accuracy")
    counts = ("total_tasks", "total_notarized", "total_disputes", "batches", "last_active_slot")
    return dict.fromkeys(names + counts, 0)


def rate(scores, rating):
    score, count = (
        ("notary_accuracy", "total_notarized") if rating["role"] else ("reliability_score", "total_tasks")
    )
    scores[count] += 1
    both = scores["total_tasks"] + scores["total_notarized"]
    for name, n, given in (
        (score, scores[count], rating["score"]),
        ("cooperation_index", both, (-100, 0, 100)[rating["outcome"]]),
    ):
        scores[name] = toward_zero(scores[name] * (n - 1) + 1000 * given, n)


def decay(scores, last_epoch, epoch):
    """The scores in `epoch` when the last batch was of `last_epoch`."""
    scores = dict(scores)
    idle = 0 if last_epoch is None else max(0, epoch - last_epoch - 1)
    for _ in range(max(0, min(idle, 1000) - 6)):
        for name in ("reliability_score", "cooperation_index"):
            if scores[name] > 0:
                scores[name] = scores[name] * 95 // 100
    return scores


def reputation(batches):
    """After each batch: (scores that count, scores shown apart, tally) of its tenure, and the tenure's last epoch."""
    tenures, seen, out = {}, set(), []
    for batch in batches:
        fresh = (new_scores(), new_scores(), None, dict.fromkeys(("bound", "left_out", "unbound", "repeated"), 0))
        counted, apart, last, tally = tenures.get(batch["tenure"], fresh)
        counted = decay(counted, last, batch["epoch"])
        tenures[batch["tenure"]] = counted, apart, batch["epoch"], tally
        counted["batches"] += 1
        counted["total_disputes"] += batch["disputes"]
        if batch["message_count"]:
            counted["last_active_slot"] = max(counted["last_active_slot"], batch["slot_end"])
        held = [event for event in batch["events"] if event["in_batch"]]
        left_out = [event for event in batch["events"] if not event["in_batch"]]
        order = ("slot", "from", "conversation", "role", "score", "outcome", "is_dispute")
        left_out.sort(key=lambda event: [event[name] for name in order])
        for event in held + left_out:
            key = (event["from"], event["conversation"], event["role"])
            if not (event["envelope_at_hand"] and event["binding"]):
                standing = "unbound"
            elif key in seen:
                standing = "repeated"
            else:
                seen.add(key)
                standing = "bound" if event["in_batch"] else "left_out"
            tally[standing] += 1
            rate(counted if standing in ("bound", "left_out") else apart, event)
        out.append((dict(counted), dict(apart), dict(tally)))
    return out


def uncovered(first, batches):
    """How many epochs from `first` to the last covered one are in no [from, to]."""
    covered = {epoch for start, end in batches for epoch in range(start, end + 1)}
    return len(set(range(first, max(covered, default=first) + 1)) - covered) if covered else 0
