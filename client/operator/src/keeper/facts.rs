//! What the keeper knows: read from the chain and the agent's files, anew for every look.

use super::plan::{Batch, Challenge, Facts};
use super::record::Record;
use crate::batch::{fetch, is_true};
use crate::error::Result;
use crate::operator::{Agent, Operator, agent_folder};
use solana_address::Address;
use zx1_chain::rpc::{ChallengeFilter, Stored};
use zx1_interface::accounts::{BatchAccount, ChallengeAccount};
use zx1_interface::constants::MAX_BATCH_AGE_EPOCHS;
use zx1_log::{AnyStore, SavedBatch};
use zx1_protocol::challenge::Clock;
use zx1_protocol::units::{Epoch, MicroUsdc, Slot};

fn known(challenge: &Stored<ChallengeAccount>) -> Challenge {
    Challenge {
        address: challenge.address.to_string(),
        submitted: Slot(challenge.submitted_slot),
        answered: challenge.answered != 0,
        resolved: challenge.resolved != 0,
    }
}

/// Reads it all. The record of the day begins with it.
pub(super) async fn read(
    operator: &Operator,
    agent: &Agent,
    wallet: Address,
    store: Option<&AnyStore>,
) -> Result<(Facts, Record)> {
    let client = operator.client();
    let config = client.config().await?;
    let now = operator.now().await?;
    let lamports = client.lamports(wallet).await?;
    let record = Record::open(&agent_folder(&operator.home, agent), now.epoch.0, lamports)?;
    let lease = client.lease(agent.mint).await?;
    let stake = client.stake(agent.mint).await?;
    let head = client.head(agent.mint).await?;
    let last_batch = head.map(|head| Epoch(head.last_epoch));
    let batches = client.batches(agent.mint).await?;
    let against = client.challenges(ChallengeFilter::Agent(agent.mint)).await?;
    let own = client.challenges(ChallengeFilter::Challenger(wallet)).await?;
    let reader = operator.log_reader(agent);
    let saved = reader.batches().list()?;
    let oldest = now.epoch.0.saturating_sub(MAX_BATCH_AGE_EPOCHS);
    let signed = saved.iter().map(SavedBatch::epoch).max();
    let signed = signed.filter(|epoch| epoch.0 >= oldest && last_batch.is_none_or(|last| last < *epoch));
    let epochs = reader.epochs()?;
    let first_unbatched = epochs
        .iter()
        .filter(|it| it.entries > 0 && it.epoch < now.epoch)
        .map(|it| it.epoch)
        .find(|epoch| last_batch.is_none_or(|last| last < *epoch));
    let not_served = not_served(store, &batches, &saved, now.slot).await?;
    let ours = |batch: &&Stored<BatchAccount>| batch.payer == *wallet.as_array();
    let facts = Facts {
        epoch: now.epoch,
        slot: now.slot,
        paid_through: lease.map(|lease| Epoch(lease.paid_through_epoch)),
        stake: stake.as_ref().map(|stake| MicroUsdc(stake.stake_usdc)),
        unlocking: stake.is_some_and(|stake| stake.in_unlock_queue != 0),
        usdc: client.usdc_balance(wallet, Address::new_from_array(config.usdc_mint)).await?,
        lamports,
        last_batch,
        signed,
        first_unbatched,
        not_served,
        challenges: against.iter().map(known).collect(),
        // A challenge that the operator filed against its own agent is in both lists; it is listed once.
        own_challenges: own.iter().filter(|it| it.agent_id != agent.mint.0).map(known).collect(),
        batches: batches
            .iter()
            .filter(ours)
            .map(|it| Batch { epoch: Epoch(it.epoch_number), submitted: Slot(it.submitted_slot) })
            .collect(),
        spent_usdc: record.day.spent_micro_usdc,
        spent_lamports: record.day.lamports_at_start.saturating_sub(lamports),
    };
    Ok((facts, record))
}

/// Batches that can still be challenged, whose data is here and not at the place.
async fn not_served(
    store: Option<&AnyStore>,
    batches: &[Stored<BatchAccount>],
    saved: &[SavedBatch],
    now: Slot,
) -> Result<Vec<Epoch>> {
    let Some(store) = store else { return Ok(Vec::new()) };
    let mut missing = Vec::new();
    for batch in batches {
        let epoch = Epoch(batch.epoch_number);
        let open = Clock { submitted: Slot(batch.submitted_slot) }.is_open(now);
        let here = saved.iter().any(|it| it.epoch() == epoch && it.has_data);
        if open && here && !fetch(store, batch).await.is_ok_and(|bytes| is_true(&bytes, batch)) {
            missing.push(epoch);
        }
    }
    Ok(missing)
}
