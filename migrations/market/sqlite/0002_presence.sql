-- When the server was there last. One row, written once a second.
CREATE TABLE heartbeat (
  one INTEGER PRIMARY KEY NOT NULL CHECK (one = 1),
  at  INTEGER NOT NULL
) STRICT;

-- A party's own contracts, and what has changed, without a scan.
CREATE INDEX contracts_by_principal ON contracts (principal, created_at);
CREATE INDEX contracts_by_agent ON contracts (agent, created_at) WHERE agent IS NOT NULL;
CREATE INDEX contracts_by_change ON contracts (updated_at);

-- Where a late payment goes for a contract that nobody paid and that was deleted.
CREATE TABLE late_payees (
  post_hash  TEXT NOT NULL,
  depositor  TEXT NOT NULL,
  round      INTEGER NOT NULL,
  payout     TEXT NOT NULL,
  keep_until INTEGER NOT NULL,
  PRIMARY KEY (post_hash, depositor, round)
) STRICT, WITHOUT ROWID;
CREATE INDEX late_payees_by_end ON late_payees (keep_until);
CREATE INDEX deposits_unpaid ON deposits (status) WHERE side = 'principal' AND status = 'lapsed';
