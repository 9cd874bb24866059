//! The statements, as both databases understand them.

pub(super) const CONTRACT: &str = "SELECT c.version, c.id, c.principal, c.agent, c.state, c.bounty, c.head_seq, \
     c.created_at, c.updated_at, c.next_deadline, c.summary, c.snapshot, c.inputs_at, i.body \
     FROM contracts c LEFT JOIN inputs i ON i.hash = c.inputs WHERE c.id = $1";
pub(super) const INSERT_CONTRACT: &str = "INSERT INTO contracts (id, version, principal, agent, state, bounty, \
     head_seq, created_at, updated_at, next_deadline, summary, snapshot, inputs, inputs_at) \
     VALUES ($1, 1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) ON CONFLICT (id) DO NOTHING";
pub(super) const UPDATE_CONTRACT: &str = "UPDATE contracts SET version = version + 1, principal = $2, agent = $3, \
     state = $4, bounty = $5, head_seq = $6, created_at = $7, updated_at = $8, next_deadline = $9, \
     summary = $10, snapshot = $11, inputs = $12, inputs_at = $13 WHERE id = $1 AND version = $14";
pub(super) const INPUTS: &str =
    "INSERT INTO inputs (hash, body) VALUES ($1, $2) ON CONFLICT (hash) DO NOTHING";
pub(super) const INPUTS_OF: &str = "SELECT inputs FROM entries WHERE contract_id = $1 AND inputs IS NOT NULL \
     UNION SELECT inputs FROM contracts WHERE id = $1 AND inputs IS NOT NULL";
pub(super) const DROP_INPUTS: &str = "DELETE FROM inputs WHERE hash = $1 \
     AND NOT EXISTS (SELECT 1 FROM entries e WHERE e.inputs = $1) \
     AND NOT EXISTS (SELECT 1 FROM contracts c WHERE c.inputs = $1)";
// Of an older version: texts that hold their inputs. Those of a contract stand in its first entry.
pub(super) const WHOLE_ENTRIES: &str = "SELECT contract_id, body FROM entries WHERE seq = 0 AND inputs IS NULL \
     AND contract_id > $1 AND LENGTH(body) >= $2 ORDER BY contract_id LIMIT $3";
pub(super) const WHOLE_SNAPSHOTS: &str = "SELECT id, snapshot FROM contracts WHERE inputs IS NULL \
     AND id > $1 AND LENGTH(snapshot) >= $2 ORDER BY id LIMIT $3";
pub(super) const CUT_ENTRY: &str = "UPDATE entries SET body = $2, inputs = $3, inputs_at = $4 \
     WHERE contract_id = $1 AND seq = 0";
pub(super) const CUT_SNAPSHOT: &str =
    "UPDATE contracts SET snapshot = $2, inputs = $3, inputs_at = $4 WHERE id = $1";
pub(super) const REPLAY: &str =
    "INSERT INTO replays (digest, keep_until) VALUES ($1, $2) ON CONFLICT (digest) DO NOTHING";
pub(super) const ENTRY: &str = "INSERT INTO entries (contract_id, seq, received_at, body, inputs, inputs_at) \
     VALUES ($1, $2, $3, $4, $5, $6)";
pub(super) const DUE: &str = "SELECT next_deadline, id FROM contracts WHERE next_deadline IS NOT NULL \
     AND next_deadline <= $1 AND next_deadline >= $3 AND (next_deadline > $3 OR id > $4) \
     ORDER BY next_deadline, id LIMIT $2";
pub(super) const LIVE: &str =
    "SELECT id FROM contracts WHERE next_deadline IS NOT NULL AND id > $1 ORDER BY id LIMIT $2";
pub(super) const BEAT: &str =
    "INSERT INTO heartbeat (one, at) VALUES (1, $1) ON CONFLICT (one) DO UPDATE SET at = $1";
pub(super) const EVENTS: &str =
    "SELECT id, contract_id, at, body FROM events WHERE id > $1 ORDER BY id LIMIT $2";
pub(super) const DEPOSIT: &str = "INSERT INTO deposits (contract_id, party, round, side, address, amount, status, post, \
     closed_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) \
     ON CONFLICT (contract_id, party, round) DO UPDATE SET status = excluded.status, \
     closed_at = excluded.closed_at";
pub(super) const LAPSED: &str = "SELECT contract_id, party, round, side, address, amount, status, post, closed_at FROM deposits \
     WHERE status = 'lapsed' AND post <> '' AND (closed_at, contract_id, party, round) > ($1, $2, $3, $4) \
     ORDER BY closed_at, contract_id, party, round LIMIT $5";
