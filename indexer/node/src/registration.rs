//! The agent's registration file: the node writes its confirmed addresses into it, and says so until the copy that the
//! owner hosts agrees (protocol.md, 4.1).
//!
//! SATI holds the file's address and no hash of it, so the hosted copy is fetched and its addresses are compared.

use crate::defaults::{
    ADDRESSES_EVERY, ADDRESSES_SETTLE, ADDRESSES_SETTLE_LOCAL, CHAIN_WITHIN, HOSTED_AGREES_EVERY,
    HOSTED_EVERY, HOSTED_EVERY_LOCAL,
};
use crate::error::{Error, Result};
use crate::facts::Cluster;
use crate::hosted;
use crate::pen::blocking;
use libp2p::Multiaddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;
use zx1_chain::rpc::registry::Metadata;
use zx1_home::files;
use zx1_mesh::addresses::{Reach, is_relayed, reach, without_peer};
use zx1_mesh::node::Node;
use zx1_operator::node::wire;
use zx1_operator::registration::{MAX_ADDRESSES, MAX_FILE, MeshAddress, mesh_addresses, with_mesh_addresses};
use zx1_protocol::ids::{AgentId, WalletKey};

/// How the hosted copy compares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Hosted {
    /// It was not compared yet.
    #[default]
    Unknown,
    /// It names the same addresses.
    Agrees,
    /// It names others, or there is none.
    Differs,
    /// It cannot be fetched.
    Unread,
}

impl Hosted {
    /// The word for it in the local API.
    pub fn word(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Agrees => "agrees",
            Self::Differs => "differs",
            Self::Unread => "unread",
        }
    }

    /// Whether its owner has something to do.
    pub fn is_outdated(self) -> bool {
        matches!(self, Self::Differs | Self::Unread)
    }
}

#[derive(Debug, Default)]
struct State {
    addresses: Vec<MeshAddress>,
    uri: Option<String>,
    hosted: Hosted,
    why: Option<String>,
}

/// Keeps the agent's registration file.
#[derive(Debug)]
pub struct Registrar {
    agent: AgentId,
    name: String,
    key: WalletKey,
    file: PathBuf,
    cluster: Arc<Cluster>,
    node: Node,
    state: Mutex<State>,
}

impl Registrar {
    /// The keeper of this file, which need not exist.
    pub fn new(
        (agent, name): (AgentId, String),
        key: WalletKey,
        file: PathBuf,
        cluster: Arc<Cluster>,
        node: Node,
    ) -> Self {
        Self { agent, name, key, file, cluster, node, state: Mutex::default() }
    }

    /// What is known now, for people.
    pub fn shown(&self) -> wire::Registration {
        let state = self.state();
        wire::Registration {
            file: self.file.display().to_string(),
            addresses: state.addresses.iter().map(ToString::to_string).collect(),
            uri: state.uri.clone(),
            hosted: state.hosted.word().to_owned(),
            why: state.why.clone(),
        }
    }

    /// Whether the hosted copy does not agree, so that others look for this node where it is not.
    pub fn is_outdated(&self) -> bool {
        self.state().hosted.is_outdated()
    }

    /// Writes and compares until cancelled.
    pub async fn run(self: Arc<Self>, cancel: CancellationToken) {
        let is_local = self.cluster.is_local();
        let settle = if is_local { ADDRESSES_SETTLE_LOCAL } else { ADDRESSES_SETTLE };
        let (mut seen, mut since) = (Vec::new(), Instant::now());
        let mut written = Vec::new();
        let mut compared: Option<Instant> = None;
        while cancel.run_until_cancelled(sleep(ADDRESSES_EVERY)).await.is_some() {
            let Ok(identity) = self.node.identity().await else { return };
            let confirmed = confirmed(&identity.external, &self.key, is_local);
            if confirmed != seen {
                (seen, since) = (confirmed, Instant::now());
            }
            // Without any, the node was just started, or is away for a moment: the last ones are the best guess.
            if !seen.is_empty() && seen != written && since.elapsed() >= settle {
                match self.write(seen.clone()).await {
                    Ok(()) => (written, compared) = (seen.clone(), None),
                    Err(error) => {
                        self.say(
                            Hosted::Unknown,
                            Some(error.to_string()),
                            "the registration file is not kept",
                        );
                        // Tried again when it would be written anew.
                        since = Instant::now();
                    }
                }
            }
            if written.is_empty() {
                continue;
            }
            let every = match self.state().hosted {
                Hosted::Agrees if !is_local => HOSTED_AGREES_EVERY,
                _ if is_local => HOSTED_EVERY_LOCAL,
                _ => HOSTED_EVERY,
            };
            if compared.is_none_or(|at| at.elapsed() >= every) {
                if cancel.run_until_cancelled(self.compare()).await.is_none() {
                    return;
                }
                compared = Some(Instant::now());
            }
        }
    }

