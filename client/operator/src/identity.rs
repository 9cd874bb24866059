//! Who owns an agent, and which keys sign for it (decisions A3, B3).

use crate::error::{Refusal, Result};
use crate::operator::{Agent, Operator};
use solana_address::Address;
use zx1_chain::rpc::registry::{IdentityRegistry as _, Sati, signing_keys};
use zx1_protocol::ids::AgentId;
use zx1_protocol::signature::PublicKey;

/// The wallet of an agent's owner.
///
/// # Errors
/// 7584 when the agent is unknown or retired.
pub async fn owner_of(sati: &Sati, agent: AgentId) -> Result<Address> {
    let record = sati.look_up(agent).await?;
    let owner = record.and_then(|record| record.owner);
    owner.ok_or_else(|| Refusal::NotRegistered { agent: agent.to_string() }.into())
}

/// The keys that may sign for an agent, the owner's first. Empty: not registered.
pub async fn keys_of(sati: &Sati, agent: AgentId) -> Result<Vec<PublicKey>> {
    let keys = signing_keys(sati, agent).await?;
    // A key that is not a point of the curve cannot sign.
    Ok(keys.iter().filter_map(|key| PublicKey::from_bytes(key.as_array()).ok()).collect())
}

impl Operator {
    /// Whether the chain takes this key's signature over a batch of the agent (decision B7).
    ///
    /// # Errors
    /// 7528 when it does not.
    pub(crate) async fn check_signer(&self, agent: &Agent, signer: Address) -> Result<()> {
        let sati = Sati::connect(self.client()).await?;
        if sati.verify_ownership(agent.mint, signer).await? {
            return Ok(());
        }
        let delegates = sati.delegates(agent.mint).await?;
        if delegates.iter().any(|delegate| delegate.live && delegate.delegate == signer) {
            return Ok(());
        }
        Err(Refusal::NotASigner { key: signer.to_string(), agent: agent.shown() }.into())
    }
}
