//! What a stranger should know of an agent first, in one word.

use crate::status::Standing as Now;
use crate::store::{AgentRow, StakeRow, signed};

/// Whether an agent was ever convicted: a challenge against it was never answered.
pub(super) fn is_slashed(row: &AgentRow) -> bool {
    row.slashed.0 > 0 || row.challenges_lost > 0
}

/// One word for an agent, the gravest that holds:
///
/// - `slashed`: convicted in the present tenure
/// - `slashed_before`: convicted under a former holder
/// - `challenged`: a challenge waits for an answer
/// - `no_stake`: nothing answers for what it says
/// - `not_taken_over`: its holder has not taken over
/// - `unlocking`: its stake is on the way out
/// - `inactive`: its lease is not paid
/// - `good`
pub(super) fn word(
    row: &AgentRow,
    stakes: &[StakeRow],
    slashed_slot: Option<i64>,
    lease: &str,
) -> &'static str {
    if is_slashed(row) {
        // Where it is not known when, the graver word holds.
        let before = slashed_slot.zip(row.tenure_slot).is_some_and(|(slashed, began)| slashed < began);
        return if before { "slashed_before" } else { "slashed" };
    }
    let present = stakes.iter().find(|stake| stake.era == row.era && stake.ended_slot.is_none());
    match present.filter(|stake| stake.stake.0 > 0) {
        _ if row.open_challenges > 0 => "challenged",
        None => "no_stake",
        Some(_) if row.tenure_owner.is_some() && row.owner != row.tenure_owner => "not_taken_over",
        Some(stake) if stake.unlock_slot.is_some() => "unlocking",
        Some(_) if matches!(lease, "deactivated" | "none") => "inactive",
        Some(_) => "good",
    }
}

/// Whether the window of a batch is open: its account is there, and the last slot has not passed.
pub(super) fn is_window_open(account_open: bool, ends: u64, now: &Now) -> bool {
    account_open && now.slot <= ends
}

/// Whether a queued unlock can be claimed now.
pub(super) fn is_claimable(stake: &StakeRow, now: &Now) -> bool {
    stake.open_challenges == 0 && stake.unlock_slot.is_some_and(|slot| slot <= signed(now.slot))
}

#[cfg(test)]
mod tests {
    use super::*;
    use zx1_protocol::units::MicroUsdc;

    fn agent() -> AgentRow {
        AgentRow {
            owner: Some(vec![1; 32]),
            tenure_owner: Some(vec![1; 32]),
            tenure_slot: Some(100),
            era: 2,
            ..AgentRow::default()
        }
    }

    fn stake() -> StakeRow {
        StakeRow { era: 2, stake: MicroUsdc(10), ..StakeRow::default() }
    }

    #[test]
    fn a_convicted_agent_is_slashed_whatever_it_has_staked_and_paid_since() {
        for convicted in [
            AgentRow { slashed: MicroUsdc(1), ..agent() },
            // Nothing was left to slash.
            AgentRow { challenges_lost: 1, ..agent() },
        ] {
            assert_eq!(word(&convicted, &[stake()], Some(100), "active"), "slashed");
            assert_eq!(word(&convicted, &[stake()], None, "active"), "slashed");
            assert_eq!(word(&convicted, &[stake()], Some(99), "active"), "slashed_before");
        }
    }

    #[test]
    fn the_gravest_word_holds() {
        let said = |row: AgentRow, stakes: &[StakeRow], lease| word(&row, stakes, None, lease);
        assert_eq!(said(agent(), &[stake()], "active"), "good");
        assert_eq!(said(agent(), &[stake()], "grace"), "good");
        assert_eq!(said(agent(), &[stake()], "deactivated"), "inactive");
        assert_eq!(said(agent(), &[], "active"), "no_stake");
        assert_eq!(said(agent(), &[StakeRow { ended_slot: Some(1), ..stake() }], "active"), "no_stake");
        assert_eq!(said(agent(), &[StakeRow { era: 1, ..stake() }], "active"), "no_stake");
        assert_eq!(said(agent(), &[StakeRow { stake: MicroUsdc(0), ..stake() }], "active"), "no_stake");
        assert_eq!(said(agent(), &[StakeRow { unlock_slot: Some(1), ..stake() }], "active"), "unlocking");
        let sold = AgentRow { owner: Some(vec![2; 32]), ..agent() };
        assert_eq!(said(sold, &[stake()], "active"), "not_taken_over");
        assert_eq!(said(AgentRow { open_challenges: 1, ..agent() }, &[], "none"), "challenged");
    }

    #[test]
    fn a_window_is_open_up_to_its_last_slot_and_not_after_it() {
        let now = |slot| Now { slot, ..Now::default() };
        assert!(is_window_open(true, 1_000, &now(1_000)));
        assert!(!is_window_open(true, 1_000, &now(1_001)));
        assert!(!is_window_open(false, 1_000, &now(1)));
    }

    #[test]
    fn an_unlock_is_claimable_from_its_slot_on_while_no_challenge_holds_it() {
        let now = |slot| Now { slot, ..Now::default() };
        let queued = StakeRow { unlock_slot: Some(50), ..stake() };
        assert!(is_claimable(&queued, &now(50)) && !is_claimable(&queued, &now(49)));
        assert!(!is_claimable(&StakeRow { open_challenges: 1, ..queued }, &now(50)));
    }
}
