//! submit_batch: exactly one signature, by a live batch key of the holder's, over exactly one batch message of
//! this network, in the instruction right before.

use super::common::{MIN_STAKE, Scene, send_unsigned, with_account};
use super::relay::through_another_program;
use super::submit_batch::{KEY, signed_bytes};
use solana_address::Address;
use solana_instruction::Instruction;
use solana_instruction::error::InstructionError;
use solana_keypair::Keypair;
use solana_signer::Signer;
use zx1_chain::instructions::behavior_log::submit_batch;
use zx1_chain::instructions::stake_lock;
use zx1_chain::pda;
use zx1_interface::accounts::KeyAccount;
use zx1_interface::{Error, ids};
use zx1_protocol::batch::BatchMessage;
use zx1_protocol::envelope::{EnvelopeHeader, MsgType, PROTOCOL_VERSION};
use zx1_protocol::keys::Scopes;
use zx1_protocol::units::{Epoch, Slot};
use zx1_vm_tests::{
    Ed25519Entry, Key, MAX_TRANSACTION, Receipt, address, compute_limit, ed25519_custom, ed25519_instruction,
    ed25519_pair, sign,
};

/// The precompile's InvalidSignature.
const INVALID_SIGNATURE: InstructionError = InstructionError::Custom(2);

/// Where the precompile's data begin with one entry.
const PAYLOAD: usize = 16;
/// Bytes of the message.
const MESSAGE: usize = 237;

impl Scene {
    /// The message that can land now.
    fn right(&self) -> BatchMessage {
        self.message(self.last_epoch())
    }

    /// The signed bytes of [`Scene::right`].
    fn right_bytes(&self) -> Vec<u8> {
        signed_bytes(&self.right())
    }

    /// submit_batch of the epoch before, with the account of this key, paid by the owner.
    fn submit(&self, key: &Address) -> Instruction {
        let era = self.world.era(&self.agent);
        submit_batch(&self.agent.addresses(), self.owner.at(), *key, era, self.last_epoch())
    }

    /// Instructions before submit_batch are refused with this error.
    #[track_caller]
    fn before_refused(&mut self, before: &[Instruction], error: Error) {
        let submit = self.submit(&self.keys.batch.at());
        self.owner_refused(&[before, &[submit]].concat(), error);
        assert_eq!(self.head().count, 0);
    }

    /// This key signs these bytes, and is refused.
    #[track_caller]
    fn bytes_refused(&mut self, bytes: &[u8], error: Error) {
        let check = ed25519_instruction(&self.keys.batch, bytes);
        self.before_refused(&[check], error);
    }

    /// This key signs and shows its own account; the owner pays.
    fn signed_by(&self, signer: &Keypair) -> [Instruction; 2] {
        [ed25519_instruction(signer, &self.right_bytes()), self.submit(&signer.pubkey())]
    }

    #[track_caller]
    fn signer_refused(&mut self, signer: &Keypair, error: Error) {
        let instructions = self.signed_by(signer);
        self.owner_refused(&instructions, error);
    }

    #[track_caller]
    fn signer_ok(&mut self, signer: &Keypair) -> Receipt {
        let instructions = self.signed_by(signer);
        let epoch = self.last_epoch();
        let receipt = self.world.send_ok(&instructions, &self.owner, &[]);
        assert_eq!(self.batch(epoch).signer, signer.pubkey().to_bytes());
        receipt
    }

    /// One epoch later, with the lease paid.
    fn next_day(&mut self) {
        self.world.pay_lease(&self.agent, &self.owner, 1).unwrap();
        self.world.advance_epochs(1);
    }
}

/// Key, signature and message, as `Ed25519Entry::own` lays them out.
fn payload(wallet: &Keypair, message: &[u8]) -> Vec<u8> {
    [&wallet.pubkey().to_bytes()[..], &sign(wallet, message), message].concat()
}

