//! settle: only Challenge moves money out of stakes and deposits, never more than is there, and nothing is made
//! or lost on the way.

use super::common::{
    DUPLICATE_MUTABLE, MIN_STAKE, Scene, WINDOW, forged_transaction, gift, only_event, send_unsigned,
    unsigned, unsigned_refused, with_account,
};
use super::relay::through_another_program;
use solana_address::Address;
use solana_instruction::error::InstructionError;
use solana_instruction::{AccountMeta, Instruction};
use solana_keypair::Keypair;
use solana_signer::Signer;
use solana_system_interface::instruction as system;
use solana_transaction_error::TransactionError;
use zx1_chain::instructions::lease::tick_lease;
use zx1_chain::instructions::stake_lock::settle;
use zx1_chain::pda;
use zx1_chain::token::{self, TOKEN_2022_PROGRAM, TOKEN_PROGRAM};
use zx1_interface::accounts::{ShardAccount, StakeLockAccount};
use zx1_interface::events::StakeMoved;
use zx1_interface::instruction::Settle;
use zx1_interface::{Error, Layout, ids};
use zx1_vm_tests::{Agent, Books, Receipt, USDC, World, address, events};

const STAKE: usize = 1;
const SHARD: usize = 2;
const VAULT: usize = 3;
const FIRST: usize = 4;
const SECOND: usize = 5;
const TOKEN: usize = 6;

/// Marks of a challenge that is settled, of the order that moves on, and of a slash.
const CHALLENGE: u8 = 1;
const ORDER: u8 = 2;
const SLASH: u8 = 8;

/// Where the other program of these tests lies.
const OTHER_PROGRAM: Address = Address::new_from_array([66; 32]);

/// The legacy token program's refusal.
const MINT_MISMATCH: u32 = 3;

/// A settlement of era 0 that moves nothing.
pub(crate) fn moves(agent: &Agent) -> Settle {
    Settle {
        agent_mint: agent.mint.0,
        era: 0,
        from_deposits: 0,
        from_stake: 0,
        from_pot: 0,
        to_stake: 0,
        to_pot: 0,
        first: 0,
        second: 0,
        marks: 0,
    }
}

impl Scene {
    fn moves(&self) -> Settle {
        moves(&self.agent)
    }

    fn settling_by(&mut self, authority: Address, moves: &Settle) -> Instruction {
        let first = self.world.usdc_account(&self.stranger.pubkey());
        let second = self.world.treasury_usdc();
        settle(authority, first, second, moves)
    }

    /// settle with Challenge's authority as the signer; the stranger is first, the treasury second.
    fn settling(&mut self, moves: &Settle) -> Instruction {
        self.settling_by(pda::challenge_authority(), moves)
    }

    /// Out of the stake in favor of the stranger.
    fn taking(&mut self, amount: u64) -> Instruction {
        self.settling(&Settle { from_stake: amount, first: amount, ..self.moves() })
    }

    #[track_caller]
    fn settles(&mut self, moves: &Settle) -> Receipt {
        let instruction = self.settling(moves);
        let receipt = send_unsigned(&mut self.world, &instruction).unwrap();
        self.world.assert_books();
        receipt
    }

    #[track_caller]
    fn settles_not(&mut self, moves: &Settle, error: Error) {
        let instruction = self.settling(moves);
        unsigned_refused(&mut self.world, &instruction).expect_code(error.code());
    }

    #[track_caller]
    fn taking_with_refused(&mut self, place: usize, at: Address, error: Error) {
        let instruction = with_account(self.taking(1), place, at);
        unsigned_refused(&mut self.world, &instruction).expect_code(error.code());
    }

    /// Stake, and one open challenge with a stake of 5 USDC of the stranger's.
    fn with_deposit() -> Self {
        let mut scene = Self::staked();
        let deposit = scene.deposit(5 * USDC, 2);
        send_unsigned(&mut scene.world, &deposit).unwrap();
        scene
    }

    /// The slash of the whole stake: 40 % of it to the finders, of which the stranger gets half at once.
    fn slashing(&self) -> Settle {
        Settle {
            from_deposits: 5 * USDC,
            from_stake: 30 * USDC,
            to_pot: 6 * USDC,
            first: (5 + 6) * USDC,
            second: 18 * USDC,
            marks: CHALLENGE | ORDER | SLASH,
            ..self.moves()
        }
    }

    fn treasury_usdc_balance(&mut self) -> u64 {
        let treasury = self.world.treasury().pubkey();
        self.world.usdc_balance(&treasury)
    }
}

