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
    /// Deposits count.
    Open,
    /// Settled or expired: what arrives goes back.
    Closed,
}

/// An account of the journal.
#[derive(Clone)]
pub struct AccountRow {
    /// Its key.
    pub account: PublicKey,
    /// Whose money it holds: the contract, opaque.
    pub contract: String,
    /// Who pays in.
    pub depositor: String,
    /// Which time.
    pub round: u32,
    /// From which the key is derived; half of a secret, so there is no `Debug`.
    pub nonce: Vec<u8>,
    /// Its representative.
    pub rep: PublicKey,
    /// What should be deposited; none: anything counts.
    pub expected: Option<Raw>,
    /// Whose deposits count; none: anybody's.
    pub payer: Option<PublicKey>,
    /// The last block that is decided, published or not. Zero: no block.
    pub head_hash: BlockHash,
    /// The balance after it.
    pub head_balance: Raw,
    /// How many blocks there are.
    pub height: u64,
    /// Open or closed.
    pub state: AccountState,
    /// Number and reason when work on it has stopped.
    pub stop: Option<(u16, String)>,
    /// There were more deposits than are looked at.
    pub over_cap: bool,
    /// When it was made, unix milliseconds.
    pub created_at: i64,
}

impl AccountRow {
    /// The end of its chain.
    pub fn head(&self) -> Head {
        Head {
            account: self.account,
            frontier: self.head_hash,
            balance: self.head_balance,
            representative: self.rep,
        }
    }

    /// For sentences: `contract/depositor/round`.
    pub fn name(&self) -> String {
        format!("{}/{}/{}", self.contract, self.depositor, self.round)
    }
}

/// How far a deposit is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum DepositState {
    /// The send is known but not confirmed. Counts for nothing.
    Seen,
    /// The send is confirmed.
    Confirmed,
    /// Our receive is confirmed.
    Received,
}

/// A send to an account of the journal.
#[derive(Debug, Clone)]
pub struct DepositRow {
    /// Its hash.
    pub send_hash: BlockHash,
    /// Our account.
    pub account: PublicKey,
    /// What was sent.
    pub amount: Raw,
    /// Who sent it.
    pub source: PublicKey,
    /// How far it is.
    pub state: DepositState,
    /// How much of it counts for the contract.
    pub credited: Raw,
    /// When it was seen first, unix milliseconds.
    pub seen_at: i64,
    /// When it was found confirmed.
    pub confirmed_at: Option<i64>,
    /// Our receive, signed but perhaps not published.
    pub receive_hash: Option<BlockHash>,
    /// The plan that gives its excess back.
    pub refund_plan: Option<i64>,
}

impl DepositRow {
    /// What does not count and goes back.
    pub fn excess(&self) -> Raw {
        self.amount.saturating_sub(self.credited)
    }
}

/// A decision.
#[derive(Debug, Clone)]
pub struct PlanRow {
    /// Its number.
    pub id: i64,
    /// Of which contract.
    pub contract: String,
    /// What kind: `receive`, `refund`, or the caller's word.
    pub kind: String,
    /// The round, the deposit's hash, or the caller's id.
    pub key: String,
    /// Higher is published first.
    pub priority: i64,
    /// Of what was asked.
    pub digest: [u8; 32],
    /// Whether every block of it is confirmed.
    pub done: bool,
    /// When it was decided, unix milliseconds.
    pub created_at: i64,
    /// When its last block was confirmed.
    pub done_at: Option<i64>,
}

/// A step of a plan.
#[derive(Debug, Clone)]
pub struct LegRow {
    /// Its plan.
    pub plan: i64,
    /// Its place in the plan.
    pub leg: i64,
    /// The account that acts.
    pub account: PublicKey,
    /// A send, or a receive.
    pub is_send: bool,
    /// The destination, or the hash of the send.
    pub link: [u8; 32],
    /// What moves.
    pub amount: Raw,
}

/// How far a block is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockState {
    /// Only in the journal.
    Signed,
    /// A node has taken it.
    Published,
    /// A node says that it is confirmed.
    Confirmed,
    /// Another block is confirmed in its place.
    Dead,
}

/// A block, ours or adopted.
#[derive(Debug, Clone)]
pub struct BlockRow {
    /// Its hash.
    pub hash: BlockHash,
    /// Its account.
    pub account: PublicKey,
    /// Its place in the account's chain, from 1.
    pub height: u64,
    /// The block before it.
    pub previous: BlockHash,
    /// What it does.
    pub subtype: Subtype,
    /// The balance after it.
    pub balance: Raw,
    /// Destination or source.
    pub link: [u8; 32],
    /// Representative.
    pub rep: PublicKey,
    /// What it moves.
    pub amount: Raw,
    /// The signature.
    pub signature: Signature,
    /// How far it is.
    pub state: BlockState,
    /// Signed by this journal, not found on chain.
    pub ours: bool,
    /// The leg that it does: plan and place.
    pub leg: Option<(i64, i64)>,
    /// When it was signed or adopted, unix milliseconds.
    pub signed_at: i64,
    /// When a node took it.
    pub published_at: Option<i64>,
    /// When it was found confirmed.
    pub confirmed_at: Option<i64>,
}

impl BlockRow {
    /// The block as it is signed, without work.
    pub fn signed(&self) -> SignedBlock {
        SignedBlock { block: self.block(), signature: self.signature, work: None }
    }

    /// What its hash covers.
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

/// What a person must look at.
#[derive(Debug, Clone)]
pub struct AlarmRow {
    /// Its number.
    pub id: i64,
    /// The account.
    pub account: Option<PublicKey>,
    /// The error's number.
    pub code: u16,
    /// The sentence.
    pub message: String,
    /// When, unix milliseconds.
    pub at: i64,
    /// Whether it is settled.
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
    let stop_code: Option<i64> = row.try_get("stop_code")?;
    let stop = match stop_code {
        None => None,
        Some(code) => {
            let reason: Option<String> = row.try_get("stop_reason")?;
            Some((u16::try_from(code).unwrap_or(u16::MAX), reason.unwrap_or_default()))
        }
    };
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
