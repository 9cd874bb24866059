//! seal_evidence of a log entry: what it proves, and which record an honest batch must hold.

use crate::common::{
    BID, CHALLENGE_STAKE, COUNTERPARTY, DOUBLE_BID, FEEDBACK, LogProof, Message, SELECTION, SLOT, Scene,
    VERIFIER, bid_payload, claim32, expected, keccak, only_event, rating, refused, sealed_record,
    with_account,
};
use solana_instruction::error::InstructionError;
use zx1_chain::pda;
use zx1_interface::events::EvidenceSealed;
use zx1_interface::{Error, ids};
use zx1_protocol::envelope::MsgType;
use zx1_protocol::merkle::Proof;
use zx1_vm_tests::{Batch, Shown};

/// A batch whose log holds a message among others, and the message's proof.
fn logged(messages: impl FnOnce(&Scene) -> Message) -> (Scene, LogProof, Message) {
    let scene = Scene::new();
    let message = messages(&scene);
    logged_in(scene, message)
}

fn logged_in(mut scene: Scene, message: Message) -> (Scene, LogProof, Message) {
    let mut log = scene.chatter(4);
    log.insert(1, message.clone());
    let batch = scene.submit(&log, &[]);
    (scene, LogProof::of(&batch, 1), message)
}

#[test]
fn a_log_entry_is_sealed_ok() {
    let (mut scene, proof, message) = logged(|s| s.message(MsgType::Propose));
    let filing = scene.logged(&proof, BID);
    scene.world.begin(&filing).unwrap();
    scene.world.append(&filing.finder, filing.nonce, filing.written());
    let (before, lamports) = (scene.draft(&filing), scene.world.lamports(&scene.challenger.at()));
    scene.world.advance_slots(3);
    let snapshot = scene.world.snapshot();
    let receipt = scene.world.seal(&filing).unwrap();
    snapshot.assert_only_changed(&scene.world, &[filing.draft(), filing.finder.at()]);
    assert_eq!(scene.world.lamports(&scene.challenger.at()), lamports - receipt.fee);

    let after = scene.draft(&filing);
    assert_eq!(sealed_record(&after), message.bid(0), "the value is left free");
    let sealed = zx1_interface::accounts::EvidenceDraft {
        event_sequence: 2,
        batch: scene.batch().to_bytes(),
        claim: claim32(BID, false, &message.message32()),
        entry_hash: keccak(&[&message.entry()]),
        expected_record: after.expected_record,
        expected_len: 105,
        value_known: 0,
        ground: 1,
        ..before
    };
    assert_eq!(after, sealed);
    assert_eq!(filing.claim(), sealed.claim);
    let event = EvidenceSealed::read(&only_event(&receipt, ids::CHALLENGE)).unwrap();
    let expected_event = EvidenceSealed {
        draft: filing.draft().to_bytes(),
        owner: filing.finder.at().to_bytes(),
        batch: sealed.batch,
        claim: sealed.claim,
        entry_hash: sealed.entry_hash,
        ground: 1,
        sequence: 1,
        account_created_slot: before.created_slot,
    };
    assert_eq!(event, expected_event);
    // Sealed once, whatever the ground.
    for ground in [BID, SELECTION] {
        let again = zx1_vm_tests::Filing { ground, ..filing.clone() };
        let seal = scene.world.sealing(&again);
        refused(&mut scene.world, &seal, &filing.finder, &[], Error::AlreadySealed);
    }
}

#[test]
fn every_type_and_ground_gives_the_record_an_honest_batch_holds() {
    let scene = Scene::new();
    let own = |kind| Message { payload: bid_payload(-5), ..scene.message(kind) };
    let (propose, counter) = (own(MsgType::Propose), own(MsgType::Counter));
    let (accept, assign) = (own(MsgType::Accept), own(MsgType::NotarizeAssign));
    let feedback = scene.feedback();
    // Message, ground, record, whether the evidence determines it.
    let cases = [
        (&propose, BID, propose.bid(0), 0),
        (&counter, BID, counter.bid(0), 0),
        (&accept, BID, accept.bid(0), 0),
        (&accept, SELECTION, accept.selection(), 1),
        (&assign, VERIFIER, assign.verifier(), 1),
        (&feedback, FEEDBACK, feedback.feedback(&[0; 32]), 1),
    ];
    for (message, ground, record, known) in cases {
        let (mut scene, proof, _) = logged_in(scene.clone(), message.clone());
        let filing = scene.logged(&proof, ground);
        scene.file(&filing);
        let account = scene.challenge(&filing);
        assert_eq!(expected(&account), record, "{:?} on ground {ground:?}", message.kind);
        assert_eq!((account.value_known, account.ground), (known, ground as u8));
        assert_eq!(account.entry_hash, keccak(&[&message.entry()]));
        assert_eq!(account.claim, claim32(ground, known == 1, &message.message32()));
        assert_eq!(scene.money(&filing).2.deposits, CHALLENGE_STAKE);
    }
}

