//! Who calls: StakeLock and BehaviorLog obey Challenge alone for ranks, money and marks (decisions B12 and P4).

use crate::{AccountView, Result, ensure, is_at};
use zx1_interface::{Error, pda};

/// Refuses unless Challenge's authority signs, which only Challenge can make it do.
#[inline(never)]
pub fn expect_challenge(authority: &AccountView) -> Result<()> {
    let genuine = is_at(authority, &pda::CHALLENGE_AUTHORITY.address) && authority.is_signer();
    ensure!(genuine, Error::NotChallengeProgram);
    Ok(())
}
