//! What is written once is used by both sides: the committed IDLs (made by Anchor from the programs), the
//! interface's discriminators and fields, and the client's account lists say the same.

#![allow(clippy::unwrap_used)]

use serde_json::Value;
use solana_address::Address;
use solana_instruction::Instruction;
use std::collections::BTreeMap;
use zx1_chain::instructions::challenge::{ChallengeAddresses, EvidenceSource};
use zx1_chain::instructions::lease::LeasePayment;
use zx1_chain::instructions::stake_lock::ConfigAddresses;
use zx1_chain::instructions::{AgentAddresses, behavior_log, challenge, feedback_log, lease, stake_lock};
use zx1_chain::pda;
use zx1_interface::accounts::*;
use zx1_interface::instruction::{self as data, Instruction as Data};
use zx1_interface::{Error, Field, Layout, ids};
use zx1_protocol::units::MicroUsdc;

const PROGRAMS: [(&str, [u8; 32]); 5] = [
    ("stake_lock", ids::STAKE_LOCK),
    ("lease", ids::LEASE),
    ("behavior_log", ids::BEHAVIOR_LOG),
    ("challenge", ids::CHALLENGE),
    ("feedback_log", ids::FEEDBACK_LOG),
];

fn repository() -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn idl(name: &str) -> Value {
    let file = repository().join(format!("programs/idl/zx1_{name}.json"));
    serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap()
}

fn bytes(value: &Value) -> Vec<u8> {
    value.as_array().unwrap().iter().map(|byte| u8::try_from(byte.as_u64().unwrap()).unwrap()).collect()
}

fn named<'a>(list: &'a Value, name: &str) -> &'a Value {
    list.as_array()
        .unwrap()
        .iter()
        .find(|item| item["name"] == name)
        .unwrap_or_else(|| panic!("the IDL lacks {name}"))
}

fn type_of(field: &Field) -> Value {
    serde_json::from_str(field.idl_type).unwrap()
}

fn address(byte: u8) -> Address {
    Address::new_from_array([byte; 32])
}

fn assert_instruction<D: Data>(idls: &BTreeMap<[u8; 32], Value>, built: &Instruction) -> String {
    let described = named(&idls[&D::PROGRAM]["instructions"], D::NAME);
    assert_eq!(bytes(&described["discriminator"]), D::DISCRIMINATOR, "{}", D::NAME);
    assert_eq!(built.program_id.to_bytes(), D::PROGRAM, "{}", D::NAME);
    assert_eq!(built.data[..8], D::DISCRIMINATOR, "{}", D::NAME);
    let arguments: Vec<(String, Value)> = described["args"]
        .as_array()
        .unwrap()
        .iter()
        .map(|argument| (argument["name"].as_str().unwrap().to_owned(), argument["type"].clone()))
        .collect();
    let written: Vec<(String, Value)> =
        D::FIELDS.iter().map(|field| (field.name.to_owned(), type_of(field))).collect();
    assert_eq!(arguments, written, "the arguments of {}", D::NAME);
    let flags: Vec<(bool, bool)> = described["accounts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|account| {
            let flag = |name: &str| account.get(name).is_some_and(|value| value == true);
            (flag("writable"), flag("signer"))
        })
        .collect();
    let metas: Vec<(bool, bool)> =
        built.accounts.iter().map(|meta| (meta.is_writable, meta.is_signer)).collect();
    // Only Challenge's authority signs without being named a signer: it may be unsigned, and is refused then.
    let described_flags: Vec<(bool, bool)> = flags
        .iter()
        .zip(described["accounts"].as_array().unwrap())
        .map(|((writable, signer), account)| {
            let cpi_only = ["slash", "open_challenge", "settle_challenge"].contains(&D::NAME);
            (*writable, *signer || (cpi_only && account["name"] == "challenge_authority"))
        })
        .collect();
    assert_eq!(metas, described_flags, "the accounts of {}", D::NAME);
    D::NAME.to_owned()
}