#[test]
fn a_record_names_what_the_entry_names() {
    let scene = Scene::new();
    let message = Message {
        recipient: [0x33; 32],
        slot: u64::MAX,
        conversation: [0x44; 16],
        ..scene.message(MsgType::Accept)
    };
    let (mut scene, proof, message) = logged_in(scene, message);
    let filing = scene.logged(&proof, SELECTION);
    scene.file(&filing);
    let record = [&[2][..], &[0x44; 16], &[0x33; 32], &[0xff; 8], &message.message32()].concat();
    assert_eq!(expected(&scene.challenge(&filing)), record);
}

#[test]
fn a_shown_payload_determines_the_bids_value() {
    let long = [&i128::MIN.to_le_bytes()[..], &[7; 200]].concat();
    // The payload and the value it means: short ones are extended with zeros.
    let cases = [
        (vec![], 0),
        (vec![9], 9),
        (vec![0, 1, 0], 256),
        (bid_payload(-1), -1),
        (bid_payload(i128::MAX), i128::MAX),
        (long, i128::MIN),
    ];
    for kind in [MsgType::Propose, MsgType::Counter, MsgType::Accept] {
        for (payload, value) in &cases {
            let (mut scene, proof, message) =
                logged(|s| Message { payload: payload.clone(), ..s.message(kind) });
            let filing = scene.logged(&proof.showing(payload), BID);
            scene.file(&filing);
            let account = scene.challenge(&filing);
            assert_eq!(expected(&account), message.bid(*value), "{} bytes", payload.len());
            assert_eq!(account.value_known, 1);
        }
    }
}

#[test]
fn a_one_leaf_log_takes_an_empty_proof_and_no_other() {
    let mut scene = Scene::new();
    let message = scene.message(MsgType::Propose);
    let batch = scene.submit(&[message], &[]);
    let proof = LogProof::of(&batch, 0);
    assert_eq!(proof.place, Proof { index: 0, path: vec![] });
    let too_long = LogProof { place: Proof { index: 0, path: vec![[0; 32]] }, ..proof.clone() };
    let filing = scene.logged(&too_long, BID);
    scene.seal_refused(&filing, Error::WrongProofLength);
    let beyond = LogProof { place: Proof { index: 1, path: vec![] }, ..proof.clone() };
    let filing = scene.logged(&beyond, BID);
    scene.seal_refused(&filing, Error::IndexOutOfRange);
    let filing = scene.logged(&proof, BID);
    scene.file(&filing);
    assert_eq!(scene.challenge(&filing).entry_hash, proof.entry_hash());
}

#[test]
fn every_place_of_logs_of_several_lengths_can_be_proven_ok() {
    let base = Scene::new();
    for len in [2_u32, 3, 4, 5, 8, 9] {
        let log: Vec<Message> = (0..u64::from(len))
            .map(|n| Message { nonce: n, slot: SLOT + n, ..base.message(MsgType::Propose) })
            .collect();
        let mut scene = base.clone();
        let batch = scene.submit(&log, &[]);
        for n in 0..len {
            let filing = scene.logged(&LogProof::of(&batch, n), BID);
            scene.file(&filing);
            assert_eq!(expected(&scene.challenge(&filing)), log[n as usize].bid(0));
        }
        assert_eq!(scene.stake().open_challenges, len);
    }
}

#[test]
fn the_batchs_window_ends_after_its_last_slot() {
    let (mut scene, proof, _) = logged(|s| s.message(MsgType::Propose));
    let filing = scene.logged(&proof, BID);
    scene.world.begin(&filing).unwrap();
    scene.world.append(&filing.finder, filing.nonce, filing.written());
    let submitted = scene.batch_account().submitted_slot;
    scene.world.warp_to_slot(submitted + 432_001);
    let seal = scene.world.sealing(&filing);
    refused(&mut scene.world, &seal, &filing.finder, &[], Error::ChallengeWindowOver);
    scene.world.warp_to_slot(submitted + 432_000);
    scene.world.seal(&filing).unwrap();
}

