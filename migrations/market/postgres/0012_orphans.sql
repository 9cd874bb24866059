-- Accounts that hold money for contracts which are not in this database. The server writes what it finds.
CREATE TABLE orphans (
  account     TEXT PRIMARY KEY NOT NULL,
  contract_id TEXT NOT NULL,
  party       TEXT NOT NULL,
  round       BIGINT NOT NULL,
  amount      TEXT NOT NULL
);