#[test]
fn a_bad_signature_fails_in_the_precompile_itself() {
    let mut s = Scene::landing();
    let right = s.submission(&s.right());
    // A bit of each half of the signature, and of every byte of the message.
    let message = PAYLOAD + 96;
    for at in [PAYLOAD + 32, PAYLOAD + 32 + 63].into_iter().chain(message..message + MESSAGE) {
        let mut instructions = right.clone();
        instructions[0].data[at] ^= 1;
        let refusal = s.world.send_refused(&instructions, &s.owner, &[]);
        assert_eq!((refusal.instruction(), refusal.instruction_error()), (Some(0), Some(&INVALID_SIGNATURE)));
    }
    // Somebody else's signature under the batch key.
    let forged =
        [&s.keys.batch.at().to_bytes()[..], &sign(&s.stranger, &s.right_bytes()), &s.right_bytes()].concat();
    let check = ed25519_custom(&[Ed25519Entry::own(PAYLOAD, MESSAGE)], &forged);
    let refusal = s.world.send_refused(&[check, right[1].clone()], &s.owner, &[]);
    assert_eq!((refusal.instruction(), refusal.instruction_error()), (Some(0), Some(&INVALID_SIGNATURE)));
}

#[test]
fn no_signature_instruction_fails() {
    let mut s = Scene::landing();
    s.before_refused(&[], Error::SignatureMissing);
    s.before_refused(&[compute_limit(300_000)], Error::SignatureMissing);
}

#[test]
fn a_signature_instruction_that_is_not_right_before_fails() {
    let mut s = Scene::landing();
    let [check, submit] = s.submission(&s.right());
    s.before_refused(&[check.clone(), compute_limit(300_000)], Error::SignatureMissing);
    // After it.
    s.owner_refused(&[submit.clone(), check.clone()], Error::SignatureMissing);
    // Anything may stand before the check.
    s.world.send_ok(&[compute_limit(300_000), check, submit], &s.owner, &[]);
}

#[test]
fn the_same_check_for_two_submissions_fails() {
    let mut s = Scene::landing();
    let [check, submit] = s.submission(&s.right());
    let refusal = s.world.send_refused(&[check, submit.clone(), submit], &s.owner, &[]);
    assert_eq!(refusal.instruction(), Some(2));
    refusal.expect_code(Error::SignatureMissing.code());
}

#[test]
fn an_instruction_that_only_looks_like_the_check_fails() {
    let mut s = Scene::landing();
    let [mut check, _] = s.submission(&s.right());
    // The compute budget program ignores what stands behind its argument.
    check.program_id = solana_sdk_ids::compute_budget::ID;
    check.data = [&compute_limit(300_000).data[..], &check.data].concat();
    s.before_refused(&[check], Error::SignatureMissing);
}

#[test]
fn two_signatures_or_none_fail() {
    let mut s = Scene::landing();
    let right = s.right_bytes();
    s.before_refused(&[ed25519_pair((&s.keys.batch, &right), (&s.stranger, b"x"))], Error::SignatureCount);
    s.before_refused(&[ed25519_pair((&s.stranger, b"x"), (&s.keys.batch, &right))], Error::SignatureCount);
    // Twice the very same.
    let entry = Ed25519Entry::own(PAYLOAD + 14, right.len());
    let twice = ed25519_custom(&[entry, entry], &payload(&s.keys.batch, &right));
    s.before_refused(&[twice], Error::SignatureCount);
    s.before_refused(&[ed25519_custom(&[], &[])], Error::SignatureCount);
}

#[test]
fn parts_in_another_instruction_fail() {
    let mut s = Scene::landing();
    let right = s.right_bytes();
    let (key, signature) = (s.keys.batch.at().to_bytes(), sign(&s.keys.batch, &right));
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
            holder(&payload(&s.keys.batch, &right)),
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
    let mut s = Scene::landing();
    let right = s.right_bytes();
    let own = Ed25519Entry::own(PAYLOAD, right.len());
    for entry in [
        Ed25519Entry { signature_instruction: 0, ..own },
        Ed25519Entry { key_instruction: 0, ..own },
        Ed25519Entry { message_instruction: 0, ..own },
    ] {
        let check = ed25519_custom(&[entry], &payload(&s.keys.batch, &right));
        s.before_refused(&[check], Error::SignatureOffsets);
    }
}

