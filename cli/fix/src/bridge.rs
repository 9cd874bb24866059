//! The 0x01 side of a party (decision G1): with an agent id, its contracts' envelopes travel in the chain
//! entries and are logged where `zx1 batch build` finds them. Without one nothing changes.

use crate::context::{Context, Who, zx1_home};
use crate::errors::{Error, Result};
use std::path::Path;
use std::sync::Arc;
use zx1_agent::bridge::{self, Agreements, Bridge, SigningKeys};
use zx1_chain::rpc::registry::{self, Agreement, IdentityRegistry as _, Sati};
use zx1_chain::rpc::{ChainError, Client, ClientOptions, Cluster};
use zx1_home::config::environment;
use zx1_protocol::ids::{AgentId, ConversationId, WalletKey};
use zx1_protocol::units::Slot;

/// The cluster that `zx1` itself uses: ZX1_URL, or `url` in its configuration.
fn zx1_cluster(home: &Path) -> Option<String> {
    environment("ZX1_URL").or_else(|| {
        // A file that zx1 cannot read is zx1's to complain about.
        let text = std::fs::read_to_string(home.join("config.toml")).ok()?;
        let table: toml::Table = toml::from_str(&text).ok()?;
        Some(table.get("url")?.as_str()?.to_owned())
    })
}

/// Opens the log of a party's agent id, if it has one.
///
/// # Errors
/// 9397, 9398, 9566: agent id or cluster are wrong or missing; 9393, 9394: the log cannot be written.
pub fn of(context: &Context, who: Who) -> Result<Option<Arc<Bridge>>> {
    let Some(text) = context.agent_id(who)? else { return Ok(None) };
    let agent = bridge::agent_id(&text)?;
    let home = zx1_home()?;
    let cluster = match context.cluster()? {
        Some(cluster) => cluster,
        None => zx1_cluster(&home).ok_or(Error::NoCluster)?,
    };
    let slots = bridge::slots_of(&cluster)?;
    let key = Arc::new(context.key(who)?);
    let agreements = agreements(&cluster, agent, (*key.id().as_bytes()).into());
    let keys = signing_keys(&cluster);
    let bridge = Bridge::open(zx1_log::agent_dir(&home, &agent), agent, key, slots, keys)?;
    Ok(Some(Arc::new(match agreements {
        Some(agreements) => bridge.presigning(agreements),
        None => bridge,
    })))
}

/// Asks SATI whose keys may sign for an agent.
fn signing_keys(cluster: &str) -> SigningKeys {
    let client = Cluster::parse(cluster).map(|cluster| Client::new(cluster, ClientOptions::default()));
    let client = client.map_err(|error| error.to_string());
    Arc::new(move |agent| {
        let client = client.clone();
        Box::pin(async move {
            let asked = async {
                let sati = Sati::connect(&client?).await.map_err(|error| error.to_string())?;
                let keys = registry::signing_keys(&sati, agent).await;
                keys.map_err(|error| error.to_string())
            };
            asked.await
        })
    })
}

/// Asks SATI what an agreement's hash is (decision D5). It takes the signature of the NFT's owner only, so a
/// delegate signs none.
fn agreements(cluster: &str, agent: AgentId, key: WalletKey) -> Option<Agreements> {
    // bridge::slots_of has said already what is wrong with an address.
    let cluster = Cluster::parse(cluster).ok()?;
    let client = Client::new(cluster, ClientOptions::default());
    Some(Arc::new(move |peer, conversation, accepted| {
        let client = client.clone();
        Box::pin(async move {
            let asked = agreement(&client, agent, key, peer, conversation, accepted);
            asked.await.map_err(|error| error.to_string())
        })
    }))
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