fn by(s: &mut Scene, wallet: &Keypair, amount: u64) -> Instruction {
    let first = s.world.usdc_account(&wallet.pubkey());
    let second = s.world.treasury_usdc();
    let moves = Settle { from_stake: amount, first: amount, ..s.moves() };
    settle(wallet.pubkey(), first, second, &moves)
}

#[test]
fn a_wallet_fails_whoever_it_is() {
    let mut s = Scene::staked();
    let upgrade_authority = s.world.upgrade_authority();
    let (maintainer, treasury) = (s.world.maintainer(), s.world.treasury());
    s.world.set_lamports(&treasury.pubkey(), 10_000_000_000);
    let wallets =
        [s.owner.insecure_clone(), s.stranger.insecure_clone(), upgrade_authority, maintainer, treasury];
    for wallet in wallets {
        for amount in [0, 1, MIN_STAKE] {
            let instruction = by(&mut s, &wallet, amount);
            let refusal = s.world.send_refused(&[instruction], &wallet, &[]);
            refusal.expect_code(Error::NotChallengeProgram.code());
        }
    }
}

#[test]
fn challenges_authority_without_its_signature_fails() {
    let mut s = Scene::staked();
    let instruction = unsigned(s.taking(MIN_STAKE), 0);
    s.stranger_refused(&[instruction], Error::NotChallengeProgram);
}

#[test]
fn another_programs_derived_authority_fails() {
    // What another program can sign for: addresses derived from its own id, also from the same seed.
    let mut s = Scene::staked();
    for program in [ids::STAKE_LOCK, ids::FEEDBACK_LOG, ids::LEASE, [66; 32]] {
        let theirs = Address::find_program_address(&[b"authority"], &address(program)).0;
        s.taking_with_refused(0, theirs, Error::NotChallengeProgram);
    }
    // An address that Challenge signs for, but not this one.
    s.taking_with_refused(0, pda::event_authority(ids::CHALLENGE), Error::NotChallengeProgram);
}

#[test]
fn another_program_calls_and_signs_with_its_own_derived_authority_fails() {
    let mut s = Scene::living();
    // The same seed as Challenge's authority has, under the other program's id.
    let (theirs, bump) = Address::find_program_address(&[b"authority"], &OTHER_PROGRAM);
    let call = with_account(s.taking(1), 0, theirs);
    let call = through_another_program(&mut s.world, OTHER_PROGRAM, &call, &[&[b"authority", &[bump]]]);
    let refusal = s.world.send_refused(&[call], &s.stranger, &[]);
    refusal.expect_code(Error::NotChallengeProgram.code());
    assert_eq!(refusal.program(), Some(address(ids::STAKE_LOCK)));
}

#[test]
fn another_program_calls_and_names_challenges_authority_fails() {
    let mut s = Scene::living();
    // Without a signature it gets as far as StakeLock.
    let call = unsigned(s.taking(1), 0);
    let call = through_another_program(&mut s.world, OTHER_PROGRAM, &call, &[]);
    let refusal = s.world.send_refused(&[call], &s.stranger, &[]);
    refusal.expect_code(Error::NotChallengeProgram.code());
    assert_eq!(refusal.program(), Some(address(ids::STAKE_LOCK)));
    // As a signer, without seeds and with Challenge's own seeds, it does not: under another program's id they
    // are another address. (Under every second id they are none at all; this one is of the other half.)
    let bump = Address::find_program_address(&[b"authority"], &address(ids::CHALLENGE)).1;
    let challenges: &[&[u8]] = &[b"authority", &[bump]];
    let mut candidates = (100..=255).map(|byte| Address::new_from_array([byte; 32]));
    let id = candidates.find(|id| Address::create_program_address(challenges, id).is_ok()).unwrap();
    for signers in [&[][..], &[challenges]] {
        let call = s.taking(1);
        let call = through_another_program(&mut s.world, id, &call, signers);
        let refusal = s.world.send_refused(&[call], &s.stranger, &[]);
        assert_eq!(refusal.instruction_error(), Some(&InstructionError::PrivilegeEscalation));
        let reason = format!("{}'s signer privilege escalated", pda::challenge_authority());
        assert!(refusal.sent.logs.contains(&reason), "{refusal:?}");
    }
}

