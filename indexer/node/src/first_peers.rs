//! First peers from the registry, for a node that no peer answers: the registration files of agents say where their nodes
//! are (protocol.md, 4.1).
//!
//! Everything in them is a stranger's text. Registering costs little, so only agents with stake and lease are looked at;
//! an address counts only under a live peer key of its own agent; and one search has bounds for members, files, bytes,
//! time and dials, whoever registers how many agents.

use crate::defaults::{
    ALONE_AFTER, ALONE_AFTER_LOCAL, ALONE_EVERY, ALONE_LONGEST, CHAIN_WITHIN, NAME_WITHIN, REACH_WITHIN,
    SEARCH_FILES, SEARCH_FILES_AT_ONCE, SEARCH_MEMBERS, SEARCH_PEERS, SEARCH_WITHIN,
};
use crate::error::{Error, Result};
use crate::facts::Cluster;
use crate::hosted;
use crate::walk::Walk;
use futures_util::StreamExt as _;
use futures_util::stream;
use libp2p::Multiaddr;
use libp2p::multiaddr::Protocol;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;
use zx1_chain::rpc::registry::Member;
use zx1_chain::rpc::{ChainError, Standing, Wanted};
use zx1_home::keys;
use zx1_mesh::addresses::{Reach, reach};
use zx1_mesh::node::Node;
use zx1_mesh::wire::peer_of_key;
use zx1_net::public_addresses;
use zx1_operator::registration::{MeshAddress, mesh_addresses};
use zx1_protocol::ids::AgentId;
use zx1_protocol::keys::Scopes;

/// An agent with what its registration file says.
type Found = (AgentId, Vec<MeshAddress>);

/// What a search asks and does.
pub trait Ways: Sync {
    /// How many members the registry has.
    fn count(&self) -> impl Future<Output = Result<u64>> + Send;

    /// Members by their numbers.
    fn members(&self, numbers: Vec<u64>) -> impl Future<Output = Result<Vec<Member>>> + Send;

    /// What the chain says of agents.
    fn standings(&self, wanted: Vec<Wanted>) -> impl Future<Output = Result<Vec<Option<Standing>>>> + Send;

    /// Whether others take the messages of an agent with this standing.
    fn stands(&self, standing: Option<&Standing>) -> bool;

    /// The bytes of a registration file, or why there are none.
    fn fetch(&self, uri: &str) -> impl Future<Output = std::result::Result<Vec<u8>, String>> + Send;

    /// Whether somebody answers at an address.
    fn dial(&self, address: &MeshAddress) -> impl Future<Output = bool> + Send;
}

/// Looks at the next members of the registry but this agent itself, and dials. How many peers answered.
///
/// # Errors
/// The cluster's.
pub async fn search(ways: &impl Ways, walk: &mut Walk, agent: AgentId) -> Result<usize> {
    let numbers = walk.next(ways.count().await?, SEARCH_MEMBERS);
    let is_other = |member: &Member| member.agent != agent && !member.uri.is_empty();
    let members: Vec<Member> = ways.members(numbers).await?.into_iter().filter(is_other).collect();
    let of_agents = members.iter().map(|member| wanted(member.agent, &[])).collect();
    let standings = ways.standings(of_agents).await?;
    let both = members.into_iter().zip(standings).filter(|(_, it)| ways.stands(it.as_ref()));
    let files: Vec<Member> = both.map(|(member, _)| member).take(SEARCH_FILES).collect();
    let files = stream::iter(files).map(|member| read(ways, member)).buffer_unordered(SEARCH_FILES_AT_ONCE);
    let found: Vec<Option<Found>> = files.collect().await;
    let found: Vec<Found> = found.into_iter().flatten().collect();
    let of_keys = found.iter().map(|(agent, addresses)| wanted(*agent, addresses)).collect();
    let standings = ways.standings(of_keys).await?;
    let peers = found.into_iter().zip(standings);
    let peers = peers.filter_map(|((_, addresses), standing)| by_peer(addresses, &standing?));
    let peers: Vec<_> = peers.take(SEARCH_PEERS).collect();
    let dials = stream::iter(peers).map(|addresses| timeout(REACH_WITHIN * 2, dial(ways, addresses)));
    let answered: Vec<_> = dials.buffer_unordered(SEARCH_PEERS).collect().await;
    Ok(answered.iter().filter(|answered| matches!(answered, Ok(true))).count())
}

/// What is asked of an agent: also about the keys of these addresses.
fn wanted(agent: AgentId, addresses: &[MeshAddress]) -> Wanted {
    let mut keys: Vec<_> = addresses.iter().map(MeshAddress::key).collect();
    keys.sort_unstable();
    keys.dedup();
    Wanted { agent, keys, all_keys: false }
}

