//! initialize_config: the configuration is written once, by the upgrade authority, and never wrongly.

use super::common::{gift, only_event, unsigned, with_account};
use solana_address::Address;
use solana_instruction::Instruction;
use solana_keypair::Keypair;
use solana_signer::Signer;
use zx1_chain::instructions::stake_lock::{ConfigAddresses, initialize_config};
use zx1_chain::pda;
use zx1_chain::token::{TOKEN_2022_PROGRAM, TOKEN_PROGRAM};
use zx1_interface::accounts::Config;
use zx1_interface::events::ConfigInitialized;
use zx1_interface::{Error, Layout, ids};
use zx1_protocol::amounts::Amounts;
use zx1_vm_tests::{NETWORK, World, address};

const PROGRAM_DATA: usize = 1;
const USDC_MINT: usize = 2;
const REGISTRY: usize = 3;
const CONFIG: usize = 4;

struct Scene {
    world: World,
    authority: Keypair,
    addresses: ConfigAddresses,
}

fn scene() -> Scene {
    let mut world = World::new();
    let authority = world.upgrade_authority();
    let addresses = world.config_addresses();
    Scene { world, authority, addresses }
}

impl Scene {
    fn instruction(&self) -> Instruction {
        initialize_config(self.authority.pubkey(), &self.addresses)
    }

    #[track_caller]
    fn refused(&mut self, instruction: Instruction, error: Error) {
        self.world.send_refused(&[instruction], &self.authority, &[]).expect_code(error.code());
        assert!(self.world.account(&pda::config()).is_none_or(|account| account.data.is_empty()));
    }

    /// Bytes of a ProgramData account that names an upgrade authority.
    fn program_data_of(&self, authority: &Address) -> Vec<u8> {
        let mut data = [&3u32.to_le_bytes()[..], &self.world.slot().to_le_bytes(), &[1]].concat();
        data.extend(authority.to_bytes());
        data
    }
}

#[test]
fn the_upgrade_authority_writes_every_field_ok() {
    let mut s = scene();
    let before = s.world.snapshot();
    let lamports = s.world.lamports(&s.authority.pubkey());
    let receipt = s.world.send_ok(&[s.instruction()], &s.authority, &[]);

    before.assert_only_changed(&s.world, &[s.authority.pubkey(), pda::config()]);
    let rent = s.world.rent(Config::SIZE);
    assert_eq!(s.world.lamports(&pda::config()), rent);
    assert_eq!(s.world.lamports(&s.authority.pubkey()), lamports - rent - receipt.fee);
    let account = s.world.account(&pda::config()).unwrap();
    assert_eq!((account.owner, account.data.len()), (address(ids::STAKE_LOCK), Config::SIZE));
    let (derived, bump) = Address::find_program_address(&[b"config"], &address(ids::STAKE_LOCK));
    assert_eq!(derived, pda::config());
    let group = s.world.group_mint();
    let slot = s.world.slot();
    assert_eq!(
        s.world.read::<Config>(&pda::config()),
        Config {
            created_slot: slot,
            event_sequence: 1,
            min_stake: 30_000_000,
            challenge_stake: 5_000_000,
            lost_to_stake: 1_500_000,
            lost_to_answerer: 500_000,
            ask_price: 500_000,
            ask_to_shower: 300_000,
            ask_to_stake: 100_000,
            fine: 10_000_000,
            fine_to_asker: 3_000_000,
            rank_deposit: 10_000_000,
            network: NETWORK,
            usdc_mint: s.addresses.usdc_mint.to_bytes(),
            treasury: s.addresses.treasury.to_bytes(),
            maintainer: s.addresses.maintainer.to_bytes(),
            registry: s.addresses.registry.to_bytes(),
            registry_group: group.to_bytes(),
            delegate_credential: s.addresses.delegate_credential.to_bytes(),
            delegate_schema: s.addresses.delegate_schema.to_bytes(),
            finders_percent: 40,
            share_percent: 50,
            version: 2,
            bump,
            reserved: [0; 4],
        }
    );
    assert_eq!(
        only_event(&receipt, ids::STAKE_LOCK, ConfigInitialized::read),
        ConfigInitialized {
            usdc_mint: s.addresses.usdc_mint.to_bytes(),
            treasury: s.addresses.treasury.to_bytes(),
            maintainer: s.addresses.maintainer.to_bytes(),
            registry: s.addresses.registry.to_bytes(),
            registry_group: s.world.group_mint().to_bytes(),
            delegate_credential: s.addresses.delegate_credential.to_bytes(),
            delegate_schema: s.addresses.delegate_schema.to_bytes(),
            network: NETWORK,
            sequence: 0,
            account_created_slot: slot,
        }
    );
}