#[test]
fn every_instruction_of_the_client_is_the_one_in_the_idl() {
    let idls: BTreeMap<[u8; 32], Value> = PROGRAMS.iter().map(|(name, id)| (*id, idl(name))).collect();
    let agent = AgentAddresses { mint: address(1).into(), index: address(2), token: address(3) };
    let (owner, usdc, mint) = (address(4), address(5), address(6));
    let config = ConfigAddresses {
        usdc_mint: mint,
        treasury: address(7),
        maintainer: address(8),
        registry: address(9),
        delegate_credential: address(10),
        delegate_schema: address(11),
    };
    let payment = LeasePayment {
        authority: owner,
        delegation: Some(address(12)),
        authority_usdc: usdc,
        treasury_usdc: address(13),
        epochs: 1,
    };
    let batch = data::SubmitBatch {
        agent_id: [1; 32],
        epoch_number: 1,
        log_merkle_root: [0; 32],
        log_len: 0,
        batch_hash: [0; 32],
        arrays_root: [0; 32],
        arrays_len: 0,
    };
    let addresses = ChallengeAddresses {
        challenger: owner,
        challenger_usdc: usdc,
        usdc_mint: mint,
        agent: agent.mint,
        epoch_number: 1,
        ground: 1,
        claim: [0; 32],
    };
    let source = EvidenceSource::Envelope {
        record: address(14),
        agent_token: Some(agent.token),
        delegation: Some(address(15)),
    };
    let answer = data::AnswerChallenge {
        leaf_index: 0,
        merkle_proof: vec![[0; 32]],
        bid_value: 0,
        attestation: [0; 32],
    };
    let authority = pda::challenge_authority();
    let checked = [
        assert_instruction::<data::InitializeConfig>(&idls, &stake_lock::initialize_config(owner, &config)),
        assert_instruction::<data::LockStake>(
            &idls,
            &stake_lock::lock_stake(&agent, owner, mint, usdc, MicroUsdc(1)),
        ),
        assert_instruction::<data::QueueUnlock>(&idls, &stake_lock::queue_unlock(&agent, owner)),
        assert_instruction::<data::CancelUnlock>(&idls, &stake_lock::cancel_unlock(&agent, owner)),
        assert_instruction::<data::ClaimStake>(&idls, &stake_lock::claim_stake(&agent, owner, usdc)),
        assert_instruction::<data::Slash>(
            &idls,
            &stake_lock::slash(agent.mint, authority, usdc, MicroUsdc(1)),
        ),
        assert_instruction::<data::OpenChallenge>(&idls, &stake_lock::open_challenge(agent.mint, authority)),
        assert_instruction::<data::SettleChallenge>(
            &idls,
            &stake_lock::settle_challenge(agent.mint, authority),
        ),
        assert_instruction::<data::PayLease>(&idls, &lease::pay_lease(&agent, &payment)),
        assert_instruction::<data::TickLease>(&idls, &lease::tick_lease(agent.mint)),
        assert_instruction::<data::SubmitBatch>(
            &idls,
            &behavior_log::submit_batch(&agent, owner, Some(address(12)), &batch),
        ),
        assert_instruction::<data::CloseBatch>(&idls, &behavior_log::close_batch(agent.mint, 1, owner)),
        assert_instruction::<data::SubmitChallenge>(&idls, &challenge::submit_challenge(&addresses, &source)),
        assert_instruction::<data::RecordEnvelope>(&idls, &challenge::record_envelope(owner, 1, 0)),
        assert_instruction::<data::DiscardEnvelope>(&idls, &challenge::discard_envelope(owner, 0)),
        assert_instruction::<data::BeginEvidence>(&idls, &challenge::begin_evidence(owner, 0, 1)),
        assert_instruction::<data::AppendEvidence>(&idls, &challenge::append_evidence(owner, 0, 0, vec![1])),
        assert_instruction::<data::CancelEvidence>(&idls, &challenge::cancel_evidence(owner, 0)),
        assert_instruction::<data::AnswerChallenge>(
            &idls,
            &challenge::answer_challenge(owner, address(16), address(17), &answer),
        ),
        assert_instruction::<data::ResolveChallenge>(&idls, &challenge::resolve_challenge(&addresses, usdc)),
        assert_instruction::<data::CloseChallenge>(&idls, &challenge::close_challenge(address(16), owner)),
        assert_instruction::<data::SubmitFeedback>(
            &idls,
            &feedback_log::submit_feedback(owner, address(18), 0, vec![b'a']),
        ),
        assert_instruction::<data::BeginDraft>(
            &idls,
            &feedback_log::begin_draft(owner, address(18), 0, 1, [0; 32]),
        ),
        assert_instruction::<data::AppendDraft>(&idls, &feedback_log::append_draft(owner, 0, 0, vec![1])),
        assert_instruction::<data::SealDraft>(
            &idls,
            &feedback_log::seal_draft(owner, address(18), address(19), 0, 0),
        ),
        assert_instruction::<data::CancelDraft>(
            &idls,
            &feedback_log::cancel_draft(owner, address(18), address(19), 0),
        ),
        assert_instruction::<data::ResolveEntry>(
            &idls,
            &feedback_log::resolve_entry(owner, 0, [0; 32], [0; 32]),
        ),
    ];
    let all: usize = idls.values().map(|idl| idl["instructions"].as_array().unwrap().len()).sum();
    assert_eq!(checked.len(), all, "an instruction of an IDL has no builder");
}

