//! What changes on chain about agents: events of the programs that keep keys, stakes and leases. Whoever they are about is
//! asked for anew at once. What is missed here is read again with age.

use crate::defaults::{CHAIN_WITHIN, CHANGES_AT_ONCE, CHANGES_EVERY, CHANGES_EVERY_LOCAL};
use crate::facts::Cluster;
use solana_address::Address;
use std::collections::BTreeSet;
use std::sync::Arc;
use tokio::time::{MissedTickBehavior, interval, timeout};
use tokio_util::sync::CancellationToken;
use zx1_chain::pda::event_authority;
use zx1_chain::rpc::{Event, HistoryEntry};
use zx1_interface::ids::{LEASE, STAKE_LOCK};
use zx1_protocol::ids::AgentId;

/// Looks until cancelled.
pub async fn follow(cluster: Arc<Cluster>, cancel: CancellationToken) {
    // Without gates nobody is asked for.
    if cluster.is_dev() {
        return;
    }
    let mut ticks = interval(if cluster.is_local() { CHANGES_EVERY_LOCAL } else { CHANGES_EVERY });
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    // Every transaction with an event names its program's authority.
    let mut programs = [STAKE_LOCK, LEASE].map(|program| (event_authority(program), Cursor::default()));
    while cancel.run_until_cancelled(ticks.tick()).await.is_some() {
        for (authority, cursor) in &mut programs {
            let looked = cancel.run_until_cancelled(look(&cluster, *authority, cursor)).await;
            let Some(changed) = looked else { return };
            changed.iter().for_each(|agent| cluster.changed(agent));
        }
    }
}

/// The agents that what is new is about.
async fn look(cluster: &Cluster, authority: Address, cursor: &mut Cursor) -> BTreeSet<AgentId> {
    let mut changed = BTreeSet::new();
    let asked = timeout(CHAIN_WITHIN, cluster.client().history(authority, CHANGES_AT_ONCE)).await;
    let Ok(Ok(history)) = asked else { return changed };
    for entry in cursor.take(&history) {
        let asked = timeout(CHAIN_WITHIN, cluster.client().find_transaction(&entry.signature)).await;
        let Ok(Ok(Some(landed))) = asked else { continue };
        changed.extend(landed.events().iter().filter_map(agent_of));
    }
    changed
}

/// Up to where a history was looked at.
#[derive(Debug, Default)]
struct Cursor {
    newest: Option<HistoryEntry>,
}

impl Cursor {
    /// The entries that are new, of a history whose newest entry comes first. Of the first history there are none.
    fn take(&mut self, history: &[HistoryEntry]) -> Vec<HistoryEntry> {
        let known = self.newest.replace(match history.first() {
            Some(newest) => *newest,
            None => return Vec::new(),
        });
        let Some(known) = known else { return Vec::new() };
        let new = history.iter().take_while(|entry| entry.signature != known.signature);
        new.filter(|entry| !entry.failed).copied().collect()
    }
}

/// Whom an event of one of the two programs is about.
fn agent_of(event: &Event) -> Option<AgentId> {
    Some(AgentId(match event {
        Event::TenureOpened(it) => it.agent_mint,
        Event::TakenOver(it) => it.agent_mint,
        Event::KeyAdded(it) => it.agent_mint,
        Event::KeyEnded(it) => it.agent_mint,
        Event::KeyClosed(it) => it.agent_mint,
        Event::StakeLocked(it) => it.agent_mint,
        Event::EraEnded(it) => it.agent_mint,
        Event::UnlockQueued(it) => it.agent_mint,
        Event::UnlockCanceled(it) => it.agent_mint,
        Event::StakeClaimed(it) => it.agent_mint,
        Event::StakeMoved(it) => it.agent_mint,
        Event::LeasePaid(it) => it.agent_id,
        Event::GracePeriodEntered(it) => it.agent_id,
        Event::LeaseExpired(it) => it.agent_id,
        _ => return None,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(number: u8, failed: bool) -> HistoryEntry {
        HistoryEntry { signature: [number; 64].into(), slot: 1, block_time: None, failed }
    }

    #[test]
    fn what_is_new_is_taken_once_and_what_was_there_before_never() {
        let mut cursor = Cursor::default();
        let signatures = |entries: Vec<HistoryEntry>| -> Vec<u8> {
            entries.iter().map(|entry| entry.signature.as_ref()[0]).collect()
        };
        assert!(cursor.take(&[]).is_empty());
        assert!(cursor.take(&[entry(2, false), entry(1, false)]).is_empty());
        let history = [entry(5, false), entry(4, true), entry(3, false), entry(2, false)];
        assert_eq!(signatures(cursor.take(&history)), [5, 3]);
        assert!(cursor.take(&history).is_empty());
        // A history that does not reach back to what is known is taken as far as it goes.
        assert_eq!(signatures(cursor.take(&[entry(9, false), entry(8, false)])), [9, 8]);
    }
}