#[test]
fn another_message_in_the_own_data_while_the_signed_one_lies_elsewhere_fails() {
    // The classic: what is verified lies in another instruction, what a careless reader sees lies here.
    let mut s = Scene::landing();
    let honest = ed25519_instruction(&s.stranger, b"something the stranger may sign");
    let entry = Ed25519Entry {
        signature_instruction: 0,
        key_instruction: 0,
        message_instruction: 0,
        ..Ed25519Entry::own(PAYLOAD, b"something the stranger may sign".len())
    };
    let bait = [&s.keys.batch.at().to_bytes()[..], &[0; 64], &s.right_bytes()].concat();
    s.before_refused(&[honest, ed25519_custom(&[entry], &bait)], Error::SignatureOffsets);
}

#[test]
fn key_and_message_at_other_places_of_the_own_data_ok() {
    let mut s = Scene::landing();
    let right = s.right_bytes();
    // Message, signature, key, with bytes between that nobody reads.
    let bytes =
        [&[9; 3][..], &right, &sign(&s.keys.batch, &right), &s.keys.batch.at().to_bytes(), &[9; 5]].concat();
    let at = |offset: usize| u16::try_from(PAYLOAD + 3 + offset).unwrap();
    let entry = Ed25519Entry {
        signature_offset: at(MESSAGE),
        key_offset: at(MESSAGE + 64),
        message_offset: at(0),
        ..Ed25519Entry::own(PAYLOAD, MESSAGE)
    };
    let instructions = [ed25519_custom(&[entry], &bytes), s.submit(&s.keys.batch.at())];
    s.world.send_ok(&instructions, &s.owner, &[]);
    assert_eq!(s.batch(s.last_epoch()).signer, s.keys.batch.at().to_bytes());
}

#[test]
fn bytes_that_are_no_batch_message_fail() {
    let mut s = Scene::landing();
    let right = s.right_bytes();
    let mut first_edition = right.clone();
    first_edition[20] = b'1';
    let payload_hash = [3; 32];
    let envelope = EnvelopeHeader {
        version: PROTOCOL_VERSION,
        msg_type: MsgType::Propose,
        sender: &s.agent.mint.0,
        recipient: &[9; 32],
        timestamp: s.last_epoch() * 86_400_000_000,
        block_ref: Slot(1),
        nonce: 1,
        conversation_id: &[4; 16],
        payload_hash: &payload_hash,
        payload_len: 16,
    };
    let others: [Vec<u8>; 7] = [
        Vec::new(),
        right[..MESSAGE - 1].to_vec(),
        [&right[..], &[0]].concat(),
        right[21..].to_vec(),
        first_edition,
        // The 165 bytes of the first edition.
        [b"zx1/behavior-batch/v1", &right[53..85], &right[93..101], &right[133..]].concat(),
        envelope.message32::<zx1_protocol::hash::Sha3>().to_vec(),
    ];
    for other in others {
        s.bytes_refused(&other, Error::NotBatchMessage);
    }
    for at in 0..21 {
        let mut other = right.clone();
        other[at] ^= 1;
        s.bytes_refused(&other, Error::NotBatchMessage);
    }
}

#[test]
fn every_byte_that_ties_the_message_to_network_agent_epochs_and_head_is_compared() {
    let mut s = Scene::landing();
    let right = s.right_bytes();
    for (part, error) in [
        (21..53, Error::WrongNetwork),
        (53..85, Error::WrongAgent),
        (85..93, Error::WrongCoverage),
        (101..133, Error::WrongPreviousDigest),
    ] {
        for at in part {
            let mut other = right.clone();
            other[at] ^= 1;
            s.bytes_refused(&other, error);
        }
    }
    // Another epoch is another batch: too early for the key, or not over yet.
    let epoch = s.last_epoch();
    for (other, error) in [
        (epoch + 1, Error::CurrentEpoch),
        (epoch + 2, Error::FutureEpoch),
        (epoch | 1 << 63, Error::FutureEpoch),
        (epoch - 1, Error::KeyNotYetValid),
    ] {
        let other = BatchMessage { epoch: Epoch(other), ..s.right() };
        s.bytes_refused(&signed_bytes(&other), error);
    }
}

