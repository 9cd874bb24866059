//! The journal's rows and the statements that read and write them.

mod accounts;
mod blocks;
mod deposits;
mod other;
mod plans;

use sqlx::Row;
use sqlx::sqlite::SqliteRow;

pub(crate) use self::accounts::*;
pub(crate) use self::blocks::*;
pub(crate) use self::deposits::*;
pub(crate) use self::other::*;
pub(crate) use self::plans::*;

use crate::journal::JournalError;
use crate::{BlockHash, Head, PublicKey, Raw, Signature, SignedBlock, StateBlock, Subtype};

type Result<T> = std::result::Result<T, JournalError>;

/// Whether an account takes deposits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccountState {
    /// Deposits that arrive count for the contract.
    Open,
    /// Settled or expired: deposits that arrive go back to their sources.
    Closed,
}

/// An escrow account of the journal.
#[derive(Clone)]
pub struct AccountRow {
    /// Public key of the account.
    pub account: PublicKey,
    /// Name of the contract that it holds money for; opaque.
    pub contract: String,
    /// Name of the party that pays in; opaque.
    pub depositor: String,
    /// Distinguishes several accounts of one depositor for one contract.
    pub round: u32,
    /// The private key is derived from it and the seed. It is half of a secret, so there is no `Debug`.
    pub nonce: Vec<u8>,
    /// Representative that the account's blocks name.
    pub rep: PublicKey,
    /// Amount to be deposited; `None` when every deposit counts in full.
    pub expected: Option<Raw>,
    /// The only account whose deposits count; `None` when those of any account do.
    pub payer: Option<PublicKey>,
    /// Hash of the last decided block, published or not; zero when there is none.
    pub head_hash: BlockHash,
    /// Balance after that block.
    pub head_balance: Raw,
    /// Number of decided blocks.
    pub height: u64,
    /// Whether deposits still count.
    pub state: AccountState,
    /// Number and reason of the error that has stopped work on the account.
    pub stop: Option<(u32, String)>,
    /// Whether there were more deposits than `Options::max_deposits`.
    pub over_cap: bool,
    /// When the account was created, in Unix milliseconds.
    pub created_at: i64,
    /// When it was settled or expired, in Unix milliseconds.
    pub closed_at: Option<i64>,
    /// Number of the secret that the nonce was derived from; `None` when it was random.
    pub secret: Option<i64>,
}

impl AccountRow {
    /// The end of the account's block chain, on which the next block is built.
    pub fn head(&self) -> Head {
        Head {
            account: self.account,
            frontier: self.head_hash,
            balance: self.head_balance,
            representative: self.rep,
        }
    }

    /// The account's name in errors and reports: `contract/depositor/round`.
    pub fn name(&self) -> String {
        format!("{}/{}/{}", self.contract, self.depositor, self.round)
    }
}

/// Progress of a deposit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum DepositState {
    /// The node knows the send, but it is not confirmed. It does not count.
    Seen,
    /// The send is confirmed.
    Confirmed,
    /// Our receive block is confirmed.
    Received,
}

/// A send to an account of the journal.
#[derive(Debug, Clone)]
pub struct DepositRow {
    /// Hash of the depositor's send.
    pub send_hash: BlockHash,
    /// The escrow account that it pays.
    pub account: PublicKey,
    /// Amount that was sent.
    pub amount: Raw,
    /// Account that sent it.
    pub source: PublicKey,
    /// How far it is.
    pub state: DepositState,
    /// The part of the amount that counts for the contract.
    pub credited: Raw,
    /// When it was first seen, in Unix milliseconds.
    pub seen_at: i64,
    /// When it was found confirmed, in Unix milliseconds.
    pub confirmed_at: Option<i64>,
    /// Hash of our receive block, which is signed but perhaps not published.
    pub receive_hash: Option<BlockHash>,
    /// The plan that gives its excess back.
    pub refund_plan: Option<i64>,
}

impl DepositRow {
    /// The part of the amount that does not count and goes back.
    pub fn excess(&self) -> Raw {
        self.amount.saturating_sub(self.credited)
    }
}

/// A decision to receive or to pay, which becomes one or more blocks.
#[derive(Debug, Clone)]
pub struct PlanRow {
    /// Primary key of the table.
    pub id: i64,
    /// Name of the contract that the plan belongs to.
    pub contract: String,
    /// `receive`, `refund`, or the caller's word.
    pub kind: String,
    /// The round, the deposit's hash, or the caller's id.
    pub key: String,
    /// Plans of higher priority are published first.
    pub priority: i64,
    /// Digest of the request, to compare with a repeated one.
    pub digest: [u8; 32],
    /// Whether every block of it is confirmed.
    pub done: bool,
    /// When it was decided, in Unix milliseconds.
    pub created_at: i64,
    /// When its last block was confirmed, in Unix milliseconds.
    pub done_at: Option<i64>,
}

