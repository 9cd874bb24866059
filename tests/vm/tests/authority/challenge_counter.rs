//! take_rank, take_deposit and the marks of settle: ranks, counters and deposits of an era, which only Challenge
//! moves.

use super::common::{Scene, send_unsigned, unsigned, unsigned_refused, with_account};
use super::slash::moves;
use solana_address::Address;
use solana_instruction::Instruction;
use solana_keypair::Keypair;
use solana_signer::Signer;
use zx1_chain::instructions::stake_lock::{settle, take_deposit, take_rank};
use zx1_chain::pda;
use zx1_chain::token::{TOKEN_2022_PROGRAM, TOKEN_PROGRAM};
use zx1_interface::accounts::StakeLockAccount;
use zx1_interface::instruction::{Settle, TakeDeposit};
use zx1_interface::{Error, ids};
use zx1_vm_tests::{USDC, address, events};

const STAKE: usize = 1;
const SHARD: usize = 2;
const VAULT: usize = 3;
const PAYER_USDC: usize = 4;
const PAYER: usize = 5;
const TOKEN: usize = 6;

/// What a deposit is for, and what a settlement marks, written out again.
const RANKED: u8 = 1;
const UNRANKED: u8 = 2;
const ASK: u8 = 3;
const MARK_CHALLENGE: u8 = 1;
const MARK_ORDER: u8 = 2;
const MARK_ASK: u8 = 4;

/// The legacy token program's refusals.
const NO_FUNDS: u32 = 1;
const MINT_MISMATCH: u32 = 3;
const OWNER_MISMATCH: u32 = 4;

impl Scene {
    fn rank_by(&self, authority: Address) -> Instruction {
        take_rank(self.agent.mint, authority, 0)
    }

    fn rank(&self) -> Instruction {
        self.rank_by(pda::challenge_authority())
    }

    fn deposit_by(&mut self, authority: Address, amount: u64, what: u8) -> Instruction {
        let usdc = self.world.usdc_account(&self.stranger.pubkey());
        let deposit = TakeDeposit { agent_mint: self.agent.mint.0, era: 0, amount, what };
        take_deposit(authority, self.stranger.pubkey(), usdc, &deposit)
    }

    /// The stranger's deposit, signed by Challenge's authority as far as StakeLock can see.
    pub(crate) fn deposit(&mut self, amount: u64, what: u8) -> Instruction {
        self.deposit_by(pda::challenge_authority(), amount, what)
    }

    /// A settlement that gives a deposit back to the stranger.
    fn back(&mut self, amount: u64, marks: u8) -> Instruction {
        let moves = Settle { from_deposits: amount, first: amount, marks, ..moves(&self.agent) };
        let (first, second) = (self.world.usdc_account(&self.stranger.at()), self.world.treasury_usdc());
        settle(pda::challenge_authority(), first, second, &moves)
    }

    /// All three, by this signer.
    fn all_by(&mut self, authority: Address) -> [Instruction; 3] {
        let deposit = self.deposit_by(authority, 1, UNRANKED);
        [self.rank_by(authority), deposit, with_account(self.back(0, 0), 0, authority)]
    }

    #[track_caller]
    fn goes(&mut self, instruction: &Instruction) {
        send_unsigned(&mut self.world, instruction).unwrap();
        self.world.assert_books();
    }

    #[track_caller]
    fn goes_not(&mut self, instruction: &Instruction, error: Error) {
        unsigned_refused(&mut self.world, instruction).expect_code(error.code());
    }

    fn set_u32(&mut self, offset: usize, value: u32) {
        let at = 8 + offset;
        self.world.edit_data(&pda::stake(&self.agent.mint, 0), |data| {
            data[at..at + 4].copy_from_slice(&value.to_le_bytes());
        });
    }
}

#[test]
fn ranks_are_given_out_one_after_the_other_and_nothing_else_changes_ok() {
    let mut s = Scene::staked();
    let (before, instruction) = (s.stake(), s.rank());
    for next in 1..=3 {
        let snapshot = s.world.snapshot();
        let receipt = send_unsigned(&mut s.world, &instruction).unwrap();
        let stake = pda::stake(&s.agent.mint, 0);
        snapshot.assert_only_changed(&s.world, &[s.world.faucet.pubkey(), stake]);
        assert_eq!(s.stake(), StakeLockAccount { next_rank: next, ..before });
        // Challenge's own events tell of ranks; StakeLock emits none.
        assert!(events(&receipt, &address(ids::STAKE_LOCK)).is_empty());
    }
}

