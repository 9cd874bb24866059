//! A batch's data, compared with the chain (decision C7).

use crate::error::{Origin, Refusal, Result};
use crate::operator::{Agent, Operator};
use serde::Serialize;
use solana_address::Address;
use zx1_chain::rpc::Stored;
use zx1_interface::accounts::BatchAccount;
use zx1_log::{AnyStore, BatchStore as _};
use zx1_protocol::behavior_batch::Commitment;
use zx1_protocol::bundle::{Bundle, Checked};
use zx1_protocol::finder::double_bids;
use zx1_protocol::units::Epoch;

/// What a batch on chain commits to.
pub fn commitment_of(account: &BatchAccount) -> Commitment {
    Commitment {
        agent: account.agent_id,
        epoch: Epoch(account.epoch_number),
        log_merkle_root: account.log_merkle_root,
        log_len: account.log_len,
        batch_hash: account.batch_hash,
        arrays_root: account.arrays_root,
        arrays_len: account.arrays_len,
    }
}

/// Whether data is that of the batch on chain.
///
/// # Errors
/// 7524 with what differs.
pub fn compare(account: &BatchAccount, data: &Commitment) -> Result<()> {
    let chain = commitment_of(account);
    let differing: Vec<&str> = [
        ("agent", chain.agent != data.agent),
        ("epoch", chain.epoch != data.epoch),
        ("log root", chain.log_merkle_root != data.log_merkle_root),
        ("log length", chain.log_len != data.log_len),
        ("batch hash", chain.batch_hash != data.batch_hash),
        ("arrays root", chain.arrays_root != data.arrays_root),
        ("arrays length", chain.arrays_len != data.arrays_len),
    ]
    .into_iter()
    .filter_map(|(name, differs)| differs.then_some(name))
    .collect();
    match differing.as_slice() {
        [] => Ok(()),
        names => Err(Refusal::NotOfChain { epoch: account.epoch_number, what: names.join(", ") }.into()),
    }
}

/// A batch's data from a place: its records and its log are known to be what the chain commits to. What the
/// batch says of them may be a lie ([`is_true`] tells): that is what it can be challenged for.
///
/// # Errors
/// 7525 when the place does not serve it, the bundle's when it serves something else.
pub async fn fetch(store: &AnyStore, account: &BatchAccount) -> Result<Vec<u8>> {
    let epoch = Epoch(account.epoch_number);
    let bytes = store.get(&account.agent_id, epoch).await?.ok_or_else(|| Refusal::Withheld {
        agent: Address::new_from_array(account.agent_id).to_string(),
        epoch: epoch.0,
        place: store.describe(),
    })?;
    let bundle = Bundle::decode(&bytes).map_err(Origin::Served.error())?;
    bundle.check_against(&commitment_of(account)).map_err(Origin::ServedOther.error())?;
    Ok(bytes)
}

/// Whether the bundle is the batch on chain and everything in it holds.
pub fn is_true(bytes: &[u8], account: &BatchAccount) -> bool {
    super::checked(bytes).is_ok_and(|checked| *checked.commitment() == commitment_of(account))
}

/// A bundle that is what it claims to be.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Verified {
    pub valid: bool,
    pub agent: String,
    pub epoch: u64,
    pub log_len: u32,
    pub log_merkle_root: String,
    pub arrays_len: u32,
    pub arrays_root: String,
    pub batch_hash: String,
    /// Pairs of bids that contradict each other.
    pub double_bids: usize,
}

impl Verified {
    /// What a checked bundle holds.
    pub fn new(checked: &Checked<'_>) -> Self {
        let commitment = checked.commitment();
        Self {
            valid: true,
            agent: Address::new_from_array(commitment.agent).to_string(),
            epoch: commitment.epoch.0,
            log_len: commitment.log_len,
            log_merkle_root: hex::encode(commitment.log_merkle_root),
            arrays_len: commitment.arrays_len,
            arrays_root: hex::encode(commitment.arrays_root),
            batch_hash: hex::encode(commitment.batch_hash),
            double_bids: double_bids(checked).count(),
        }
    }
}

/// A batch's data that was fetched.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Fetched {
    pub agent: String,
    pub epoch: u64,
    pub bytes: usize,
    pub log_len: u32,
    pub arrays_len: u32,
    pub place: String,
}

impl Operator {
    /// The data of a batch on chain, from a place.
    ///
    /// # Errors
    /// 7526 when there is no such batch; those of [`fetch`].
    pub async fn fetch_batch(
        &self,
        agent: &Agent,
        epoch: u64,
        store: &AnyStore,
    ) -> Result<(Vec<u8>, Fetched)> {
        let account = self.batch_on_chain(agent, epoch).await?;
        let bytes = fetch(store, &account).await?;
        let fetched = Fetched {
            agent: agent.mint.to_string(),
            epoch,
            bytes: bytes.len(),
            log_len: account.log_len,
            arrays_len: account.arrays_len,
            place: store.describe(),
        };
        Ok((bytes, fetched))
    }

    /// A batch on chain.
    ///
    /// # Errors
    /// 7526 when there is none.
    pub async fn batch_on_chain(&self, agent: &Agent, epoch: u64) -> Result<Stored<BatchAccount>> {
        let account = self.client().batch(agent.mint, epoch).await?;
        account.ok_or_else(|| Refusal::NoBatchOnChain { agent: agent.mint.to_string(), epoch }.into())
    }
}