    /// Writes these addresses into the file, unless it has them.
    async fn write(&self, addresses: Vec<MeshAddress>) -> Result<()> {
        // Only a new file needs a name.
        let name = self.metadata().await.map_or_else(|| self.name.clone(), |metadata| metadata.name);
        let file = self.file.clone();
        let wanted = addresses.clone();
        if blocking(move || write(&file, &name, &wanted)).await? {
            tracing::info!(file = %self.file.display(), "wrote the node's addresses into the registration file; host it anew");
        }
        self.state().addresses = addresses;
        Ok(())
    }

    /// What the agent's mint says; `None` while that cannot be read.
    async fn metadata(&self) -> Option<Metadata> {
        timeout(CHAIN_WITHIN, self.cluster.client().agent_metadata(self.agent)).await.ok()?.ok()?
    }

    /// Fetches the hosted copy and compares it.
    async fn compare(&self) {
        // While the cluster is away, what was found last stays.
        let Some(Metadata { uri, .. }) = self.metadata().await else { return };
        let uri = Some(uri).filter(|uri| !uri.is_empty());
        self.state().uri.clone_from(&uri);
        let Some(uri) = uri else {
            let why = "The chain names no place of the registration file, so nobody finds the node by it.";
            return self.say(
                Hosted::Differs,
                Some(why.to_owned()),
                "the registration file is hosted nowhere",
            );
        };
        match hosted::fetch(&uri, self.cluster.is_local()).await {
            Err(why) => {
                let why = format!("The hosted copy cannot be fetched: {why}.");
                self.say(Hosted::Unread, Some(why), "the registration file cannot be compared");
            }
            Ok(copy) => {
                let ours = self.state().addresses.clone();
                match differs(&copy, &ours) {
                    None => self.say(Hosted::Agrees, None, "the hosted registration file agrees"),
                    why => self.say(Hosted::Differs, why, "the hosted registration file does not agree"),
                }
            }
        }
    }

