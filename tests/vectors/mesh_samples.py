"""What the committed vectors of the mesh's payloads contain."""

import cbor
import formats as f
import mesh_formats as m
from keccak import keccak256
from samples import AGENT, OTHER, bid_payload, message, noise, verdict

I128_MAX = 2**127 - 1
LONGEST = {key: "x" * high for key, (_, high) in m.LENGTHS.items()}
DELIVER = keccak256(b"the work")

GOOD = {
    "advertise": {
        "usual": {
            "caps": ["rust", "repair"], "schema": "zx1/fix/v1", "unit": "raw", "price": 5 * 10**28, "ttl": 3_600,
        },
        "with_contract": {
            "caps": ["repair"], "schema": "", "unit": "raw", "price": 0, "ttl": 0,
            "contract": "https://market.example#0123456789abcdef",
        },
        "longest": {
            "caps": [LONGEST["caps"]] * 16, "schema": LONGEST["schema"], "unit": LONGEST["unit"], "price": I128_MAX,
            "ttl": 2**32 - 1, "contract": LONGEST["contract"],
        },
        "other_scripts": {"caps": ["Größe", "日本語", "🦀"], "schema": "é", "unit": "Ӿ", "price": 1, "ttl": 24},
    },
    "discover": {
        "usual": {"want": ["rust"], "max": 5},
        "largest": {"want": [LONGEST["want"]] * 16, "max": 2**32 - 1},
        "none_asked_for": {"want": ["a"], "max": 0},
    },
    "offer": {
        "usual": {"fee": 10**27, "unit": "raw", "seconds": 600},
        "free": {"fee": 0, "unit": "x", "seconds": 1},
        "largest": {"fee": I128_MAX, "unit": LONGEST["unit"], "seconds": 2**32 - 1},
    },
    "verdict": {
        "usual": {"outcome": 2, "deliver": DELIVER, "reason": "the tests pass"},
        "no_reason": {"outcome": 0, "deliver": bytes(32), "reason": ""},
        "longest": {"outcome": 1, "deliver": b"\xff" * 32, "reason": LONGEST["reason"]},
    },
    "dispute": {
        "usual": {"verdict": keccak256(b"the verdict"), "reason": "other tests fail"},
        "longest": {"verdict": bytes(32), "reason": "é" * 512},
    },
}  # fmt: skip

BAD = {
    "advertise": (
        {"caps": []}, {"caps": ["x"] * 17}, {"caps": [""]}, {"caps": ["x" * 65]}, {"schema": "x" * 257}, {"unit": ""},
        {"unit": "x" * 33}, {"price": -1}, {"contract": ""}, {"contract": "x" * 257},
    ),
    "discover": ({"want": []}, {"want": ["x"] * 17}, {"want": ["ok", ""]}),
    "offer": ({"fee": -1}, {"fee": -(2**127)}, {"unit": ""}, {"seconds": 0}),
    "verdict": ({"outcome": 3}, {"outcome": 255}, {"reason": "é" * 513}),
    "dispute": ({"reason": "x" * 1_025},),
}  # fmt: skip


def mesh_payloads():
    return [
        {"what": what, "name": name, "fields": shown(fields), "payload": m.encode_map(what, fields)}
        for what, cases in GOOD.items()
        for name, fields in cases.items()
    ]


def shown(fields):
    """Fields for JSON, in which amounts are decimal strings."""
    return {key: str(value) if key in ("price", "fee") else value for key, value in fields.items()}


def parse(what):
    return lambda data: m.decode_map(what, data)


def raw_map(pairs, hint=m.HINT):
    return hint + cbor.head(5, len(pairs)) + b"".join(m.text(key) + value for key, value in pairs)


