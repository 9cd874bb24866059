//! The valid calls of Challenge, each with what may be different in it without harm.

use solana_signer::Signer;
use zx1_chain::instructions::challenge::{self, EvidenceSource};
use zx1_chain::{claim, pda};
use zx1_interface::constants::CHALLENGE_WINDOW_SLOTS;
use zx1_interface::instruction as data;
use zx1_protocol::challenge::evidence_hash;
use zx1_protocol::hash::{Keccak, Sha3};
use zx1_vm_tests::ed25519_instruction;

use crate::calls::{Call, Free};
use crate::stage::Stage;

/// Valid calls of Challenge.
pub(crate) fn challenge(stage: &Stage) -> Vec<Call> {
    let mut calls = submitting(stage);
    calls.extend(collecting(stage));
    calls.extend(settling(stage));
    calls
}

/// 11 and 12, the NFT's account and the delegation: only an envelope that the batch's signer did not sign
/// needs them.
const SIGNED_BY_BATCH_SIGNER: [(usize, Free); 2] = [(11, Free::Unread), (12, Free::Unread)];

fn submitting(stage: &Stage) -> Vec<Call> {
    let me = stage.challenger.pubkey();
    let at = stage.challenge_of(&stage.challenger, &stage.agent);
    let evidence = stage.evidence(&stage.agent);
    let length = u32::try_from(evidence.len()).unwrap();
    let mut drafted = stage.world.clone();
    let draft =
        [challenge::begin_evidence(me, 0, length), challenge::append_evidence(me, 0, 0, evidence.clone())];
    drafted.send_ok(&draft, &stage.challenger, &[]);

    let signed = stage.proposal(&stage.agent).signing_bytes();
    let hash = evidence_hash::<Sha3>(claim::KIND_ENVELOPE, &Sha3::hashv(&[&signed]), true);
    let of_envelope = challenge::ChallengeAddresses { claim: claim::seed(&hash, 1), ..at };
    let record = challenge::record_envelope(me, 1, 0);
    let (mut by_owner, mut by_hot) = (stage.world.clone(), stage.world.clone());
    for (world, signer) in [(&mut by_owner, &stage.owner), (&mut by_hot, &stage.hot)] {
        world.send_ok(&[ed25519_instruction(signer, &signed), record.clone()], &stage.challenger, &[]);
    }
    let plain = EvidenceSource::Envelope {
        record: pda::recorded_envelope(&me, 0),
        agent_token: None,
        delegation: None,
    };
    let proven = EvidenceSource::Envelope {
        record: pda::recorded_envelope(&me, 0),
        agent_token: Some(stage.agent.token_account),
        delegation: Some(stage.delegation),
    };
    let inline = challenge::submit_challenge(&at, &EvidenceSource::Inline(evidence));
    let from_draft = EvidenceSource::Draft(pda::evidence_draft(&me, 0));
    let from_draft = challenge::submit_challenge(&at, &from_draft);
    let owners = challenge::submit_challenge(&of_envelope, &plain);
    let delegates = challenge::submit_challenge(&of_envelope, &proven);
    vec![
        Call::new::<data::SubmitChallenge>("inline", &stage.world, inline).accounts(&SIGNED_BY_BATCH_SIGNER),
        Call::new::<data::SubmitChallenge>("draft", &drafted, from_draft).accounts(&SIGNED_BY_BATCH_SIGNER),
        Call::new::<data::SubmitChallenge>("envelope", &by_owner, owners).accounts(&SIGNED_BY_BATCH_SIGNER),
        Call::new::<data::SubmitChallenge>("envelope of a delegate", &by_hot, delegates),
    ]
}

fn collecting(stage: &Stage) -> Vec<Call> {
    let me = stage.challenger.pubkey();
    let signed = stage.proposal(&stage.agent).signing_bytes();
    let signature = ed25519_instruction(&stage.owner, &signed);
    let record = challenge::record_envelope(me, 1, 3);
    let mut recorded = stage.world.clone();
    recorded.send_ok(&[signature.clone(), record.clone()], &stage.challenger, &[]);
    let begin = challenge::begin_evidence(me, 4, 64);
    let mut begun = stage.world.clone();
    begun.send_ok(std::slice::from_ref(&begin), &stage.challenger, &[]);
    let append = challenge::append_evidence(me, 4, 0, vec![1; 40]);
    vec![
        Call::new::<data::RecordEnvelope>("of the owner", &stage.world, record).before(signature),
        Call::new::<data::DiscardEnvelope>("unused", &recorded, challenge::discard_envelope(me, 3)),
        // Who makes a draft chooses how long it is and what it says.
        Call::new::<data::BeginEvidence>("short", &stage.world, begin).arguments(&["len"]),
        Call::new::<data::AppendEvidence>("a part", &begun, append).arguments(&["bytes"]),
        Call::new::<data::CancelEvidence>("unused", &begun, challenge::cancel_evidence(me, 4)),
    ]
}

fn settling(stage: &Stage) -> Vec<Call> {
    let at = stage.challenge_of(&stage.challenger, &stage.agent);
    let mut open = stage.world.clone();
    stage.open_challenge(&mut open, &stage.challenger, &at, &stage.agent);
    let answer = stage.answer(&at, &stage.sponsor.pubkey());
    let mut answered = open.clone();
    answered.send_ok(std::slice::from_ref(&answer), &stage.sponsor, &[]);
    let mut unanswered = open.clone();
    for world in [&mut answered, &mut unanswered] {
        world.advance_slots(CHALLENGE_WINDOW_SLOTS + 1);
    }
    let resolve = challenge::resolve_challenge(&at, stage.treasury_usdc());
    let mut resolved = unanswered.clone();
    resolved.send_ok(std::slice::from_ref(&resolve), &stage.sponsor, &[]);
    let close = challenge::close_challenge(at.challenge(), stage.challenger.pubkey());
    vec![
        // 0, the answerer: anyone may answer. A bid has no attestation.
        Call::new::<data::AnswerChallenge>("right", &open, answer)
            .accounts(&[(0, Free::AnySigner)])
            .arguments(&["attestation"]),
        // 6 and 10, the stake's vault and StakeLock's event authority: nobody is slashed.
        Call::new::<data::ResolveChallenge>("answered", &answered, resolve.clone())
            .accounts(&[(6, Free::Unread), (10, Free::Unread)]),
        Call::new::<data::ResolveChallenge>("unanswered", &unanswered, resolve),
        Call::new::<data::CloseChallenge>("resolved", &resolved, close),
    ]
}
