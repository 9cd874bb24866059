-- Fixes of a party, and how many of them failed outside of the sandbox: as an agent and as a principal (`side`), in
-- contracts with a bounty (`paid` 1) and in free ones (0).
CREATE TABLE fix_counts (
  party          TEXT NOT NULL,
  side           TEXT NOT NULL,
  paid           INTEGER NOT NULL,
  fixes          INTEGER NOT NULL,
  failed_outside INTEGER NOT NULL,
  PRIMARY KEY (party, side, paid)
) STRICT, WITHOUT ROWID;

-- What each judge has to do now, the most urgent first. `body` is the task as the judge reads it.
CREATE TABLE judge_tasks (
  judge       TEXT NOT NULL,
  deadline    INTEGER NOT NULL,
  contract_id TEXT NOT NULL,
  body        TEXT NOT NULL,
  PRIMARY KEY (judge, deadline, contract_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX judge_tasks_by_contract ON judge_tasks (contract_id);
