//! lock_stake: whoever holds the NFT creates or tops up the agent's stake in the configured USDC.

use super::common::{MISSING_SIGNATURE, Scene, VAULT_BYTES, gift, only_event, unsigned, with_account};
use solana_address::Address;
use solana_instruction::Instruction;
use solana_keypair::Keypair;
use solana_signer::Signer;
use zx1_chain::instructions::stake_lock::lock_stake;
use zx1_chain::token::{TOKEN_2022_PROGRAM, TOKEN_PROGRAM, create_associated};
use zx1_chain::{pda, token};
use zx1_interface::accounts::StakeLockAccount;
use zx1_interface::constants::MIN_STAKE;
use zx1_interface::events::StakeLocked;
use zx1_interface::{Error, Layout, ids};
use zx1_protocol::units::MicroUsdc;
use zx1_vm_tests::{Agent, ForeignMint, Receipt, USDC, World, address};

const CONFIG: usize = 1;
const AGENT_INDEX: usize = 3;
const AGENT_TOKEN: usize = 4;
const STAKE: usize = 5;
const VAULT: usize = 6;
const OWNER_USDC: usize = 8;
const TOKEN: usize = 9;

/// What a party of the harness begins with.
const PURSE: u64 = 1_000 * USDC;

fn lock(world: &mut World, agent: &Agent, wallet: &Keypair, amount: u64) -> Instruction {
    let (mint, from) = (world.usdc_mint(), world.usdc_account(&wallet.pubkey()));
    lock_stake(&agent.addresses(), wallet.pubkey(), mint, from, MicroUsdc(amount))
}

impl Scene {
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
}

fn locked(receipt: &Receipt) -> StakeLocked {
    only_event(receipt, ids::STAKE_LOCK, StakeLocked::read)
}

#[test]
fn the_owner_creates_the_stake_ok() {
    let mut s = Scene::registered();
    let (stake, vault) = (pda::stake(&s.agent.mint), pda::stake_vault(&s.agent.mint));
    let owner = s.owner.pubkey();
    let usdc = s.world.usdc_account(&owner);
    let (before, lamports) = (s.world.snapshot(), s.world.lamports(&owner));
    let receipt = s.world.lock_stake(&s.agent, &s.owner, 12_345_678).unwrap();

    before.assert_only_changed(&s.world, &[owner, usdc, stake, vault]);
    assert_eq!(s.world.usdc_balance(&owner), PURSE - 12_345_678);
    assert_eq!(s.world.token_balance(&vault), 12_345_678);
    let rents = s.world.rent(StakeLockAccount::SIZE) + s.world.rent(VAULT_BYTES);
    assert_eq!(s.world.lamports(&stake), s.world.rent(StakeLockAccount::SIZE));
    assert_eq!(s.world.lamports(&vault), s.world.rent(VAULT_BYTES));
    assert_eq!(s.world.lamports(&owner), lamports - rents - receipt.fee);
    let slot = s.world.slot();
    let program = address(ids::STAKE_LOCK);
    assert_eq!(s.world.account(&stake).unwrap().data.len(), StakeLockAccount::SIZE);
    assert_eq!(
        s.stake(),
        StakeLockAccount {
            stake_usdc: 12_345_678,
            locked_since_slot: slot,
            unlock_available_slot: 0,
            queued_slot: 0,
            created_slot: slot,
            event_sequence: 1,
            open_challenges: 0,
            in_unlock_queue: 0,
            version: 1,
            bump: Address::find_program_address(&[b"stake", s.agent.mint.as_ref()], &program).1,
            vault_bump: Address::find_program_address(&[b"vault", s.agent.mint.as_ref()], &program).1,
            agent_mint: s.agent.mint.0,
            owner: owner.to_bytes(),
        }
    );
    assert_eq!(
        locked(&receipt),
        StakeLocked {
            agent_mint: s.agent.mint.0,
            owner: owner.to_bytes(),
            lamports: 12_345_678,
            slot,
            stake_usdc: 12_345_678,
            sequence: 0,
            account_created_slot: slot,
        }
    );
}