/// A step of a plan.
#[derive(Debug, Clone)]
pub struct LegRow {
    /// Primary key of the plan.
    pub plan: i64,
    /// Place of the step in the plan.
    pub leg: i64,
    /// The account whose chain the step extends.
    pub account: PublicKey,
    /// Whether the step is a send; otherwise it is a receive.
    pub is_send: bool,
    /// Public key of the destination, or hash of the deposit's send.
    pub link: [u8; 32],
    /// Amount that is received or sent.
    pub amount: Raw,
}

/// Progress of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockState {
    /// Signed and written to the journal, not yet accepted by a node.
    Signed,
    /// A node has accepted it.
    Published,
    /// A node reports it as confirmed.
    Confirmed,
    /// Another block is confirmed in its place.
    Dead,
}

/// A block of an escrow account, signed by this journal or adopted from the ledger.
#[derive(Debug, Clone)]
pub struct BlockRow {
    /// Hash of the block.
    pub hash: BlockHash,
    /// The escrow account whose chain it belongs to.
    pub account: PublicKey,
    /// Place in the account's block chain, counted from 1.
    pub height: u64,
    /// Hash of the block before it; zero for the first.
    pub previous: BlockHash,
    /// Open, receive, send, change or epoch.
    pub subtype: Subtype,
    /// Balance of the account after it.
    pub balance: Raw,
    /// Public key of the destination, or hash of the source block.
    pub link: [u8; 32],
    /// Representative that the block names.
    pub rep: PublicKey,
    /// Change of the balance, without its sign.
    pub amount: Raw,
    /// Signature of the account's key, or of the epoch signer for an epoch block.
    pub signature: Signature,
    /// How far it is.
    pub state: BlockState,
    /// Whether this journal signed it; otherwise it was found on the ledger and adopted.
    pub ours: bool,
    /// The leg that it does: primary key of the plan, and place in it.
    pub leg: Option<(i64, i64)>,
    /// When it was signed or adopted, in Unix milliseconds.
    pub signed_at: i64,
    /// When a node accepted it, in Unix milliseconds.
    pub published_at: Option<i64>,
    /// When it was found confirmed, in Unix milliseconds.
    pub confirmed_at: Option<i64>,
}

impl BlockRow {
    /// The signed block, without proof of work.
    pub fn signed(&self) -> SignedBlock {
        SignedBlock { block: self.block(), signature: self.signature, work: None }
    }

    /// The fields that the block's hash covers.
    pub fn block(&self) -> StateBlock {
        StateBlock {
            account: self.account,
            previous: self.previous,
            representative: self.rep,
            balance: self.balance,
            link: self.link,
        }
    }
}

/// An error that an operator has to look at.
#[derive(Debug, Clone)]
pub struct AlarmRow {
    /// Primary key of the table; alarms are listed in its order.
    pub id: i64,
    /// The account that the alarm is about, if there is one.
    pub account: Option<PublicKey>,
    /// Stable number of the error.
    pub code: u32,
    /// Text of the error.
    pub message: String,
    /// When the alarm was raised, in Unix milliseconds.
    pub at: i64,
    /// Whether an operator has cleared it, by resuming the account.
    pub cleared: bool,
}

fn bytes<const N: usize>(bytes: &[u8], what: &str) -> Result<[u8; N]> {
    bytes.try_into().map_err(|_| JournalError::Corrupt(format!("{what} has {} bytes, not {N}", bytes.len())))
}

/// A column of 32 bytes.
pub(crate) fn blob32(row: &SqliteRow, column: &str) -> Result<[u8; 32]> {
    bytes(row.try_get::<&[u8], _>(column)?, column)
}

/// A column that holds an amount.
pub(crate) fn blob16(row: &SqliteRow, column: &str) -> Result<Raw> {
    Ok(Raw::from_be_bytes(bytes(row.try_get::<&[u8], _>(column)?, column)?))
}

fn maybe32(row: &SqliteRow, column: &str) -> Result<Option<[u8; 32]>> {
    row.try_get::<Option<&[u8]>, _>(column)?.map(|b| bytes(b, column)).transpose()
}

fn unsigned(row: &SqliteRow, column: &str) -> Result<u64> {
    let value: i64 = row.try_get(column)?;
    u64::try_from(value).map_err(|_| JournalError::Corrupt(format!("{column} is {value}")))
}

fn word<T>(row: &SqliteRow, column: &str, read: impl Fn(&str) -> Option<T>) -> Result<T> {
    let text: &str = row.try_get(column)?;
    read(text).ok_or_else(|| JournalError::Corrupt(format!("{column} is {text:?}")))
}

impl DepositState {
    /// As it is stored and printed.
    pub fn name(self) -> &'static str {
        match self {
            DepositState::Seen => "seen",
            DepositState::Confirmed => "confirmed",
            DepositState::Received => "received",
        }
    }

    fn read(text: &str) -> Option<Self> {
        [Self::Seen, Self::Confirmed, Self::Received].into_iter().find(|s| s.name() == text)
    }
}

