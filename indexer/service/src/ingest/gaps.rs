//! Gaps: sequence numbers that are missing. First the account's own history is asked, which other nodes'
//! holes in a program's list do not touch; what is not there either is repaired from the account's state.

use super::{Ingest, Moved, places};
use crate::chain::{Finality, Listed};
use crate::error::Result;
use crate::merge::{Life, Trust, missing};
use crate::parse::Touched;
use crate::store::{Commit, Find, GapRow, Remove, fixed, signed, unsigned};
use solana_address::Address;
use std::collections::BTreeSet;
use zx1_protocol::ids::AgentId;

impl Ingest {
    /// Closes what gaps can be closed.
    pub(super) async fn repair(&self) -> Result<()> {
        let index = &self.index;
        let open = index.store.gaps(Find::by("state", "open")).await?;
        index.status.set(|standing| standing.gaps_open = i64::try_from(open.len()).unwrap_or(i64::MAX));
        let lives: BTreeSet<Life> = open.iter().map(|gap| (fixed(&gap.account), gap.created_slot)).collect();
        for (account, created) in lives {
            let address = Address::new_from_array(account);
            tracing::warn!(account = %address, created, "events are missing; looking for them");
            let from = unsigned(created).saturating_sub(1);
            let to = index.writer().await.cursor;
            let listed =
                self.history(Address::new_from_array(account), from, to, Finality::Confirmed).await?;
            let listed: BTreeSet<Listed> = listed.into_iter().filter(|listed| !listed.failed).collect();
            let listed: Vec<Listed> = listed.into_iter().collect();
            let finalized = signed(index.writer().await.finalized);
            let known = index.store.known(&places(&listed), finalized).await?;
            let new: Vec<Listed> = listed.into_iter().filter(|it| !known.contains(&it.signature)).collect();
            if !new.is_empty() {
                let parsed = self.read(&new, Finality::Confirmed, true).await?;
                self.take(parsed, &[], Moved::LATE).await?;
            }
            self.close(account, created).await?;
        }
        Ok(())
    }

    /// Looks at a life in which an event came late.
    pub(super) async fn recheck(&self, (account, created): Life) -> Result<()> {
        let gaps =
            self.index.store.gaps(Find::by("account", account).and("created_slot", "=", created)).await?;
        let here = self.index.store.sequences(&account, created).await?;
        let last = here.last().copied().unwrap_or(-1);
        let still = missing(&here, last);
        let mut commit = Commit::default();
        for gap in gaps {
            let is_open = still.iter().any(|(first, end)| *first <= gap.last && *end >= gap.first);
            if !is_open && gap.state != "refilled" {
                commit.gaps.push(GapRow { state: "refilled".to_owned(), ..gap });
            }
        }
        self.index.write_rows(commit).await
    }

    /// Marks what is still missing as repaired from the state, after the state was read.
    async fn close(&self, account: [u8; 32], created: i64) -> Result<()> {
        let index = &self.index;
        let mut writer = index.writer().await;
        let here = index.store.sequences(&account, created).await?;
        let last = here.last().copied().unwrap_or(-1);
        let still = missing(&here, last);
        let gaps = index.store.gaps(Find::by("account", account).and("created_slot", "=", created)).await?;
        let found_slot = gaps.iter().map(|gap| gap.found_slot).min().unwrap_or(created);
        let mut commit = Commit::default();
        if still.is_empty() {
            commit.gaps =
                gaps.into_iter().map(|gap| GapRow { state: "refilled".to_owned(), ..gap }).collect();
            return index.write_rows(commit).await;
        }
        commit.remove.push(Remove::Gaps(account.to_vec(), created));
        commit.gaps = still
            .into_iter()
            .map(|(first, last)| GapRow {
                account: account.to_vec(),
                created_slot: created,
                first,
                last,
                found_slot,
                state: "from_state".to_owned(),
            })
            .collect();
        // Whose account it is follows from an event of it that is here.
        let events = Find::by("account", account).and("created_slot", "=", created).limit(1);
        let event = index.store.events(events).await?.into_iter().next();
        let agents: BTreeSet<AgentId> = event.and_then(|stored| stored.row.agent).into_iter().collect();
        let mut merge = index.load(&crate::merge::Needs::default(), &agents).await?;
        for mint in agents {
            merge.touch(mint);
        }
        let challenges = merge.challenges.keys();
        let asks = merge.asks.keys();
        let open = merge.batches.values().filter(|batch| batch.open != 0);
        let touched: Vec<Touched> = challenges
            .map(|(address, created)| Touched::Challenge(*address, unsigned(*created)))
            .chain(asks.map(|(address, created)| Touched::Ask(*address, unsigned(*created))))
            .chain(open.map(|batch| Touched::Batch(batch.agent, unsigned(batch.epoch))))
            .collect();
        merge.touched.extend(touched);
        self.read_states(&mut merge, Trust::Any).await?;
        let stale = std::mem::take(&mut merge.stale);
        index.write(&mut writer, merge, Vec::new(), &[], commit).await?;
        drop(writer);
        self.refresh(&stale).await
    }
}
