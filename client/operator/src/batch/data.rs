//! A batch's data, compared with the chain (decision C7).

use crate::error::{Origin, Refusal, Result};
use crate::operator::{Agent, Operator};
use zx1_chain::rpc::Stored;
use zx1_interface::accounts::BatchAccount;
use zx1_log::{AnyStore, BatchStore as _};
use zx1_protocol::behavior_batch::Commitment;
use zx1_protocol::bundle::Bundle;
use zx1_protocol::ids::AgentId;
use zx1_protocol::units::Epoch;

/// What a batch on chain commits to.
pub fn commitment_of(account: &BatchAccount) -> Commitment {
    Commitment {
        agent: AgentId(account.agent_id),
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
    let agent = AgentId(account.agent_id);
    let bytes = store.get(&agent, epoch).await?.ok_or_else(|| Refusal::Withheld {
        agent: agent.to_string(),
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

impl Operator {
    /// A batch on chain.
    ///
    /// # Errors
    /// 7526 when there is none.
    pub async fn batch_on_chain(&self, agent: &Agent, epoch: u64) -> Result<Stored<BatchAccount>> {
        let account = self.client().batch(agent.mint, epoch).await?;
        account.ok_or_else(|| Refusal::NoBatchOnChain { agent: agent.mint.to_string(), epoch }.into())
    }
}
