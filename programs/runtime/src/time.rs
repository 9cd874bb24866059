//! The clock, read once an instruction.

use crate::Result;
use anchor_lang::prelude::{Clock, PinocchioSysvar as _};
use zx1_interface::Error;
use zx1_protocol::units::{Epoch, Slot};

/// The present moment as the chain sees it.
#[derive(Clone, Copy)]
pub struct Now {
    /// The current slot.
    pub slot: Slot,
    /// Unix time in seconds.
    pub unix: i64,
    /// The zx1 epoch (decision B1).
    pub epoch: Epoch,
}

/// Reads the clock.
#[inline(never)]
pub fn now() -> Result<Now> {
    let clock = Clock::get()?;
    let epoch = Epoch::from_unix_seconds(clock.unix_timestamp).ok_or(Error::ArithmeticOverflow)?;
    Ok(Now { slot: Slot(clock.slot), unix: clock.unix_timestamp, epoch })
}
