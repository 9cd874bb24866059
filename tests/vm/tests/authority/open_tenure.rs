//! open_tenure: the holder of an agent begins its first tenure.

use super::common::{MISSING_SIGNATURE, Scene, gift, only_event, unsigned, with_account};
use solana_address::Address;
use solana_instruction::Instruction;
use zx1_chain::instructions::stake_lock::open_tenure;
use zx1_chain::pda;
use zx1_interface::accounts::TenureAccount;
use zx1_interface::events::TenureOpened;
use zx1_interface::{Error, Layout, ids};
use zx1_vm_tests::{ForeignMint, Key, address};

const AGENT_INDEX: usize = 3;
const AGENT_TOKEN: usize = 4;
const TENURE: usize = 5;

impl Scene {
    fn opening(&self, wallet: &Key) -> Instruction {
        open_tenure(&self.agent.addresses(), wallet.at())
    }

    #[track_caller]
    fn opening_refused(&mut self, error: Error) {
        self.owner_refused(&[self.opening(&self.owner)], error);
    }

    #[track_caller]
    fn opening_with_refused(&mut self, place: usize, at: Address, error: Error) {
        let instruction = with_account(self.opening(&self.owner), place, at);
        self.owner_refused(&[instruction], error);
    }
}

#[test]
fn the_holder_opens_it_ok() {
    let mut s = Scene::registered();
    let (owner, at) = (s.owner.at(), pda::tenure(&s.agent.mint));
    let (before, lamports) = (s.world.snapshot(), s.world.lamports(&owner));
    let receipt = s.world.open_tenure(&s.agent, &s.owner).unwrap();

    before.assert_only_changed(&s.world, &[owner, at]);
    let rent = s.world.rent(TenureAccount::SIZE);
    assert_eq!((s.world.lamports(&at), s.world.data(&at).len()), (rent, TenureAccount::SIZE));
    assert_eq!(s.world.lamports(&owner), lamports - rent - receipt.fee);
    let seeds: &[&[u8]] = &[b"tenure", s.agent.mint.as_ref()];
    let (derived, bump) = Address::find_program_address(seeds, &address(ids::STAKE_LOCK));
    assert_eq!(derived, at);
    let (slot, epoch) = (s.world.slot(), s.world.epoch());
    assert_eq!(
        s.tenure(),
        TenureAccount {
            created_slot: slot,
            event_sequence: 1,
            from_epoch: epoch,
            number: 1,
            era: 0,
            live_keys: 0,
            version: 2,
            bump,
            has_listed: 0,
            reserved: [0; 4],
            agent: s.agent.mint.0,
            owner: owner.to_bytes(),
        }
    );
    assert_eq!(
        only_event(&receipt, ids::STAKE_LOCK, TenureOpened::read),
        TenureOpened {
            agent_mint: s.agent.mint.0,
            owner: owner.to_bytes(),
            from_epoch: epoch,
            sequence: 0,
            account_created_slot: slot,
        }
    );
}

#[test]
fn lamports_that_a_stranger_sent_there_first_block_nothing_ok() {
    let mut s = Scene::registered();
    gift(&mut s.world, &pda::tenure(&s.agent.mint), 1_000_000);
    s.world.open_tenure(&s.agent, &s.owner).unwrap();
    assert_eq!(s.tenure().number, 1);
}

#[test]
fn twice_fails_also_after_a_sale() {
    let mut s = Scene::opened();
    s.opening_refused(Error::AccountExists);
    let (agent, buyer) = s.sell();
    s.agent = agent;
    let instruction = s.opening(&buyer);
    s.world.send_refused(&[instruction], &buyer, &[]).expect_code(Error::AccountExists.code());
    assert_eq!(s.tenure().owner, s.owner.at().to_bytes());
}

#[test]
fn a_buyer_opens_it_where_nobody_did_ok() {
    let mut s = Scene::registered();
    let (agent, buyer) = s.sell();
    s.agent = agent;
    s.opening_refused(Error::NotAgentOwner);
    s.world.open_tenure(&agent, &buyer).unwrap();
    assert_eq!((s.tenure().owner, s.tenure().number), (buyer.at().to_bytes(), 1));
}

#[test]
fn whoever_does_not_hold_the_nft_fails() {
    let mut s = Scene::registered();
    let instruction = s.opening(&s.stranger);
    s.stranger_refused(std::slice::from_ref(&instruction), Error::NotAgentOwner);
    s.world.create_delegate(&s.owner, &s.stranger.at(), &s.agent, 0);
    s.stranger_refused(&[instruction], Error::NotAgentOwner);
    s.world.burn_agent(&s.agent, &s.owner);
    s.opening_refused(Error::AgentNotHeld);
}

#[test]
fn the_holder_without_a_signature_fails() {
    let mut s = Scene::registered();
    let instruction = unsigned(s.opening(&s.owner), 0);
    let refusal = s.world.send_refused(&[instruction], &s.stranger, &[]);
    assert_eq!(refusal.instruction_error(), Some(&MISSING_SIGNATURE));
}

#[test]
fn mints_that_only_pose_as_agents_fail() {
    for (kind, error) in [
        (ForeignMint::Legacy, Error::MintNotToken2022),
        (ForeignMint::NoGroup, Error::MintNotInRegistry),
        (ForeignMint::OtherGroup, Error::MintNotInRegistry),
    ] {
        let mut s = Scene::registered();
        s.agent = s.world.foreign_agent(kind, &s.owner.at());
        s.opening_refused(error);
    }
}

#[test]
fn another_agents_accounts_fail() {
    let mut s = Scene::registered();
    let other = s.world.register_agent(&s.owner);
    s.opening_with_refused(AGENT_INDEX, other.agent_index, Error::WrongAgentIndex);
    s.opening_with_refused(AGENT_TOKEN, other.token_account, Error::AgentNotHeld);
    s.opening_with_refused(TENURE, pda::tenure(&other.mint), Error::WrongAddress);
    let mut instruction = s.opening(&s.owner);
    instruction.data[8..40].copy_from_slice(other.mint.as_ref());
    s.owner_refused(&[instruction], Error::WrongAgent);
}
