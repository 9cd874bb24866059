//! The market's side of the escrow: accounts for deposits, decided payouts, statements. Everything about
//! money on the ledger is in [`nano_escrow`]; here is only which account belongs to whom (decision F1).

use std::collections::HashSet;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use futures_util::future::BoxFuture;
#[cfg(feature = "devnet")]
use nano_devnet::Devnet;
use nano_escrow::escrow::{
    AccountKey, AccountLegs, AccountView, Escrow, EscrowError, Keys as _, Leg, NonceSecret, Offer, Options,
    Parts, Settlement, Statement, Terms,
};
use nano_escrow::journal::{CrashPoints, Journal};
use nano_escrow::node::{Behind, HttpNode, NodeApi, NodeCalls, NodeError, Sight, WatchOptions};
use nano_escrow::work::{Solver, WorkPeers, WorkService};
use nano_escrow::{Address, Network, Raw, Seed};
use tokio_util::sync::CancellationToken;
use zx1_coded::Coded;
use zx1_market::case::Settle;
use zx1_market::chain::Side;
use zx1_market::{Entry, PartyId};

use crate::embedded::Embedded;
use crate::error::{Error, Result};
use crate::metrics::Metrics;
use crate::store::{Commit, DepositRow, OrphanRow, Store, StoreError};

/// The Nano ledger that an escrow works on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ledger {
    /// The embedded ledger, in the server's folder (decision F6).
    Embedded,
    /// The ledger behind a Nano node.
    Node {
        /// URL of the node's RPC.
        rpc: String,
        /// URL of the node's websocket, if it serves one.
        ws: Option<String>,
        /// The network that the node must be on.
        network: Network,
    },
}

/// What the escrow may spend on its own.
#[derive(Debug, Clone)]
pub struct Budget {
    /// On the embedded ledger: deposit for both sides.
    pub auto_fund: bool,
    /// Threads for proof of work; 0: all but what the system needs.
    pub work_threads: usize,
    /// RPC URLs of those who compute proof of work.
    pub work_peers: Vec<String>,
    /// Time that one of them may take.
    pub work_peer_timeout: Duration,
    /// Maximum number of refunds in an hour without an operator's order.
    pub refunds_per_hour: u32,
    /// Least amount, in raw, that is sent back without one.
    pub refund_min: Raw,
}

/// What [`Desk::open`] needs.
pub struct DeskOptions<'a> {
    /// Keeps the journal (`escrow.db`) and the embedded ledger (`devnet/`).
    pub folder: &'a Path,
    /// The ledger to work on.
    pub ledger: &'a Ledger,
    /// The server's key.
    pub server: PartyId,
    /// The escrow's seed.
    pub seed: Seed,
    /// Secrets that nonces are derived from: the present one first, then former ones.
    pub secrets: Vec<NonceSecret>,
    /// The representative of the escrow's accounts.
    pub representative: Option<Address>,
    /// Proof of work and refunds.
    pub budget: Budget,
    /// Where a test lets the process die.
    pub points: CrashPoints,
}

/// What the nonce of an account is derived from (decision F7): the ledger, the server, the whole hash of the post
/// entry, the role, the depositor and the round. So seed, secret and transcripts restore every account.
pub fn origin(
    network: Network,
    server: &PartyId,
    post: &[u8; 32],
    side: Side,
    depositor: &PartyId,
    round: u32,
) -> Vec<u8> {
    let role = match side {
        Side::Principal => 0,
        Side::Agent => 1,
    };
    [
        b"fix/escrow-nonce/v2".as_slice(),
        &network.genesis().0,
        server.as_bytes(),
        post,
        &[role],
        depositor.as_bytes(),
        &round.to_be_bytes(),
    ]
    .concat()
}

/// The escrow of a server.
#[derive(Clone)]
pub struct Desk {
    escrow: Escrow,
    work: WorkService,
    embedded: Option<Embedded>,
    websocket: Option<String>,
    auto_fund: bool,
    network: Network,
    server: PartyId,
    /// Open accounts that the database knows.
    known: Arc<Mutex<HashSet<Address>>>,
}

