//! What was heard of an agent, and where its peers are, goes when the agent loses its stake or its lease, within a minute
//! also when it is silent.

use crate::agent::Agent;
use crate::defaults::{
    CHAIN_WITHIN, MAX_AGENTS_FILE, MAX_ENDED_READ, MAX_OTHERS_READ, SAVE_AGENTS_EVERY, WATCH_EVERY,
    WATCH_OTHERS,
};
use crate::facts::Cluster;
use crate::pen::blocking;
use libp2p::PeerId;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;
use tokio::time::{MissedTickBehavior, interval, timeout};
use tokio_util::sync::CancellationToken;
use zx1_chain::rpc::Wanted;
use zx1_home::files;
use zx1_mesh::node::{Node, NodeError};
use zx1_protocol::ids::AgentId;

/// Looks until cancelled; `file` remembers which peers are whose.
pub async fn run(
    agent: Arc<Agent>,
    cluster: Arc<Cluster>,
    node: Node,
    file: PathBuf,
    cancel: CancellationToken,
) {
    // Without gates nobody has to have anything.
    if cluster.is_dev() {
        return;
    }
    load(&agent, &file);
    let mut saved = Vec::new();
    let mut ticks = interval(WATCH_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let (mut looks, mut written) = (0u32, Instant::now());
    while cancel.run_until_cancelled(ticks.tick()).await.is_some() {
        looks = looks.wrapping_add(1);
        let (epoch, now) = (cluster.epoch(), agent.now());
        let mut due = agent.watch().ended(epoch, now, MAX_ENDED_READ);
        if due.is_empty() && looks.is_multiple_of(WATCH_OTHERS) {
            due = agent.watch().others(now, MAX_OTHERS_READ);
        }
        let gone = read(&agent, &cluster, due).await;
        let back = agent.watch().take_back();
        if move_peers(&node, gone, back).await.is_err() {
            break;
        }
        if written.elapsed() >= SAVE_AGENTS_EVERY {
            written = Instant::now();
            save(&agent, &file, &mut saved).await;
        }
    }
    save(&agent, &file, &mut saved).await;
}

/// What can be lost is not worth a refusal to start.
fn load(agent: &Agent, file: &Path) {
    let read = files::read(file, MAX_AGENTS_FILE).map_err(|error| error.to_string());
    let loaded = read.and_then(|bytes| match bytes {
        Some(bytes) => agent.watch().load(&bytes, agent.now()),
        None => Ok(()),
    });
    if let Err(why) = loaded {
        tracing::warn!(file = %file.display(), "whose peers are remembered cannot be read: {why}");
    }
}

async fn save(agent: &Agent, file: &Path, saved: &mut Vec<u8>) {
    let bytes = agent.watch().save();
    if bytes == *saved {
        return;
    }
    let (path, text) = (file.to_owned(), bytes.clone());
    match blocking(move || Ok(files::replace(&path, &text))).await {
        Ok(Ok(())) => *saved = bytes,
        Ok(Err(error)) => {
            tracing::warn!(file = %file.display(), "whose peers are remembered cannot be written: {error}")
        }
        Err(error) => tracing::warn!("whose peers are remembered cannot be written: {error}"),
    }
}

/// Reads agents; the peers of those that left.
async fn read(agent: &Agent, cluster: &Cluster, due: Vec<AgentId>) -> Vec<PeerId> {
    if due.is_empty() {
        return Vec::new();
    }
    let wanted = |agent| Wanted { agent, keys: Vec::new(), all_keys: false };
    let wanted: Vec<Wanted> = due.into_iter().map(wanted).collect();
    let now = agent.now();
    // Without an answer nobody leaves: it is asked again.
    let Ok(Ok(found)) = timeout(CHAIN_WITHIN, cluster.client().standings(&wanted)).await else {
        return Vec::new();
    };
    let mut gone = Vec::new();
    for (other, standing) in found {
        match cluster.live_lease(standing) {
            Some(lease) => agent.watch().stands(&other, Some(lease), now),
            None => {
                tracing::info!(agent = %other, "an agent has lost its stake or its lease: what was heard of it is forgotten");
                cluster.changed(&other);
                agent.heard().forget(&other);
                gone.extend(agent.watch().leaves(&other));
            }
        }
    }
    gone
}

/// Who was heard just now, while its agent was read, is welcome.
async fn move_peers(node: &Node, gone: Vec<PeerId>, back: Vec<PeerId>) -> Result<(), NodeError> {
    for peer in gone {
        node.forget(peer).await?;
    }
    for peer in back {
        node.welcome(peer).await?;
    }
    Ok(())
}
