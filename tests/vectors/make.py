#!/usr/bin/env python3
"""The second implementation of zx1's formats: it makes the vectors and judges those that the Rust code makes.

  make.py generate      write zx1/*.json, relay/zx1_sig.json, and of fix/ verification.json, escrow_nonces.json and
                        escrow_routing.json
  make.py check         regenerate and compare, then verify every committed file; exit 1 on a difference
  make.py verify FILE   decode and verify a JSON file of the same sections, made by somebody else

Python 3 standard library only; Keccak-256, Ed25519 and CBOR are beside this file. envelopes.json and merkle.json were
given with the project and are only checked.
"""

import json
import sys
from pathlib import Path

sys.dont_write_bytecode = True
import batch_samples  # noqa: E402
import ed25519  # noqa: E402
import epoch_formats as e  # noqa: E402
import formats as f  # noqa: E402
import mesh_formats as m  # noqa: E402
import mesh_samples  # noqa: E402
import money  # noqa: E402
import nonces  # noqa: E402
import relay_formats  # noqa: E402
import rule_samples  # noqa: E402
import rules  # noqa: E402
import samples  # noqa: E402
import transport  # noqa: E402
import verification  # noqa: E402
from keccak import keccak256  # noqa: E402

ZX1 = samples.FILES | batch_samples.FILES | rule_samples.FILES | mesh_samples.FILES
FILES = {f"zx1/{name}": file for name, file in ZX1.items()} | verification.FILES | nonces.FILES | money.FILES
FILES |= transport.FILES | relay_formats.FILES
HERE = Path(__file__).resolve().parent


class Wrong(Exception):
    """A file says something that is not so."""


def to_json(value, name=""):
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, dict):
        return {key: to_json(item, key) for key, item in value.items()}
    if isinstance(value, list):
        return [to_json(item) for item in value]
    # i128 is beyond what most JSON readers take as a number.
    return str(value) if name == "value" else value


def render(name):
    about, sections = FILES[name]
    content = {"about": about, **{section: to_json(make()) for section, make in sections.items()}}
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def expect(name, found, wanted):
    if found != wanted:
        raise Wrong(f"{name}: {to_json(found)!r} should be {to_json(wanted)!r}")


def unhex(item, *names):
    return [bytes.fromhex(item[name]) for name in names]


def header_of(item):
    return {
        name: bytes.fromhex(item[name]) if name in f.HEADER_BYTES else item[name] for name in f.HEADER_FIELDS
    }


def verify_message(item):
    fields = header_of(item)
    payload, signed, signature, public, entry, envelope, leaf = unhex(
        item, "payload", "signing_bytes", "signature", "public_key", "log_entry", "envelope", "leaf"
    )
    f.check_payload(fields, payload)
    logged = f.logged_payload(fields["msg_type"], payload)
    expect("message32", f.message32(fields), bytes.fromhex(item["message32"]))
    expect("signed fields", f.parse_signing_bytes(signed), (fields, payload))
    expect("signing bytes", f.signing_bytes(fields, payload), signed)
    expect("signature holds", ed25519.verify(public, signed, signature), True)
    expect("envelope fields", f.decode_envelope(envelope), (fields, payload, signature))
    expect("envelope", f.encode_envelope(fields, payload, signature), envelope)
    expect("log entry fields", f.decode_log_entry(entry), (fields, signature, logged))
    expect("log entry", f.encode_log_entry(fields, signature, logged), entry)
    expect("leaf", keccak256(entry), leaf)


def verify_record(item):
    layout = f.RECORDS[item["kind"]][1]
    fields = {name: bytes.fromhex(item[name]) if how == f.BYTES else int(item[name]) for name, how, _ in layout}
    packed, leaf = unhex(item, "packed", "leaf")
    expect("record fields", f.parse_record(packed), (item["kind"], fields))
    expect("packed record", f.pack_record(item["kind"], fields), packed)
    expect("leaf", keccak256(packed), leaf)


