//! Challenges, answers and what follows.

use std::path::{Path, PathBuf};

use serde_json::json;
use solana_address::Address;
use zx1_chain::rpc::ChallengeFilter;
use zx1_chain::rpc::actions::{ChallengeRequest, ChallengeWith};
use zx1_interface::constants::CHALLENGE_STAKE;
use zx1_log::Folder;
use zx1_protocol::bundle::Bundle;
use zx1_protocol::challenge::Ground;
use zx1_protocol::envelope::{Envelope, EnvelopeHeader, MsgType};
use zx1_protocol::hash::{Keccak as _, Sha3};
use zx1_protocol::ids::AgentId;
use zx1_protocol::merkle::leaf;
use zx1_protocol::payload::bid_payload;
use zx1_protocol::units::{Epoch, Slot};

use crate::party::{CONVERSATION, DAY_MICROS, Day, OTHER, SLOT, bid, filler, sent};
use crate::sweep::{Facts, Staged, Sweep};
use crate::world::{Owner, World, words};

/// What a challenger has and has going.
fn going(world: &World, wallet: &Address) -> Facts {
    let mut facts = world.purse(wallet);
    let (challenges, (drafts, recorded)) = world.wait(async {
        let client = &world.eye.client;
        let filter = ChallengeFilter::Challenger(*wallet);
        (client.challenges(filter).await.unwrap(), client.evidence_of(*wallet).await.unwrap())
    });
    facts.insert("challenges", challenges.len().try_into().unwrap());
    facts.insert("left over", (drafts.len() + recorded.len()).try_into().unwrap());
    facts
}

/// The file that `zx1 challenge find --out` writes.
fn challenge_file(agent: AgentId, epoch: u64, evidence: serde_json::Value) -> String {
    let file = json!({
        "version": 1, "agent": agent.to_string(), "epoch": epoch, "ground": "bid", "evidence": evidence,
    });
    file.to_string()
}

/// One liar; every challenge is of a wallet of its own.
fn submitting(world: &World, count: usize, file: &Path) -> Vec<Staged> {
    world.times(count, |_| {
        let owner = world.owner();
        let wallet = owner.address();
        Staged {
            zx1: owner.zx1,
            line: words(&["challenge", "submit", file.to_str().unwrap(), "--yes"]),
            measure: Box::new(move |world| going(world, &wallet)),
        }
    })
}

const SUBMIT: Sweep<'_> = Sweep {
    name: "challenge submit",
    expected: &[("usdc", -(CHALLENGE_STAKE as i128)), ("challenges", 1), ("left over", 0)],
    tolerance: &[],
    kill: true,
};

/// A world with an agent that hid a bid, and the file of the evidence against it: `value` is disputed, too,
/// and its proof needs a draft, if the log is long.
fn liar(long: bool) -> (World, tempfile::TempDir, PathBuf) {
    let world = World::new();
    let liar = world.owner();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("challenge.json");
    let epoch = world.yesterday();
    let mint = world.living_agent(&liar);
    let payload = bid_payload(7, &[b'x'; 300]);
    let (_, entry) = sent(mint, MsgType::Accept, epoch, 1, &payload);
    let mut entries = vec![entry];
    if long {
        entries.extend((0..600_u32).map(|n| [&[1; 70][..], &n.to_le_bytes()].concat()));
    }
    let day = Day { epoch, entries, records: vec![filler(9)] };
    world.wait(liar.party.submit(mint, &day));
    let evidence = day.entry_evidence(0, long.then_some(&payload[..]));
    let text = challenge_file(mint, epoch, json!({ "kind": "bytes", "hex": hex::encode(evidence) }));
    std::fs::write(&file, text).unwrap();
    (world, folder, file)
}

#[test]
fn challenge_submit_in_one_transaction() {
    let (world, _folder, file) = liar(false);
    Sweep { name: "challenge submit", ..SUBMIT }.run(&world, |world, count| submitting(world, count, &file));
}

#[test]
fn challenge_submit_through_a_draft() {
    let (world, _folder, file) = liar(true);
    let sweep = Sweep { name: "challenge submit, draft", ..SUBMIT };
    sweep.run(&world, |world, count| submitting(world, count, &file));
}

#[test]
fn challenge_submit_with_an_envelope() {
    let world = World::new();
    let liar = world.owner();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("challenge.json");
    let epoch = world.yesterday();
    let mint = world.living_agent(&liar);
    let day = Day { epoch, entries: vec![vec![1; 70]], records: vec![filler(9)] };
    world.wait(liar.party.submit(mint, &day));
    let payload = bid_payload(7, b"offer");
    let (signed, _) = sent(mint, MsgType::Accept, epoch, 1, &payload);
    let (sender, payload_hash) = (mint.0, Sha3::hashv(&[&payload]));
    let envelope = Envelope {
        header: EnvelopeHeader {
            version: 1,
            msg_type: MsgType::Accept,
            sender: &sender,
            recipient: OTHER.as_bytes(),
            timestamp: epoch * DAY_MICROS + 1_000_000,
            block_ref: Slot(SLOT),
            nonce: 1,
            conversation_id: CONVERSATION.as_bytes(),
            payload_hash: &payload_hash,
            payload_len: u32::try_from(payload.len()).unwrap(),
        },
        payload: &payload,
        signature: &liar.party.sign(&signed),
    };
    assert_eq!(envelope.signing_bytes(), signed);
    let signer = liar.address().to_string();
    let evidence = json!({ "kind": "envelope", "hex": hex::encode(envelope.to_cbor()), "signer": signer });
    std::fs::write(&file, challenge_file(mint, epoch, evidence)).unwrap();
    let sweep = Sweep { name: "challenge submit, envelope", ..SUBMIT };
    sweep.run(&world, |world, count| submitting(world, count, &file));
}

