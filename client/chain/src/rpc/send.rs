//! Sending with exactly one effect: simulate, agree, sign, write down, send the same bytes until they are
//! confirmed or can never land, and never sign a second transaction for one intent while the first may land.

use super::client::Client;
use super::draft::{Draft, Flow, Intent, Step, is_race};
use super::error::{ChainError, Result};
use super::message::Key;
use super::outbox::{Claim, Outbox, Record};
use super::partial::PartialTransaction;
use super::prepare::{FeePolicy, Prepared};
use super::read::RecentBlockhash;
use super::refusal::{Circumstances, Refusal};
use super::wire::{Status, WithContext};
use serde_json::json;
use solana_address::Address;
use solana_rpc_client_api::request::RpcRequest;
use solana_signature::Signature;
use solana_transaction_error::TransactionError;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout_at};

/// Asked before anything is signed; an error, for example [`ChainError::Declined`], stops everything.
pub type Approve<'a> = dyn FnMut(&Prepared) -> Result<()> + Send + 'a;

/// How to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SenderOptions {
    /// The priority fee.
    pub fees: FeePolicy,
    /// The compute units, instead of what the simulation shows.
    pub units: Option<u32>,
    /// How long to wait for a confirmation before the answer is "not confirmed".
    pub patience: Duration,
    /// How often the same bytes are sent again.
    pub resend: Duration,
    /// How often a step is built anew when somebody else was faster.
    pub races: usize,
}

impl Default for SenderOptions {
    fn default() -> Self {
        Self {
            fees: FeePolicy::default(),
            units: None,
            patience: Duration::from_secs(90),
            resend: Duration::from_secs(2),
            // One registry and one feedback log serve everybody, one number at a time.
            races: 10,
        }
    }
}

/// A transaction that landed and did what it should.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Landed {
    /// Intent that the transaction serves.
    pub intent: Intent,
    /// What it does, in a few words for a person.
    pub title: String,
    /// Signature of the transaction.
    pub signature: Signature,
    /// The slot of its block.
    pub slot: u64,
}

/// Successful outcome of an intent. Failures are errors: [`ChainError::Refused`],
/// [`ChainError::NotConfirmed`], [`ChainError::Expired`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was sent now and landed.
    Confirmed(Landed),
    /// An earlier run of the same command had sent it, and it landed. Nothing was sent now.
    AlreadyDone(Landed),
    /// The chain showed it before anything was sent. In words.
    Done(String),
}

impl Outcome {
    /// The transaction, if one is known.
    pub fn landed(&self) -> Option<&Landed> {
        match self {
            Self::Confirmed(landed) | Self::AlreadyDone(landed) => Some(landed),
            Self::Done(_) => None,
        }
    }
}

/// What happens meanwhile, for whoever waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// A transaction of an earlier run was found, and is being followed.
    Resumed(Signature),
    /// A transaction was simulated.
    Prepared(String),
    /// A transaction was written down and sent for the first time.
    Sent(Signature),
    /// The same bytes were sent again.
    SentAgain(Signature),
    /// A step of several landed.
    StepDone(String),
    /// Somebody else was faster; the step is built anew.
    Raced(String),
}

type Listener = Arc<dyn Fn(&Progress) + Send + Sync>;

/// Submits transactions, exactly once per intent.
#[derive(Clone)]
pub struct Sender {
    client: Client,
    outbox: Outbox,
    options: SenderOptions,
    listener: Option<Listener>,
}

impl fmt::Debug for Sender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender")
            .field("client", &self.client)
            .field("outbox", &self.outbox)
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

/// Outcome of a signed transaction.
#[derive(Debug)]
enum Fate {
    /// They landed and worked.
    Landed(u64),
    /// They landed and failed: they can never work.
    Failed(Box<Refusal>),
    /// They did not land and never can.
    Dead,
    /// They may still land.
    Open,
}

/// More steps than any flow has: a feedback of 2 048 bytes takes 5, evidence of 8 192 bytes 14.
const MOST_STEPS: usize = 64;
/// Blocks that must be finalized after a blockhash was first found unknown before that means "too old". The
/// newest block is about 32 ahead of the finalized one, so a node that was up to 64 blocks behind the one
/// that gave the blockhash has seen it by then.
const LAG_BLOCKS: u64 = 32;
/// How far behind a record's slot a test cluster must be to have been started anew.
const RESET_SLOTS: u64 = 300;

