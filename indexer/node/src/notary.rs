//! Notaries of tasks, both sides: this agent looks for one, and is one (see [`zx1_mesh::notary`], whose tables decide).
//!
//! A row is on disk before anything follows from it. What is to be sent is derived from the rows and has a name under
//! which the outbox takes it once; so after a crash the same is derived again, and nothing goes out twice.
//!
//! Messages come from the thread that writes the log, by a bounded [`line::Line`] in the log's order, each with the time
//! of its arrival. The log itself is what makes this safe: at the start the messages of the last two days that matter
//! come from there once more, as does what the line had no room for. No task lasts that long, and every input is taken
//! twice without harm. A file that says how far the rows are would have to be written for each message.
//!
//! A VERDICT in a task with a search goes to the search first; only the one that counts moves the deal.

pub mod line;
mod rate;
pub mod rows;
mod shown;
mod take;
mod tasks;
pub mod ways;

#[cfg(test)]
mod tests;

use crate::agent::Agent;
use crate::defaults::{CONVERSATION_EPOCHS, NOTARY_EVERY};
use crate::error::{Error, Result};
use crate::pen::blocking;
use crate::transcript;
use rows::{Disk, Serving};
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;
use ways::Ways;
use zx1_mesh::conversation::{ConversationError, Due};
use zx1_mesh::notary::{Desk, NotaryError, Search};
use zx1_operator::node::wire;
use zx1_protocol::behavior_batch::Direction;
use zx1_protocol::envelope::{Envelope, MsgType};
use zx1_protocol::hash::Hash;
use zx1_protocol::ids::{AgentId, ConversationId};
use zx1_protocol::mesh_payload::MAX_UNIT_LEN;

pub use rate::Rating;
pub use shown::dues;

/// The notary's part of a node.
#[derive(Debug)]
pub struct Notary<W> {
    agent: Arc<Agent>,
    ways: W,
    disk: Disk,
    /// Whoever changes a row has it, so that rows on disk and in memory change together.
    turn: Mutex<()>,
}

impl<W: Ways> Notary<W> {
    /// Of this agent, whose rows are those of this disk.
    pub fn new(agent: Arc<Agent>, ways: W, disk: Disk) -> Self {
        Self { agent, ways, disk, turn: Mutex::new(()) }
    }

    /// Takes messages, lets time pass and sends, until cancelled.
    pub async fn run(self: Arc<Self>, cancel: CancellationToken) {
        loop {
            if let Err(error) = self.step().await {
                tracing::error!(%error, "the notary's part cannot go on");
            }
            tokio::select! {
                () = cancel.cancelled() => return,
                () = self.agent.line().woken() => {}
                () = tokio::time::sleep(NOTARY_EVERY) => {}
            }
        }
    }

    /// Takes what came, lets time pass, and puts into the outbox what is to be sent.
    ///
    /// # Errors
    /// 7683 when a row cannot be written; the log's. What was not done is done with the next step.
    pub async fn step(&self) -> Result<()> {
        if self.agent.line().take_spilled() {
            let agent = Arc::clone(&self.agent);
            blocking(move || agent.read_again()).await?;
        }
        let _turn = self.turn.lock().await;
        // In their order, and before time passes: a VERDICT counts by its arrival, however late it is looked at.
        self.take_all().await?;
        self.advance().await?;
        self.send_all().await
    }

    /// Looks for the notary of a task.
    ///
    /// # Errors
    /// 7627 when the deal takes none now; 7631, 7638; 7623 for a task of others.
    pub async fn ask(&self, id: ConversationId, unit: &str) -> Result<wire::Search> {
        let turn = self.turn.lock().await;
        let me = self.agent.id();
        let other = {
            let deals = self.agent.conversations();
            let deal = deals.get(id)?;
            let other = deal.counterparty(me).ok_or(ConversationError::WrongRecipient)?;
            if !deal.can_ask_for_notary(me) {
                return Err(ConversationError::NoNotaryNow { phase: deal.phase }.into());
            }
            other
        };
        if unit.is_empty() || unit.len() > MAX_UNIT_LEN {
            return Err(Error::BadRequest(format!("unit has from 1 to {MAX_UNIT_LEN} bytes")));
        }
        self.add_search(Search::ask(id, me, other, unit, self.agent.now())).await?;
        self.send_all().await?;
        drop(turn);
        self.search(id)
    }

