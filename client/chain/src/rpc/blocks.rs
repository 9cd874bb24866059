//! Which slots an epoch of ours covers: the chain counts slots, batches count days (decision B1).

use super::client::Client;
use super::error::{ChainError, Result};
use super::read::ChainTime;
use serde_json::json;
use solana_rpc_client_api::request::RpcRequest;
use zx1_coded::Coded;
use zx1_interface::constants::EPOCH_SECONDS;
use zx1_protocol::units::{Epoch, Slot};

/// Milliseconds of a slot, where the chain does not say better.
const SLOT_MS: u64 = 400;
/// Slots without a block that are passed over before the node is taken not to know this part of the ledger.
const SKIPPED: u64 = 8;

impl Client {
    /// The first slot of the first of these epochs and the last slot of the last, as the blocks' times say;
    /// where the node no longer has those blocks, as 400 ms a slot say. A batch states them for readers, and
    /// no program looks at them (protocol.md, 8.2).
    ///
    /// # Errors
    ///
    /// When the node does not answer.
    pub async fn slots_of_epochs(&self, from: Epoch, to: Epoch) -> Result<(Slot, Slot)> {
        let now = self.time().await?;
        let begin = |epoch: u64| i64::try_from(epoch.saturating_mul(EPOCH_SECONDS)).unwrap_or(i64::MAX);
        let first = self.first_slot_at(begin(from.0), now).await?;
        let after = self.first_slot_at(begin(to.0.saturating_add(1)), now).await?;
        Ok((Slot(first), Slot(after.saturating_sub(1).max(first))))
    }

    /// The first slot whose block is not before this time.
    async fn first_slot_at(&self, unix: i64, now: ChainTime) -> Result<u64> {
        if unix >= now.unix {
            return Ok(now.slot.saturating_add(slots_in(unix.saturating_sub(now.unix))));
        }
        let guess = now.slot.saturating_sub(slots_in(now.unix.saturating_sub(unix)));
        let oldest = match self.ask_once::<u64>(RpcRequest::GetFirstAvailableBlock, json!([])).await {
            Ok(oldest) => oldest,
            Err(error) if error.transient() => return Err(error),
            Err(_) => return Ok(guess),
        };
        let (mut low, mut high) = (oldest, now.slot);
        // The block at `low` is before the time, the one at `high` is not.
        match self.time_near(low, high).await? {
            Some(time) if time < unix => {}
            _ => return Ok(guess),
        }
        while high.saturating_sub(low) > 1 {
            let middle = low.saturating_add(high.saturating_sub(low) / 2);
            match self.time_near(middle, high).await? {
                Some(time) if time < unix => low = middle,
                Some(_) => high = middle,
                None => return Ok(guess.clamp(low, high)),
            }
        }
        Ok(high)
    }

    /// The time of the block at this slot or of the next one that there is; None when the node has none.
    async fn time_near(&self, slot: u64, before: u64) -> Result<Option<i64>> {
        for slot in (slot..before.saturating_add(1)).take(usize::try_from(SKIPPED).unwrap_or(1)) {
            match self.ask_once::<Option<i64>>(RpcRequest::GetBlockTime, json!([slot])).await {
                Ok(Some(time)) => return Ok(Some(time)),
                // A skipped slot, or one that was cleaned up, is an error of the node.
                Ok(None) | Err(ChainError::NodeRefused { .. }) => {}
                Err(error) if error.transient() => return Err(error),
                Err(_) => return Ok(None),
            }
        }
        Ok(None)
    }
}

fn slots_in(seconds: i64) -> u64 {
    u64::try_from(seconds).unwrap_or(0).saturating_mul(1_000) / SLOT_MS
}
