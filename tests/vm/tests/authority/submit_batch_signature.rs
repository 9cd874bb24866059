//! submit_batch: exactly one signature, by the owner or a live delegate, over exactly this batch, in the
//! instruction right before.

use super::common::{EPOCH_SLOTS, Scene};
use super::submit_batch::{batch_of, message};
use solana_address::Address;
use solana_instruction::Instruction;
use solana_instruction::error::InstructionError;
use solana_keypair::Keypair;
use solana_signer::Signer;
use zx1_chain::instructions::behavior_log::submit_batch;
use zx1_chain::pda;
use zx1_interface::Error;
use zx1_interface::instruction::SubmitBatch;
use zx1_vm_tests::{
    Ed25519Entry, MAX_TRANSACTION, Receipt, compute_limit, ed25519_custom, ed25519_instruction, ed25519_pair,
    sign,
};

/// The precompile's InvalidSignature.
const INVALID_SIGNATURE: InstructionError = InstructionError::Custom(2);

/// Where the precompile's data begin with one entry.
const PAYLOAD: usize = 16;

impl Scene {
    fn some_batch(&self) -> SubmitBatch {
        batch_of(&self.agent.mint, self.last_epoch())
    }

    fn submit(&self, batch: &SubmitBatch, delegation: Option<Address>) -> Instruction {
        submit_batch(&self.agent.addresses(), self.owner.pubkey(), delegation, batch)
    }

    /// Instructions before submit_batch are refused with this error.
    #[track_caller]
    fn before_refused(&mut self, before: &[Instruction], error: Error) {
        let submit = self.submit(&self.some_batch(), None);
        self.owner_refused(&[before, &[submit]].concat(), error);
        assert_eq!(self.world.account(&pda::head(&self.agent.mint)), None);
    }

    /// This key signs, and the owner pays.
    fn signed_by(&self, signer: &Keypair, delegation: Option<Address>) -> [Instruction; 2] {
        let batch = self.some_batch();
        [ed25519_instruction(signer, &message(&batch)), self.submit(&batch, delegation)]
    }

    #[track_caller]
    fn signer_refused(&mut self, signer: &Keypair, delegation: Option<Address>, error: Error) {
        let instructions = self.signed_by(signer, delegation);
        self.owner_refused(&instructions, error);
    }

    #[track_caller]
    fn signer_ok(&mut self, signer: &Keypair, delegation: Option<Address>) -> Receipt {
        let instructions = self.signed_by(signer, delegation);
        let epoch = self.last_epoch();
        let receipt = self.world.send_ok(&instructions, &self.owner, &[]);
        assert_eq!(self.batch(epoch).signer, signer.pubkey().to_bytes());
        receipt
    }
}

/// Key, signature and message, as `Ed25519Entry::own` lays them out.
fn payload(wallet: &Keypair, message: &[u8]) -> Vec<u8> {
    [&wallet.pubkey().to_bytes()[..], &sign(wallet, message), message].concat()
}

#[test]
fn a_bad_signature_fails_in_the_precompile_itself() {
    let mut s = Scene::living();
    let batch = s.some_batch();
    let right = s.owners_submission(&batch);
    // A bit of each half of the signature, and of both ends of the message.
    for at in [PAYLOAD + 32, PAYLOAD + 32 + 63, PAYLOAD + 96, PAYLOAD + 96 + 164] {
        let mut instructions = right.clone();
        instructions[0].data[at] ^= 1;
        let refusal = s.world.send_refused(&instructions, &s.owner, &[]);
        assert_eq!((refusal.instruction(), refusal.instruction_error()), (Some(0), Some(&INVALID_SIGNATURE)));
    }
    // Somebody else's signature under the owner's key.
    let forged =
        [&s.owner.pubkey().to_bytes()[..], &sign(&s.stranger, &message(&batch)), &message(&batch)].concat();
    let check = ed25519_custom(&[Ed25519Entry::own(PAYLOAD, 165)], &forged);
    let refusal = s.world.send_refused(&[check, right[1].clone()], &s.owner, &[]);
    assert_eq!((refusal.instruction(), refusal.instruction_error()), (Some(0), Some(&INVALID_SIGNATURE)));
}

#[test]
fn no_signature_instruction_fails() {
    let mut s = Scene::living();
    s.before_refused(&[], Error::SignatureMissing);
    s.before_refused(&[compute_limit(300_000)], Error::SignatureMissing);
}

