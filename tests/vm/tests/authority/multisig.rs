//! A Token-2022 multisig whose signers are chosen as bytes reads as a token account that holds somebody else's
//! NFT, when the NFT's mint begins with a threshold, a number of signers and 1.

use super::common::{MIN_STAKE, Scene};
use solana_address::Address;
use solana_instruction::Instruction;
use solana_keypair::Keypair;
use solana_signer::Signer;
use solana_system_interface::instruction as system;
use spl_token_2022_interface::instruction::initialize_multisig2;
use zx1_chain::instructions::AgentAddresses;
use zx1_chain::instructions::stake_lock::{
    add_key, end_key, lock_stake, open_tenure, queue_unlock, take_over,
};
use zx1_chain::token::TOKEN_2022_PROGRAM;
use zx1_interface::Error;
use zx1_protocol::keys::Scopes;
use zx1_protocol::units::MicroUsdc;
use zx1_vm_tests::{Agent, Key, Keys, World, keypair};

/// One key in 329 000 begins so; this one was found by counting.
const FOUND: u64 = 573_663;
/// A multisig's length, at which SPL tells it from a token account.
const MULTISIG_BYTES: usize = 355;

fn ground_mint() -> Keypair {
    let mut seed = [0; 32];
    seed[..8].copy_from_slice(&FOUND.to_le_bytes());
    Keypair::new_from_array(seed)
}

impl Scene {
    /// The agent's mint begins with 7, 7, 1, and nothing has been done with it.
    fn with_ground_mint() -> Self {
        let mut world = World::configured();
        let (owner, stranger) = (Key(world.new_party()), Key(world.new_party()));
        let agent = world.register_agent_at(&ground_mint(), &owner);
        let mut key = || Key(world.new_keypair());
        let keys = Keys { pay: key(), batch: key(), deal: key() };
        Self { world, agent, owner, keys, stranger }
    }

    /// It has tenure, keys, stake, head, and a lease that is paid.
    fn living_with_ground_mint() -> Self {
        let mut s = Self::with_ground_mint();
        s.world.open_tenure(&s.agent, &s.owner).unwrap();
        s.keys = s.world.new_keys(&s.agent, &s.owner);
        s.world.lock_stake(&s.agent, &s.owner, MIN_STAKE).unwrap();
        s.world.pay_lease(&s.agent, &s.owner, 2).unwrap();
        s.world.open_head(&s.agent).unwrap();
        s
    }

    /// The agent as the stranger shows it, with a multisig in place of the token account: made by Token-2022
    /// itself, for rent alone.
    fn posing(&mut self) -> Agent {
        let multisig = keypair("multisig");
        let mut poses_as = [0; MULTISIG_BYTES];
        poses_as[..32].copy_from_slice(self.agent.mint.as_bytes());
        poses_as[32..64].copy_from_slice(self.stranger.pubkey().as_array());
        // The amount, the state, and the type that stands behind a token account with extensions.
        (poses_as[64], poses_as[108], poses_as[165]) = (1, 1, 2);
        let [threshold, count, 1, signers @ ..] = poses_as else { panic!("the mint was ground for this") };
        let signers: Vec<Address> = signers
            .chunks_exact(32)
            .take(count.into())
            .map(|bytes| Address::try_from(bytes).unwrap())
            .collect();
        let token = TOKEN_2022_PROGRAM;
        let make =
            initialize_multisig2(&token, &multisig.pubkey(), &signers.iter().collect::<Vec<_>>(), threshold);
        let (payer, bytes) = (self.stranger.pubkey(), MULTISIG_BYTES);
        let rent = self.world.rent(bytes);
        let create = system::create_account(&payer, &multisig.pubkey(), rent, bytes as u64, &token);
        self.world.send_ok(&[create, make.unwrap()], &self.stranger, &[&multisig]);
        assert_eq!(self.world.data(&multisig.pubkey())[..166], poses_as[..166], "it reads as it should");
        Agent { owner: payer, token_account: multisig.pubkey(), ..self.agent }
    }

    /// The stranger, who poses as the holder, is not believed.
    #[track_caller]
    fn posing_refused(&mut self, build: impl Fn(&AgentAddresses, Address) -> Instruction) {
        let posing = self.posing();
        let instruction = build(&posing.addresses(), self.stranger.at());
        let keys = self.keys.clone();
        let refusal = self.world.send_refused(&[instruction], &self.stranger, &[&keys.deal.0]);
        refusal.expect_code(Error::AgentNotHeld.code());
    }
}

#[test]
fn a_multisig_that_reads_as_the_nfts_account_queues_no_unlock() {
    // In the second edition the stake is the wallet's that locked it, so that there is nothing to pose for; and
    // its owner does not pose as one who sold by it either.
    let mut s = Scene::living_with_ground_mint();
    let posing = s.posing();
    s.stranger_refused(&[queue_unlock(&posing.addresses(), s.stranger.at(), 0)], Error::NotStakeOwner);
    s.owner_refused(&[queue_unlock(&posing.addresses(), s.owner.at(), 0)], Error::AgentNotHeld);
    s.world.advance_epochs(5);
    s.world.queue_unlock(&s.agent, &s.owner, 0).unwrap();
}

#[test]
fn a_multisig_that_reads_as_the_nfts_account_opens_no_tenure() {
    Scene::with_ground_mint().posing_refused(open_tenure);
}

#[test]
fn a_multisig_that_reads_as_the_nfts_account_takes_nothing_over() {
    let mut s = Scene::living_with_ground_mint();
    let keys = s.world.live_keys(&s.agent);
    s.posing_refused(|agent, wallet| take_over(agent, wallet, 0, &keys));
}

#[test]
fn a_multisig_that_reads_as_the_nfts_account_lists_and_ends_no_key() {
    let s = Scene::living_with_ground_mint();
    let key = s.keys.deal.at();
    s.fork().posing_refused(|agent, wallet| add_key(agent, wallet, key, Scopes::ALL, 0));
    s.fork().posing_refused(|agent, wallet| end_key(agent, wallet, key));
}

#[test]
fn a_multisig_that_reads_as_the_nfts_account_locks_no_stake() {
    let mut s = Scene::living_with_ground_mint();
    let from = s.world.usdc_account(&s.stranger.pubkey());
    s.posing_refused(|agent, wallet| lock_stake(agent, wallet, from, 0, None, MicroUsdc(0)));
    assert_eq!(s.stake().owner, s.owner.pubkey().to_bytes());
}

#[test]
fn a_multisig_that_reads_as_the_nfts_account_pays_no_lease_and_lands_no_batch() {
    let mut s = Scene::living_with_ground_mint();
    let posing = s.posing();
    let payment = s.world.paying_lease(&posing, &s.stranger.at(), 1);
    s.stranger_refused(&[payment], Error::AgentNotHeld);
    s.world.advance_epochs(1);
    // The agent's own batch key, and the stranger in the holder's place.
    let message = s.message(s.last_epoch());
    let landing = s.world.landing(&posing, &s.stranger.at(), &s.keys.batch, &message);
    s.stranger_refused(&landing, Error::AgentNotHeld);
    s.land(s.last_epoch());
}