#[test]
fn lamports_that_a_stranger_sent_there_first_block_nothing_ok() {
    let mut s = scene();
    gift(&mut s.world, &pda::config(), 1_000_000);
    let lamports = s.world.lamports(&s.authority.pubkey());
    let receipt = s.world.send_ok(&[s.instruction()], &s.authority, &[]);
    let rent = s.world.rent(Config::SIZE);
    assert_eq!(s.world.lamports(&pda::config()), rent);
    assert_eq!(s.world.lamports(&s.authority.pubkey()), lamports - (rent - 1_000_000) - receipt.fee);
    assert_eq!(s.world.read::<Config>(&pda::config()).treasury, s.addresses.treasury.to_bytes());
}

#[test]
fn a_second_time_fails() {
    let mut s = scene();
    s.world.send_ok(&[s.instruction()], &s.authority, &[]);
    s.addresses.treasury = s.authority.pubkey();
    let refusal = s.world.send_refused(&[s.instruction()], &s.authority, &[]);
    refusal.expect_code(Error::ConfigExists.code());
}

#[test]
fn anybody_but_the_upgrade_authority_fails() {
    let mut s = scene();
    let stranger = s.world.new_wallet(10);
    let instruction = initialize_config(stranger.pubkey(), &s.addresses);
    let refusal = s.world.send_refused(&[instruction], &stranger, &[]);
    refusal.expect_code(Error::NotUpgradeAuthority.code());
}

#[test]
fn the_upgrade_authority_without_its_signature_fails() {
    let mut s = scene();
    let stranger = s.world.new_wallet(10);
    let instruction = unsigned(s.instruction(), 0);
    let refusal = s.world.send_refused(&[instruction], &stranger, &[]);
    assert_eq!(refusal.instruction_error(), Some(&super::common::MISSING_SIGNATURE));
}

#[test]
fn an_immutable_program_fails_for_everybody() {
    let mut s = scene();
    s.world.set_program_data(&address(ids::STAKE_LOCK), None);
    s.refused(s.instruction(), Error::NoUpgradeAuthority);
    let stranger = s.world.new_wallet(10);
    let instruction = initialize_config(stranger.pubkey(), &s.addresses);
    let refusal = s.world.send_refused(&[instruction], &stranger, &[]);
    refusal.expect_code(Error::NoUpgradeAuthority.code());
}

#[test]
fn a_forged_program_data_fails() {
    let mut s = scene();
    let stranger = s.world.new_wallet(10);
    let instruction = initialize_config(stranger.pubkey(), &s.addresses);
    let data = s.program_data_of(&stranger.pubkey());
    // The stranger's own account, with the right bytes: of the stranger's program, then of the loader.
    for owner in [Address::new_from_array([8; 32]), address(ids::UPGRADEABLE_LOADER)] {
        let forged = s.world.new_keypair().pubkey();
        s.world.set_data(&forged, &owner, &data);
        let instruction = with_account(instruction.clone(), PROGRAM_DATA, forged);
        let refusal = s.world.send_refused(&[instruction], &stranger, &[]);
        refusal.expect_code(Error::WrongProgramData.code());
    }
}

#[test]
fn another_programs_real_program_data_fails() {
    let mut s = scene();
    s.world.set_program_data(&address(ids::LEASE), Some(s.authority.pubkey()));
    let instruction = with_account(s.instruction(), PROGRAM_DATA, pda::program_data(ids::LEASE));
    s.refused(instruction, Error::WrongProgramData);
}

#[test]
fn a_program_data_address_that_the_loader_does_not_own_fails() {
    // Cannot be on chain; shows that the owner is checked beside the address.
    let mut s = scene();
    let data = s.program_data_of(&s.authority.pubkey());
    s.world.set_data(&pda::program_data(ids::STAKE_LOCK), &address(ids::SYSTEM), &data);
    s.refused(s.instruction(), Error::WrongProgramData);
}

#[test]
fn a_token_2022_mint_as_usdc_fails() {
    let mut s = scene();
    let mint = s.world.new_keypair();
    s.world.create_mint(&mint, 6, &TOKEN_2022_PROGRAM);
    s.addresses.usdc_mint = mint.pubkey();
    s.refused(s.instruction(), Error::NotLegacyToken);
}

#[test]
fn a_wallet_or_nothing_as_usdc_fails() {
    let mut s = scene();
    for at in [s.world.new_wallet(1).pubkey(), s.world.new_keypair().pubkey()] {
        s.addresses.usdc_mint = at;
        s.refused(s.instruction(), Error::NotLegacyToken);
    }
}