#[test]
fn a_changed_entry_fails() {
    let (mut scene, proof, message) = logged(|s| s.message(MsgType::Propose));
    let other = Message { recipient: [0xdd; 32], ..message };
    let changed = LogProof { entry: other.entry(), ..proof.clone() };
    let filing = scene.logged(&changed, BID);
    scene.seal_refused(&filing, Error::ProofMismatch);
    // A single bit of a hash of the proof likewise.
    let mut tampered = proof.clone();
    tampered.place.path[1][31] ^= 1;
    let filing = scene.logged(&tampered, BID);
    scene.seal_refused(&filing, Error::ProofMismatch);
    let filing = scene.logged(&proof, BID);
    scene.file(&filing);
}

#[test]
fn a_wrong_place_fails() {
    // Five entries: indexes 0 to 2 are padding, the message is at 4.
    let (mut scene, proof, _) = logged(|s| s.message(MsgType::Propose));
    assert_eq!((proof.place.index, proof.place.path.len()), (4, 3));
    let placed = |index| LogProof { place: Proof { index, ..proof.place.clone() }, ..proof.clone() };
    let cases = [
        (3, Error::ProofMismatch),
        (5, Error::ProofMismatch),
        (7, Error::ProofMismatch),
        (0, Error::IndexOutOfRange),
        (2, Error::IndexOutOfRange),
        (8, Error::IndexOutOfRange),
        (4 + 8, Error::IndexOutOfRange),
        (u32::MAX, Error::IndexOutOfRange),
    ];
    for (index, error) in cases {
        let filing = scene.logged(&placed(index), BID);
        scene.seal_refused(&filing, error);
    }
}

#[test]
fn a_proof_of_another_length_than_the_log_asks_for_fails() {
    let (mut scene, proof, _) = logged(|s| s.message(MsgType::Propose));
    let cut = |len: usize| {
        let mut path = proof.place.path.clone();
        path.resize(len, [0; 32]);
        LogProof { place: Proof { path, ..proof.place.clone() }, ..proof.clone() }
    };
    for len in [0, 1, 2, 4, 9] {
        let filing = scene.logged(&cut(len), BID);
        scene.seal_refused(&filing, Error::WrongProofLength);
    }
}

#[test]
fn an_inner_node_of_the_tree_is_no_entry() {
    let mut scene = Scene::new();
    let log = scene.chatter(4);
    let batch = scene.submit(&log, &[]);
    let leaf = |n: usize| keccak(&[&batch.entries[n]]);
    let place = batch.log().proof_of_entry(0).unwrap();
    // The 64 bytes of two leaves hash to a node; the path from there is one shorter, which is refused.
    let node = LogProof {
        place: Proof { index: 0, path: place.path[1..].to_vec() },
        entry: [leaf(0), leaf(1)].concat(),
        shown: None,
    };
    let filing = scene.logged(&node, BID);
    scene.seal_refused(&filing, Error::WrongProofLength);
}

#[test]
fn an_empty_log_proves_nothing() {
    let mut scene = Scene::new();
    let message = scene.message(MsgType::Propose);
    scene.submit(&[], &[message.bid(1)]);
    for path in [vec![], vec![[0; 32]]] {
        let proof = LogProof { place: Proof { index: 0, path }, entry: message.entry(), shown: None };
        let filing = scene.logged(&proof, BID);
        scene.seal_refused(&filing, Error::EmptyTree);
    }
}

#[test]
fn an_entry_that_the_agent_received_fails() {
    for (kind, ground) in
        [(MsgType::Propose, BID), (MsgType::Accept, SELECTION), (MsgType::NotarizeAssign, VERIFIER)]
    {
        let (mut scene, proof, _) =
            logged(|s| Message { sender: COUNTERPARTY, recipient: s.id(), ..s.message(kind) });
        let filing = scene.logged(&proof, ground);
        scene.seal_refused(&filing, Error::NotAgentsEntry);
    }
}

#[test]
fn a_type_gives_its_own_grounds_and_no_other() {
    let base = Scene::new();
    let grounds = |kind| match kind {
        MsgType::Propose | MsgType::Counter => &[BID][..],
        MsgType::Accept => &[BID, SELECTION],
        MsgType::NotarizeAssign => &[VERIFIER],
        MsgType::Feedback => &[FEEDBACK],
        _ => &[],
    };
    for kind in MsgType::ALL {
        let message = if kind == MsgType::Feedback { base.feedback() } else { base.message(kind) };
        let (mut scene, proof, _) = logged_in(base.clone(), message);
        for ground in [BID, SELECTION, VERIFIER, FEEDBACK, DOUBLE_BID] {
            let filing = scene.logged(&proof, ground);
            if grounds(kind).contains(&ground) {
                scene.file(&filing);
            } else {
                scene.seal_refused(&filing, Error::NoGround);
            }
        }
    }
}

