//! The market's HTTP client: for principals, agents and judges (fix.md, "API"; decisions E1, E2, E8,
//! E14).
//!
//! - Every request is signed; the server's key is pinned; nothing is signed for a server that has another key
//!   than before.
//! - Every entry is signed over a chain that was verified here, from the first entry to the last. The saved
//!   transcript must be its beginning.
//! - What was sent and got no answer is looked up in the chain and never sent twice as something else: the
//!   same entry cannot be chained twice, because it names its place.
//! - When the chain has moved on, the entry is signed anew only if what came in between changes nothing of
//!   what the signer meant ([`act`]).
//!
//! # Example
//!
#![doc = concat!("```no_run\n", include_str!("../examples/post.rs"), "```")]

pub mod act;
mod bill;
mod deposit;
mod error;
mod link;
mod pin;
mod short;
mod stream;
mod transcripts;
mod view;

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep};
use zx1_coded::Coded;
use zx1_market::chain::Head;
use zx1_market::money::Court;
use zx1_market::wire::{
    ChainHeadAnswer, ContractView, DisputeStatus, EscrowAnswer, ListAnswer, PlatformInfo, ReputationAnswer,
    ReviewStatus, RulingAnswer, Seconds, ServerKeyAnswer, Stats, VerifyChainAnswer,
};
use zx1_market::{ContractId, Millis, PartyId, PartyKey, State, Terms};

pub use self::act::{Acted, Bonded};
pub use self::bill::Bill;
pub use self::deposit::{Deposit, Posted, Purse, WalletPurse};
pub use self::error::{ClientError, Refused, Result};
pub use self::link::Clock;
pub use self::pin::Pin;
pub use self::short::{Act, Price};
pub use self::stream::{Sighting, Watch, WatchOptions};
pub use self::transcripts::Transcripts;
pub use self::view::View;
use link::Link;

/// Options of the connection to a market server.
#[derive(Debug, Clone)]
pub struct Options {
    /// Where transcripts are kept. Nowhere: nothing is compared with what was seen before.
    pub transcripts: Option<Arc<Transcripts>>,
    /// Time for one exchange.
    pub timeout: Duration,
    /// Time to open a connection.
    pub connect_timeout: Duration,
    /// Longest answer in bytes.
    pub max_body: usize,
    /// How often a read is asked for, and an entry is sent, when the network or the server fails.
    pub attempts: u32,
    /// First pause before another attempt; it doubles.
    pub pause: Duration,
    /// How often a contract is looked at while something is waited for.
    pub poll: Duration,
    /// The clock that gives signatures their time.
    pub clock: Clock,
    /// Whether the proxies of the environment are used. Never for this machine itself.
    pub proxies: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            transcripts: None,
            timeout: Duration::from_secs(20),
            connect_timeout: Duration::from_secs(10),
            // A full chain of the longest entries, and its input files.
            max_body: 64 << 20,
            attempts: 4,
            pause: Duration::from_millis(250),
            poll: Duration::from_millis(500),
            clock: Clock::default(),
            proxies: true,
        }
    }
}

struct Inner {
    link: Link,
    key: Arc<PartyKey>,
    server: PartyId,
}

/// A connection of one party to one server. Clones share it.
#[derive(Clone)]
pub struct Market {
    inner: Arc<Inner>,
}

impl std::fmt::Debug for Market {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Market").field("url", &self.url()).field("party", &self.id()).finish_non_exhaustive()
    }
}

/// Filter for a list of contracts.
#[derive(Debug, Clone, Copy, Default)]
pub struct ListFilter {
    /// Only in this state.
    pub status: Option<State>,
    /// Maximum number to list; the server has its own limit (200).
    pub limit: Option<u32>,
    /// Only those of this key.
    pub mine: bool,
}

/// Something that a judge has to do.
#[derive(Debug, Clone, PartialEq, serde::Deserialize)]
pub struct Task {
    /// In which contract.
    pub contract_id: ContractId,
    /// The court that the judge acts for.
    pub court: Court,
    /// Whether the re-execution's result is chained; if not, it comes first.
    pub reexecuted: bool,
    /// Until when the ruling must be chained.
    pub deadline: Seconds,
    /// The head that is signed over.
    pub chain_head: String,
    /// Sequence number of the next entry.
    pub seq: u64,
}

