//! The stand-in's attestations: feedback that both sides sign, and delegations at SAS.
#![allow(clippy::unwrap_used)] // A test fails by panicking, in its helpers too.

use solana_address::Address;
use solana_keypair::Keypair;
use solana_signer::Signer;
use zx1_chain::sati::{
    self, Attestation, ContentType, DelegateV1, Outcome, SasAttestation, SignatureMode, Storage,
    attestation_nonce, counterparty_message, interaction_hash,
};
use zx1_vm_tests::{
    Agent, Ed25519Entry, FEEDBACK_SCHEMA_NAME, World, ed25519_custom, ed25519_instruction, ed25519_pair,
    events,
};

const STORAGE_TYPE_MISMATCH: u32 = 6013;
const INVALID_DATA_LAYOUT: u32 = 6014;
const CONTENT_TOO_LARGE: u32 = 6017;
const SELF_ATTESTATION: u32 = 6018;
const AGENT_ATA_MISSING: u32 = 6019;
const AGENT_SIGNATURE_MISSING: u32 = 6020;
const COUNTERPARTY_SIGNATURE_MISSING: u32 = 6021;
const DUPLICATE_SIGNERS: u32 = 6022;
const ATTESTATION_EXISTS: u32 = 6023;
const ATTESTATION_NOT_CLOSEABLE: u32 = 6024;
const UNAUTHORIZED_CLOSE: u32 = 6025;
const AGENT_MINT_ACCOUNT_MISMATCH: u32 = 6038;

struct Scene {
    world: World,
    owner: Keypair,
    counterparty: Keypair,
    agent: Agent,
}

fn scene() -> Scene {
    let mut world = World::with_stand_ins();
    let (owner, counterparty) = (world.new_wallet(1), world.new_wallet(1));
    let agent = world.register_agent(&owner);
    world.schemas();
    Scene { world, owner, counterparty, agent }
}

impl Scene {
    fn subject(&self) -> Attestation {
        Attestation {
            task_ref: [3; 32],
            agent: self.agent.mint.into(),
            counterparty: self.counterparty.pubkey(),
            outcome: Outcome::Positive,
            data_hash: [4; 32],
            content_type: ContentType::Json,
            content: br#"{"value":100,"valueDecimals":0}"#.to_vec(),
        }
    }

    fn account(&mut self, subject: &Attestation) -> Address {
        let schema = self.world.schemas().feedback;
        let nonce = attestation_nonce(&subject.task_ref, &schema, &subject.agent, &subject.counterparty);
        sati::attestation_address(&schema, &subject.agent, &nonce).0
    }

    /// Expects a refusal of feedback with this subject, signed by both.
    #[track_caller]
    fn refused(&mut self, subject: &Attestation, code: u32) {
        let list = self.world.feedback_instructions(&self.agent, &self.owner, &self.counterparty, subject);
        let faucet = self.world.faucet.insecure_clone();
        self.world.send_refused(&list, &faucet, &[]).expect_code(code);
    }
}

#[test]
fn feedback_with_both_signatures_is_kept_and_announced() {
    let mut s = scene();
    let subject = s.subject();
    let list = s.world.feedback_instructions(&s.agent, &s.owner, &s.counterparty, &subject);
    let faucet = s.world.faucet.insecure_clone();
    let receipt = s.world.send_ok(&list, &faucet, &[]);
    let (at, schema) = (s.account(&subject), s.world.schemas().feedback);
    let kept = s.world.account(&at).unwrap();
    assert_eq!(kept.owner, sati::PROGRAM);
    let data = subject.encode();
    assert_eq!(kept.data[8..40], *schema.as_array());
    assert_eq!(kept.data[40..72], s.agent.mint.0);
    assert_eq!(kept.data[76..76 + data.len()], data);
    assert_eq!(kept.data[76 + data.len()], 2);
    let interaction = interaction_hash(&schema, &subject.task_ref, &subject.data_hash);
    assert_eq!(kept.data[77 + data.len()..141 + data.len()], zx1_vm_tests::sign(&s.owner, &interaction));
    let mut event = sati::event_discriminator::ATTESTATION_CREATED.to_vec();
    for part in [schema, s.agent.mint.into(), s.counterparty.pubkey()] {
        event.extend(part.to_bytes());
    }
    event.push(0);
    event.extend(at.to_bytes());
    assert_eq!(events(&receipt, &sati::PROGRAM), [event]);
}

