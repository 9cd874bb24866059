//! open_vault: anybody makes the pooled vault of a shard, once.

use super::common::{DUPLICATE_MUTABLE, MISSING_SIGNATURE, Scene, VAULT_BYTES, gift, unsigned, with_account};
use solana_address::Address;
use solana_instruction::Instruction;
use solana_signer::Signer;
use zx1_chain::instructions::stake_lock::open_vault;
use zx1_chain::token::{TOKEN_2022_PROGRAM, TOKEN_PROGRAM, TokenAccount};
use zx1_chain::{pda, token};
use zx1_interface::accounts::{Config, ShardAccount};
use zx1_interface::{Error, Layout, ids};
use zx1_vm_tests::{address, events};

const CONFIG: usize = 1;
const SHARD: usize = 2;
const VAULT: usize = 3;
const USDC_MINT: usize = 4;
const TOKEN: usize = 5;

/// The shard whose vault is opened.
const NUMBER: u8 = 200;

impl Scene {
    fn vault_opening(&mut self) -> Instruction {
        let mint = self.world.usdc_mint();
        open_vault(self.stranger.at(), mint, NUMBER)
    }

    #[track_caller]
    fn vault_with_refused(&mut self, place: usize, at: Address, error: Error) {
        let instruction = with_account(self.vault_opening(), place, at);
        self.stranger_refused(&[instruction], error);
    }
}

#[test]
fn a_stranger_opens_it_and_it_belongs_to_the_shard_alone_ok() {
    let mut s = Scene::registered();
    let instruction = s.vault_opening();
    let (payer, shard, vault) = (s.stranger.at(), pda::shard(NUMBER), pda::vault(NUMBER));
    let (before, lamports) = (s.world.snapshot(), s.world.lamports(&payer));
    let receipt = s.world.send_ok(&[instruction], &s.stranger, &[]);

    before.assert_only_changed(&s.world, &[payer, shard, vault]);
    let rents = [s.world.rent(ShardAccount::SIZE), s.world.rent(VAULT_BYTES)];
    assert_eq!([s.world.lamports(&shard), s.world.lamports(&vault)], rents);
    assert_eq!(s.world.lamports(&payer), lamports - rents[0] - rents[1] - receipt.fee);
    let program = address(ids::STAKE_LOCK);
    let (derived, bump) = Address::find_program_address(&[b"shard", &[NUMBER]], &program);
    assert_eq!(derived, shard);
    assert_eq!(Address::find_program_address(&[b"vault", &[NUMBER]], &program).0, vault);
    assert_eq!(s.world.data(&shard).len(), ShardAccount::SIZE);
    assert_eq!(
        s.world.read::<ShardAccount>(&shard),
        ShardAccount {
            total_usdc: 0,
            created_slot: s.world.slot(),
            shard: NUMBER,
            version: 2,
            bump,
            reserved: [0; 5],
            vault: vault.to_bytes(),
        }
    );
    let account = s.world.account(&vault).unwrap();
    assert_eq!((account.owner, account.data.len()), (TOKEN_PROGRAM, VAULT_BYTES));
    let read = TokenAccount::decode(&account.data).unwrap();
    assert_eq!((read.owner, read.amount), (shard, 0));
    assert_eq!(read.mint.to_bytes(), s.world.read::<Config>(&pda::config()).usdc_mint);
    // Neither a delegate (at 72) nor a close authority (at 129).
    assert_eq!((&account.data[72..76], &account.data[129..133]), (&[0; 4][..], &[0; 4][..]));
    assert!(events(&receipt, &program).is_empty());
}

#[test]
fn every_shard_has_a_vault_of_its_own_ok() {
    let mut s = Scene::registered();
    for number in [0, 1, 127, 128, 255] {
        s.world.open_vault(number).unwrap();
        assert_eq!(s.world.read::<ShardAccount>(&pda::shard(number)).vault, pda::vault(number).to_bytes());
    }
}

