//! A journalled wallet: the escrow's machinery for ordinary accounts. A send has an id; the same id again never
//! pays again, whatever happened in between.

use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;

use crate::escrow::{
    AccountKey, AccountView, Audit, Backup, Engine, EscrowError, Leg, Parts, PlanView, Progress, Recovery,
    Terms, account, plan as planner,
};
use crate::journal::{AccountRow, AccountState, BlockState, LegRow, PlanRow, rows};
use crate::node::NodeCalls;
use crate::{Address, BlockHash, Raw, Subtype};

/// The contract name under which wallet accounts stand in the journal.
const WALLET: &str = "wallet";
/// The kind of an ordinary payment.
const SEND: &str = "send";

/// What an account has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WalletBalance {
    /// Index of the account under the seed.
    pub index: u32,
    /// Address of the account.
    pub address: Address,
    /// After everything that is decided, sends in flight included.
    pub balance: Raw,
    /// What the ledger has confirmed.
    pub confirmed: Raw,
    /// What waits to be received, from the dust limit on, confirmed or not.
    pub receivable: Raw,
}

/// A block of the wallet's history.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HistoryEntry {
    /// Hash of the block.
    pub hash: BlockHash,
    /// `open`, `receive`, `send`, `change` or `epoch`.
    pub kind: &'static str,
    /// Who got it, or who sent it.
    pub counterparty: Option<Address>,
    /// Amount that moved, in raw.
    pub amount: Raw,
    /// The balance after it.
    pub balance: Raw,
    /// Its place in the chain.
    pub height: u64,
    /// `signed`, `published` or `confirmed`.
    pub state: &'static str,
    /// The id of the send.
    pub id: Option<String>,
    /// When it was signed or found, unix milliseconds.
    pub at: i64,
}

/// A wallet. Clones share everything; all calls may run at once. One process a journal.
///
/// The journal can be an escrow's as well, when both use one seed.
#[derive(Clone)]
pub struct Wallet {
    engine: Arc<Engine>,
}

impl Wallet {
    /// Put a wallet together. Nothing is sent; call [`recover`](Self::recover) first after a start.
    pub fn new(parts: Parts) -> Wallet {
        Wallet { engine: Arc::new(Engine::new(parts)) }
    }

    /// The account of an index; noted in the journal when it is new.
    pub async fn account(&self, index: u32) -> Result<Address, EscrowError> {
        Ok(self.row(index).await?.account.address())
    }

    fn key(index: u32) -> AccountKey {
        AccountKey::new(WALLET, "index", index)
    }

    async fn row(&self, index: u32) -> Result<AccountRow, EscrowError> {
        let (key, open) = (Self::key(index), AccountState::Open);
        self.engine.create_with(&key, Terms::default(), &index.to_be_bytes(), None, open).await
    }

    /// Pay, exactly once per `id` and wallet. Returns as soon as it is decided and durable;
    /// [`wait`](Self::wait) waits for the confirmation. The same id, destination and amount again answer the same
    /// payment. A payment of this amount to this destination that was found on chain and that no id claims, as after
    /// a restored backup, counts as this one: use a seed in one wallet only.
    ///
    /// Fails with 8644 when the id was used for another payment, 8016 when there is not enough.
    pub async fn send(
        &self,
        index: u32,
        id: &str,
        to: Address,
        amount: Raw,
    ) -> Result<PlanView, EscrowError> {
        crate::escrow::check_name("id", id, 128)?;
        let row = self.row(index).await?;
        let from = row.account;
        if to.public_key() == from {
            return Err(EscrowError::PaysItself(to));
        }
        if to.is_burn() {
            return Err(EscrowError::Burns(from.address()));
        }
        amount.nonzero()?;
        let legs = planner::AccountLegs::exact(from.address(), vec![Leg::new(to, amount)]);
        let digest = planner::digest(&[legs]);
        let _lock = self.engine.lock(from).await;
        if let Some(view) = self.decided(id, &digest).await? {
            return Ok(view);
        }
        crate::escrow::running(&row)?;
        self.engine.sync(&from).await?;
        self.engine.replan(&from).await?;
        let now = self.engine.now();
        let mut tx = self.engine.journal.begin().await?;
        let row = rows::account(&mut tx, &from).await?;
        let row = row.ok_or_else(|| EscrowError::NoAccount(from.address().to_string()))?;
        let plan = PlanRow {
            id: 0,
            contract: WALLET.into(),
            kind: SEND.into(),
            key: id.into(),
            priority: crate::escrow::PAYMENT_PRIORITY,
            digest,
            done: false,
            created_at: now,
            done_at: None,
        };
        let plan = rows::insert_plan(&mut tx, &plan).await?;
        let leg = LegRow { plan, leg: 0, account: from, is_send: true, link: to.public_key().0, amount };
        rows::insert_leg(&mut tx, &leg).await?;
        // A send found on chain that no id claims is one that an older copy of this journal, or another instance,
        // has made: ids are not on chain. The careful answer is that it was this one.
        let paid = rows::unplanned_sends(&mut tx, &from).await?;
        let paid = paid.iter().find(|b| b.link == leg.link && b.amount == leg.amount);
        match paid {
            Some(block) => {
                rows::set_block_leg(&mut tx, &block.hash, (plan, 0)).await?;
                rows::finish_plan(&mut tx, plan, now).await?;
            }
            None => {
                let blocks = self.engine.sign_legs(&mut tx, &row, &[leg], now).await?;
                for block in blocks {
                    self.engine.prefetch(block.block().root(), block.subtype);
                }
            }
        }
        self.engine.journal.commit(tx, "send").await?;
        self.engine.wake(&[from], crate::escrow::Lane::Payout);
        crate::escrow::plan_view(&self.engine.journal, plan).await
    }

