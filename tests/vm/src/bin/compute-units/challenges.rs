//! Challenge, and what it calls in StakeLock.

use solana_keypair::Keypair;
use zx1_chain::instructions::challenge::{self, ChallengeAddresses, EvidenceSource};
use zx1_chain::{claim, pda};
use zx1_interface::accounts::EvidenceDraft;
use zx1_interface::constants::CHALLENGE_WINDOW_SLOTS;
use zx1_interface::instruction as data;
use zx1_protocol::challenge::evidence_hash;
use zx1_protocol::evidence::{KIND_DOUBLE_BID, KIND_LOG_ENTRY};
use zx1_protocol::hash::{Hash, Keccak, Sha3};
use zx1_protocol::merkle;
use zx1_vm_tests::{Agent, Receipt, World, ed25519_instruction};

use crate::evidence::{self, Place};
use crate::measure::{Bench, key};

/// Bytes of a draft that one transaction appends.
const CHUNK: usize = 900;

fn addresses(
    bench: &mut Bench,
    challenger: &Keypair,
    agent: &Agent,
    ground: u8,
    evidence: (u8, &Hash, bool),
) -> ChallengeAddresses {
    let (kind, subject, shown) = evidence;
    let hash = evidence_hash::<Sha3>(kind, subject, shown);
    let epoch = bench.world.epoch() - 1;
    bench.world.challenge_addresses(challenger, agent, epoch, ground, &hash)
}

fn fill_draft(bench: &mut Bench, owner: &Keypair, nonce: u64, bytes: &[u8]) {
    let length = u32::try_from(bytes.len()).unwrap();
    bench.world.send_ok(&[challenge::begin_evidence(key(owner), nonce, length)], owner, &[]);
    for (at, chunk) in bytes.chunks(CHUNK).enumerate() {
        let offset = u32::try_from(at * CHUNK).unwrap();
        bench.world.send_ok(
            &[challenge::append_evidence(key(owner), nonce, offset, chunk.into())],
            owner,
            &[],
        );
    }
}

/// Measures a challenge with these bytes, inline or from a draft.
fn submit(
    bench: &mut Bench,
    case: &str,
    challenger: &Keypair,
    addresses: &ChallengeAddresses,
    bytes: Vec<u8>,
    drafted: bool,
) -> Receipt {
    let source = if drafted {
        fill_draft(bench, challenger, 0, &bytes);
        EvidenceSource::Draft(pda::evidence_draft(&key(challenger), 0))
    } else {
        EvidenceSource::Inline(bytes)
    };
    let instruction = challenge::submit_challenge(addresses, &source);
    bench.measure_one::<data::SubmitChallenge>(case, instruction, challenger)
}