/// Two agents of a shard lock their first stakes at once: each transaction begins with the vault.
#[test]
fn a_vault_that_is_there_is_left_as_it_is_ok() {
    let mut s = Scene::registered();
    s.world.open_vault(NUMBER).unwrap();
    let at = [pda::shard(NUMBER), pda::vault(NUMBER)];
    let before = at.map(|at| s.world.account(&at).unwrap());
    let instruction = s.vault_opening();
    let lamports = s.world.lamports(&s.stranger.pubkey());
    s.world.send_ok(&[instruction], &s.stranger, &[]);
    assert_eq!(at.map(|at| s.world.account(&at).unwrap()), before);
    assert_eq!(s.world.lamports(&s.stranger.pubkey()), lamports - 5_000);
}

#[test]
fn another_shard_that_is_there_fails() {
    let mut s = Scene::registered();
    for number in [NUMBER, NUMBER + 1] {
        s.world.open_vault(number).unwrap();
    }
    s.vault_with_refused(SHARD, pda::shard(NUMBER + 1), Error::WrongAddress);
    s.vault_with_refused(VAULT, pda::vault(NUMBER + 1), Error::WrongAddress);
}

#[test]
fn addresses_that_a_stranger_funded_first_block_nothing_ok() {
    for amount in [900_000, 1_000_000, 50_000_000] {
        let mut s = Scene::registered();
        gift(&mut s.world, &pda::shard(NUMBER), amount);
        gift(&mut s.world, &pda::vault(NUMBER), amount);
        s.world.open_vault(NUMBER).unwrap();
        let rents = [s.world.rent(ShardAccount::SIZE), s.world.rent(VAULT_BYTES)];
        let held = [s.world.lamports(&pda::shard(NUMBER)), s.world.lamports(&pda::vault(NUMBER))];
        assert_eq!(held, rents.map(|rent| rent.max(amount)));
    }
}

#[test]
fn another_mint_fails() {
    let mut s = Scene::registered();
    for program in [TOKEN_PROGRAM, TOKEN_2022_PROGRAM] {
        let fake = s.world.new_keypair();
        s.world.create_mint(&fake, 6, &program);
        s.vault_with_refused(USDC_MINT, fake.pubkey(), Error::WrongUsdcMint);
    }
}

#[test]
fn another_token_program_fails() {
    let mut s = Scene::registered();
    s.vault_with_refused(TOKEN, TOKEN_2022_PROGRAM, Error::NotLegacyToken);
}

#[test]
fn another_shards_addresses_fail() {
    let mut s = Scene::registered();
    s.vault_with_refused(SHARD, pda::shard(NUMBER + 1), Error::WrongAddress);
    s.vault_with_refused(VAULT, pda::vault(NUMBER + 1), Error::WrongAddress);
    let mut instruction = s.vault_opening();
    instruction.data[8] = NUMBER + 1;
    s.stranger_refused(&[instruction], Error::WrongAddress);
    // A token account of the stranger's own in the vault's place, so that the shard would owe out of it.
    let theirs = token::associated_address(&s.stranger.at(), &s.world.usdc_mint(), &TOKEN_PROGRAM);
    s.vault_with_refused(VAULT, theirs, Error::WrongAddress);
}

#[test]
fn one_address_for_both_fails() {
    let mut s = Scene::registered();
    let instruction = with_account(s.vault_opening(), VAULT, pda::shard(NUMBER));
    let refusal = s.world.send_refused(&[instruction], &s.stranger, &[]);
    assert_eq!(refusal.instruction_error(), Some(&DUPLICATE_MUTABLE));
}

#[test]
fn another_configuration_fails() {
    let mut s = Scene::registered();
    let (forged, data) = (s.world.new_keypair().pubkey(), s.world.data(&pda::config()));
    s.world.set_data(&forged, &address(ids::STAKE_LOCK), &data);
    s.vault_with_refused(CONFIG, forged, Error::WrongAddress);
}

#[test]
fn a_payer_who_does_not_sign_fails() {
    let mut s = Scene::registered();
    let mint = s.world.usdc_mint();
    let instruction = unsigned(open_vault(s.owner.at(), mint, NUMBER), 0);
    let refusal = s.world.send_refused(&[instruction], &s.stranger, &[]);
    assert_eq!(refusal.instruction_error(), Some(&MISSING_SIGNATURE));
}
