"""What schemathesis cannot know from the documents. Loaded by name: SCHEMATHESIS_HOOKS=hooks.

  OPENAPI_KNOWN     JSON: path parameters and a value of each that exists; every second request uses it
"""
import hashlib
import json
import os
import sys
from pathlib import Path

import schemathesis
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "vectors"))
import ed25519  # noqa: E402

ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
KNOWN = json.loads(os.environ.get("OPENAPI_KNOWN", "{}"))


def base58(data):
    """32 bytes as Solana writes an address: a pattern cannot say that the number must fit."""
    number, text = int.from_bytes(data, "big"), ""
    while number:
        number, digit = divmod(number, 58)
        text = ALPHABET[digit] + text
    return "1" * (len(data) - len(data.lstrip(b"\0"))) + text


addresses = st.binary(min_size=32, max_size=32).map(base58)
schemathesis.openapi.format("base58", addresses)
schemathesis.openapi.format("base58-list", st.lists(addresses, min_size=1, max_size=3).map(",".join))
keys = st.binary(min_size=32, max_size=32).map(lambda seed: ed25519.public_key(seed).hex())
schemathesis.openapi.format("ed25519", keys)
schemathesis.openapi.media_type("application/cbor", st.binary(max_size=2048))


@schemathesis.hook
def map_path_parameters(context, path_parameters):
    """Every second request is about something that exists."""
    for name in path_parameters or {}:
        if name in KNOWN and hashlib.sha256(str(path_parameters[name]).encode()).digest()[0] % 2 == 0:
            path_parameters[name] = KNOWN[name]
    return path_parameters


@schemathesis.hook
def filter_query(context, query):
    """Rules between parameters, and values that only the server makes, are not in the document."""
    query = query or {}
    # A cursor is of one list and its filters; its tests follow it through all pages.
    if "cursor" in query:
        return False
    path = context.operation.path if context.operation else ""
    # Exactly one of both.
    if path.endswith("/proof"):
        return ("record" in query) != ("leaf" in query)
    # In this order, at most 399 apart; each alone is held against the present epoch.
    if path.endswith("/history") and ("from_epoch" in query or "to_epoch" in query):
        try:
            return 0 <= int(query["to_epoch"]) - int(query["from_epoch"]) < 400
        except (KeyError, TypeError, ValueError):
            return False
    return True
