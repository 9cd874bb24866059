//! open_head: anybody opens the head of an agent's chain of batches, once and for ever.

use super::common::{MISSING_SIGNATURE, Scene, gift, keccak, only_event, unsigned, with_account};
use solana_address::Address;
use solana_instruction::Instruction;
use solana_signer::Signer;
use zx1_chain::instructions::behavior_log::open_head;
use zx1_chain::pda;
use zx1_interface::accounts::HeadAccount;
use zx1_interface::events::HeadOpened;
use zx1_interface::{Error, Layout, ids};
use zx1_vm_tests::{ForeignMint, NETWORK, address};

const CONFIG: usize = 1;
const MINT: usize = 2;
const AGENT_INDEX: usize = 3;
const HEAD: usize = 4;

impl Scene {
    fn head_opening(&self) -> Instruction {
        open_head(&self.agent.addresses(), self.stranger.at())
    }

    #[track_caller]
    fn head_refused(&mut self, instruction: Instruction, error: Error) {
        self.stranger_refused(&[instruction], error);
    }
}

#[test]
fn a_stranger_opens_it_at_the_epoch_before_ok() {
    let mut s = Scene::registered();
    let (payer, at) = (s.stranger.at(), pda::head(&s.agent.mint));
    let instruction = s.head_opening();
    let (before, lamports) = (s.world.snapshot(), s.world.lamports(&payer));
    let receipt = s.world.send_ok(&[instruction], &s.stranger, &[]);

    before.assert_only_changed(&s.world, &[payer, at]);
    let rent = s.world.rent(HeadAccount::SIZE);
    assert_eq!((s.world.lamports(&at), s.world.data(&at).len()), (rent, HeadAccount::SIZE));
    assert_eq!(s.world.lamports(&payer), lamports - rent - receipt.fee);
    let seeds: &[&[u8]] = &[b"head", s.agent.mint.as_ref()];
    let (derived, bump) = Address::find_program_address(seeds, &address(ids::BEHAVIOR_LOG));
    assert_eq!(derived, at);
    let (slot, last_epoch) = (s.world.slot(), s.last_epoch());
    // Two agents, or one agent on two networks, never have the same head.
    let digest = keccak(&[b"zx1/head/v2", &NETWORK, s.agent.mint.as_ref()]);
    assert_eq!(
        s.head(),
        HeadAccount {
            last_epoch,
            last_slot: 0,
            count: 0,
            created_slot: slot,
            event_sequence: 1,
            agent_id: s.agent.mint.0,
            digest,
            version: 2,
            bump,
            reserved: [0; 6],
        }
    );
    assert_eq!(
        only_event(&receipt, ids::BEHAVIOR_LOG, HeadOpened::read),
        HeadOpened { agent_id: s.agent.mint.0, last_epoch, digest, sequence: 0, account_created_slot: slot }
    );
}

#[test]
fn lamports_that_a_stranger_sent_there_first_block_nothing_ok() {
    for amount in [900_000, 50_000_000] {
        let mut s = Scene::registered();
        gift(&mut s.world, &pda::head(&s.agent.mint), amount);
        s.world.open_head(&s.agent).unwrap();
        let rent = s.world.rent(HeadAccount::SIZE);
        assert_eq!(s.world.lamports(&pda::head(&s.agent.mint)), rent.max(amount));
    }
}

#[test]
fn a_second_time_fails_before_and_after_batches_and_a_sale() {
    let mut s = Scene::landing();
    s.head_refused(s.head_opening(), Error::AccountExists);
    s.land(s.last_epoch());
    let head = s.head();
    s.head_refused(s.head_opening(), Error::AccountExists);
    let (agent, buyer) = s.sell();
    s.world.take_over(&agent, &buyer).unwrap();
    s.world.advance_epochs(100);
    s.head_refused(s.head_opening(), Error::AccountExists);
    assert_eq!(s.head(), head);
}

#[test]
fn what_only_poses_as_an_agent_has_no_head() {
    for (kind, error) in [
        (ForeignMint::Legacy, Error::MintNotToken2022),
        (ForeignMint::NoGroup, Error::MintNotInRegistry),
        (ForeignMint::OtherGroup, Error::MintNotInRegistry),
    ] {
        let mut s = Scene::registered();
        s.agent = s.world.foreign_agent(kind, &s.owner.at());
        s.head_refused(s.head_opening(), error);
    }
}

#[test]
fn another_agents_accounts_fail() {
    let mut s = Scene::registered();
    let other = s.world.register_agent(&s.owner);
    s.head_refused(with_account(s.head_opening(), MINT, other.mint.into()), Error::WrongAgent);
    s.head_refused(with_account(s.head_opening(), AGENT_INDEX, other.agent_index), Error::WrongAgentIndex);
    s.head_refused(with_account(s.head_opening(), HEAD, pda::head(&other.mint)), Error::WrongAddress);
    let mut instruction = s.head_opening();
    instruction.data[8..40].copy_from_slice(other.mint.as_ref());
    s.head_refused(instruction, Error::WrongAgent);
}

#[test]
fn another_configuration_fails() {
    // It would choose the network, and so the digest.
    let mut s = Scene::registered();
    let forged = s.world.new_keypair().pubkey();
    let data = s.world.data(&pda::config());
    s.world.set_data(&forged, &address(ids::STAKE_LOCK), &data);
    s.head_refused(with_account(s.head_opening(), CONFIG, forged), Error::WrongAddress);
}

#[test]
fn a_payer_who_does_not_sign_fails() {
    let mut s = Scene::registered();
    let instruction = unsigned(open_head(&s.agent.addresses(), s.owner.at()), 0);
    let refusal = s.world.send_refused(&[instruction], &s.stranger, &[]);
    assert_eq!(refusal.instruction_error(), Some(&MISSING_SIGNATURE));
}