#[test]
fn a_signature_instruction_that_is_not_right_before_fails() {
    let mut s = Scene::living();
    let [check, submit] = s.owners_submission(&s.some_batch());
    s.before_refused(&[check.clone(), compute_limit(300_000)], Error::SignatureMissing);
    // After it.
    s.owner_refused(&[submit.clone(), check.clone()], Error::SignatureMissing);
    // Anything may stand before the check.
    s.world.send_ok(&[compute_limit(300_000), check, submit], &s.owner, &[]);
}

#[test]
fn the_same_check_for_two_submissions_fails() {
    let mut s = Scene::living();
    let [check, submit] = s.owners_submission(&s.some_batch());
    let refusal = s.world.send_refused(&[check, submit.clone(), submit], &s.owner, &[]);
    assert_eq!(refusal.instruction(), Some(2));
    refusal.expect_code(Error::SignatureMissing.code());
}

#[test]
fn an_instruction_that_only_looks_like_the_check_fails() {
    let mut s = Scene::living();
    let [mut check, _] = s.owners_submission(&s.some_batch());
    // The compute budget program ignores what stands behind its argument.
    check.program_id = solana_sdk_ids::compute_budget::ID;
    check.data = [&compute_limit(300_000).data[..], &check.data].concat();
    s.before_refused(&[check], Error::SignatureMissing);
}

#[test]
fn two_signatures_or_none_fail() {
    let mut s = Scene::living();
    let right = message(&s.some_batch());
    s.before_refused(&[ed25519_pair((&s.owner, &right), (&s.stranger, b"x"))], Error::SignatureCount);
    s.before_refused(&[ed25519_pair((&s.stranger, b"x"), (&s.owner, &right))], Error::SignatureCount);
    // Twice the very same.
    let entry = Ed25519Entry::own(PAYLOAD + 14, right.len());
    let twice = ed25519_custom(&[entry, entry], &payload(&s.owner, &right));
    s.before_refused(&[twice], Error::SignatureCount);
    s.before_refused(&[ed25519_custom(&[], &[])], Error::SignatureCount);
}

#[test]
fn parts_in_another_instruction_fail() {
    let mut s = Scene::living();
    let right = message(&s.some_batch());
    let (key, signature) = (s.owner.pubkey().to_bytes(), sign(&s.owner, &right));
    // What lies in an instruction of the compute budget program, which ignores what follows its argument,
    // and what in the check's own data: the precompile finds everything and is content.
    let holder = |parts: &[u8]| {
        let mut holder = compute_limit(300_000);
        holder.data.extend(parts);
        holder
    };
    let at = |offset: usize| u16::try_from(offset).unwrap();
    let (there, here) = (at(compute_limit(0).data.len()), at(PAYLOAD));
    let entry = Ed25519Entry::own(PAYLOAD, right.len());
    let cases = [
        (
            holder(&signature),
            [&key[..], &right].concat(),
            Ed25519Entry {
                signature_offset: there,
                signature_instruction: 0,
                message_offset: here + 32,
                ..entry
            },
        ),
        (
            holder(&key),
            [&signature[..], &right].concat(),
            Ed25519Entry {
                key_offset: there,
                key_instruction: 0,
                signature_offset: here,
                message_offset: here + 64,
                ..entry
            },
        ),
        (
            holder(&right),
            [&key[..], &signature].concat(),
            Ed25519Entry { message_offset: there, message_instruction: 0, ..entry },
        ),
        (
            holder(&payload(&s.owner, &right)),
            Vec::new(),
            Ed25519Entry {
                key_offset: there,
                key_instruction: 0,
                signature_offset: there + 32,
                signature_instruction: 0,
                message_offset: there + 96,
                message_instruction: 0,
                ..entry
            },
        ),
    ];
    for (holder, own, entry) in cases {
        s.before_refused(&[holder, ed25519_custom(&[entry], &own)], Error::SignatureOffsets);
    }
}

#[test]
fn own_parts_that_are_named_by_the_instructions_number_fail() {
    let mut s = Scene::living();
    let right = message(&s.some_batch());
    let own = Ed25519Entry::own(PAYLOAD, right.len());
    for entry in [
        Ed25519Entry { signature_instruction: 0, ..own },
        Ed25519Entry { key_instruction: 0, ..own },
        Ed25519Entry { message_instruction: 0, ..own },
    ] {
        let check = ed25519_custom(&[entry], &payload(&s.owner, &right));
        s.before_refused(&[check], Error::SignatureOffsets);
    }
}