pub(super) const TAKEN: &str = "SELECT d.contract_id, d.party, d.round, d.side, d.address, d.amount, d.status, d.post, \
     d.closed_at FROM contracts c JOIN deposits d ON d.contract_id = c.id \
     WHERE c.next_deadline IS NOT NULL AND d.status = 'taken' ORDER BY d.contract_id, d.round";
pub(super) const HANDED_OVER: &str = "SELECT contract_id, kind, item, body, created_at, reason FROM outbox \
     WHERE state = 'done' ORDER BY created_at DESC, contract_id, kind, item LIMIT $1";
pub(super) const OUTBOX: &str = "INSERT INTO outbox (contract_id, kind, item, body, created_at, state, reason) \
     VALUES ($1, $2, $3, $4, $5, 'open', '') ON CONFLICT (contract_id, kind, item) DO NOTHING";
pub(super) const OUTBOX_IN: &str = "SELECT contract_id, kind, item, body, created_at, reason FROM outbox \
     WHERE state = $1 ORDER BY created_at, contract_id, kind, item";
pub(super) const MOVE_OUTBOX: &str = "UPDATE outbox SET state = $5, reason = $6 \
     WHERE contract_id = $1 AND kind = $2 AND item = $3 AND state = $4";
// The first condition on created_at is what an index serves; the second one breaks ties as the order does.
pub(super) const LIST: &str = "SELECT id, created_at, summary FROM contracts WHERE created_at <= $2 AND (created_at < $2 OR id > $3) \
     AND updated_at >= $4 AND state <> 'unfunded' ORDER BY created_at DESC, id LIMIT $1";
pub(super) const LIST_STATE: &str = "SELECT id, created_at, summary FROM contracts WHERE created_at <= $2 \
     AND (created_at < $2 OR id > $3) AND updated_at >= $4 AND state = $5 \
     ORDER BY created_at DESC, id LIMIT $1";
// Two indexes, one for each side, instead of a scan by age.
pub(super) const LIST_PARTY: &str = "SELECT id, created_at, summary FROM (\
     SELECT * FROM (SELECT id, created_at, summary FROM contracts WHERE principal = $5 AND created_at <= $2 \
     AND (created_at < $2 OR id > $3) AND updated_at >= $4 AND ($6 = '' OR state = $6) \
     ORDER BY created_at DESC, id LIMIT $1) AS mine UNION \
     SELECT * FROM (SELECT id, created_at, summary FROM contracts WHERE agent = $5 AND created_at <= $2 \
     AND (created_at < $2 OR id > $3) AND updated_at >= $4 AND ($6 = '' OR state = $6) \
     ORDER BY created_at DESC, id LIMIT $1) AS taken) AS both_sides ORDER BY created_at DESC, id LIMIT $1";
// What has changed is little and new: its index, not the one by age, which the plus keeps out.
pub(super) const LIST_SINCE: &str = "SELECT id, created_at, summary FROM contracts WHERE updated_at >= $4 AND +created_at <= $2 \
     AND (+created_at < $2 OR id > $3) AND state <> 'unfunded' ORDER BY +created_at DESC, id LIMIT $1";
pub(super) const UNPAID: &str = "SELECT c.id FROM deposits d JOIN contracts c ON c.id = d.contract_id \
     WHERE d.side = 'principal' AND d.status = 'lapsed' AND c.next_deadline IS NULL AND c.updated_at < $1 \
     AND NOT EXISTS (SELECT 1 FROM outbox o WHERE o.contract_id = c.id AND o.state IN ('open', 'dead')) LIMIT $2";
pub(super) const LATE: &str = "INSERT INTO late_payees (post_hash, depositor, round, payout, keep_until) \
     VALUES ($1, $2, $3, $4, $5) ON CONFLICT (post_hash, depositor, round) DO NOTHING";
pub(super) const ADD_FIX_COUNT: &str = "INSERT INTO fix_counts (party, side, paid, fixes, failed_outside) \
     VALUES ($1, $2, $3, $4, $5) ON CONFLICT (party, side, paid) DO UPDATE SET \
     fixes = fix_counts.fixes + excluded.fixes, failed_outside = fix_counts.failed_outside + excluded.failed_outside";
pub(super) const FIX_COUNTS: &str = "SELECT party, side, paid, fixes, failed_outside FROM fix_counts \
     WHERE party = $1 ORDER BY side, paid";
pub(super) const DROP_TASKS: &str = "DELETE FROM judge_tasks WHERE contract_id = $1";
pub(super) const TASK: &str =
    "INSERT INTO judge_tasks (judge, deadline, contract_id, body) VALUES ($1, $2, $3, $4)";
pub(super) const TASKS: &str = "SELECT judge, deadline, contract_id, body FROM judge_tasks \
     WHERE judge = $1 AND (deadline, contract_id) > ($2, $3) ORDER BY deadline, contract_id LIMIT $4";
