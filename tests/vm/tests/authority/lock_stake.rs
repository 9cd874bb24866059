//! lock_stake: whoever holds the NFT, in a tenure of its own, creates or tops up the stake of an era in the
//! configured USDC.

use super::common::{
    MIN_STAKE, MISSING_SIGNATURE, Scene, gift, only_event, send_unsigned, unsigned, with_account,
};
use solana_address::Address;
use solana_instruction::Instruction;
use solana_keypair::Keypair;
use solana_signer::Signer;
use zx1_chain::instructions::stake_lock::{lock_stake, open_vault, settle};
use zx1_chain::token::{TOKEN_2022_PROGRAM, TOKEN_PROGRAM, create_associated};
use zx1_chain::{pda, token};
use zx1_interface::accounts::{Config, ShardAccount, StakeLockAccount, TenureAccount};
use zx1_interface::events::{EraEnded, StakeLocked};
use zx1_interface::instruction::Settle;
use zx1_interface::{Error, Layout, ids};
use zx1_protocol::units::MicroUsdc;
use zx1_vm_tests::{Agent, Books, ForeignMint, Key, Receipt, USDC, World, address, events};

const CONFIG: usize = 1;
const AGENT_INDEX: usize = 3;
const AGENT_TOKEN: usize = 4;
const TENURE: usize = 5;
const PREVIOUS: usize = 6;
const STAKE: usize = 7;
const SHARD: usize = 8;
const VAULT: usize = 9;
const OWNER_USDC: usize = 10;
const TOKEN: usize = 11;

/// What a party of the harness begins with.
const PURSE: u64 = 1_000 * USDC;

fn lock(world: &mut World, agent: &Agent, wallet: &Keypair, amount: u64) -> Instruction {
    let era = world.era(agent);
    world.locking(agent, &wallet.pubkey(), era, amount)
}

impl Scene {
    /// The agent has keys and no stake, and the vault of its shard is there.
    fn lockable() -> Self {
        let mut scene = Self::tenured();
        scene.world.ensure_vault(&scene.agent);
        scene
    }

    fn lock(&mut self, amount: u64) -> Instruction {
        lock(&mut self.world, &self.agent, &self.owner, amount)
    }

    #[track_caller]
    fn lock_refused(&mut self, amount: u64, error: Error) {
        let instruction = self.lock(amount);
        self.owner_refused(&[instruction], error);
    }

    /// The owner's instruction for the minimum, with another account at one place, is refused.
    #[track_caller]
    fn lock_with_refused(&mut self, place: usize, at: Address, error: Error) {
        let instruction = with_account(self.lock(MIN_STAKE), place, at);
        self.owner_refused(&[instruction], error);
    }

    /// The owner is refused in this era; the present one is passed along where it is the one before.
    #[track_caller]
    fn lock_in_refused(&mut self, era: u32, error: Error) {
        let instruction = self.world.locking(&self.agent, &self.owner.at(), era, MIN_STAKE);
        self.owner_refused(&[instruction], error);
    }

    fn stake_at(&self, era: u32) -> Address {
        pda::stake(&self.agent.mint, era)
    }
}

fn locked(receipt: &Receipt) -> StakeLocked {
    only_event(receipt, ids::STAKE_LOCK, StakeLocked::read)
}

