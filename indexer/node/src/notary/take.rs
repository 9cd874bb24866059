//! Messages that came, as inputs of the tables.

use super::Notary;
use super::line::Notice;
use super::ways::Ways;
use crate::error::{Error, Result};
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use zx1_mesh::conversation::envelope_hash;
use zx1_mesh::defaults::OFFERS_TIME;
use zx1_mesh::notary::{Bid, Choice, Desk, DeskStage, KeysOf, NotaryError, Search, read_choice};
use zx1_protocol::context::Context;
use zx1_protocol::envelope::{Envelope, MsgType};
use zx1_protocol::ids::{AgentId, ConversationId};
use zx1_protocol::keys::AgentKey;
use zx1_protocol::payload::{BidType, NotarizeBid};

/// Whether a message was handled, for good or ill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Taken {
    Done,
    /// Something has to come first: the assignment, or the keys of a signer.
    Waits,
}

/// Keys of agents, as far as they were asked for.
type Known = BTreeMap<AgentId, Vec<AgentKey>>;

fn known_keys(known: &Known) -> impl Fn(&AgentId) -> Vec<AgentKey> {
    |agent| known.get(agent).cloned().unwrap_or_default()
}

impl<W: Ways> Notary<W> {
    /// Takes all that wait, in their order. What has to wait stays, and with it a VERDICT behind it: it may be of the
    /// notary that the message before it names.
    pub(super) async fn take_all(&self) -> Result<()> {
        let mut waiting = BTreeSet::new();
        // A message that came first may wait for one behind it: a context for its assignment.
        for _ in 0..2 {
            waiting.clear();
            let mut is_away = false;
            let mut assigned = false;
            for notice in self.agent.line().waiting() {
                let Ok(envelope) = Envelope::decode(&notice.bytes) else {
                    self.agent.line().done(notice.id);
                    continue;
                };
                let msg_type = envelope.header.msg_type;
                let is_behind = msg_type == MsgType::Verdict && waiting.contains(&notice.conversation);
                let taken = match is_behind {
                    true => Taken::Waits,
                    false => self.take(&notice, &envelope, &mut is_away).await?,
                };
                if taken == Taken::Done {
                    self.agent.line().done(notice.id);
                    assigned |= msg_type == MsgType::NotarizeAssign;
                } else if Context::is_one(envelope.payload) {
                    waiting.insert(notice.conversation);
                }
            }
            if !assigned || waiting.is_empty() {
                break;
            }
        }
        Ok(())
    }

    async fn take(&self, notice: &Notice, envelope: &Envelope<'_>, is_away: &mut bool) -> Result<Taken> {
        let (id, at) = (notice.conversation, notice.at);
        let sender = envelope.header.sender();
        let done = match envelope.header.msg_type {
            MsgType::NotarizeBid => self.bid(notice, envelope).await,
            MsgType::NotarizeAssign => self.change_desk(id, |desk| desk.assign(sender, at)).await,
            MsgType::Verdict => self.verdict(envelope, at).await,
            MsgType::Deliver if Context::is_one(envelope.payload) => {
                return self.context(envelope, at, is_away).await;
            }
            MsgType::Deliver => self.show_more(id, envelope).await,
            _ => Ok(()),
        };
        self.settled(done, id)
    }

    /// A refusal of the tables is the end of a message; anything else is tried again.
    fn settled(&self, done: Result<()>, id: ConversationId) -> Result<Taken> {
        match done {
            Ok(()) => Ok(Taken::Done),
            Err(error @ (Error::Notary(_) | Error::Conversation(_))) => {
                tracing::debug!(%error, conversation = %id, "a message about a notary is not taken");
                Ok(Taken::Done)
            }
            // The outbox has no room now.
            Err(Error::Busy) => Ok(Taken::Waits),
            Err(error) => Err(error),
        }
    }

    /// A request for a notary, or an offer to be one.
    async fn bid(&self, notice: &Notice, envelope: &Envelope<'_>) -> Result<()> {
        let Ok(bid) = NotarizeBid::decode(envelope.payload) else { return Ok(()) };
        let (id, at, sender) = (notice.conversation, notice.at, envelope.header.sender());
        match bid.bid_type {
            BidType::Request => self.offer(id, sender, at).await,
            BidType::Offer => {
                let score = self.agent.heard().reputation(&sender).map_or(0, |heard| heard.notary.into());
                let bid = Bid::of(sender, bid.terms, score, &notice.bytes)?;
                self.change_search(id, |search| search.offer(bid, at)).await
            }
        }
    }