impl Desk {
    /// Open the journal and the ledger, and continue what an earlier process has decided.
    pub async fn open(options: DeskOptions<'_>) -> Result<Desk> {
        let DeskOptions { folder, ledger, server, seed, secrets, representative, budget, points } = options;
        if secrets.iter().any(|secret| secret.id() == NonceSecret::from_bytes(*seed.expose()).id()) {
            let text = "The nonce secret is the escrow's seed; two secrets must be two. Give another one.";
            return Err(Error::Config(text.to_owned()));
        }
        let (network, node, embedded, websocket): (_, Arc<dyn NodeApi>, _, _) = match ledger {
            Ledger::Embedded => {
                let embedded = Embedded::start(folder.join("devnet")).await?;
                let ws = Some(embedded.ws_url());
                (Network::Dev, embedded.node(), Some(embedded), ws)
            }
            Ledger::Node { rpc, ws, network } => {
                let node = HttpNode::new(rpc, Default::default()).map_err(EscrowError::from)?;
                (*network, Arc::new(node), None, ws.clone())
            }
        };
        let path = folder.join("escrow.db");
        let journal = Journal::open_with(&path, network, &seed.fingerprint(), points)
            .await
            .map_err(EscrowError::from)?;
        let solver = match std::num::NonZeroUsize::new(budget.work_threads) {
            Some(threads) => Solver::default().with_threads(threads),
            None => Solver::default(),
        };
        let mut peers: Vec<(String, Arc<dyn NodeApi>)> = Vec::new();
        for peer in &budget.work_peers {
            let node = HttpNode::new(peer, Default::default()).map_err(EscrowError::from)?;
            peers.push((peer.clone(), Arc::new(node)));
        }
        let peers = WorkPeers::new(peers, budget.work_peer_timeout);
        let work = WorkService::new(journal.work_cache(), peers, Some(solver));
        let representative = representative.unwrap_or_else(|| Address::from(Network::DEV_GENESIS_ACCOUNT));
        let mut options = Options::new(network, representative);
        options.refunds_per_hour = budget.refunds_per_hour;
        options.refund_min = budget.refund_min;
        if embedded.is_some() {
            options.poll = Duration::from_millis(200);
        }
        let mut parts = Parts::new(journal, node, work.clone(), Arc::new(seed), options);
        parts.secrets = secrets;
        let escrow = Escrow::new(parts);
        escrow.check_secrets().await?;
        match escrow.recover().await {
            Ok(_) => {}
            // A node that is away takes nothing down: what it must be asked is asked when it is back.
            Err(error @ EscrowError::Node(_)) if embedded.is_none() && error.transient() => {
                tracing::error!(code = error.code(), %error, "the ledger does not answer; paid contracts are held");
            }
            Err(error) => return Err(error.into()),
        }
        let auto_fund = budget.auto_fund;
        let known = Arc::default();
        Ok(Desk { escrow, work, embedded, websocket, auto_fund, network, server, known })
    }

    /// Serve the escrow until cancelled.
    pub async fn run(&self, cancel: CancellationToken) -> Result<()> {
        let watch = WatchOptions { websocket: self.websocket.clone(), ..WatchOptions::default() };
        self.escrow.recover().await?;
        Ok(self.escrow.run(cancel, watch).await?)
    }

    /// End what computes beside it, and close the journal. Its file is free when the last clone is gone.
    pub async fn close(&self) {
        self.work.shutdown().await;
        self.escrow.journal().clone().close().await;
    }

    /// The escrow itself.
    pub fn escrow(&self) -> &Escrow {
        &self.escrow
    }

    /// The embedded ledger, if it is that.
    pub(crate) fn embedded(&self) -> Option<&Embedded> {
        self.embedded.as_ref()
    }

    /// The embedded ledger, if it is that.
    #[cfg(feature = "devnet")]
    pub fn devnet(&self) -> Option<&Arc<Devnet>> {
        self.embedded.as_ref().map(Embedded::devnet)
    }

    /// Whether it deposits for both sides by itself.
    pub fn auto_fund(&self) -> bool {
        self.auto_fund && self.embedded.is_some()
    }

    /// The offer of a deposit's account; `None` when its nonce was random.
    fn offered(&self, row: &DepositRow) -> Result<Option<Offer>> {
        let corrupt = |what: &str| StoreError::Corrupt(format!("a deposit's {what}"));
        let mut post = [0; 32];
        if row.post.is_empty() {
            return Ok(None);
        }
        hex::decode_to_slice(&row.post, &mut post).map_err(|_| corrupt("post"))?;
        let party: PartyId = row.party.parse()?;
        let side = Side::from_word(&row.side).ok_or_else(|| corrupt("side"))?;
        let round = u32::try_from(row.round).map_err(|_| corrupt("round"))?;
        let amount = Raw(row.amount.parse().map_err(|_| corrupt("amount"))?);
        Ok(Some(Offer {
            key: AccountKey::new(&row.contract_id, &row.party, round),
            terms: Terms { expected: Some(amount), payer: None },
            origin: origin(self.network, &self.server, &post, side, &party, round),
            address: row.address.parse().map_err(|_| corrupt("address"))?,
        }))
    }

