//! The second watermark: what was indexed when it was confirmed is compared with the finalized history.

use super::{Ingest, Moved, is_same, places, slot_chunks};
use crate::chain::{Finality, Listed};
use crate::error::Result;
use crate::index::now_ms;
use crate::merge::{Needs, Trust, announce_retraction, is_retraction, missing};
use crate::parse::{REGISTERED, event_of};
use crate::store::{Commit, EventRow, Find, GapRow, LifeRow, Remove, fixed, signed, unsigned};
use std::collections::{BTreeSet, HashSet};
use zx1_chain::rpc::Event;
use zx1_protocol::ids::AgentId;

impl Ingest {
    /// Compares what became final since the last time, and moves the watermark. Transactions that vanished
    /// are rolled back; those that only the finalized history shows are taken.
    pub(super) async fn finalize(&self) -> Result<()> {
        let index = &self.index;
        let final_slot = index.ledger.slot(Finality::Finalized).await?;
        index.status.set(|standing| standing.chain_finalized = final_slot);
        let (from, cursor) = {
            let writer = index.writer().await;
            (writer.finalized, writer.cursor)
        };
        let to = final_slot.min(cursor);
        if to.saturating_sub(from) < index.config.chain.finalize_every_slots.max(1) {
            return Ok(());
        }
        self.compare(from, to).await
    }

    /// Compares the slots after `from`, the watermark, up to and including `to`, which are final now.
    pub(super) async fn compare(&self, from: u64, to: u64) -> Result<()> {
        let index = &self.index;
        let listed = self.list(from, to, Finality::Finalized).await?;
        let listed: Vec<Listed> = listed.into_iter().filter(|listed| !listed.failed).collect();
        let lasting: HashSet<([u8; 64], u64)> = listed.iter().map(|it| (it.signature, it.slot)).collect();
        let have = index.store.signatures(signed(from), signed(to)).await?;
        let vanished: Vec<[u8; 64]> = have
            .iter()
            .filter(|(signature, slot)| !lasting.contains(&(*signature, unsigned(*slot))))
            .map(|(signature, _)| *signature)
            .collect();
        if !vanished.is_empty() {
            tracing::warn!(count = vanished.len(), from, to, "transactions vanished and are rolled back");
            index.metrics.rolled_back.inc_by(vanished.len() as u64);
            self.roll_back(&vanished).await?;
        }
        let have: HashSet<([u8; 64], u64)> =
            have.into_iter().map(|(signature, slot)| (signature, unsigned(slot))).collect();
        let missed: Vec<Listed> = {
            let writer = index.writer().await;
            let is_new =
                |it: &&Listed| !have.contains(&(it.signature, it.slot)) && !writer.seen.contains(*it);
            listed.iter().filter(is_new).copied().collect()
        };
        if !missed.is_empty() {
            // One that is here in another slot landed a second time, on the fork that won.
            let moved = index.store.known(&places(&missed), signed(from)).await?;
            if !moved.is_empty() {
                self.roll_back(&moved).await?;
            }
            for chunk in slot_chunks(&missed, index.config.chain.chunk.max(1)) {
                let parsed = self.read(&chunk, Finality::Finalized, true).await?;
                self.take(parsed, &[], Moved::LATE).await?;
            }
        }
        let mut writer = index.writer().await;
        let meta = vec![("finalized", to.to_string())];
        index.store.commit(Commit { meta, ..Commit::default() }).await?;
        writer.finalized = to;
        Self::forget(&mut writer, to);
        index.status.set(|standing| standing.finalized = to);
        Ok(())
    }

