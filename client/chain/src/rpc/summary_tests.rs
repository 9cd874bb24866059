#![allow(clippy::unwrap_used)]
use super::*;
use crate::instructions::challenge::{ChallengeAddresses, EvidenceSource};
use crate::instructions::lease::LeasePayment;
use crate::instructions::stake_lock::ConfigAddresses;
use crate::instructions::{AgentAddresses, behavior_log, challenge, feedback_log, lease, stake_lock};
use crate::rpc::draft::ed25519;
use crate::rpc::idl;
use crate::rpc::message::writable;
use crate::rpc::moves::Call;
use crate::rpc::sizes::{MAX_TRANSACTION, compile, fits, transaction_size};
use crate::sati::{
    self as sati_builders, Actors, Attestation, ContentType, DelegateV1, NewAgent, Outcome, RegisterAgent,
};
use crate::token;
use proptest::prelude::*;
use solana_instruction::{AccountMeta, Instruction};
use solana_message::AddressLookupTableAccount;
use zx1_interface::instruction::{AnswerChallenge, SubmitBatch};
use zx1_protocol::batch::batch_message;
use zx1_protocol::ids::AgentId;
use zx1_protocol::units::{Epoch, MicroUsdc};

fn at(byte: u8) -> Address {
    Address::new_from_array([byte; 32])
}

fn agent() -> AgentAddresses {
    AgentAddresses { mint: AgentId([1; 32]), index: at(2), token: at(3) }
}

fn batch() -> SubmitBatch {
    SubmitBatch {
        agent_id: [1; 32],
        epoch_number: 20_000,
        log_merkle_root: [4; 32],
        log_len: 9,
        batch_hash: [5; 32],
        arrays_root: [6; 32],
        arrays_len: 3,
    }
}

fn addresses() -> ChallengeAddresses {
    ChallengeAddresses {
        challenger: at(9),
        challenger_usdc: at(10),
        usdc_mint: at(11),
        agent: AgentId([1; 32]),
        epoch_number: 20_000,
        ground: 1,
        claim: [7; 32],
    }
}

fn answer(depth: usize) -> AnswerChallenge {
    AnswerChallenge { leaf_index: 4, merkle_proof: vec![[1; 32]; depth], bid_value: 3, attestation: [0; 32] }
}

fn words_of(instruction: &Instruction) -> Line {
    line(&Call {
        program: instruction.program_id,
        accounts: instruction.accounts.iter().map(|meta| meta.pubkey).collect(),
        data: instruction.data.clone(),
    })
}

fn delegation() -> Attestation {
    DelegateV1 { agent: at(1), delegate: at(2), delegator: at(9) }.attestation()
}

fn rating() -> Attestation {
    Attestation {
        task_ref: [3; 32],
        agent: at(1),
        counterparty: at(9),
        outcome: Outcome::Positive,
        data_hash: [4; 32],
        content_type: ContentType::Json,
        content: b"{\"score\":90}".to_vec(),
    }
}