    /// The address for a deposit; the same one each time. The journal knows nothing of it until something arrives.
    pub async fn offer(&self, row: &DepositRow) -> Result<Address> {
        let unknown = row.address.is_empty();
        // Any address will do where none was handed out.
        let asked = DepositRow {
            address: if unknown {
                Address::from(Network::DEV_GENESIS_ACCOUNT).to_string()
            } else {
                row.address.clone()
            },
            ..row.clone()
        };
        let Some(offer) = self.offered(&asked)? else {
            let round = u32::try_from(row.round).unwrap_or(u32::MAX);
            return Ok(self
                .escrow
                .account(&AccountKey::new(&row.contract_id, &row.party, round))
                .await?
                .address);
        };
        let wanted = (!unknown).then_some(offer.address);
        Ok(self.escrow.offer(&offer.key, offer.terms, &offer.origin, wanted).await?)
    }

    /// Looks whether deposits that have lapsed were paid all the same; what was goes back. With `least`, at an
    /// operator's order.
    pub async fn look_late(&self, rows: &[DepositRow], least: Option<Raw>) -> Result<usize> {
        let mut offers = Vec::with_capacity(rows.len());
        for row in rows {
            offers.extend(self.offered(row)?);
        }
        Ok(match least {
            None => self.escrow.look_late(&offers).await?,
            Some(least) => self.escrow.sweep_late(&offers, least).await?,
        })
    }