#[test]
fn a_deposit_is_held_and_counted_by_what_it_is_for_ok() {
    let mut s = Scene::staked();
    let (rank, before) = (s.rank(), s.stake());
    s.goes(&rank);
    let mut held = 0;
    // (what, amount, open challenges, next rank, open asks, next ask) after it.
    for (what, amount, open, next, asks, next_ask) in
        [(RANKED, 5, 1, 1, 0, 0), (UNRANKED, 7, 2, 2, 0, 0), (ASK, 11, 2, 2, 1, 1), (ASK, 0, 2, 2, 2, 2)]
    {
        let instruction = s.deposit(amount, what);
        let snapshot = s.world.snapshot();
        let receipt = send_unsigned(&mut s.world, &instruction).unwrap();
        held += amount;
        let (shard, usdc) = (s.agent.shard(), s.world.usdc_account(&s.stranger.at()));
        let changed = [pda::stake(&s.agent.mint, 0), pda::shard(shard), pda::vault(shard), usdc];
        snapshot.assert_only_changed(&s.world, &[&changed[..], &[s.world.faucet.pubkey()]].concat());
        assert_eq!(
            s.stake(),
            StakeLockAccount {
                deposits_usdc: held,
                open_challenges: open,
                next_rank: next,
                open_asks: asks,
                next_ask,
                ..before
            }
        );
        let books = s.world.books(&s.agent, 0);
        assert_eq!((books.shard, books.vault), (books.stake + held, books.stake + held));
        assert_eq!(s.world.usdc_balance(&s.stranger.at()), 1_000 * USDC - held);
        assert!(events(&receipt, &address(ids::STAKE_LOCK)).is_empty());
        s.world.assert_books();
    }
}

#[test]
fn settlements_count_down_and_move_the_orders_on_ok() {
    let mut s = Scene::staked();
    for what in [UNRANKED, UNRANKED, ASK] {
        let deposit = s.deposit(5, what);
        s.goes(&deposit);
    }
    let counts = |s: &Scene| {
        let stake = s.stake();
        (stake.open_challenges, stake.settled_rank, stake.open_asks, stake.settled_ask)
    };
    for (amount, marks, after) in [
        (0, 0, (2, 0, 1, 0)),
        (5, MARK_CHALLENGE, (1, 0, 1, 0)),
        (0, MARK_ORDER, (1, 1, 1, 0)),
        (5, MARK_ASK, (1, 1, 0, 1)),
        (5, MARK_CHALLENGE | MARK_ORDER, (0, 2, 0, 1)),
    ] {
        let instruction = s.back(amount, marks);
        s.goes(&instruction);
        assert_eq!(counts(&s), after);
    }
    assert_eq!((s.stake().deposits_usdc, s.world.usdc_balance(&s.stranger.at())), (0, 1_000 * USDC));
}

#[test]
fn below_zero_fails() {
    let mut s = Scene::staked();
    for (marks, error) in [
        (MARK_CHALLENGE, Error::NoOpenChallenge),
        (MARK_ASK, Error::InvariantBroken),
        // Past the last rank that was given out.
        (MARK_ORDER, Error::InvariantBroken),
    ] {
        let instruction = s.back(0, marks);
        s.goes_not(&instruction, error);
    }
}

#[test]
fn counting_beyond_u32_fails() {
    let mut s = Scene::staked();
    s.set_u32(std::mem::offset_of!(StakeLockAccount, next_rank), u32::MAX - 1);
    let rank = s.rank();
    s.goes(&rank);
    assert_eq!(s.stake().next_rank, u32::MAX);
    s.goes_not(&rank, Error::ArithmeticOverflow);
    let deposit = s.deposit(1, UNRANKED);
    s.goes_not(&deposit, Error::ArithmeticOverflow);
    s.set_u32(std::mem::offset_of!(StakeLockAccount, open_challenges), u32::MAX);
    let deposit = s.deposit(1, RANKED);
    s.goes_not(&deposit, Error::ArithmeticOverflow);
}

#[test]
fn a_challenge_that_holds_no_outstanding_rank_fails() {
    let mut s = Scene::staked();
    let ranked = s.deposit(5, RANKED);
    s.goes_not(&ranked, Error::InvariantBroken);
    let rank = s.rank();
    s.goes(&rank);
    s.goes(&ranked);
    s.goes_not(&ranked, Error::InvariantBroken);
    // Nor does the order move past a challenge that is open.
    let order = s.back(0, MARK_ORDER);
    s.goes_not(&order, Error::InvariantBroken);
}

#[test]
fn deposits_that_nothing_holds_open_fail() {
    let mut s = Scene::staked();
    let deposit = s.deposit(5, UNRANKED);
    s.goes(&deposit);
    let part = s.back(4, MARK_CHALLENGE | MARK_ORDER);
    s.goes_not(&part, Error::InvariantBroken);
    let all = s.back(5, MARK_CHALLENGE | MARK_ORDER);
    s.goes(&all);
}

#[test]
fn more_than_the_era_holds_in_deposits_fails() {
    let mut s = Scene::staked();
    for what in [UNRANKED, ASK] {
        let deposit = s.deposit(5, what);
        s.goes(&deposit);
    }
    // The vault has it: the stake lies there too.
    let more = s.back(11, MARK_ASK);
    s.goes_not(&more, Error::DepositsUnbalanced);
}

