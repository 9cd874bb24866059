//! What is written once is used by both sides: the committed IDLs (made by Anchor from the programs), the
//! interface's discriminators and fields, and the client's account lists say the same.

#![allow(clippy::unwrap_used)]

use serde_json::Value;
use solana_address::Address;
use solana_instruction::Instruction;
use std::collections::BTreeMap;
use zx1_chain::instructions::challenge::{ChallengeAddresses, Money};
use zx1_chain::instructions::lease::LeasePayment;
use zx1_chain::instructions::stake_lock::ConfigAddresses;
use zx1_chain::instructions::{AgentAddresses, behavior_log, challenge, feedback_log, lease, stake_lock};
use zx1_chain::pda;
use zx1_interface::accounts::*;
use zx1_interface::instruction::{self as data, Instruction as Data};
use zx1_interface::{Error, Field, Layout, ids};
use zx1_protocol::amounts::Amounts;
use zx1_protocol::challenge::Ground;
use zx1_protocol::keys::Scopes;
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
            let cpi_only = ["take_rank", "take_deposit", "settle", "mark_withheld"].contains(&D::NAME);
            (*writable, *signer || (cpi_only && account["name"] == "challenge_authority"))
        })
        .collect();
    assert_eq!(metas, described_flags, "the accounts of {}", D::NAME);
    D::NAME.to_owned()
}

/// The agent of every instruction here.
fn agent() -> AgentAddresses {
    AgentAddresses { mint: address(1).into(), index: address(2), token: address(3) }
}

fn of_stake_lock(idls: &BTreeMap<[u8; 32], Value>) -> Vec<String> {
    let (agent, owner, usdc, key) = (agent(), address(4), address(5), address(6));
    let mint = agent.mint;
    let authority = pda::challenge_authority();
    let config = ConfigAddresses {
        usdc_mint: address(7),
        treasury: address(8),
        maintainer: address(9),
        registry: address(10),
        delegate_credential: address(11),
        delegate_schema: address(12),
        network: [13; 32],
        amounts: Amounts::DEFAULT,
    };
    let live: Vec<Address> = (20..28).map(address).collect();
    let deposit = data::TakeDeposit { agent_mint: mint.0, era: 1, amount: 1, what: 1 };
    let moves = data::Settle {
        agent_mint: mint.0,
        era: 1,
        from_deposits: 1,
        from_stake: 2,
        from_pot: 3,
        to_stake: 4,
        to_pot: 5,
        first: 6,
        second: 7,
        marks: 1,
    };
    vec![
        assert_instruction::<data::InitializeConfig>(idls, &stake_lock::initialize_config(owner, &config)),
        assert_instruction::<data::OpenVault>(idls, &stake_lock::open_vault(owner, config.usdc_mint, 1)),
        assert_instruction::<data::OpenTenure>(idls, &stake_lock::open_tenure(&agent, owner)),
        assert_instruction::<data::TakeOver>(idls, &stake_lock::take_over(&agent, owner, 1, &live)),
        assert_instruction::<data::AddKey>(idls, &stake_lock::add_key(&agent, owner, key, Scopes::BATCH, 1)),
        assert_instruction::<data::EndKey>(idls, &stake_lock::end_key(&agent, owner, key)),
        assert_instruction::<data::CloseKey>(idls, &stake_lock::close_key(mint, key, owner)),
        assert_instruction::<data::LockStake>(
            idls,
            &stake_lock::lock_stake(&agent, owner, usdc, 2, Some(1), MicroUsdc(1)),
        ),
        assert_instruction::<data::QueueUnlock>(idls, &stake_lock::queue_unlock(&agent, owner, 1)),
        assert_instruction::<data::CancelUnlock>(idls, &stake_lock::cancel_unlock(&agent, owner, 1)),
        assert_instruction::<data::ClaimStake>(idls, &stake_lock::claim_stake(&agent, owner, usdc, 1)),
        assert_instruction::<data::TakeRank>(idls, &stake_lock::take_rank(mint, authority, 1)),
        assert_instruction::<data::TakeDeposit>(
            idls,
            &stake_lock::take_deposit(authority, owner, usdc, &deposit),
        ),
        assert_instruction::<data::Settle>(idls, &stake_lock::settle(authority, usdc, address(14), &moves)),
    ]
}