def verify_batch_message(item):
    fields = {
        name: bytes.fromhex(item[name]) if how == f.BYTES else item[name] for name, how, _ in f.BATCH_FIELDS
    }
    message, public, signature, digest = unhex(item, "message", "public_key", "signature", "digest")
    expect("message", f.batch_message(fields), message)
    expect("message fields", f.parse_batch_message(message), fields)
    expect("signature holds", ed25519.verify(public, message, signature), True)
    expect("digest", keccak256(fields["previous_digest"] + message), digest)


def verify_tree(item):
    entries = [bytes.fromhex(entry) for entry in item["entries"]]
    root = bytes.fromhex(item["root"])
    expect("root", f.tree_root(entries), root)
    levels = f.tree_levels(entries) if entries else [[]]
    for proof in item["proofs"]:
        index, path = proof["index"], [bytes.fromhex(sibling) for sibling in proof["path"]]
        expect("proof", (index, path), f.tree_proof(levels, len(entries), proof["entry"]))
        expect("proof's root", f.proof_root(keccak256(entries[proof["entry"]]), index, path), root)


def verify_feedback_entry(item):
    names = ("sender", "payer", "previous_head", "text")
    entry = dict(zip(names, unhex(item, *names))) | {name: item[name] for name in ("index", "timestamp", "slot")}
    packed, head = unhex(item, "packed", "head")
    f.check_text(entry["text"])
    expect("packed entry", f.packed_feedback(entry, entry["previous_head"]), packed)
    expect("head", keccak256(entry["previous_head"] + packed), head)


def verify_evidence(item):
    data = bytes.fromhex(item["bytes"])
    content = {key: value for key, value in item.items() if key != "bytes"}
    parsed = f.parse_evidence(data)
    expect("evidence", to_json(parsed), content)
    expect("evidence bytes", f.encode_evidence(parsed), data)


def verify_claim(item):
    expect("claim", to_json(samples.claim(item["ground"], item["known"], *unhex(item, "message"))), item)


def verify_commit(item):
    expect("commit", to_json(samples.commit(*unhex(item, "challenger", "batch", "evidence"))), item)


def verify_derivation(item):
    data, agent = unhex(item, "bytes", "agent")
    shown = None if item["shown_payload"] is None else bytes.fromhex(item["shown_payload"])
    expect("derivation", to_json(samples.derivation(item["source"], data, agent, item["ground"], shown)), item)


def verify_built(item):
    entries = [
        {
            "sent": entry["sent"],
            "entry": bytes.fromhex(entry["entry"]),
            **{key: None if entry[key] is None else bytes.fromhex(entry[key]) for key in ("payload", "attestation")},
        }
        for entry in item["log"]
    ]
    slots, covered = (item["slot_start"], item["slot_end"]), (item["from_epoch"], item["to_epoch"])
    agent, signed = unhex(item, "agent", "signed")
    made = batch_samples.build(entries, slots, covered, agent, signed)
    expect("built", to_json(made), item)
    batch, packed, leaves = e.check_bundle(made["bundle"])
    found = (e.encode_batch(batch), b"".join(packed), b"".join(leaves))
    expect("bundle", found, (made["batch"], made["records"], made["leaves"]))
    if signed:
        expect("signed", e.is_signed(e.decode_bundle(made["bundle"])[0], batch, made["batch"]), True)


def verify_overflow(item):
    batch, _ = e.make_batch(batch_samples.empty_batch(), [batch_samples.overflow_bids(item["bids"]), [], [], []], [])
    data = e.encode_batch(batch)
    expect("batch", e.decode_batch(data), batch)
    found = {name: batch[name] for name in ("overflow", "overflow_data_hash", "arrays_root")}
    found |= {"bids": item["bids"], "batch_len": len(data), "batch_hash": keccak256(data)}
    expect("overflow", to_json(found), item)


def verify_beacon(item):
    data = bytes.fromhex(item["bytes"])
    beacon = e.parse_beacon(data)
    expect("beacon", {**to_json(beacon), "bytes": item["bytes"]}, item)
    expect("beacon bytes", e.encode_beacon(beacon), data)