#[test]
fn an_unknown_purpose_or_mark_fails() {
    let mut s = Scene::staked();
    for what in [0, 4, 255] {
        let deposit = s.deposit(5, what);
        s.goes_not(&deposit, Error::InvalidInstruction);
    }
    for marks in [16, 32, 64, 128, 255] {
        let instruction = s.back(0, marks);
        s.goes_not(&instruction, Error::InvalidInstruction);
    }
}

#[test]
fn an_empty_era_gives_out_no_rank() {
    let mut s = Scene::landing();
    let challenge = s.challenged();
    s.resolve(&challenge);
    assert_eq!((s.stake().stake_usdc, s.stake().pot_usdc), (0, 0));
    let (rank, deposit) = (s.rank(), s.deposit(5, UNRANKED));
    s.goes_not(&rank, Error::EraEmpty);
    s.goes_not(&deposit, Error::EraEmpty);
}

#[test]
fn the_payers_money_and_no_other_is_taken() {
    let mut s = Scene::staked();
    let (theirs, fake) = (s.world.usdc_account(&s.owner.at()), s.world.new_keypair());
    s.world.create_mint(&fake, 6, &TOKEN_PROGRAM);
    let other = s.world.fund_token(&s.stranger.at(), &fake.pubkey(), 100, &TOKEN_PROGRAM);
    let deposit = s.deposit(5, UNRANKED);
    for (at, code) in [(theirs, OWNER_MISMATCH), (other, MINT_MISMATCH)] {
        let refusal = unsigned_refused(&mut s.world, &with_account(deposit.clone(), PAYER_USDC, at));
        refusal.expect_code(code);
        assert_eq!(refusal.program(), Some(TOKEN_PROGRAM));
    }
    let too_much = s.deposit(1_000 * USDC + 1, UNRANKED);
    unsigned_refused(&mut s.world, &too_much).expect_code(NO_FUNDS);
    // Without the payer's signature.
    let refusal = unsigned_refused(&mut s.world, &unsigned(deposit, PAYER));
    assert_eq!(refusal.instruction_error(), Some(&super::common::MISSING_SIGNATURE));
}

#[test]
fn wallets_fail() {
    let mut s = Scene::staked();
    let upgrade_authority = s.world.upgrade_authority();
    let wallets: [Keypair; 3] = [s.owner.insecure_clone(), s.stranger.insecure_clone(), upgrade_authority];
    for wallet in wallets {
        for instruction in s.all_by(wallet.pubkey()) {
            let stranger = s.stranger.insecure_clone();
            let refusal = s.world.send_refused(&[instruction], &wallet, &[&stranger]);
            refusal.expect_code(Error::NotChallengeProgram.code());
        }
    }
}

#[test]
fn challenges_authority_without_its_signature_fails() {
    let mut s = Scene::staked();
    for instruction in s.all_by(pda::challenge_authority()) {
        s.stranger_refused(&[unsigned(instruction, 0)], Error::NotChallengeProgram);
    }
}

#[test]
fn another_programs_derived_authority_fails() {
    let mut s = Scene::staked();
    for program in [ids::STAKE_LOCK, ids::BEHAVIOR_LOG, [66; 32]] {
        let theirs = Address::find_program_address(&[b"authority"], &address(program)).0;
        for instruction in s.all_by(theirs) {
            s.goes_not(&instruction, Error::NotChallengeProgram);
        }
    }
}

#[test]
fn another_agents_or_eras_stake_fails() {
    let mut s = Scene::staked();
    let other = s.other_agent().agent;
    for instruction in s.all_by(pda::challenge_authority()) {
        let theirs = with_account(instruction.clone(), STAKE, pda::stake(&other.mint, 0));
        s.goes_not(&theirs, Error::WrongAgent);
        let mut next = instruction;
        next.data[40..44].copy_from_slice(&1u32.to_le_bytes());
        s.goes_not(&next, Error::WrongEra);
    }
}

#[test]
fn another_vault_or_token_program_fails() {
    let mut s = Scene::staked();
    let other = s.other_agent().agent;
    assert_ne!(other.shard(), s.agent.shard());
    let theirs = s.world.usdc_account(&s.owner.at());
    let deposit = s.deposit(5, UNRANKED);
    for (place, at, error) in [
        (SHARD, pda::shard(other.shard()), Error::WrongAddress),
        (SHARD, theirs, Error::VaultMissing),
        (VAULT, pda::vault(other.shard()), Error::WrongAddress),
        (VAULT, theirs, Error::WrongAddress),
        (TOKEN, TOKEN_2022_PROGRAM, Error::NotLegacyToken),
        (TOKEN, address(ids::SYSTEM), Error::NotLegacyToken),
    ] {
        s.goes_not(&with_account(deposit.clone(), place, at), error);
    }
}

#[test]
fn without_a_stake_fails() {
    let mut s = Scene::tenured();
    s.world.ensure_vault(&s.agent);
    for instruction in s.all_by(pda::challenge_authority()) {
        s.goes_not(&instruction, Error::AccountMissing);
    }
}
