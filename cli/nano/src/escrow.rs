//! `nano-escrow escrow`: the escrow for people and scripts.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::{Args, Subcommand};
use serde_json::json;

use super::input::SecretSource;
use super::{Error, Failure, Output};
use nano_escrow::escrow::{
    self, AccountKey, AccountLegs, AccountView, Backup, Escrow, Keys as _, Leg, Options, Parts, PlanView,
    Settlement, Statement, Terms,
};
use nano_escrow::journal::{Journal, JournalError};
use nano_escrow::node::{HttpNode, HttpOptions, WatchOptions};
use nano_escrow::work::{Solver, WorkPeers, WorkService};
use nano_escrow::{Address, AddressError, BlockHash, Network, Raw, Seed};
use zx1_home::{Clock as _, SystemClock};

/// Journal, node and keys of an escrow or a wallet.
#[derive(Debug, Args)]
pub(crate) struct Place {
    /// Journal file; only one process at a time can write to it
    #[arg(
        long,
        value_name = "FILE",
        env = "NANO_ESCROW_JOURNAL",
        global = true,
        default_value = "escrow.db"
    )]
    pub(crate) journal: PathBuf,

    /// URL of the node's RPC, such as http://127.0.0.1:7076
    #[arg(long, value_name = "URL", env = "NANO_NODE_URL", global = true)]
    pub(crate) node: Option<String>,

    /// URL of the node's websocket, such as ws://127.0.0.1:7078; without it the node is only polled
    #[arg(long, value_name = "URL", env = "NANO_WS_URL", global = true)]
    pub(crate) ws: Option<String>,

    /// Network: live, beta, dev or test
    #[arg(long, value_name = "NAME", env = "NANO_NETWORK", global = true)]
    pub(crate) network: Option<Network>,

    /// Master seed: -, file:PATH or env:NAME
    #[arg(long, value_name = "WHERE", default_value = "env:FIX_NANO_SEED", global = true)]
    pub(crate) seed: SecretSource,

    /// Representative of the accounts
    #[arg(long, value_name = "ADDRESS", env = "NANO_REPRESENTATIVE", global = true)]
    pub(crate) representative: Option<Address>,

    /// URL of a peer that computes proof of work; can be repeated
    #[arg(long, value_name = "URL", global = true)]
    pub(crate) work_peer: Vec<String>,
}

impl Place {
    pub(crate) fn seed(&self, out: &Output) -> Result<Seed, Failure> {
        self.seed.clone().not_an_argument()?.seed(out)
    }

    fn network(&self) -> Result<Network, Failure> {
        self.network.ok_or_else(|| Failure::usage(Error::NoNetwork))
    }

    /// Opens the journal and assembles the parts of an escrow or a wallet.
    pub(crate) async fn parts(&self, out: &Output) -> Result<Parts, Failure> {
        let network = self.network()?;
        let seed = self.seed(out)?;
        let url = self.node.as_deref().ok_or_else(|| Failure::usage(Error::NoNode))?;
        let representative = match (self.representative, network) {
            (Some(address), _) => address,
            (None, Network::Dev) => Address::from(Network::DEV_GENESIS_ACCOUNT),
            (None, _) => return Err(Failure::usage(Error::NoRepresentative)),
        };
        let journal = Journal::open(&self.journal, network, &seed.fingerprint()).await?;
        let node = HttpNode::new(url, HttpOptions::default())?;
        let mut peers: Vec<(String, Arc<dyn nano_escrow::node::NodeApi>)> = Vec::new();
        for peer in &self.work_peer {
            peers.push((peer.clone(), Arc::new(HttpNode::new(peer, HttpOptions::default())?)));
        }
        let peers = WorkPeers::new(peers, Duration::from_secs(30));
        let work = WorkService::new(journal.work_cache(), peers, Some(Solver::default()));
        Ok(Parts::new(journal, Arc::new(node), work, Arc::new(seed), Options::new(network, representative)))
    }

    async fn escrow(&self, out: &Output) -> Result<Escrow, Failure> {
        Ok(Escrow::new(self.parts(out).await?))
    }

    async fn reader(&self) -> Result<Journal, Failure> {
        Ok(Journal::open_read_only(&self.journal).await?)
    }
}

/// Hold deposits for contracts and pay each out exactly once
#[derive(Debug, Args)]
pub(crate) struct EscrowArgs {
    #[command(flatten)]
    place: Place,

    #[command(subcommand)]
    command: EscrowCommand,
}