#[test]
fn signatures_count_in_any_order_and_in_one_instruction() {
    let mut s = scene();
    let subject = s.subject();
    let [one, two, create] = s.world.feedback_instructions(&s.agent, &s.owner, &s.counterparty, &subject);
    let faucet = s.world.faucet.insecure_clone();
    let mut fork = s.world.clone();
    fork.send_ok(&[create.clone(), two, one], &faucet, &[]);
    let schema = s.world.schemas().feedback;
    let interaction = interaction_hash(&schema, &subject.task_ref, &subject.data_hash);
    let words = counterparty_message(FEEDBACK_SCHEMA_NAME, &subject);
    let pair = ed25519_pair((&s.counterparty, &words), (&s.owner, &interaction));
    s.world.send_ok(&[pair, create], &faucet, &[]);
}

#[test]
fn feedback_without_one_of_the_signatures_fails() {
    let mut s = scene();
    let subject = s.subject();
    let [one, two, create] = s.world.feedback_instructions(&s.agent, &s.owner, &s.counterparty, &subject);
    let faucet = s.world.faucet.insecure_clone();
    let without_owner = s.world.send_refused(&[two.clone(), create.clone()], &faucet, &[]);
    without_owner.expect_code(AGENT_SIGNATURE_MISSING);
    let without_other = s.world.send_refused(&[one.clone(), create.clone()], &faucet, &[]);
    without_other.expect_code(COUNTERPARTY_SIGNATURE_MISSING);
    // The right words by another wallet, and the right wallet with other words.
    let schema = s.world.schemas().feedback;
    let stranger = s.world.new_keypair();
    let words = counterparty_message(FEEDBACK_SCHEMA_NAME, &subject);
    for wrong in [
        ed25519_instruction(&stranger, &words),
        ed25519_instruction(&s.counterparty, &counterparty_message("Feedback", &subject)),
    ] {
        let failure = s.world.send_refused(&[one.clone(), wrong, create.clone()], &faucet, &[]);
        failure.expect_code(COUNTERPARTY_SIGNATURE_MISSING);
    }
    let interaction = interaction_hash(&schema, &[9; 32], &subject.data_hash);
    let wrong = ed25519_instruction(&s.owner, &interaction);
    let failure = s.world.send_refused(&[wrong, two, create], &faucet, &[]);
    failure.expect_code(AGENT_SIGNATURE_MISSING);
}

#[test]
fn a_signature_that_points_into_another_instruction_does_not_count() {
    let mut s = scene();
    let subject = s.subject();
    let [one, _, create] = s.world.feedback_instructions(&s.agent, &s.owner, &s.counterparty, &subject);
    let stranger = s.world.new_keypair();
    // The precompile checks the stranger's signature in instruction 0; the bytes that a careless reader
    // would take for checked ones are the owner's key and message with a made-up signature.
    let real = ed25519_instruction(&stranger, &[1; 32]);
    let entry = Ed25519Entry {
        signature_instruction: 0,
        key_instruction: 0,
        message_instruction: 0,
        ..Ed25519Entry::own(16, 32)
    };
    let mut payload = one.data[16..].to_vec();
    payload[32..96].fill(0);
    let forged = ed25519_custom(&[entry], &payload);
    let faucet = s.world.faucet.insecure_clone();
    // The counterparty's words do not fit in as well; the owner's signature is looked for first.
    let failure = s.world.send_refused(&[real, forged, create], &faucet, &[]);
    failure.expect_code(AGENT_SIGNATURE_MISSING);
}

#[test]
fn one_key_cannot_be_both_sides() {
    let mut s = scene();
    let subject = Attestation { counterparty: s.owner.pubkey(), ..s.subject() };
    let owner = s.owner.insecure_clone();
    let list = s.world.feedback_instructions(&s.agent, &owner, &owner, &subject);
    let faucet = s.world.faucet.insecure_clone();
    s.world.send_refused(&list, &faucet, &[]).expect_code(DUPLICATE_SIGNERS);
}

#[test]
fn the_same_feedback_twice_fails_and_another_task_does_not() {
    let mut s = scene();
    let subject = s.subject();
    let list = s.world.feedback_instructions(&s.agent, &s.owner, &s.counterparty, &subject);
    let faucet = s.world.faucet.insecure_clone();
    s.world.send_ok(&list, &faucet, &[]);
    s.refused(&subject, ATTESTATION_EXISTS);
    // Neither does another outcome for the same task open a second place.
    s.refused(&Attestation { outcome: Outcome::Negative, ..subject.clone() }, ATTESTATION_EXISTS);
    let next = Attestation { task_ref: [8; 32], ..subject };
    let list = s.world.feedback_instructions(&s.agent, &s.owner, &s.counterparty, &next);
    s.world.send_ok(&list, &faucet, &[]);
}