#[test]
fn another_message_in_the_own_data_while_the_signed_one_lies_elsewhere_fails() {
    // The classic: what is verified lies in another instruction, what a careless reader sees lies here.
    let mut s = Scene::living();
    let batch = s.some_batch();
    let honest = ed25519_instruction(&s.stranger, b"something the stranger may sign");
    let entry = Ed25519Entry {
        signature_instruction: 0,
        key_instruction: 0,
        message_instruction: 0,
        ..Ed25519Entry::own(PAYLOAD, b"something the stranger may sign".len())
    };
    let bait = [&s.owner.pubkey().to_bytes()[..], &[0; 64], &message(&batch)].concat();
    s.before_refused(&[honest, ed25519_custom(&[entry], &bait)], Error::SignatureOffsets);
}

#[test]
fn key_and_message_at_other_places_of_the_own_data_ok() {
    let mut s = Scene::living();
    let batch = s.some_batch();
    let right = message(&batch);
    // Message, signature, key, with bytes between that nobody reads.
    let bytes =
        [&[9; 3][..], &right, &sign(&s.owner, &right), &s.owner.pubkey().to_bytes(), &[9; 5]].concat();
    let at = |offset: usize| u16::try_from(PAYLOAD + 3 + offset).unwrap();
    let entry = Ed25519Entry {
        signature_offset: at(165),
        key_offset: at(165 + 64),
        message_offset: at(0),
        ..Ed25519Entry::own(PAYLOAD, 165)
    };
    let instructions = [ed25519_custom(&[entry], &bytes), s.submit(&batch, None)];
    s.world.send_ok(&instructions, &s.owner, &[]);
    assert_eq!(s.batch(batch.epoch_number).signer, s.owner.pubkey().to_bytes());
}

#[test]
fn a_signature_over_other_bytes_fails() {
    let mut s = Scene::living();
    let batch = s.some_batch();
    let right = message(&batch);
    let mut others: Vec<Vec<u8>> = vec![Vec::new(), right[..164].to_vec(), [&right[..], &[0]].concat()];
    // Every field counts: one bit of each.
    for at in [0, 20, 21, 52, 53, 60, 61, 92, 93, 96, 97, 128, 129, 160, 161, 164] {
        let mut other = right.clone();
        other[at] ^= 1;
        others.push(other);
    }
    for other in others {
        let check = ed25519_instruction(&s.owner, &other);
        s.before_refused(&[check], Error::SignedOtherBytes);
    }
}

#[test]
fn arguments_other_than_the_signed_ones_fail() {
    let mut s = Scene::living();
    let signed = s.some_batch();
    let check = ed25519_instruction(&s.owner, &message(&signed));
    let changed = [
        SubmitBatch { epoch_number: signed.epoch_number - 1, ..signed.clone() },
        SubmitBatch { log_merkle_root: [1; 32], ..signed.clone() },
        SubmitBatch { log_len: 1, ..signed.clone() },
        SubmitBatch { batch_hash: [1; 32], ..signed.clone() },
        SubmitBatch { arrays_root: [1; 32], ..signed.clone() },
        SubmitBatch { arrays_len: 1, ..signed.clone() },
    ];
    for batch in changed {
        let submit = s.submit(&batch, None);
        s.owner_refused(&[check.clone(), submit], Error::SignedOtherBytes);
    }
}

#[test]
fn another_agents_batch_of_the_same_owner_fails() {
    let mut s = Scene::living();
    let other = s.world.register_agent(&s.owner);
    let check = ed25519_instruction(&s.owner, &message(&batch_of(&other.mint, s.last_epoch())));
    s.before_refused(&[check], Error::SignedOtherBytes);
}

#[test]
fn a_stranger_as_signer_fails_also_when_it_pays() {
    let mut s = Scene::living();
    let stranger = s.stranger.insecure_clone();
    s.signer_refused(&stranger, None, Error::WrongSigner);
    let batch = s.some_batch();
    let submit = submit_batch(&s.agent.addresses(), stranger.pubkey(), None, &batch);
    s.stranger_refused(&[ed25519_instruction(&stranger, &message(&batch)), submit], Error::WrongSigner);
}

#[test]
fn the_owner_as_payer_does_not_stand_in_for_its_signature() {
    let mut s = Scene::living();
    let key = s.world.new_keypair();
    s.signer_refused(&key, None, Error::WrongSigner);
}

