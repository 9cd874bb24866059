#![allow(clippy::unwrap_used)]
use super::*;
use crate::instructions::challenge::{ChallengeAddresses, Money as Paid};
use crate::instructions::lease::LeasePayment;
use crate::instructions::stake_lock::{AMOUNTS, ConfigAddresses};
use crate::instructions::{AgentAddresses, behavior_log, challenge, feedback_log, lease, stake_lock};
use crate::rpc::draft::ed25519;
use crate::rpc::idl;
use crate::rpc::lookup::would_fit;
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
use zx1_interface::instruction::{AnswerChallenge, BeginEvidence, Settle, TakeDeposit};
use zx1_protocol::batch::BatchMessage;
use zx1_protocol::challenge::Ground;
use zx1_protocol::ids::AgentId;
use zx1_protocol::keys::Scopes;
use zx1_protocol::units::{Epoch, MicroUsdc};

fn at(byte: u8) -> Address {
    Address::new_from_array([byte; 32])
}

fn agent() -> AgentAddresses {
    AgentAddresses { mint: AgentId([1; 32]), index: at(2), token: at(3) }
}

fn batch() -> BatchMessage {
    BatchMessage {
        network: [8; 32],
        agent: [1; 32],
        covers_from: Epoch(19_998),
        epoch: Epoch(20_000),
        previous_digest: [7; 32],
        log_merkle_root: [4; 32],
        log_len: 9,
        batch_hash: [5; 32],
        arrays_root: [6; 32],
        arrays_len: 3,
    }
}

fn landing() -> [Instruction; 2] {
    [
        ed25519(&at(8), &[0; 64], &batch().to_bytes()).unwrap(),
        behavior_log::submit_batch(&agent(), at(9), at(8), 2, 20_000),
    ]
}

fn addresses(ground: Ground) -> ChallengeAddresses {
    ChallengeAddresses {
        challenger: at(9),
        challenger_usdc: at(10),
        agent: AgentId([1; 32]),
        epoch_number: 20_000,
        era: 2,
        ground,
        value_known: true,
        message: [7; 32],
        nonce: ground as u64,
        replaced: None,
    }
}

fn paid() -> Paid {
    Paid { agent: AgentId([1; 32]), era: 2, first: at(10), second: at(12) }
}