#[test]
fn the_other_program_of_these_tests_can_call_ok() {
    // Otherwise the refusals above would show nothing.
    let mut s = Scene::dead();
    let call = tick_lease(s.agent.mint);
    let call = through_another_program(&mut s.world, OTHER_PROGRAM, &call, &[]);
    s.world.send_ok(&[call], &s.stranger, &[]);
    assert_eq!(s.lease().deactivated, 1);
    // With a signature of its own, for an instruction that takes anybody's.
    let (theirs, bump) = Address::find_program_address(&[b"purse"], &OTHER_PROGRAM);
    gift(&mut s.world, &theirs, 5_000_000);
    let mut call = system::transfer(&theirs, &s.owner.pubkey(), 5_000_000);
    call.accounts.push(AccountMeta::new_readonly(address(ids::SYSTEM), false));
    let call = through_another_program(&mut s.world, OTHER_PROGRAM, &call, &[&[b"purse", &[bump]]]);
    s.world.send_ok(&[call], &s.stranger, &[]);
    assert_eq!(s.world.lamports(&theirs), 0);
}

#[test]
fn a_forged_signature_of_challenges_authority_never_reaches_the_program() {
    let mut s = Scene::staked();
    // Nobody has its key: the address is off the curve.
    assert!(!pda::challenge_authority().is_on_curve());
    let transaction = {
        let instruction = s.taking(1);
        forged_transaction(&mut s.world, &instruction)
    };
    let before = s.world.snapshot();
    let refusal = s.world.svm.send_transaction(transaction).unwrap_err();
    assert_eq!(refusal.err, TransactionError::SignatureFailure);
    assert!(refusal.meta.logs.is_empty());
    before.assert_unchanged(&s.world);
}

#[test]
fn challenge_takes_a_part_of_the_stake_to_the_unit_ok() {
    let mut s = Scene::staked();
    let created = s.world.slot();
    s.world.advance_slots(5);
    let fine = Settle { from_stake: 3_333_333, first: 1_000_000, second: 2_333_333, ..s.moves() };
    let instruction = s.settling(&fine);
    let (before, stake) = (s.world.snapshot(), s.stake());
    let receipt = send_unsigned(&mut s.world, &instruction).unwrap();

    let (shard, faucet) = (s.agent.shard(), s.world.faucet.pubkey());
    let recipients = [s.world.usdc_account(&s.stranger.at()), s.world.treasury_usdc()];
    let changed = [faucet, pda::stake(&s.agent.mint, 0), pda::shard(shard), pda::vault(shard)];
    before.assert_only_changed(&s.world, &[&changed[..], &recipients[..]].concat());
    assert_eq!((s.vault(), s.shard_total()), (26_666_667, 26_666_667));
    assert_eq!(s.world.usdc_balance(&s.stranger.pubkey()), 1_001 * USDC);
    assert_eq!(s.treasury_usdc_balance(), 2_333_333);
    assert_eq!(s.stake(), StakeLockAccount { stake_usdc: 26_666_667, event_sequence: 2, ..stake });
    assert_eq!(
        only_event(&receipt, ids::STAKE_LOCK, StakeMoved::read),
        StakeMoved {
            agent_mint: s.agent.mint.0,
            era: 0,
            from_stake: 3_333_333,
            to_stake: 0,
            stake_usdc: 26_666_667,
            pot_usdc: 0,
            slashed: 0,
            sequence: 1,
            account_created_slot: created,
        }
    );
}

#[test]
fn a_slash_takes_all_ends_the_era_and_fills_the_finders_part_ok() {
    let mut s = Scene::with_deposit();
    s.world.advance_slots(7);
    let (stake, now) = (s.stake(), s.world.slot());
    let receipt = s.settles(&s.slashing());
    assert_eq!(
        s.stake(),
        StakeLockAccount {
            stake_usdc: 0,
            pot_usdc: 6 * USDC,
            deposits_usdc: 0,
            ended_slot: now,
            slashed_slot: now,
            open_challenges: 0,
            settled_rank: 1,
            event_sequence: 2,
            ..stake
        }
    );
    let books = Books { stake: 0, pot: 6 * USDC, deposits: 0, shard: 6 * USDC, vault: 6 * USDC };
    assert_eq!(s.world.books(&s.agent, 0), books);
    assert_eq!(
        (s.world.usdc_balance(&s.stranger.at()), s.treasury_usdc_balance()),
        (1_006 * USDC, 18 * USDC)
    );
    let event = only_event(&receipt, ids::STAKE_LOCK, StakeMoved::read);
    assert_eq!(
        (event.slashed, event.from_stake, event.stake_usdc, event.pot_usdc),
        (1, 30 * USDC, 0, 6 * USDC)
    );
    // What is left of the finders' part moves later, and does not count as a second slash.
    let rest = Settle { from_pot: 6 * USDC, second: 6 * USDC, ..s.moves() };
    let receipt = s.settles(&rest);
    let event = only_event(&receipt, ids::STAKE_LOCK, StakeMoved::read);
    assert_eq!((event.slashed, event.pot_usdc, event.sequence), (0, 0, 2));
    assert_eq!(s.world.lamports(&pda::stake(&s.agent.mint, 0)), s.world.rent(StakeLockAccount::SIZE));
}