fn of_lease_and_behavior_log(idls: &BTreeMap<[u8; 32], Value>) -> Vec<String> {
    let (agent, payer) = (agent(), address(4));
    let payment = LeasePayment {
        authority: payer,
        key: Some(address(5)),
        authority_usdc: address(6),
        treasury_usdc: address(7),
        epochs: 1,
    };
    let mark = behavior_log::mark_withheld(agent.mint, 1, pda::challenge_authority());
    vec![
        assert_instruction::<data::PayLease>(idls, &lease::pay_lease(&agent, &payment)),
        assert_instruction::<data::TickLease>(idls, &lease::tick_lease(agent.mint)),
        assert_instruction::<data::OpenHead>(idls, &behavior_log::open_head(&agent, payer)),
        assert_instruction::<data::SubmitBatch>(
            idls,
            &behavior_log::submit_batch(&agent, payer, address(5), 1, 2),
        ),
        assert_instruction::<data::CloseBatch>(idls, &behavior_log::close_batch(agent.mint, 1, 2, payer)),
        assert_instruction::<data::MarkWithheld>(idls, &mark),
    ]
}

fn of_challenge(idls: &BTreeMap<[u8; 32], Value>) -> Vec<String> {
    let (agent, who, usdc) = (agent().mint, address(4), address(5));
    let (account, batch) = (address(6), address(7));
    let money = Money { agent, era: 1, first: usdc, second: address(8) };
    let begin = data::BeginEvidence { nonce: 1, len: 2, agent_id: agent.0, era: 1, commit: [9; 32] };
    // The weak claim of a bid looks at where the strong one would be.
    let addresses = ChallengeAddresses {
        challenger: who,
        challenger_usdc: usdc,
        agent,
        epoch_number: 1,
        era: 1,
        ground: Ground::Bid,
        value_known: false,
        message: [10; 32],
        nonce: 1,
        replaced: Some(address(11)),
    };
    let answer = data::AnswerChallenge {
        leaf_index: 0,
        merkle_proof: vec![[0; 32]],
        bid_value: 0,
        attestation: [0; 32],
    };
    let (draft, leaf) = (Some(address(12)), vec![1, 2, 3]);
    let show = challenge::show_leaf(who, account, batch, draft, &money, leaf, vec![[0; 32]]);
    let cancel = challenge::cancel_evidence(who, 1, Some(address(13)), Some(address(14)));
    vec![
        assert_instruction::<data::BeginEvidence>(idls, &challenge::begin_evidence(who, &begin)),
        assert_instruction::<data::AppendEvidence>(idls, &challenge::append_evidence(who, 1, 0, vec![1])),
        assert_instruction::<data::SealEvidence>(
            idls,
            &challenge::seal_evidence(who, 1, Ground::Selection, batch, Some(address(15))),
        ),
        assert_instruction::<data::CancelEvidence>(idls, &cancel),
        assert_instruction::<data::SubmitChallenge>(idls, &challenge::submit_challenge(&addresses)),
        assert_instruction::<data::AnswerChallenge>(
            idls,
            &challenge::answer_challenge(who, account, batch, &money, &answer),
        ),
        assert_instruction::<data::ResolveChallenge>(idls, &challenge::resolve_challenge(account, &money)),
        assert_instruction::<data::CloseChallenge>(idls, &challenge::close_challenge(account, who, agent, 1)),
        assert_instruction::<data::PassRank>(idls, &challenge::pass_rank(account, agent, 1)),
        assert_instruction::<data::SettleEra>(idls, &challenge::settle_era(agent, 1, usdc)),
        assert_instruction::<data::AskLeaf>(idls, &challenge::ask_leaf(who, usdc, agent, 1, 1, 1, 2)),
        assert_instruction::<data::ShowLeaf>(idls, &show),
        assert_instruction::<data::SettleAsk>(idls, &challenge::settle_ask(account, agent, 1, &money)),
        assert_instruction::<data::CloseAsk>(idls, &challenge::close_ask(account, who)),
    ]
}

fn of_feedback_log(idls: &BTreeMap<[u8; 32], Value>) -> Vec<String> {
    let (payer, sender, other) = (address(4), address(5), address(6));
    vec![
        assert_instruction::<data::SubmitFeedback>(
            idls,
            &feedback_log::submit_feedback(payer, sender, 0, vec![b'a']),
        ),
        assert_instruction::<data::BeginDraft>(
            idls,
            &feedback_log::begin_draft(payer, sender, 0, 1, [0; 32]),
        ),
        assert_instruction::<data::AppendDraft>(idls, &feedback_log::append_draft(sender, 0, 0, vec![1])),
        assert_instruction::<data::SealDraft>(idls, &feedback_log::seal_draft(payer, sender, other, 0, 0)),
        assert_instruction::<data::CancelDraft>(idls, &feedback_log::cancel_draft(payer, sender, other, 0)),
        assert_instruction::<data::ResolveEntry>(
            idls,
            &feedback_log::resolve_entry(payer, 0, [0; 32], [0; 32]),
        ),
    ]
}

