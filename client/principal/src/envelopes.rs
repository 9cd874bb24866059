//! The 0x01 side of a party (decision G1): with an agent id, its contracts' envelopes travel in the transcript's
//! entries and are logged where batches are built from. Without one nothing changes.

use crate::{Refusal, Result};
use futures_util::future::BoxFuture;
use solana_commitment_config::CommitmentConfig;
use std::path::PathBuf;
use std::sync::Arc;
use zx1_agent::bridge::{self, Agreements, Bridge, BridgeError, SigningKeys, Slots};
use zx1_chain::rpc::registry::{Agreement, IdentityRegistry as _, Sati};
use zx1_chain::rpc::{ChainError, Client, ClientOptions, Cluster};
use zx1_market::PartyKey;
use zx1_net::{clause, one_line};
use zx1_protocol::ids::{AgentId, ConversationId, WalletKey};
use zx1_protocol::keys::AgentKey;
use zx1_protocol::units::Slot;

/// Who a party is in 0x01.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Its agent id, the mint of its NFT in base58.
    pub agent_id: String,
    /// Folder of the logs of agents.
    pub home: PathBuf,
    /// The Solana cluster: an http(s) address or a moniker.
    pub cluster: Option<String>,
}

/// Opens the log of an agent id. `key` signs its envelopes; what can be evidence, the deal key where it has one
/// (decision P1).
///
/// # Errors
/// 9397, 9398, 9566: agent id or cluster are wrong or missing; 9393, 9394: the log cannot be written.
pub(crate) fn open(identity: &Identity, key: PartyKey, deal: Option<PartyKey>) -> Result<Arc<Bridge>> {
    let agent = bridge::agent_id(&identity.agent_id)?;
    let name = identity.cluster.as_ref().ok_or(Refusal::NoCluster)?;
    let cluster = Cluster::parse(name).map_err(|_| BridgeError::Cluster {
        text: one_line(name, 120),
        why: "it is neither an http(s) address nor a moniker".to_owned(),
    })?;
    let client = Client::new(cluster.clone(), ClientOptions::default());
    let folder = zx1_log::agent_dir(&identity.home, &agent);
    let agreements = agreements(client.clone(), agent, WalletKey::new_from_array(*key.id().as_bytes()));
    // A key counts once its account is final.
    let commitment = CommitmentConfig::finalized();
    let keys = signing_keys(Client::new(cluster, ClientOptions { commitment, ..ClientOptions::default() }));
    let bridge = Bridge::open(folder, agent, Arc::new(key), slots(client), keys)?.presigning(agreements);
    Ok(Arc::new(match deal {
        Some(deal) => bridge.dealing(Arc::new(deal)),
        None => bridge,
    }))
}

/// An answer of the chain; the error is half a sentence.
fn half<T: 'static>(
    asked: impl Future<Output = Result<T, ChainError>> + Send + 'static,
) -> BoxFuture<'static, Result<T, String>> {
    Box::pin(async { asked.await.map_err(|error| clause(&error.to_string())) })
}

/// Asks the cluster for its confirmed slot.
fn slots(client: Client) -> Slots {
    Arc::new(move || {
        let client = client.clone();
        half(async move { Ok(client.slot().await?.0) })
    })
}

/// Asks the cluster for the key accounts of an agent.
fn signing_keys(client: Client) -> SigningKeys {
    Arc::new(move |agent| {
        let client = client.clone();
        half(async move {
            let accounts = client.keys(agent).await?;
            // One that is not a point of the curve signs nothing.
            Ok(accounts.iter().filter_map(|account| AgentKey::of(account).ok()).collect())
        })
    })
}

/// Asks SATI what an agreement's hash is (decision D5). It takes the signature of the NFT's owner only, so another
/// key signs none.
fn agreements(client: Client, agent: AgentId, key: WalletKey) -> Agreements {
    Arc::new(move |peer, conversation, accepted| {
        let client = client.clone();
        half(async move { agreement(&client, agent, key, peer, conversation, accepted).await })
    })
}

async fn agreement(
    client: &Client,
    agent: AgentId,
    key: WalletKey,
    peer: AgentId,
    conversation: ConversationId,
    accepted: Slot,
) -> Result<Option<[u8; 32]>, ChainError> {
    let sati = Sati::connect(client).await?;
    if !sati.verify_ownership(agent, key).await? {
        return Ok(None);
    }
    let Some(wallet) = sati.look_up(peer).await?.and_then(|record| record.owner) else { return Ok(None) };
    let agreement = Agreement::of_task(agent, peer, wallet, &conversation, accepted);
    Ok(Some(sati.agreement_message(&agreement)))
}
