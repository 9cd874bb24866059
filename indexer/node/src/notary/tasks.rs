//! What the rows say is to be sent, into the outbox.

use super::Notary;
use super::ways::Ways;
use crate::defaults::{CONVERSATION_EPOCHS, MAX_SHOWN_ENVELOPES};
use crate::error::{Error, Result};
use crate::pen::blocking;
use crate::transcript::{self, Said};
use crate::words::Words;
use std::sync::Arc;
use zx1_mesh::defaults::{DRAFT_TTL, OFFERS_TIME};
use zx1_mesh::notary::{Desk, DeskTask, Search, Stage, Task, choice_payload};
use zx1_mesh::outbox::OutboxError;
use zx1_protocol::behavior_batch::Direction;
use zx1_protocol::context::{Context, MAX_CONTEXT_LEN};
use zx1_protocol::envelope::{BROADCAST, Envelope, MsgType};
use zx1_protocol::hash::Sha3;
use zx1_protocol::ids::{AgentId, ConversationId};
use zx1_protocol::payload::{BidType, NotarizeBid};

/// Bytes of a context that are not the one envelope in it.
const CONTEXT_FRAME: usize = 16;

impl<W: Ways> Notary<W> {
    /// Puts everything into the outbox that is to be sent, and notes that it is there.
    pub(super) async fn send_all(&self) -> Result<()> {
        let (searches, desks): (Vec<Search>, Vec<Desk>) = {
            let rows = self.agent.rows();
            let searches = rows.searches.iter().filter(|row| !row.tasks().is_empty()).cloned();
            let desks = rows.desks.iter().filter(|row| !row.tasks().is_empty()).cloned();
            (searches.collect(), desks.collect())
        };
        for row in searches {
            for task in row.tasks() {
                if self.for_search(&row, task).await? {
                    let note = |row: &mut Search| {
                        row.done(task);
                        Ok(())
                    };
                    self.change_search(row.conversation(), note).await?;
                }
            }
        }
        for row in desks {
            for task in row.tasks() {
                if self.for_desk(&row, &task).await? {
                    let note = |row: &mut Desk| {
                        row.done(&task);
                        Ok(())
                    };
                    self.change_desk(row.conversation(), note).await?;
                }
            }
        }
        Ok(())
    }