def mesh_verdicts():
    out = []
    for what, cases in GOOD.items():
        fields = cases["usual"]
        good = m.encode_map(what, fields)
        (must, may), count = m.MAPS[what], len(fields)
        pairs = [
            (key, m.encode_value((must | may)[key], fields[key])) for key in sorted(fields, key=lambda k: (len(k), k))
        ]
        tries = {
            "good": good,
            "nothing": b"",
            "hint_only": m.HINT,
            "other_hint": b"JSON" + good[4:],
            "lower_case_hint": b"cbor" + good[4:],
            "cut": good[:-1],
            "trailing": good + b"\0",
            "long_map_head": m.HINT + b"\xb8" + bytes([count]) + good[5:],
            "indefinite_map": m.HINT + b"\xbf" + good[5:] + b"\xff",
            "an_array": m.HINT + b"\x80",
            "no_keys": m.HINT + b"\xa0",
            "one_key_fewer": raw_map(pairs[:-1]),
            "one_key_twice": raw_map(pairs[:1] + pairs),
            "another_key": raw_map(pairs + [("zzzzzzzzz", b"\0")]),
            "keys_reversed": raw_map(pairs[::-1]),
            "keys_alphabetical": raw_map(sorted(pairs)),
            "long_key_head": m.HINT + good[4:5] + b"\x78" + bytes([good[5] & 31]) + good[6:],
            "byte_string_key": m.HINT + good[4:5] + bytes([good[5] ^ 0x20]) + good[6:],
            "huge_list": m.HINT + good[4:].replace(m.text("caps") + b"\x82", m.text("caps") + b"\x9b" + b"\xff" * 8),
        }
        out += [verdict(what, name, data, parse(what)) for name, data in tries.items()]
        for number, change in enumerate(BAD[what]):
            data = m.encode_map(what, fields | change)
            out.append(verdict(what, f"out_of_range_{number}", data, parse(what)))
    latin = m.encode_map("dispute", GOOD["dispute"]["usual"]).replace(b"other", b"oth\xe9r")
    out.append(verdict("dispute", "not_utf8", latin, parse("dispute")))
    wide = m.encode_map("verdict", GOOD["verdict"]["usual"])
    out.append(verdict("verdict", "outcome_in_two_bytes", wide[:-1] + b"\x18\x02", parse("verdict")))
    out.append(verdict("verdict", "outcome_256", wide[:-1] + b"\x19\x01\x00", parse("verdict")))
    out.append(verdict("verdict", "negative_outcome", wide[:-1] + b"\x20", parse("verdict")))
    return out


def envelopes():
    """A short deal between AGENT and OTHER, in one conversation."""
    conversation = noise("deal", 16)
    both = [
        ("propose", f.PROPOSE, bid_payload(7), {"sender": OTHER, "recipient": AGENT}),
        ("accept", f.ACCEPT, bid_payload(7, b""), {}),
        ("deliver", 0x07, b"the work", {"sender": OTHER, "recipient": AGENT}),
    ]
    return [
        message(name, number, payload, conversation_id=conversation, **who)["envelope"]
        for name, number, payload, who in both
    ]


def contexts():
    return [
        {"name": name, "envelopes": items, "payload": m.encode_context(items)}
        for name, items in (("deal", envelopes()), ("one", envelopes()[:1]), ("empty_strings", [b"", b""]))
    ]


def context_verdicts():
    good = m.encode_context(envelopes())
    longest = m.encode_context([bytes(m.MAX_CONTEXT_LEN - 4 - 1 - 3)])
    tries = {
        "good": good,
        "nothing": b"",
        "hint_only": m.CONTEXT_HINT,
        "other_hint": m.HINT + good[4:],
        "no_envelope": m.encode_context([]),
        "longest": longest,
        "too_long": m.encode_context([bytes(m.MAX_CONTEXT_LEN - 4 - 1 - 2)]),
        "most": m.encode_context([b""] * 256),
        "too_many": m.encode_context([b""] * 257),
        "cut": good[:-1],
        "trailing": good + b"\0",
        "long_head": m.CONTEXT_HINT + b"\x98" + bytes([good[4] & 31]) + good[5:],
        "indefinite": m.CONTEXT_HINT + b"\x9f" + good[5:] + b"\xff",
        "texts": m.CONTEXT_HINT + b"\x81" + m.text("envelope"),
        "huge_count": m.CONTEXT_HINT + b"\x9b" + b"\xff" * 8,
    }
    # The two at the bound would be most of the file; the Rust tests make them themselves.
    return [
        verdict("context", name, data, m.decode_context) for name, data in tries.items() if len(data) < m.MAX_CONTEXT_LEN
    ]


FILES = {
    "mesh_payloads": (
        "payloads of ADVERTISE, DISCOVER, VERDICT and DISPUTE, and the terms of a notary's offer: hint CBOR and one "
        "canonical map; amounts are decimal strings, 16 bytes big-endian in the payload; contexts: hint CTX1 and an "
        "array of whole envelopes; verdicts: bytes and what a reader must say about them",
        {
            "mesh_payloads": mesh_payloads,
            "contexts": contexts,
            "verdicts": lambda: mesh_verdicts() + context_verdicts(),
        },
    ),
}  # fmt: skip
