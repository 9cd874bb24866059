//! Transactions: persist, ask, send, wait. What an earlier, interrupted run sent is found in the outbox and
//! not sent twice.

use crate::error::Result;
use crate::operator::{Event, Mode, Operator, Wallet};
use serde::Serialize;
use solana_instruction::Instruction;
use solana_message::compiled_instruction::CompiledInstruction;
use std::path::Path;
use std::sync::Arc;
use zx1_chain::rpc::{
    ChainError, Draft, FeePolicy, Flow, Intent, Key, Outbox, Outcome, PartialTransaction, Prepared, Record,
    Sender, SenderOptions, Step,
};

/// The folder of transactions whose fate is not known yet, or not yet shown, in the home folder.
pub const OUTBOX: &str = "outbox";

/// What [`Mode::Simulate`] and [`Mode::Sign`] make.
#[derive(Debug)]
pub enum Preview {
    /// The transaction and its simulation, which went well.
    Simulated(Box<Prepared>),
    /// The transaction with this wallet's signature.
    Signed(PartialTransaction),
    /// There is nothing to send, because the chain shows this already.
    NothingToDo(String),
}

/// Outcome of an operation that sends a transaction.
#[derive(Debug)]
pub enum Attempt<T> {
    /// The operation is done.
    Done(T),
    /// Nothing was sent: the [`Mode`] asked for a preview.
    Preview(Box<Preview>),
}

/// How an intent was fulfilled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// The transaction landed.
    Confirmed,
    /// One of an earlier, interrupted run landed; nothing was sent now.
    AlreadyDone,
    /// The chain already shows the wanted state; nothing was sent at all.
    NothingToDo,
}

/// An intent that is fulfilled. Embed it in a result with `#[serde(flatten)]`.
#[derive(Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Sent {
    pub status: Status,
    /// What was done, in a few words.
    pub title: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
    /// The slot in which it landed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slot: Option<u64>,
    #[serde(skip)]
    sender: Sender,
    #[serde(skip)]
    outcome: Outcome,
}

impl Sent {
    /// Converts the outcome of a sender.
    pub fn new(sender: Sender, outcome: Outcome) -> Self {
        let (status, title, landed) = match &outcome {
            Outcome::Confirmed(landed) => (Status::Confirmed, landed.title.clone(), Some(landed)),
            Outcome::AlreadyDone(landed) => (Status::AlreadyDone, landed.title.clone(), Some(landed)),
            Outcome::Done(why) => (Status::NothingToDo, why.clone(), None),
        };
        let signature = landed.map(|landed| landed.signature.to_string());
        let slot = landed.map(|landed| landed.slot);
        Self { status, title, signature, slot, sender, outcome }
    }

    /// Lets the outbox forget the transaction. To be called after its result was shown: one that nobody saw is
    /// shown again.
    pub async fn acknowledge(&self) -> Result<()> {
        Ok(self.sender.acknowledge(&self.outcome).await?)
    }
}

impl Operator {
    /// Submits, simulates or signs an intent, as [`Mode`] asks.
    ///
    /// # Errors
    /// [`ChainError::Declined`] when the front end did not approve; the chain's refusals.
    pub async fn send(&self, flow: &dyn Flow, key: &Wallet) -> Result<Attempt<Sent>> {
        self.send_signed(flow, &[key]).await
    }