#[test]
fn the_owner_creates_the_stake_ok() {
    let mut s = Scene::lockable();
    let (stake, shard) = (s.stake_at(0), s.agent.shard());
    let owner = s.owner.pubkey();
    let usdc = s.world.usdc_account(&owner);
    let (before, lamports) = (s.world.snapshot(), s.world.lamports(&owner));
    let receipt = s.world.lock_stake(&s.agent, &s.owner, 32_345_678).unwrap();

    let changed = [owner, usdc, stake, pda::shard(shard), pda::vault(shard)];
    before.assert_only_changed(&s.world, &changed);
    assert_eq!(s.world.usdc_balance(&owner), PURSE - 32_345_678);
    assert_eq!((s.vault(), s.shard_total()), (32_345_678, 32_345_678));
    let rent = s.world.rent(StakeLockAccount::SIZE);
    assert_eq!(s.world.lamports(&stake), rent);
    assert_eq!(s.world.lamports(&owner), lamports - rent - receipt.fee);
    let slot = s.world.slot();
    let stake_seeds: &[&[u8]] = &[b"stake", s.agent.mint.as_ref(), &0u32.to_le_bytes()];
    let (derived, bump) = Address::find_program_address(stake_seeds, &address(ids::STAKE_LOCK));
    assert_eq!(derived, stake);
    assert_eq!(s.world.account(&stake).unwrap().data.len(), StakeLockAccount::SIZE);
    assert_eq!(
        s.stake(),
        StakeLockAccount {
            stake_usdc: 32_345_678,
            pot_usdc: 0,
            deposits_usdc: 0,
            locked_since_slot: slot,
            unlock_available_slot: 0,
            queued_slot: 0,
            ended_slot: 0,
            slashed_slot: 0,
            created_slot: slot,
            event_sequence: 1,
            era: 0,
            open_challenges: 0,
            next_rank: 0,
            settled_rank: 0,
            open_asks: 0,
            next_ask: 0,
            settled_ask: 0,
            in_unlock_queue: 0,
            version: 2,
            bump,
            reserved: 0,
            agent_mint: s.agent.mint.0,
            owner: owner.to_bytes(),
        }
    );
    assert_eq!(
        locked(&receipt),
        StakeLocked {
            agent_mint: s.agent.mint.0,
            era: 0,
            owner: owner.to_bytes(),
            lamports: 32_345_678,
            slot,
            stake_usdc: 32_345_678,
            sequence: 0,
            account_created_slot: slot,
        }
    );
    s.world.assert_books();
}

#[test]
fn exactly_the_minimum_is_enough_ok() {
    let s = Scene::staked();
    assert_eq!((s.stake().stake_usdc, s.vault()), (30_000_000, 30_000_000));
}

#[test]
fn a_top_up_may_be_smaller_than_the_minimum_ok() {
    let mut s = Scene::staked();
    let created = s.world.slot();
    s.world.advance_slots(7);
    let before = s.stake();
    let rent = s.world.lamports(&s.stake_at(0));
    let receipt = s.world.lock_stake(&s.agent, &s.owner, 1).unwrap();
    assert_eq!(s.stake(), StakeLockAccount { stake_usdc: MIN_STAKE + 1, event_sequence: 2, ..before });
    assert_eq!(s.stake().locked_since_slot, created);
    assert_eq!((s.vault(), s.shard_total()), (MIN_STAKE + 1, MIN_STAKE + 1));
    assert_eq!(s.world.usdc_balance(&s.owner.pubkey()), PURSE - MIN_STAKE - 1);
    assert_eq!(s.world.lamports(&s.stake_at(0)), rent);
    assert_eq!(
        locked(&receipt),
        StakeLocked {
            agent_mint: s.agent.mint.0,
            era: 0,
            owner: s.owner.pubkey().to_bytes(),
            lamports: 1,
            slot: created + 7,
            stake_usdc: MIN_STAKE + 1,
            sequence: 1,
            account_created_slot: created,
        }
    );
}

#[test]
fn any_token_account_that_holds_the_nft_serves_ok() {
    let mut s = Scene::tenured();
    s.agent = s.world.transfer_agent_aside(&s.agent, &s.owner, &s.owner.pubkey());
    s.world.lock_stake(&s.agent, &s.owner, MIN_STAKE).unwrap();
    assert_eq!(s.stake().owner, s.owner.pubkey().to_bytes());
}

#[test]
fn any_usdc_account_of_the_owner_pays_ok() {
    let mut s = Scene::lockable();
    // The owner's wallet holds USDC in an account that is not the associated one.
    let aside = s.world.new_keypair().pubkey();
    let purse = s.world.usdc_account(&s.owner.pubkey());
    let account = s.world.account(&purse).unwrap();
    s.world.set_account(&aside, account);
    let instruction = with_account(s.lock(MIN_STAKE), OWNER_USDC, aside);
    s.world.send_ok(&[instruction], &s.owner, &[]);
    assert_eq!(s.world.token_balance(&aside), PURSE - MIN_STAKE);
    assert_eq!(s.world.usdc_balance(&s.owner.pubkey()), PURSE);
}

