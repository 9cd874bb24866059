//! The books: every raw in = every raw out + held, and the journal says what the ledger says.

use std::collections::BTreeMap;

use serde::Serialize;
use sqlx::SqliteConnection;

use super::EscrowError;
use super::engine::Engine;
use crate::journal::{AccountRow, BlockRow, BlockState, DepositState, Journal, rows};
use crate::node::NodeCalls;
use crate::node::rpc::BlocksInfo;
use crate::{Address, BlockHash, PublicKey, Raw, Subtype};

/// The result of an audit. Amounts are sums over all accounts of the journal.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Audit {
    /// Total received, by decided blocks.
    pub paid_in: Raw,
    /// Total sent, by decided blocks.
    pub paid_out: Raw,
    /// Total still held: `paid_in` less `paid_out`.
    pub held: Raw,
    /// Confirmed deposits for which no receive block is decided yet.
    pub receivable: Raw,
    /// The books of each contract, sorted by its name.
    pub contracts: Vec<ContractAudit>,
    /// One sentence for each disagreement; empty when the books balance.
    pub problems: Vec<String>,
}

impl Audit {
    /// Whether the audit found no disagreement.
    pub fn is_clean(&self) -> bool {
        self.problems.is_empty()
    }

    /// Returns an error (8680) that quotes the first problem and counts them all.
    pub fn check(&self) -> Result<(), EscrowError> {
        match self.problems.first() {
            None => Ok(()),
            Some(first) => {
                Err(EscrowError::Audit(format!("{first} ({} problems in all)", self.problems.len())))
            }
        }
    }
}

/// The books of one contract. Amounts are sums over its accounts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ContractAudit {
    /// The contract's name, as in [`AccountKey::contract`](super::AccountKey::contract).
    pub contract: String,
    /// Received into its accounts, by decided blocks.
    pub paid_in: Raw,
    /// Sent from its accounts, refunds included, by decided blocks.
    pub paid_out: Raw,
    /// Balance of its accounts after their last decided blocks.
    pub held: Raw,
    /// Confirmed deposits for which no receive block is decided yet.
    pub receivable: Raw,
    /// The books of each of its escrow accounts.
    pub accounts: Vec<AccountAudit>,
}

/// The books of one escrow account.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AccountAudit {
    /// The Nano address of the escrow account.
    pub address: Address,
    /// Name of the party that pays in.
    pub depositor: String,
    /// Round of [`AccountKey`](super::AccountKey): distinguishes several accounts of one depositor.
    pub round: u32,
    /// Received, by decided blocks.
    pub paid_in: Raw,
    /// Sent, by decided blocks.
    pub paid_out: Raw,
    /// The balance after the last decided block.
    pub held: Raw,
    /// Confirmed deposits for which no receive block is decided yet.
    pub receivable: Raw,
    /// Number of decided blocks; dead ones are not counted.
    pub blocks: usize,
    /// Number of these that are confirmed.
    pub confirmed: usize,
}

impl Engine {
    pub(crate) async fn audit(&self, node: bool) -> Result<Audit, EscrowError> {
        let mut audit = audit_journal(&self.journal).await?;
        if node {
            self.check_node().await?;
            self.audit_node(&mut audit).await?;
        }
        Ok(audit)
    }