    /// Chooses a notary among the offers.
    ///
    /// # Errors
    /// 7630, 7632, 7634, 7635.
    pub async fn choose(&self, id: ConversationId, notary: AgentId) -> Result<wire::Search> {
        let turn = self.turn.lock().await;
        let now = self.agent.now();
        self.change_search(id, |search| search.choose(notary, now)).await?;
        self.send_all().await?;
        drop(turn);
        self.search(id)
    }

    /// Offers to be a notary from now on, or not any more.
    ///
    /// # Errors
    /// 7683
    pub async fn serve(&self, serving: Option<Serving>) -> Result<Option<wire::Serve>> {
        let _turn = self.turn.lock().await;
        let (disk, row) = (self.disk.clone(), serving.clone());
        blocking(move || disk.put_serving(row.as_ref())).await?;
        self.agent.rows().serving = serving;
        Ok(self.serving())
    }

    /// The terms of its offers; `None` while it makes none.
    pub fn serving(&self) -> Option<wire::Serve> {
        self.agent.rows().serving.clone().map(wire::Serve::from)
    }

    /// Gives the VERDICT of a task. Without a `deliver` it is about the last work product that was shown.
    ///
    /// # Errors
    /// 7630, 7632, 7639, 7643, 7645.
    pub async fn judge(
        &self,
        id: ConversationId,
        outcome: u8,
        deliver: Option<Hash>,
        reason: &str,
    ) -> Result<wire::Desk> {
        let turn = self.turn.lock().await;
        let now = self.agent.now();
        self.change_desk(id, |desk| {
            let last = desk.exhibits().iter().rev().find(|it| it.is_delivery).map(|it| it.payload_hash);
            desk.judge(outcome, deliver.or(last).unwrap_or_default(), reason, now)
        })
        .await?;
        self.send_all().await?;
        drop(turn);
        self.desk(id).await
    }

    /// All searches, by conversation.
    pub fn searches(&self) -> Vec<wire::Search> {
        shown::searches(&self.agent.rows())
    }

    /// One search.
    ///
    /// # Errors
    /// 7630
    pub fn search(&self, id: ConversationId) -> Result<wire::Search> {
        Ok(shown::search(self.agent.rows().searches.get(id)?))
    }

    /// All tasks as a notary, by conversation, without payloads.
    pub async fn desks(&self) -> Vec<wire::Desk> {
        let rows: Vec<Desk> = self.agent.rows().desks.iter().cloned().collect();
        let mut all = Vec::with_capacity(rows.len());
        for row in rows {
            all.push(shown::desk(&row, &self.owed_by_desk(&row).await, &BTreeMap::new()));
        }
        all
    }

    /// One task as a notary, with the payloads that were shown.
    ///
    /// # Errors
    /// 7630; the log's.
    pub async fn desk(&self, id: ConversationId) -> Result<wire::Desk> {
        let row = self.agent.rows().desks.get(id)?.clone();
        let (reader, from) = (self.agent.log().reader(), self.agent.first_epoch(CONVERSATION_EPOCHS));
        let payloads = blocking(move || {
            let mut payloads = BTreeMap::new();
            for said in transcript::of(&reader, from, id)? {
                if let Ok(envelope) = Envelope::decode(&said.cbor)
                    && said.direction == Direction::Received
                    && envelope.header.msg_type == MsgType::Deliver
                {
                    shown::payloads_of(envelope.payload, &mut payloads);
                }
            }
            Ok(payloads)
        })
        .await?;
        Ok(shown::desk(&row, &self.owed_by_desk(&row).await, &payloads))
    }