/// One of every builder, and a word that its line must hold.
fn every_instruction() -> Vec<(Instruction, &'static str)> {
    let payment = LeasePayment {
        authority: at(9),
        delegation: None,
        authority_usdc: at(10),
        treasury_usdc: at(12),
        epochs: 7,
    };
    let config = ConfigAddresses {
        usdc_mint: at(11),
        treasury: at(12),
        maintainer: at(13),
        registry: at(14),
        delegate_credential: at(15),
        delegate_schema: at(16),
    };
    let actors = Actors { payer: at(9), sas_schema: at(16), agent_token_account: at(3), credential: at(15) };
    let register =
        RegisterAgent { payer: at(9), owner: at(8), group_mint: at(17), agent_mint: at(1), member_number: 5 };
    let named =
        NewAgent { name: "Ann".into(), symbol: "Z".into(), uri: "ipfs://a".into(), ..NewAgent::default() };
    let message = batch_message(&[1; 32], Epoch(1), &[0; 32], 1, &[0; 32], &[0; 32], 0);
    let token = token::TOKEN_PROGRAM;
    let system = solana_system_interface::instruction::transfer(&at(1), &at(2), 5);
    vec![
        (stake_lock::initialize_config(at(9), &config), "configuration"),
        (stake_lock::lock_stake(&agent(), at(9), at(11), at(10), MicroUsdc(12_345_678)), "12.345678 USDC"),
        (stake_lock::queue_unlock(&agent(), at(9)), "Queue"),
        (stake_lock::cancel_unlock(&agent(), at(9)), "Cancel the queued unlock"),
        (stake_lock::claim_stake(&agent(), at(9), at(10)), "Claim the whole stake"),
        (stake_lock::slash(agent().mint, at(2), at(3), MicroUsdc(5)), "0.000005 USDC"),
        (stake_lock::open_challenge(agent().mint, at(2)), "open"),
        (stake_lock::settle_challenge(agent().mint, at(2)), "settled"),
        (lease::pay_lease(&agent(), &payment), "7 epochs: 7.000000 USDC"),
        (lease::tick_lease(agent().mint), "clock"),
        (behavior_log::submit_batch(&agent(), at(9), None, &batch()), "epoch 20000"),
        (behavior_log::close_batch(agent().mint, 20_000, at(9)), "return its rent"),
        (challenge::submit_challenge(&addresses(), &EvidenceSource::Inline(vec![1])), "10.000000 USDC"),
        (challenge::submit_challenge(&addresses(), &EvidenceSource::Draft(at(4))), "bid"),
        (challenge::record_envelope(at(9), 3, 1), "verifier"),
        (challenge::discard_envelope(at(9), 1), "Discard"),
        (challenge::begin_evidence(at(9), 1, 900), "900 bytes"),
        (challenge::append_evidence(at(9), 1, 100, vec![1, 2]), "byte 100"),
        (challenge::cancel_evidence(at(9), 1), "Cancel"),
        (challenge::answer_challenge(at(9), at(4), at(5), &answer(2)), "leaf 4"),
        (challenge::resolve_challenge(&addresses(), at(12)), "slashed"),
        (challenge::close_challenge(at(4), at(9)), "return its rent"),
        (feedback_log::submit_feedback(at(9), at(8), 3, b"hello".to_vec()), "Publish"),
        (feedback_log::begin_draft(at(9), at(8), 1, 2_000, [0; 32]), "2000 bytes"),
        (feedback_log::append_draft(at(8), 1, 7, vec![1]), "byte 7"),
        (feedback_log::seal_draft(at(9), at(8), at(9), 1, 3), "finished feedback"),
        (feedback_log::cancel_draft(at(9), at(8), at(9), 1), "Cancel"),
        (feedback_log::resolve_entry(at(13), 3, [0; 32], [1; 32]), "feedback 3"),
        (sati_builders::register_agent(&register, &named), "'Ann'"),
        (sati_builders::create_regular_attestation(&actors, &delegation(), &[0; 32], 0), "another key"),
        (sati_builders::close_regular_attestation(&actors, &at(9), &at(1), &at(4)), "Take a delegation"),
        (sati_builders::create_compressed_attestation(&actors, &rating(), &[0; 32]), "Positive"),
        (
            sati_builders::close_compressed_attestation(&actors, &at(9), &at(1), &[0; 32]),
            "Take an attestation",
        ),
        (sati_builders::initialize(&at(9), &at(17)), "registry"),
        (sati_builders::update_registry_authority(&at(9), None), "another authority"),
        (sati_builders::link_evm_address(&at(9), &at(1), &[0; 20], "eip155:1", &[0; 64], 0), "EVM"),
        (
            sati_builders::register_schema_config(
                &at(9),
                &at(9),
                &at(16),
                sati_builders::SignatureMode::Dual,
                sati_builders::Storage::Compressed,
                None,
                (false, "F"),
            ),
            "schema",
        ),
        (ed25519(&at(9), &[0; 64], &message).unwrap(), "behaviour batch"),
        (ed25519(&at(9), &[0; 64], &[0; 32]).unwrap(), "interaction"),
        (ed25519(&at(9), &[0; 64], b"SATI F\n\nAgent").unwrap(), "'SATI F  Agent'"),
        (token::create_associated(&at(9), &at(8), &at(11), &token), "token account"),
        (token::transfer(&at(1), &at(11), &at(2), &at(9), (5, 6), &token).unwrap(), "Send 5 units"),
        (token::mint_to(&at(11), &at(1), &at(9), 6, &token).unwrap(), "Mint 6 units"),
        (token::burn(&at(1), &at(11), &at(9), 6, &token).unwrap(), "Burn 6 units"),
        (token::close_account(&at(1), &at(9), &at(9), &token).unwrap(), "Close"),
        (system, "Send 0.000000005 SOL"),
        (
            crate::rpc::lookup::create(at(9), 5, &[at(1)]).unwrap().0.instructions[0].clone(),
            "Create an address",
        ),
        (crate::rpc::lookup::create(at(9), 5, &[at(1)]).unwrap().0.instructions[1].clone(), "Add addresses"),
    ]
}