    /// The same with several signers.
    pub(crate) async fn send_signed(&self, flow: &dyn Flow, keys: &[&Wallet]) -> Result<Attempt<Sent>> {
        let _stage = self.stage(Event::Preparing);
        let sender = self.sender()?;
        let keys: Vec<Key<'_>> = keys.iter().map(|key| key.keypair() as Key<'_>).collect();
        if self.sends_nothing() {
            let preview = self.preview(&sender, flow, &keys).await?;
            return Ok(Attempt::Preview(Box::new(preview)));
        }
        let mut approve = |prepared: &Prepared| -> Result<(), ChainError> {
            prepared.check()?;
            if self.front.approve(&prepared.summary()) { Ok(()) } else { Err(ChainError::Declined) }
        };
        let outcome = sender.run(flow, &keys, &mut approve).await?;
        Ok(Attempt::Done(Sent::new(sender, outcome)))
    }

    /// A step that comes before what a command is for. Nothing of it is left to be shown: the chain shows it.
    pub(crate) async fn step(&self, flow: &dyn Flow, key: &Wallet) -> Result<Attempt<()>> {
        let sent = crate::done!(self.send(flow, key).await?);
        sent.acknowledge().await?;
        Ok(Attempt::Done(()))
    }

    /// Follows the steps of an interrupted run of this operation to their end. The chain shows what they did, and
    /// the operation goes on by that.
    pub(crate) async fn finish_steps(&self, intent: &Intent) -> Result<()> {
        for step in self.unfinished(intent.step("").as_str())? {
            if let Some(sent) = self.earlier(&step).await? {
                sent.acknowledge().await?;
            }
        }
        Ok(())
    }

    /// What interrupted runs sent for intents whose names begin so.
    pub(crate) fn unfinished(&self, beginning: &str) -> Result<Vec<Intent>> {
        let genesis = &self.chain.identity.genesis;
        let records = outbox(&self.home)?.records()?;
        let of_this_chain = records.iter().filter(|record| record.genesis == *genesis);
        Ok(of_this_chain.map(Record::wish).filter(|wish| wish.as_str().starts_with(beginning)).collect())
    }

    /// Whether the mode asks for a preview.
    pub(crate) fn sends_nothing(&self) -> bool {
        self.options.mode != Mode::Send
    }

    async fn preview(&self, sender: &Sender, flow: &dyn Flow, keys: &[Key<'_>]) -> Result<Preview> {
        let draft = match flow.next(self.client()).await? {
            Step::Send { draft, .. } => draft,
            Step::Done(why) => return Ok(Preview::NothingToDo(why)),
        };
        let mut partial = match self.options.mode {
            Mode::Sign { blockhash: Some(blockhash) } => {
                let price = self.options.unit_price.unwrap_or(0);
                // No blockhash that is known now serves longer than the newest.
                let last = self.client().blockhash().await?.last_valid_block_height;
                PartialTransaction::offline(&draft, blockhash, last, None, price)?
            }
            Mode::Sign { blockhash: None } => sender.prepare(&draft).await?.unsigned()?,
            Mode::Send | Mode::Simulate => {
                let prepared = sender.prepare(&draft).await?;
                prepared.check()?;
                return Ok(Preview::Simulated(Box::new(prepared)));
            }
        };
        partial.sign(keys)?;
        Ok(Preview::Signed(partial))
    }

    /// Fulfils an intent without asking for consent: for what runs unattended and was allowed beforehand. It
    /// uses an outbox of its own. It decides anew by what the chain shows, so it first has to learn the outcome
    /// of what it sent before ([`Self::settle_unasked`]); a person's unfinished operations stay with that person.
    pub async fn send_unasked(&self, flow: &dyn Flow, key: &Wallet) -> Result<Sent> {
        let _stage = self.stage(Event::Preparing);
        let sender = self.sender_with(self.unasked_outbox()?);
        let mut approve = |prepared: &Prepared| -> Result<(), ChainError> { prepared.check() };
        let outcome = sender.run(flow, &[key.keypair()], &mut approve).await?;
        Ok(Sent::new(sender, outcome))
    }

    /// What [`Self::send_unasked`] sent in an interrupted run, followed to its end: what landed. To be shown
    /// and acknowledged.
    pub async fn settle_unasked(&self) -> Result<Vec<Sent>> {
        let outbox = self.unasked_outbox()?;
        let mut settled = Vec::new();
        for record in outbox.records()?.iter().filter(|it| it.genesis == self.chain.identity.genesis) {
            let sender = self.sender_with(outbox.clone());
            match sender.earlier(&record.wish()).await {
                Ok(outcome) => settled.extend(outcome.map(|outcome| Sent::new(sender, outcome))),
                // Another process of this home is at it.
                Err(ChainError::OutboxBusy { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(settled)
    }

    /// Whether something that [`Self::send_unasked`] signed for this intent may still land. A transaction is
    /// recorded before it is published, so without a record nothing was.
    pub fn may_land_unasked(&self, intent: &Intent) -> Result<bool> {
        Ok(self.unasked_outbox()?.records()?.iter().any(|record| record.wish() == *intent))
    }

    /// What an interrupted run of this very operation sent, followed to its end. For operations that the
    /// chain's state refuses once they have succeeded: they ask this before they look. Nothing in a mode that
    /// sends nothing.
    pub async fn earlier(&self, intent: &Intent) -> Result<Option<Sent>> {
        if self.sends_nothing() {
            return Ok(None);
        }
        let sender = self.sender()?;
        let outcome = sender.earlier(intent).await?;
        Ok(outcome.map(|outcome| Sent::new(sender, outcome)))
    }

    /// What the chain shows already, so that nothing is sent.
    pub fn nothing_to_do(&self, why: String) -> Result<Sent> {
        Ok(Sent::new(self.sender()?, Outcome::Done(why)))
    }

    /// A sender for what was not built here, such as a sponsor's transactions.
    pub fn sender(&self) -> Result<Sender> {
        Ok(self.sender_with(outbox(&self.home)?))
    }

    fn sender_with(&self, outbox: Outbox) -> Sender {
        let fees = self.options.unit_price.map_or_else(FeePolicy::default, FeePolicy::Fixed);
        let options = SenderOptions { fees, ..SenderOptions::default() };
        let front = self.front.clone();
        let sender = Sender::new(self.client().clone(), outbox, options);
        sender.with_progress(Arc::new(move |progress| front.event(Event::Transaction(progress))))
    }

    fn unasked_outbox(&self) -> Result<Outbox> {
        Ok(Outbox::open(self.home.join(OUTBOX).join("unasked"))?)
    }
}

/// The transactions whose fate is not known yet, or not yet shown.
pub fn outbox(home: &Path) -> Result<Outbox> {
    Ok(Outbox::open(home.join(OUTBOX))?)
}

/// Whether a transaction does exactly what a draft does: the same calls in the same order. The compute budget
/// is its maker's business.
pub fn holds(partial: &PartialTransaction, draft: &Draft) -> bool {
    let message = partial.message();
    let keys = message.static_account_keys();
    let key = |index: u8| keys.get(usize::from(index)).copied();
    let budget = solana_compute_budget_interface::id();
    let calls = message.instructions().iter().filter(|call| key(call.program_id_index) != Some(budget));
    let same = |(call, wanted): (&CompiledInstruction, &Instruction)| {
        let accounts: Vec<_> = call.accounts.iter().map(|index| key(*index)).collect();
        let expected: Vec<_> = wanted.accounts.iter().map(|account| Some(account.pubkey)).collect();
        key(call.program_id_index) == Some(wanted.program_id)
            && call.data == wanted.data
            && accounts == expected
    };
    calls.clone().count() == draft.instructions.len() && calls.zip(&draft.instructions).all(same)
}