    /// Ratings that this agent owes as the notary of a task, without those that are in the outbox or were sent.
    async fn owed_by_desk(&self, row: &Desk) -> Vec<Due> {
        let mut owed = Vec::new();
        for due in row.owed() {
            let (_, given) = self.rating(row.conversation(), due).await;
            if !given {
                owed.push(due);
            }
        }
        owed
    }

    /// Lets time pass: every row whose deadline is over.
    async fn advance(&self) -> Result<()> {
        let now = self.agent.now();
        let (searches, desks): (Vec<_>, Vec<_>) = {
            let rows = self.agent.rows();
            let is_due = |until: Option<u64>| until.is_some_and(|until| until <= now);
            (
                rows.searches.iter().filter(|row| is_due(row.until())).map(Search::conversation).collect(),
                rows.desks.iter().filter(|row| is_due(row.until())).map(Desk::conversation).collect(),
            )
        };
        for id in searches {
            self.change_search(id, |search| {
                search.advance(now);
                Ok(())
            })
            .await?;
        }
        for id in desks {
            self.change_desk(id, |desk| {
                desk.advance(now);
                Ok(())
            })
            .await?;
        }
        Ok(())
    }

    /// One input for a search. What it changes is on disk before it is in memory and the deal hears of it. Also a
    /// refused input may have let time pass.
    async fn change_search<T>(
        &self,
        id: ConversationId,
        input: impl FnOnce(&mut Search) -> Result<T, NotaryError>,
    ) -> Result<T> {
        let before = self.agent.rows().searches.get(id)?.clone();
        let mut row = before.clone();
        let answer = input(&mut row);
        if row != before {
            let (disk, written) = (self.disk.clone(), row.clone());
            blocking(move || disk.put_search(&written)).await?;
            *self.agent.rows().searches.get_mut(id)? = row.clone();
            self.heard_of(&row);
        }
        Ok(answer?)
    }

    /// One input for a task, as [`Self::change_search`].
    async fn change_desk<T>(
        &self,
        id: ConversationId,
        input: impl FnOnce(&mut Desk) -> Result<T, NotaryError>,
    ) -> Result<T> {
        let before = self.agent.rows().desks.get(id)?.clone();
        let mut row = before.clone();
        let answer = input(&mut row);
        if row != before {
            let (disk, written) = (self.disk.clone(), row.clone());
            blocking(move || disk.put_desk(&written)).await?;
            *self.agent.rows().desks.get_mut(id)? = row.clone();
            self.tell_desk(&row);
        }
        Ok(answer?)
    }

    /// A new search, on disk first.
    async fn add_search(&self, row: Search) -> Result<()> {
        // Whether there is room is known before anything is written.
        let gone = self.agent.rows().searches.clone().add(row.clone())?;
        let (disk, written) = (self.disk.clone(), row.clone());
        blocking(move || {
            disk.put_search(&written)?;
            disk.remove_searches(&gone)
        })
        .await?;
        self.agent.rows().searches.add(row.clone())?;
        self.heard_of(&row);
        Ok(())
    }

    /// A new task, on disk first.
    async fn add_desk(&self, row: Desk) -> Result<()> {
        let gone = self.agent.rows().desks.clone().add(row.clone())?;
        let (disk, written) = (self.disk.clone(), row.clone());
        blocking(move || {
            disk.put_desk(&written)?;
            disk.remove_desks(&gone)
        })
        .await?;
        self.agent.rows().desks.add(row.clone())?;
        self.tell_desk(&row);
        Ok(())
    }

    /// What a search says, to its deal and to whoever listens.
    fn heard_of(&self, row: &Search) {
        self.agent.tell_deal(row);
        let shown = shown::search(row);
        self.agent.tell("search", shown.conversation.clone(), self.agent.now(), &shown);
    }

    fn tell_desk(&self, row: &Desk) {
        let shown = shown::desk(row, &row.owed(), &BTreeMap::new());
        self.agent.tell("desk", shown.conversation.clone(), self.agent.now(), &shown);
    }
}
