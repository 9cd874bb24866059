//! The order of ranks in an era: who goes first, and what is in the way (decision P4).

use super::{OPEN, clock, is_ripe};
use crate::error::{Refusal, Result};
use crate::operator::Operator;
use solana_address::Address;
use zx1_chain::rpc::{ChallengeFilter, DraftFilter, Stored};
use zx1_interface::accounts::{ChallengeAccount, EvidenceDraft};
use zx1_interface::constants::RANK_SLOTS;
use zx1_protocol::challenge::rank_holds;
use zx1_protocol::ids::AgentId;
use zx1_protocol::units::Slot;

/// `state` of a draft that holds a rank.
const HOLDS: u8 = 1;
/// `state` of a draft whose rank was taken over, so that it is passable at once.
const TAKEN_OVER: u8 = 3;

/// What is to be done about the era's next rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// Settle this challenge, which nothing answered.
    Resolve(Address),
    /// Move the order past this challenge or draft.
    Pass(Address),
    /// Nothing before this slot is over.
    Wait(Address, Slot),
}

/// All that holds a rank in an era.
pub(crate) struct Ranks {
    agent: AgentId,
    era: u32,
    challenges: Vec<Stored<ChallengeAccount>>,
    drafts: Vec<Stored<EvidenceDraft>>,
}

impl Ranks {
    /// What is to be done about this rank.
    ///
    /// # Errors
    /// 7549 when nothing holds it, which a node that is behind shows.
    pub(crate) fn next(&self, rank: u32, now: Slot) -> Result<Next> {
        let in_era = |era: u32| era == self.era;
        if let Some(found) = self.challenges.iter().find(|it| it.rank == rank && in_era(it.era)) {
            return Ok(of_challenge(found, now));
        }
        let holds = |draft: &&Stored<EvidenceDraft>| {
            draft.rank == rank && in_era(draft.era) && matches!(draft.state, HOLDS | TAKEN_OVER)
        };
        if let Some(draft) = self.drafts.iter().find(holds) {
            return Ok(of_draft(draft, now));
        }
        let (agent, era) = (self.agent.to_string(), self.era);
        Err(Refusal::RankUnknown { agent, era, rank }.into())
    }
}

fn of_challenge(challenge: &Stored<ChallengeAccount>, now: Slot) -> Next {
    if challenge.outcome != OPEN {
        Next::Pass(challenge.address)
    } else if is_ripe(challenge, now) {
        Next::Resolve(challenge.address)
    } else {
        Next::Wait(challenge.address, clock(challenge).deadline())
    }
}

fn of_draft(draft: &Stored<EvidenceDraft>, now: Slot) -> Next {
    let begin = Slot(draft.begin_slot);
    if draft.state == TAKEN_OVER || !rank_holds(begin, now) {
        Next::Pass(draft.address)
    } else {
        Next::Wait(draft.address, begin.saturating_add(RANK_SLOTS))
    }
}

impl Operator {
    /// What holds ranks in an era of an agent.
    pub(crate) async fn ranks(&self, agent: AgentId, era: u32) -> Result<Ranks> {
        let client = self.client();
        let (challenges, drafts) = tokio::try_join!(
            client.challenges(ChallengeFilter::Agent(agent)),
            client.drafts(DraftFilter::Agent(agent))
        )?;
        Ok(Ranks { agent, era, challenges, drafts })
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in crate::challenge) fn challenge(rank: u32, outcome: u8, expected_len: u8) -> ChallengeAccount {
        ChallengeAccount {
            epoch_number: 7,
            submitted_slot: 1_000,
            settled_slot: 0,
            event_sequence: 1,
            stake_usdc: 5_000_000,
            rank,
            era: 0,
            agent_id: [9; 32],
            batch: [8; 32],
            challenger: [1; 32],
            payer: [1; 32],
            claim: [2; 32],
            entry_hash: [3; 32],
            answerer: [0; 32],
            expected_record: [0; 124],
            expected_len,
            value_known: 1,
            ground: if expected_len == 0 { 5 } else { 1 },
            outcome,
            passed: 0,
            version: 2,
            bump: 255,
            reserved: [0; 5],
        }
    }

    pub(in crate::challenge) fn draft(rank: u32, state: u8, begin_slot: u64) -> EvidenceDraft {
        EvidenceDraft {
            nonce: 1,
            created_slot: begin_slot,
            event_sequence: 1,
            begin_slot,
            deposit: 10_000_000,
            len: 0,
            written: 0,
            rank,
            era: 0,
            owner: [1; 32],
            agent: [9; 32],
            commit: [2; 32],
            batch: [0; 32],
            claim: [0; 32],
            entry_hash: [0; 32],
            expected_record: [0; 124],
            expected_len: 0,
            value_known: 0,
            ground: 0,
            state,
            used: 0,
            version: 2,
            bump: 255,
            reserved: [0; 5],
        }
    }

    fn stored<T>(at: u8, value: T) -> Stored<T> {
        Stored { address: Address::new_from_array([at; 32]), lamports: 1, value, tail: Vec::new() }
    }

    #[test]
    fn every_holder_of_a_rank_is_settled_passed_or_waited_for() {
        let ranks = Ranks {
            agent: AgentId([9; 32]),
            era: 0,
            challenges: vec![
                stored(10, challenge(0, super::super::ANSWERED, 105)),
                stored(11, challenge(1, OPEN, 105)),
                stored(12, challenge(2, OPEN, 0)),
                stored(19, ChallengeAccount { era: 1, ..challenge(6, OPEN, 0) }),
            ],
            drafts: vec![
                stored(13, draft(3, HOLDS, 1_000)),
                stored(14, draft(4, TAKEN_OVER, 1_000)),
                stored(15, draft(5, 2, 1_000)),
            ],
        };
        let at = |byte: u8| Address::new_from_array([byte; 32]);
        let now = Slot(1_000 + RANK_SLOTS);
        let next = |rank, now| ranks.next(rank, now).unwrap();
        assert_eq!(next(0, now), Next::Pass(at(10)));
        let deadline = clock(&challenge(1, OPEN, 105)).deadline();
        assert_eq!(next(1, deadline), Next::Wait(at(11), deadline));
        assert_eq!(next(1, deadline.saturating_add(1)), Next::Resolve(at(11)));
        assert_eq!(next(2, now), Next::Resolve(at(12)));
        assert_eq!(next(3, now), Next::Wait(at(13), now));
        assert_eq!(next(3, now.saturating_add(1)), Next::Pass(at(13)));
        assert_eq!(next(4, now), Next::Pass(at(14)));
        // A used draft's rank is its challenge's; another era's does not count.
        for rank in [5, 6, 7] {
            assert_eq!(ranks.next(rank, now).unwrap_err().code(), 7549, "{rank}");
        }
    }
}