    /// Remembers, and says what is new.
    fn say(&self, hosted: Hosted, why: Option<String>, what: &str) {
        let mut state = self.state();
        if (state.hosted, &state.why) == (hosted, &why) {
            return;
        }
        match &why {
            Some(why) => tracing::warn!(file = %self.file.display(), "{what}: {why}"),
            None => tracing::info!("{what}"),
        }
        (state.hosted, state.why) = (hosted, why);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Why a hosted copy does not agree, as a sentence.
fn differs(copy: &[u8], addresses: &[MeshAddress]) -> Option<String> {
    let mut theirs = match mesh_addresses(copy) {
        Ok(theirs) => theirs,
        Err(why) => return Some(format!("The hosted copy is not a registration file: {why}.")),
    };
    let mut ours = addresses.to_vec();
    theirs.sort();
    ours.sort();
    let (has, needs) = (theirs.len(), ours.len());
    (theirs != ours).then(|| {
        let missing = ours.iter().filter(|address| !theirs.contains(address)).count();
        format!(
            "The hosted copy lacks {missing} of {needs} addresses, and has {has} in all; host the file anew."
        )
    })
}

/// The addresses for the file, of those by which others are known to reach the node: direct ones first. Off a local
/// cluster, what only a private network reaches is of no use to the world.
fn confirmed(external: &[Multiaddr], key: &WalletKey, is_local: bool) -> Vec<MeshAddress> {
    let mut all: Vec<(bool, MeshAddress)> = external
        .iter()
        .filter(|address| is_local || reach(address) == Some(Reach::Public))
        .filter_map(|address| {
            let text = without_peer(address).to_string();
            Some((is_relayed(address), MeshAddress::of(&text, key).ok()?))
        })
        .collect();
    all.sort();
    all.dedup();
    all.truncate(MAX_ADDRESSES);
    all.into_iter().map(|(_, address)| address).collect()
}

/// Puts the addresses into the file; whether it was written. Blocks.
fn write(file: &Path, name: &str, addresses: &[MeshAddress]) -> Result<bool> {
    let failed = |action, why: String| Error::File { action, path: file.to_owned(), why };
    let before = files::read(file, MAX_FILE as u64).map_err(|error| failed("read", error.to_string()))?;
    let before = before.as_ref().map(|bytes| bytes.as_slice());
    let has = before.map(mesh_addresses).transpose().map_err(|why| failed("read", why))?;
    if has.is_some_and(|has| has == addresses) {
        return Ok(false);
    }
    let text = with_mesh_addresses(before, name, addresses).map_err(|why| failed("read", why))?;
    let written =
        files::make_folder(files::folder_of(file)).and_then(|()| files::replace(file, text.as_bytes()));
    written.map_err(|error| failed("written", error.to_string()))?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use zx1_operator::identity::peer_id;

    fn key() -> WalletKey {
        WalletKey::new_from_array([7; 32])
    }

    fn of(text: &str) -> MeshAddress {
        MeshAddress::of(text, &key()).unwrap()
    }

    #[test]
    fn confirmed_addresses_are_public_direct_first_and_at_most_eight() {
        let id = peer_id(&key());
        let relay =
            format!("/ip4/9.9.9.9/tcp/1/p2p/{}/p2p-circuit", peer_id(&WalletKey::new_from_array([1; 32])));
        let texts = [
            format!("{relay}/p2p/{id}"),
            "/ip4/8.8.8.8/udp/4001/quic-v1".to_owned(),
            format!("/ip4/8.8.8.8/tcp/4001/p2p/{id}"),
            "/ip4/8.8.8.8/tcp/4001".to_owned(),
            "/ip4/192.168.0.2/tcp/4001".to_owned(),
            "/ip4/127.0.0.1/tcp/4001".to_owned(),
            "/memory/7".to_owned(),
        ];
        let external: Vec<Multiaddr> = texts.iter().map(|text| text.parse().unwrap()).collect();
        let public = [of("/ip4/8.8.8.8/tcp/4001"), of("/ip4/8.8.8.8/udp/4001/quic-v1"), of(&relay)];
        assert_eq!(confirmed(&external, &key(), false), public);
        assert_eq!(confirmed(&external, &key(), true).len(), 5);
        let many: Vec<Multiaddr> =
            (1..20).map(|port| format!("/ip4/8.8.8.8/tcp/{port}").parse().unwrap()).collect();
        assert_eq!(confirmed(&many, &key(), false).len(), MAX_ADDRESSES);
    }

    #[test]
    fn the_file_is_written_when_its_addresses_change_and_not_touched_otherwise() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("registrations/alice.json");
        let (one, two) = (of("/ip4/8.8.8.8/tcp/1"), of("/ip4/8.8.8.8/tcp/2"));
        assert!(write(&file, "alice", std::slice::from_ref(&one)).unwrap());
        let first = fs::read(&file).unwrap();
        assert_eq!(mesh_addresses(&first).unwrap(), std::slice::from_ref(&one));
        // As an owner lays it out: nothing is to be changed, so nothing is.
        let own = String::from_utf8(first).unwrap().replace("alice", "Alice of Berlin").replace("  ", "\t");
        fs::write(&file, &own).unwrap();
        assert!(!write(&file, "alice", std::slice::from_ref(&one)).unwrap());
        assert_eq!(fs::read_to_string(&file).unwrap(), own);
        assert!(write(&file, "alice", &[one.clone(), two.clone()]).unwrap());
        let text = fs::read_to_string(&file).unwrap();
        assert!(text.contains("Alice of Berlin"));
        assert_eq!(mesh_addresses(text.as_bytes()).unwrap(), [one, two]);
    }

    #[test]
    fn a_file_that_is_none_stays_as_it_is_and_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.json");
        for broken in ["", "[]", "{", r#"{"services":{}}"#] {
            fs::write(&file, broken).unwrap();
            let error = write(&file, "a", &[of("/ip4/8.8.8.8/tcp/1")]).unwrap_err();
            assert!(matches!(&error, Error::File { path, .. } if *path == file), "{error}");
            assert_eq!(fs::read_to_string(&file).unwrap(), broken);
        }
    }

    #[test]
    fn a_hosted_copy_agrees_when_it_names_the_same_addresses_in_any_order() {
        let (one, two) = (of("/ip4/8.8.8.8/tcp/1"), of("/ip4/8.8.8.8/tcp/2"));
        let ours = [one.clone(), two.clone()];
        let copy =
            |addresses: &[MeshAddress]| with_mesh_addresses(None, "a", addresses).unwrap().into_bytes();
        assert_eq!(differs(&copy(&[two, one.clone()]), &ours), None);
        assert!(differs(&copy(&[one]), &ours).unwrap().contains("lacks 1 of 2"));
        assert!(differs(&copy(&[]), &ours).unwrap().contains("lacks 2 of 2"));
        assert!(differs(b"<html>", &ours).unwrap().contains("not a registration file"));
    }
}