#[test]
fn the_vault_belongs_to_the_stake_alone() {
    let s = Scene::staked();
    let vault = s.world.account(&pda::stake_vault(&s.agent.mint)).unwrap();
    assert_eq!(vault.owner, TOKEN_PROGRAM);
    let read = token::TokenAccount::decode(&vault.data).unwrap();
    assert_eq!((read.owner, read.amount), (pda::stake(&s.agent.mint), MIN_STAKE));
    assert_eq!(
        read.mint.to_bytes(),
        s.world.read::<zx1_interface::accounts::Config>(&pda::config()).usdc_mint
    );
    // Neither a delegate (at 72) nor a close authority (at 129).
    assert_eq!((&vault.data[72..76], &vault.data[129..133]), (&[0; 4][..], &[0; 4][..]));
}

#[test]
fn exactly_the_minimum_is_enough_ok() {
    let s = Scene::staked();
    assert_eq!((s.stake().stake_usdc, s.stake_vault()), (10_000_000, 10_000_000));
}

#[test]
fn a_top_up_may_be_smaller_than_the_minimum_ok() {
    let mut s = Scene::staked();
    let created = s.world.slot();
    s.world.advance_slots(7);
    let (stake, vault) = (pda::stake(&s.agent.mint), pda::stake_vault(&s.agent.mint));
    let before = s.stake();
    let rents = (s.world.lamports(&stake), s.world.lamports(&vault));
    let receipt = s.world.lock_stake(&s.agent, &s.owner, 1).unwrap();
    assert_eq!(s.stake(), StakeLockAccount { stake_usdc: MIN_STAKE + 1, event_sequence: 2, ..before });
    assert_eq!(s.stake().locked_since_slot, created);
    assert_eq!(s.stake_vault(), MIN_STAKE + 1);
    assert_eq!(s.world.usdc_balance(&s.owner.pubkey()), PURSE - MIN_STAKE - 1);
    assert_eq!((s.world.lamports(&stake), s.world.lamports(&vault)), rents);
    assert_eq!(
        locked(&receipt),
        StakeLocked {
            agent_mint: s.agent.mint.0,
            owner: s.owner.pubkey().to_bytes(),
            lamports: 1,
            slot: created + 7,
            stake_usdc: MIN_STAKE + 1,
            sequence: 1,
            account_created_slot: created,
        }
    );
}

impl Scene {
    fn stake_vault(&self) -> u64 {
        self.world.stake_vault_balance(&self.agent)
    }
}

#[test]
fn any_token_account_that_holds_the_nft_serves_ok() {
    let mut s = Scene::registered();
    s.agent = s.world.transfer_agent_aside(&s.agent, &s.owner, &s.owner.pubkey());
    s.world.lock_stake(&s.agent, &s.owner, MIN_STAKE).unwrap();
    assert_eq!(s.stake().owner, s.owner.pubkey().to_bytes());
}