#[test]
fn a_legacy_account_that_is_no_mint_as_usdc_fails() {
    let mut s = scene();
    let token_account = s.world.fund_usdc(&s.authority.pubkey(), 5);
    let uninitialized = s.world.new_keypair().pubkey();
    s.world.set_data(&uninitialized, &TOKEN_PROGRAM, &[0; 82]);
    for at in [token_account, uninitialized] {
        s.refused(with_account(s.instruction(), USDC_MINT, at), Error::WrongUsdcMint);
    }
}

#[test]
fn a_zero_address_or_network_fails() {
    let zero = Address::default();
    let spoil: [fn(&mut ConfigAddresses, Address); 5] = [
        |addresses, zero| addresses.treasury = zero,
        |addresses, zero| addresses.maintainer = zero,
        |addresses, zero| addresses.delegate_credential = zero,
        |addresses, zero| addresses.delegate_schema = zero,
        |addresses, zero| addresses.network = zero.to_bytes(),
    ];
    let mut s = scene();
    let right = s.addresses;
    for spoil in spoil {
        s.addresses = right;
        spoil(&mut s.addresses, zero);
        s.refused(s.instruction(), Error::InvalidConfig);
    }
}

#[test]
fn a_registry_at_another_address_fails() {
    let mut s = scene();
    let copy = s.world.new_keypair().pubkey();
    let data = s.world.data(&s.addresses.registry);
    // Even owned by SATI and with SATI's own bytes.
    s.world.set_data(&copy, &address(ids::SATI), &data);
    s.refused(with_account(s.instruction(), REGISTRY, copy), Error::WrongRegistry);
}

#[test]
fn a_registry_that_does_not_exist_yet_fails() {
    let mut s = scene();
    let registry = s.addresses.registry;
    s.world.set_account(&registry, solana_account::Account::default());
    s.refused(s.instruction(), Error::WrongRegistry);
}

#[test]
fn a_registry_address_that_sati_does_not_own_fails() {
    // Cannot be on chain; shows that the owner is checked beside the address.
    let mut s = scene();
    let registry = s.addresses.registry;
    let data = s.world.data(&registry);
    s.world.set_data(&registry, &address(ids::SYSTEM), &data);
    s.refused(s.instruction(), Error::WrongRegistry);
}

#[test]
fn an_account_of_sati_that_is_no_registry_fails() {
    let mut s = scene();
    let registry = s.addresses.registry;
    s.world.edit_data(&registry, |data| data[0] ^= 1);
    s.refused(s.instruction(), Error::WrongRegistry);
}

#[test]
fn a_config_at_another_address_fails() {
    let mut s = scene();
    let elsewhere = s.world.new_keypair().pubkey();
    s.refused(with_account(s.instruction(), CONFIG, elsewhere), Error::WrongAddress);
}

#[test]
fn amounts_that_do_not_fit_each_other_fail() {
    let spoil: [fn(&mut Amounts); 10] = [
        |amounts| amounts.min_stake = 0,
        |amounts| amounts.challenge_stake = 0,
        |amounts| amounts.ask_price = 0,
        |amounts| amounts.lost_to_stake = amounts.challenge_stake - amounts.lost_to_answerer + 1,
        |amounts| amounts.lost_to_answerer = u64::MAX,
        |amounts| amounts.ask_to_shower = amounts.ask_price - amounts.ask_to_stake + 1,
        |amounts| amounts.ask_to_stake = u64::MAX,
        |amounts| amounts.fine_to_asker = amounts.fine + 1,
        |amounts| amounts.finders_percent = 101,
        |amounts| amounts.share_percent = 101,
    ];
    let mut s = scene();
    for spoil in spoil {
        s.addresses.amounts = Amounts::DEFAULT;
        spoil(&mut s.addresses.amounts);
        s.refused(s.instruction(), Error::InvalidAmounts);
    }
}

#[test]
fn amounts_at_their_bounds_ok() {
    let mut s = scene();
    let amounts = Amounts {
        min_stake: 1,
        challenge_stake: 2,
        lost_to_stake: 1,
        lost_to_answerer: 1,
        ask_price: 2,
        ask_to_shower: 2,
        ask_to_stake: 0,
        fine: 0,
        fine_to_asker: 0,
        rank_deposit: 0,
        finders_percent: 100,
        share_percent: 100,
    };
    s.addresses.amounts = amounts;
    s.world.send_ok(&[s.instruction()], &s.authority, &[]);
    assert_eq!(s.world.amounts(), amounts);
}