#[test]
fn malformed_feedback_fails() {
    let mut s = scene();
    let subject = s.subject();
    s.refused(&Attestation { content: vec![b'x'; 71], ..subject.clone() }, CONTENT_TOO_LARGE);
    let itself = Attestation { counterparty: s.agent.mint.into(), ..subject.clone() };
    s.refused(&itself, SELF_ATTESTATION);
    let list = s.world.feedback_instructions(&s.agent, &s.owner, &s.counterparty, &subject);
    let faucet = s.world.faucet.insecure_clone();
    for (at, code) in [(12, INVALID_DATA_LAYOUT), (12 + 97, 6015), (12 + 130, 6016)] {
        let mut bad = list.clone();
        bad[2].data[at] = 9;
        s.world.send_refused(&bad, &faucet, &[]).expect_code(code);
    }
    let mut short = list.clone();
    short[2].data[8..12].copy_from_slice(&130u32.to_le_bytes());
    s.world.send_refused(&short, &faucet, &[]).expect_code(INVALID_DATA_LAYOUT);
    let mut other_mint = list.clone();
    other_mint[2].accounts[5].pubkey = s.owner.pubkey();
    s.world.send_refused(&other_mint, &faucet, &[]).expect_code(AGENT_MINT_ACCOUNT_MISMATCH);
}

#[test]
fn only_the_present_owner_can_agree_to_feedback() {
    let mut s = scene();
    let subject = s.subject();
    let list = s.world.feedback_instructions(&s.agent, &s.owner, &s.counterparty, &subject);
    let buyer = s.world.new_wallet(1);
    let moved = s.world.transfer_agent(&s.agent, &s.owner, &buyer.pubkey());
    let faucet = s.world.faucet.insecure_clone();
    s.world.send_refused(&list, &faucet, &[]).expect_code(AGENT_ATA_MISSING);
    let old_signer = s.world.feedback_instructions(&moved, &s.owner, &s.counterparty, &subject);
    s.world.send_refused(&old_signer, &faucet, &[]).expect_code(AGENT_SIGNATURE_MISSING);
    let right = s.world.feedback_instructions(&moved, &buyer, &s.counterparty, &subject);
    s.world.send_ok(&right, &faucet, &[]);
}

#[test]
fn feedback_is_not_closeable() {
    let mut s = scene();
    let subject = s.subject();
    let list = s.world.feedback_instructions(&s.agent, &s.owner, &s.counterparty, &subject);
    let faucet = s.world.faucet.insecure_clone();
    s.world.send_ok(&list, &faucet, &[]);
    let schema = s.world.schemas().feedback;
    let nonce = attestation_nonce(&subject.task_ref, &schema, &subject.agent, &subject.counterparty);
    let actors = s.world.actors(&s.agent, schema);
    let close =
        sati::close_compressed_attestation(&actors, &s.counterparty.pubkey(), &s.agent.mint.into(), &nonce);
    let failure = s.world.send_refused(&[close], &s.counterparty, &[]);
    failure.expect_code(ATTESTATION_NOT_CLOSEABLE);
}

#[test]
fn a_delegation_is_an_account_of_sas_with_the_real_layout() {
    let mut s = scene();
    let delegate = s.world.new_keypair().pubkey();
    let at = s.world.create_delegate(&s.owner, &delegate, &s.agent, 1_800_000_000);
    let schemas = s.world.schemas();
    let account = s.world.account(&at).unwrap();
    assert_eq!((account.owner, account.lamports), (sati::SAS, s.world.rent(account.data.len())));
    let found = SasAttestation::decode(&account.data).unwrap();
    assert_eq!((found.credential, found.schema), (schemas.credential, schemas.delegate));
    assert_eq!((found.expiry, found.token_account), (1_800_000_000, Address::default()));
    assert_eq!(found.signer, sati::attestation_authority().0);
    let expected = DelegateV1 { agent: s.agent.mint.into(), delegate, delegator: s.owner.pubkey() };
    // SAS keeps the content with its length: 131 bytes and an empty content are 135.
    assert_eq!(found.data.len(), 135);
    assert_eq!(DelegateV1::decode(&found.data), Some(expected));
    let data = &account.data;
    assert_eq!((data[0], &data[101 + 33..101 + 65]), (2, &s.agent.mint.0[..]));
    assert_eq!(data[101 + 65..101 + 97], delegate.to_bytes());
    assert_eq!(data[101 + 98..101 + 130], s.owner.pubkey().to_bytes());
}

#[test]
fn a_delegation_is_made_once_and_by_the_owner_only() {
    let mut s = scene();
    let delegate = s.world.new_keypair().pubkey();
    let stranger = s.world.new_wallet(1);
    let by_stranger = s.world.delegate_instructions(&stranger, &delegate, &s.agent, 0);
    let faucet = s.world.faucet.insecure_clone();
    s.world.send_refused(&by_stranger, &faucet, &[]).expect_code(AGENT_SIGNATURE_MISSING);
    s.world.create_delegate(&s.owner, &delegate, &s.agent, 0);
    let again = s.world.delegate_instructions(&s.owner, &delegate, &s.agent, 5);
    s.world.send_refused(&again, &faucet, &[]).expect_code(ATTESTATION_EXISTS);
    let another = s.world.new_keypair().pubkey();
    s.world.create_delegate(&s.owner, &another, &s.agent, 0);
}

