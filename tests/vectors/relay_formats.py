"""The relay's signature over all terms of a proposal, a second time, and the samples of relay/zx1_sig.json."""

import base64
import hashlib
import json

import ed25519

NAMES = (
    "to",
    "task",
    "amount",
    "currency",
    "payment_code",
    "terms",
    "expires",
    "elo_stake",
    "contract",
    "conversation",
)


def plain(value):
    """A whole number is an integer, so that 5 and 5.0 are signed alike."""
    return int(value) if isinstance(value, float) and value.is_integer() and 0 <= value <= 2**53 else value


def content(terms):
    fields = {name: plain(terms.get(name)) for name in NAMES}
    canonical = json.dumps(fields, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return "zx1/relay/v1|PROPOSAL|" + hashlib.sha256(canonical.encode()).hexdigest()


def sample(seed, **terms):
    secret, signed = bytes([seed]) * 32, content(terms)
    signature = base64.b64encode(ed25519.sign(secret, signed.encode())).decode()
    key = ed25519.public_key(secret)
    return {"seed": secret, "public_key": key, "terms": terms, "content": signed, "zx1_sig": signature}


def samples():
    return [
        sample(1, to="@8addfe27", task="translate 3 pages"),
        sample(
            1,
            to="@8addfe27",
            task="fix the build",
            amount=5,
            currency="XNO",
            payment_code="nano_1abc",
            terms="half now, half when it is green",
            expires=3600,
            elo_stake=25,
            contract="https://market.example#0123456789abcdef",
            conversation="000102030405060708090a0b0c0d0e0f",
        ),
        sample(2, to="@3d4c0305", task="x", amount=5.0, expires=0.5),
        sample(2, to="@3d4c0305", task="x", amount=1e-7, terms=""),
        sample(3, to="@a", task='"quoted"\n\u00e9 \u2713 \U0001f600', amount=0, elo_stake=0),
        sample(3, to="@a", task="x", amount=1e21, expires=31536000),
    ]


def verify(item):
    """What is wrong with an item; None when nothing is."""
    key, signature = bytes.fromhex(item["public_key"]), base64.b64decode(item["zx1_sig"])
    if content(item["terms"]) != item["content"]:
        return "content"
    if ed25519.public_key(bytes.fromhex(item["seed"])).hex() != item["public_key"]:
        return "key"
    return None if ed25519.verify(key, item["content"].encode(), signature) else "signature"


FILES = {
    "relay/zx1_sig": (
        "Signatures over all terms of a proposal: the SHA-256 of canonical JSON, absent fields as null.",
        {"proposal_signatures": samples},
    )
}
