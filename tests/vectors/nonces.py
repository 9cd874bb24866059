"""Nonces of the market's escrow accounts (decision F7), a second time, and the samples of fix/escrow_nonces.json."""

import hashlib

import ed25519

DOMAIN = b"fix/escrow-nonce/v2"
GENESIS = {
    "live": "991CF190094C00F0B68E2E5F75F6BEE95A2E0BD93CEAA4A6734DB9F19B728948",
    "dev": "04270D7F11C4B2B472F2854C5A59F2A7E84226CE9ED799DE75744BD7D85FC9D9",
}
ROLES = {"principal": 0, "agent": 1}


def nonce(secret, network, server, post, role, depositor, round):
    origin = b"".join(
        (
            DOMAIN,
            bytes.fromhex(GENESIS[network]),
            server,
            post,
            bytes([ROLES[role]]),
            depositor,
            round.to_bytes(4, "big"),
        )
    )
    return hashlib.blake2b(origin, key=secret, digest_size=32).digest()


def identify(secret):
    return hashlib.blake2b(secret, digest_size=32).hexdigest()[:8]


def sample(n, network, role, round):
    fill = lambda name: hashlib.sha256(f"{name} {n}".encode()).digest()
    fields = {
        "secret": fill("secret"),
        "network": network,
        "server": ed25519.public_key(fill("server")),
        "post": fill("post"),
        "role": role,
        "depositor": ed25519.public_key(fill("depositor")),
        "round": round,
    }
    return {**fields, "id": identify(fields["secret"]), "nonce": nonce(**fields)}


def samples():
    return [
        sample(1, "live", "principal", 0),
        sample(2, "live", "agent", 0),
        sample(3, "live", "agent", 7),
        sample(4, "dev", "principal", 0),
        sample(5, "dev", "agent", 2**32 - 1),
    ]


FILES = {
    "fix/escrow_nonces": ("Nonces of escrow accounts, from a second secret (decision F7).", {"nonces": samples})
}