#[test]
fn a_lost_challenge_raises_the_stake_ok() {
    let mut s = Scene::with_deposit();
    let lost = Settle {
        from_deposits: 5_000_000,
        to_stake: 1_500_000,
        first: 500_000,
        second: 3_000_000,
        marks: CHALLENGE | ORDER,
        ..s.moves()
    };
    let receipt = s.settles(&lost);
    assert_eq!((s.stake().stake_usdc, s.stake().deposits_usdc, s.vault()), (31_500_000, 0, 31_500_000));
    let event = only_event(&receipt, ids::STAKE_LOCK, StakeMoved::read);
    assert_eq!((event.to_stake, event.from_stake, event.slashed), (1_500_000, 0, 0));
}

#[test]
fn a_settlement_that_leaves_stake_and_pot_alone_has_no_event_ok() {
    let mut s = Scene::with_deposit();
    let stake = s.stake();
    let back = Settle { from_deposits: 5 * USDC, first: 5 * USDC, marks: CHALLENGE | ORDER, ..s.moves() };
    let receipt = s.settles(&back);
    assert!(events(&receipt, &address(ids::STAKE_LOCK)).is_empty());
    assert_eq!(s.stake().event_sequence, stake.event_sequence);
}

#[test]
fn what_goes_out_and_what_comes_in_differ_by_nothing() {
    let mut s = Scene::with_deposit();
    let right = s.slashing();
    for wrong in [
        Settle { from_deposits: right.from_deposits + 1, ..right.clone() },
        Settle { from_deposits: right.from_deposits - 1, ..right.clone() },
        Settle { from_stake: right.from_stake - 1, ..right.clone() },
        Settle { from_pot: 1, ..right.clone() },
        Settle { to_stake: 1, ..right.clone() },
        Settle { to_pot: right.to_pot + 1, ..right.clone() },
        Settle { to_pot: right.to_pot - 1, ..right.clone() },
        Settle { first: right.first + 1, ..right.clone() },
        Settle { first: right.first - 1, ..right.clone() },
        Settle { second: right.second - 1, ..right.clone() },
        Settle { from_stake: 1, ..s.moves() },
        Settle { to_stake: 1, ..s.moves() },
        Settle { to_pot: 1, ..s.moves() },
        Settle { first: 1, ..s.moves() },
    ] {
        s.settles_not(&wrong, Error::DepositsUnbalanced);
    }
    s.settles(&right);
}

#[test]
fn sums_beyond_u64_fail() {
    let mut s = Scene::with_deposit();
    for wrong in [
        Settle { from_stake: u64::MAX, from_deposits: 1, ..s.moves() },
        Settle { to_stake: u64::MAX, to_pot: 1, ..s.moves() },
        // Both would be 0 by wrapping around.
        Settle { from_stake: 1 << 63, from_deposits: 1 << 63, ..s.moves() },
    ] {
        s.settles_not(&wrong, Error::ArithmeticOverflow);
    }
}

#[test]
fn a_stake_in_the_unlock_queue_is_taken_from_until_it_is_claimed_ok() {
    let mut s = Scene::queued();
    s.world.advance_slots(WINDOW);
    let stake = s.stake();
    let fine = Settle { from_stake: 4 * USDC, second: 4 * USDC, ..s.moves() };
    s.settles(&fine);
    assert_eq!(s.stake(), StakeLockAccount { stake_usdc: 26 * USDC, event_sequence: 3, ..stake });
    s.world.claim_stake(&s.agent, &s.owner, 0).unwrap();
    assert_eq!(s.world.usdc_balance(&s.owner.pubkey()), (1_000 - 1 - 4) * USDC);
}

