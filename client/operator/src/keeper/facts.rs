//! What the keeper knows: read from the chain and the agent's files, anew for every look.

use super::plan::{Ask, Batch, Challenge, Facts, KeyFaults, Stake};
use super::record::Record;
use crate::ask;
use crate::batch::{fetch, is_true};
use crate::challenge::{self, is_ripe};
use crate::error::Result;
use crate::identity::{Use, fault};
use crate::operator::{Agent, Operator, agent_folder};
use solana_address::Address;
use zx1_chain::rpc::registry::{IdentityRegistry as _, Sati};
use zx1_chain::rpc::{AskFilter, ChallengeFilter, Stored};
use zx1_interface::accounts::{AskAccount, BatchAccount, ChallengeAccount, StakeLockAccount};
use zx1_log::{AnyStore, SavedBatch};
use zx1_protocol::batch::is_void;
use zx1_protocol::challenge::Clock;
use zx1_protocol::ids::AgentId;
use zx1_protocol::keys::Scopes;
use zx1_protocol::units::{Epoch, MicroUsdc, Slot};

fn known(challenge: &Stored<ChallengeAccount>, now: Slot) -> Challenge {
    Challenge {
        address: challenge.address.to_string(),
        submitted: Slot(challenge.submitted_slot),
        answerable: challenge.expected_len > 0,
        ripe: is_ripe(challenge, now),
        settled: challenge.outcome != challenge::OPEN,
        passed: challenge.passed != 0,
    }
}

fn asked(ask: &Stored<AskAccount>) -> Ask {
    Ask { address: ask.address.to_string(), created: Slot(ask.created_slot), state: ask.state, waits: false }
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
    let stakes = client.stakes(agent.mint).await?;
    let tenure = client.tenure(agent.mint).await?;
    let present = tenure.as_ref().and_then(|tenure| stakes.iter().find(|stake| stake.era == tenure.era));
    let head = client.head(agent.mint).await?;
    let last_batch = head.as_ref().map(|head| Epoch(head.last_epoch));
    let batches = client.batches(agent.mint).await?;
    let against = client.challenges(ChallengeFilter::Agent(agent.mint)).await?;
    let own = client.challenges(ChallengeFilter::Challenger(wallet)).await?;
    let of_us = client.asks(AskFilter::Agent(agent.mint)).await?;
    let by_us = client.asks(AskFilter::Asker(wallet)).await?;
    let reader = operator.log_reader(agent);
    let saved = reader.batches().list()?;
    let signed = head.as_ref().and_then(|head| {
        let open = saved.iter().filter(|it| !is_void(&it.message, &head.digest, now.epoch));
        open.map(SavedBatch::epoch).max()
    });
    let epochs = reader.epochs()?;
    let first_unbatched = epochs
        .iter()
        .filter(|it| it.entries > 0 && it.epoch < now.epoch)
        .map(|it| it.epoch)
        .find(|epoch| last_batch.is_none_or(|last| last < *epoch));
    let not_served = not_served(store, &batches, &saved, now.slot).await?;
    let closable =
        |batch: &&Stored<BatchAccount>| batch.payer == *wallet.as_array() && is_quiet(&stakes, batch.era);
    let facts = Facts {
        epoch: now.epoch,
        slot: now.slot,
        key: faults(operator, agent, wallet, now.epoch).await?,
        paid_through: lease.map(|lease| Epoch(lease.paid_through_epoch)),
        stake: present.map(|stake| Stake {
            amount: MicroUsdc(stake.stake_usdc),
            ended: stake.ended_slot != 0,
            challenged: stake.open_challenges != 0,
        }),
        min_stake: MicroUsdc(config.min_stake),
        unlocking: present.is_some_and(|stake| stake.in_unlock_queue != 0),
        usdc: client.usdc_balance(wallet, Address::new_from_array(config.usdc_mint)).await?,
        lamports,
        has_head: head.is_some(),
        tenure_from: tenure.map(|tenure| Epoch(tenure.from_epoch)),
        last_batch,
        signed,
        first_unbatched,
        not_served,
        challenges: against.iter().map(|it| known(it, now.slot)).collect(),
        // A challenge that the operator filed against its own agent is in both lists; it is listed once.
        own_challenges: own
            .iter()
            .filter(|it| it.agent_id != agent.mint.0)
            .map(|it| known(it, now.slot))
            .collect(),
        asks: of_us.iter().map(asked).collect(),
        own_asks: own_asks(operator, &by_us).await?,
        batches: batches
            .iter()
            .filter(closable)
            .map(|it| Batch { epoch: Epoch(it.epoch_number), submitted: Slot(it.submitted_slot) })
            .collect(),
        spent_usdc: record.day.spent_micro_usdc,
        spent_lamports: record.day.lamports_at_start.saturating_sub(lamports),
    };
    Ok((facts, record))
}

/// What the wallet may not do for the agent, and why.
async fn faults(operator: &Operator, agent: &Agent, wallet: Address, epoch: Epoch) -> Result<KeyFaults> {
    let sati = Sati::connect(operator.client()).await?;
    let holder = sati.look_up(agent.mint).await?.and_then(|record| record.owner);
    let Some(holder) = holder else {
        let why = "the agent was burned, or is not registered".to_owned();
        return Ok(KeyFaults { pay: Some(why.clone()), batch: Some(why) });
    };
    let key = operator.client().key(agent.mint, wallet).await?;
    let fault = |scope| fault(key.as_deref(), Use::Act(scope, holder), epoch);
    // The holder pays without being listed, and signs batches only as a key.
    let pay = if wallet == holder { None } else { fault(Scopes::PAY) };
    Ok(KeyFaults { pay, batch: fault(Scopes::BATCH) })
}

/// Whether no challenge and no ask is open against an era's batches.
fn is_quiet(stakes: &[Stored<StakeLockAccount>], era: u32) -> bool {
    let stake = stakes.iter().find(|stake| stake.era == era);
    stake.is_none_or(|stake| stake.open_challenges == 0 && stake.open_asks == 0)
}

/// The wallet's own asks; whether one whose batch is marked has to wait for its money.
async fn own_asks(operator: &Operator, asks: &[Stored<AskAccount>]) -> Result<Vec<Ask>> {
    let mut found = Vec::with_capacity(asks.len());
    for account in asks {
        let waits = if account.state == ask::WITHHELD {
            let stake = operator.client().stake(AgentId(account.agent_id), account.era).await?;
            stake.is_some_and(|stake| stake.open_challenges > 0)
        } else {
            false
        };
        found.push(Ask { waits, ..asked(account) });
    }
    Ok(found)
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