def mesh_fields(item):
    """Fields of a mesh payload as its formats have them."""
    how = {"price": int, "fee": int, "deliver": bytes.fromhex}
    if item["what"] == "dispute":
        how["verdict"] = bytes.fromhex
    return {key: how.get(key, lambda value: value)(value) for key, value in item["fields"].items()}


def verify_mesh_payload(item):
    data, fields = bytes.fromhex(item["payload"]), mesh_fields(item)
    expect("payload", m.encode_map(item["what"], fields), data)
    expect("payload fields", m.decode_map(item["what"], data), fields)


def verify_context(item):
    data, envelopes = bytes.fromhex(item["payload"]), [bytes.fromhex(one) for one in item["envelopes"]]
    expect("context", m.encode_context(envelopes), data)
    expect("envelopes", m.decode_context(data), envelopes)


def verify_interaction(item):
    conversation, counterparty = unhex(item, "conversation_id", "counterparty")
    expect("task_ref", e.task_ref(conversation).hex(), item["task_ref"])
    found = e.interaction_hash(conversation, counterparty, item["slot_accepted"])
    expect("interaction hash", found.hex(), item["interaction_hash"])


def verify_reputation(item):
    at = [later["epoch"] for later in item["later"]]
    expect("reputation", to_json(batch_samples.reputation_item(item["batches"], at)), item)


def verify_uncovered(item):
    expect("uncovered", e.uncovered(item["first"], item["batches"]), item["uncovered"])


def of_rule(rule, names, *roots):
    """The item of a rule, made again from what it was given."""

    def verify(item):
        given = [bytes.fromhex(item[name]) if name in roots else item[name] for name in names]
        expect(rule.__name__, to_json(rule(*given)), item)

    return verify


def verify_amounts(item):
    expect("amounts", rules.amounts_verdict(item), item["verdict"])


PARSERS = {
    "batch": e.decode_batch,
    "beacon": e.parse_beacon,
    "bundle": e.check_bundle,
    "log_entry": f.decode_log_entry,
    "envelope": f.decode_envelope,
    "signing_bytes": f.parse_signing_bytes,
    "feedback": f.decode_feedback,
    "record": f.parse_record,
    "evidence": f.parse_evidence,
    "text": f.check_text,
    "context": m.decode_context,
    **{what: mesh_samples.parse(what) for what in m.MAPS},
}


def verify_run(item):
    expect(item["name"], verification.unmet(item["conditions"], item["fix"], item["check"]), item["unmet"])


def verify_nonce(item):
    names = ("secret", "server", "post", "depositor", "nonce")
    fields = {name: bytes.fromhex(item[name]) for name in names}
    wanted = fields.pop("nonce")
    words = {name: item[name] for name in ("network", "role", "round")}
    expect("nonce", nonces.nonce(**fields, **words), wanted)
    expect("id", nonces.identify(fields["secret"]), item["id"])


def verify_frame(item):
    envelope, frame, answer = unhex(item, "envelope", "frame", "answer")
    expect("envelope", transport.read_frame(frame), envelope)
    expect("answer", answer, transport.ACK)


def verify_verdict(item):
    data = bytes.fromhex(item["bytes"])
    found = samples.verdict(item["what"], item["name"], data, PARSERS[item["what"]])
    expect(f"verdict on {item['what']} {item['name']}", found["verdict"], item["verdict"])


def verify_row(item):
    expect("row", item, money.again(item))