/// The first edition's L3: with a mint's key pair the same agent is made on another network.
#[test]
fn a_message_of_another_network_fails() {
    let mut s = Scene::landing();
    for network in [[0; 32], *b"genesis hash of another network."] {
        s.message_refused(&BatchMessage { network, ..s.right() }, Error::WrongNetwork);
    }
}

#[test]
fn what_is_stored_is_what_was_signed_and_nothing_else_ok() {
    // The instruction has no arguments: there is no copy that could differ.
    let mut s = Scene::landing();
    let epoch = s.last_epoch();
    for change in [
        |message: &mut BatchMessage| message.log_merkle_root = [1; 32],
        |message: &mut BatchMessage| message.log_len = 1,
        |message: &mut BatchMessage| message.batch_hash = [1; 32],
        |message: &mut BatchMessage| message.arrays_root = [1; 32],
        |message: &mut BatchMessage| message.arrays_len = 1,
    ] {
        let mut fork = s.fork();
        let mut message = fork.right();
        change(&mut message);
        fork.world.submit_message(&fork.agent, &fork.keys.batch, &message).unwrap();
        let batch = fork.batch(epoch);
        assert_eq!(batch.log_merkle_root, message.log_merkle_root);
        assert_eq!((batch.log_len, batch.arrays_len), (message.log_len, message.arrays_len));
        assert_eq!((batch.batch_hash, batch.arrays_root), (message.batch_hash, message.arrays_root));
    }
    // Arguments that somebody adds are read by nobody.
    let message = s.right();
    let [check, mut submit] = s.submission(&message);
    submit.data.extend([1; 8]);
    s.world.send_ok(&[check, submit], &s.owner, &[]);
    assert_eq!((s.batch(epoch).log_len, s.batch(epoch).batch_hash), (message.log_len, message.batch_hash));
}

#[test]
fn another_agents_message_fails_also_by_one_key_of_both() {
    let mut s = Scene::landing();
    let second = s.world.register_agent(&s.owner);
    s.world.open_tenure(&second, &s.owner).unwrap();
    s.world.add_key(&second, &s.owner, &s.keys.batch, Scopes::BATCH).unwrap();
    let of_second = BatchMessage { agent: second.mint.0, ..s.right() };
    s.bytes_refused(&signed_bytes(&of_second), Error::WrongAgent);
    // The second one's key account, of the same key, is not this agent's.
    let [check, submit] = s.submission(&s.right());
    let submit = with_account(submit, KEY, pda::key(&second.mint, &s.keys.batch.at()));
    s.owner_refused(&[check, submit], Error::WrongKey);
}

#[test]
fn a_stranger_as_signer_fails_also_when_it_pays() {
    let mut s = Scene::landing();
    let stranger = s.stranger.clone();
    s.signer_refused(&stranger, Error::AccountMissing);
    // With the account of the real key.
    let [check, _] = s.signed_by(&stranger);
    let submit = s.submit(&s.keys.batch.at());
    s.owner_refused(&[check.clone(), submit.clone()], Error::WrongSigner);
    let theirs = with_account(submit, 0, stranger.at());
    s.stranger_refused(&[check, theirs], Error::WrongSigner);
}

/// Off chain only keys that are listed count.
#[test]
fn the_holders_own_signature_lands_nothing_unless_its_wallet_is_listed() {
    let mut s = Scene::landing();
    let owner = s.owner.clone();
    s.signer_refused(&owner, Error::AccountMissing);
    s.world.add_key(&s.agent, &owner, &owner, Scopes::BATCH).unwrap();
    s.signer_refused(&owner, Error::KeyNotYetValid);
    for _ in 0..3 {
        s.next_day();
    }
    s.signer_ok(&owner);
}

#[test]
fn the_holder_as_payer_does_not_stand_in_for_a_keys_signature() {
    let mut s = Scene::landing();
    let key = s.world.new_keypair();
    s.signer_refused(&key, Error::AccountMissing);
}