fn begin(ground: Ground, len: u32) -> Instruction {
    let commit = [3; 32];
    let begin = BeginEvidence { nonce: ground as u64, len, agent_id: [1; 32], era: 2, commit };
    challenge::begin_evidence(at(9), &begin)
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
        key: None,
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
        network: [8; 32],
        amounts: AMOUNTS,
    };
    let deposit = TakeDeposit { agent_mint: [1; 32], era: 2, amount: 5_000_000, what: 1 };
    let moves = Settle {
        agent_mint: [1; 32],
        era: 2,
        from_deposits: 5,
        from_stake: 0,
        from_pot: 0,
        to_stake: 2,
        to_pot: 0,
        first: 1,
        second: 2,
        marks: 1,
    };
    let rankless = BeginEvidence { nonce: 1, len: 900, agent_id: [0; 32], era: 0, commit: [0; 32] };
    let taken_over = ChallengeAddresses { replaced: Some(at(20)), ..addresses(Ground::Selection) };
    let [check, land] = landing();
    let actors = Actors { payer: at(9), sas_schema: at(16), agent_token_account: at(3), credential: at(15) };
    let register =
        RegisterAgent { payer: at(9), owner: at(8), group_mint: at(17), agent_mint: at(1), member_number: 5 };
    let named =
        NewAgent { name: "Ann".into(), symbol: "Z".into(), uri: "ipfs://a".into(), ..NewAgent::default() };
    let token = token::TOKEN_PROGRAM;
    let system = solana_system_interface::instruction::transfer(&at(1), &at(2), 5);
    vec![
        (stake_lock::initialize_config(at(9), &config), "configuration"),
        (stake_lock::open_vault(at(9), at(11), 1), "shard 1"),
        (stake_lock::open_tenure(&agent(), at(9)), "first tenure"),
        (stake_lock::take_over(&agent(), at(9), 2, &[at(21), at(22)]), "2 keys"),
        (stake_lock::add_key(&agent(), at(9), at(21), Scopes(3), 2), "pay the lease and land batches"),
        (stake_lock::end_key(&agent(), at(21), at(21)), "End a key"),
        (stake_lock::close_key(agent().mint, at(21), at(9)), "return its rent"),
        (
            stake_lock::lock_stake(&agent(), at(9), at(10), 3, Some(2), MicroUsdc(12_345_678)),
            "12.345678 USDC of stake in era 3",
        ),
        (stake_lock::queue_unlock(&agent(), at(9), 2), "Queue the unlock of the stake of era 2"),
        (stake_lock::cancel_unlock(&agent(), at(9), 2), "Cancel the queued unlock"),
        (stake_lock::claim_stake(&agent(), at(9), at(10), 2), "Claim the whole stake of era 2"),
        (stake_lock::take_rank(agent().mint, at(2), 2), "rank of era 2"),
        (stake_lock::take_deposit(at(2), at(9), at(10), &deposit), "5.000000 USDC"),
        (stake_lock::settle(at(2), at(3), at(4), &moves), "era 2"),
        (lease::pay_lease(&agent(), &payment), "7 epochs: 7.000000 USDC"),
        (lease::tick_lease(agent().mint), "clock"),
        (behavior_log::open_head(&agent(), at(9)), "head"),
        (land, "Land the batch"),
        (behavior_log::close_batch(agent().mint, 20_000, 2, at(9)), "return its rent"),
        (behavior_log::mark_withheld(agent().mint, 20_000, at(2)), "withheld"),
        (begin(Ground::Bid, 900), "rank in era 2 for 900 bytes"),
        (begin(Ground::Bid, 0), "an envelope"),
        (challenge::begin_evidence(at(9), &rankless), "Open a draft for 900 bytes"),
        (challenge::append_evidence(at(9), 1, 100, vec![1, 2]), "byte 100"),
        (challenge::seal_evidence(at(9), 1, Ground::Verifier, at(4), None), "verifier"),
        (challenge::cancel_evidence(at(9), 1, Some(at(4)), None), "Cancel"),
        (challenge::submit_challenge(&addresses(Ground::Bid)), "Challenge a batch"),
        (challenge::submit_challenge(&taken_over), "Challenge a batch"),
        (challenge::answer_challenge(at(9), at(4), at(5), &paid(), &answer(2)), "leaf 4"),
        (challenge::resolve_challenge(at(4), &paid()), "slashed"),
        (challenge::close_challenge(at(4), at(9), agent().mint, 2), "return its rent"),
        (challenge::pass_rank(at(4), agent().mint, 2), "Pass the rank"),
        (challenge::settle_era(agent().mint, 2, at(12)), "era 2"),
        (challenge::ask_leaf(at(9), at(10), agent().mint, 20_000, 2, 0, 77), "leaf 77 of a batch's log"),
        (challenge::show_leaf(at(9), at(4), at(5), None, &paid(), vec![1; 90], vec![]), "90 bytes"),
        (
            challenge::show_leaf(at(9), at(4), at(5), Some(at(6)), &paid(), vec![], vec![[1; 32]; 9]),
            "out of a draft",
        ),
        (challenge::settle_ask(at(4), agent().mint, 20_000, &paid()), "counts for nothing"),
        (challenge::close_ask(at(4), at(9)), "return its rent"),
        (feedback_log::submit_feedback(at(9), at(8), 3, b"hello".to_vec()), "Publish"),
        (feedback_log::begin_draft(at(9), at(8), 1, 2_000, [0; 32]), "2000 bytes"),
        (feedback_log::append_draft(at(8), 1, 7, vec![1]), "byte 7"),
        (feedback_log::seal_draft(at(9), at(8), at(9), 1, 3), "finished feedback"),
        (feedback_log::cancel_draft(at(9), at(8), at(9), 1), "Cancel"),
        (feedback_log::resolve_entry(at(13), 3, [0; 32], [1; 32]), "feedback 3"),
        (sati_builders::register_agent(&register, &named), "'Ann'"),
        (sati_builders::create_regular_attestation(&actors, &delegation(), &[0; 32], 0), "no authority"),
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
        (check, "batch of epoch 20000"),
        (ed25519(&at(9), &[0; 64], b"zx1/behavior-batch/v2").unwrap(), "are none"),
        (ed25519(&at(9), &[0; 64], &[0; 32]).unwrap(), "interaction"),
        (ed25519(&at(9), &[0; 64], b"SATI F\n\nAgent").unwrap(), "'SATI F  Agent'"),
        (token::create_associated(&at(9), &at(8), &at(11), &token), "token account"),
        (token::transfer(&at(1), &at(11), &at(2), &at(9), (5, 6), &token).unwrap(), "Send 5 units"),
        (token::mint_to(&at(11), &at(1), &at(9), 6, &token).unwrap(), "Mint 6 units"),
        (token::burn(&at(1), &at(11), &at(9), 6, &token).unwrap(), "Burn 6 units"),
        (token::close_account(&at(1), &at(9), &at(9), &token).unwrap(), "Close"),
        (system, "Send 0.000000005 SOL"),
        (
            token::create_numbered(&at(9), &at(8), &at(11), 7, 0).unwrap()[0].clone(),
            "Create an account with 0.000000007 SOL",
        ),
        (token::create_numbered(&at(9), &at(8), &at(11), 7, 0).unwrap()[1].clone(), "Make a token account"),
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
    let list = [
        ed25519(&at(9), &[0; 64], &batch().to_bytes()).unwrap(),
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
    // What is signed is shown with all that it binds to.
    assert!(text.contains("epochs 19998 to 20000") && text.contains(&at(8).to_string()), "{text}");
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

/// A layout of zeros, but for its version, through its own reader.
fn bytemuck_zeroed<T: zx1_interface::Layout>() -> T {
    let mut bytes = vec![0; T::SIZE];
    bytes[..8].copy_from_slice(&T::DISCRIMINATOR);
    bytes[T::VERSION_AT] = zx1_interface::constants::LAYOUT_VERSION;
    T::read(&bytes).unwrap()
}

#[test]
fn a_lookup_table_makes_room() {
    let table = [shared_table()];
    let longest = |tables: &[AddressLookupTableAccount]| {
        let fits_with = |depth: usize| {
            let answer = challenge::answer_challenge(at(9), at(4), at(5), &paid(), &answer(depth));
            fits(&[answer], &at(9), tables)
        };
        (0..30).rev().find(|depth| fits_with(*depth)).unwrap()
    };
    assert_eq!((longest(&[]), longest(&table)), (16, 20), "levels of an answer's proof");
    let plain = transaction_size(&landing(), &at(9), &[]).unwrap();
    let short = transaction_size(&landing(), &at(9), &table).unwrap();
    assert!(plain <= MAX_TRANSACTION && short + 60 < plain, "{plain} without, {short} with a table");
    assert_eq!(
        compile(&landing(), &at(9), &table, 1, 1, [0; 32]).unwrap().address_table_lookups().unwrap().len(),
        1
    );
}

#[test]
fn the_deepest_proofs_of_all_fit_with_a_table_of_their_own() {
    let answering = [challenge::answer_challenge(at(9), at(4), at(5), &paid(), &answer(20))];
    let proof = vec![[1; 32]; 20];
    let draft = Some(at(6));
    let showing = [challenge::show_leaf(at(9), at(4), at(5), draft, &paid(), vec![], proof)];
    for list in [&answering, &showing] {
        assert!(!fits(list, &at(9), &[]), "{:?}", transaction_size(list, &at(9), &[]));
        assert!(would_fit(list, &at(9), &[]));
    }
}

#[test]
fn everything_but_deep_proofs_and_long_texts_fits_one_transaction() {
    for (instruction, _) in every_instruction() {
        assert!(fits(std::slice::from_ref(&instruction), &at(9), &[]), "{}", words_of(&instruction).title);
    }
    let keys: Vec<Address> = (0..8).map(at).collect();
    assert!(fits(&[stake_lock::take_over(&agent(), at(9), 2, &keys)], &at(9), &[]));
    assert!(fits(&landing(), &at(9), &[]), "{:?}", transaction_size(&landing(), &at(9), &[]));
    // The first lock of all, and the first key.
    let lock = stake_lock::lock_stake(&agent(), at(9), at(10), 0, None, MicroUsdc(1));
    let open = [stake_lock::open_vault(at(9), at(11), 1), stake_lock::open_tenure(&agent(), at(9)), lock];
    assert!(fits(&open, &at(9), &[]));
    // The longest envelope.
    let signed = vec![0; 143 + 400];
    let seal = challenge::seal_evidence(at(9), 1, Ground::Bid, at(4), Some(at(5)));
    assert!(fits(&[ed25519(&at(8), &[0; 64], &signed).unwrap(), seal], &at(9), &[]));
    // The ranks of both claims of an ACCEPT, and then both claims.
    let ranks = [begin(Ground::Bid, 0), begin(Ground::Selection, 0)];
    assert!(fits(&ranks, &at(9), &[]));
    let both = [Ground::Bid, Ground::Selection].map(|ground| {
        let replaced = Some(at(ground as u8 + 30));
        challenge::submit_challenge(&ChallengeAddresses { replaced, ..addresses(ground) })
    });
    assert!(fits(&both, &at(9), &[]), "{:?}", transaction_size(&both, &at(9), &[]));
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
        which in any::<prop::sample::Index>(),
        cut in any::<prop::sample::Index>(),
        flip in any::<prop::sample::Index>(),
        keep in 0_usize..20,
        value in any::<u8>(),
    ) {
        let mut all = every_instruction();
        let (mut instruction, _) = all.swap_remove(which.index(all.len()));
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