/// The addresses of a member's file.
async fn read(ways: &impl Ways, member: Member) -> Option<Found> {
    let read = ways.fetch(&member.uri).await.and_then(|file| mesh_addresses(&file));
    match read {
        Ok(addresses) if addresses.is_empty() => None,
        Ok(addresses) => Some((member.agent, addresses)),
        Err(why) => {
            tracing::debug!(agent = %member.agent, why, "a registration file cannot be read");
            None
        }
    }
}

/// Tries the addresses of one peer, one after the other.
async fn dial(ways: &impl Ways, addresses: Vec<MeshAddress>) -> bool {
    for address in &addresses {
        if ways.dial(address).await {
            return true;
        }
    }
    false
}

/// Looks for first peers whenever the node is alone.
#[derive(Debug)]
pub struct FirstPeers {
    agent: AgentId,
    cluster: Arc<Cluster>,
    node: Node,
    searches: AtomicU64,
}

impl FirstPeers {
    /// For the node of this agent.
    pub fn new(agent: AgentId, cluster: Arc<Cluster>, node: Node) -> Self {
        Self { agent, cluster, node, searches: AtomicU64::new(0) }
    }

    /// Searches since the start.
    pub fn searches(&self) -> u64 {
        self.searches.load(Ordering::Relaxed)
    }

    /// Looks until cancelled.
    pub async fn run(self: Arc<Self>, cancel: CancellationToken) {
        let patience = if self.cluster.is_local() { ALONE_AFTER_LOCAL } else { ALONE_AFTER };
        // Nodes that begin at the same time look at others.
        let mut walk = Walk::new(seed());
        let (mut since, mut pause) = (Instant::now(), patience);
        while cancel.run_until_cancelled(sleep(ALONE_EVERY)).await.is_some() {
            match self.node.peers().await {
                Ok(peers) if peers.is_empty() => {}
                Ok(_) => {
                    (since, pause) = (Instant::now(), patience);
                    continue;
                }
                Err(_) => return,
            }
            if since.elapsed() < pause {
                continue;
            }
            self.searches.fetch_add(1, Ordering::Relaxed);
            let found = timeout(SEARCH_WITHIN, search(self.as_ref(), &mut walk, self.agent));
            match cancel.run_until_cancelled(found).await {
                None => return,
                Some(Ok(Ok(answered))) => {
                    tracing::info!(answered, "no peer was connected: looked for some in the registry");
                }
                Some(Ok(Err(error))) => {
                    tracing::warn!(%error, "no peer is connected, and the registry cannot be read");
                }
                Some(Err(_)) => {
                    tracing::warn!("no peer is connected, and those of the registry do not answer")
                }
            }
            (since, pause) = (Instant::now(), pause.saturating_mul(2).min(ALONE_LONGEST));
        }
    }
}

impl Ways for FirstPeers {
    async fn count(&self) -> Result<u64> {
        asked(self.cluster.client().members_count()).await
    }

    async fn members(&self, numbers: Vec<u64>) -> Result<Vec<Member>> {
        asked(self.cluster.client().members(&numbers)).await
    }

    async fn standings(&self, wanted: Vec<Wanted>) -> Result<Vec<Option<Standing>>> {
        let found = asked(self.cluster.client().standings(&wanted)).await?;
        Ok(found.into_iter().map(|(_, standing)| standing).collect())
    }

    fn stands(&self, standing: Option<&Standing>) -> bool {
        self.cluster.is_dev() || self.cluster.live_lease(standing.cloned()).is_some()
    }

    async fn fetch(&self, uri: &str) -> std::result::Result<Vec<u8>, String> {
        hosted::fetch(uri, self.cluster.is_local()).await
    }

    /// On a local cluster at the address itself, otherwise at what it stands for on the public internet.
    async fn dial(&self, address: &MeshAddress) -> bool {
        let Ok(address) = address.as_str().parse::<Multiaddr>() else { return false };
        let addresses = if self.cluster.is_local() {
            vec![address]
        } else {
            timeout(NAME_WITHIN, public(&address)).await.unwrap_or_default()
        };
        for address in addresses {
            match timeout(REACH_WITHIN, self.node.dial(address)).await {
                Ok(Ok(_)) => return true,
                Ok(Err(error)) => tracing::debug!(%error, "an address of the registry does not answer"),
                Err(_) => tracing::debug!("an address of the registry does not answer in time"),
            }
        }
        false
    }
}

/// A call of the cluster, or several, with an end.
async fn asked<T>(call: impl Future<Output = Result<T, ChainError>>) -> Result<T> {
    Ok(timeout(CHAIN_WITHIN * 2, call).await.map_err(|_| Error::Busy)??)
}

