//! Who owns an agent, and which keys sign for it (decisions A3, B3).

use crate::error::{Refusal, Result};
use crate::operator::{Agent, Operator};
use solana_address::Address;
use zx1_chain::rpc::registry::{IdentityRegistry as _, Sati, signing_keys};
use zx1_protocol::ids::AgentId;
use zx1_protocol::signature::PublicKey;

/// libp2p's name of an Ed25519 key: base58 of an identity multihash of its protobuf form.
pub fn peer_id(key: &Address) -> String {
    // identity, 36 bytes; key type 1 (Ed25519); data, 32 bytes.
    bs58::encode([&[0x00, 0x24, 0x08, 0x01, 0x12, 0x20], key.as_array().as_slice()].concat()).into_string()
}

/// The fix market's name of a key (decision A1).
pub fn fix_id(key: &Address) -> String {
    format!("fix_{}", hex::encode(key))
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_peer_id_is_the_key_behind_an_identity_multihash() {
        let id = peer_id(&Address::new_from_array([7; 32]));
        assert!(id.starts_with("12D3KooW"), "{id}");
        let bytes = bs58::decode(&id).into_vec().unwrap();
        assert_eq!(bytes, [&[0, 36, 8, 1, 18, 32][..], &[7; 32]].concat());
    }
}
