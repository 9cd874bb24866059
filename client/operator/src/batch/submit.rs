//! Submitting a batch: what is sent was saved before, with its data; the upload can be repeated at any time.

use super::sign::sign_and_seal;
use super::{checked, compare};
use crate::done;
use crate::error::{Origin, Refusal, Result};
use crate::operator::{Agent, Event, Operator, Wallet};
use crate::send::{Attempt, Sent};
use serde::Serialize;
use solana_address::Address;
use zx1_chain::rpc::Draft;
use zx1_chain::rpc::actions::{Actions, intents};
use zx1_chain::rpc::registry::Sati;
use zx1_interface::constants::MAX_BATCH_AGE_EPOCHS;
use zx1_interface::instruction::SubmitBatch;
use zx1_log::{AnyStore, BatchStore as _, Put, SavedBatch};
use zx1_protocol::behavior_batch::Commitment;
use zx1_protocol::bundle::Bundle;
use zx1_protocol::ids::AgentId;
use zx1_protocol::signature;
use zx1_protocol::units::Epoch;

/// Parameters of a submission.
#[derive(Debug, Default)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Request<'a> {
    /// The batch's epoch; without one that of an interrupted submission, or the last one that is over.
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
    /// The data is uploaded to this store. `None` means that no store is configured.
    To(Option<&'a AnyStore>),
}

/// A batch that is on chain.
#[derive(Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Submitted {
    #[serde(flatten)]
    pub sent: Sent,
    pub agent: AgentId,
    pub epoch: u64,
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
    /// No store is configured.
    NoPlace,
}

impl Operator {
    /// Submits a batch and uploads its data. One that is not saved yet is built and signed first.
    ///
    /// # Errors
    /// 7520 when there is none to make, 7524 when another one of this epoch is on chain, 7527 and 7528 for a
    /// signature that counts for nothing.
    pub async fn submit_batch(
        &self,
        agent: &Agent,
        key: &Wallet,
        request: &Request<'_>,
    ) -> Result<Attempt<Submitted>> {
        let epoch = match request.epoch {
            Some(epoch) => Some(epoch),
            None => self.unfinished_batch(agent).await?,
        };
        let saved = self.save_batch(agent, key, request, epoch).await?;
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
                let draft = self.submit_draft(key, &saved, &commitment).await?;
                done!(self.send(&draft, key).await?)
            }
        };
        let upload = match request.upload {
            Upload::No => Uploaded::NotAsked,
            Upload::To(None) => Uploaded::NoPlace,
            Upload::To(Some(store)) => self.upload_batch(agent, epoch, &bundle, store).await?,
        };
        Ok(Attempt::Done(Submitted {
            sent,
            agent: agent.mint,
            epoch: epoch.0,
            batch_hash: hex::encode(commitment.batch_hash),
            upload,
        }))
    }

    /// The saved batch of this epoch; built and signed first when there is none.
    async fn save_batch(
        &self,
        agent: &Agent,
        key: &Wallet,
        request: &Request<'_>,
        epoch: Option<u64>,
    ) -> Result<SavedBatch> {
        let batches = self.log_reader(agent).batches();
        // A saved batch is taken as it is, also one that landed: a rerun then finishes its upload.
        let wanted = match epoch {
            Some(epoch) => epoch,
            None => self.now().await?.epoch.0.saturating_sub(1),
        };
        if let Some(saved) = batches.get(Epoch(wanted))? {
            return Ok(saved);
        }
        let plan = self.plan_batch(agent, epoch).await?;
        let epoch = plan.covered.to;
        if let Some(saved) = batches.get(epoch)? {
            return Ok(saved);
        }
        let log = self.open_log(agent)?;
        if let Some((signer, signature)) = request.signature {
            let bytes = self.unsigned(agent, epoch)?;
            let bundle = Bundle::decode(&bytes).map_err(Origin::Unsigned.error())?;
            let checked = bundle.check().map_err(Origin::Unsigned.error())?;
            check_signature(checked.commitment(), signer, &signature)?;
            self.check_signer(agent, signer).await?;
            log.seal(&bundle, plan.covered, signer, signature)?;
        } else {
            self.check_signer(agent, key.address()).await?;
            let built = self.build_and_keep(agent, &log, plan).await?;
            sign_and_seal(&log, &built.bundle, plan.covered, key)?;
        }
        self.forget_unsigned(agent, epoch)?;
        batches.get(epoch)?.ok_or_else(|| Refusal::BatchMissing { epoch: epoch.0 }.into())
    }

    /// The saved batch of this epoch; without one it is built and signed by this key.
    pub(crate) async fn keep_batch(&self, agent: &Agent, key: &Wallet, epoch: Epoch) -> Result<SavedBatch> {
        let batches = self.log_reader(agent).batches();
        if let Some(saved) = batches.get(epoch)? {
            return Ok(saved);
        }
        let plan = self.plan_batch(agent, Some(epoch.0)).await?;
        let log = self.open_log(agent)?;
        let built = self.build_and_keep(agent, &log, plan).await?;
        sign_and_seal(&log, &built.bundle, plan.covered, key)?;
        batches.get(epoch)?.ok_or_else(|| Refusal::BatchMissing { epoch: epoch.0 }.into())
    }

    /// What a saved batch commits to, and its data.
    pub(crate) fn saved_bundle(&self, agent: &Agent, epoch: Epoch) -> Result<(Commitment, Vec<u8>)> {
        let bytes = self.log_reader(agent).batches().bundle_bytes(epoch)?;
        let bytes = bytes.ok_or(Refusal::BatchMissing { epoch: epoch.0 })?;
        let commitment = *checked(&bytes).map_err(Origin::Saved.error())?.commitment();
        Ok((commitment, bytes))
    }

    /// The transaction that submits a saved batch.
    pub(crate) async fn submit_draft(
        &self,
        payer: &Wallet,
        saved: &SavedBatch,
        commitment: &Commitment,
    ) -> Result<Draft> {
        let sati = Sati::connect(self.client()).await?;
        let actions = Actions::new(self.client(), &sati).await?;
        let arguments = SubmitBatch {
            agent_id: commitment.agent.into(),
            epoch_number: commitment.epoch.0,
            log_merkle_root: commitment.log_merkle_root,
            log_len: commitment.log_len,
            batch_hash: commitment.batch_hash,
            arrays_root: commitment.arrays_root,
            arrays_len: commitment.arrays_len,
        };
        Ok(actions.submit_batch(payer.address(), &arguments, saved.signer, &saved.signature).await?)
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

    /// The epoch of a batch that was signed here and has not landed: an interrupted run's.
    async fn unfinished_batch(&self, agent: &Agent) -> Result<Option<u64>> {
        let batches = self.log_reader(agent).batches();
        let Some(last) = batches.list()?.into_iter().max_by_key(SavedBatch::epoch) else { return Ok(None) };
        let head = self.client().head(agent.mint).await?;
        let landed = head.is_some_and(|head| head.last_epoch >= last.epoch().0);
        let now = self.now().await?;
        // An older one can never land any more; the next batch covers its epochs.
        let possible = now.epoch.since(last.epoch()) <= MAX_BATCH_AGE_EPOCHS;
        Ok((!landed && possible).then_some(last.epoch().0))
    }
}

/// Whether a signature over a batch holds.
///
/// # Errors
/// 7527 when it does not.
pub fn check_signature(commitment: &Commitment, signer: Address, signature: &[u8; 64]) -> Result<()> {
    if signature::verify(signer.as_array(), &commitment.message(), signature) {
        return Ok(());
    }
    Err(Refusal::BadBatchSignature { signer: signer.to_string() }.into())
}