#[test]
fn a_sponsor_pays_and_the_largest_transaction_fits_ok() {
    let mut s = Scene::landing();
    // Everything that a client may want: a compute limit, a sponsor as fee payer, another as rent payer.
    let payer = s.world.new_wallet(1);
    let [check, submit] = s.world.landing(&s.agent, &payer.pubkey(), &s.keys.batch, &s.right());
    let receipt = s.world.send_ok(&[compute_limit(200_000), check, submit], &s.stranger, &[&payer]);
    assert!(receipt.size <= MAX_TRANSACTION, "{} bytes", receipt.size);
    let account = s.batch(s.last_epoch());
    assert_eq!((account.signer, account.payer), (s.keys.batch.at().to_bytes(), payer.pubkey().to_bytes()));
}

#[test]
fn every_set_of_scopes_with_batch_lands_and_every_other_is_refused() {
    let mut s = Scene::opened();
    let keys: Vec<(u8, Key)> = (1..=15).map(|scopes| (scopes, Key(s.world.new_keypair()))).collect();
    for (scopes, key) in keys {
        let mut s = s.fork();
        s.world.add_key(&s.agent, &s.owner, &key, Scopes(scopes)).unwrap();
        s.world.lock_stake(&s.agent, &s.owner, MIN_STAKE).unwrap();
        s.world.pay_lease(&s.agent, &s.owner, 2).unwrap();
        s.world.open_head(&s.agent).unwrap();
        s.world.advance_epochs(1);
        if scopes & 2 == 2 {
            s.signer_ok(&key);
        } else {
            s.signer_refused(&key, Error::ScopeMissing);
        }
    }
}

/// The first edition's C2 in another form: who stole a key landed false batches for three days after its end.
#[test]
fn an_ended_key_lands_nothing_not_even_of_an_epoch_in_which_it_was_valid() {
    let mut s = Scene::landing();
    let key = s.keys.batch.clone();
    s.world.end_key(&s.agent, &s.owner, &key.at()).unwrap();
    // In the very slot of its end, for the epoch before.
    assert!(s.key(&key).until_epoch >= s.last_epoch());
    s.signer_refused(&key, Error::KeyEnded);
    s.next_day();
    s.signer_refused(&key, Error::KeyEnded);
    s.world.close_key(&s.agent, &key.at()).unwrap();
    s.signer_refused(&key, Error::AccountMissing);
}

/// One transaction of the wallet's, signed blindly, took half of the stake in the same block.
#[test]
fn a_key_that_a_thief_makes_the_holder_list_lands_nothing_before_its_notice_is_over() {
    let mut s = Scene::landing();
    let listed = s.world.epoch();
    let (thief, late) = (s.world.new_keypair(), s.world.new_keypair());
    s.world.add_key(&s.agent, &s.owner, &thief, Scopes::ALL).unwrap();
    s.world.add_key(&s.agent, &s.owner, &late, Scopes::ALL).unwrap();
    for _ in 0..3 {
        s.signer_refused(&thief, Error::KeyNotYetValid);
        s.next_day();
    }
    // From now on it would; the holder, who saw the event, has ended it.
    assert_eq!(s.last_epoch(), listed + 2);
    s.fork().signer_ok(&late);
    s.world.end_key(&s.agent, &s.owner, &thief.pubkey()).unwrap();
    s.signer_refused(&thief, Error::KeyEnded);
}

#[test]
fn after_a_sale_neither_the_former_holders_key_nor_anybodys_lands_before_the_take_over() {
    let mut s = Scene::landing();
    let (key, owner) = (s.keys.batch.clone(), s.owner.clone());
    let (agent, buyer) = s.sell();
    // With its own token account, which is empty.
    s.signer_refused(&key, Error::AgentNotHeld);
    s.agent = agent;
    for signer in [&key, &owner, &buyer] {
        s.signer_refused(signer, Error::NotTenureOwner);
    }
    s.world.take_over(&s.agent, &buyer).unwrap();
    s.signer_refused(&key, Error::FormerHoldersKey);
    s.signer_refused(&buyer, Error::AccountMissing);
}