/// A challenge and its standing: answered, resolved, there at all; with the purses of both sides.
fn standing(world: &World, challenge: Address, wallet: &Address, challenger: &Address) -> Facts {
    let mut facts = world.purse(wallet);
    let found = world.wait(async { world.eye.client.challenge(challenge).await.unwrap() });
    facts.insert("there", i128::from(found.is_some()));
    facts.insert("answered", found.as_ref().map_or(0, |it| i128::from(it.answered)));
    facts.insert("resolved", found.as_ref().map_or(0, |it| i128::from(it.resolved)));
    facts.insert("challenger's usdc", i128::from(world.net.usdc(challenger)));
    facts
}

fn request(challenger: &Owner, agent: AgentId, day: &Day) -> ChallengeRequest {
    ChallengeRequest {
        challenger: challenger.address(),
        agent,
        epoch: day.epoch,
        ground: Ground::Bid,
        with: ChallengeWith::Evidence(day.entry_evidence(0, None)),
    }
}

/// The command on this challenge, by a wallet that has nothing to do with it.
fn settling(world: &World, verb: &[&str], challenge: Address, challenger: Address) -> Staged {
    let passer_by = world.owner();
    let wallet = passer_by.address();
    let mut line = words(&["challenge"]);
    line.extend(words(verb));
    line.extend([challenge.to_string(), "--yes".to_owned()]);
    Staged {
        zx1: passer_by.zx1,
        line,
        measure: Box::new(move |world| standing(world, challenge, &wallet, &challenger)),
    }
}

#[test]
fn challenge_answer() {
    let world = World::new();
    let honest = world.owner();
    let served = tempfile::tempdir().unwrap();
    let epoch = world.yesterday();
    let mint = world.living_agent(&honest);
    let payload = bid_payload(41, b"offer");
    let (_, entry) = sent(mint, MsgType::Propose, epoch, 1, &payload);
    let day = Day { epoch, entries: vec![entry], records: vec![bid(41), filler(1)] };
    world.wait(honest.party.submit(mint, &day));
    // What the batch says of itself plays no part: here it says nothing at all.
    let leaves: Vec<_> = day.entries.iter().map(|entry| leaf::<Sha3>(entry)).collect();
    let records = day.records.concat();
    let bundle = Bundle::new(&[0x80], &records, &leaves).unwrap().to_vec();
    let path = Folder::new(served.path()).path(&mint, Epoch(epoch));
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, bundle).unwrap();
    let data = served.path().to_str().unwrap();
    let sweep = Sweep {
        name: "challenge answer",
        expected: &[("answered", 1), ("usdc", 0), ("challenger's usdc", 0), ("there", 0)],
        tolerance: &[],
        kill: false,
    };
    sweep.run(&world, |world, count| {
        world.times(count, |_| {
            let challenger = world.owner();
            let challenge = world.wait(challenger.party.challenge(&request(&challenger, mint, &day)));
            settling(world, &["answer", "--data", data], challenge, challenger.address())
        })
    });
}

/// Agents that hid a bid, each challenged by somebody, with the windows over.
fn lost(world: &World, count: usize) -> Vec<(Address, Owner)> {
    let epoch = world.yesterday();
    let all = world.times(count, |_| {
        let (liar, challenger) = (world.owner(), world.owner());
        let mint = world.living_agent(&liar);
        let challenge = world.wait(async {
            let (_, entry) = sent(mint, MsgType::Propose, epoch, 1, &bid_payload(7, b""));
            let day = Day { epoch, entries: vec![entry], records: vec![filler(9)] };
            liar.party.submit(mint, &day).await;
            challenger.party.challenge(&request(&challenger, mint, &day)).await
        });
        (challenge, challenger)
    });
    world.net.travel_slots(432_001);
    all
}

#[test]
fn challenge_resolve() {
    let world = World::new();
    let before = world.treasury();
    let resolved = std::sync::atomic::AtomicU64::new(0);
    let sweep = Sweep {
        name: "challenge resolve",
        // The stake of the challenge comes back, and half of the liar's.
        expected: &[("resolved", 1), ("usdc", 0), ("challenger's usdc", 15_000_000)],
        tolerance: &[],
        kill: false,
    };
    sweep.run(&world, |world, count| {
        resolved.fetch_add(count.try_into().unwrap(), std::sync::atomic::Ordering::Relaxed);
        let all = lost(world, count).into_iter();
        all.map(|(challenge, challenger)| settling(world, &["resolve"], challenge, challenger.address()))
            .collect()
    });
    // One epoch of lease and the other half of the stake.
    assert_eq!(world.treasury() - before, 6_000_000 * resolved.into_inner(), "of all of them");
}

#[test]
fn challenge_close() {
    let sweep = Sweep {
        name: "challenge close",
        expected: &[("there", -1), ("usdc", 0), ("challenger's usdc", 0)],
        tolerance: &[],
        kill: false,
    };
    sweep.run(&World::new(), |world, count| {
        let all = lost(world, count).into_iter();
        all.map(|(challenge, challenger)| {
            world.act(&challenger, async |actions, party| {
                party.run(&actions.resolve(challenge, party.address()).await.unwrap()).await;
            });
            settling(world, &["close"], challenge, challenger.address())
        })
        .collect()
    });
}