#[derive(serde::Deserialize)]
struct Tasks {
    tasks: Vec<Task>,
}

impl Market {
    /// Connect: ask for the server's key and compare it with the pinned one. Nothing is signed before.
    pub async fn connect(url: &str, key: Arc<PartyKey>, pin: Pin, options: Options) -> Result<Market> {
        let link = Link::new(url, options)?;
        let bytes = link.get("/server_pubkey", None).await?;
        let answer: ServerKeyAnswer = link::read("GET /server_pubkey", &bytes)?;
        if answer.pubkey != answer.fix_id.hex() {
            return Err(link::unreadable("GET /server_pubkey", "it names two keys"));
        }
        pin.check(link.base(), answer.fix_id)?;
        link.signs_for(answer.fix_id);
        Ok(Market { inner: Arc::new(Inner { link, key, server: answer.fix_id }) })
    }

    /// The party whose key signs.
    pub fn id(&self) -> PartyId {
        self.inner.key.id()
    }

    /// The party's key.
    pub fn key(&self) -> &PartyKey {
        &self.inner.key
    }

    /// The server's key.
    pub fn server(&self) -> PartyId {
        self.inner.server
    }

    /// The server's address.
    pub fn url(&self) -> &str {
        self.inner.link.base()
    }

    /// The options of this connection.
    pub fn options(&self) -> &Options {
        &self.inner.link.options
    }

    /// The time that signatures carry.
    pub async fn now(&self) -> Result<Millis> {
        self.inner.link.now().await
    }

    async fn read<T: serde::de::DeserializeOwned>(&self, path: &str) -> Result<T> {
        let bytes = self.inner.link.get(path, Some(&self.inner.key)).await?;
        link::read(&format!("GET {path}"), &bytes)
    }

    /// GET /platform_info. The key in it must be the pinned one.
    pub async fn platform_info(&self) -> Result<PlatformInfo> {
        let info: PlatformInfo = self.read("/platform_info").await?;
        let named = info.server_pubkey.as_deref().map(|key| key.trim_start_matches("fix_"));
        if named.is_some_and(|key| key != self.server().hex()) {
            let found = named.unwrap_or_default().to_owned();
            return Err(ClientError::Other { expected: self.server().to_string(), found });
        }
        Ok(info)
    }

    /// The terms that the server advertises now, checked.
    pub async fn terms(&self) -> Result<Terms> {
        self.platform_info().await?.terms().map_err(ClientError::Rules)
    }

    /// Lists contracts: GET /contracts
    pub async fn list(&self, filter: ListFilter) -> Result<Vec<ContractView>> {
        let mut query = Vec::new();
        query.extend(filter.status.map(|state| format!("status={state}")));
        query.extend(filter.limit.map(|limit| format!("limit={limit}")));
        query.extend(filter.mine.then(|| "mine=1".to_owned()));
        let query = if query.is_empty() { String::new() } else { format!("?{}", query.join("&")) };
        Ok(self.read::<ListAnswer>(&format!("/contracts{query}")).await?.contracts)
    }

    /// GET /contracts/{id}, verified from the first entry to the last, compared with what was saved, and
    /// saved.
    pub async fn view(&self, id: ContractId) -> Result<View> {
        let (server, me) = (self.server(), self.id());
        let transcripts = self.options().transcripts.clone();
        // What was seen before the question must be in its answer. What another task has seen meanwhile need not.
        let seen = match &transcripts {
            Some(kept) => kept.load(&server, id)?.map_or(0, |saved| saved.entries.len()),
            None => 0,
        };
        let bytes = self.inner.link.get(&format!("/contracts/{id}"), Some(&self.inner.key)).await?;
        // Signatures and files: not on the thread that serves everybody.
        let work = move || {
            let view = View::read(&bytes, id, server, me)?;
            if let Some(transcripts) = transcripts {
                keep(&transcripts, &server, &view, seen)?;
            }
            Ok(view)
        };
        let joined = tokio::task::spawn_blocking(work).await;
        joined.unwrap_or_else(|e| Err(link::unreadable("GET /contracts/{id}", &e.to_string())))
    }