#[test]
fn any_usdc_account_of_the_owner_pays_ok() {
    let mut s = Scene::registered();
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
fn after_a_sale_the_new_owner_tops_up_and_is_recorded_ok() {
    let mut s = Scene::staked();
    let (agent, buyer) = s.sell();
    let receipt = s.world.lock_stake(&agent, &buyer, 5).unwrap();
    assert_eq!((s.stake().owner, s.stake().stake_usdc), (buyer.pubkey().to_bytes(), MIN_STAKE + 5));
    assert_eq!((locked(&receipt).owner, locked(&receipt).sequence), (buyer.pubkey().to_bytes(), 1));
    assert_eq!(s.world.usdc_balance(&buyer.pubkey()), PURSE - 5);
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

#[test]
fn addresses_that_a_stranger_funded_first_block_nothing_ok() {
    // Too little for the rent, exactly the rent, and more.
    for amount in [900_000, 0, 10_000_000] {
        let mut s = Scene::registered();
        let (stake, vault) = (pda::stake(&s.agent.mint), pda::stake_vault(&s.agent.mint));
        let rents = [s.world.rent(StakeLockAccount::SIZE), s.world.rent(VAULT_BYTES)];
        let gifts = rents.map(|rent| if amount == 0 { rent } else { amount });
        gift(&mut s.world, &stake, gifts[0]);
        gift(&mut s.world, &vault, gifts[1]);
        let lamports = s.world.lamports(&s.owner.pubkey());
        let receipt = s.world.lock_stake(&s.agent, &s.owner, MIN_STAKE).unwrap();
        assert_eq!(s.world.lamports(&stake), rents[0].max(gifts[0]));
        assert_eq!(s.world.lamports(&vault), rents[1].max(gifts[1]));
        let missing = rents[0].saturating_sub(gifts[0]) + rents[1].saturating_sub(gifts[1]);
        assert_eq!(s.world.lamports(&s.owner.pubkey()), lamports - missing - receipt.fee);
        assert_eq!((s.stake().stake_usdc, s.stake_vault()), (MIN_STAKE, MIN_STAKE));
    }
}

#[test]
fn somebody_who_does_not_hold_the_nft_fails() {
    let mut s = Scene::registered();
    let instruction = lock(&mut s.world, &s.agent, &s.stranger, MIN_STAKE);
    s.stranger_refused(&[instruction], Error::NotAgentOwner);
}

#[test]
fn the_owner_without_a_signature_fails() {
    let mut s = Scene::registered();
    let instruction = unsigned(s.lock(MIN_STAKE), 0);
    let refusal = s.world.send_refused(&[instruction], &s.stranger, &[]);
    assert_eq!(refusal.instruction_error(), Some(&MISSING_SIGNATURE));
}

#[test]
fn a_delegate_fails() {
    let mut s = Scene::registered();
    s.world.create_delegate(&s.owner, &s.stranger.pubkey(), &s.agent, 0);
    let instruction = lock(&mut s.world, &s.agent, &s.stranger, MIN_STAKE);
    s.stranger_refused(&[instruction], Error::NotAgentOwner);
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
fn somebody_elses_agent_index_fails() {
    let mut s = Scene::registered();
    let other = s.world.register_agent(&s.stranger);
    s.lock_with_refused(AGENT_INDEX, other.agent_index, Error::WrongAgentIndex);
}

#[test]
fn a_forged_agent_index_fails() {
    let mut s = Scene::registered();
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
    let mut s = Scene::registered();
    let (stranger, mint) = (s.stranger.pubkey(), s.agent.mint.into());
    let create = create_associated(&stranger, &stranger, &mint, &TOKEN_2022_PROGRAM);
    s.world.send_ok(&[create], &s.stranger, &[]);
    let empty = token::associated_address(&stranger, &mint, &TOKEN_2022_PROGRAM);
    let instruction = lock(&mut s.world, &s.agent, &s.stranger, MIN_STAKE);
    s.stranger_refused(&[with_account(instruction, AGENT_TOKEN, empty)], Error::AgentNotHeld);
}

#[test]
fn a_token_account_of_another_agent_or_program_fails() {
    let mut s = Scene::registered();
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
fn another_legacy_mint_as_usdc_fails() {
    let mut s = Scene::registered();
    let fake = s.world.new_keypair();
    s.world.create_mint(&fake, 6, &TOKEN_PROGRAM);
    let from = s.world.fund_token(&s.owner.pubkey(), &fake.pubkey(), MIN_STAKE, &TOKEN_PROGRAM);
    let addresses = s.agent.addresses();
    let both = lock_stake(&addresses, s.owner.pubkey(), fake.pubkey(), from, MicroUsdc(MIN_STAKE));
    s.owner_refused(&[both], Error::WrongUsdcMint);
    // The right mint, but money of the other.
    s.lock_with_refused(OWNER_USDC, from, Error::WrongUsdcMint);
}

#[test]
fn a_token_2022_lookalike_of_usdc_fails() {
    let mut s = Scene::registered();
    let fake = s.world.new_keypair();
    s.world.create_mint(&fake, 6, &TOKEN_2022_PROGRAM);
    let from = s.world.fund_token(&s.owner.pubkey(), &fake.pubkey(), MIN_STAKE, &TOKEN_2022_PROGRAM);
    let addresses = s.agent.addresses();
    let mut all = lock_stake(&addresses, s.owner.pubkey(), fake.pubkey(), from, MicroUsdc(MIN_STAKE));
    s.owner_refused(std::slice::from_ref(&all), Error::WrongUsdcMint);
    all = with_account(all, TOKEN, TOKEN_2022_PROGRAM);
    s.owner_refused(&[all], Error::WrongUsdcMint);
    s.lock_with_refused(OWNER_USDC, from, Error::NotLegacyToken);
    s.lock_with_refused(TOKEN, TOKEN_2022_PROGRAM, Error::NotLegacyToken);
}

#[test]
fn money_of_another_wallet_fails() {
    let mut s = Scene::registered();
    let theirs = s.world.usdc_account(&s.stranger.pubkey());
    s.lock_with_refused(OWNER_USDC, theirs, Error::WrongTokenAccountOwner);
}

#[test]
fn the_stakes_own_vault_as_the_paying_account_fails() {
    let mut s = Scene::staked();
    let vault = pda::stake_vault(&s.agent.mint);
    let instruction = with_account(s.lock(1), OWNER_USDC, vault);
    // Anchor refuses a writable account that is passed twice before the handler runs.
    let refusal = s.world.send_refused(&[instruction], &s.owner, &[]);
    assert_eq!(refusal.instruction_error(), Some(&super::common::DUPLICATE_MUTABLE));
}

#[test]
fn less_than_the_minimum_at_creation_fails() {
    for amount in [0, 1, MIN_STAKE - 1] {
        Scene::registered().lock_refused(amount, Error::StakeBelowMinimum);
    }
}

#[test]
fn a_top_up_of_a_slashed_stake_must_reach_the_minimum() {
    let mut s = Scene::staked();
    // As after a slash of 4 USDC: stake and vault are lower by the same amount.
    s.world.edit_data(&pda::stake(&s.agent.mint), |data| {
        data[8..16].copy_from_slice(&6_000_000u64.to_le_bytes());
    });
    s.world.edit_data(&pda::stake_vault(&s.agent.mint), |data| {
        data[64..72].copy_from_slice(&6_000_000u64.to_le_bytes());
    });
    assert_eq!((s.stake().stake_usdc, s.stake_vault()), (6_000_000, 6_000_000));
    s.lock_refused(3_999_999, Error::StakeBelowMinimum);
    s.world.lock_stake(&s.agent, &s.owner, 4_000_000).unwrap();
    assert_eq!((s.stake().stake_usdc, s.stake_vault()), (MIN_STAKE, MIN_STAKE));
}

#[test]
fn a_sum_beyond_u64_fails() {
    Scene::staked().lock_refused(u64::MAX, Error::ArithmeticOverflow);
}

#[test]
fn too_little_usdc_fails() {
    let mut s = Scene::registered();
    s.lock_refused(PURSE + 1, Error::InsufficientUsdc);
    s.world.lock_stake(&s.agent, &s.owner, PURSE).unwrap();
    s.lock_refused(1, Error::InsufficientUsdc);
    assert_eq!(s.stake_vault(), PURSE);
}

#[test]
fn while_an_unlock_is_queued_fails() {
    let mut s = Scene::queued();
    s.lock_refused(MIN_STAKE, Error::UnlockQueued);
}

#[test]
fn another_agent_named_in_the_arguments_fails() {
    let mut s = Scene::registered();
    let other = s.world.register_agent(&s.owner);
    let mut instruction = s.lock(MIN_STAKE);
    instruction.data[8..40].copy_from_slice(other.mint.as_ref());
    s.owner_refused(&[instruction], Error::WrongAgent);
}

#[test]
fn another_agents_stake_or_vault_fails() {
    let mut s = Scene::staked();
    let other = s.other_agent();
    s.lock_with_refused(STAKE, pda::stake(&other.mint), Error::WrongAgent);
    s.lock_with_refused(VAULT, pda::stake_vault(&other.mint), Error::WrongAddress);
    // Any USDC account of the owner's own in the vault's place.
    let aside = s.world.new_keypair().pubkey();
    let purse = s.world.usdc_account(&s.owner.pubkey());
    let account = s.world.account(&purse).unwrap();
    s.world.set_account(&aside, account);
    s.lock_with_refused(VAULT, aside, Error::WrongAddress);
}

#[test]
fn a_stake_or_vault_created_at_another_address_fails() {
    let mut s = Scene::registered();
    let elsewhere = s.world.new_keypair().pubkey();
    s.lock_with_refused(STAKE, elsewhere, Error::WrongAddress);
    s.lock_with_refused(VAULT, elsewhere, Error::WrongAddress);
}

#[test]
fn another_account_in_place_of_the_config_fails() {
    let mut s = Scene::registered();
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
