"""What schemathesis cannot know from the documents. Loaded by name: SCHEMATHESIS_HOOKS=hooks.

  OPENAPI_KNOWN     JSON: path parameters and a value of each that exists; every second request uses it
  OPENAPI_SIGN      JSON: {"server": hex, "seed": hex, "now": seconds}; three of four requests are signed so, now or then
"""
import hashlib
import json
import os
import sys
import time
from pathlib import Path

import requests
import schemathesis
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "vectors"))
import ed25519  # noqa: E402

ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
KNOWN = json.loads(os.environ.get("OPENAPI_KNOWN", "{}"))
SIGN = json.loads(os.environ.get("OPENAPI_SIGN", "null"))


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


class Signature(requests.auth.AuthBase):
    """The market's request signature (docs/wire.md), over the bytes as they are sent."""

    def __call__(self, request):
        seed, moment = bytes.fromhex(SIGN["seed"]), str(SIGN.get("now", int(time.time())))
        body = request.body or b""
        digest = hashlib.sha256(body.encode() if isinstance(body, str) else body).hexdigest()
        lines = ["fix-request/v2", SIGN["server"], request.method, request.path_url, moment, digest]
        request.headers.update({
            "X-Fix-Auth": "2",
            "X-Fix-Pubkey": ed25519.public_key(seed).hex(),
            "X-Fix-Signature": ed25519.sign(seed, "\n".join(lines).encode()).hex(),
            "X-Fix-Timestamp": moment,
        })
        return request


@schemathesis.hook
def before_call(context, case, kwargs):
    """What is not signed here has what the document lets schemathesis make up, or nothing."""
    signs = any(case.operation.definition.raw.get("security", []))
    if SIGN and signs and hashlib.sha256(repr((case.path, case.body)).encode()).digest()[0] % 4:
        kwargs["auth"] = Signature()


# What the document cannot say, and so is left out; the servers' own tests have it. Values that only the server makes;
# of two parameters the one that the other excludes, or that it bounds.
LEFT_OUT = {"": {"cursor"}, "/proof": {"leaf"}, "/history": {"from_epoch"}}


@schemathesis.hook
def before_load_schema(context, raw_schema):
    # It answers nothing but a websocket's upgrade.
    raw_schema["paths"].pop("/v1/ws", None)
    for path, item in raw_schema["paths"].items():
        names = set().union(*(names for end, names in LEFT_OUT.items() if path.endswith(end)))
        for operation in item.values():
            kept = [it for it in operation.get("parameters", []) if it["name"] not in names]
            for parameter in kept:
                parameter["required"] = parameter["required"] or (path.endswith("/proof") and parameter["in"] == "query")
            operation["parameters"] = kept