    /// Checks that the journal's confirmed blocks are confirmed on the ledger, and that the ledger has no
    /// others.
    async fn audit_node(&self, audit: &mut Audit) -> Result<(), EscrowError> {
        let accounts = {
            let mut conn = self.journal.read().await?;
            rows::accounts(&mut conn).await?
        };
        for row in accounts {
            let blocks: Vec<BlockRow> = {
                let mut conn = self.journal.read().await?;
                let all = rows::blocks(&mut conn, &row.account).await?;
                all.into_iter().filter(|b| b.state == BlockState::Confirmed).collect()
            };
            let name = row.name();
            let info = self.node.account_info(row.account.address()).await?;
            let frontier = info.as_ref().and_then(|i| i.confirmed.frontier).unwrap_or(BlockHash::ZERO);
            let ours = blocks.last().map_or(BlockHash::ZERO, |b| b.hash);
            if frontier != ours {
                let known = {
                    let mut conn = self.journal.read().await?;
                    rows::block(&mut conn, &frontier).await?
                };
                // Blocks that are confirmed there and only published here are a matter of moments.
                if !known.is_some_and(|b| b.account == row.account && b.state == BlockState::Published) {
                    audit.problems.push(format!(
                        "{name}: the ledger's confirmed frontier is {frontier}, the journal's {ours}"
                    ));
                }
            }
            for batch in blocks.chunks(500) {
                let hashes = batch.iter().map(|b| b.hash).collect();
                let found = self.node.ask(BlocksInfo { hashes }).await?;
                for block in batch {
                    match found.blocks.get(&block.hash) {
                        Some(info) if !info.confirmed => audit
                            .problems
                            .push(format!("{name}: the ledger has block {} unconfirmed", block.hash)),
                        Some(info) if info.contents.is_some_and(|c| c.block != block.block()) => {
                            audit.problems.push(format!("{name}: block {} differs", block.hash));
                        }
                        Some(_) => {}
                        None => {
                            audit.problems.push(format!("{name}: the ledger has no block {}", block.hash))
                        }
                    }
                }
            }
        }
        Ok(())
    }
}

/// Audits a journal without asking a node. The journal may be open for reading only.
pub async fn audit_journal(journal: &Journal) -> Result<Audit, EscrowError> {
    let mut conn = journal.read().await?;
    let mut audit = Audit::default();
    let mut contracts: BTreeMap<String, ContractAudit> = BTreeMap::new();
    for row in rows::accounts(&mut conn).await? {
        let account = account_books(&mut conn, &row, &mut audit.problems).await?;
        let contract = contracts.entry(row.contract.clone()).or_default();
        contract.contract = row.contract;
        for (sum, part) in [
            (&mut contract.paid_in, account.paid_in),
            (&mut contract.paid_out, account.paid_out),
            (&mut contract.held, account.held),
            (&mut contract.receivable, account.receivable),
            (&mut audit.paid_in, account.paid_in),
            (&mut audit.paid_out, account.paid_out),
            (&mut audit.held, account.held),
            (&mut audit.receivable, account.receivable),
        ] {
            *sum = sum.add(part)?;
        }
        contract.accounts.push(account);
    }
    for contract in contracts.values() {
        if Some(contract.paid_in) != contract.paid_out.checked_add(contract.held) {
            let name = &contract.contract;
            audit.problems.push(format!("{name}: in is not out and held together"));
        }
    }
    audit_plans(&mut conn, &mut audit.problems).await?;
    audit.contracts = contracts.into_values().collect();
    Ok(audit)
}

async fn account_books(
    conn: &mut SqliteConnection,
    row: &AccountRow,
    problems: &mut Vec<String>,
) -> Result<AccountAudit, EscrowError> {
    let name = row.name();
    let mut blocks = rows::blocks(conn, &row.account).await?;
    blocks.retain(|b| b.state != BlockState::Dead);
    let (mut paid_in, mut paid_out) = (Raw::ZERO, Raw::ZERO);
    let (mut previous, mut balance, mut confirmed) = (BlockHash::ZERO, Raw::ZERO, 0);
    let mut open = false;
    for (height, block) in (1..).zip(&blocks) {
        let mut wrong = |what: &str| problems.push(format!("{name}: block {}: {what}", block.hash));
        if block.height != height || block.previous != previous {
            wrong("it does not follow the block before it");
        }
        if block.block().hash() != block.hash {
            wrong("its hash is not that of its contents");
        }
        let subtype = block.block().subtype(balance);
        if subtype != block.subtype {
            wrong("it does something else than the journal says");
        }
        if subtype != Subtype::Epoch && block.signed().verify_network().is_err() {
            wrong("its signature does not hold");
        }
        let moved = match subtype {
            Subtype::Send => balance.checked_sub(block.balance),
            _ => block.balance.checked_sub(balance),
        };
        if moved != Some(block.amount) {
            wrong("its amount is not the change of the balance");
        }
        match subtype {
            Subtype::Send => paid_out = paid_out.add(block.amount)?,
            _ => paid_in = paid_in.add(block.amount)?,
        }
        if block.state == BlockState::Confirmed {
            confirmed += 1;
            if open {
                wrong("it is confirmed before the block before it");
            }
        } else {
            open = true;
        }
        (previous, balance) = (block.hash, block.balance);
    }
    if row.head_hash != previous || row.head_balance != balance || row.height != blocks.len() as u64 {
        problems.push(format!("{name}: the head is not the last block"));
    }
    if Some(paid_in) != paid_out.checked_add(balance) {
        problems.push(format!("{name}: in is not out and held together"));
    }
    let receivable = deposit_books(conn, row, &blocks, problems).await?;
    Ok(AccountAudit {
        address: row.account.address(),
        depositor: row.depositor.clone(),
        round: row.round,
        paid_in,
        paid_out,
        held: balance,
        receivable,
        blocks: blocks.len(),
        confirmed,
    })
}

