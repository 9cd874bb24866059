-- The fix market. Texts are canonical JSON; times are Unix milliseconds.

-- Facts about the database itself: whose it is.
CREATE TABLE meta (
  name  TEXT PRIMARY KEY NOT NULL,
  value TEXT NOT NULL
) STRICT;

-- One row a contract. `version` counts its commits; a commit names the one that it has read.
CREATE TABLE contracts (
  id            TEXT PRIMARY KEY NOT NULL,
  version       INTEGER NOT NULL,
  principal     TEXT NOT NULL,
  agent         TEXT,
  state         TEXT NOT NULL,
  bounty        TEXT NOT NULL,
  head_seq      INTEGER NOT NULL,
  created_at    INTEGER NOT NULL,
  updated_at    INTEGER NOT NULL,
  next_deadline INTEGER,
  summary       TEXT NOT NULL,
  snapshot      TEXT NOT NULL
) STRICT;
CREATE INDEX contracts_by_state ON contracts (state, created_at);
CREATE INDEX contracts_by_age ON contracts (created_at);
CREATE INDEX contracts_by_deadline ON contracts (next_deadline) WHERE next_deadline IS NOT NULL;

-- The chains.
CREATE TABLE entries (
  contract_id TEXT NOT NULL REFERENCES contracts (id),
  seq         INTEGER NOT NULL,
  received_at INTEGER NOT NULL,
  body        TEXT NOT NULL,
  PRIMARY KEY (contract_id, seq)
) STRICT, WITHOUT ROWID;

-- Signed requests that were taken (decision E1).
CREATE TABLE replays (
  digest     BLOB PRIMARY KEY NOT NULL,
  keep_until INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX replays_by_end ON replays (keep_until);

-- Deposits that are waited for.
CREATE TABLE deposits (
  contract_id TEXT NOT NULL REFERENCES contracts (id),
  party       TEXT NOT NULL,
  round       INTEGER NOT NULL,
  side        TEXT NOT NULL,
  address     TEXT NOT NULL,
  amount      TEXT NOT NULL,
  status      TEXT NOT NULL,
  PRIMARY KEY (contract_id, party, round)
) STRICT, WITHOUT ROWID;
CREATE INDEX deposits_waiting ON deposits (status) WHERE status = 'waiting';

-- What was decided and must be told to the escrow: payouts, and accounts to close. `state` is open, done, dead (the
-- escrow refuses it for good) or dropped (by the operator); `reason` says why it is dead or dropped.
CREATE TABLE outbox (
  contract_id TEXT NOT NULL REFERENCES contracts (id),
  kind        TEXT NOT NULL,
  item        TEXT NOT NULL,
  body        TEXT NOT NULL,
  created_at  INTEGER NOT NULL,
  state       TEXT NOT NULL,
  reason      TEXT NOT NULL,
  PRIMARY KEY (contract_id, kind, item)
) STRICT, WITHOUT ROWID;
CREATE INDEX outbox_undone ON outbox (state, created_at) WHERE state IN ('open', 'dead');

-- The public stream. Ids are never used again.
CREATE TABLE events (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  contract_id TEXT NOT NULL,
  at          INTEGER NOT NULL,
  body        TEXT NOT NULL
) STRICT;