/// The first edition's C2: one delegation that was ever seen was everybody's, and half of the stake with it.
#[test]
fn a_copied_sati_delegation_lands_nothing() {
    let mut s = Scene::landing();
    let thief = s.stranger.clone();
    let delegation = s.world.create_delegate(&s.owner, &thief.at(), &s.agent, 0);
    s.signer_refused(&thief, Error::AccountMissing);
    let [check, submit] = s.signed_by(&thief);
    s.owner_refused(&[check, with_account(submit, KEY, delegation)], Error::WrongAccountOwner);
}

#[test]
fn a_forged_key_account_fails() {
    let mut s = Scene::landing();
    let (thief, forged) = (s.stranger.clone(), s.world.new_keypair().pubkey());
    let mut data = s.world.data(&pda::key(&s.agent.mint, &s.keys.batch.at()));
    let at = 8 + std::mem::offset_of!(KeyAccount, key);
    data[at..at + 32].copy_from_slice(thief.at().as_ref());
    let [check, submit] = s.signed_by(&thief);
    let submit = with_account(submit, KEY, forged);
    for program in [[8; 32], ids::BEHAVIOR_LOG] {
        s.world.set_data(&forged, &Address::new_from_array(program), &data);
        s.owner_refused(&[check.clone(), submit.clone()], Error::WrongAccountOwner);
    }
    let tenure = s.world.data(&pda::tenure(&s.agent.mint));
    s.world.set_data(&forged, &address(ids::STAKE_LOCK), &tenure);
    s.owner_refused(&[check, submit], Error::WrongAccountType);
}

#[test]
fn any_token_account_that_holds_the_nft_serves_ok() {
    let mut s = Scene::landing();
    let (owner, key) = (s.owner.clone(), s.keys.batch.clone());
    s.agent = s.world.transfer_agent_aside(&s.agent, &owner, &owner.pubkey());
    s.signer_ok(&key);
}

#[test]
fn a_burned_agent_fails() {
    let mut s = Scene::landing();
    let key = s.keys.batch.clone();
    s.world.burn_agent(&s.agent, &s.owner);
    s.signer_refused(&key, Error::AgentNotHeld);
}

/// The first edition's M6: an owner that is a program's address has no Ed25519 key, and could land no batch.
#[test]
fn an_agent_whose_holder_is_an_address_of_a_program_lands_batches_by_its_keys_ok() {
    const CUSTODY: Address = Address::new_from_array([66; 32]);
    let mut s = Scene::registered();
    let (custodian, bump) = Address::find_program_address(&[b"custody"], &CUSTODY);
    assert!(!custodian.is_on_curve());
    s.world.set_lamports(&custodian, 10_000_000_000);
    s.world.fund_usdc(&custodian, 100_000_000);
    s.agent = s.world.transfer_agent(&s.agent, &s.owner, &custodian);
    s.world.ensure_vault(&s.agent);
    s.world.open_head(&s.agent).unwrap();
    // Its program signs for it.
    let open = stake_lock::open_tenure(&s.agent.addresses(), custodian);
    let open = through_another_program(&mut s.world, CUSTODY, &open, &[&[b"custody", &[bump]]]);
    s.world.send_ok(&[open], &s.stranger, &[]);
    // And here, where the call would be too long for that one, as far as the program can see.
    let key = s.keys.batch.clone();
    let calls = [
        s.world.adding_key(&s.agent, &custodian, &key.at(), Scopes::BATCH),
        s.world.locking(&s.agent, &custodian, 0, MIN_STAKE),
        s.world.paying_lease(&s.agent, &custodian, 2),
    ];
    for call in calls {
        send_unsigned(&mut s.world, &call).unwrap();
    }
    s.world.advance_epochs(1);
    s.signer_ok(&key);
    let owners = [s.tenure().owner, s.stake().owner, s.key(&key).owner];
    assert_eq!(owners, [custodian.to_bytes(); 3]);
}
