"""The mesh's transport, a second time: message ids, frames of direct streams, peer ids; samples of zx1/transport.json."""

import json
from pathlib import Path

import ed25519
from keccak import keccak256

TOPICS = ("/0x01/v1/broadcast", "/0x01/v1/notary", "/0x01/v1/reputation")
MAX_ENVELOPE = 65_536
ACK = b"\x03\x00\x00\x00ACK"
ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"


def prefix(length):
    return length.to_bytes(4, "little")


def read_frame(data):
    """The envelope of a frame, or why there is none."""
    length = int.from_bytes(data[:4], "little")
    if len(data) < 4:
        return "cut off"
    if length == 0:
        return "empty"
    if length > MAX_ENVELOPE:
        return "too long"
    return data[4 : 4 + length] if len(data) >= 4 + length else "cut off"


def base58(data):
    number, text = int.from_bytes(data, "big"), ""
    while number:
        number, digit = divmod(number, 58)
        text = ALPHABET[digit] + text
    return ALPHABET[0] * (len(data) - len(data.lstrip(b"\0"))) + text


def peer_id(public):
    """Identity multihash over the protobuf {1: key type 1 = Ed25519, 2: key}."""
    key = b"\x08\x01\x12\x20" + public
    return base58(b"\x00" + bytes([len(key)]) + key)


def envelopes():
    given = json.loads((Path(__file__).parent / "zx1" / "envelopes.json").read_text(encoding="utf-8"))
    return [bytes.fromhex(given[name]["cbor"]) for name in ("beacon", "propose")]


def message_ids():
    beacon, propose = envelopes()
    # One bit makes another message; the topic does not.
    changed = bytes([*beacon[:-1], beacon[-1] ^ 1])
    items = [(TOPICS[0], beacon), (TOPICS[2], beacon), (TOPICS[0], changed), (TOPICS[1], propose)]
    return [{"topic": topic, "data": data, "id": keccak256(data)} for topic, data in items]


def frames():
    return [
        {"envelope": data, "frame": prefix(len(data)) + data, "answer": ACK} for data in (*envelopes(), b"\0")
    ]


def refused_frames():
    items = [prefix(0), prefix(MAX_ENVELOPE + 1), prefix(2**32 - 1), prefix(5) + b"four", b"\1\0"]
    # A length in the other byte order is far too long.
    items.append((300).to_bytes(4, "big") + bytes(300))
    return [{"frame": data, "why": read_frame(data)} for data in items]


def peer_ids():
    keys = [ed25519.public_key(bytes([number]) * 32) for number in range(4)]
    return [{"public_key": key, "peer_id": peer_id(key)} for key in keys]


def names():
    return [
        {"what": "topic", "name": TOPICS[0]},
        {"what": "topic", "name": TOPICS[1]},
        {"what": "topic", "name": TOPICS[2]},
        {"what": "direct", "name": "/0x01/bilateral/1.0.0"},
        {"what": "kad", "name": "/0x01/kad/1.0.0"},
        {"what": "identify", "name": "/0x01/identify/1.0.0"},
    ]


FILES = {
    "zx1/transport": (
        "Names and bytes of the mesh's transport (decision I7): gossip ids, direct frames, peer ids.",
        {
            "protocol_names": names,
            "message_ids": message_ids,
            "frames": frames,
            "refused_frames": refused_frames,
            "peer_ids": peer_ids,
        },
    )
}
