-- What the escrow needs to find its accounts again, and one writer.

-- The hash of the post entry, from which the account's nonce is derived; empty: the nonce was random. `closed_at`
-- says when a deposit lapsed.
ALTER TABLE deposits ADD COLUMN post TEXT NOT NULL DEFAULT '';
ALTER TABLE deposits ADD COLUMN closed_at INTEGER;
CREATE INDEX deposits_lapsed ON deposits (closed_at, contract_id, party, round) WHERE status = 'lapsed';

-- Every writing server takes the next number; a commit under an older one is refused.
CREATE TABLE lease (
  one    INTEGER PRIMARY KEY NOT NULL CHECK (one = 1),
  number INTEGER NOT NULL
) STRICT;
INSERT INTO lease (one, number) VALUES (1, 0);

-- What an operator wants of the running server; `answer` is NULL until it is done.
CREATE TABLE orders (
  id     INTEGER PRIMARY KEY AUTOINCREMENT,
  body   TEXT NOT NULL,
  answer TEXT
) STRICT;