/// The addresses of the first peer that has a live peer key; `None` without one.
fn by_peer(addresses: Vec<MeshAddress>, standing: &Standing) -> Option<Vec<MeshAddress>> {
    let is_peer = |address: &&MeshAddress| {
        let mut keys = standing.keys.iter().filter(|key| key.scopes.has(Scopes::PEER));
        keys.any(|key| key.key.to_bytes() == address.key().to_bytes())
            && peer_of_key(&address.key()).is_some()
    };
    let first = addresses.iter().find(is_peer)?.key();
    Some(addresses.into_iter().filter(|address| address.key() == first).collect())
}

/// The address, with the public addresses of its name in place of the name. None where it leads elsewhere.
async fn public(address: &Multiaddr) -> Vec<Multiaddr> {
    let mut parts = address.iter();
    let name = match parts.next() {
        Some(Protocol::Dns(name) | Protocol::Dns4(name) | Protocol::Dns6(name)) => name.into_owned(),
        Some(Protocol::Ip4(ip)) if zx1_net::is_public(ip.into()) => return vec![address.clone()],
        Some(Protocol::Ip6(ip)) if zx1_net::is_public(ip.into()) => return vec![address.clone()],
        _ => return Vec::new(),
    };
    if reach(address) != Some(Reach::Public) {
        return Vec::new();
    }
    let rest: Vec<Protocol<'_>> = parts.collect();
    let found = public_addresses(&name, 0).await.unwrap_or_default();
    let whole = |ip| rest.iter().cloned().fold(Multiaddr::from(ip), Multiaddr::with);
    found.into_iter().take(2).map(|address| whole(address.ip())).collect()
}

