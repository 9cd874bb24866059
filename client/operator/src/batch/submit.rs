//! Submitting a batch: what is sent was saved before, with its data; the upload can be repeated at any time.

use super::open::Opened;
use super::sign::sign_and_seal;
use super::{checked, compare};
use crate::done;
use crate::error::{Origin, Refusal, Result};
use crate::operator::{Agent, Event, Operator, Wallet};
use crate::send::{Attempt, Sent};
use serde::Serialize;
use solana_address::Address;
use zx1_chain::rpc::Draft;
use zx1_chain::rpc::actions::intents;
use zx1_chain::rpc::registry::Sati;
use zx1_log::{AnyStore, BatchStore as _, Next, Put, SavedBatch};
use zx1_protocol::batch::BatchMessage;
use zx1_protocol::behavior_batch::Commitment;
use zx1_protocol::bundle::Bundle;
use zx1_protocol::ids::AgentId;
use zx1_protocol::signature;
use zx1_protocol::units::Epoch;

/// Parameters of a submission.
#[derive(Debug, Default)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Request<'a> {
    /// The batch's epoch; without one the last that is over.
    pub epoch: Option<u64>,
    /// A signature that was made elsewhere, and whose it is.
    pub signature: Option<(Address, [u8; 64])>,
    pub upload: Upload<'a>,
}

/// Destination of a batch's data.
#[derive(Clone, Copy, Debug, Default)]
pub enum Upload<'a> {
    /// The data is not uploaded now.
    #[default]
    No,
    /// The data is uploaded to this store.
    To(&'a AnyStore),
}

/// A batch that is on chain.
#[derive(Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Submitted {
    #[serde(flatten)]
    pub sent: Sent,
    pub agent: AgentId,
    pub epoch: u64,
    pub covers_from: u64,
    /// The batch's hash in hex.
    pub batch_hash: String,
    /// Outcome of the upload.
    pub upload: Uploaded,
}

/// Outcome of uploading a batch's data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum Uploaded {
    /// The store holds the data.
    Served {
        /// The store's location: a folder or an http(s) address.
        place: String,
        /// Whether this upload added the data; `false` when the store already held it.
        new: bool,
    },
    /// The caller asked for no upload ([`Upload::No`]).
    NotAsked,
}

/// What a submission came to.
#[derive(Serialize)]
#[serde(untagged)]
pub enum Outcome {
    /// The batch is on chain.
    Submitted(Submitted),
    /// There was no chain of batches yet, and there is nothing to batch in the epoch in which it is opened.
    Opened(Opened),
}

impl Outcome {
    /// The transaction that did it.
    pub fn sent(&self) -> &Sent {
        match self {
            Self::Submitted(submitted) => &submitted.sent,
            Self::Opened(opened) => &opened.sent,
        }
    }
}

impl Operator {
    /// Submits a batch and uploads its data. One that is not saved yet is built and signed first, by the batch
    /// key; `payer` pays. A signed batch that may still land goes first, whichever epoch is asked for. Where the
    /// agent has no chain of batches yet, it is opened, and that is all.
    ///
    /// # Errors
    /// 7520 when there is none to make, 7524 when another one of this epoch is on chain, 7527 and 7528 for a
    /// signature that counts for nothing, 7533 for a signed one that can never land.
    pub async fn submit_batch(
        &self,
        agent: &Agent,
        payer: &Wallet,
        key: &Wallet,
        request: &Request<'_>,
    ) -> Result<Attempt<Outcome>> {
        if self.client().head(agent.mint).await?.is_none() {
            let opened = done!(self.open_head(agent, payer).await?);
            return Ok(Attempt::Done(Outcome::Opened(opened)));
        }
        let saved = self.save_batch(agent, key, request).await?;
        let epoch = saved.epoch();
        let (commitment, bundle) = self.saved_bundle(agent, epoch)?;
        let sent = match self.client().batch(agent.mint, epoch.0).await? {
            Some(account) => {
                compare(&account, &commitment)?;
                // An interrupted run of this may have put it there, and waits to be shown.
                let intent = intents::submit_batch(&agent.mint, epoch.0, &commitment.batch_hash);
                match self.earlier(&intent).await? {
                    Some(sent) => sent,
                    None => self.nothing_to_do(format!("the batch of epoch {} is on chain", epoch.0))?,
                }
            }
            None => {
                let draft = self.submit_draft(payer, &saved).await?;
                done!(self.send(&draft, payer).await?)
            }
        };
        let upload = match request.upload {
            Upload::No => Uploaded::NotAsked,
            Upload::To(store) => self.upload_batch(agent, epoch, &bundle, store).await?,
        };
        Ok(Attempt::Done(Outcome::Submitted(Submitted {
            sent,
            agent: agent.mint,
            epoch: epoch.0,
            covers_from: saved.covered().from.0,
            batch_hash: hex::encode(commitment.batch_hash),
            upload,
        })))
    }

