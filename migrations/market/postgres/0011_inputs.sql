-- Input files of contracts are kept once, whoever posts them how often.

-- By the BLAKE2b-256 of the text.
CREATE TABLE inputs (
  hash BYTEA PRIMARY KEY NOT NULL,
  body TEXT NOT NULL
);

-- A text that lacks its inputs: which ones, and at which byte they stand in it. NULL: the text is whole.
ALTER TABLE contracts ADD COLUMN inputs BYTEA REFERENCES inputs (hash);
ALTER TABLE contracts ADD COLUMN inputs_at BIGINT;
ALTER TABLE entries ADD COLUMN inputs BYTEA REFERENCES inputs (hash);
ALTER TABLE entries ADD COLUMN inputs_at BIGINT;
CREATE INDEX contracts_by_inputs ON contracts (inputs) WHERE inputs IS NOT NULL;
CREATE INDEX entries_by_inputs ON entries (inputs) WHERE inputs IS NOT NULL;
