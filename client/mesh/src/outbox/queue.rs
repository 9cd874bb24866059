//! All messages of one agent that are to be sent, and the order among them.

use super::{Input, OutboxError, ROW_VERSION, Row, State};
use crate::defaults::{
    DRAFT_TTL, MAX_DRAFT_NAME, MAX_DRAFTS, MAX_DRAFTS_TO_ONE, MAX_ENDED_ROWS, RETRY_FIRST, RETRY_LONGEST,
};
use std::collections::{BTreeMap, BTreeSet};
use zx1_protocol::channel::{Channel, channel_of};
use zx1_protocol::envelope::{BROADCAST, MsgType};
use zx1_protocol::hash::Hash;
use zx1_protocol::ids::{AgentId, ConversationId};
use zx1_protocol::validate::MAX_MESSAGE_SIZE;

/// The error number of a row that the caller took back, or that stood behind one that was dropped.
const BY_CALLER: u32 = 0;

/// A message that is to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Draft<'a> {
    /// The name of the intent: the same draft under the same name is taken once.
    pub name: &'a str,
    /// Its type; no BEACON, which is worth nothing later.
    pub msg_type: MsgType,
    /// Whom it is for; [`BROADCAST`] for a topic.
    pub recipient: AgentId,
    /// Conversation in which it is sent.
    pub conversation: ConversationId,
    /// Payload, not signed yet.
    pub payload: &'a [u8],
    /// Time to live in microseconds, [`DRAFT_TTL`] at most.
    pub ttl_micros: u64,
}

/// The messages of one agent. See the [module](super) for the order in which its methods are called.
#[derive(Clone, Debug, Default)]
pub struct Outbox {
    rows: BTreeMap<u64, Row>,
    next_id: u64,
    /// Numbers of the rows by name.
    names: BTreeMap<String, u64>,
}

impl Outbox {
    /// The rows of a store, after a start. Also returns those that changed: what was on its way when the process
    /// ended is unanswered. `next_id` is above every number that was ever used.
    ///
    /// # Errors
    /// [`OutboxError::Row`] for rows that no outbox wrote.
    pub fn load(rows: impl IntoIterator<Item = Row>, next_id: u64) -> Result<(Self, Vec<Row>), OutboxError> {
        let mut outbox = Self { next_id, ..Self::default() };
        let mut changed = Vec::new();
        for mut row in rows {
            row.check()?;
            if row.id >= next_id {
                return Err(OutboxError::Row("its number is not below the next one"));
            }
            if row.state == State::Sent && !row.is_over() {
                row.input(Input::Lose)?;
                changed.push(row.clone());
            }
            let double = outbox.names.insert(row.name.clone(), row.id).is_some();
            if double || outbox.rows.insert(row.id, row).is_some() {
                return Err(OutboxError::Row("its number or its name is that of another row"));
            }
        }
        Ok((outbox, changed))
    }

    /// The number of the next row, which a store keeps beside the rows.
    pub fn next_id(&self) -> u64 {
        self.next_id
    }

    /// The row with this number.
    pub fn get(&self, id: u64) -> Result<&Row, OutboxError> {
        self.rows.get(&id).ok_or(OutboxError::Unknown(id))
    }

    /// The row with this name.
    pub fn named(&self, name: &str) -> Option<&Row> {
        self.names.get(name).and_then(|id| self.rows.get(id))
    }

    /// All rows, the oldest first.
    pub fn iter(&self) -> impl Iterator<Item = &Row> {
        self.rows.values()
    }

    /// Takes a draft; the same one under the same name again changes nothing. Returns its row, which the caller
    /// has on disk before it says that the draft is queued.
    pub fn add(&mut self, draft: &Draft<'_>, now_micros: u64) -> Result<Row, OutboxError> {
        check(draft)?;
        if let Some(row) = self.named(draft.name) {
            let same = row.payload == draft.payload
                && row.msg_type == draft.msg_type.wire()
                && (row.recipient, row.conversation) == (draft.recipient, draft.conversation);
            return if same { Ok(row.clone()) } else { Err(OutboxError::NameTaken(row.id)) };
        }
        let open = || self.rows.values().filter(|row| !row.is_over());
        if open().count() >= MAX_DRAFTS {
            return Err(OutboxError::Full { limit: MAX_DRAFTS });
        }
        if open().filter(|row| row.recipient == draft.recipient).count() >= MAX_DRAFTS_TO_ONE {
            return Err(OutboxError::Full { limit: MAX_DRAFTS_TO_ONE });
        }
        let id = self.next_id;
        self.next_id = id.checked_add(1).ok_or(OutboxError::Full { limit: MAX_DRAFTS })?;
        let row = Row {
            version: ROW_VERSION,
            id,
            name: draft.name.to_owned(),
            msg_type: draft.msg_type.wire(),
            recipient: draft.recipient,
            conversation: draft.conversation,
            payload: draft.payload.to_vec(),
            created_micros: now_micros,
            expires_micros: now_micros.saturating_add(draft.ttl_micros),
            tries: 0,
            next_micros: now_micros,
            state: State::Queued,
            message32: None,
            error: None,
            settled: false,
        };
        self.names.insert(row.name.clone(), id);
        self.rows.insert(id, row.clone());
        Ok(row)
    }

