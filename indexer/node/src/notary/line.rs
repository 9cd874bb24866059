//! Messages that wait for the notary's part. They are in the log already, but for requests for notaries, which promise
//! nothing: what the line has no room for is read from there.

use super::rows::Rows;
use crate::defaults::{MAX_NOTICES, MAX_NOTICES_OF_ONE};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;
use zx1_mesh::conversation::Conversations;
use zx1_mesh::notary::{Search, Stage};
use zx1_protocol::context::Context;
use zx1_protocol::envelope::{Envelope, MsgType};
use zx1_protocol::ids::{AgentId, ConversationId};
use zx1_protocol::payload::{BidType, NotarizeBid};

/// A message that waits.
#[derive(Clone, Debug)]
pub struct Notice {
    /// Counts up with each message.
    pub id: u64,
    /// Conversation of the message.
    pub conversation: ConversationId,
    /// The envelope as it travelled.
    pub bytes: Arc<[u8]>,
    /// When it came or went, unix microseconds: its time for every deadline, however late it is looked at.
    pub at: u64,
}

#[derive(Debug, Default)]
struct State {
    next: u64,
    waiting: VecDeque<Notice>,
}

/// The messages that wait, in the order of the log.
#[derive(Debug, Default)]
pub struct Line {
    state: Mutex<State>,
    /// Something had no room.
    spilled: AtomicBool,
    wake: Notify,
}

impl Line {
    /// Puts a message in line.
    pub fn push(&self, conversation: ConversationId, bytes: Arc<[u8]>, at: u64) {
        {
            let mut state = self.state();
            let of_one = state.waiting.iter().filter(|notice| notice.conversation == conversation).count();
            if of_one >= MAX_NOTICES_OF_ONE {
                tracing::debug!(%conversation, "too many messages of one task wait; one is not looked at");
                return;
            }
            if state.waiting.len() >= MAX_NOTICES {
                self.spilled.store(true, Ordering::Relaxed);
                return;
            }
            let id = state.next;
            state.next = id.wrapping_add(1);
            state.waiting.push_back(Notice { id, conversation, bytes, at });
        }
        self.wake();
    }

    /// All that wait.
    pub fn waiting(&self) -> Vec<Notice> {
        self.state().waiting.iter().cloned().collect()
    }

    /// One was handled.
    pub fn done(&self, id: u64) {
        self.state().waiting.retain(|notice| notice.id != id);
    }

    /// Whether one of this conversation waits.
    pub fn holds(&self, conversation: ConversationId) -> bool {
        self.state().waiting.iter().any(|notice| notice.conversation == conversation)
    }

    /// Whether the log is to be read again, because something had no room and now there is some. True once.
    pub fn take_spilled(&self) -> bool {
        self.state().waiting.is_empty() && self.spilled.swap(false, Ordering::Relaxed)
    }

    /// There is something to do.
    pub fn wake(&self) {
        self.wake.notify_one();
    }

    /// Waits for that.
    pub async fn woken(&self) {
        self.wake.notified().await;
    }

    /// Whether the notary's part looks at this message of another agent, or of this one. A VERDICT that it looks at
    /// is not for the table of deals until the search says that it counts.
    pub fn wants(&self, rows: &Rows, deals: &Conversations, me: AgentId, envelope: &Envelope<'_>) -> bool {
        let header = &envelope.header;
        let (id, sender) = (header.conversation(), header.sender());
        let search = rows.searches.get(id).ok().filter(|search| !search.stage().is_over());
        let has_desk = rows.desks.get(id).is_ok_and(|desk| !desk.stage().is_over());
        let is_own = sender == me;
        match header.msg_type {
            MsgType::NotarizeBid if !is_own => NotarizeBid::decode(envelope.payload).is_ok_and(|bid| {
                let wanted = match bid.bid_type {
                    BidType::Request => {
                        rows.serving.is_some() && rows.desks.get(id).is_err() && deals.get(id).is_err()
                    }
                    BidType::Offer => search.is_some_and(|search| search.stage() == Stage::Collecting),
                };
                wanted && bid.conversation_id == id
            }),
            MsgType::NotarizeAssign => has_desk && !is_own,
            MsgType::Deliver if Context::is_one(envelope.payload) => {
                let of_party = || deals.get(id).is_ok_and(|deal| deal.counterparty(me) == Some(sender));
                let is_known = || {
                    let chosen = chosen_in(envelope.payload);
                    let over = |search: &Search| search.stage().is_over();
                    let has = |search: &Search| search.notaries().any(|it| Some(it) == chosen);
                    rows.searches.get(id).is_ok_and(|search| over(search) || has(search))
                };
                !is_own && (has_desk || (of_party() && !is_known()))
            }
            MsgType::Deliver => search.is_some(),
            MsgType::Verdict => !is_own && (search.is_some() || self.holds(id)),
            _ => false,
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The notary whose offer a payload shows first, if it shows envelopes; nothing is checked.
pub fn chosen_in(payload: &[u8]) -> Option<AgentId> {
    let context = Context::decode(payload).ok()?;
    Some(Envelope::decode(context.envelopes.first()?).ok()?.header.sender())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: ConversationId = ConversationId([1; 16]);

    #[test]
    fn a_full_line_says_so_once_it_is_empty_and_one_task_cannot_fill_it() {
        let line = Line::default();
        for at in 0..u64::try_from(MAX_NOTICES_OF_ONE).unwrap() + 5 {
            line.push(ONE, Arc::from([0]), at);
        }
        assert_eq!(line.waiting().len(), MAX_NOTICES_OF_ONE);
        for number in 0..u64::try_from(MAX_NOTICES).unwrap() {
            let mut id = [9; 16];
            id[..8].copy_from_slice(&number.to_be_bytes());
            line.push(ConversationId(id), Arc::from([0]), number);
        }
        assert_eq!(line.waiting().len(), MAX_NOTICES);
        assert!(line.holds(ONE) && !line.take_spilled());
        for notice in line.waiting() {
            line.done(notice.id);
        }
        assert!(!line.holds(ONE) && line.take_spilled() && !line.take_spilled());
    }
}