#[test]
fn more_than_the_stake_or_the_finders_part_fails() {
    let mut s = Scene::staked();
    for amount in [MIN_STAKE + 1, u64::MAX] {
        // Within the vault, so that the stake alone is asked.
        let too_much = Settle { from_stake: amount, to_pot: amount, ..s.moves() };
        s.settles_not(&too_much, Error::SlashExceedsStake);
    }
    s.settles_not(&Settle { from_pot: 1, to_stake: 1, ..s.moves() }, Error::DepositsUnbalanced);
    let out = Settle { from_stake: MIN_STAKE + 1, first: MIN_STAKE + 1, ..s.moves() };
    s.settles_not(&out, Error::VaultShort);
}

/// All money of a shard lies in one vault: one agent's settlement never takes another's.
#[test]
fn the_money_of_the_vaults_other_agents_is_out_of_reach() {
    let mut s = Scene::staked();
    let (agent, owner) = s.neighbor();
    s.world.lock_stake(&agent, &owner, 50 * USDC).unwrap();
    let more = Settle { from_stake: MIN_STAKE + 1, first: MIN_STAKE + 1, ..s.moves() };
    s.settles_not(&more, Error::SlashExceedsStake);
    s.settles_not(&Settle { from_deposits: 1, first: 1, ..s.moves() }, Error::DepositsUnbalanced);
    s.settles_not(&Settle { from_pot: 1, first: 1, ..s.moves() }, Error::DepositsUnbalanced);
    // Nor with the neighbor's stake account in place of the agent's.
    s.taking_with_refused(STAKE, pda::stake(&agent.mint, 0), Error::WrongAgent);
    assert_eq!(s.world.books(&agent, 0).stake, 50 * USDC);
}

#[test]
fn a_gift_in_the_vault_is_no_stake_fails() {
    let mut s = Scene::staked();
    let (mint, vault) = (s.world.usdc_mint(), pda::vault(s.agent.shard()));
    let from = s.world.usdc_account(&s.stranger.pubkey());
    let donate = token::transfer(&from, &mint, &vault, &s.stranger.pubkey(), (50 * USDC, 6), &TOKEN_PROGRAM);
    s.world.send_ok(&[donate.unwrap()], &s.stranger, &[]);
    let more = Settle { from_stake: MIN_STAKE + 1, first: MIN_STAKE + 1, ..s.moves() };
    s.settles_not(&more, Error::VaultShort);
}

#[test]
fn a_vault_that_holds_less_than_it_owes_pays_nothing() {
    // Cannot be; shows that the total is compared after every move.
    let mut s = Scene::staked();
    let at = 8 + std::mem::offset_of!(ShardAccount, total_usdc);
    s.world.edit_data(&pda::shard(s.agent.shard()), |data| {
        data[at..at + 8].copy_from_slice(&(MIN_STAKE + 1).to_le_bytes());
    });
    let instruction = s.taking(1);
    unsigned_refused(&mut s.world, &instruction).expect_code(Error::VaultShort.code());
    let deposit = s.deposit(5, 2);
    unsigned_refused(&mut s.world, &deposit).expect_code(Error::VaultShort.code());
    let lock = s.world.locking(&s.agent, &s.owner.at(), 0, 1);
    s.owner_refused(&[lock], Error::VaultShort);
}

#[test]
fn a_slash_that_leaves_a_stake_or_comes_twice_fails() {
    let mut s = Scene::with_deposit();
    let right = s.slashing();
    let part = Settle { from_stake: 29 * USDC, second: 17 * USDC, ..right.clone() };
    s.settles_not(&part, Error::InvariantBroken);
    // A finders' part without a slash.
    let unmarked = Settle { marks: CHALLENGE | ORDER, ..right.clone() };
    s.settles_not(&unmarked, Error::InvariantBroken);
    s.settles(&right);
    s.settles_not(&Settle { marks: SLASH, ..s.moves() }, Error::InvariantBroken);
    // Nothing goes into a stake that was slashed.
    let back = Settle { from_pot: USDC, to_stake: USDC, ..s.moves() };
    s.settles_not(&back, Error::InvariantBroken);
}

#[test]
fn a_slash_of_an_era_that_ended_keeps_its_end_ok() {
    let mut s = Scene::with_deposit();
    let ended = s.world.slot();
    let (agent, buyer) = s.sell();
    s.world.take_over(&agent, &buyer).unwrap();
    s.world.advance_slots(9);
    s.settles(&s.slashing());
    assert_eq!((s.stake().ended_slot, s.stake().slashed_slot), (ended, ended + 9));
}

