//! The market's side of the escrow: accounts for deposits, decided payouts, statements. Everything about
//! money on the ledger is in [`nano_escrow`]; here is only which account belongs to whom (decision F1).

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

#[cfg(feature = "devnet")]
use nano_devnet::Devnet;
use nano_escrow::escrow::{
    AccountKey, AccountLegs, AccountView, Escrow, EscrowError, Keys as _, Leg, Options, Parts, Settlement,
    Statement, Terms,
};
use nano_escrow::journal::{CrashPoints, Journal};
use nano_escrow::node::{HttpNode, NodeApi, WatchOptions};
use nano_escrow::work::{Solver, WorkPeers, WorkService};
use nano_escrow::{Address, Network, Raw, Seed};
use tokio_util::sync::CancellationToken;
use zx1_market::case::Settle;

use crate::embedded::Embedded;
use crate::error::{Error, Result};
use crate::store::StoreError;

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

/// The escrow of a server.
#[derive(Clone)]
pub struct Desk {
    escrow: Escrow,
    work: WorkService,
    embedded: Option<Embedded>,
    websocket: Option<String>,
    auto_fund: bool,
}

impl Desk {
    /// Open the journal and the ledger, and continue what an earlier process has decided. `folder` keeps the
    /// journal (`escrow.db`) and the embedded ledger (`devnet/`).
    pub async fn open(
        folder: &Path,
        ledger: &Ledger,
        seed: Seed,
        representative: Option<Address>,
        auto_fund: bool,
        work_threads: usize,
        points: CrashPoints,
    ) -> Result<Desk> {
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
        let solver = match std::num::NonZeroUsize::new(work_threads) {
            Some(threads) => Solver::default().with_threads(threads),
            None => Solver::default(),
        };
        let work = WorkService::new(journal.work_cache(), WorkPeers::default(), Some(solver));
        let representative = representative.unwrap_or_else(|| Address::from(Network::DEV_GENESIS_ACCOUNT));
        let mut options = Options::new(network, representative);
        if embedded.is_some() {
            options.poll = Duration::from_millis(200);
        }
        let escrow = Escrow::new(Parts::new(journal, node, work.clone(), Arc::new(seed), options));
        escrow.recover().await?;
        Ok(Desk { escrow, work, embedded, websocket, auto_fund })
    }

    /// Serve the escrow until cancelled.
    pub async fn run(&self, cancel: CancellationToken) -> Result<()> {
        let watch = WatchOptions { websocket: self.websocket.clone(), ..WatchOptions::default() };
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

    /// The account for a deposit; the same one each time.
    pub async fn create(&self, contract: &str, party: &str, round: u32, amount: Raw) -> Result<Address> {
        let key = AccountKey::new(contract, party, round);
        let terms = Terms { expected: Some(amount), payer: None };
        Ok(self.escrow.create(&key, terms).await?.address)
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
            Ok(_) => Ok(()),
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