fn assert_layout<T: Layout>(idls: &BTreeMap<[u8; 32], Value>) {
    let idl = &idls[&T::PROGRAM];
    assert_eq!(bytes(&named(&idl["accounts"], T::NAME)["discriminator"]), T::DISCRIMINATOR, "{}", T::NAME);
    let described = named(&idl["types"], T::NAME)["type"]["fields"].as_array().unwrap();
    let names: Vec<&str> = described.iter().map(|field| field["name"].as_str().unwrap()).collect();
    assert_eq!(names, T::FIELDS.iter().map(|field| field.name).collect::<Vec<_>>(), "{}", T::NAME);
}

#[test]
fn every_account_layout_is_in_its_programs_idl() {
    let idls: BTreeMap<[u8; 32], Value> = PROGRAMS.iter().map(|(name, id)| (*id, idl(name))).collect();
    assert_layout::<Config>(&idls);
    assert_layout::<StakeLockAccount>(&idls);
    assert_layout::<LeaseAccount>(&idls);
    assert_layout::<HeadAccount>(&idls);
    assert_layout::<BatchAccount>(&idls);
    assert_layout::<ChallengeAccount>(&idls);
    assert_layout::<EvidenceDraft>(&idls);
    assert_layout::<RecordedEnvelope>(&idls);
    assert_layout::<FeedbackLogAccount>(&idls);
    assert_layout::<FeedbackEntry>(&idls);
    assert_layout::<FeedbackDraft>(&idls);
    assert_layout::<FeedbackResolution>(&idls);
    let all: usize = idls.values().map(|idl| idl["accounts"].as_array().unwrap().len()).sum();
    assert_eq!(all, 12, "an IDL lists an account that is not checked here");
}

/// Sizes decide rents and offsets decide what old accounts mean: a change must be meant.
#[test]
fn the_sizes_of_the_layouts_are_pinned() {
    let sizes = [
        (Config::NAME, Config::SIZE, 256),
        (StakeLockAccount::NAME, StakeLockAccount::SIZE, 128),
        (LeaseAccount::NAME, LeaseAccount::SIZE, 80),
        (HeadAccount::NAME, HeadAccount::SIZE, 120),
        (BatchAccount::NAME, BatchAccount::SIZE, 240),
        (ChallengeAccount::NAME, ChallengeAccount::SIZE, 336),
        (EvidenceDraft::NAME, EvidenceDraft::SIZE, 80),
        (RecordedEnvelope::NAME, RecordedEnvelope::SIZE, 264),
        (FeedbackLogAccount::NAME, FeedbackLogAccount::SIZE, 72),
        (FeedbackEntry::NAME, FeedbackEntry::SIZE, 136),
        (FeedbackDraft::NAME, FeedbackDraft::SIZE, 144),
        (FeedbackResolution::NAME, FeedbackResolution::SIZE, 128),
    ];
    for (name, size, pinned) in sizes {
        assert_eq!(size, pinned, "{name}");
    }
}