/// submit_challenge, and open_challenge in it.
pub(crate) fn submitting(bench: &mut Bench) {
    let log_cases = [
        ("bid, inline, 1 leaf", 0, false),
        ("bid, inline, depth 5", 5, false),
        ("bid, from a draft, depth 20", 20, true),
    ];
    for (case, depth, drafted) in log_cases {
        let ((agent, owner), challenger) = (bench.agent(), bench.world.new_party());
        let message = evidence::proposal(&agent, bench.world.epoch() - 1, 100);
        let (bytes, place) = evidence::log_evidence(&message.entry, depth);
        evidence::batch(bench, &agent, &owner, Some(&place), None);
        let leaf = merkle::leaf::<Sha3>(&message.entry);
        let addresses = addresses(bench, &challenger, &agent, 1, (KIND_LOG_ENTRY, &leaf, false));
        let receipt = submit(bench, case, &challenger, &addresses, bytes, drafted);
        if depth == 0 {
            bench.called::<data::OpenChallenge>("from submit_challenge", &receipt, 0);
        }
    }

    let ((agent, owner), challenger) = (bench.agent(), bench.world.new_party());
    let message = evidence::rating(&agent, bench.world.epoch() - 1);
    let (bytes, place) = evidence::log_evidence(&message.entry, 0);
    evidence::batch(bench, &agent, &owner, Some(&place), None);
    let leaf = merkle::leaf::<Sha3>(&message.entry);
    let at = addresses(bench, &challenger, &agent, 4, (KIND_LOG_ENTRY, &leaf, false));
    submit(bench, "feedback, inline, 1 leaf", &challenger, &at, bytes, false);

    for (case, depth, drafted) in
        [("double bid, inline, depth 1", 1, false), ("double bid, from a draft, depth 20", 20, true)]
    {
        let ((agent, owner), challenger) = (bench.agent(), bench.world.new_party());
        let (bytes, place) = evidence::double_bid(depth);
        evidence::batch(bench, &agent, &owner, None, Some(&place));
        let subject = Sha3::hashv(&[&evidence::bid(1), &evidence::bid(2)]);
        let at = addresses(bench, &challenger, &agent, 5, (KIND_DOUBLE_BID, &subject, false));
        submit(bench, case, &challenger, &at, bytes, drafted);
    }

    for (case, by_delegate) in [("envelope of the batch's signer", false), ("envelope of a delegate", true)] {
        let ((agent, owner), challenger, hot) =
            (bench.agent(), bench.world.new_party(), bench.world.new_keypair());
        let delegation = bench.world.create_delegate(&owner, &key(&hot), &agent, 0);
        evidence::batch(bench, &agent, &owner, None, None);
        let message = evidence::proposal(&agent, bench.world.epoch() - 1, 400);
        let signer = if by_delegate { &hot } else { &owner };
        record(bench, &challenger, signer, &message.signing_bytes);
        let subject = Sha3::hashv(&[&message.signing_bytes]);
        let at = addresses(bench, &challenger, &agent, 1, (claim::KIND_ENVELOPE, &subject, true));
        let source = EvidenceSource::Envelope {
            record: pda::recorded_envelope(&key(&challenger), 0),
            agent_token: by_delegate.then_some(agent.token_account),
            delegation: by_delegate.then_some(delegation),
        };
        let instruction = challenge::submit_challenge(&at, &source);
        bench.measure_one::<data::SubmitChallenge>(case, instruction, &challenger);
    }
}

fn record(bench: &mut Bench, owner: &Keypair, signer: &Keypair, signing_bytes: &[u8]) {
    let signature = ed25519_instruction(signer, signing_bytes);
    bench.world.send_ok(&[signature, challenge::record_envelope(key(owner), 1, 0)], owner, &[]);
}

/// Measures record_envelope and discard_envelope.
pub(crate) fn recording(bench: &mut Bench) {
    let ((agent, owner), holder) = (bench.agent(), bench.world.new_party());
    let epoch = bench.world.epoch() - 1;
    for (nonce, length) in [(0, 16), (1, 400)] {
        let message = evidence::proposal(&agent, epoch, length);
        let signature = ed25519_instruction(&owner, &message.signing_bytes);
        let record = challenge::record_envelope(key(&holder), 1, nonce);
        let case = format!("payload of {length} bytes");
        bench.measure::<data::RecordEnvelope>(&case, &[signature, record], &holder, &[]);
    }
    let discard = challenge::discard_envelope(key(&holder), 0);
    bench.measure_one::<data::DiscardEnvelope>("unused", discard, &holder);
}

/// begin_evidence, append_evidence, cancel_evidence.
pub(crate) fn drafting(bench: &mut Bench) {
    let owner = bench.world.new_party();
    let begin = |nonce, length| challenge::begin_evidence(key(&owner), nonce, length);
    bench.measure_one::<data::BeginEvidence>("900 bytes", begin(0, 900), &owner);
    bench.measure_one::<data::BeginEvidence>("8192 bytes", begin(1, 8_192), &owner);
    let append = challenge::append_evidence(key(&owner), 1, 0, vec![1; CHUNK]);
    bench.measure_one::<data::AppendEvidence>("900 bytes", append, &owner);
    let cancel = challenge::cancel_evidence(key(&owner), 1);
    bench.measure_one::<data::CancelEvidence>("8192 bytes", cancel, &owner);
}

