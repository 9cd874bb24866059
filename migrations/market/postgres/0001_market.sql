-- The fix market. Texts are canonical JSON; times are Unix milliseconds.

-- Facts about the database itself: whose it is.
CREATE TABLE meta (
  name  TEXT PRIMARY KEY NOT NULL,
  value TEXT NOT NULL
);

-- One row a contract. `version` counts its commits; a commit names the one that it has read.
CREATE TABLE contracts (
  id            TEXT PRIMARY KEY NOT NULL,
  version       BIGINT NOT NULL,
  principal     TEXT NOT NULL,
  agent         TEXT,
  state         TEXT NOT NULL,
  bounty        TEXT NOT NULL,
  head_seq      BIGINT NOT NULL,
  created_at    BIGINT NOT NULL,
  updated_at    BIGINT NOT NULL,
  next_deadline BIGINT,
  summary       TEXT NOT NULL,
  snapshot      TEXT NOT NULL
);
CREATE INDEX contracts_by_state ON contracts (state, created_at);
CREATE INDEX contracts_by_age ON contracts (created_at);
CREATE INDEX contracts_by_deadline ON contracts (next_deadline) WHERE next_deadline IS NOT NULL;

-- The chains.
CREATE TABLE entries (
  contract_id TEXT NOT NULL REFERENCES contracts (id),
  seq         BIGINT NOT NULL,
  received_at BIGINT NOT NULL,
  body        TEXT NOT NULL,
  PRIMARY KEY (contract_id, seq)
);

-- Signed requests that were taken (decision E1).
CREATE TABLE replays (
  digest     BYTEA PRIMARY KEY NOT NULL,
  keep_until BIGINT NOT NULL
);
CREATE INDEX replays_by_end ON replays (keep_until);

-- Deposits that are waited for.
CREATE TABLE deposits (
  contract_id TEXT NOT NULL REFERENCES contracts (id),
  party       TEXT NOT NULL,
  round       BIGINT NOT NULL,
  side        TEXT NOT NULL,
  address     TEXT NOT NULL,
  amount      TEXT NOT NULL,
  status      TEXT NOT NULL,
  PRIMARY KEY (contract_id, party, round)
);
CREATE INDEX deposits_waiting ON deposits (status) WHERE status = 'waiting';

-- What was decided and must be told to the escrow: payouts, and accounts to close. `state` is open, done, dead (the
-- escrow refuses it for good) or dropped (by the operator); `reason` says why it is dead or dropped.
CREATE TABLE outbox (
  contract_id TEXT NOT NULL REFERENCES contracts (id),
  kind        TEXT NOT NULL,
  item        TEXT NOT NULL,
  body        TEXT NOT NULL,
  created_at  BIGINT NOT NULL,
  state       TEXT NOT NULL,
  reason      TEXT NOT NULL,
  PRIMARY KEY (contract_id, kind, item)
);
CREATE INDEX outbox_undone ON outbox (state, created_at) WHERE state IN ('open', 'dead');

-- The public stream. Ids are never used again.
CREATE TABLE events (
  id          BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  contract_id TEXT NOT NULL,
  at          BIGINT NOT NULL,
  body        TEXT NOT NULL
);
