-- Fixes of a party, and how many of them failed outside of the sandbox: as an agent and as a principal (`side`), in
-- contracts with a bounty (`paid` 1) and in free ones (0).
CREATE TABLE fix_counts (
  party          TEXT NOT NULL,
  side           TEXT NOT NULL,
  paid           BIGINT NOT NULL,
  fixes          BIGINT NOT NULL,
  failed_outside BIGINT NOT NULL,
  PRIMARY KEY (party, side, paid)
);

-- What each judge has to do now, the most urgent first. `body` is the task as the judge reads it.
CREATE TABLE judge_tasks (
  judge       TEXT NOT NULL,
  deadline    BIGINT NOT NULL,
  contract_id TEXT NOT NULL,
  body        TEXT NOT NULL,
  PRIMARY KEY (judge, deadline, contract_id)
);
CREATE INDEX judge_tasks_by_contract ON judge_tasks (contract_id);