#[test]
fn agents_of_one_shard_share_a_vault_and_each_has_its_own_stake_ok() {
    let mut s = Scene::staked();
    let (agent, owner) = s.neighbor();
    assert_eq!(agent.shard(), s.agent.shard());
    s.world.lock_stake(&agent, &owner, MIN_STAKE + 5).unwrap();
    assert_eq!(
        (s.stake().stake_usdc, s.vault(), s.shard_total()),
        (MIN_STAKE, 2 * MIN_STAKE + 5, 2 * MIN_STAKE + 5)
    );
    assert_eq!(s.world.books(&agent, 0).stake, MIN_STAKE + 5);
    s.world.assert_books();
}

#[test]
fn after_a_sale_the_new_holder_locks_in_its_own_era_and_the_former_ones_money_stays_its_own_ok() {
    let mut s = Scene::staked();
    let (agent, buyer) = s.sell();
    // The agent is still in the seller's tenure, and nobody may lock for it.
    let instruction = lock(&mut s.world, &agent, &buyer, MIN_STAKE);
    s.world.send_refused(&[instruction], &buyer, &[]).expect_code(Error::NotTenureOwner.code());
    s.world.take_over(&agent, &buyer).unwrap();
    let receipt = s.world.lock_stake(&agent, &buyer, MIN_STAKE + 5).unwrap();
    let event = locked(&receipt);
    assert_eq!((event.owner, event.era, event.sequence), (buyer.pubkey().to_bytes(), 1, 0));
    assert_eq!((s.stake_of(1).owner, s.stake_of(1).stake_usdc), (buyer.pubkey().to_bytes(), MIN_STAKE + 5));
    assert_eq!((s.stake().owner, s.stake().stake_usdc), (s.owner.pubkey().to_bytes(), MIN_STAKE));
    assert_eq!(s.world.usdc_balance(&buyer.pubkey()), PURSE - MIN_STAKE - 5);
    s.world.assert_books();
}

#[test]
fn after_a_sale_the_former_owner_fails() {
    let mut s = Scene::staked();
    let former = s.agent;
    let (agent, _) = s.sell();
    s.agent = agent;
    s.lock_refused(MIN_STAKE, Error::NotAgentOwner);
    // Its own token account is there still, and empty.
    s.agent = former;
    s.lock_refused(MIN_STAKE, Error::AgentNotHeld);
}

/// The first edition's L2: lock_stake of nothing wrote the owner, who gets a burned agent's stake.
#[test]
fn a_borrower_for_one_slot_does_not_become_the_stakes_owner() {
    let mut s = Scene::staked();
    let stake = s.stake();
    let (agent, borrower) = s.sell();
    for amount in [0, 1, MIN_STAKE] {
        let instruction = lock(&mut s.world, &agent, &borrower, amount);
        s.world.send_refused(&[instruction], &borrower, &[]).expect_code(Error::NotTenureOwner.code());
    }
    // Even if it takes over, it has no part in the era of before.
    s.world.take_over(&agent, &borrower).unwrap();
    let former = s.world.locking(&agent, &borrower.at(), 0, 0);
    s.world.send_refused(&[former], &borrower, &[]).expect_code(Error::WrongEra.code());
    assert_eq!((s.stake().owner, s.stake().stake_usdc), (stake.owner, stake.stake_usdc));
}

#[test]
fn an_address_that_a_stranger_funded_first_blocks_nothing_ok() {
    // Too little for the rent, exactly the rent, and more.
    for amount in [900_000, 0, 10_000_000] {
        let mut s = Scene::lockable();
        let stake = s.stake_at(0);
        let rent = s.world.rent(StakeLockAccount::SIZE);
        let given = if amount == 0 { rent } else { amount };
        gift(&mut s.world, &stake, given);
        let lamports = s.world.lamports(&s.owner.pubkey());
        let receipt = s.world.lock_stake(&s.agent, &s.owner, MIN_STAKE).unwrap();
        assert_eq!(s.world.lamports(&stake), rent.max(given));
        assert_eq!(s.world.lamports(&s.owner.pubkey()), lamports - rent.saturating_sub(given) - receipt.fee);
        assert_eq!((s.stake().stake_usdc, s.vault()), (MIN_STAKE, MIN_STAKE));
    }
}

#[test]
fn somebody_who_does_not_hold_the_nft_fails() {
    let mut s = Scene::lockable();
    let instruction = lock(&mut s.world, &s.agent, &s.stranger, MIN_STAKE);
    s.stranger_refused(&[instruction], Error::NotAgentOwner);
}