#[test]
fn an_unknown_ground_fails() {
    let (mut scene, proof, _) = logged(|s| s.message(MsgType::Propose));
    let filing = scene.logged(&proof, BID);
    scene.world.begin(&filing).unwrap();
    scene.world.append(&filing.finder, filing.nonce, filing.written());
    for ground in [0, 6, 255] {
        // The ground is the data's last byte.
        let mut seal = scene.world.sealing(&filing);
        *seal[0].data.last_mut().unwrap() = ground;
        refused(&mut scene.world, &seal, &filing.finder, &[], Error::UnknownGround);
    }
}

#[test]
fn feedback_that_binds_no_batch_fails() {
    let base = Scene::new();
    let id = base.id();
    let cases = [
        (Message { sender: id, ..base.feedback() }, Error::FeedbackBySelf),
        // By the agent about another: its own word is not in its array either.
        (Message { sender: id, payload: rating([9; 32]), ..base.feedback() }, Error::FeedbackBySelf),
        (Message { payload: rating([9; 32]), ..base.feedback() }, Error::FeedbackAboutAnother),
        (Message { payload: vec![], ..base.feedback() }, Error::MalformedFeedback),
        (Message { payload: vec![0x86], ..base.feedback() }, Error::MalformedFeedback),
        (Message { payload: [rating(id), vec![0]].concat(), ..base.feedback() }, Error::MalformedFeedback),
    ];
    for (message, error) in cases {
        let (mut scene, proof, _) = logged_in(base.clone(), message);
        let filing = scene.logged(&proof, FEEDBACK);
        scene.seal_refused(&filing, error);
    }
}

#[test]
fn feedback_with_a_score_outcome_or_role_out_of_range_fails() {
    let base = Scene::new();
    // The end of the CBOR: score -73 is 38 48, outcome 02, dispute f5, role 01.
    let good = rating(base.id());
    let end = good.len() - 5;
    assert_eq!(good[end..], [0x38, 0x48, 0x02, 0xf5, 0x01]);
    for tail in
        [[0x38, 0x64, 0x02, 0xf5, 0x01], [0x38, 0x48, 0x03, 0xf5, 0x01], [0x38, 0x48, 0x02, 0xf5, 0x02]]
    {
        let payload = [&good[..end], &tail].concat();
        let (mut scene, proof, _) = logged_in(base.clone(), Message { payload, ..base.feedback() });
        let filing = scene.logged(&proof, FEEDBACK);
        scene.seal_refused(&filing, Error::MalformedFeedback);
    }
}

#[test]
fn a_payload_that_is_not_the_entrys_fails() {
    let (mut scene, proof, message) = logged(|s| s.message(MsgType::Propose));
    let mut changed = message.payload.clone();
    changed[0] ^= 1;
    for payload in [changed, message.payload[1..].to_vec(), [&message.payload[..], &[0]].concat(), vec![]] {
        let filing = scene.logged(&proof.showing(&payload), BID);
        scene.seal_refused(&filing, Error::PayloadHashMismatch);
    }
}

#[test]
fn a_payload_that_no_ground_needs_fails() {
    let base = Scene::new();
    let cases = [
        (base.message(MsgType::Accept), SELECTION),
        (base.message(MsgType::NotarizeAssign), VERIFIER),
        (base.feedback(), FEEDBACK),
    ];
    for (message, ground) in cases {
        let (mut scene, proof, message) = logged_in(base.clone(), message);
        let filing = scene.logged(&proof.showing(&message.payload), ground);
        scene.seal_refused(&filing, Error::PayloadNotAllowed);
    }
}