/// A number that nobody else chooses, so that nobody can register where this node begins to look.
fn seed() -> u64 {
    let random = keys::random().ok().and_then(|bytes| bytes.first_chunk::<8>().copied());
    random.map_or_else(|| u64::from(std::process::id()), u64::from_le_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use zx1_protocol::ids::WalletKey;
    use zx1_protocol::keys::AgentKey;

    use std::sync::Mutex;

    /// A registry of ten thousand staked agents, and what was asked of it.
    #[derive(Default)]
    struct Crowd {
        calls: AtomicU64,
        members: Mutex<Vec<u64>>,
        files: AtomicU64,
        at_once: AtomicU64,
        most_at_once: AtomicU64,
        dialled: Mutex<Vec<MeshAddress>>,
        /// Whether no file can be fetched.
        is_dark: bool,
    }

    const AGENTS: u64 = 10_000;

    fn agent(number: u64) -> AgentId {
        let mut id = [0; 32];
        id[..8].copy_from_slice(&number.to_le_bytes());
        AgentId(id)
    }

    impl Ways for Crowd {
        async fn count(&self) -> Result<u64> {
            self.calls.fetch_add(1, Ordering::Relaxed);
            Ok(AGENTS)
        }

        async fn members(&self, numbers: Vec<u64>) -> Result<Vec<Member>> {
            self.calls.fetch_add(1, Ordering::Relaxed);
            self.members.lock().unwrap().extend(&numbers);
            let member = |number| Member { agent: agent(number), number, uri: number.to_string() };
            Ok(numbers.into_iter().map(member).collect())
        }

        async fn standings(&self, wanted: Vec<Wanted>) -> Result<Vec<Option<Standing>>> {
            self.calls.fetch_add(1, Ordering::Relaxed);
            let keys = |wanted: &Wanted| {
                // Each has one key of its own, whatever its file says.
                let own = wanted.agent.0[0] | 1;
                wanted
                    .keys
                    .iter()
                    .filter(|key| **key == wallet(own))
                    .map(|_| listed(own, Scopes::PEER))
                    .collect()
            };
            Ok(wanted
                .iter()
                .map(|wanted| Some(Standing { keys: keys(wanted), ..Standing::default() }))
                .collect())
        }

        fn stands(&self, standing: Option<&Standing>) -> bool {
            standing.is_some()
        }

        async fn fetch(&self, uri: &str) -> std::result::Result<Vec<u8>, String> {
            self.files.fetch_add(1, Ordering::Relaxed);
            let now = self.at_once.fetch_add(1, Ordering::Relaxed) + 1;
            self.most_at_once.fetch_max(now, Ordering::Relaxed);
            sleep(std::time::Duration::from_millis(5)).await;
            self.at_once.fetch_sub(1, Ordering::Relaxed);
            if self.is_dark {
                return Err("it hangs".to_owned());
            }
            let own = uri.parse::<u64>().unwrap().to_le_bytes()[0] | 1;
            // Every file names its own peer at one address, and another's at seven.
            let all: Vec<_> = (0..8u16)
                .map(|port| {
                    address(&format!("/ip4/9.9.9.9/tcp/{}", port + 1), if port == 3 { own } else { 2 })
                })
                .collect();
            Ok(zx1_operator::registration::with_mesh_addresses(None, "", &all).unwrap().into_bytes())
        }

        async fn dial(&self, address: &MeshAddress) -> bool {
            self.dialled.lock().unwrap().push(address.clone());
            false
        }
    }

    #[tokio::test]
    async fn one_search_costs_the_same_whoever_registers_how_many_agents() {
        let (crowd, mut walk) = (Crowd::default(), Walk::new(7));
        assert_eq!(search(&crowd, &mut walk, agent(0)).await.unwrap(), 0);
        let of = |count: &AtomicU64| count.load(Ordering::Relaxed);
        assert_eq!(crowd.members.lock().unwrap().len(), SEARCH_MEMBERS);
        assert_eq!((of(&crowd.calls), of(&crowd.files)), (4, SEARCH_FILES as u64));
        assert_eq!(of(&crowd.most_at_once), SEARCH_FILES_AT_ONCE as u64);
        let dialled = crowd.dialled.lock().unwrap().clone();
        assert_eq!(dialled.len(), SEARCH_PEERS);
        assert!(dialled.iter().all(|address| address.key() != wallet(2)), "nobody else's peers: {dialled:?}");
    }

    #[tokio::test]
    async fn the_next_search_looks_at_others() {
        let (crowd, mut walk) = (Crowd { is_dark: true, ..Crowd::default() }, Walk::new(7));
        for _ in 0..3 {
            assert_eq!(search(&crowd, &mut walk, agent(0)).await.unwrap(), 0);
        }
        let mut members = crowd.members.lock().unwrap().clone();
        members.sort_unstable();
        members.dedup();
        assert_eq!(members.len(), 3 * SEARCH_MEMBERS);
        assert!(crowd.dialled.lock().unwrap().is_empty());
    }

    fn wallet(byte: u8) -> WalletKey {
        ed25519_dalek::SigningKey::from_bytes(&[byte; 32]).verifying_key().to_bytes().into()
    }

    fn address(place: &str, byte: u8) -> MeshAddress {
        MeshAddress::of(place, &wallet(byte)).unwrap()
    }

    fn listed(byte: u8, scopes: Scopes) -> AgentKey {
        AgentKey { scopes, ..crate::judge::of_any_scope(&wallet(byte)).unwrap() }
    }

    #[test]
    fn an_address_counts_only_under_a_live_peer_key_of_its_agent() {
        let all = || {
            vec![
                address("/ip4/9.9.9.9/tcp/1", 1),
                address("/ip4/9.9.9.9/tcp/2", 2),
                address("/ip4/9.9.9.9/tcp/3", 2),
            ]
        };
        let of = |keys: Vec<AgentKey>| by_peer(all(), &Standing { keys, ..Standing::default() });
        assert_eq!(of(vec![]), None, "another agent's peer");
        assert_eq!(of(vec![listed(1, Scopes::DEAL), listed(3, Scopes::PEER)]), None);
        let found = of(vec![listed(1, Scopes::DEAL), listed(2, Scopes::PEER)]).unwrap();
        assert_eq!(found, all()[1..]);
        assert_eq!(of(vec![listed(1, Scopes::ALL), listed(2, Scopes::ALL)]).unwrap(), all()[..1]);
    }

    #[tokio::test]
    async fn beyond_a_local_cluster_only_the_public_internet_is_dialled() {
        let of = |place: &str| address(place, 1).as_str().parse::<Multiaddr>().unwrap();
        for place in ["/ip4/9.9.9.9/tcp/1", "/ip6/2606:4700::1111/udp/1/quic-v1"] {
            assert_eq!(public(&of(place)).await, [of(place)]);
        }
        for place in [
            "/ip4/127.0.0.1/tcp/1",
            "/ip4/10.0.0.1/tcp/1",
            "/ip4/169.254.169.254/tcp/80",
            "/ip4/100.64.0.1/tcp/1",
            "/ip6/::1/tcp/1",
            "/ip6/::ffff:127.0.0.1/tcp/1",
            "/ip6/fd00::1/tcp/1",
            "/dns4/localhost/tcp/1",
            "/dns/a.localhost/tcp/1",
            "/dnsaddr/a.example/tcp/1",
        ] {
            assert_eq!(public(&of(place)).await, Vec::<Multiaddr>::new(), "{place}");
        }
    }
}