impl Sender {
    /// A sender that writes down in this outbox.
    pub fn new(client: Client, outbox: Outbox, options: SenderOptions) -> Self {
        Self { client, outbox, options, listener: None }
    }

    /// The same, telling what happens meanwhile.
    #[must_use]
    pub fn with_progress(mut self, listener: Arc<dyn Fn(&Progress) + Send + Sync>) -> Self {
        self.listener = Some(listener);
        self
    }

    /// The client that it sends through.
    pub fn client(&self) -> &Client {
        &self.client
    }

    fn tell(&self, progress: &Progress) {
        tracing::debug!(?progress);
        if let Some(listener) = &self.listener {
            listener(progress);
        }
    }

    /// Compiles and simulates; signs and sends nothing. For `--dry-run` and `--sign-only`.
    ///
    /// # Errors
    ///
    /// A simulation that is refused is not an error here: see [`Prepared::check`].
    pub async fn prepare(&self, draft: &Draft) -> Result<Prepared> {
        self.client.identity().await?;
        self.client.prepare(draft, self.options.fees, self.options.units).await
    }

    /// Carries out an intent. First it looks whether an earlier run sent a transaction for it: then that one
    /// is followed to its end and no other is made. Otherwise it goes through the flow's steps; `approve`
    /// sees each transaction before it is signed.
    ///
    /// Call [`Sender::acknowledge`] after the result was shown.
    ///
    /// # Errors
    ///
    /// [`ChainError::NotConfirmed`] when a sent transaction may still land; running the same command again
    /// goes on from there.
    pub async fn run(&self, flow: &dyn Flow, keys: &[Key<'_>], approve: &mut Approve<'_>) -> Result<Outcome> {
        let genesis = self.client.identity().await?.genesis;
        let claim = self.outbox.claim(&genesis, flow.intent())?;
        if let Some((landed, now)) = self.resume(&claim).await? {
            return Ok(if now { Outcome::Confirmed(landed) } else { Outcome::AlreadyDone(landed) });
        }
        self.settle_steps(flow.intent()).await?;
        let mut races = 0_usize;
        for _ in 0..MOST_STEPS {
            let (draft, last) = match flow.next(&self.client).await? {
                Step::Done(words) => return Ok(Outcome::Done(words)),
                Step::Send { draft, last } => (draft, last),
            };
            let done = if last {
                self.once(&claim, &draft, keys, approve).await.map(Some)
            } else {
                self.step(&genesis, &draft, keys, approve).await.map(|()| None)
            };
            match done {
                Ok(Some(landed)) => return Ok(Outcome::Confirmed(landed)),
                Ok(None) => self.tell(&Progress::StepDone(draft.title)),
                Err(ChainError::Refused(refusal))
                    if races < self.options.races && is_race(flow, &refusal) =>
                {
                    races = races.saturating_add(1);
                    self.tell(&Progress::Raced(refusal.to_string()));
                    // A node behind a balancer may be a block behind the one that confirmed.
                    sleep(Duration::from_millis(100 << races.min(5))).await;
                }
                Err(error) => return Err(error),
            }
        }
        Err(ChainError::Invalid(format!("'{}' did not end after {MOST_STEPS} transactions.", flow.title())))
    }

    /// Sends a completely signed transaction, for example one from `--sign-only`.
    ///
    /// # Errors
    ///
    /// As [`Sender::run`], and [`ChainError::MissingSigner`].
    pub async fn submit(&self, signed: &PartialTransaction) -> Result<Outcome> {
        if let Some(address) = signed.missing().first() {
            return Err(ChainError::MissingSigner { address: *address });
        }
        let genesis = self.client.identity().await?.genesis;
        let claim = self.outbox.claim(&genesis, &signed.intent)?;
        if let Some((landed, now)) = self.resume(&claim).await? {
            return Ok(if now { Outcome::Confirmed(landed) } else { Outcome::AlreadyDone(landed) });
        }
        let hash = signed.transaction.message.recent_blockhash();
        // A transaction from elsewhere does not say how long it serves, or not reliably: at most as long as a
        // fresh one. And where its blockhash is still known it cannot have landed long ago.
        let fresh = self.client.blockhash().await?;
        let text = Address::new_from_array(hash.to_bytes()).to_string();
        let slot = match signed.slot {
            0 if self.is_blockhash_valid(&text).await? => fresh.slot.saturating_sub(RESET_SLOTS),
            slot => slot.min(fresh.slot),
        };
        let blockhash = RecentBlockhash {
            hash: hash.to_bytes(),
            last_valid_block_height: signed.last_valid_block_height.min(fresh.last_valid_block_height),
            slot,
        };
        let record = record_of(signed, &genesis, &blockhash, true)?;
        self.post(&claim, signed, &record).await.map(Outcome::Confirmed)
    }

    /// What an earlier run of a command left for this intent, followed to its end; `None` when it left
    /// nothing, or nothing that can land any more. For commands that would be refused by what the chain shows
    /// after their own success, like closing an account that is closed: they ask this first.
    ///
    /// # Errors
    ///
    /// As [`Sender::run`].
    pub async fn earlier(&self, intent: &Intent) -> Result<Option<Outcome>> {
        let genesis = self.client.identity().await?.genesis;
        let claim = self.outbox.claim(&genesis, intent)?;
        let found = self.resume(&claim).await?;
        Ok(found.map(|(landed, now)| match now {
            true => Outcome::Confirmed(landed),
            false => Outcome::AlreadyDone(landed),
        }))
    }

    /// Forgets a transaction whose result was shown to the user; until then a rerun finds it.
    ///
    /// # Errors
    ///
    /// [`ChainError::Outbox`].
    pub async fn acknowledge(&self, outcome: &Outcome) -> Result<()> {
        let Some(landed) = outcome.landed() else { return Ok(()) };
        let genesis = self.client.identity().await?.genesis;
        self.outbox.acknowledge(&genesis, &landed.intent, &landed.signature)
    }

    /// What an earlier run left for this intent: its transaction if it landed (true: only now), none if
    /// nothing was left or what was left can never land.
    async fn resume(&self, claim: &Claim) -> Result<Option<(Landed, bool)>> {
        let Some(record) = claim.record()? else { return Ok(None) };
        let signature = signature_of(&record)?;
        self.tell(&Progress::Resumed(signature));
        let landed = |slot| Landed {
            intent: Intent::from_words(&record.intent),
            title: record.title.clone(),
            signature,
            slot,
        };
        let mut end = record.last_valid_block_height;
        match self.look(&record, &signature, &mut end).await? {
            Fate::Landed(slot) => Ok(Some((landed(slot), false))),
            Fate::Failed(_) | Fate::Dead => claim.forget().map(|()| None),
            Fate::Open => match self.deliver(&record, &signature).await? {
                Fate::Landed(slot) => Ok(Some((landed(slot), true))),
                // Somebody may have been faster meanwhile, so a new one may do. Where it may not, its
                // simulation says why.
                Fate::Failed(_) | Fate::Dead => claim.forget().map(|()| None),
                Fate::Open => Err(not_confirmed(&record, signature)),
            },
        }
    }

    /// Follows what an interrupted run left of the steps before the last to its end. Their effect shows on
    /// the chain, so their records are forgotten: the next look begins with what is there, and nothing of
    /// them can land after it. [`Sender::run`] does this by itself.
    ///
    /// # Errors
    ///
    /// [`ChainError::NotConfirmed`] when one may still land.
    pub async fn settle_steps(&self, intent: &Intent) -> Result<()> {
        let genesis = self.client.identity().await?.genesis;
        for step in self.outbox.steps_of(&genesis, intent)? {
            let claim = self.outbox.claim(&genesis, &step)?;
            self.resume(&claim).await?;
            claim.forget()?;
        }
        Ok(())
    }

    /// A step before the last. Its effect shows on the chain, so its record is forgotten once it landed.
    async fn step(
        &self,
        genesis: &str,
        draft: &Draft,
        keys: &[Key<'_>],
        approve: &mut Approve<'_>,
    ) -> Result<()> {
        let claim = self.outbox.claim(genesis, &draft.intent)?;
        if self.resume(&claim).await?.is_some() {
            // The next look at the chain shows it.
            return claim.forget();
        }
        self.once(&claim, draft, keys, approve).await?;
        claim.forget()
    }

    /// Prepares, asks, signs, writes down and sends.
    async fn once(
        &self,
        claim: &Claim,
        draft: &Draft,
        keys: &[Key<'_>],
        approve: &mut Approve<'_>,
    ) -> Result<Landed> {
        let mut prepared = self.prepare(draft).await?;
        prepared.check()?;
        self.tell(&Progress::Prepared(draft.title.clone()));
        approve(&prepared)?;
        // A person may have thought about it for longer than a blockhash lives.
        prepared.renew(self.client.blockhash().await?);
        let mut signed = prepared.unsigned()?;
        signed.sign(keys)?;
        if let Some(address) = signed.missing().first() {
            return Err(ChainError::MissingSigner { address: *address });
        }
        let genesis = self.client.identity().await?.genesis;
        let record = record_of(&signed, &genesis, &prepared.blockhash, false)?;
        self.post(claim, &signed, &record).await
    }

    /// Writes signed bytes down and sends them until their fate is known.
    async fn post(&self, claim: &Claim, signed: &PartialTransaction, record: &Record) -> Result<Landed> {
        let signature = signature_of(record)?;
        claim.store(record)?;
        self.tell(&Progress::Sent(signature));
        match self.deliver(record, &signature).await? {
            Fate::Landed(slot) => {
                Ok(Landed { intent: signed.intent.clone(), title: signed.title.clone(), signature, slot })
            }
            Fate::Failed(refusal) => {
                claim.forget()?;
                Err(ChainError::Refused(refusal))
            }
            Fate::Dead => {
                claim.forget()?;
                Err(ChainError::Expired { signature })
            }
            Fate::Open => Err(not_confirmed(record, signature)),
        }
    }

    /// Sends the same bytes until their fate is known or patience is over. A node that does not answer
    /// changes nothing: the bytes may be on their way.
    async fn deliver(&self, record: &Record, signature: &Signature) -> Result<Fate> {
        let started = Instant::now();
        let deadline = started + self.options.patience;
        let mut next_send = started;
        let mut end = record.last_valid_block_height;
        // What was signed elsewhere may be dead on arrival.
        let mut next_look = if record.end_is_bound { started } else { started + self.options.resend };
        let mut pause = Duration::from_millis(25);
        let mut sent = false;
        loop {
            // A question that hangs must not take more than what is left of the patience.
            if Instant::now() >= next_send {
                if sent {
                    self.tell(&Progress::SentAgain(*signature));
                }
                sent = true;
                match timeout_at(deadline, self.send_bytes(&record.transaction)).await {
                    Ok(Ok(_)) | Err(_) => {}
                    Ok(Err(error)) => tracing::debug!(%error, "sending"),
                }
                next_send = Instant::now() + self.options.resend;
            }
            match timeout_at(deadline, self.status_at(signature, false)).await {
                Ok(Ok((Some(fate), _))) => return Ok(fate),
                Ok(Ok((None, _))) | Err(_) => {}
                Ok(Err(error)) => tracing::debug!(%error, "looking for the signature"),
            }
            if Instant::now() >= next_look {
                match timeout_at(deadline, self.look(record, signature, &mut end)).await {
                    Ok(Ok(Fate::Open)) | Err(_) => {}
                    Ok(Ok(fate)) => return Ok(fate),
                    Ok(Err(error)) => tracing::debug!(%error, "looking for the transaction's fate"),
                }
                next_look = Instant::now() + self.options.resend;
            }
            if Instant::now() >= deadline {
                return Ok(Fate::Open);
            }
            sleep(pause).await;
            pause = (pause * 2).min(Duration::from_millis(500));
        }
    }

    /// Sends bytes once. Without the node's own simulation: ours came before the signature, and a node that
    /// simulates first may refuse what another one already let land.
    async fn send_bytes(&self, transaction: &str) -> Result<String> {
        let config = json!({ "encoding": "base64", "skipPreflight": true, "maxRetries": 0 });
        self.client.ask_once(RpcRequest::SendTransaction, json!([transaction, config])).await
    }

    /// Landed, failed, or not to be seen (None), and the slot that the node was at.
    async fn status_at(&self, signature: &Signature, in_history: bool) -> Result<(Option<Fate>, u64)> {
        let params = json!([[signature.to_string()], { "searchTransactionHistory": in_history }]);
        let request = RpcRequest::GetSignatureStatuses;
        let answer: WithContext<Vec<Option<Status>>> = self.client.ask(request, params).await?;
        let at = answer.context.slot;
        let Some(status) = answer.value.into_iter().next().flatten() else { return Ok((None, at)) };
        let finalized =
            status.confirmations.is_none() || status.confirmation_status.as_deref() == Some("finalized");
        let confirmed = finalized || status.confirmation_status.as_deref() == Some("confirmed");
        let enough = if self.client.commitment().is_finalized() { finalized } else { confirmed };
        if !enough {
            return Ok((None, at));
        }
        let fate = match status.err {
            None => Fate::Landed(status.slot),
            Some(error) => Fate::Failed(Box::new(self.why(signature, error.into()).await)),
        };
        Ok((Some(fate), at))
    }

    /// Why a landed transaction failed, with its log where the node still has it.
    async fn why(&self, signature: &Signature, error: TransactionError) -> Refusal {
        match self.client.find_transaction(signature).await {
            Ok(Some(transaction)) if transaction.error.is_some() => {
                transaction.error.unwrap_or_else(|| Refusal::decode(&error, &[], &Circumstances::default()))
            }
            _ => Refusal::decode(&error, &[], &Circumstances::default()),
        }
    }

    /// Outcome of a recorded transaction. `end` is the last block height in which they can land as far as it
    /// is known; where that is only a bound it is lowered here.
    async fn look(&self, record: &Record, signature: &Signature, end: &mut u64) -> Result<Fate> {
        if record.end_is_bound && !self.is_blockhash_valid(&record.blockhash).await? {
            // Too old, or so new that this node has not seen it yet. A local cluster is one node. Another one
            // has caught up by the time that LAG_BLOCKS more are final; what is still unknown then, as `fate`
            // asks once more, was too old already.
            let known = if self.is_local().await? {
                self.client.heights("finalized").await?.1.saturating_sub(1)
            } else {
                self.client.heights("processed").await?.1.saturating_add(LAG_BLOCKS)
            };
            *end = known.min(*end);
        }
        self.fate(record, signature, *end).await
    }

    /// A cluster of one node, with no money on it.
    async fn is_local(&self) -> Result<bool> {
        Ok(self.client.cluster().is_local() && !self.client.identity().await?.is_real_money())
    }

    /// Outcome of a recorded transaction that can land until this block height.
    async fn fate(&self, record: &Record, signature: &Signature, end: u64) -> Result<Fate> {
        if let (Some(fate), _) = self.status_at(signature, true).await? {
            return Ok(fate);
        }
        let client = &self.client;
        let (slot, height) = client.heights("finalized").await?;
        let local = self.is_local().await?;
        if local && slot.saturating_add(RESET_SLOTS) < record.slot {
            // The local cluster was started anew, with another history.
            return Ok(Fate::Dead);
        }
        if height <= end {
            return Ok(Fate::Open);
        }
        // Its time is over by the finalized chain. Now look again, at a node that has seen that much.
        if self.is_blockhash_valid(&record.blockhash).await? {
            return Ok(Fate::Open);
        }
        match self.status_at(signature, true).await? {
            (Some(fate), _) => return Ok(fate),
            (None, at) if at < slot => return Ok(Fate::Open),
            (None, _) => {}
        }
        if !local {
            // Not found means not landed only where the node remembers that long.
            let first_slot: u64 = client.ask(RpcRequest::GetFirstAvailableBlock, json!([])).await?;
            if first_slot > record.slot {
                let url = client.cluster().url().to_owned();
                return Err(ChainError::HistoryGone { signature: *signature, url, first_slot });
            }
        }
        Ok(Fate::Dead)
    }

    async fn is_blockhash_valid(&self, blockhash: &str) -> Result<bool> {
        let params = json!([blockhash, { "commitment": "processed" }]);
        let answer: WithContext<bool> = self.client.ask(RpcRequest::IsBlockhashValid, params).await?;
        Ok(answer.value)
    }
}

/// The record of a signed transaction.
fn record_of(
    signed: &PartialTransaction,
    genesis: &str,
    blockhash: &RecentBlockhash,
    end_is_bound: bool,
) -> Result<Record> {
    let missing = || ChainError::MissingSigner { address: Address::default() };
    let signature = signed.signature().ok_or_else(missing)?;
    let bytes = signed.to_base64();
    let mut record = Record::new(&signed.intent, &signed.title, genesis, &signature, bytes, blockhash);
    record.end_is_bound = end_is_bound;
    Ok(record)
}

fn signature_of(record: &Record) -> Result<Signature> {
    record.signature.parse().map_err(|_| ChainError::BadTransaction {
        detail: format!("the outbox names the signature '{}'", record.signature),
    })
}

fn not_confirmed(record: &Record, signature: Signature) -> ChainError {
    ChainError::NotConfirmed { signature, last_valid_block_height: record.last_valid_block_height }
}