    async fn decided(&self, id: &str, digest: &[u8; 32]) -> Result<Option<PlanView>, EscrowError> {
        let plan = {
            let mut conn = self.engine.journal.read().await?;
            rows::plan_by_key(&mut conn, WALLET, SEND, id).await?
        };
        match plan {
            None => Ok(None),
            Some(plan) if plan.digest == *digest => {
                crate::escrow::plan_view(&self.engine.journal, plan.id).await.map(Some)
            }
            Some(plan) => {
                Err(EscrowError::OtherLegs { contract: plan.contract, kind: plan.kind, key: plan.key })
            }
        }
    }

    /// Drive a send until it is confirmed. Fails with 8665 when `limit` passes first.
    pub async fn wait(&self, id: &str, limit: Duration) -> Result<PlanView, EscrowError> {
        self.engine.wait(WALLET, SEND, id, limit).await
    }

    /// Take up everything that is confirmed and waits, from the dust limit on, and publish it. Answers how many
    /// blocks were confirmed in this step.
    pub async fn receive_all(&self, index: u32) -> Result<Progress, EscrowError> {
        let account = self.row(index).await?.account;
        self.engine.watch(account).await?;
        self.engine.drive(account).await
    }

    /// Bring what is decided one step on.
    pub async fn drive(&self, index: u32) -> Result<Progress, EscrowError> {
        let account = self.row(index).await?.account;
        self.engine.drive(account).await
    }

    /// What the account has, by the journal and by the node.
    pub async fn balance(&self, index: u32) -> Result<WalletBalance, EscrowError> {
        let row = self.row(index).await?;
        self.engine.check_node().await?;
        let info = self.engine.node.account_info(row.account.address()).await?;
        let request = crate::node::rpc::Receivable {
            threshold: Some(self.engine.options.dust),
            sorted: true,
            ..crate::node::rpc::Receivable::all(row.account.address())
        };
        let waiting = self.engine.node.receivable(request).await?;
        let mut receivable = Raw::ZERO;
        for amount in waiting.iter().filter_map(|b| b.amount) {
            receivable = receivable.add(amount)?;
        }
        let confirmed = info.and_then(|i| i.confirmed.balance).unwrap_or(Raw::ZERO);
        Ok(WalletBalance {
            index,
            address: row.account.address(),
            balance: row.head_balance,
            confirmed,
            receivable,
        })
    }

    /// The account's blocks, newest first.
    pub async fn history(&self, index: u32) -> Result<Vec<HistoryEntry>, EscrowError> {
        let row = self.row(index).await?;
        let mut conn = self.engine.journal.read().await?;
        let mut entries = Vec::new();
        for block in rows::blocks(&mut conn, &row.account).await? {
            if block.state == BlockState::Dead {
                continue;
            }
            let counterparty = match block.subtype {
                Subtype::Send => Some(crate::PublicKey(block.link).address()),
                Subtype::Open | Subtype::Receive => {
                    rows::deposit(&mut conn, &BlockHash(block.link)).await?.map(|d| d.source.address())
                }
                _ => None,
            };
            let id = match block.leg {
                Some((plan, _)) if block.subtype == Subtype::Send => {
                    Some(rows::plan(&mut conn, plan).await?.key)
                }
                _ => None,
            };
            entries.push(HistoryEntry {
                hash: block.hash,
                kind: block.subtype.name(),
                counterparty,
                amount: block.amount,
                balance: block.balance,
                height: block.height,
                state: block.state.name(),
                id,
                at: block.signed_at,
            });
        }
        entries.reverse();
        Ok(entries)
    }

    /// Everything the journal says of the account.
    pub async fn view(&self, index: u32) -> Result<AccountView, EscrowError> {
        self.row(index).await?;
        account(&self.engine.journal, &Self::key(index)).await
    }

    /// Finishes what an earlier process decided: [`Escrow::recover`](crate::escrow::Escrow::recover).
    pub async fn recover(&self) -> Result<Recovery, EscrowError> {
        self.engine.recover().await
    }

    /// Compares books and ledger: [`Escrow::audit`](crate::escrow::Escrow::audit).
    pub async fn audit(&self, node: bool) -> Result<Audit, EscrowError> {
        self.engine.audit(node).await
    }

    /// Writes a backup: [`Escrow::export`](crate::escrow::Escrow::export).
    pub async fn export(&self) -> Result<Backup, EscrowError> {
        self.engine.export().await
    }
}