#[test]
fn who_gets_nothing_may_be_absent_and_who_gets_something_may_not() {
    let mut s = Scene::with_deposit();
    let (none, vault) = (address(ids::STAKE_LOCK), pda::vault(s.agent.shard()));
    let absent = |instruction: Instruction, place: usize| {
        let mut instruction = with_account(instruction, place, none);
        instruction.accounts[place].is_writable = false;
        instruction
    };
    let taking = s.taking(1);
    unsigned_refused(&mut s.world, &absent(taking.clone(), FIRST)).expect_code(Error::AccountMissing.code());
    send_unsigned(&mut s.world, &absent(taking, SECOND)).unwrap();
    // As pass_rank calls it: nobody is paid.
    let nothing = s.settling(&s.moves());
    send_unsigned(&mut s.world, &absent(absent(nothing.clone(), FIRST), SECOND)).unwrap();
    // The vault pays nothing to itself.
    for place in [FIRST, SECOND] {
        let refusal = unsigned_refused(&mut s.world, &with_account(nothing.clone(), place, vault));
        assert_eq!(refusal.instruction_error(), Some(&DUPLICATE_MUTABLE));
    }
    // One account may get both parts.
    let both = Settle { from_stake: 5, first: 2, second: 3, ..s.moves() };
    let (both, treasury) = (s.settling(&both), s.world.treasury_usdc());
    send_unsigned(&mut s.world, &with_account(both, FIRST, treasury)).unwrap();
    assert_eq!(s.treasury_usdc_balance(), 5);
    s.world.assert_books();
}

#[test]
fn another_agents_stake_fails() {
    let mut s = Scene::staked();
    let other = s.other_agent().agent;
    s.taking_with_refused(STAKE, pda::stake(&other.mint, 0), Error::WrongAgent);
    let mut instruction = s.taking(1);
    instruction.data[8..40].copy_from_slice(other.mint.as_ref());
    unsigned_refused(&mut s.world, &instruction).expect_code(Error::WrongAgent.code());
}

#[test]
fn another_vault_or_shard_fails() {
    let mut s = Scene::staked();
    let other = s.other_agent().agent;
    assert_ne!(other.shard(), s.agent.shard());
    s.taking_with_refused(VAULT, pda::vault(other.shard()), Error::WrongAddress);
    s.taking_with_refused(SHARD, pda::shard(other.shard()), Error::WrongAddress);
    let theirs = s.world.usdc_account(&s.owner.pubkey());
    s.taking_with_refused(VAULT, theirs, Error::WrongAddress);
    // A shard of the attacker's own, with a vault of its own.
    let (forged, data) = (s.world.new_keypair().pubkey(), s.world.data(&pda::shard(s.agent.shard())));
    s.world.set_data(&forged, &Address::new_from_array([8; 32]), &data);
    s.taking_with_refused(SHARD, forged, Error::VaultMissing);
}

#[test]
fn another_token_program_fails() {
    let mut s = Scene::staked();
    s.taking_with_refused(TOKEN, TOKEN_2022_PROGRAM, Error::NotLegacyToken);
    s.taking_with_refused(TOKEN, address(ids::SYSTEM), Error::NotLegacyToken);
}

#[test]
fn a_recipient_of_another_mint_fails() {
    let mut s = Scene::staked();
    let fake = s.world.new_keypair();
    s.world.create_mint(&fake, 6, &TOKEN_PROGRAM);
    let theirs = s.world.fund_token(&s.stranger.pubkey(), &fake.pubkey(), 1, &TOKEN_PROGRAM);
    let instruction = with_account(s.taking(1), FIRST, theirs);
    let refusal = unsigned_refused(&mut s.world, &instruction);
    refusal.expect_code(MINT_MISMATCH);
    assert_eq!(refusal.program(), Some(TOKEN_PROGRAM));
}

#[test]
fn without_a_stake_fails() {
    let mut s = Scene::registered();
    let instruction = s.taking(0);
    unsigned_refused(&mut s.world, &instruction).expect_code(Error::AccountMissing.code());
}

#[test]
fn a_forged_stake_fails() {
    let mut s = Scene::staked();
    let (forged, data) = (s.world.new_keypair().pubkey(), s.world.data(&pda::stake(&s.agent.mint, 0)));
    s.world.set_data(&forged, &Address::new_from_array([8; 32]), &data);
    s.taking_with_refused(STAKE, forged, Error::WrongAccountOwner);
}

#[test]
fn signatures_are_checked_again_afterwards() {
    // What the other tests rely on: the bypass lasts for one transaction.
    let mut s = Scene::staked();
    let instruction = s.taking(1);
    send_unsigned(&mut s.world, &instruction).unwrap();
    let world: &World = &s.world;
    assert!(world.svm.get_sigverify());
}