#[test]
fn the_owner_without_a_signature_fails() {
    let mut s = Scene::lockable();
    let instruction = unsigned(s.lock(MIN_STAKE), 0);
    let refusal = s.world.send_refused(&[instruction], &s.stranger, &[]);
    assert_eq!(refusal.instruction_error(), Some(&MISSING_SIGNATURE));
}

#[test]
fn a_delegate_and_every_key_of_the_agent_fail() {
    let mut s = Scene::lockable();
    s.world.create_delegate(&s.owner, &s.stranger.pubkey(), &s.agent, 0);
    let instruction = lock(&mut s.world, &s.agent, &s.stranger, MIN_STAKE);
    s.stranger_refused(&[instruction], Error::NotAgentOwner);
    let all: Key = s.world.new_key(&s.agent, &s.owner, zx1_protocol::keys::Scopes::ALL);
    s.world.set_lamports(&all.at(), 10_000_000_000);
    s.world.fund_usdc(&all.at(), PURSE);
    let instruction = lock(&mut s.world, &s.agent, &all, MIN_STAKE);
    s.world.send_refused(&[instruction], &all, &[]).expect_code(Error::NotAgentOwner.code());
}

#[test]
fn without_a_tenure_fails() {
    let mut s = Scene::registered();
    s.world.ensure_vault(&s.agent);
    s.lock_refused(MIN_STAKE, Error::TenureMissing);
}

#[test]
fn without_the_shards_vault_fails() {
    let mut s = Scene::tenured();
    s.lock_refused(MIN_STAKE, Error::VaultMissing);
    // Lamports at its address are not a vault.
    gift(&mut s.world, &pda::shard(s.agent.shard()), 5_000_000);
    s.lock_refused(MIN_STAKE, Error::VaultMissing);
}

#[test]
fn mints_that_only_pose_as_agents_fail() {
    let cases = [
        (ForeignMint::Legacy, Error::MintNotToken2022),
        (ForeignMint::NoGroup, Error::MintNotInRegistry),
        (ForeignMint::OtherGroup, Error::MintNotInRegistry),
    ];
    for (kind, error) in cases {
        let mut s = Scene::registered();
        s.agent = s.world.foreign_agent(kind, &s.owner.pubkey());
        s.lock_refused(MIN_STAKE, error);
    }
}

#[test]
fn a_mint_of_which_there_are_two_fails() {
    // SATI makes no such mint; several wallets could hold it.
    let mut s = Scene::lockable();
    s.world.edit_data(&s.agent.mint.into(), |data| data[36..44].copy_from_slice(&2u64.to_le_bytes()));
    s.lock_refused(MIN_STAKE, Error::MintNotInRegistry);
}

#[test]
fn a_mint_as_the_nfts_token_account_fails() {
    let mut s = Scene::lockable();
    s.lock_with_refused(AGENT_TOKEN, s.agent.mint.into(), Error::AgentNotHeld);
    // The bytes of the real token account in an account that says that it is a mint.
    let forged = s.world.new_keypair().pubkey();
    let mut data = s.world.data(&s.agent.token_account);
    data.resize(data.len().max(166), 0);
    data[165] = 1;
    s.world.set_data(&forged, &TOKEN_2022_PROGRAM, &data);
    s.lock_with_refused(AGENT_TOKEN, forged, Error::AgentNotHeld);
}

#[test]
fn somebody_elses_agent_index_fails() {
    let mut s = Scene::lockable();
    let other = s.world.register_agent(&s.stranger);
    s.lock_with_refused(AGENT_INDEX, other.agent_index, Error::WrongAgentIndex);
}

#[test]
fn a_forged_agent_index_fails() {
    let mut s = Scene::lockable();
    let (foreign, copy) = (s.world.new_keypair().pubkey(), s.world.new_keypair().pubkey());
    let data = s.world.data(&s.agent.agent_index);
    s.world.set_data(&foreign, &Address::new_from_array([8; 32]), &data);
    s.lock_with_refused(AGENT_INDEX, foreign, Error::WrongAgentIndex);
    // Even one of SATI's with the same bytes, at another address.
    s.world.set_data(&copy, &address(ids::SATI), &data);
    s.lock_with_refused(AGENT_INDEX, copy, Error::WrongAgentIndex);
}

