//! A Token-2022 multisig whose signers are chosen as bytes reads as a token account that holds somebody else's
//! NFT, when the NFT's mint begins with a threshold, a number of signers and 1.

use super::common::{Scene, dishonest_batch};
use solana_address::Address;
use solana_keypair::Keypair;
use solana_signer::Signer;
use solana_system_interface::instruction as system;
use spl_token_2022_interface::instruction::initialize_multisig2;
use zx1_chain::instructions::behavior_log::submit_batch;
use zx1_chain::instructions::stake_lock::{lock_stake, queue_unlock};
use zx1_chain::token::TOKEN_2022_PROGRAM;
use zx1_interface::Error;
use zx1_interface::constants::MIN_STAKE;
use zx1_vm_tests::{Agent, World, ed25519_instruction, keypair, message_of};

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
    /// The agent's mint begins with 7, 7, 1; it has stake, and a lease that is paid.
    fn with_ground_mint() -> Self {
        let mut world = World::configured();
        let (owner, stranger) = (world.new_party(), world.new_party());
        let agent = world.register_agent_at(&ground_mint(), &owner);
        world.lock_stake(&agent, &owner, MIN_STAKE).unwrap();
        world.pay_lease(&agent, &owner, None, 1).unwrap();
        Self { world, agent, owner, stranger }
    }

    /// The agent as the stranger shows it, with a multisig in place of the token account: made by Token-2022
    /// itself, for rent alone.
    fn posing(&mut self) -> Agent {
        let multisig = keypair("multisig");
        let mut poses_as = [0; MULTISIG_BYTES];
        poses_as[..32].copy_from_slice(self.agent.mint.as_array());
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
}

#[test]
fn a_multisig_that_reads_as_the_nfts_account_queues_no_unlock() {
    let mut s = Scene::with_ground_mint();
    s.world.advance_epochs(4);
    let posing = s.posing();
    s.stranger_refused(&[queue_unlock(&posing.addresses(), s.stranger.pubkey())], Error::AgentNotHeld);
    s.world.queue_unlock(&s.agent, &s.owner).unwrap();
}

#[test]
fn a_multisig_that_reads_as_the_nfts_account_signs_no_batch() {
    let mut s = Scene::with_ground_mint();
    let posing = s.posing();
    s.world.advance_epochs(1);
    s.world.pay_lease(&s.agent, &s.owner, None, 1).unwrap();
    let batch = dishonest_batch(&s.agent, s.world.epoch() - 1).arguments(&s.agent.mint);
    let signed = ed25519_instruction(&s.stranger, &message_of(&batch));
    let submit = submit_batch(&posing.addresses(), s.stranger.pubkey(), None, &batch);
    s.stranger_refused(&[signed, submit], Error::AgentNotHeld);
}

#[test]
fn a_multisig_that_reads_as_the_nfts_account_locks_no_stake() {
    let mut s = Scene::with_ground_mint();
    let posing = s.posing();
    let (mint, from) = (s.world.usdc_mint(), s.world.usdc_account(&s.stranger.pubkey()));
    let lock = lock_stake(&posing.addresses(), s.stranger.pubkey(), mint, from, 0);
    s.stranger_refused(&[lock], Error::AgentNotHeld);
    assert_eq!(s.stake().owner, s.owner.pubkey().to_bytes());
}
