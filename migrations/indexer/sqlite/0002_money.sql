-- What contracts are worth and came to, who is behind a party, and where a Nano address or block appears.
-- Amounts are raw in decimal digits: no integer of the database holds them.
ALTER TABLE contracts ADD COLUMN bounty TEXT;
ALTER TABLE contracts ADD COLUMN success BIGINT;
ALTER TABLE contracts ADD COLUMN repaired_ms BIGINT;
ALTER TABLE contracts ADD COLUMN earned TEXT;
ALTER TABLE contracts ADD COLUMN search TEXT NOT NULL DEFAULT '';
-- Contracts that are here already are read from their markets again.
UPDATE contracts SET updated_at = -1;
CREATE INDEX contracts_by_agent ON contracts (agent, created_at) WHERE agent IS NOT NULL;
CREATE INDEX contracts_by_principal ON contracts (principal, created_at);
CREATE INDEX contracts_by_state ON contracts (state, created_at);
CREATE INDEX contracts_by_id ON contracts (id);
CREATE INDEX contracts_by_repair ON contracts (repaired_ms) WHERE repaired_ms IS NOT NULL;

CREATE INDEX keys_by_key ON keys (key);
CREATE INDEX agents_by_tenure_owner ON agents (tenure_owner);
CREATE INDEX agents_by_nano ON agents (nano_address) WHERE nano_address IS NOT NULL;

-- Escrow accounts, payees and blocks of contracts' payments.
CREATE TABLE traces (
  mark   TEXT NOT NULL,
  market TEXT NOT NULL,
  id     TEXT NOT NULL,
  PRIMARY KEY (mark, market, id)
) WITHOUT ROWID;
