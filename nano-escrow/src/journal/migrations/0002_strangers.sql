-- Nonces from a second secret (decision F7), bounded refunds (F8), late deposits by pages.

-- Nonce secrets by number, oldest first; `id` names one without telling it.
CREATE TABLE secret (
    number INTEGER PRIMARY KEY,
    id     TEXT NOT NULL UNIQUE,
    at     INTEGER NOT NULL
) STRICT;

-- NULL: the nonce was random. It stays in the row, whatever becomes of the secret.
ALTER TABLE account ADD COLUMN secret INTEGER REFERENCES secret (number);
ALTER TABLE account ADD COLUMN closed_at INTEGER;
UPDATE account SET closed_at = created_at WHERE state = 'closed';
DROP INDEX account_made;
CREATE INDEX account_closed ON account (closed_at, account) WHERE state = 'closed';
CREATE INDEX account_left ON account (account)
  WHERE state = 'closed' AND head_balance > x'00000000000000000000000000000000';
CREATE INDEX account_stopped ON account (account) WHERE stop_code IS NOT NULL;

-- What does not count: amount less credited.
ALTER TABLE deposit ADD COLUMN excess BLOB NOT NULL DEFAULT x'00000000000000000000000000000000'
  CHECK (length(excess) = 16);
UPDATE deposit SET excess = amount WHERE credited < amount;
DROP INDEX deposit_excess;
CREATE INDEX deposit_returnable ON deposit (excess) WHERE refund_plan IS NULL AND state <> 'seen';

CREATE INDEX plan_refunds ON plan (created_at) WHERE kind = 'refund';
CREATE INDEX plan_oldest ON plan (created_at) WHERE state = 'open';