#[test]
fn a_logged_entry_that_is_not_canonical_fails() {
    let base = Scene::new();
    let (propose, feedback) = (base.message(MsgType::Propose).entry(), base.feedback());
    // Version 2; type 0; a trailing byte; a payload where none is logged; one cut short; a hash that does
    // not fit the logged payload.
    let version = [&propose[..1], &[2], &propose[2..]].concat();
    let kind = [&propose[..2], &[0], &propose[3..]].concat();
    let trailing = [&propose[..], &[0]].concat();
    let payload = [&propose[..propose.len() - 1], &[0x41, 7]].concat();
    let cut = propose[..propose.len() - 1].to_vec();
    let other_hash = [&feedback.entry()[..feedback.entry().len() - 1], &[0]].concat();
    let cases = [
        (version, BID, Error::MalformedEntry),
        (kind, BID, Error::MalformedEntry),
        (trailing, BID, Error::MalformedEntry),
        (payload, BID, Error::MalformedEntry),
        (cut, BID, Error::MalformedEntry),
        (vec![], BID, Error::MalformedEntry),
        (other_hash, FEEDBACK, Error::PayloadHashMismatch),
    ];
    for (entry, ground, error) in cases {
        let mut scene = base.clone();
        let mut batch = Batch { epoch: scene.epoch, entries: vec![entry], records: vec![] };
        batch.entries.push(scene.chatter(1)[0].entry());
        scene.submit_raw(&scene.world.message_of(&scene.agent, &batch));
        let filing = scene.logged(&LogProof::of(&batch, 0), ground);
        scene.seal_refused(&filing, error);
    }
}

#[test]
fn malformed_evidence_fails() {
    let (mut scene, proof, message) = logged(|s| s.message(MsgType::Propose));
    let good = proof.showing(&message.payload).bytes();
    let changed = |at: usize, byte: u8| {
        let mut bytes = good.clone();
        bytes[at] = byte;
        bytes
    };
    let flag = good.len() - message.payload.len() - 3;
    assert_eq!(good[flag], 1);
    let cases = [
        changed(0, 0),
        changed(0, 2),
        changed(0, 3),
        // A proof that claims more hashes than there are bytes, and a flag of 2.
        changed(5, 255),
        changed(flag, 2),
        changed(flag, 0),
        [&good[..], &[0]].concat(),
        good[..good.len() - 1].to_vec(),
        good[..flag].to_vec(),
        good[..3].to_vec(),
        vec![1],
    ];
    for bytes in cases {
        let filing = scene.filing(BID, true, message.message32(), Shown::Bytes(bytes));
        scene.seal_refused(&filing, Error::MalformedEvidence);
    }
}

#[test]
fn a_refused_sealing_leaves_the_draft_as_it_is() {
    let (mut scene, proof, _) = logged(|s| s.message(MsgType::Propose));
    let filing = scene.logged(&proof, BID);
    scene.world.begin(&filing).unwrap();
    scene.world.append(&filing.finder, filing.nonce, filing.written());
    let before = scene.draft(&filing);
    let wrong = zx1_vm_tests::Filing { ground: VERIFIER, ..filing.clone() };
    let seal = scene.world.sealing(&wrong);
    refused(&mut scene.world, &seal, &filing.finder, &[], Error::NoGround);
    assert_eq!(scene.draft(&filing), before);
    scene.world.seal(&filing).unwrap();
    scene.world.submit_challenge(&filing).unwrap();
    assert_eq!(scene.challenge(&filing).batch, scene.batch().to_bytes());
}

#[test]
fn a_sealing_with_accounts_of_others_fails() {
    let (mut scene, proof, _) = logged(|s| s.message(MsgType::Propose));
    let filing = scene.logged(&proof, BID);
    scene.world.begin(&filing).unwrap();
    scene.world.append(&filing.finder, filing.nonce, filing.written());
    let right = scene.world.sealing(&filing).remove(0);
    let mint = scene.agent.mint;
    for (place, account, error) in [
        (1, pda::evidence_draft(&filing.finder.at(), 99), Error::AccountMissing),
        (1, pda::lease(&mint), Error::WrongAccountOwner),
        (2, pda::batch(&mint, 1), Error::AccountMissing),
        (2, pda::head(&mint), Error::WrongAccountType),
        (2, pda::lease(&mint), Error::WrongAccountOwner),
        (3, pda::lease(&mint), Error::WrongAccountOwner),
        (3, pda::stake(&mint, 0), Error::WrongAccountType),
    ] {
        let wrong = with_account(right.clone(), place, account);
        refused(&mut scene.world, &[wrong], &filing.finder, &[], error);
    }
    let mut unsigned = right;
    unsigned.accounts[0].is_signer = false;
    let stranger = scene.stranger();
    let failure = scene.world.send_refused(&[unsigned], &stranger, &[]);
    assert_eq!(failure.instruction_error(), Some(&InstructionError::MissingRequiredSignature));
}
