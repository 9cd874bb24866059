-- The journal of notes/nano.md, section 2. Amounts are u128 raw as 16 big-endian bytes, so that they compare
-- as numbers; keys and hashes are 32 bytes; times are unix milliseconds.

CREATE TABLE meta (
    key   TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT;

-- One account per contract, depositor and round (decision F1). A nonce of 32 bytes is an escrow's, one of
-- 4 bytes is the index of an ordinary wallet account of the same seed.
CREATE TABLE account (
    account      BLOB PRIMARY KEY CHECK (length(account) = 32),
    contract     TEXT NOT NULL CHECK (length(contract) BETWEEN 1 AND 128),
    depositor    TEXT NOT NULL CHECK (length(depositor) BETWEEN 1 AND 128),
    round        INTEGER NOT NULL CHECK (round >= 0),
    nonce        BLOB NOT NULL UNIQUE CHECK (length(nonce) IN (4, 32)),
    rep          BLOB NOT NULL CHECK (length(rep) = 32),
    expected     BLOB CHECK (expected IS NULL OR length(expected) = 16),
    payer        BLOB CHECK (payer IS NULL OR length(payer) = 32),
    head_hash    BLOB CHECK (head_hash IS NULL OR length(head_hash) = 32),
    head_balance BLOB NOT NULL CHECK (length(head_balance) = 16),
    height       INTEGER NOT NULL CHECK (height >= 0),
    state        TEXT NOT NULL CHECK (state IN ('open', 'closed')),
    stop_code    INTEGER,
    stop_reason  TEXT,
    over_cap     INTEGER NOT NULL DEFAULT 0,
    created_at   INTEGER NOT NULL,
    UNIQUE (contract, depositor, round),
    CHECK ((head_hash IS NULL) = (height = 0))
) STRICT;

CREATE INDEX account_open ON account (account) WHERE state = 'open';
CREATE INDEX account_made ON account (created_at);

CREATE TABLE deposit (
    send_hash    BLOB PRIMARY KEY CHECK (length(send_hash) = 32),
    account      BLOB NOT NULL REFERENCES account (account),
    amount       BLOB NOT NULL CHECK (length(amount) = 16),
    source       BLOB NOT NULL CHECK (length(source) = 32),
    state        TEXT NOT NULL CHECK (state IN ('seen', 'confirmed', 'received')),
    -- What of it counts for the contract; the rest is excess and goes back to `source`.
    credited     BLOB NOT NULL CHECK (length(credited) = 16 AND credited <= amount),
    seen_at      INTEGER NOT NULL,
    confirmed_at INTEGER,
    receive_hash BLOB CHECK (receive_hash IS NULL OR length(receive_hash) = 32),
    refund_plan  INTEGER REFERENCES plan (id)
) STRICT;
CREATE INDEX deposit_account ON deposit (account);
CREATE INDEX deposit_open ON deposit (account) WHERE state <> 'received';
CREATE INDEX deposit_excess ON deposit (account) WHERE refund_plan IS NULL AND credited < amount;

-- The idempotency key of everything that moves money.
CREATE TABLE plan (
    id         INTEGER PRIMARY KEY,
    contract   TEXT NOT NULL,
    kind       TEXT NOT NULL CHECK (length(kind) BETWEEN 1 AND 64),
    key        TEXT NOT NULL CHECK (length(key) BETWEEN 1 AND 128),
    priority   INTEGER NOT NULL,
    digest     BLOB NOT NULL CHECK (length(digest) = 32),
    state      TEXT NOT NULL CHECK (state IN ('open', 'done')),
    created_at INTEGER NOT NULL,
    done_at    INTEGER,
    UNIQUE (contract, kind, key)
) STRICT;
CREATE INDEX plan_open ON plan (state) WHERE state = 'open';

-- What a plan does, block by block; a leg outlives the blocks that were signed for it.
CREATE TABLE leg (
    plan    INTEGER NOT NULL REFERENCES plan (id),
    leg     INTEGER NOT NULL CHECK (leg >= 0),
    account BLOB NOT NULL REFERENCES account (account),
    kind    TEXT NOT NULL CHECK (kind IN ('receive', 'send')),
    -- The sending block's hash of a receive, the destination's key of a send.
    link    BLOB NOT NULL CHECK (length(link) = 32),
    amount  BLOB NOT NULL CHECK (length(amount) = 16 AND amount > zeroblob(16)),
    PRIMARY KEY (plan, leg)
) STRICT;
CREATE INDEX leg_account ON leg (account);

CREATE TABLE block (
    hash         BLOB PRIMARY KEY CHECK (length(hash) = 32),
    account      BLOB NOT NULL REFERENCES account (account),
    height       INTEGER NOT NULL CHECK (height > 0),
    previous     BLOB NOT NULL CHECK (length(previous) = 32),
    subtype      TEXT NOT NULL CHECK (subtype IN ('open', 'receive', 'send', 'change', 'epoch')),
    balance      BLOB NOT NULL CHECK (length(balance) = 16),
    link         BLOB NOT NULL CHECK (length(link) = 32),
    rep          BLOB NOT NULL CHECK (length(rep) = 32),
    amount       BLOB NOT NULL CHECK (length(amount) = 16),
    signature    BLOB NOT NULL CHECK (length(signature) = 64),
    state        TEXT NOT NULL CHECK (state IN ('signed', 'published', 'confirmed', 'dead')),
    -- 1: signed by this journal; 0: found on chain and adopted.
    ours         INTEGER NOT NULL CHECK (ours IN (0, 1)),
    plan         INTEGER,
    leg          INTEGER,
    signed_at    INTEGER NOT NULL,
    published_at INTEGER,
    confirmed_at INTEGER,
    CHECK ((plan IS NULL) = (leg IS NULL)),
    FOREIGN KEY (plan, leg) REFERENCES leg (plan, leg)
) STRICT;
CREATE UNIQUE INDEX block_one_successor ON block (account, previous) WHERE state <> 'dead';
-- Stricter than the note: a second signature for one (account, previous) is refused for ever, dead or not.
CREATE UNIQUE INDEX block_signed_once ON block (account, previous) WHERE ours = 1;
CREATE UNIQUE INDEX block_one_per_leg ON block (plan, leg) WHERE state <> 'dead' AND plan IS NOT NULL;
CREATE UNIQUE INDEX block_one_height ON block (account, height) WHERE state <> 'dead';
-- SQLite uses the partial indexes above only for their own conditions.
CREATE INDEX block_account ON block (account, height);
CREATE INDEX block_leg ON block (plan, leg) WHERE plan IS NOT NULL;
CREATE INDEX block_pending ON block (account) WHERE state IN ('signed', 'published');

CREATE TABLE work (
    root  BLOB PRIMARY KEY CHECK (length(root) = 32),
    nonce BLOB NOT NULL CHECK (length(nonce) = 8)
) STRICT;

-- What a person must look at. Never deleted.
CREATE TABLE alarm (
    id      INTEGER PRIMARY KEY,
    account BLOB REFERENCES account (account),
    code    INTEGER NOT NULL,
    message TEXT NOT NULL,
    at      INTEGER NOT NULL,
    cleared INTEGER NOT NULL DEFAULT 0 CHECK (cleared IN (0, 1))
) STRICT;