    /// The store did not take a draft: as if it had not been added. Its number is not used again.
    pub fn undo_add(&mut self, id: u64) {
        if self.rows.get(&id).is_some_and(|row| row.state.is_queued())
            && let Some(row) = self.rows.remove(&id)
        {
            self.names.remove(&row.name);
        }
    }

    /// What can be tried now: the first of each conversation and recipient, when its pause is over. Dial their
    /// recipients, then [`Self::begin`].
    pub fn due(&self, now_micros: u64) -> Vec<&Row> {
        let ready = |row: &&Row| {
            row.state.is_queued() && row.next_micros <= now_micros && now_micros < row.expires_micros
        };
        self.heads().into_iter().filter(ready).collect()
    }

    /// When [`Self::due`] or [`Self::advance`] has something next, unix microseconds.
    pub fn next_deadline(&self) -> Option<u64> {
        let expiries = self.rows.values().filter(|row| row.state.is_queued()).map(|row| row.expires_micros);
        let tries = self.heads().into_iter().filter(|row| row.state.is_queued()).map(|row| row.next_micros);
        expiries.chain(tries).min()
    }

    /// The first row of each conversation and recipient that is not over.
    fn heads(&self) -> Vec<&Row> {
        let mut seen = BTreeSet::new();
        let blocking = self.rows.values().filter(|row| row.blocks());
        blocking.filter(|row| seen.insert((row.conversation, row.recipient))).collect()
    }

    /// The recipient's rows need not wait for their pauses: it was just seen.
    pub fn reachable(&mut self, recipient: AgentId, now_micros: u64) {
        for row in self.rows.values_mut() {
            if row.recipient == recipient && row.state.is_queued() {
                row.next_micros = row.next_micros.min(now_micros);
            }
        }
    }

    /// The recipient could not be dialled: a longer pause.
    pub fn unreachable(&mut self, id: u64, now_micros: u64) -> Result<Row, OutboxError> {
        let row = self.row(id)?;
        if !row.state.is_queued() {
            return Err(OutboxError::NotNow { id, state: row.state });
        }
        pause(row, now_micros);
        Ok(row.clone())
    }

    /// The draft is signed next. On disk before that.
    pub fn begin(&mut self, id: u64, now_micros: u64) -> Result<Row, OutboxError> {
        let is_head = self.heads().iter().any(|row| row.id == id);
        let row = self.row(id)?;
        let not_now = OutboxError::NotNow { id, state: row.state };
        if !is_head || row.expires_micros <= now_micros {
            return Err(not_now);
        }
        row.input(Input::Begin)?;
        Ok(row.clone())
    }

    /// It is signed and in the log. On disk before the bytes leave.
    pub fn signed(&mut self, id: u64, message32: Hash) -> Result<Row, OutboxError> {
        let row = self.row(id)?;
        if row.state != State::Sent || row.message32.is_some() {
            return Err(OutboxError::NotNow { id, state: row.state });
        }
        row.message32 = Some(message32);
        Ok(row.clone())
    }

    /// Nothing was signed, and it can be tried again later.
    pub fn not_signed(&mut self, id: u64, now_micros: u64) -> Result<Row, OutboxError> {
        let row = self.row(id)?;
        row.input(Input::NotSigned)?;
        pause(row, now_micros);
        Ok(row.clone())
    }

    /// Nothing was signed, and trying again does not help. `error` is the number of the reason. Returns all rows
    /// that changed: those behind it are refused with it.
    pub fn refuse(&mut self, id: u64, error: u32) -> Result<Vec<Row>, OutboxError> {
        let row = self.row(id)?;
        row.input(Input::Refuse)?;
        row.error = Some(error);
        let mut changed = vec![row.clone()];
        self.refuse_behind(&mut changed);
        Ok(changed)
    }

    /// The caller takes a draft back that is not on its way.
    pub fn take_back(&mut self, id: u64) -> Result<Vec<Row>, OutboxError> {
        let state = self.get(id)?.state;
        if !state.is_queued() {
            return Err(OutboxError::NotNow { id, state });
        }
        self.refuse(id, BY_CALLER)
    }

    /// It was handed to the topic's peers. Nobody acknowledges it.
    pub fn published(&mut self, id: u64) -> Result<Row, OutboxError> {
        let row = self.row(id)?;
        if row.state != State::Sent || row.message32.is_none() || !row.is_gossip() {
            return Err(OutboxError::NotNow { id, state: row.state });
        }
        row.settled = true;
        Ok(row.clone())
    }