#[test]
fn a_token_account_that_holds_none_fails() {
    let mut s = Scene::lockable();
    let (stranger, mint) = (s.stranger.pubkey(), s.agent.mint.into());
    let create = create_associated(&stranger, &stranger, &mint, &TOKEN_2022_PROGRAM);
    s.world.send_ok(&[create], &s.stranger, &[]);
    let empty = token::associated_address(&stranger, &mint, &TOKEN_2022_PROGRAM);
    let instruction = lock(&mut s.world, &s.agent, &s.stranger, MIN_STAKE);
    s.stranger_refused(&[with_account(instruction, AGENT_TOKEN, empty)], Error::AgentNotHeld);
}

#[test]
fn a_token_account_of_another_agent_or_program_fails() {
    let mut s = Scene::lockable();
    let mine = s.world.register_agent(&s.owner);
    s.lock_with_refused(AGENT_TOKEN, mine.token_account, Error::AgentNotHeld);
    let usdc = s.world.usdc_account(&s.stranger.pubkey());
    s.lock_with_refused(AGENT_TOKEN, usdc, Error::AgentNotHeld);
    let forged = s.world.new_keypair().pubkey();
    let data = s.world.data(&s.agent.token_account);
    s.world.set_data(&forged, &Address::new_from_array([8; 32]), &data);
    s.lock_with_refused(AGENT_TOKEN, forged, Error::AgentNotHeld);
}

#[test]
fn money_of_another_legacy_mint_fails() {
    let mut s = Scene::lockable();
    let fake = s.world.new_keypair();
    s.world.create_mint(&fake, 6, &TOKEN_PROGRAM);
    let from = s.world.fund_token(&s.owner.pubkey(), &fake.pubkey(), MIN_STAKE, &TOKEN_PROGRAM);
    s.lock_with_refused(OWNER_USDC, from, Error::WrongUsdcMint);
}

#[test]
fn a_token_2022_lookalike_of_usdc_fails() {
    let mut s = Scene::lockable();
    let fake = s.world.new_keypair();
    s.world.create_mint(&fake, 6, &TOKEN_2022_PROGRAM);
    let from = s.world.fund_token(&s.owner.pubkey(), &fake.pubkey(), MIN_STAKE, &TOKEN_2022_PROGRAM);
    let all = with_account(s.lock(MIN_STAKE), TOKEN, TOKEN_2022_PROGRAM);
    s.owner_refused(&[with_account(all, OWNER_USDC, from)], Error::NotLegacyToken);
    s.lock_with_refused(OWNER_USDC, from, Error::NotLegacyToken);
    s.lock_with_refused(TOKEN, TOKEN_2022_PROGRAM, Error::NotLegacyToken);
}

#[test]
fn money_of_another_wallet_fails() {
    let mut s = Scene::lockable();
    let theirs = s.world.usdc_account(&s.stranger.pubkey());
    s.lock_with_refused(OWNER_USDC, theirs, Error::WrongTokenAccountOwner);
}

#[test]
fn the_vault_as_the_paying_account_fails() {
    let mut s = Scene::staked();
    let instruction = with_account(s.lock(1), OWNER_USDC, pda::vault(s.agent.shard()));
    // Anchor refuses a writable account that is passed twice before the handler runs.
    let refusal = s.world.send_refused(&[instruction], &s.owner, &[]);
    assert_eq!(refusal.instruction_error(), Some(&super::common::DUPLICATE_MUTABLE));
    // Another shard's vault belongs to that shard.
    let (other, vault) = (s.agent.shard().wrapping_add(1), pda::vault(s.agent.shard().wrapping_add(1)));
    s.world.open_vault(other).unwrap();
    s.lock_with_refused(OWNER_USDC, vault, Error::WrongTokenAccountOwner);
}

#[test]
fn a_vault_under_the_number_of_another_shard_fails() {
    let mut s = Scene::staked();
    let (own, other) = (s.agent.shard(), s.agent.shard().wrapping_add(1));
    let (payer, mint) = (s.stranger.pubkey(), s.world.usdc_mint());
    let open = |named: u8, there: u8| {
        let mut open = open_vault(payer, mint, named);
        for account in &mut open.accounts {
            match account.pubkey {
                shard if shard == pda::shard(named) => account.pubkey = pda::shard(there),
                vault if vault == pda::vault(named) => account.pubkey = pda::vault(there),
                _ => {}
            }
        }
        open
    };
    let (again, false_name) = (open(own, own), open(other, own));
    s.world.send(&[again], &s.stranger, &[]).unwrap();
    s.stranger_refused(&[false_name], Error::WrongAddress);
}

