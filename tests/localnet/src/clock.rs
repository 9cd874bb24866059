//! The chain's time: it runs with the wall clock, plus all jumps, and never goes back.

use std::time::{SystemTime, UNIX_EPOCH};

use solana_clock::Clock;
use surfpool_core::{
    surfnet::{BlockIdentifier, svm::SurfnetSvm},
    types::SyntheticBlockhash,
};
use zx1_fixtures::control::Jump;

use crate::{LocalnetError, ledger::Moment};

/// Slots and time belong together in jumps as they do on the main network.
pub(crate) const SLOT_MS: u64 = 400;
/// A zx1 epoch (decision B1).
const EPOCH_MS: u64 = zx1_interface::constants::EPOCH_SECONDS * 1_000;
const SLOTS_PER_EPOCH: u64 = surfpool_core::surfnet::SLOTS_PER_EPOCH;
/// Where a new ledger begins. About where the main network is, so that numbers have their usual length.
const FIRST_SLOT: u64 = 400_000_000;
/// Unix milliseconds beyond which no jump goes: far enough for everything, and all sums below fit.
const LAST_MS: u64 = 1 << 45;

fn wall_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(LAST_MS)
}

/// What is to be added to the wall clock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChainTime {
    ahead_ms: i64,
}

impl ChainTime {
    /// Goes on from a chain time: while nothing ran, no time passed.
    pub(crate) fn from(unix_ms: u64) -> Self {
        Self { ahead_ms: unix_ms as i64 - wall_ms() as i64 }
    }

    /// The time now, and never before `last`.
    pub(crate) fn now_ms(&mut self, last: u64) -> u64 {
        let now = (wall_ms() as i64).saturating_add(self.ahead_ms);
        let now = u64::try_from(now).unwrap_or(0);
        if now < last {
            // The wall clock was set back, or somebody else moved the chain's clock: go on from there.
            *self = Self::from(last);
        }
        now.max(last)
    }
}

/// The first moment of a new ledger. The height is random: blockhashes follow from it, so a transaction of
/// one ledger is worth nothing on another.
pub(crate) fn first_moment() -> Result<Moment, LocalnetError> {
    let mut random = [0; 4];
    getrandom::fill(&mut random).map_err(|why| LocalnetError::Cluster(why.to_string()))?;
    let height = FIRST_SLOT / 2 + u64::from(u32::from_le_bytes(random)) % (FIRST_SLOT / 4);
    Ok(Moment { slot: FIRST_SLOT, height, unix_ms: wall_ms(), transactions: 0 })
}

/// Where the chain stands.
pub(crate) fn moment(svm: &SurfnetSvm) -> Moment {
    Moment {
        slot: svm.latest_epoch_info.absolute_slot,
        height: svm.chain_tip.index,
        unix_ms: svm.updated_at,
        transactions: svm.transactions_processed,
    }
}

/// Puts the chain at a moment: slot, time, height, and with it the recent blockhashes.
pub(crate) fn set_moment(svm: &mut SurfnetSvm, to: Moment) {
    svm.updated_at = to.unix_ms;
    svm.transactions_processed = to.transactions;
    let tip = SyntheticBlockhash::new(to.height.saturating_sub(1)).to_string();
    svm.chain_tip = BlockIdentifier::new(to.height, &tip);
    svm.latest_epoch_info.absolute_slot = to.slot;
    svm.latest_epoch_info.block_height = to.height;
    svm.latest_epoch_info.transaction_count = Some(to.transactions);
    // Surfpool reckons the hash and the time of an empty block from these two.
    svm.genesis_slot = to.slot.saturating_sub(to.height.saturating_sub(1));
    let since = to.slot.saturating_sub(svm.genesis_slot).saturating_mul(svm.slot_time);
    svm.genesis_updated_at = to.unix_ms.saturating_sub(since);
    svm.reconstruct_sysvars();
    set_clock(svm);
}

/// Writes the Clock sysvar from slot and time. Surfpool's own one is a slot late with its epochs.
pub(crate) fn set_clock(svm: &mut SurfnetSvm) {
    let slot = svm.latest_epoch_info.absolute_slot;
    let (epoch, index) = (slot / SLOTS_PER_EPOCH, slot % SLOTS_PER_EPOCH);
    svm.latest_epoch_info.epoch = epoch;
    svm.latest_epoch_info.slot_index = index;
    let unix_timestamp = seconds(svm.updated_at);
    svm.inner.set_sysvar(&Clock {
        slot,
        epoch,
        unix_timestamp,
        epoch_start_timestamp: unix_timestamp - seconds(index * SLOT_MS),
        leader_schedule_epoch: epoch + 1,
    });
}