    /// Takes transactions away with all that followed from them.
    pub(super) async fn roll_back(&self, signatures: &[[u8; 64]]) -> Result<()> {
        let index = &self.index;
        let mut writer = index.writer().await;
        let by = || Find::any("signature", signatures.iter().copied());
        // Only what is not final vanishes.
        let find = by().and("slot", ">", signed(writer.finalized));
        let stored = index.store.events(find.order(&["slot", "position", "ordinal"])).await?;
        let gone: Vec<EventRow> = stored.into_iter().map(|stored| stored.row).collect();
        let needs = Needs::of(&gone);
        let agents: BTreeSet<AgentId> = gone.iter().filter_map(|row| row.agent).collect();
        let mut merge = index.load(&needs, &agents).await?;
        let mut commit = Commit::default();
        let whole: BTreeSet<(i64, &[u8])> = gone.iter().map(|row| (row.slot, &row.signature[..])).collect();
        commit.remove.extend(whole.iter().map(|(slot, it)| Remove::Transaction(*slot, it.to_vec())));
        let mut entries: BTreeSet<i64> = BTreeSet::new();
        for row in &gone {
            if row.name == REGISTERED {
                continue;
            }
            match event_of(row) {
                Some(Event::BatchSubmitted(e)) => {
                    let (agent, epoch) = (AgentId(e.agent_id), signed(e.epoch_number));
                    merge.batches.remove(&(agent, epoch));
                    commit.remove.push(Remove::Batch(agent, epoch));
                }
                // A take-over leaves the claim with the one who had it.
                Some(Event::ChallengeSubmitted(e)) if e.replaced == [0; 32] => {
                    merge.challenges.remove(&(fixed(&row.account), row.created_slot));
                    commit.remove.push(Remove::Challenge(row.account.clone(), row.created_slot));
                }
                Some(Event::LeafAsked(_)) => {
                    merge.asks.remove(&(fixed(&row.account), row.created_slot));
                    commit.remove.push(Remove::Ask(row.account.clone(), row.created_slot));
                }
                Some(Event::FeedbackSubmitted(e)) => {
                    merge.feedback.remove(&signed(e.index));
                    entries.insert(signed(e.index));
                }
                Some(Event::FeedbackResolved(e)) => {
                    if let Some(entry) = merge.feedback.get_mut(&signed(e.index)) {
                        entry.resolution_slot = None;
                        entry.contract_hash = None;
                        entry.fix_commit = None;
                        entry.maintainer = None;
                    }
                }
                _ => {}
            }
        }
        for entry in entries {
            // Its resolution may be among what vanished as well.
            merge.feedback.remove(&entry);
            commit.remove.push(Remove::Feedback(entry));
        }
        for ((account, created), life) in std::mem::take(&mut merge.lives) {
            let of_life = |row: &&EventRow| row.account == account && row.created_slot == created;
            let lost: Vec<i64> = gone.iter().filter(of_life).map(|row| row.sequence).collect();
            let first = lost.iter().copied().min().unwrap_or(i64::MAX);
            // A number that vanished may be here a second time, from the fork that won.
            let find = Find::by("account", account).and("created_slot", "=", created);
            let later = index.store.events(find.and("sequence", ">=", first)).await?;
            let later = later.iter().filter(|it| !gone.iter().any(|gone| is_same(gone, &it.row)));
            let mut left = index.store.sequences(&account, created).await?;
            left.retain(|sequence| *sequence < first);
            left.extend(later.map(|it| it.row.sequence));
            left.sort_unstable();
            left.dedup();
            let events = life.events.saturating_sub(i64::try_from(lost.len()).unwrap_or(i64::MAX));
            match left.last() {
                Some(last) => {
                    commit.gaps.extend(missing(&left, *last).into_iter().map(|(first, last)| GapRow {
                        account: account.to_vec(),
                        created_slot: created,
                        first,
                        last,
                        found_slot: signed(writer.cursor),
                        state: "open".to_owned(),
                    }));
                    merge.lives.insert((account, created), LifeRow { events, last: *last, ..life });
                }
                None => commit.remove.push(Remove::Life(account.to_vec(), created)),
            }
            commit.remove.push(Remove::Gaps(account.to_vec(), created));
        }
        let now = now_ms();
        let told = index.store.stream(by().and("slot", ">", signed(writer.finalized))).await?;
        for told in told.iter().filter(|told| !is_retraction(&told.row)) {
            commit.stream.push(announce_retraction(told.id, &told.row, now));
        }
        self.refold(&mut merge, &agents, &[], &gone).await?;
        self.read_states(&mut merge, Trust::AlsoUnknown { finalized: writer.finalized }).await?;
        let stale = std::mem::take(&mut merge.stale);
        index.write(&mut writer, merge, Vec::new(), &gone, commit).await?;
        writer.seen.retain(|listed| !signatures.contains(&listed.signature));
        drop(writer);
        self.refresh(&stale).await
    }
}