#[test]
fn less_than_the_minimum_at_creation_fails() {
    for amount in [0, 1, MIN_STAKE - 1] {
        Scene::lockable().lock_refused(amount, Error::StakeBelowMinimum);
    }
}

#[test]
fn a_top_up_of_a_fined_stake_must_reach_the_minimum() {
    let mut s = Scene::staked();
    // As after a fine of 4 USDC for a withheld leaf.
    let treasury = s.world.treasury_usdc();
    let fine = Settle {
        agent_mint: s.agent.mint.0,
        era: 0,
        from_deposits: 0,
        from_stake: 4_000_000,
        from_pot: 0,
        to_stake: 0,
        to_pot: 0,
        first: 0,
        second: 4_000_000,
        marks: 0,
    };
    let purse = s.world.usdc_account(&s.owner.pubkey());
    send_unsigned(&mut s.world, &settle(pda::challenge_authority(), purse, treasury, &fine)).unwrap();
    assert_eq!((s.stake().stake_usdc, s.vault()), (26_000_000, 26_000_000));
    s.lock_refused(3_999_999, Error::StakeBelowMinimum);
    s.world.lock_stake(&s.agent, &s.owner, 4_000_000).unwrap();
    assert_eq!((s.stake().stake_usdc, s.vault()), (MIN_STAKE, MIN_STAKE));
    s.world.assert_books();
}

#[test]
fn a_sum_beyond_u64_fails() {
    let mut s = Scene::staked();
    s.lock_refused(u64::MAX, Error::InsufficientUsdc);
    // Were there as much USDC.
    let purse = s.world.usdc_account(&s.owner.pubkey());
    s.world.edit_data(&purse, |data| data[64..72].copy_from_slice(&u64::MAX.to_le_bytes()));
    s.lock_refused(u64::MAX, Error::ArithmeticOverflow);
}

#[test]
fn too_little_usdc_fails() {
    let mut s = Scene::lockable();
    s.lock_refused(PURSE + 1, Error::InsufficientUsdc);
    s.world.lock_stake(&s.agent, &s.owner, PURSE).unwrap();
    s.lock_refused(1, Error::InsufficientUsdc);
    assert_eq!(s.vault(), PURSE);
}

#[test]
fn while_an_unlock_is_queued_fails() {
    let mut s = Scene::queued();
    s.lock_refused(MIN_STAKE, Error::UnlockQueued);
}

#[test]
fn another_agent_named_in_the_arguments_fails() {
    let mut s = Scene::lockable();
    let other = s.world.register_agent(&s.owner);
    let mut instruction = s.lock(MIN_STAKE);
    instruction.data[8..40].copy_from_slice(other.mint.as_ref());
    s.owner_refused(&[instruction], Error::WrongAgent);
}

#[test]
fn another_agents_tenure_stake_shard_or_vault_fails() {
    let mut s = Scene::staked();
    let other = s.other_agent().agent;
    assert_ne!(other.shard(), s.agent.shard());
    s.lock_with_refused(TENURE, pda::tenure(&other.mint), Error::WrongAgent);
    s.lock_with_refused(STAKE, pda::stake(&other.mint, 0), Error::WrongAgent);
    s.lock_with_refused(SHARD, pda::shard(other.shard()), Error::WrongAddress);
    s.lock_with_refused(VAULT, pda::vault(other.shard()), Error::WrongAddress);
    // Any USDC account of the owner's own in the vault's place.
    let aside = s.world.new_keypair().pubkey();
    let purse = s.world.usdc_account(&s.owner.pubkey());
    let account = s.world.account(&purse).unwrap();
    s.world.set_account(&aside, account);
    s.lock_with_refused(VAULT, aside, Error::WrongAddress);
}