#[test]
fn a_delegation_is_closed_by_the_owner_or_the_delegate() {
    let mut s = scene();
    let delegate = s.world.new_wallet(1);
    let at = s.world.create_delegate(&s.owner, &delegate.pubkey(), &s.agent, 0);
    let stranger = s.world.new_wallet(1);
    let before = s.world.data(&at);
    let failure = s.world.close_delegate(&stranger, &delegate.pubkey(), &s.agent).unwrap_err();
    failure.expect_code(UNAUTHORIZED_CLOSE);
    assert_eq!(s.world.data(&at), before);
    let mut fork = s.world.clone();
    let receipt = fork.close_delegate(&s.owner, &delegate.pubkey(), &s.agent).unwrap();
    assert!(fork.account(&at).is_none());
    let event = &events(&receipt, &sati::PROGRAM)[0];
    assert_eq!(event[..8], sati::event_discriminator::ATTESTATION_CLOSED);
    s.world.close_delegate(&delegate, &delegate.pubkey(), &s.agent).unwrap();
    assert!(s.world.account(&at).is_none());
    // And it can be made again.
    assert_eq!(s.world.create_delegate(&s.owner, &delegate.pubkey(), &s.agent, 7), at);
}

#[test]
fn a_schema_keeps_its_attestations_in_one_place_only() {
    let mut s = scene();
    let subject = s.subject();
    let actors = s.world.actors(&s.agent, s.world.clone().schemas().feedback);
    let nonce = [0; 32];
    let faucet = s.world.faucet.insecure_clone();
    let regular = sati::create_regular_attestation(&actors, &subject, &nonce, 0);
    s.world.send_refused(&[regular], &faucet, &[]).expect_code(STORAGE_TYPE_MISMATCH);
}

#[test]
fn sas_obeys_nobody_but_sati() {
    let mut s = scene();
    let stranger = s.world.new_wallet(1);
    let schemas = s.world.schemas();
    let nonce = [6; 32];
    let at = sati::sas_attestation_address(&schemas.credential, &schemas.delegate, &nonce).0;
    let mut direct = sati::initialize(&stranger.pubkey(), &at);
    direct.program_id = sati::SAS;
    direct.data = [&[6][..], &nonce, &0u32.to_le_bytes(), &[0; 8]].concat();
    let [payer, _, write, system] = <[_; 4]>::try_from(direct.accounts).unwrap();
    let read = |address| solana_instruction::AccountMeta::new_readonly(address, false);
    let others = [read(schemas.credential), read(schemas.delegate), write, system];
    // SATI's address without its signature, and a signature that is not SATI's.
    for authority in [read(sati::attestation_authority().0), payer.clone()] {
        direct.accounts = [&[payer.clone(), authority][..], &others].concat();
        s.world.send_refused(std::slice::from_ref(&direct), &stranger, &[]);
    }
}

#[test]
fn a_closeable_compressed_attestation_is_closed_by_its_counterparty() {
    let mut s = scene();
    let (authority, schema) = (s.world.registry_authority(), Address::new_from_array([9; 32]));
    let key = authority.pubkey();
    let register = sati::register_schema_config(
        &key,
        &key,
        &schema,
        SignatureMode::Counterparty,
        Storage::Compressed,
        None,
        (true, "Open"),
    );
    s.world.send_ok(&[register], &authority, &[]);
    // Without the owner's signature content may be longer than 70 bytes.
    let subject = Attestation { content: vec![b'x'; 90], ..s.subject() };
    let nonce = attestation_nonce(&subject.task_ref, &schema, &subject.agent, &subject.counterparty);
    let at = sati::attestation_address(&schema, &subject.agent, &nonce).0;
    let actors = s.world.actors(&s.agent, schema);
    let faucet = s.world.faucet.insecure_clone();
    let signed = ed25519_instruction(&s.counterparty, &counterparty_message("Open", &subject));
    let create = sati::create_compressed_attestation(&actors, &subject, &nonce);
    s.world.send_ok(&[signed, create], &faucet, &[]);
    let close =
        |by: &Keypair| sati::close_compressed_attestation(&actors, &by.pubkey(), &subject.agent, &nonce);
    let (by_owner, by_counterparty) = (close(&s.owner), close(&s.counterparty));
    s.world.send_refused(&[by_owner], &s.owner, &[]).expect_code(UNAUTHORIZED_CLOSE);
    let receipt = s.world.send_ok(&[by_counterparty], &s.counterparty, &[]);
    assert!(s.world.account(&at).is_none());
    assert_eq!(events(&receipt, &sati::PROGRAM).len(), 1);
}
