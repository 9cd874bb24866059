#![allow(clippy::unwrap_used)]
use super::*;
use crate::rpc::idl;
use crate::rpc::sizes::{MAX_TRANSACTION, transaction_size};
use crate::rpc::{ClientOptions, Cluster};
use zx1_interface::Layout;
use zx1_interface::constants::LAYOUT_VERSION;
use zx1_protocol::evidence::LogEvidence;

fn at(byte: u8) -> Address {
    Address::new_from_array([byte; 32])
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

fn claim_with(ground: Ground, with: ChallengeWith) -> Claim {
    let addresses = addresses(ground);
    Claim::new(addresses, addresses.challenge(), &ClaimWith { ground, with }, Vec::new()).unwrap()
}

fn evidence(length: usize) -> ChallengeWith {
    ChallengeWith::Evidence((0..length).map(|byte| u8::try_from(byte % 251).unwrap()).collect())
}

fn envelope() -> ChallengeWith {
    ChallengeWith::Envelope { signed: vec![5; 143 + 400], signature: [0; 64], signer: at(30) }
}

fn challenging(claims: Vec<Claim>) -> Challenging {
    Challenging {
        intent: Intent::new("challenge", &[&1]),
        title: "Challenge".to_owned(),
        challenger: at(9),
        usdc_mint: at(11),
        batch_slot: 1,
        claims,
        tables: Vec::new(),
    }
}

fn empty_draft() -> Stored<EvidenceDraft> {
    let mut bytes = vec![0; EvidenceDraft::SIZE];
    bytes[..8].copy_from_slice(&EvidenceDraft::DISCRIMINATOR);
    bytes[EvidenceDraft::VERSION_AT] = LAYOUT_VERSION;
    let value = EvidenceDraft::read(&bytes).unwrap();
    Stored { address: at(40), lamports: 1, value, tail: Vec::new() }
}

/// What the chain shows after these instructions: drafts by nonce, and the nonces that were submitted.
#[derive(Default)]
struct Chain {
    drafts: std::collections::BTreeMap<u64, Stored<EvidenceDraft>>,
    submitted: Vec<u64>,
    /// The names of each transaction's instructions.
    sent: Vec<Vec<&'static str>>,
}

impl Chain {
    fn land(&mut self, draft: &Draft) {
        let size = transaction_size(&draft.instructions, &draft.payer, &draft.tables).unwrap();
        assert!(size <= MAX_TRANSACTION, "{size} bytes");
        let mut names = Vec::new();
        for instruction in &draft.instructions {
            let Some(found) = idl::instruction(&instruction.program_id, &instruction.data) else {
                names.push("check");
                continue;
            };
            let number = |name: &str| found.field(name).and_then(idl::Value::as_u64).unwrap();
            let nonce = number("nonce");
            names.push(found.name);
            match found.name {
                "begin_evidence" => {
                    let mut draft = empty_draft();
                    draft.value.len = u32::try_from(number("len")).unwrap();
                    draft.value.state = rank::HELD;
                    draft.value.begin_slot = 2;
                    assert!(self.drafts.insert(nonce, draft).is_none(), "begun twice");
                }
                "append_evidence" => {
                    let draft = self.drafts.get_mut(&nonce).unwrap();
                    assert_eq!(u64::from(draft.value.written), number("offset"));
                    let Some(idl::Value::Bytes(bytes)) = found.field("bytes") else { panic!() };
                    draft.tail.extend_from_slice(bytes);
                    draft.value.written += u32::try_from(bytes.len()).unwrap();
                    assert!(draft.value.written <= draft.value.len);
                }
                "seal_evidence" => {
                    let draft = self.drafts.get_mut(&nonce).unwrap();
                    assert_eq!((draft.value.written, draft.value.ground), (draft.value.len, 0));
                    draft.value.ground = u8::try_from(number("ground")).unwrap();
                }
                "submit_challenge" => {
                    assert_ne!(self.drafts[&nonce].value.ground, 0);
                    self.submitted.push(nonce);
                }
                other => panic!("{other}"),
            }
        }
        self.sent.push(names);
    }

    fn run(&mut self, flow: &Challenging) {
        // Nothing is asked: no claim is taken over.
        let client = Client::new(Cluster::default(), ClientOptions::default());
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        for _ in 0..40 {
            let open: Vec<Open<'_>> = flow
                .claims
                .iter()
                .filter(|claim| !self.submitted.contains(&claim.addresses.nonce))
                .map(|claim| Open {
                    claim,
                    draft: self.drafts.get(&claim.addresses.nonce).cloned(),
                    replaced: None,
                })
                .collect();
            let step = flow.before_writing(&open);
            let step = step.unwrap_or_else(|| runtime.block_on(flow.write(&client, &open)).unwrap());
            let Step::Send { draft, last } = step else { panic!("{step:?}") };
            self.land(&draft);
            assert_eq!(draft.intent == flow.intent, last, "the last one carries the whole intent");
            if last {
                return;
            }
        }
        panic!("it does not end");
    }
}

#[test]
fn ranks_come_first_and_alone_and_all_claims_are_opened_at_once() {
    let log = || evidence(1_000);
    let claims = vec![claim_with(Ground::Bid, log()), claim_with(Ground::Selection, log())];
    let mut chain = Chain::default();
    chain.run(&challenging(claims));
    assert_eq!(chain.sent[0], ["begin_evidence", "begin_evidence"], "nothing of the evidence is shown");
    assert!(chain.sent.last().unwrap().ends_with(&["submit_challenge"; 2]), "{:?}", chain.sent);
    assert!(chain.sent.len() <= 5, "{:?}", chain.sent);
}

#[test]
fn evidence_that_fits_takes_two_transactions() {
    let mut chain = Chain::default();
    chain.run(&challenging(vec![claim_with(Ground::Feedback, evidence(120))]));
    let expected: [&[&str]; 2] =
        [&["begin_evidence"], &["append_evidence", "seal_evidence", "submit_challenge"]];
    assert_eq!(chain.sent, expected);
}

#[test]
fn an_envelope_is_checked_right_before_it_is_sealed() {
    let claims = vec![claim_with(Ground::Bid, envelope()), claim_with(Ground::Selection, envelope())];
    let mut chain = Chain::default();
    chain.run(&challenging(claims));
    let expected: [&[&str]; 4] = [
        &["begin_evidence", "begin_evidence"],
        &["check", "seal_evidence"],
        &["check", "seal_evidence"],
        &["submit_challenge", "submit_challenge"],
    ];
    assert_eq!(chain.sent, expected);
}

#[test]
fn the_longest_evidence_comes_to_its_end() {
    let mut chain = Chain::default();
    chain.run(&challenging(vec![claim_with(Ground::DoubleBid, evidence(MAX_EVIDENCE_BYTES))]));
    assert!(chain.sent.len() <= 12, "{:?}", chain.sent);
}

#[test]
fn a_draft_of_other_bytes_is_not_gone_on_with() {
    let flow = challenging(vec![claim_with(Ground::Bid, evidence(90))]);
    let mut draft = empty_draft();
    (draft.value.len, draft.value.written) = (90, 1);
    draft.tail = vec![77];
    let open = [Open { claim: &flow.claims[0], draft: Some(draft), replaced: None }];
    let client = Client::new(Cluster::default(), ClientOptions::default());
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    assert!(flow.before_writing(&open).is_none());
    assert_eq!(zx1_coded::Coded::code(&runtime.block_on(flow.write(&client, &open)).unwrap_err()), 7090);
}

#[test]
fn a_draft_that_was_used_is_cancelled_before_another_rank_is_taken() {
    let flow = challenging(vec![claim_with(Ground::Bid, evidence(90))]);
    let mut draft = empty_draft();
    draft.value.used = 1;
    let open = [Open { claim: &flow.claims[0], draft: Some(draft), replaced: None }];
    let Some(Step::Send { draft, last: false }) = flow.before_writing(&open) else { panic!() };
    let cancel = &draft.instructions[0];
    assert_eq!(idl::instruction(&cancel.program_id, &cancel.data).unwrap().name, "cancel_evidence");
}

#[test]
fn claims_are_of_the_message_and_refused_before_anything_is_paid() {
    let request = |claims| ChallengeRequest { challenger: at(9), agent: AgentId([1; 32]), epoch: 1, claims };
    let entry = LogEvidence { leaf_index: 0, proof: &[], entry: &[1, 2], shown_payload: None };
    let bytes = Evidence::LogEntry(entry).to_bytes().unwrap();
    for with in [ChallengeWith::Evidence(vec![9]), ChallengeWith::Evidence(bytes), envelope()] {
        let claim = ClaimWith { ground: Ground::Bid, with };
        let error = challenge_addresses(&request(vec![claim])).unwrap_err();
        assert_eq!(zx1_coded::Coded::code(&error), 7090, "{error}");
    }
    assert_eq!(challenge_addresses(&request(Vec::new())).unwrap(), []);
}