impl BlockState {
    /// As it is stored and printed.
    pub fn name(self) -> &'static str {
        match self {
            BlockState::Signed => "signed",
            BlockState::Published => "published",
            BlockState::Confirmed => "confirmed",
            BlockState::Dead => "dead",
        }
    }

    fn read(text: &str) -> Option<Self> {
        [Self::Signed, Self::Published, Self::Confirmed, Self::Dead].into_iter().find(|s| s.name() == text)
    }
}

fn account_row(row: SqliteRow) -> Result<AccountRow> {
    let expected: Option<&[u8]> = row.try_get("expected")?;
    let reason: Option<String> = row.try_get("stop_reason")?;
    let stop = row.try_get::<Option<u32>, _>("stop_code")?.map(|code| (code, reason.unwrap_or_default()));
    Ok(AccountRow {
        account: PublicKey(blob32(&row, "account")?),
        contract: row.try_get("contract")?,
        depositor: row.try_get("depositor")?,
        round: u32::try_from(unsigned(&row, "round")?)
            .map_err(|_| JournalError::Corrupt("a round is too large".into()))?,
        nonce: row.try_get("nonce")?,
        rep: PublicKey(blob32(&row, "rep")?),
        expected: expected.map(|b| bytes(b, "expected").map(Raw::from_be_bytes)).transpose()?,
        payer: maybe32(&row, "payer")?.map(PublicKey),
        head_hash: maybe32(&row, "head_hash")?.map_or(BlockHash::ZERO, BlockHash),
        head_balance: blob16(&row, "head_balance")?,
        height: unsigned(&row, "height")?,
        state: word(&row, "state", |t| match t {
            "open" => Some(AccountState::Open),
            "closed" => Some(AccountState::Closed),
            _ => None,
        })?,
        stop,
        over_cap: row.try_get::<i64, _>("over_cap")? != 0,
        created_at: row.try_get("created_at")?,
        closed_at: row.try_get("closed_at")?,
        secret: row.try_get("secret")?,
    })
}

fn deposit_row(row: SqliteRow) -> Result<DepositRow> {
    Ok(DepositRow {
        send_hash: BlockHash(blob32(&row, "send_hash")?),
        account: PublicKey(blob32(&row, "account")?),
        amount: blob16(&row, "amount")?,
        source: PublicKey(blob32(&row, "source")?),
        state: word(&row, "state", DepositState::read)?,
        credited: blob16(&row, "credited")?,
        seen_at: row.try_get("seen_at")?,
        confirmed_at: row.try_get("confirmed_at")?,
        receive_hash: maybe32(&row, "receive_hash")?.map(BlockHash),
        refund_plan: row.try_get("refund_plan")?,
    })
}

fn plan_row(row: SqliteRow) -> Result<PlanRow> {
    Ok(PlanRow {
        id: row.try_get("id")?,
        contract: row.try_get("contract")?,
        kind: row.try_get("kind")?,
        key: row.try_get("key")?,
        priority: row.try_get("priority")?,
        digest: blob32(&row, "digest")?,
        done: word(&row, "state", |t| match t {
            "open" => Some(false),
            "done" => Some(true),
            _ => None,
        })?,
        created_at: row.try_get("created_at")?,
        done_at: row.try_get("done_at")?,
    })
}

fn leg_row(row: SqliteRow) -> Result<LegRow> {
    Ok(LegRow {
        plan: row.try_get("plan")?,
        leg: row.try_get("leg")?,
        account: PublicKey(blob32(&row, "account")?),
        is_send: word(&row, "kind", |t| match t {
            "send" => Some(true),
            "receive" => Some(false),
            _ => None,
        })?,
        link: blob32(&row, "link")?,
        amount: blob16(&row, "amount")?,
    })
}

fn block_row(row: SqliteRow) -> Result<BlockRow> {
    let plan: Option<i64> = row.try_get("plan")?;
    let leg: Option<i64> = row.try_get("leg")?;
    Ok(BlockRow {
        hash: BlockHash(blob32(&row, "hash")?),
        account: PublicKey(blob32(&row, "account")?),
        height: unsigned(&row, "height")?,
        previous: BlockHash(blob32(&row, "previous")?),
        subtype: word(&row, "subtype", |t| t.parse().ok())?,
        balance: blob16(&row, "balance")?,
        link: blob32(&row, "link")?,
        rep: PublicKey(blob32(&row, "rep")?),
        amount: blob16(&row, "amount")?,
        signature: Signature(bytes(row.try_get::<&[u8], _>("signature")?, "signature")?),
        state: word(&row, "state", BlockState::read)?,
        ours: row.try_get::<i64, _>("ours")? != 0,
        leg: plan.zip(leg),
        signed_at: row.try_get("signed_at")?,
        published_at: row.try_get("published_at")?,
        confirmed_at: row.try_get("confirmed_at")?,
    })
}

fn some(hash: BlockHash) -> Option<Vec<u8>> {
    (!hash.is_zero()).then(|| hash.0.to_vec())
}

fn amount(raw: Raw) -> Vec<u8> {
    raw.to_be_bytes().to_vec()
}