#[test]
fn every_builder_is_put_into_words() {
    for (instruction, word) in every_instruction() {
        let line = words_of(&instruction);
        let all = format!("{} {:?}", line.title, line.details);
        assert!(line.understood, "{all}");
        assert!(line.title.contains(word), "'{word}' is not in '{}'", line.title);
    }
}

#[test]
fn every_instruction_of_the_five_programs_was_put_into_words() {
    use zx1_interface::ids;
    let done: Vec<String> = every_instruction()
        .iter()
        .filter_map(|(i, _)| idl::instruction(&i.program_id, &i.data).map(|found| found.name.to_owned()))
        .collect();
    for id in [ids::STAKE_LOCK, ids::LEASE, ids::BEHAVIOR_LOG, ids::CHALLENGE, ids::FEEDBACK_LOG] {
        for name in idl::instruction_names(&Address::new_from_array(id)) {
            assert!(done.iter().any(|known| known == name), "{name}");
        }
    }
}

#[test]
fn what_is_not_understood_is_shown_with_program_accounts_and_length() {
    let odd = Instruction {
        program_id: at(77),
        accounts: vec![AccountMeta::new(at(5), false)],
        data: vec![1, 2, 3],
    };
    let line = words_of(&odd);
    assert!(!line.understood);
    assert!(line.details.contains(&("program".into(), at(77).to_string())));
    assert!(line.details.contains(&("data".into(), "3 bytes".into())));
    assert!(line.details.contains(&("account 0".into(), at(5).to_string())));
    // A known instruction with accounts left out or bytes left over is not the known instruction.
    let mut short = lease::tick_lease(agent().mint);
    short.accounts.clear();
    assert!(!words_of(&short).understood);
    let mut long = lease::tick_lease(agent().mint);
    long.data.push(0);
    assert!(!words_of(&long).understood);
}

#[test]
fn a_summary_names_payer_signers_fee_and_money() {
    let message = batch_message(&[1; 32], Epoch(1), &[0; 32], 1, &[0; 32], &[0; 32], 0);
    let list = [
        ed25519(&at(9), &[0; 64], &message).unwrap(),
        feedback_log::submit_feedback(at(9), at(8), 3, b"hi\x1b[2J".to_vec()),
        token::transfer(&at(1), &at(11), &at(2), &at(9), (1_500_000, 6), &token::TOKEN_PROGRAM).unwrap(),
    ];
    let compiled = compile(&list, &at(9), &[], 30_000, 1_000_000, [0; 32]).unwrap();
    let keys = compiled.static_account_keys().to_vec();
    let summary = summarize(&compiled, &keys, Some(at(11)), Vec::new());
    // Two signers, one checked signature, 30 000 units at one lamport each.
    assert_eq!(summary.fee, 3 * 5_000 + 30_000);
    assert_eq!((summary.payer, summary.signers.clone()), (at(9), vec![at(9), at(8)]));
    assert_eq!(
        summary.moves,
        vec![Move { money: Money::Usdc(MicroUsdc(1_500_000)), from: at(1), to: at(2) }]
    );
    assert_eq!(summary.lines.len(), 3, "the compute budget is part of the fee");
    let text = summary.to_string();
    assert!(text.contains("1.500000 USDC") && !text.contains('\u{1b}'), "{text}");
    assert_eq!(summary.to_json()["moves"][0]["amount"], "1500000");
    let written = writable(&compiled, &keys);
    assert!(written.contains(&at(9)) && written.contains(&at(1)) && !written.contains(&at(8)));
}

