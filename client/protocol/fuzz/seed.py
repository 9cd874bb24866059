#!/usr/bin/env python3
"""Fills fuzz/corpus with the committed vectors, so that the fuzzer starts from bytes that decode.

  python3 fuzz/seed.py && cargo fuzz run bundle
"""

import hashlib
import json
from pathlib import Path

HERE = Path(__file__).resolve().parent
VECTORS = HERE.parents[2] / "tests" / "vectors" / "zx1"
# What the vectors call it: the targets that read it.
TARGETS = {
    "envelope": ["envelope", "validate"],
    "signing_bytes": ["signing_bytes"],
    "log_entry": ["log_entry"],
    "feedback": ["payload_feedback"],
    "record": ["record"],
    "batch": ["behavior_batch"],
    "bundle": ["bundle"],
    "beacon": ["payload_beacon"],
    "text": ["feedback_log"],
}


def keep(target, data):
    folder = HERE / "corpus" / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / hashlib.sha1(data).hexdigest()).write_bytes(data)


def main():
    for path in VECTORS.glob("*.json"):
        content = json.loads(path.read_text(encoding="utf-8"))
        for item in content.get("verdicts", []):
            data = bytes.fromhex(item["bytes"])
            for target in TARGETS.get(item["what"], []):
                keep(target, data)
            if item["what"] == "evidence" and data[:1] in (b"\1", b"\2"):
                keep("evidence_log_entry" if data[0] == 1 else "evidence_double_bid", data[1:])
        for item in content.get("built", []):
            keep("bundle", bytes.fromhex(item["bundle"]))
            keep("behavior_batch", bytes.fromhex(item["batch"]))
        for item in content.get("messages", []):
            payload = bytes.fromhex(item["payload"])
            keep("payload_bid", payload)
            if item["msg_type"] == 8:
                keep("payload_notarize_bid", payload)


if __name__ == "__main__":
    main()