/// An agent whose batch hides nothing, challenged over a bid: the bid is under arrays_root at this depth.
fn challenged(bench: &mut Bench, depth: u32) -> (ChallengeAddresses, Place, Keypair) {
    let ((agent, owner), challenger) = (bench.agent(), bench.world.new_party());
    let message = evidence::proposal(&agent, bench.world.epoch() - 1, 16);
    let (bytes, log) = evidence::log_evidence(&message.entry, 0);
    let arrays = Place::of(&merkle::leaf::<Sha3>(&evidence::bid(evidence::VALUE)), depth);
    evidence::batch(bench, &agent, &owner, Some(&log), Some(&arrays));
    let leaf = merkle::leaf::<Sha3>(&message.entry);
    let at = addresses(bench, &challenger, &agent, 1, (KIND_LOG_ENTRY, &leaf, false));
    let instruction = challenge::submit_challenge(&at, &EvidenceSource::Inline(bytes));
    bench.world.send_ok(&[instruction], &challenger, &[]);
    (at, arrays, challenger)
}

fn answer(at: &ChallengeAddresses, arrays: &Place, answerer: &Keypair) -> solana_instruction::Instruction {
    let answer = data::AnswerChallenge {
        leaf_index: arrays.index,
        merkle_proof: arrays.path.clone(),
        bid_value: evidence::VALUE,
        attestation: [0; 32],
    };
    challenge::answer_challenge(key(answerer), at.challenge(), at.batch(), &answer)
}

/// Measures answer_challenge, with proofs of several depths.
pub(crate) fn answering(bench: &mut Bench) {
    for depth in [0, 5, 20] {
        let (at, arrays, challenger) = challenged(bench, depth);
        let case = if depth == 0 { "1 leaf".into() } else { format!("depth {depth}") };
        bench.measure_one::<data::AnswerChallenge>(&case, answer(&at, &arrays, &challenger), &challenger);
    }
}

/// resolve_challenge with slash and settle_challenge in it, close_challenge.
pub(crate) fn resolving(bench: &mut Bench) {
    let treasury = bench.world.treasury_usdc();
    for answered in [true, false] {
        let (at, arrays, challenger) = challenged(bench, 0);
        if answered {
            bench.world.send_ok(&[answer(&at, &arrays, &challenger)], &challenger, &[]);
        }
        bench.world.advance_slots(CHALLENGE_WINDOW_SLOTS + 1);
        let resolve = challenge::resolve_challenge(&at, treasury);
        let case =
            if answered { "answered: the challenger loses" } else { "unanswered: the agent is slashed" };
        let receipt = bench.measure_one::<data::ResolveChallenge>(case, resolve, &challenger);
        if !answered {
            bench.called::<data::Slash>("to the challenger", &receipt, 0);
            bench.called::<data::Slash>("to the treasury", &receipt, 1);
            bench.called::<data::SettleChallenge>("from resolve_challenge", &receipt, 0);
            let close = challenge::close_challenge(at.challenge(), key(&challenger));
            bench.measure_one::<data::CloseChallenge>("resolved", close, &challenger);
        }
    }
}

/// What a bump that does not fit costs: two drafts that differ in nothing but the bumps of their addresses.
pub(crate) fn units_per_step(world: &World) -> u64 {
    let mut world = world.clone();
    let owner = world.new_party();
    let mut first = None;
    for nonce in 0.. {
        let receipt = world.send_ok(&[challenge::begin_evidence(key(&owner), nonce, 100)], &owner, &[]);
        let draft: EvidenceDraft = world.read(&pda::evidence_draft(&key(&owner), nonce));
        let steps = u64::from(255 - draft.bump);
        match first {
            None if steps == 0 => first = Some(receipt.units),
            Some(units) if steps >= 2 => return (receipt.units - units) / steps,
            _ => {}
        }
    }
    unreachable!("bumps differ")
}