#[test]
fn an_account_of_another_type_as_tenure_shard_or_stake_fails() {
    let mut s = Scene::staked();
    // The configuration is StakeLock's too. A copy, as Anchor refuses one account in two places by itself.
    let (copy, data) = (s.world.new_keypair().pubkey(), s.world.data(&pda::config()));
    s.world.set_data(&copy, &address(ids::STAKE_LOCK), &data);
    for place in [TENURE, SHARD, STAKE] {
        s.lock_with_refused(place, copy, Error::WrongAccountType);
    }
    // Of another program, none is what it seems.
    s.world.set_data(&copy, &address(ids::LEASE), &data);
    for (place, error) in
        [(TENURE, Error::TenureMissing), (SHARD, Error::VaultMissing), (STAKE, Error::WrongAccountOwner)]
    {
        s.lock_with_refused(place, copy, error);
    }
}

#[test]
fn an_account_of_the_first_edition_fails() {
    let mut s = Scene::staked();
    let (lock, mint) = (s.lock(1), s.agent.mint);
    for (at, version_at) in [
        (pda::config(), Config::VERSION_AT),
        (pda::tenure(&mint), TenureAccount::VERSION_AT),
        (pda::shard(s.agent.shard()), ShardAccount::VERSION_AT),
        (pda::stake(&mint, 0), StakeLockAccount::VERSION_AT),
    ] {
        s.world.edit_data(&at, |data| data[version_at] = 1);
        s.owner_refused(std::slice::from_ref(&lock), Error::WrongVersion);
        s.world.edit_data(&at, |data| data[version_at] = 2);
    }
    s.world.send_ok(&[lock], &s.owner, &[]);
}

#[test]
fn a_stake_created_at_another_address_fails() {
    let mut s = Scene::lockable();
    let elsewhere = s.world.new_keypair().pubkey();
    s.lock_with_refused(STAKE, elsewhere, Error::WrongAddress);
    s.lock_with_refused(STAKE, s.stake_at(1), Error::WrongAddress);
    s.lock_with_refused(VAULT, elsewhere, Error::WrongAddress);
    s.lock_with_refused(SHARD, elsewhere, Error::VaultMissing);
}

#[test]
fn a_stake_that_somebody_else_locked_fails() {
    // Cannot be: an era is of one tenure. Shows that the owner is checked all the same.
    let mut s = Scene::staked();
    let (at, stranger) = (8 + std::mem::offset_of!(StakeLockAccount, owner), s.stranger.pubkey());
    s.world.edit_data(&s.stake_at(0), |data| data[at..at + 32].copy_from_slice(stranger.as_ref()));
    s.lock_refused(1, Error::NotStakeOwner);
}

#[test]
fn another_account_in_place_of_the_config_fails() {
    let mut s = Scene::lockable();
    let forged = s.world.new_keypair().pubkey();
    let data = s.world.data(&pda::config());
    s.world.set_data(&forged, &address(ids::STAKE_LOCK), &data);
    s.lock_with_refused(CONFIG, forged, Error::WrongAddress);
}

#[test]
fn before_the_configuration_is_written_fails() {
    let mut world = World::new();
    let owner = world.new_party();
    let agent = world.register_agent(&owner);
    let instruction = lock(&mut world, &agent, &owner, MIN_STAKE);
    world.send_refused(&[instruction], &owner, &[]).expect_code(Error::AccountMissing.code());
}

#[test]
fn the_next_era_while_nothing_hangs_over_the_present_one_fails() {
    let mut s = Scene::staked();
    s.lock_in_refused(1, Error::EraNotEnded);
    // Nor without showing the present one.
    let usdc = s.world.usdc_account(&s.owner.pubkey());
    let (agent, owner) = (s.agent.addresses(), s.owner.at());
    let bare = lock_stake(&agent, owner, usdc, 1, None, MicroUsdc(MIN_STAKE));
    s.owner_refused(&[bare], Error::EraNotEnded);
    // Nor before anything was locked in the present one.
    let mut s = Scene::lockable();
    s.lock_in_refused(1, Error::AccountMissing);
}

#[test]
fn any_other_era_fails() {
    let mut s = Scene::landing();
    for era in [2, 3, u32::MAX] {
        s.lock_in_refused(era, Error::WrongEra);
    }
    s.challenged();
    s.lock_in_refused(2, Error::WrongEra);
    s.world.lock_stake(&s.agent, &s.owner, MIN_STAKE).unwrap();
    assert_eq!(s.tenure().era, 1);
    // Back in the one before.
    s.lock_in_refused(0, Error::WrongEra);
}