async fn deposit_books(
    conn: &mut SqliteConnection,
    row: &AccountRow,
    blocks: &[BlockRow],
    problems: &mut Vec<String>,
) -> Result<Raw, EscrowError> {
    let name = row.name();
    let (mut receivable, mut credited) = (Raw::ZERO, Raw::ZERO);
    for deposit in rows::deposits(conn, &row.account).await? {
        credited = credited.add(deposit.credited)?;
        let receive = blocks.iter().find(|b| Some(b.hash) == deposit.receive_hash);
        match receive {
            Some(block) if block.link != deposit.send_hash.0 || block.amount != deposit.amount => {
                problems.push(format!("{name}: deposit {} is taken up wrongly", deposit.send_hash));
            }
            Some(block)
                if (block.state == BlockState::Confirmed) != (deposit.state == DepositState::Received) =>
            {
                problems.push(format!("{name}: deposit {} is in the wrong state", deposit.send_hash));
            }
            Some(_) => {}
            None if deposit.receive_hash.is_some() || deposit.state == DepositState::Received => {
                problems.push(format!("{name}: deposit {} has no receive", deposit.send_hash));
            }
            None if deposit.state == DepositState::Confirmed => {
                receivable = receivable.add(deposit.amount)?
            }
            None => {}
        }
    }
    for block in blocks.iter().filter(|b| matches!(b.subtype, Subtype::Open | Subtype::Receive)) {
        let known = rows::deposit(conn, &BlockHash(block.link)).await?;
        if known.is_none_or(|d| d.receive_hash != Some(block.hash)) {
            problems.push(format!("{name}: receive {} has no deposit", block.hash));
        }
    }
    if row.expected.is_some_and(|e| credited > e) {
        problems.push(format!("{name}: more counts than was expected"));
    }
    Ok(receivable)
}

/// Checks that every block does what its leg says, that each leg has one block, and that a plan is done only
/// when all are confirmed.
async fn audit_plans(conn: &mut SqliteConnection, problems: &mut Vec<String>) -> Result<(), EscrowError> {
    for contract in rows::contracts(conn).await? {
        for plan in rows::plans_of(conn, &contract).await? {
            let name = format!("{contract} {} {}", plan.kind, plan.key);
            let blocks = rows::blocks_of_plan(conn, plan.id).await?;
            let legs = rows::legs_of_plan(conn, plan.id).await?;
            for leg in &legs {
                let mut does = blocks.iter().filter(|b| b.leg == Some((plan.id, leg.leg)));
                let wrong = match (does.next(), does.next()) {
                    // Its block has died, and it is planned again at the next step.
                    (None, _) => plan.done,
                    (Some(block), None) => {
                        let send = block.subtype == Subtype::Send;
                        block.account != leg.account
                            || block.link != leg.link
                            || block.amount != leg.amount
                            || send != leg.is_send
                            || plan.done && block.state != BlockState::Confirmed
                    }
                    (Some(_), Some(_)) => true,
                };
                if wrong {
                    let to = PublicKey(leg.link);
                    problems.push(format!(
                        "{name}: leg {} ({} raw, {to}) is not as decided",
                        leg.leg, leg.amount
                    ));
                }
            }
            if blocks.len() > legs.len() {
                problems.push(format!("{name}: there are more blocks than legs"));
            }
        }
    }
    Ok(())
}