#[test]
fn every_instruction_of_the_client_is_the_one_in_the_idl() {
    let idls: BTreeMap<[u8; 32], Value> = PROGRAMS.iter().map(|(name, id)| (*id, idl(name))).collect();
    let mut checked =
        [of_stake_lock(&idls), of_lease_and_behavior_log(&idls), of_challenge(&idls), of_feedback_log(&idls)]
            .concat();
    checked.sort_unstable();
    checked.dedup();
    let all: usize = idls.values().map(|idl| idl["instructions"].as_array().unwrap().len()).sum();
    assert_eq!(checked.len(), all, "an instruction of an IDL has no builder");
    assert_eq!(all, 40);
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
    assert_layout::<TenureAccount>(&idls);
    assert_layout::<KeyAccount>(&idls);
    assert_layout::<StakeLockAccount>(&idls);
    assert_layout::<ShardAccount>(&idls);
    assert_layout::<LeaseAccount>(&idls);
    assert_layout::<HeadAccount>(&idls);
    assert_layout::<BatchAccount>(&idls);
    assert_layout::<ChallengeAccount>(&idls);
    assert_layout::<EvidenceDraft>(&idls);
    assert_layout::<AskAccount>(&idls);
    assert_layout::<FeedbackLogAccount>(&idls);
    assert_layout::<FeedbackEntry>(&idls);
    assert_layout::<FeedbackDraft>(&idls);
    assert_layout::<FeedbackResolution>(&idls);
    let all: usize = idls.values().map(|idl| idl["accounts"].as_array().unwrap().len()).sum();
    assert_eq!(all, 15, "an IDL lists an account that is not checked here");
}

/// Sizes decide rents and offsets decide what old accounts mean: a change must be meant.
#[test]
fn the_sizes_of_the_layouts_are_pinned() {
    let sizes = [
        (Config::NAME, Config::SIZE, 368),
        (TenureAccount::NAME, TenureAccount::SIZE, 112),
        (KeyAccount::NAME, KeyAccount::SIZE, 184),
        (StakeLockAccount::NAME, StakeLockAccount::SIZE, 184),
        (ShardAccount::NAME, ShardAccount::SIZE, 64),
        (LeaseAccount::NAME, LeaseAccount::SIZE, 80),
        (HeadAccount::NAME, HeadAccount::SIZE, 120),
        (BatchAccount::NAME, BatchAccount::SIZE, 248),
        (ChallengeAccount::NAME, ChallengeAccount::SIZE, 416),
        (EvidenceDraft::NAME, EvidenceDraft::SIZE, 392),
        (AskAccount::NAME, AskAccount::SIZE, 152),
        (FeedbackLogAccount::NAME, FeedbackLogAccount::SIZE, 72),
        (FeedbackEntry::NAME, FeedbackEntry::SIZE, 136),
        (FeedbackDraft::NAME, FeedbackDraft::SIZE, 144),
        (FeedbackResolution::NAME, FeedbackResolution::SIZE, 128),
    ];
    for (name, size, pinned) in sizes {
        assert_eq!(size, pinned, "{name}");
    }
}

fn assert_edition<T: Layout>() {
    let mut data = vec![0; T::SIZE];
    data[..8].copy_from_slice(&T::DISCRIMINATOR);
    assert_eq!(T::FIELDS.iter().filter(|field| field.name == "version").count(), 1, "{}", T::NAME);
    for version in [0, 1, 3, 255] {
        data[T::VERSION_AT] = version;
        assert!(T::read(&data).is_none(), "{} of version {version}", T::NAME);
    }
    data[T::VERSION_AT] = 2;
    assert!(T::read(&data).is_some(), "{}", T::NAME);
}

#[test]
fn no_layout_is_read_as_one_of_another_edition() {
    assert_edition::<Config>();
    assert_edition::<TenureAccount>();
    assert_edition::<KeyAccount>();
    assert_edition::<StakeLockAccount>();
    assert_edition::<ShardAccount>();
    assert_edition::<LeaseAccount>();
    assert_edition::<HeadAccount>();
    assert_edition::<BatchAccount>();
    assert_edition::<ChallengeAccount>();
    assert_edition::<EvidenceDraft>();
    assert_edition::<AskAccount>();
    assert_edition::<FeedbackLogAccount>();
    assert_edition::<FeedbackEntry>();
    assert_edition::<FeedbackDraft>();
    assert_edition::<FeedbackResolution>();
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
        assert!(error.message().ends_with('.') && error.message().len() >= 30, "{error:?}");
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
