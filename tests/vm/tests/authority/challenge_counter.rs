//! open_challenge and settle_challenge: the counter of open challenges, which only Challenge moves.

use super::common::{Scene, send_unsigned, unsigned, unsigned_refused, with_account};
use solana_address::Address;
use solana_instruction::Instruction;
use solana_signer::Signer;
use zx1_chain::instructions::stake_lock::{open_challenge, settle_challenge};
use zx1_chain::pda;
use zx1_interface::accounts::StakeLockAccount;
use zx1_interface::{Error, ids};
use zx1_vm_tests::{address, events};

const STAKE: usize = 1;

/// Both instructions about an agent, with this address as the signer.
fn both(agent: Address, authority: Address) -> [Instruction; 2] {
    [open_challenge(agent.into(), authority), settle_challenge(agent.into(), authority)]
}

impl Scene {
    fn set_open(&mut self, count: u32) {
        let at = 8 + std::mem::offset_of!(StakeLockAccount, open_challenges);
        self.world.edit_data(&pda::stake(&self.agent.mint), |data| {
            data[at..at + 4].copy_from_slice(&count.to_le_bytes());
        });
        assert_eq!(self.stake().open_challenges, count);
    }

    /// Both instructions, signed by Challenge's authority as far as StakeLock can see.
    fn genuine(&self) -> [Instruction; 2] {
        both(self.agent.mint.into(), pda::challenge_authority())
    }
}

#[test]
fn challenge_counts_up_and_down_and_changes_nothing_else_ok() {
    let mut s = Scene::staked();
    let before = s.stake();
    let [open, settle] = s.genuine();
    for (instruction, count) in [(&open, 1), (&open, 2), (&settle, 1), (&open, 2), (&settle, 1), (&settle, 0)]
    {
        let snapshot = s.world.snapshot();
        let receipt = send_unsigned(&mut s.world, instruction).unwrap();
        snapshot.assert_only_changed(&s.world, &[s.world.faucet.pubkey(), pda::stake(&s.agent.mint)]);
        assert_eq!(s.stake(), StakeLockAccount { open_challenges: count, ..before });
        // Challenge's own events tell of challenges; the counter's moves are not events of the stake.
        assert!(events(&receipt, &address(ids::STAKE_LOCK)).is_empty());
    }
}

#[test]
fn settling_at_zero_fails() {
    let mut s = Scene::staked();
    let [_, settle] = s.genuine();
    unsigned_refused(&mut s.world, &settle).expect_code(Error::NoOpenChallenge.code());
}

#[test]
fn counting_beyond_u32_fails() {
    let mut s = Scene::staked();
    s.set_open(u32::MAX - 1);
    let [open, _] = s.genuine();
    send_unsigned(&mut s.world, &open).unwrap();
    assert_eq!(s.stake().open_challenges, u32::MAX);
    unsigned_refused(&mut s.world, &open).expect_code(Error::ArithmeticOverflow.code());
}

#[test]
fn wallets_fail() {
    let mut s = Scene::staked();
    s.set_open(1);
    let upgrade_authority = s.world.upgrade_authority();
    for wallet in [s.owner.insecure_clone(), s.stranger.insecure_clone(), upgrade_authority] {
        for instruction in both(s.agent.mint.into(), wallet.pubkey()) {
            let refusal = s.world.send_refused(&[instruction], &wallet, &[]);
            refusal.expect_code(Error::NotChallengeProgram.code());
        }
    }
}

#[test]
fn challenges_authority_without_its_signature_fails() {
    let mut s = Scene::staked();
    s.set_open(1);
    for instruction in s.genuine() {
        s.stranger_refused(&[unsigned(instruction, 0)], Error::NotChallengeProgram);
    }
}

#[test]
fn another_programs_derived_authority_fails() {
    let mut s = Scene::staked();
    s.set_open(1);
    for program in [ids::STAKE_LOCK, ids::BEHAVIOR_LOG, [66; 32]] {
        let theirs = Address::find_program_address(&[b"authority"], &address(program)).0;
        for instruction in both(s.agent.mint.into(), theirs) {
            unsigned_refused(&mut s.world, &instruction).expect_code(Error::NotChallengeProgram.code());
        }
    }
}

#[test]
fn another_agents_stake_fails() {
    let mut s = Scene::staked();
    s.set_open(1);
    let other = s.other_agent();
    for instruction in s.genuine() {
        let instruction = with_account(instruction, STAKE, pda::stake(&other.mint));
        unsigned_refused(&mut s.world, &instruction).expect_code(Error::WrongAgent.code());
    }
}

#[test]
fn without_a_stake_fails() {
    let mut s = Scene::registered();
    for instruction in s.genuine() {
        unsigned_refused(&mut s.world, &instruction).expect_code(Error::AccountMissing.code());
    }
}