#[test]
fn every_refusal_is_in_every_idl_with_its_number_and_sentence() {
    for (name, _) in PROGRAMS {
        let described = idl(name);
        let errors = described["errors"].as_array().unwrap();
        assert_eq!(errors.len(), Error::ALL.len(), "{name}");
        for error in Error::ALL {
            let entry = named(&described["errors"], error.name());
            assert_eq!(entry["code"], error.code());
            assert_eq!(entry["msg"], error.message());
        }
    }
}

#[test]
fn refusals_have_distinct_ascending_numbers_and_are_sentences_that_can_be_found_by_number() {
    assert!(Error::ALL.windows(2).all(|pair| pair[0].code() < pair[1].code()));
    for error in Error::ALL {
        assert!(error.code() >= 6000, "{error:?}");
        assert!(error.message().ends_with('.') && error.message().len() > 30, "{error:?}");
        assert_eq!(Error::from_code(error.code()), Some(*error));
    }
    assert_eq!(Error::from_code(5999), None);
    assert_eq!(Error::LeaseNotDeactivated.code(), 6012);
}

#[test]
fn the_program_ids_agree_in_the_interface_the_sources_the_idls_and_anchor_toml() {
    let anchor = std::fs::read_to_string(repository().join("Anchor.toml")).unwrap();
    for (name, id) in PROGRAMS {
        let written = Address::new_from_array(id).to_string();
        let source = repository().join(format!("programs/{}/src/lib.rs", name.replace('_', "-")));
        let declared = format!("declare_id!(\"{written}\");");
        assert!(std::fs::read_to_string(source).unwrap().contains(&declared), "{name} declares another id");
        assert_eq!(idl(name)["address"], Value::String(written.clone()), "{name}'s IDL");
        assert!(anchor.contains(&format!("zx1_{name} = \"{written}\"")), "{name} in Anchor.toml");
    }
}

#[test]
fn the_derived_addresses_are_those_that_solana_derives() {
    use zx1_interface::{pda as derived, seeds};
    let check = |constant: derived::Derived, seed: &[u8], program: [u8; 32]| {
        let (address, bump) = Address::find_program_address(&[seed], &Address::new_from_array(program));
        assert_eq!((constant.address, constant.bump, constant.program), (address.to_bytes(), bump, program));
    };
    check(derived::CONFIG, seeds::CONFIG, ids::STAKE_LOCK);
    check(derived::CHALLENGE_AUTHORITY, seeds::AUTHORITY, ids::CHALLENGE);
    check(derived::FEEDBACK_LOG, seeds::FEEDBACK_LOG, ids::FEEDBACK_LOG);
    check(derived::SATI_REGISTRY, seeds::SATI_REGISTRY, ids::SATI);
    check(derived::STAKE_LOCK_EVENTS, seeds::EVENT_AUTHORITY, ids::STAKE_LOCK);
    check(derived::LEASE_EVENTS, seeds::EVENT_AUTHORITY, ids::LEASE);
    check(derived::BEHAVIOR_LOG_EVENTS, seeds::EVENT_AUTHORITY, ids::BEHAVIOR_LOG);
    check(derived::CHALLENGE_EVENTS, seeds::EVENT_AUTHORITY, ids::CHALLENGE);
    check(derived::FEEDBACK_LOG_EVENTS, seeds::EVENT_AUTHORITY, ids::FEEDBACK_LOG);
}