/// Whole seconds of milliseconds.
pub(crate) fn seconds(ms: u64) -> i64 {
    (ms / 1_000) as i64
}

/// Where a jump from a moment ends. Time and slots move together, 400 ms a slot; a block belongs to every
/// slot, so that blockhashes expire in the jump as they would have in that time.
pub(crate) fn after_jump(from: Moment, jump: Jump) -> Result<Moment, LocalnetError> {
    let far = || LocalnetError::TimeTooFar(describe(jump));
    let (ms, slots) = match jump {
        Jump { epochs: Some(epochs), slots: None, unix: None } => {
            let ms = epochs.checked_mul(EPOCH_MS).ok_or_else(far)?;
            (ms, ms / SLOT_MS)
        }
        Jump { epochs: None, slots: Some(slots), unix: None } => {
            (slots.checked_mul(SLOT_MS).ok_or_else(far)?, slots)
        }
        Jump { epochs: None, slots: None, unix: Some(unix) } => {
            let now = seconds(from.unix_ms);
            if unix < now {
                return Err(LocalnetError::TimeBack { now, wanted: unix });
            }
            let ms = u64::try_from(unix).ok().and_then(|unix| unix.checked_mul(1_000)).ok_or_else(far)?;
            let ms = ms.saturating_sub(from.unix_ms);
            (ms, ms.div_ceil(SLOT_MS))
        }
        _ => {
            let why = "name exactly one of epochs, slots and unix".to_owned();
            return Err(LocalnetError::BadRequest(why));
        }
    };
    let unix_ms = from.unix_ms.checked_add(ms).filter(|ms| *ms < LAST_MS).ok_or_else(far)?;
    Ok(Moment {
        slot: from.slot.checked_add(slots).ok_or_else(far)?,
        height: from.height.checked_add(slots).ok_or_else(far)?,
        unix_ms,
        transactions: from.transactions,
    })
}

fn describe(jump: Jump) -> String {
    match jump {
        Jump { epochs: Some(n), .. } => format!("{n} epochs"),
        Jump { slots: Some(n), .. } => format!("{n} slots"),
        Jump { unix: Some(n), .. } => format!("Unix time {n}"),
        Jump { .. } => "nothing".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FROM: Moment = Moment { slot: 1_000, height: 500, unix_ms: 86_400_000_123, transactions: 7 };

    #[test]
    fn an_epoch_is_a_day_and_216_000_slots_ok() {
        let to = after_jump(FROM, Jump { epochs: Some(2), ..Jump::default() }).expect("a jump");
        assert_eq!(to.unix_ms, FROM.unix_ms + 2 * 86_400_000);
        assert_eq!(to.slot, FROM.slot + 432_000);
        assert_eq!(to.height, FROM.height + 432_000);
        assert_eq!(to.transactions, FROM.transactions);
    }

    #[test]
    fn slots_take_400_ms_each_ok() {
        let to = after_jump(FROM, Jump { slots: Some(5), ..Jump::default() }).expect("a jump");
        assert_eq!((to.slot, to.unix_ms), (1_005, FROM.unix_ms + 2_000));
    }

    #[test]
    fn a_jump_to_a_second_ends_in_it_ok() {
        let to = after_jump(FROM, Jump { unix: Some(86_400_001), ..Jump::default() }).expect("a jump");
        assert_eq!(seconds(to.unix_ms), 86_400_001);
        assert_eq!(to.slot, 1_003, "877 ms are three slots");
        let here = after_jump(FROM, Jump { unix: Some(86_400_000), ..Jump::default() }).expect("a jump");
        assert_eq!(here, FROM, "the present second does not jump back");
    }

    #[test]
    fn a_jump_back_or_out_of_the_clock_fails() {
        let code = |jump| after_jump(FROM, jump).expect_err("no jump").code();
        assert_eq!(code(Jump { unix: Some(86_399_999), ..Jump::default() }), 9811);
        assert_eq!(code(Jump { epochs: Some(u64::MAX), ..Jump::default() }), 9812);
        assert_eq!(code(Jump { slots: Some(u64::MAX / 400), ..Jump::default() }), 9812);
        assert_eq!(code(Jump { unix: Some(i64::MAX), ..Jump::default() }), 9812);
        assert_eq!(code(Jump::default()), 9815);
        assert_eq!(code(Jump { epochs: Some(1), slots: Some(1), unix: None }), 9815);
    }

    #[test]
    fn time_never_goes_back_ok() {
        let mut time = ChainTime::from(50_000_000_000_000);
        let far = time.now_ms(0);
        assert!(far >= 50_000_000_000_000);
        assert_eq!(time.now_ms(far + 1_000_000), far + 1_000_000);
        assert!(time.now_ms(0) >= far + 1_000_000, "it goes on from where somebody else put it");
    }
}