SECTIONS = {
    "rows": verify_row,
    "built": verify_built,
    "overflows": verify_overflow,
    "beacons": verify_beacon,
    "interactions": verify_interaction,
    "mesh_payloads": verify_mesh_payload,
    "contexts": verify_context,
    "reputations": verify_reputation,
    "messages": verify_message,
    "records": verify_record,
    "batch_messages": verify_batch_message,
    "trees": verify_tree,
    "feedback_log": verify_feedback_entry,
    "evidence": verify_evidence,
    "claims": verify_claim,
    "commits": verify_commit,
    "uncovered": verify_uncovered,
    "coverage": of_rule(rules.coverage, ("epoch", "current", "last_epoch", "tenure_from")),
    "lengths": of_rule(
        rules.lengths, ("log_len", "log_root", "arrays_len", "arrays_root"), "log_root", "arrays_root"
    ),
    "heads": of_rule(rules.head, ("network", "agent", "current"), "network", "agent"),
    "voids": of_rule(
        rules.void, ("previous_digest", "epoch", "head_digest", "current"), "previous_digest", "head_digest"
    ),
    "key_lives": of_rule(rules.key_life, ("current", "first_use", "after_take_over", "ended_in")),
    "closings": of_rule(
        rules.closing, ("scopes", "ended", "until", "current", "last_epoch", "last_slot", "now")
    ),
    "scopes": of_rule(rules.scopes, ("scopes",)),
    "amounts": verify_amounts,
    "divisions": of_rule(rules.division, ("amounts", "whole")),
    "windows": of_rule(rules.windows, ("since", "now")),
    "derivations": verify_derivation,
    "verdicts": verify_verdict,
    "runs": verify_run,
    "nonces": verify_nonce,
    "protocol_names": lambda item: expect("name", item in transport.names(), True),
    "message_ids": lambda item: expect("id", keccak256(bytes.fromhex(item["data"])).hex(), item["id"]),
    "frames": verify_frame,
    "refused_frames": lambda item: expect("why", transport.read_frame(bytes.fromhex(item["frame"])), item["why"]),
    "proposal_signatures": lambda item: expect("signature", relay_formats.verify(item), None),
    "peer_ids": lambda item: expect("id", transport.peer_id(bytes.fromhex(item["public_key"])), item["peer_id"]),
}


def verify_given_envelopes(content):
    for name in ("beacon", "propose"):
        item = content[name]
        fields, (payload, signature) = header_of(item), unhex(item, "payload", "signature")
        entry = f.encode_log_entry(fields, signature, f.logged_payload(fields["msg_type"], payload))
        verify_message(
            {
                **item,
                "message32": f.message32(fields).hex(),
                "envelope": item["cbor"],
                "log_entry": entry.hex(),
                "leaf": keccak256(entry).hex(),
            }
        )
        expect("cbor_len", item["cbor_len"], len(item["cbor"]) // 2)
    f.decode_feedback(bytes.fromhex(content["feedback_payload_cbor"]))


def verify_given_trees(content):
    for count, tree in content["trees"].items():
        expect("entries", len(tree["entries"]), int(count))
        verify_tree({**tree, "proofs": []})


GIVEN = {"zx1/envelopes": verify_given_envelopes, "zx1/merkle": verify_given_trees}


def verify_sections(content):
    """Verifies all sections; returns how many items they had."""
    count = 0
    for section, items in content.items():
        if section == "about":
            continue
        if section not in SECTIONS:
            raise Wrong(f"there is no section {section!r}")
        for number, item in enumerate(items):
            try:
                SECTIONS[section](item)
            except (Wrong, f.Refused, KeyError, ValueError, OverflowError) as error:
                raise Wrong(f"{section}[{number}]: {error!r}") from error
            count += 1
    if not count:
        raise Wrong("the file says nothing")
    return count


def generate():
    for name in FILES:
        (HERE / f"{name}.json").write_text(render(name), encoding="utf-8")


def check():
    for name in FILES:
        found = (HERE / f"{name}.json").read_text(encoding="utf-8")
        if found != render(name):
            raise Wrong(f"{name}.json differs from what make.py generates")
        verify_sections(json.loads(found))
    for name, verify in GIVEN.items():
        verify(json.loads((HERE / f"{name}.json").read_text(encoding="utf-8")))


def main(arguments):
    try:
        match arguments:
            case ["generate"]:
                generate()
            case ["check"]:
                check()
                print("the vectors are what make.py generates, and they hold")
            case ["verify", path]:
                count = verify_sections(json.loads(Path(path).read_text(encoding="utf-8")))
                print(f"{count} items hold")
            case _:
                print(__doc__, file=sys.stderr)
                return 2
    except Wrong as error:
        print(f"make.py: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