fn shared_table() -> AddressLookupTableAccount {
    let mut config: zx1_interface::accounts::Config = bytemuck_zeroed();
    config.usdc_mint = [11; 32];
    config.treasury = [12; 32];
    AddressLookupTableAccount { key: at(200), addresses: crate::rpc::lookup::common_addresses(&config) }
}

/// A layout of zeros, through its own reader.
fn bytemuck_zeroed<T: zx1_interface::Layout>() -> T {
    let mut bytes = vec![0; T::SIZE];
    bytes[..8].copy_from_slice(&T::DISCRIMINATOR);
    T::read(&bytes).unwrap()
}

#[test]
fn a_lookup_table_makes_room_for_evidence() {
    let table = [shared_table()];
    let longest = |tables: &[AddressLookupTableAccount]| {
        let fits_with = |bytes: usize| {
            let source = EvidenceSource::Inline(vec![0; bytes]);
            fits(&[challenge::submit_challenge(&addresses(), &source)], &at(9), tables)
        };
        (0..1_232).rev().find(|bytes| fits_with(*bytes)).unwrap()
    };
    let (without, with) = (longest(&[]), longest(&table));
    // Five more levels of a proof at 32 bytes.
    assert!(with >= without + 5 * 32, "{without} bytes without, {with} with a table");
    let message = batch_message(&[1; 32], Epoch(1), &[0; 32], 1, &[0; 32], &[0; 32], 0);
    let submit = [
        ed25519(&at(9), &[0; 64], &message).unwrap(),
        behavior_log::submit_batch(&agent(), at(9), Some(at(4)), &batch()),
    ];
    let plain = transaction_size(&submit, &at(9), &[]).unwrap();
    let short = transaction_size(&submit, &at(9), &table).unwrap();
    assert!(plain <= MAX_TRANSACTION && short + 60 < plain, "{plain} without, {short} with a table");
    assert_eq!(
        compile(&submit, &at(9), &table, 1, 1, [0; 32]).unwrap().address_table_lookups().unwrap().len(),
        1
    );
}

#[test]
fn everything_but_evidence_and_long_texts_fits_one_transaction() {
    for (instruction, _) in every_instruction() {
        assert!(fits(std::slice::from_ref(&instruction), &at(9), &[]), "{}", words_of(&instruction).title);
    }
    // The deepest answer of all.
    assert!(fits(&[challenge::answer_challenge(at(9), at(4), at(5), &answer(20))], &at(9), &[]));
    // The longest envelope.
    let signed = vec![0; 143 + 400];
    let record = [ed25519(&at(8), &[0; 64], &signed).unwrap(), challenge::record_envelope(at(9), 1, 1)];
    assert!(fits(&record, &at(9), &[]));
    let words = sati_builders::counterparty_message("FeedbackV1", &rating());
    let actors = Actors { payer: at(7), sas_schema: at(16), agent_token_account: at(3), credential: at(15) };
    let attest = [
        ed25519(&at(8), &[0; 64], &[0; 32]).unwrap(),
        ed25519(&at(9), &[0; 64], &words).unwrap(),
        sati_builders::create_compressed_attestation(&actors, &rating(), &[0; 32]),
    ];
    assert!(fits(&attest, &at(7), &[]), "{:?}", transaction_size(&attest, &at(7), &[]));
}

proptest! {
    #[test]
    fn hostile_instructions_never_panic(
        which in 0_usize..48,
        cut in any::<prop::sample::Index>(),
        flip in any::<prop::sample::Index>(),
        keep in 0_usize..20,
        value in any::<u8>(),
    ) {
        let (mut instruction, _) = every_instruction().swap_remove(which % 48);
        instruction.accounts.truncate(keep);
        if !instruction.data.is_empty() {
            let place = flip.index(instruction.data.len());
            instruction.data[place] = value;
            instruction.data.truncate(cut.index(instruction.data.len()) + 1);
        }
        let _ = words_of(&instruction);
        if let Ok(message) = compile(&[instruction], &at(9), &[], 1, 1, [0; 32]) {
            let keys = message.static_account_keys().to_vec();
            let _ = summarize(&message, &keys, None, Vec::new()).to_string();
            // Fewer addresses than the message names, as with a table that is not there.
            let _ = summarize(&message, &keys[..1], None, Vec::new()).to_json();
        }
    }
}