    /// Whether it is in the outbox now; what follows from it waits until then.
    async fn for_search(&self, row: &Search, task: Task) -> Result<bool> {
        let id = row.conversation();
        let left = row.until().unwrap_or_default().saturating_sub(self.agent.now()).clamp(1, DRAFT_TTL);
        let name = row.name_of(task);
        let words = |msg_type, recipient, payload| Words { msg_type, recipient, conversation: id, payload };
        match task {
            Task::Ask => {
                let bid = NotarizeBid { bid_type: BidType::Request, conversation_id: id, terms: &[] };
                self.put(&name, &words(MsgType::NotarizeBid, BROADCAST, bid.to_bytes()), left).await
            }
            Task::Assign(notary) => {
                self.put(&name, &words(MsgType::NotarizeAssign, notary, Vec::new()), left).await
            }
            Task::ShowChoice(notary) => {
                let Some(other) = self.counterparty(id) else { return Ok(true) };
                let Some(offer) = row.chosen_offer() else { return Ok(true) };
                // Once it is signed; the pen wakes this up.
                let Some(assignment) = self.assignment(id, notary).await? else { return Ok(false) };
                let payload = choice_payload(offer, &assignment)?;
                self.put(&name, &words(MsgType::Deliver, other, payload), left).await
            }
            Task::ShowContext(notary) => {
                let envelopes = self.deal(id).await?;
                let envelopes: Vec<&[u8]> = envelopes.iter().map(Vec::as_slice).collect();
                let payloads = Context::split(&envelopes).map_err(zx1_mesh::notary::NotaryError::from)?;
                for (part, payload) in payloads.into_iter().enumerate() {
                    let name = format!("{name}/{part}");
                    if !self.put(&name, &words(MsgType::Deliver, notary, payload), left).await? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
        }
    }

    async fn for_desk(&self, row: &Desk, task: &DeskTask) -> Result<bool> {
        let (name, conversation) = (row.name_of(task), row.conversation());
        let (msg_type, recipient, payload, ttl) = match task {
            // Nobody takes an offer that comes later.
            DeskTask::Offer(payload) => (MsgType::NotarizeBid, BROADCAST, payload, OFFERS_TIME),
            DeskTask::Verdict(party, payload) => (MsgType::Verdict, *party, payload, DRAFT_TTL),
        };
        let words = Words { msg_type, recipient, conversation, payload: payload.clone() };
        self.put(&name, &words, ttl).await
    }

    /// A work product of the deal went or came after the conversation was shown to the notary: it is shown, too.
    pub(super) async fn show_more(&self, id: ConversationId, envelope: &Envelope<'_>) -> Result<()> {
        let row = self.agent.rows().searches.get(id)?.clone();
        let Some(notary) = row.notary().filter(|_| row.stage() == Stage::Assigned) else { return Ok(()) };
        let task = Task::ShowContext(notary);
        let cbor = envelope.to_cbor();
        let is_theirs = {
            let deals = self.agent.conversations();
            let is_party = |agent| deals.get(id).is_ok_and(|deal| deal.counterparty(agent).is_some());
            is_party(envelope.header.sender()) && is_party(envelope.header.recipient())
        };
        if !is_theirs
            || row.tasks().contains(&task)
            || cbor.len() > MAX_CONTEXT_LEN.saturating_sub(CONTEXT_FRAME)
        {
            return Ok(());
        }
        match self.is_shown(id, notary, &cbor).await? {
            Some(false) => {}
            Some(true) => return Ok(()),
            // The conversation as it was then is not signed yet.
            None => return Err(Error::Busy),
        }
        let context = Context { envelopes: vec![&cbor] };
        let payload = context.to_payload().map_err(zx1_mesh::notary::NotaryError::from)?;
        let message32 = hex::encode(envelope.header.message32::<Sha3>());
        let name = format!("{}/{}", row.name_of(task), message32.get(..16).unwrap_or_default());
        let left = row.until().unwrap_or_default().saturating_sub(self.agent.now()).clamp(1, DRAFT_TTL);
        let words = Words { msg_type: MsgType::Deliver, recipient: notary, conversation: id, payload };
        if self.put(&name, &words, left).await? { Ok(()) } else { Err(Error::Busy) }
    }

    /// Whether an envelope was shown to the notary; `None` before anything was.
    async fn is_shown(&self, id: ConversationId, notary: AgentId, cbor: &[u8]) -> Result<Option<bool>> {
        let mut is_shown = None;
        for said in self.said(id).await? {
            if let Ok(envelope) = Envelope::decode(&said.cbor)
                && said.direction == Direction::Sent
                && envelope.header.recipient() == notary
                && let Ok(context) = Context::decode(envelope.payload)
            {
                is_shown = Some(is_shown == Some(true) || context.envelopes.contains(&cbor));
            }
        }
        Ok(is_shown)
    }

    /// Whether the message is in the outbox. Another one of the name was put there before a crash, when less had been
    /// said; it stands.
    async fn put(&self, name: &str, words: &Words, ttl: u64) -> Result<bool> {
        match self.ways.add(name, words, ttl).await {
            Ok(_) | Err(Error::Outbox(OutboxError::NameTaken(_))) => Ok(true),
            Err(error @ Error::File { .. }) => Err(error),
            Err(error) => {
                tracing::debug!(%error, name, "a message of the notary's part is not taken now");
                Ok(false)
            }
        }
    }

    fn counterparty(&self, id: ConversationId) -> Option<AgentId> {
        let deals = self.agent.conversations();
        deals.get(id).ok().and_then(|deal| deal.counterparty(self.agent.id()))
    }

    async fn said(&self, id: ConversationId) -> Result<Vec<Said>> {
        let agent = Arc::clone(&self.agent);
        blocking(move || transcript::of(&agent.log().reader(), agent.first_epoch(CONVERSATION_EPOCHS), id))
            .await
    }

    /// The signed NOTARIZE_ASSIGN to a notary, once it is in the log.
    async fn assignment(&self, id: ConversationId, notary: AgentId) -> Result<Option<Vec<u8>>> {
        let said = self.said(id).await?;
        let is_it = |said: &Said| {
            Envelope::decode(&said.cbor).is_ok_and(|envelope| {
                envelope.header.msg_type == MsgType::NotarizeAssign && envelope.header.recipient() == notary
            })
        };
        let found = said.into_iter().rev().find(|said| said.direction == Direction::Sent && is_it(said));
        Ok(found.map(|said| said.cbor))
    }

    /// What the parties said to each other, the latest of it, without what shows other envelopes. One that is too long
    /// to be shown is left out.
    async fn deal(&self, id: ConversationId) -> Result<Vec<Vec<u8>>> {
        let (me, other) = (self.agent.id(), self.counterparty(id));
        let mut deal: Vec<Vec<u8>> = self.said(id).await?.into_iter().map(|said| said.cbor).collect();
        deal.retain(|cbor| {
            let Ok(envelope) = Envelope::decode(cbor) else { return false };
            let (sender, recipient) = (envelope.header.sender(), envelope.header.recipient());
            let between = [(Some(me), other), (other, Some(me))];
            let shows = envelope.header.msg_type == MsgType::Deliver && Context::is_one(envelope.payload);
            let fits = cbor.len() <= MAX_CONTEXT_LEN.saturating_sub(CONTEXT_FRAME);
            if !fits {
                tracing::warn!(conversation = %id, "a message is too long to be shown to the notary");
            }
            between.contains(&(Some(sender), Some(recipient))) && !shows && fits
        });
        let surplus = deal.len().saturating_sub(MAX_SHOWN_ENVELOPES);
        Ok(deal.split_off(surplus))
    }
}