    /// Writes the account of a deposit into a journal that does not know it. Answers whether it was missing.
    pub async fn restore(&self, row: &DepositRow) -> Result<bool> {
        let round = u32::try_from(row.round).unwrap_or(u32::MAX);
        match self.escrow.account(&AccountKey::new(&row.contract_id, &row.party, round)).await {
            Ok(_) => Ok(false),
            Err(EscrowError::NoAccount(name)) => {
                let offer = self.offered(row)?.ok_or(EscrowError::NoAccount(name))?;
                self.escrow.restore_offer(&offer).await?;
                Ok(true)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Looks for accounts that hold money for a contract, depositor or round which the database does not know: it was
    /// restored from before them. Each is an alarm (8667) and a row for the operator.
    pub async fn find_orphans(&self, store: &dyn Store) -> Result<Vec<AccountView>> {
        let open = self.escrow.open_accounts().await?;
        let unknown: Vec<_> = {
            let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            let addresses: HashSet<Address> = open.iter().map(|(_, address)| *address).collect();
            known.retain(|address| addresses.contains(address));
            open.into_iter().filter(|(_, address)| !known.contains(address)).collect()
        };
        let mut orphans = Vec::new();
        for (key, address) in unknown {
            if self.is_known(store, &key, address).await? {
                self.known.lock().unwrap_or_else(PoisonError::into_inner).insert(address);
                continue;
            }
            let view = self.escrow.account(&key).await?;
            if !view.closed && view.received() > Raw::ZERO {
                orphans.push(view);
            }
        }
        self.escrow.raise_orphans(&orphans).await?;
        let mut rows: Vec<OrphanRow> = orphans
            .iter()
            .map(|view| OrphanRow {
                account: view.address.to_string(),
                contract_id: view.key.contract.clone(),
                party: view.key.depositor.clone(),
                round: i64::from(view.key.round),
                amount: view.received().to_string(),
            })
            .collect();
        rows.sort_by(|a, b| a.account.cmp(&b.account));
        if store.orphans().await? != rows {
            store.set_orphans(rows).await?;
        }
        Ok(orphans)
    }

    /// Whether the database knows an account. A deposit that only a transcript shows, which was imported, is noted.
    async fn is_known(&self, store: &dyn Store, key: &AccountKey, address: Address) -> Result<bool> {
        let round = i64::from(key.round);
        let is_it = |row: &DepositRow| row.party == key.depositor && row.round == round;
        if store.deposits(&key.contract).await?.iter().any(is_it) {
            return Ok(true);
        }
        let mut entries = Vec::new();
        for row in store.entries(&key.contract).await? {
            entries.push(Entry::parse(row.body.as_bytes())?);
        }
        let address = address.to_string();
        let shown = crate::shown::deposits(&entries)?.into_iter();
        let deposits: Vec<_> = shown.filter(|row| is_it(row) && row.address == address).collect();
        if deposits.is_empty() {
            return Ok(false);
        }
        store.commit(Commit { deposits, ..Commit::default() }).await?;
        Ok(true)
    }

    /// At an operator's order: closes a contract's accounts that the database does not know, so that what is in them goes
    /// back to its sources.
    pub async fn close_orphans(&self, store: &dyn Store, contract: &str) -> Result<()> {
        for view in self.find_orphans(store).await? {
            if view.key.contract == contract {
                self.escrow.expire(&view.key).await?;
            }
        }
        Ok(())
    }

    /// How a deposit's account stands. Asks the embedded ledger at once; a distant node is followed by
    /// [`run`](Self::run).
    pub async fn look(&self, contract: &str, party: &str, round: u32) -> Result<AccountView> {
        let view = self.escrow.account(&AccountKey::new(contract, party, round)).await?;
        if self.embedded.is_some() && !view.funded {
            return Ok(self.escrow.watch(view.address).await?);
        }
        Ok(view)
    }

    /// Pay out. Durable when it returns; the same again answers the same (decision F3).
    pub async fn settle(&self, contract: &str, settle: &Settle) -> Result<()> {
        let accounts = settle
            .accounts
            .iter()
            .map(|account| {
                let legs = account.legs.iter().map(|leg| Leg::new(leg.address, leg.amount)).collect();
                AccountLegs::exact(account.account, legs)
            })
            .collect();
        let kind = settle.settlement.kind().to_owned();
        let settlement = Settlement { contract: contract.to_owned(), kind, round: settle.round, accounts };
        self.escrow.settle(&settlement).await?;
        Ok(())
    }

    /// Close an account whose deposit came too late or not at all; what is in it goes back.
    pub async fn expire(&self, contract: &str, party: &str, round: u32) -> Result<()> {
        match self.escrow.expire(&AccountKey::new(contract, party, round)).await {
            // Nothing has arrived, and the journal has never heard of it.
            Ok(_) | Err(EscrowError::NoAccount(_)) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Everything about a contract's money; `None` before its first account.
    pub async fn statement(&self, contract: &str) -> Result<Option<Statement>> {
        match self.escrow.statement(contract).await {
            Ok(statement) => Ok(Some(statement)),
            Err(EscrowError::NoAccount(_)) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Pay a deposit out of the embedded ledger's faucet.
    pub async fn fund(&self, account: Address, amount: Raw) -> Result<()> {
        if let Some(embedded) = &self.embedded {
            embedded.faucet(account, amount).await?;
        }
        Ok(())
    }
}

impl std::fmt::Debug for Desk {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Desk")
            .field("embedded", &self.embedded.is_some())
            .field("auto_fund", &self.auto_fund)
            .finish()
    }
}

/// What can be asked whether the ledger answers.
pub trait LedgerProbe: Send + Sync + 'static {
    /// Whether it does, and keeps up with its network.
    fn answers(&self) -> BoxFuture<'_, bool>;
}

/// Interval between two looks at a node that keeps up.
const SIGHT: Duration = Duration::from_secs(5);

/// Asks a node whether it answers, is of the right network, and keeps up with its peers.
pub(crate) struct NodeProbe {
    node: HttpNode,
    network: Network,
    behind: tokio::sync::Mutex<(Behind, Option<Instant>)>,
    metrics: Metrics,
}

impl NodeProbe {
    pub(crate) fn new(rpc: &str, network: Network, metrics: Metrics) -> Result<NodeProbe> {
        let node = HttpNode::new(rpc, Default::default()).map_err(EscrowError::from)?;
        Ok(NodeProbe { node, network, behind: tokio::sync::Mutex::default(), metrics })
    }

    async fn keeps_up(&self) -> Result<bool, NodeError> {
        let mut state = self.behind.lock().await;
        let (behind, looked) = &mut *state;
        if behind.is_well() && looked.is_some_and(|at| at.elapsed() < SIGHT) {
            return Ok(true);
        }
        let sight = Sight::of(&self.node).await?;
        *looked = Some(Instant::now());
        let (was, lacks) = (behind.is_behind(), sight.lacks());
        let is = behind.look(sight);
        self.metrics.ledger_lacks.set(i64::try_from(lacks).unwrap_or(i64::MAX));
        if is && !was {
            tracing::warn!(lacks, "the node lacks blocks that its peers have confirmed");
        }
        Ok(!is)
    }
}

impl LedgerProbe for NodeProbe {
    fn answers(&self) -> BoxFuture<'_, bool> {
        Box::pin(async move {
            self.node.check_network(self.network).await.is_ok() && self.keeps_up().await.unwrap_or_default()
        })
    }
}

/// Whether the escrow will refuse a decision each time, so that only an operator can help.
pub(crate) fn refused_for_good(error: &Error) -> bool {
    match error {
        Error::Escrow(error) => matches!(
            error,
            EscrowError::NoAccount(_)
                | EscrowError::Name { .. }
                | EscrowError::OtherContract { .. }
                | EscrowError::BadRequest(_)
                | EscrowError::Closed(_)
                | EscrowError::PaysItself(_)
                | EscrowError::Burns(_)
                | EscrowError::OtherLegs { .. }
                | EscrowError::PaidOtherwise { .. }
        ),
        // The decision cannot be read.
        Error::Store(StoreError::Corrupt(_)) => true,
        _ => false,
    }
}
