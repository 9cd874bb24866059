//! The self-audit: how things stand is derived again from the chain's accounts and compared with the index.

use crate::chain::{Kind, Ledger};
use crate::error::{Error, Result};
use crate::index::{Index, now_s};
use crate::merge::number;
use crate::parse::Touched;
use crate::status::LastAudit;
use crate::store::{AgentRow, BatchRow, ChallengeRow, Find, KeyRow, StakeRow, fixed, unsigned};
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use zx1_chain::rpc::audit::{
    Accounts, AgentClaim, BatchClaim, ChallengeClaim, Claims, KeyClaim, StakeClaim, TenureClaim, compare,
};
use zx1_chain::rpc::{RawAccount, Stored};
use zx1_interface::Layout;
use zx1_interface::accounts::FeedbackLogAccount;
use zx1_protocol::keys::OPEN;

pub use zx1_chain::rpc::audit::{Audit, Difference};

/// Reads the chain's accounts.
///
/// # Errors
///
/// The chain's.
pub async fn read(ledger: &dyn Ledger) -> Result<Accounts> {
    fn decode<T: Layout>(accounts: Vec<RawAccount>) -> Result<Vec<Stored<T>>> {
        accounts.iter().map(|account| Ok(Stored::<T>::decode(account)?)).collect()
    }
    let log = ledger.accounts(&[Touched::Log.address()]).await?.into_iter().next().flatten();
    let log = log.filter(|account| !account.data.is_empty());
    Ok(Accounts {
        tenures: decode(ledger.scan(Kind::Tenure).await?)?,
        keys: decode(ledger.scan(Kind::Key).await?)?,
        stakes: decode(ledger.scan(Kind::Stake).await?)?,
        leases: decode(ledger.scan(Kind::Lease).await?)?,
        heads: decode(ledger.scan(Kind::Head).await?)?,
        batches: decode(ledger.scan(Kind::Batch).await?)?,
        challenges: decode(ledger.scan(Kind::Challenge).await?)?,
        asks: decode(ledger.scan(Kind::Ask).await?)?,
        log: log.as_ref().map(Stored::<FeedbackLogAccount>::decode).transpose()?.map(|stored| stored.value),
    })
}

/// How often a difference is looked at again before it counts: the chain goes on while it is read.
const TRIES: usize = 4;

/// The self-audit of an index: a difference counts when it is there each time that the index has caught up.
///
/// # Errors
///
/// The chain's and the store's.
pub async fn self_audit(index: &Index) -> Result<Audit> {
    let mut lasting: Option<Audit> = None;
    for attempt in 1..=TRIES {
        let chain = read(&*index.ledger).await?;
        // What was read may be newer than the index; let it catch up with what was read.
        let there = index.ledger.slot(crate::chain::Finality::Confirmed).await?;
        for _ in 0..200 {
            if index.status.get().slot >= there {
                break;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        let mut audit = compare(&own_claims(index).await?, &chain, index.status.get().slot, now_s());
        if let Some(before) = lasting.take() {
            audit.keep_lasting(&before);
        }
        if audit.differences.is_empty() || attempt == TRIES {
            return Ok(audit);
        }
        lasting = Some(audit);
    }
    Err(Error::NotReady)
}

async fn own_claims(index: &Index) -> Result<Claims> {
    let store = &index.store;
    // One after the other while nothing is written, so that they belong together.
    let _writer = index.writer().await;
    let agents = store.agents(Find::all()).await?;
    let batches = store.batches(Find::all()).await?;
    let challenges = store.challenges(Find::all()).await?;
    let asks = store.asks(Find::all()).await?;
    let keys = store.keys(Find::by("closed", 0)).await?;
    let stakes = store.stakes(Find::all().sure("claimed_slot IS NULL")).await?;
    let lives = store.lives(Find::all()).await?;
    Ok(Claims {
        agents: agents.iter().map(|row| (row.mint, agent_claim(row))).collect(),
        stakes: stakes.iter().map(|row| ((row.agent, number(row.era)), stake_claim(row))).collect(),
        keys: Some(keys.iter().map(|row| ((row.agent, fixed(&row.key).into()), key_claim(row))).collect()),
        batches: batches.iter().map(|row| ((row.agent, unsigned(row.epoch)), batch_claim(row))).collect(),
        challenges: challenges
            .iter()
            .map(|row| ((fixed(&row.address).into(), unsigned(row.submitted_slot)), challenge_claim(row)))
            .collect(),
        asks: Some(
            asks.iter()
                .map(|row| ((fixed(&row.address).into(), unsigned(row.created_slot)), small(row.state)))
                .collect(),
        ),
        events: Some(
            lives
                .iter()
                .map(|row| ((fixed(&row.account).into(), unsigned(row.created_slot)), unsigned(row.events)))
                .collect(),
        ),
        log_head: Some(index.status.get().log_head),
    })
}

fn small(column: i64) -> u8 {
    u8::try_from(column).unwrap_or(u8::MAX)
}

fn agent_claim(row: &AgentRow) -> AgentClaim {
    let tenure = || {
        Some(TenureClaim {
            number: number(row.tenure?),
            era: number(row.era),
            owner: fixed(row.tenure_owner.as_deref()?).into(),
        })
    };
    AgentClaim {
        tenure: tenure(),
        paid_through: row.paid_through.map(unsigned),
        batches: unsigned(row.batches),
        head_digest: fixed(&row.head_digest),
    }
}

fn stake_claim(row: &StakeRow) -> StakeClaim {
    StakeClaim {
        stake: row.stake,
        unlock_slot: row.unlock_slot.map(unsigned),
        ended: row.ended_slot.is_some(),
        open_challenges: unsigned(row.open_challenges),
    }
}

fn key_claim(row: &KeyRow) -> KeyClaim {
    KeyClaim {
        scopes: small(row.scopes),
        from_epoch: unsigned(row.from_epoch),
        until_epoch: row.until_epoch.map_or(OPEN, unsigned),
    }
}

fn batch_claim(row: &BatchRow) -> BatchClaim {
    BatchClaim {
        batch_hash: fixed(&row.batch_hash),
        log_merkle_root: fixed(&row.log_root),
        arrays_root: fixed(&row.arrays_root),
        withheld: row.withheld_slot.is_some(),
    }
}

fn challenge_claim(row: &ChallengeRow) -> ChallengeClaim {
    ChallengeClaim { outcome: small(row.outcome), challenger: fixed(&row.challenger).into() }
}

/// The job: audits until cancelled, and keeps the last result for `/v1/audit`.
pub async fn run(index: Arc<Index>, last: Arc<std::sync::RwLock<Option<Audit>>>, cancel: CancellationToken) {
    let pause = Duration::from_secs(index.config.audit_secs);
    if pause.is_zero() {
        return;
    }
    loop {
        // The first when the first backfill is done.
        if index.status.get().ready {
            match self_audit(&index).await {
                Ok(audit) => {
                    for difference in &audit.differences {
                        tracing::error!(what = %difference.what, "{}", difference.sentence);
                    }
                    let differences = audit.differences.len();
                    index.metrics.differences.inc_by(differences as u64);
                    let at = audit.at;
                    *last.write().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(audit);
                    index.status.set(|it| it.last_audit = Some(LastAudit { at, differences }));
                }
                Err(error) => tracing::warn!(code = error.code(), %error, "the self-audit could not be made"),
            }
        }
        let wait = if index.status.get().ready { pause } else { Duration::from_secs(1) };
        tokio::select! {
            () = cancel.cancelled() => return,
            () = tokio::time::sleep(wait) => {}
        }
    }
}