    /// The saved batch that is to be submitted; built and signed first when there is none.
    pub(crate) async fn save_batch(
        &self,
        agent: &Agent,
        key: &Wallet,
        request: &Request<'_>,
    ) -> Result<SavedBatch> {
        let batches = self.log_reader(agent).batches();
        let wanted = match request.epoch {
            Some(epoch) => Epoch(epoch),
            None => Epoch(self.now().await?.epoch.0.saturating_sub(1)),
        };
        let known = batches.get(wanted)?;
        // One that landed is taken as it is: a rerun then finishes its upload.
        if let Some(saved) = &known
            && self.client().batch(agent.mint, wanted.0).await?.is_some()
        {
            return Ok(saved.clone());
        }
        let seen = self.seen(agent).await?;
        let log = self.open_log(agent)?;
        let missing = |epoch: Epoch| Refusal::BatchMissing { epoch: epoch.0 };
        let view = match log.next_batch(&seen)? {
            Next::Send(epoch) => return Ok(batches.get(epoch)?.ok_or_else(|| missing(epoch))?),
            Next::Sign(view) => view,
        };
        if known.is_some() {
            return Err(Refusal::BatchVoid { epoch: wanted.0 }.into());
        }
        let plan = self.plan_batch(&seen, &view, Some(wanted.0)).await?;
        if let Some((signer, signature)) = request.signature {
            let bytes = self.unsigned(agent, wanted)?;
            let bundle = Bundle::decode(&bytes).map_err(Origin::Unsigned.error())?;
            let checked = bundle.check().map_err(Origin::Unsigned.error())?;
            let message = plan.message(checked.commitment());
            check_signature(&message, signer, &signature)?;
            self.check_batch_key(agent, signer, wanted).await?;
            log.seal(&bundle, &message, signer, signature, &seen)?;
        } else {
            self.check_batch_key(agent, key.address(), wanted).await?;
            let built = self.build_and_keep(agent, &log, &plan).await?;
            sign_and_seal(&log, &built.bundle, (&plan, &seen), key)?;
        }
        self.forget_unsigned(agent, wanted)?;
        Ok(batches.get(wanted)?.ok_or_else(|| missing(wanted))?)
    }

    /// What a saved batch commits to, and its data.
    pub(crate) fn saved_bundle(&self, agent: &Agent, epoch: Epoch) -> Result<(Commitment, Vec<u8>)> {
        let bytes = self.log_reader(agent).batches().bundle_bytes(epoch)?;
        let bytes = bytes.ok_or(Refusal::BatchMissing { epoch: epoch.0 })?;
        let commitment = *checked(&bytes).map_err(Origin::Saved.error())?.commitment();
        Ok((commitment, bytes))
    }

    /// The transaction that submits a saved batch.
    pub(crate) async fn submit_draft(&self, payer: &Wallet, saved: &SavedBatch) -> Result<Draft> {
        let sati = Sati::connect(self.client()).await?;
        let actions = self.actions(&sati).await?;
        Ok(actions.submit_batch(payer.address(), &saved.message, saved.signer, &saved.signature).await?)
    }

    /// Uploads a batch's data.
    pub(crate) async fn upload_batch(
        &self,
        agent: &Agent,
        epoch: Epoch,
        bundle: &[u8],
        store: &AnyStore,
    ) -> Result<Uploaded> {
        let _stage = self.stage(Event::Uploading(bundle.len()));
        let put = store.put(&agent.mint, epoch, bundle).await?;
        Ok(Uploaded::Served { place: store.describe(), new: put == Put::Created })
    }
}

/// Whether a signature over a batch holds.
///
/// # Errors
/// 7527 when it does not.
pub fn check_signature(message: &BatchMessage, signer: Address, signature: &[u8; 64]) -> Result<()> {
    if signature::verify(signer.as_array(), &message.to_bytes(), signature) {
        return Ok(());
    }
    Err(Refusal::BadBatchSignature { signer: signer.to_string() }.into())
}