    /// The recipient has it on disk. On disk here before the caller hears of it.
    pub fn acknowledged(&mut self, id: u64) -> Result<Row, OutboxError> {
        let row = self.row(id)?;
        if row.message32.is_none() {
            return Err(OutboxError::NotNow { id, state: row.state });
        }
        row.input(Input::Acknowledge)?;
        Ok(row.clone())
    }

    /// The stream broke, or no answer came in time; on a topic, no peer took it.
    pub fn lost(&mut self, id: u64) -> Result<Row, OutboxError> {
        let row = self.row(id)?;
        if row.is_over() {
            return Err(OutboxError::NotNow { id, state: row.state });
        }
        row.input(Input::Lose)?;
        Ok(row.clone())
    }

    /// The caller decided about an unanswered message; those behind it go on.
    pub fn settle(&mut self, id: u64) -> Result<Row, OutboxError> {
        let row = self.row(id)?;
        if row.state != State::Unanswered {
            return Err(OutboxError::NotNow { id, state: row.state });
        }
        row.settled = true;
        Ok(row.clone())
    }

    /// Lets the time pass: drafts expire, and those behind them are refused. An unanswered message about which
    /// the caller has not decided by then no longer waits for it; those behind it are refused as well. Returns the
    /// rows that changed.
    pub fn advance(&mut self, now_micros: u64) -> Vec<Row> {
        let mut changed = Vec::new();
        for row in self.rows.values_mut().filter(|row| row.expires_micros <= now_micros && !row.is_over()) {
            if row.state == State::Unanswered {
                row.settled = true;
                changed.push(row.clone());
            } else if row.input(Input::Expire).is_ok() {
                changed.push(row.clone());
            }
        }
        self.refuse_behind(&mut changed);
        changed
    }

    /// Takes the oldest rows that are over out when there are too many. Returns their numbers; the caller takes
    /// them out of the store.
    pub fn forget(&mut self) -> Vec<u64> {
        let over: Vec<u64> = self.rows.values().filter(|row| row.is_over()).map(|row| row.id).collect();
        let surplus = over.len().saturating_sub(MAX_ENDED_ROWS);
        let gone: Vec<u64> = over.into_iter().take(surplus).collect();
        for id in &gone {
            if let Some(row) = self.rows.remove(id) {
                self.names.remove(&row.name);
            }
        }
        gone
    }

    /// Refuses the queued rows that stand behind those of `changed`, and appends them to it.
    fn refuse_behind(&mut self, changed: &mut Vec<Row>) {
        let mut first: BTreeMap<(ConversationId, AgentId), u64> = BTreeMap::new();
        for row in changed.iter().filter(|row| !row.is_gossip()) {
            let id = first.entry((row.conversation, row.recipient)).or_insert(row.id);
            *id = row.id.min(*id);
        }
        for row in self.rows.values_mut() {
            let dropped = first.get(&(row.conversation, row.recipient));
            if dropped.is_some_and(|id| *id < row.id) && row.state.is_queued() {
                // A queued row can always be refused.
                if row.input(Input::Refuse).is_ok() {
                    row.error = Some(BY_CALLER);
                    changed.push(row.clone());
                }
            }
        }
    }

    fn row(&mut self, id: u64) -> Result<&mut Row, OutboxError> {
        self.rows.get_mut(&id).ok_or(OutboxError::Unknown(id))
    }
}

/// One more attempt failed: twice the pause, up to the longest.
fn pause(row: &mut Row, now_micros: u64) {
    let doubled = RETRY_FIRST.checked_mul(1_u64.checked_shl(row.tries).unwrap_or(u64::MAX));
    row.tries = row.tries.saturating_add(1);
    row.next_micros = now_micros.saturating_add(doubled.unwrap_or(u64::MAX).min(RETRY_LONGEST));
}

fn check(draft: &Draft<'_>) -> Result<(), OutboxError> {
    if draft.name.is_empty() || draft.name.len() > MAX_DRAFT_NAME {
        return Err(OutboxError::Draft("its name is empty or too long."));
    }
    if draft.payload.len() > MAX_MESSAGE_SIZE {
        return Err(OutboxError::Draft("it is too large."));
    }
    if draft.msg_type == MsgType::Beacon {
        return Err(OutboxError::Draft("a BEACON is worth nothing later."));
    }
    let direct = channel_of(draft.msg_type) == Channel::Direct;
    if direct == (draft.recipient == BROADCAST) {
        return Err(OutboxError::Draft("its type does not go to that recipient."));
    }
    if draft.ttl_micros == 0 || draft.ttl_micros > DRAFT_TTL {
        return Err(OutboxError::Ttl { limit: DRAFT_TTL });
    }
    Ok(())
}
