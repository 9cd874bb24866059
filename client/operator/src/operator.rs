//! What operations work with: a cluster, a home folder, a front end, a wallet, an agent.

use crate::error::{Refusal, Result};
use solana_address::Address;
use solana_commitment_config::CommitmentConfig;
use solana_keypair::Keypair;
use solana_signer::Signer as _;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use zx1_chain::rpc::actions::Actions;
use zx1_chain::rpc::registry::Sati;
use zx1_chain::rpc::{ChainError, Client, ClientOptions, Identity, Progress, Summary};
use zx1_home::{Clock as _, SystemClock};
use zx1_log::{AnyStore, LogHandle, LogReader, Torn};
use zx1_protocol::ids::AgentId;
use zx1_protocol::units::{Epoch, Slot};

/// How long an operation waits for another process that has the log.
pub const LOCK_PATIENCE: Duration = Duration::from_secs(10);
const MICROS: u64 = 1_000_000;

/// A cluster that has answered.
#[derive(Clone)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Chain {
    pub client: Client,
    /// The cluster, identified by its genesis hash.
    pub identity: Identity,
}

/// An agent, and the name that people here know it by.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Agent {
    pub name: Option<String>,
    /// The SATI mint: its id.
    pub mint: AgentId,
}

impl Agent {
    /// "alice (mint)" or the mint.
    pub fn shown(&self) -> String {
        self.name.as_ref().map_or_else(|| self.mint.to_string(), |name| format!("{name} ({})", self.mint))
    }
}

/// A key that signs and pays.
pub struct Wallet {
    address: Address,
    keypair: Keypair,
}

impl fmt::Debug for Wallet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Wallet").field("address", &self.address).finish_non_exhaustive()
    }
}

impl Wallet {
    /// The wallet of a key.
    pub fn new(keypair: Keypair) -> Self {
        Self { address: keypair.pubkey(), keypair }
    }

    /// An address whose key is elsewhere, for transactions that are made here and signed there. The key in
    /// hand is one of no wallet, so it signs nothing.
    pub fn elsewhere(address: Address) -> Self {
        Self { address, keypair: Keypair::new() }
    }

    /// The public key.
    pub fn address(&self) -> Address {
        self.address
    }

    /// The key pair that signs for the wallet.
    pub fn keypair(&self) -> &Keypair {
        &self.keypair
    }

    /// An Ed25519 signature.
    pub fn sign(&self, message: &[u8]) -> [u8; 64] {
        self.keypair.sign_message(message).into()
    }
}

/// Progress of an operation.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// A transaction is being prepared.
    Preparing,
    /// A transaction on its way.
    Transaction(&'a Progress),
    /// A batch is being built from the log.
    Building(Epoch),
    /// Bytes of a batch's data that are being uploaded.
    Uploading(usize),
    /// What began last has ended.
    Idle,
    /// The end of a log file, which a crash had left unfinished, was cut off. Nothing of it had been
    /// acknowledged.
    Torn(&'a Torn),
}

/// A user interface, or a policy in its place.
pub trait Front: Send + Sync {
    /// Called with each step of an operation, to show progress.
    fn event(&self, event: Event<'_>);

    /// Whether this transaction may be sent. It is simulated: the summary says what it moves.
    fn approve(&self, summary: &Summary) -> bool;
}

/// Whether transactions are sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Sent, once the front end approves.
    #[default]
    Send,
    /// Simulated on the cluster, and not sent.
    Simulate,
    /// Signed only, with a fresh blockhash or the given one.
    Sign {
        /// The blockhash to sign with; `None` fetches a fresh one.
        blockhash: Option<[u8; 32]>,
    },
}

/// Options for making transactions.
#[derive(Clone, Debug, Default)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Options {
    /// Micro-lamports for each compute unit; without one what recent transactions paid.
    pub unit_price: Option<u64>,
    pub mode: Mode,
}

/// One cluster, one home folder, one front end. The operations are methods in the modules of this crate.
#[derive(Clone)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Operator {
    pub chain: Chain,
    pub(crate) home: PathBuf,
    pub(crate) options: Options,
    pub(crate) front: Arc<dyn Front>,
    /// A node that another party runs, asked before a batch is signed.
    second: Option<Client>,
}