/// The first edition's M3: whatever was added before a challenge was settled went with it.
#[test]
fn a_top_up_under_a_challenge_is_never_eaten() {
    let mut s = Scene::landing();
    let challenge = s.challenged();
    // The doomed stake takes nothing more.
    s.lock_in_refused(0, Error::EraChallenged);
    let (stake, tenure) = (s.stake(), s.tenure());
    let before = s.world.snapshot();
    let receipt = s.world.lock_stake(&s.agent, &s.owner, 40 * USDC).unwrap();

    let shard = s.agent.shard();
    let usdc = s.world.usdc_account(&s.owner.pubkey());
    let changed = [s.owner.at(), usdc, s.stake_at(0), s.stake_at(1), pda::shard(shard), pda::vault(shard)];
    before.assert_only_changed(&s.world, &[&changed[..], &[pda::tenure(&s.agent.mint)]].concat());
    let now = s.world.slot();
    let sequence = stake.event_sequence;
    assert_eq!(s.stake(), StakeLockAccount { ended_slot: now, event_sequence: sequence + 1, ..stake });
    assert_eq!(s.tenure(), TenureAccount { era: 1, ..tenure });
    assert_eq!((s.stake_of(1).stake_usdc, s.stake_of(1).era), (40 * USDC, 1));
    let all = events(&receipt, &address(ids::STAKE_LOCK));
    assert_eq!(all.len(), 2);
    assert_eq!(
        EraEnded::read(&all[0]).unwrap(),
        EraEnded {
            agent_mint: s.agent.mint.0,
            era: 0,
            slot: now,
            sequence,
            account_created_slot: stake.created_slot,
        }
    );
    let event = StakeLocked::read(&all[1]).unwrap();
    assert_eq!((event.era, event.sequence, event.account_created_slot), (1, 0, now));

    s.resolve(&challenge);
    assert_eq!(s.world.books(&s.agent, 0).stake, 0);
    assert_eq!(s.world.books(&s.agent, 1).stake, 40 * USDC);
    s.world.assert_books();
}

#[test]
fn an_era_that_was_slashed_takes_nothing_and_the_next_one_does_ok() {
    let mut s = Scene::landing();
    let challenge = s.challenged();
    s.resolve(&challenge);
    assert_eq!((s.stake().ended_slot, s.stake().slashed_slot), (s.world.slot(), s.world.slot()));
    s.lock_in_refused(0, Error::EraEnded);
    let stake = s.stake();
    let receipt = s.world.lock_stake(&s.agent, &s.owner, MIN_STAKE).unwrap();
    // The era had ended before, and its end emits one event only.
    assert_eq!((locked(&receipt).era, locked(&receipt).sequence), (1, 0));
    assert_eq!((s.stake(), s.tenure().era), (stake, 1));
    s.world.assert_books();
}

#[test]
fn another_agents_or_eras_stake_as_the_previous_one_fails() {
    let mut s = Scene::landing();
    let other = s.other_agent().agent;
    s.challenged();
    let next = s.world.locking(&s.agent, &s.owner.at(), 1, MIN_STAKE);
    let theirs = with_account(next.clone(), PREVIOUS, pda::stake(&other.mint, 0));
    s.owner_refused(&[theirs], Error::WrongAgent);
    s.world.send_ok(&[next], &s.owner, &[]);
    // Now era 0, over as it is, is not the one before era 2.
    let next = s.world.locking(&s.agent, &s.owner.at(), 2, MIN_STAKE);
    s.owner_refused(std::slice::from_ref(&next), Error::EraNotEnded);
    s.owner_refused(&[with_account(next, PREVIOUS, s.stake_at(0))], Error::WrongEra);
}

#[test]
fn the_next_era_needs_the_minimum_of_its_own_fails() {
    let mut s = Scene::landing();
    s.challenged();
    let next = s.world.locking(&s.agent, &s.owner.at(), 1, MIN_STAKE - 1);
    s.owner_refused(&[next], Error::StakeBelowMinimum);
    assert_eq!((s.tenure().era, s.stake().ended_slot), (0, 0));
    let books = Books {
        stake: MIN_STAKE,
        deposits: 5 * USDC,
        shard: MIN_STAKE + 5 * USDC,
        vault: MIN_STAKE + 5 * USDC,
        pot: 0,
    };
    assert_eq!(s.world.books(&s.agent, 0), books);
}