#[derive(Debug, Subcommand)]
enum EscrowCommand {
    /// Create the account of a contract and a depositor, or find it, and print its address
    Create {
        #[command(flatten)]
        key: KeyArgs,
        /// Expected deposit in XNO; any excess is refunded
        #[arg(long, value_name = "XNO", value_parser = xno)]
        expected: Option<Raw>,
        /// Only accept deposits from this account; refund all others
        #[arg(long, value_name = "ADDRESS")]
        payer: Option<Address>,
    },
    /// Print the accounts, deposits and payouts of a contract
    ///
    /// Without a contract, prints all contracts and alarms. Works while another process runs the escrow.
    Status {
        /// Name of the contract
        #[arg(value_name = "CONTRACT")]
        contract: Option<String>,
        /// Ask the node for new deposits first; no other process may hold the journal
        #[arg(long)]
        watch: bool,
    },
    /// Decide the payments of a contract and make them exactly once; repeating the command is safe
    Settle {
        /// Name of the contract
        #[arg(value_name = "CONTRACT")]
        contract: String,
        /// Kind of the decision; contract, kind and round identify it
        #[arg(long, value_name = "WORD")]
        kind: String,
        /// Number of the deposit round
        #[arg(long, value_name = "N", default_value_t = 0)]
        round: u32,
        /// Payment from a depositor's account of this round; can be repeated
        ///
        /// `rest` as the amount pays what is left. The payments of an account must sum to what it holds.
        #[arg(long = "pay", value_name = "DEPOSITOR:ADDRESS:XNO", required = true, value_parser = pay)]
        pays: Vec<Pay>,
        /// Do not wait for the confirmations; `recover` or `run` completes the payments
        #[arg(long)]
        no_wait: bool,
        /// Timeout for the confirmations in seconds
        #[arg(long, value_name = "SECONDS", default_value_t = 120)]
        limit: u64,
    },
    /// Refund the excess of a deposit, or a late deposit, to its sender
    Refund {
        /// Hash of the deposit
        #[arg(value_name = "HASH")]
        deposit: BlockHash,
        /// Timeout for the confirmations in seconds
        #[arg(long, value_name = "SECONDS", default_value_t = 120)]
        limit: u64,
    },
    /// Close an account that will not be settled and refund its deposits
    Expire {
        #[command(flatten)]
        key: KeyArgs,
    },
    /// Adopt blocks found on the ledger and complete decided payments, after a crash or a restore
    Recover {
        /// Timeout for pending payments in seconds
        #[arg(long, value_name = "SECONDS", default_value_t = 120)]
        limit: u64,
    },
    /// Resume a stopped account
    Resume {
        /// Address of the account
        #[arg(value_name = "ADDRESS")]
        account: Address,
    },
    /// Check that deposits equal payments plus balances; exit code 1 if they do not
    Audit {
        /// Also compare with the node; without it, works while another process runs the escrow
        #[arg(long)]
        with_node: bool,
    },
    /// Receive deposits, publish payments and refund until stopped
    Run,
    /// Export the journal without the seed to a new file, which must be kept secret
    Export {
        /// File to write
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
    /// Create a new journal from an export; run recover afterwards
    Restore {
        /// File written by export
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
}

#[derive(Debug, Args)]
struct KeyArgs {
    /// Name of the contract
    #[arg(value_name = "CONTRACT")]
    contract: String,
    /// Name of the depositor
    #[arg(value_name = "DEPOSITOR")]
    depositor: String,
    /// Number of the deposit round
    #[arg(long, value_name = "N", default_value_t = 0)]
    round: u32,
}

impl KeyArgs {
    fn key(self) -> AccountKey {
        AccountKey::new(self.contract, self.depositor, self.round)
    }
}

#[derive(Debug, Clone)]
struct Pay {
    depositor: String,
    to: Address,
    /// Amount to pay in raw; `None` for what the other payments leave.
    amount: Option<Raw>,
}

pub(crate) fn xno(text: &str) -> Result<Raw, String> {
    Raw::from_xno(text).and_then(Raw::nonzero).map_err(|e| e.to_string())
}

fn pay(text: &str) -> Result<Pay, String> {
    // The depositor's name may have colons; address and amount have none.
    let mut parts = text.rsplitn(3, ':');
    match (parts.next(), parts.next(), parts.next()) {
        (Some(amount), Some(to), Some(depositor)) if !depositor.is_empty() => Ok(Pay {
            depositor: depositor.to_owned(),
            to: to.parse().map_err(|e: AddressError| e.to_string())?,
            amount: if amount == "rest" { None } else { Some(xno(amount)?) },
        }),
        _ => Err("expected DEPOSITOR:ADDRESS:XNO".into()),
    }
}

pub(crate) async fn run(args: EscrowArgs, out: &Output) -> Result<(), Failure> {
    let EscrowArgs { place, command } = args;
    match command {
        EscrowCommand::Create { key, expected, payer } => {
            let escrow = place.escrow(out).await?;
            let view = escrow.create(&key.key(), Terms { expected, payer }).await?;
            let uri = view.address.uri(view.expected);
            out.print(&json!({ "account": view, "uri": uri }), || format!("{}\n{uri}", view.address))
        }
        EscrowCommand::Status { contract: Some(contract), watch } => {
            let statement = if watch {
                let escrow = place.escrow(out).await?;
                for account in escrow.statement(&contract).await?.accounts {
                    escrow.watch(account.address).await?;
                    escrow.drive(account.address).await?;
                }
                escrow.statement(&contract).await?
            } else {
                escrow::statement(&place.reader().await?, &contract).await?
            };
            out.print(&statement, || statement_text(&statement))
        }
        EscrowCommand::Status { contract: None, watch: _ } => {
            let journal = place.reader().await?;
            let contracts = escrow::contracts(&journal).await?;
            let alarms = escrow::alarms(&journal).await?;
            out.print(&json!({ "contracts": contracts, "alarms": alarms }), || {
                let mut lines: Vec<String> = contracts.clone();
                lines.extend(alarms.iter().map(|a| format!("ALARM {}: {}", a.code, a.message)));
                lines.join("\n")
            })
        }
        EscrowCommand::Settle { contract, kind, round, pays, no_wait, limit } => {
            let escrow = place.escrow(out).await?;
            let accounts = account_legs(&escrow, &contract, round, pays).await?;
            let settlement = Settlement { contract, kind, round, accounts };
            let mut plan = escrow.settle(&settlement).await?;
            if !no_wait {
                let limit = Duration::from_secs(limit);
                plan = escrow.wait(&plan.contract, &plan.kind, &plan.key, limit).await?;
            }
            out.print(&plan, || plan_text(&plan))
        }
        EscrowCommand::Refund { deposit, limit } => {
            let escrow = place.escrow(out).await?;
            let plan = escrow.refund(deposit).await?;
            let limit = Duration::from_secs(limit);
            let plan = escrow.wait(&plan.contract, &plan.kind, &plan.key, limit).await?;
            out.print(&plan, || plan_text(&plan))
        }
        EscrowCommand::Expire { key } => {
            let escrow = place.escrow(out).await?;
            let view = escrow.expire(&key.key()).await?;
            escrow.watch(view.address).await?;
            escrow.drive(view.address).await?;
            let view = escrow.account(&view.key).await?;
            out.print(&view, || account_text(&view))
        }
        EscrowCommand::Recover { limit } => recover(&place, out, limit).await,
        EscrowCommand::Resume { account } => {
            place.escrow(out).await?.resume(account).await?;
            out.print(&json!({ "resumed": account }), || "resumed".into())
        }
        EscrowCommand::Audit { with_node } => {
            let audit = match with_node {
                true => place.escrow(out).await?.audit(true).await?,
                false => escrow::audit_journal(&place.reader().await?).await?,
            };
            if let (false, Err(error)) = (out.is_json(), audit.check()) {
                for problem in &audit.problems {
                    out.warn(problem);
                }
                return Err(error.into());
            }
            let clean = audit.is_clean();
            out.print(&audit, || {
                let (paid_in, paid_out) = (audit.paid_in.xno(), audit.paid_out.xno());
                format!("in {paid_in} XNO = out {paid_out} XNO + held {} XNO; all agrees", audit.held.xno())
            })?;
            // The JSON has the problems; the exit code says that there are some.
            if clean { Ok(()) } else { Err(Failure::printed(1)) }
        }
        EscrowCommand::Run => serve(&place, out).await,
        EscrowCommand::Export { file } => {
            // Beside the process that writes the journal, which may run.
            let (journal, seed) = (place.reader().await?, place.seed(out)?);
            let now = i64::try_from(SystemClock.unix_ms()).unwrap_or(i64::MAX);
            let backup = nano_escrow::escrow::export(&journal, &seed, now).await?;
            backup.write(&file).await?;
            let accounts = backup.accounts();
            out.print(&json!({ "file": file, "accounts": accounts }), || {
                format!("{accounts} accounts written")
            })
        }
        EscrowCommand::Restore { file } => restore(&place, out, &file).await,
    }
}

async fn account_legs(
    escrow: &Escrow,
    contract: &str,
    round: u32,
    pays: Vec<Pay>,
) -> Result<Vec<AccountLegs>, Failure> {
    let mut accounts: Vec<AccountLegs> = Vec::new();
    for pay in pays {
        let account = escrow.account(&AccountKey::new(contract, &pay.depositor, round)).await?.address;
        let at = match accounts.iter().position(|a| a.account == account) {
            Some(at) => at,
            None => {
                accounts.push(AccountLegs::exact(account, Vec::new()));
                accounts.len() - 1
            }
        };
        let Some(entry) = accounts.get_mut(at) else { continue };
        if entry.remainder_to_last {
            return Err(Failure::usage(Error::AfterRest(pay.depositor)));
        }
        entry.remainder_to_last = pay.amount.is_none();
        entry.legs.push(Leg::new(pay.to, pay.amount.unwrap_or(Raw::ZERO)));
    }
    Ok(accounts)
}

async fn recover(place: &Place, out: &Output, limit: u64) -> Result<(), Failure> {
    let escrow = place.escrow(out).await?;
    let deadline = tokio::time::Instant::now() + Duration::from_secs(limit);
    let first = escrow.recover().await?;
    let mut last = first.clone();
    let mut pause = Duration::from_millis(50);
    while last.pending > 0 && tokio::time::Instant::now() < deadline {
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(Duration::from_secs(2));
        last = escrow.recover().await?;
    }
    let value = json!({ "found": first, "left": last, "alarms": escrow.alarms().await? });
    out.print(&value, || {
        let mut text = format!(
            "{} accounts; {} blocks were open; {} accounts had foreign blocks, adopted; {} blocks are pending",
            first.accounts, first.open_blocks, first.adopted, last.pending
        );
        for (account, reason) in &last.held_up {
            text.push_str(&format!("\n{account}: {reason}"));
        }
        text
    })
}

async fn serve(place: &Place, out: &Output) -> Result<(), Failure> {
    let escrow = place.escrow(out).await?;
    let found = escrow.recover().await?;
    out.warn(format!("recovered {} accounts; serving until Ctrl-C", found.accounts));
    let cancel = tokio_util::sync::CancellationToken::new();
    let stop = cancel.clone();
    tokio::spawn(async move {
        let _ = tokio::signal::ctrl_c().await;
        stop.cancel();
    });
    escrow.run(cancel, WatchOptions { websocket: place.ws.clone(), ..WatchOptions::default() }).await?;
    Ok(())
}

async fn restore(place: &Place, out: &Output, file: &Path) -> Result<(), Failure> {
    let backup = Backup::read(file)?;
    let network = backup.network()?;
    if place.network.is_some_and(|n| n != network) {
        let journal = network.name().to_owned();
        return Err(JournalError::WrongNetwork { journal, given: place.network()? }.into());
    }
    let seed = place.seed(out)?;
    let accounts = backup.accounts();
    escrow::restore(&place.journal, &backup, &seed).await?.close().await;
    out.print(&json!({ "journal": place.journal, "accounts": accounts, "network": network.name() }), || {
        format!("{accounts} accounts restored; now run: nano-escrow escrow recover")
    })
}

fn account_text(view: &AccountView) -> String {
    let mut text = format!("{}  {}\n  held {} XNO", view.key, view.address, view.held.xno());
    if let Some(expected) = view.expected {
        text.push_str(&format!(" of {} expected", expected.xno()));
    }
    for (amount, what) in [(view.unconfirmed, "unconfirmed"), (view.excess, "excess")] {
        if !amount.is_zero() {
            text.push_str(&format!(", {} XNO {what}", amount.xno()));
        }
    }
    text.push_str(if view.closed { "; closed" } else { "; open" });
    if let Some((code, reason)) = &view.stopped {
        text.push_str(&format!("\n  STOPPED ({code}): {reason}"));
    }
    for deposit in &view.deposits {
        text.push_str(&format!(
            "\n  deposit {} {} XNO {}",
            deposit.hash,
            deposit.amount.xno(),
            deposit.state
        ));
    }
    text
}

pub(crate) fn plan_text(plan: &PlanView) -> String {
    let state = if plan.done { "done" } else { "decided, in progress" };
    let mut text = format!("{} {} {}: {state}", plan.contract, plan.kind, plan.key);
    for leg in &plan.legs {
        let amount = leg.amount.xno();
        match (&leg.to, &leg.from) {
            (Some(to), _) => text.push_str(&format!("\n  pay {amount} XNO to {to}: {}", leg.state)),
            (None, Some(from)) => {
                text.push_str(&format!("\n  take up {amount} XNO of {from}: {}", leg.state))
            }
            (None, None) => {}
        }
    }
    text
}

fn statement_text(statement: &Statement) -> String {
    let mut lines: Vec<String> = statement.accounts.iter().map(account_text).collect();
    lines.extend(statement.plans.iter().map(plan_text));
    lines.push(format!("in {} XNO, out {} XNO", statement.paid_in.xno(), statement.paid_out.xno()));
    lines.join("\n")
}