#[test]
fn a_live_delegate_ok_and_the_largest_transaction_fits() {
    let mut s = Scene::living();
    let key = s.world.new_keypair();
    let delegation = s.world.create_delegate(&s.owner, &key.pubkey(), &s.agent, 0);
    let batch = s.some_batch();
    // Everything that a client may want: a compute limit, a sponsor as fee payer, another as rent payer.
    let payer = s.world.new_wallet(1);
    let submit = submit_batch(&s.agent.addresses(), payer.pubkey(), Some(delegation), &batch);
    let instructions = [compute_limit(200_000), ed25519_instruction(&key, &message(&batch)), submit];
    let receipt = s.world.send_ok(&instructions, &s.stranger, &[&payer]);
    assert!(receipt.size <= MAX_TRANSACTION, "{} bytes", receipt.size);
    let account = s.batch(batch.epoch_number);
    assert_eq!((account.signer, account.payer), (key.pubkey().to_bytes(), payer.pubkey().to_bytes()));
}

#[test]
fn a_delegation_fails_from_the_second_at_which_it_expires() {
    let mut s = Scene::living();
    let (key, until) = (s.world.new_keypair(), s.world.time() + 100);
    let delegation = s.world.create_delegate(&s.owner, &key.pubkey(), &s.agent, until);
    s.world.warp_to_time(until);
    let slot = s.world.slot();
    s.signer_refused(&key, Some(delegation), Error::DelegationExpired);
    s.world.advance_slots(EPOCH_SLOTS);
    s.signer_refused(&key, Some(delegation), Error::DelegationExpired);
    s.world.warp_to_slot(slot - 1);
    s.signer_ok(&key, Some(delegation));
}

#[test]
fn a_former_owners_delegate_fails() {
    let mut s = Scene::living();
    let key = s.world.new_keypair();
    let delegation = s.world.create_delegate(&s.owner, &key.pubkey(), &s.agent, 0);
    let (agent, buyer) = s.sell();
    s.agent = agent;
    s.signer_refused(&key, Some(delegation), Error::FormerOwnersDelegation);
    s.signer_ok(&buyer, None);
}

#[test]
fn a_former_owner_fails() {
    let mut s = Scene::living();
    let owner = s.owner.insecure_clone();
    let former = s.agent;
    let (agent, _) = s.sell();
    s.signer_refused(&owner, None, Error::AgentNotHeld);
    s.agent = agent;
    s.signer_refused(&owner, None, Error::WrongSigner);
    assert_ne!(former.token_account, agent.token_account);
}

#[test]
fn wrong_delegations_fail() {
    let mut s = Scene::living();
    let (key, other_key) = (s.world.new_keypair(), s.world.new_keypair());
    let other = s.world.register_agent(&s.owner);
    let of_other_agent = s.world.create_delegate(&s.owner, &key.pubkey(), &other, 0);
    let of_other_key = s.world.create_delegate(&s.owner, &other_key.pubkey(), &s.agent, 0);
    let closed = s.world.create_delegate(&s.owner, &key.pubkey(), &s.agent, 0);
    let forged = s.world.new_keypair().pubkey();
    let data = s.world.data(&closed);
    s.world.set_data(&forged, &Address::new_from_array([8; 32]), &data);
    s.world.close_delegate(&s.owner, &key.pubkey(), &s.agent).unwrap();
    for delegation in [of_other_agent, of_other_key, closed, forged, pda::config()] {
        s.signer_refused(&key, Some(delegation), Error::InvalidDelegation);
    }
    s.signer_refused(&key, None, Error::WrongSigner);
}

#[test]
fn a_needless_delegation_does_not_hinder_the_owner_ok() {
    let mut s = Scene::living();
    let (owner, key) = (s.owner.insecure_clone(), s.world.new_keypair());
    let delegation = s.world.create_delegate(&s.owner, &key.pubkey(), &s.agent, 0);
    s.signer_ok(&owner, Some(delegation));
}

#[test]
fn any_token_account_that_holds_the_nft_serves_ok() {
    let mut s = Scene::living();
    let owner = s.owner.insecure_clone();
    s.agent = s.world.transfer_agent_aside(&s.agent, &owner, &owner.pubkey());
    s.signer_ok(&owner, None);
}

#[test]
fn a_burned_agent_fails() {
    let mut s = Scene::living();
    let owner = s.owner.insecure_clone();
    s.world.burn_agent(&s.agent, &owner);
    s.signer_refused(&owner, None, Error::AgentNotHeld);
}