    /// Offers to judge, when this agent serves and has room. An offer that comes after the time for offers is worth
    /// nothing.
    async fn offer(&self, id: ConversationId, asker: AgentId, at: u64) -> Result<()> {
        let me = self.agent.id();
        let serving = {
            let rows = self.agent.rows();
            let has_room = |max: usize| rows.open_desks() < max;
            rows.serving.clone().filter(|serving| has_room(serving.max))
        };
        let Some(serving) = serving else { return Ok(()) };
        if self.agent.now().saturating_sub(at) >= OFFERS_TIME || self.agent.conversations().get(id).is_ok() {
            return Ok(());
        }
        self.add_desk(Desk::offer(id, me, asker, serving.terms(), at)?).await
    }

    /// A VERDICT for this party: only the one that counts moves the deal.
    async fn verdict(&self, envelope: &Envelope<'_>, at: u64) -> Result<()> {
        let header = &envelope.header;
        let id = header.conversation();
        let has_search = self.agent.rows().searches.get(id).is_ok_and(|search| !search.stage().is_over());
        if has_search {
            let hash = envelope_hash(envelope);
            let (sender, payload) = (header.sender(), envelope.payload);
            self.change_search(id, |search| search.judge(sender, payload, hash, at)).await?;
        }
        self.agent.conversations().received(envelope, at);
        Ok(())
    }

    /// Envelopes that somebody shows: to this notary, or the choice of one to this party.
    async fn context(&self, envelope: &Envelope<'_>, at: u64, is_away: &mut bool) -> Result<Taken> {
        let header = &envelope.header;
        let (id, sender, payload) = (header.conversation(), header.sender(), envelope.payload);
        let desk = self.agent.rows().desks.get(id).ok().cloned();
        if let Some(desk) = desk {
            match desk.stage() {
                DeskStage::Offered => return Ok(Taken::Waits),
                stage if stage.is_over() => return Ok(Taken::Done),
                _ => {}
            }
            let read = |keys: KeysOf<'_>| desk.clone().show(sender, payload, keys, at).map(drop);
            let Some(known) = self.keys_for(read, is_away).await else { return Ok(Taken::Waits) };
            let done = self.change_desk(id, |desk| desk.show(sender, payload, &known_keys(&known), at)).await;
            return self.settled(done.map(drop), id);
        }
        let is_party = self
            .agent
            .conversations()
            .get(id)
            .is_ok_and(|deal| deal.counterparty(self.agent.id()) == Some(sender));
        if !is_party {
            return Ok(Taken::Done);
        }
        let read = |keys: KeysOf<'_>| read_choice(payload, id, sender, keys).map(drop);
        let Some(known) = self.keys_for(read, is_away).await else { return Ok(Taken::Waits) };
        let done = match read_choice(payload, id, sender, &known_keys(&known)) {
            Ok(choice) => self.adopt(id, sender, choice, at).await,
            Err(error) => Err(error.into()),
        };
        self.settled(done, id)
    }

    /// The other party chose.
    async fn adopt(&self, id: ConversationId, other: AgentId, choice: Choice, at: u64) -> Result<()> {
        let is_known = self.agent.rows().searches.get(id).is_ok();
        if is_known {
            return self.change_search(id, |search| search.adopt(choice, at)).await;
        }
        let takes_notary = self.agent.conversations().get(id)?.phase.takes_notary();
        if !takes_notary {
            return Err(NotaryError::NotNow { stage: "closed" }.into());
        }
        self.add_search(Search::follow(id, self.agent.id(), other, choice, at)?).await
    }

    /// The keys for which `read` asks. `None` when the cluster cannot say now; then it is not asked again in this turn.
    async fn keys_for(
        &self,
        read: impl Fn(KeysOf<'_>) -> Result<(), NotaryError> + Send + Sync,
        is_away: &mut bool,
    ) -> Option<Known> {
        let mut known = Known::new();
        loop {
            let missing = missing(&read, &known);
            let Some(agent) = missing else { return Some(known) };
            if *is_away {
                return None;
            }
            match self.ways.keys(agent).await {
                Ok(keys) => drop(known.insert(agent, keys)),
                Err(error) => {
                    tracing::debug!(%error, %agent, "the keys of a signer cannot be looked up");
                    *is_away = true;
                    return None;
                }
            }
        }
    }
}

/// The first agent whose keys `read` needs and that is not known.
fn missing(read: impl Fn(KeysOf<'_>) -> Result<(), NotaryError>, known: &Known) -> Option<AgentId> {
    let missing = Cell::new(None);
    let keys = |agent: &AgentId| {
        known.get(agent).cloned().unwrap_or_else(|| {
            missing.set(Some(*agent));
            Vec::new()
        })
    };
    // Without keys it is refused; what counts is whom it asked for.
    let _ = read(&keys);
    missing.get()
}