impl Operator {
    /// `home` holds the agents' folders and the outbox.
    pub fn new(chain: Chain, home: impl Into<PathBuf>, options: Options, front: Arc<dyn Front>) -> Self {
        Self { chain, home: home.into(), options, front, second: None }
    }

    /// The same with a second node of the same cluster: a batch is signed only where both agree about what it
    /// follows (decision P2).
    ///
    /// # Errors
    /// The node's; 7003 when it is one of another cluster.
    pub async fn with_second(mut self, node: Client) -> Result<Self> {
        let (found, expected) = (node.identity().await?.genesis, self.chain.identity.genesis.clone());
        if found != expected {
            return Err(
                ChainError::WrongCluster { url: node.cluster().url().to_owned(), expected, found }.into()
            );
        }
        self.second = Some(node);
        Ok(self)
    }

    /// The nodes whose finalized state is asked for what must not be taken back.
    pub(crate) fn witnesses(&self) -> Vec<Client> {
        let finalized = |client: &Client| {
            let commitment = CommitmentConfig::finalized();
            Client::new(client.cluster().clone(), ClientOptions { commitment, ..ClientOptions::default() })
        };
        std::iter::once(&self.chain.client).chain(&self.second).map(finalized).collect()
    }

    /// What builds transactions for this cluster.
    pub(crate) async fn actions<'a>(&'a self, sati: &'a Sati) -> Result<Actions<'a>> {
        Ok(Actions::new(self.client(), sati).await?)
    }

    pub(crate) fn client(&self) -> &Client {
        &self.chain.client
    }

    /// Tells the front end that something begins; when the guard is dropped, that it ended.
    pub(crate) fn stage(&self, event: Event<'_>) -> Stage {
        self.front.event(event);
        Stage(self.front.clone())
    }

    /// The agent's log, for writing.
    pub fn open_log(&self, agent: &Agent) -> Result<LogHandle> {
        let folder = agent_folder(&self.home, agent);
        let log = LogHandle::open(folder, agent.mint, LOCK_PATIENCE)?;
        log.recovery().torn.iter().for_each(|torn| self.front.event(Event::Torn(torn)));
        Ok(log)
    }

    /// The agent's log, for reading.
    pub fn log_reader(&self, agent: &Agent) -> LogReader {
        log_reader(&self.home, agent)
    }

    /// The present slot and time by the chain's clock.
    pub async fn now(&self) -> Result<Now> {
        Now::ask(&self.chain).await
    }
}

pub(crate) struct Stage(Arc<dyn Front>);

impl Drop for Stage {
    fn drop(&mut self) {
        self.0.event(Event::Idle);
    }
}

/// The folder of an agent's log, nonces and batches.
pub fn agent_folder(home: &Path, agent: &Agent) -> PathBuf {
    zx1_log::agent_dir(home, &agent.mint)
}

/// An agent's log, for reading.
pub fn log_reader(home: &Path, agent: &Agent) -> LogReader {
    LogReader::new(agent_folder(home, agent), agent.mint)
}

/// A place that serves batch data: a folder or an http(s) address.
///
/// # Errors
/// 7530 for a file: it would look like data that is not served.
pub fn place(location: &str) -> Result<AnyStore> {
    let store = AnyStore::parse(location)?;
    if matches!(store, AnyStore::Folder(_)) && Path::new(location.trim_start_matches("file://")).is_file() {
        return Err(Refusal::NotAFolder { path: location.to_owned() }.into());
    }
    Ok(store)
}

/// Now, as a log counts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Now {
    pub slot: Slot,
    /// Unix microseconds: this machine's clock on the public clusters, the chain's on local ones, whose time
    /// can be moved (decision C6).
    pub micros: u64,
    /// The chain's epoch, which the programs go by (decision B1).
    pub epoch: Epoch,
}

impl Now {
    /// Asks the chain.
    pub async fn ask(chain: &Chain) -> Result<Self> {
        let time = chain.client.time().await?;
        let seconds = u64::try_from(time.unix).unwrap_or(0);
        let on_chain = seconds.saturating_mul(MICROS);
        let micros = if chain.identity.public.is_some() { SystemClock.unix_micros() } else { on_chain };
        Ok(Self { slot: Slot(time.slot), micros, epoch: Epoch(time.epoch) })
    }
}