    /// Look again: a new view when the chain has moved on, or when not all of it was shown.
    pub async fn refresh(&self, view: &View) -> Result<Option<View>> {
        if view.is_whole() && self.chain_head(view.id()).await? == view.head() {
            return Ok(None);
        }
        self.view(view.id()).await.map(Some)
    }

    /// Look at a contract until it is as wanted. Fails with 9383 when that takes too long; failures of the
    /// network on the way are waited out.
    pub async fn wait(
        &self,
        id: ContractId,
        what: &str,
        limit: Duration,
        wanted: impl Fn(&View) -> bool,
    ) -> Result<View> {
        let deadline = Instant::now() + limit;
        let mut view: Option<View> = None;
        loop {
            let next = match &view {
                Some(view) => self.refresh(view).await,
                None => self.view(id).await.map(Some),
            };
            match next {
                Ok(Some(new)) if wanted(&new) => return Ok(new),
                Ok(Some(new)) => view = Some(new),
                Ok(None) => {}
                Err(error) if error.transient() => tracing::debug!(%error, "waiting for a contract"),
                Err(error) => return Err(error),
            }
            if Instant::now() >= deadline {
                return Err(ClientError::NotInTime { what: what.to_owned(), after: limit });
            }
            sleep(self.options().poll).await;
        }
    }

    /// The transcript's head: GET chain_head
    pub async fn chain_head(&self, id: ContractId) -> Result<Head> {
        let answer: ChainHeadAnswer = self.read(&format!("/contracts/{id}/chain_head")).await?;
        let mut hash = [0; 32];
        hex::decode_to_slice(&answer.chain_head, &mut hash)
            .map_err(|e| link::unreadable("GET chain_head", &e.to_string()))?;
        Ok(Head { seq: answer.seq, hash })
    }

    /// GET verify_chain: what the server says. [`Market::view`] checks it here.
    pub async fn verify_chain(&self, id: ContractId) -> Result<VerifyChainAnswer> {
        self.read(&format!("/contracts/{id}/verify_chain")).await
    }

    /// GET escrow: deposits and payments.
    pub async fn escrow(&self, id: ContractId) -> Result<EscrowAnswer> {
        self.read(&format!("/contracts/{id}/escrow")).await
    }

    /// The dispute's status: GET dispute_status
    pub async fn dispute_status(&self, id: ContractId) -> Result<DisputeStatus> {
        self.read(&format!("/contracts/{id}/dispute_status")).await
    }

    /// The review's status: GET review_status
    pub async fn review_status(&self, id: ContractId) -> Result<ReviewStatus> {
        self.read(&format!("/contracts/{id}/review_status")).await
    }

    /// GET ruling: the last one, if there is one.
    pub async fn ruling(&self, id: ContractId) -> Result<Option<RulingAnswer>> {
        self.read(&format!("/contracts/{id}/ruling")).await
    }

    /// Statistics of the server: GET /stats
    pub async fn stats(&self) -> Result<Stats> {
        self.read("/stats").await
    }

    /// Where to look a party up: GET /reputation/{key}
    pub async fn reputation(&self, party: &PartyId) -> Result<ReputationAnswer> {
        self.read(&format!("/reputation/{}", party.hex())).await
    }

    /// GET /judge/tasks: for judges.
    pub async fn judge_tasks(&self) -> Result<Vec<Task>> {
        Ok(self.read::<Tasks>("/judge/tasks").await?.tasks)
    }

    /// Contracts as they are found. The work is done by a task of its own, which ends with the [`Watch`].
    pub fn watch(&self, options: WatchOptions) -> Watch {
        Watch::start(self.clone(), options)
    }
}

/// Compare with what was saved, then save. A whole chain that is shorter than the saved one was cut.
fn keep(transcripts: &Transcripts, server: &PartyId, view: &View, seen: usize) -> Result<()> {
    let id = view.id();
    transcripts.save(server, id, view.transcript())?;
    let now = view.entries().len();
    if view.is_whole() && seen > now {
        let seq = u64::try_from(now).unwrap_or(u64::MAX);
        return Err(ClientError::Rewritten { id, seq, file: transcripts.path(server, id) });
    }
    Ok(())
}
