//! Challenges, answers and what follows.

use std::path::{Path, PathBuf};

use serde_json::json;
use solana_address::Address;
use zx1_chain::rpc::actions::ChallengeWith;
use zx1_chain::rpc::{ChallengeFilter, DraftFilter};
use zx1_log::Folder;
use zx1_protocol::bundle::Bundle;
use zx1_protocol::challenge::Ground;
use zx1_protocol::envelope::{Envelope, EnvelopeHeader, MsgType};
use zx1_protocol::hash::{Keccak as _, Sha3};
use zx1_protocol::ids::AgentId;
use zx1_protocol::merkle::leaf;
use zx1_protocol::payload::bid_payload;
use zx1_protocol::units::{Epoch, Slot};

use crate::party::{AMOUNTS, CONVERSATION, DAY_MICROS, Day, Message, OTHER, SLOT, claim, filler, sent};
use crate::sweep::{Facts, Staged, Sweep};
use crate::world::{Owner, World, words};

/// What a challenger has and has going.
fn going(world: &World, wallet: &Address) -> Facts {
    let mut facts = world.purse(wallet);
    let (challenges, drafts) = world.wait(async {
        let client = &world.eye.client;
        let challenges = client.challenges(ChallengeFilter::Challenger(*wallet)).await.unwrap();
        (challenges, client.drafts(DraftFilter::Owner(*wallet)).await.unwrap())
    });
    facts.insert("challenges", challenges.len().try_into().unwrap());
    facts.insert("drafts", drafts.len().try_into().unwrap());
    facts
}

/// The file that `zx1 challenge find --out` writes.
fn challenge_file(agent: AgentId, epoch: u64, evidence: &serde_json::Value) -> String {
    let claims = json!([{ "ground": "bid", "evidence": evidence }]);
    let file = json!({ "version": 2, "agent": agent.to_string(), "epoch": epoch, "claims": claims });
    file.to_string()
}

/// Bids of one agent in the last epoch, each missing from the epoch's batch; and the batch. One message gives
/// one claim, whoever makes it.
struct Liar {
    owner: Owner,
    mint: AgentId,
    payload: Vec<u8>,
    messages: Vec<Message>,
    day: Day,
}

/// The batch lacks the messages as well, if they were not logged.
fn liar(world: &World, count: usize, logged: bool, more: u32) -> Liar {
    let owner = world.owner();
    let mint = world.living_agent(&owner);
    world.net.travel_epochs(1);
    let (epoch, payload) = (world.yesterday(), bid_payload(7, &[b'x'; 300]));
    let of = |nonce: usize| sent(mint, MsgType::Accept, epoch, nonce.try_into().unwrap(), &payload);
    let messages: Vec<Message> = (1..=count).map(of).collect();
    let mut entries: Vec<Vec<u8>> = Vec::new();
    if logged {
        entries.extend(messages.iter().map(|message| message.entry.clone()));
    }
    entries.extend((0..=more).map(|n| [&[1; 70][..], &n.to_le_bytes()].concat()));
    let day = Day { epoch, entries, records: vec![filler(9)] };
    world.wait(owner.party.submit(mint, &day));
    Liar { owner, mint, payload, messages, day }
}

/// Every challenge is of a wallet of its own, about a message of its own.
fn submitting(
    world: &World,
    count: usize,
    folder: &Path,
    liar: &Liar,
    evidence: impl Fn(usize) -> serde_json::Value + Sync,
) -> Vec<Staged> {
    world.times(count, |number| {
        let file = folder.join(format!("{}-{number}.json", liar.mint));
        std::fs::write(&file, challenge_file(liar.mint, liar.day.epoch, &evidence(number))).unwrap();
        let owner = world.owner();
        let wallet = owner.address();
        Staged {
            zx1: owner.zx1,
            line: words(&["challenge", "submit", file.to_str().unwrap(), "--yes"]),
            measure: Box::new(move |world| going(world, &wallet)),
        }
    })
}

/// The draft stays until its deposit is called back.
const SUBMIT: Sweep<'_> = Sweep {
    name: "challenge submit",
    expected: &[("usdc", -(AMOUNTS.challenge_stake as i128)), ("challenges", 1), ("drafts", 1)],
    tolerance: &[],
    kill: true,
};

/// With evidence from the log: the value is disputed, too, if it is to be long, and then it takes several pieces.
fn submit_from_log(sweep: &Sweep<'_>, long: bool) {
    let folder = tempfile::tempdir().unwrap();
    sweep.run(&World::new(), |world, count| {
        // Long enough that one state and many have proofs of one length.
        let liar = liar(world, count, true, 600);
        submitting(world, count, folder.path(), &liar, |number| {
            let shown = long.then_some(&liar.payload[..]);
            let evidence = liar.day.entry_evidence(number.try_into().unwrap(), shown);
            json!({ "kind": "bytes", "hex": hex::encode(evidence) })
        })
    });
}

#[test]
fn challenge_submit_of_a_short_entry() {
    submit_from_log(&Sweep { name: "challenge submit", ..SUBMIT }, false);
}

#[test]
fn challenge_submit_in_several_pieces() {
    submit_from_log(&Sweep { name: "challenge submit, pieces", ..SUBMIT }, true);
}

#[test]
fn challenge_submit_with_an_envelope() {
    let folder = tempfile::tempdir().unwrap();
    let sweep = Sweep { name: "challenge submit, envelope", ..SUBMIT };
    sweep.run(&World::new(), |world, count| {
        let liar = liar(world, count, false, 0);
        submitting(world, count, folder.path(), &liar, |number| {
            let (message, payload) = (&liar.messages[number], &liar.payload);
            let (sender, payload_hash) = (liar.mint.0, Sha3::hashv(&[payload]));
            let envelope = Envelope {
                header: EnvelopeHeader {
                    version: 1,
                    msg_type: MsgType::Accept,
                    sender: &sender,
                    recipient: OTHER.as_bytes(),
                    timestamp: liar.day.epoch * DAY_MICROS + 1_000_000,
                    block_ref: Slot(SLOT),
                    nonce: u64::try_from(number).unwrap() + 1,
                    conversation_id: CONVERSATION.as_bytes(),
                    payload_hash: &payload_hash,
                    payload_len: u32::try_from(payload.len()).unwrap(),
                },
                payload,
                signature: &liar.owner.party.sign(&message.signed),
            };
            assert_eq!(envelope.signing_bytes(), message.signed);
            let signer = liar.owner.address().to_string();
            json!({ "kind": "envelope", "hex": hex::encode(envelope.to_cbor()), "signer": signer })
        })
    });
}

/// A challenge and its standing: settled how, there at all; with the purses of both sides.
fn standing(world: &World, challenge: Address, wallet: &Address, challenger: &Address) -> Facts {
    let mut facts = world.purse(wallet);
    let found = world.wait(async { world.eye.client.challenge(challenge).await.unwrap() });
    facts.insert("there", i128::from(found.is_some()));
    facts.insert("outcome", found.as_ref().map_or(0, |it| i128::from(it.outcome)));
    facts.insert("challenger's usdc", i128::from(world.net.usdc(challenger)));
    facts
}

/// Challenges an entry of the day's log.
fn challenge(world: &World, challenger: &Owner, agent: AgentId, day: &Day, entry: usize) -> Address {
    let evidence = ChallengeWith::Evidence(day.entry_evidence(entry.try_into().unwrap(), None));
    let request = claim(challenger.address(), agent, day.epoch, Ground::Bid, evidence);
    world.wait(challenger.party.challenge(&request))
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

/// An agent with so many bids in its log and in its arrays, whose batch is served in the folder.
pub(crate) fn honest(world: &World, count: usize, served: &Path) -> (AgentId, Day) {
    let owner = world.owner();
    let mint = world.living_agent(&owner);
    world.net.travel_epochs(1);
    (mint, tell(world, &owner, mint, count, served))
}

/// Submits and serves the batch of the epoch that is over: so many bids in the log and in the arrays.
pub(crate) fn tell(world: &World, owner: &Owner, mint: AgentId, count: usize, served: &Path) -> Day {
    let epoch = world.yesterday();
    let of = |nonce: usize| {
        let message =
            sent(mint, MsgType::Propose, epoch, nonce.try_into().unwrap(), &bid_payload(41, b"offer"));
        let record = message.bid(41);
        (message.entry, record)
    };
    let (entries, records): (Vec<_>, Vec<_>) = (1..=count).map(of).unzip();
    let day = Day { epoch, entries, records };
    world.wait(owner.party.submit(mint, &day));
    // What the batch says of itself plays no part: here it says nothing at all.
    let leaves: Vec<_> = day.entries.iter().map(|entry| leaf::<Sha3>(entry)).collect();
    let records = day.records.concat();
    let bundle = Bundle::new(&[0x80], &records, &leaves).unwrap().to_vec();
    let path: PathBuf = Folder::new(served).path(&mint, Epoch(epoch));
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, bundle).unwrap();
    day
}

#[test]
fn challenge_answer() {
    let served = tempfile::tempdir().unwrap();
    let data = served.path().to_str().unwrap();
    let sweep = Sweep {
        name: "challenge answer",
        // It is settled at once, and whoever answers is paid.
        expected: &[
            ("outcome", 1),
            ("usdc", AMOUNTS.lost_to_answerer as i128),
            ("challenger's usdc", 0),
            ("there", 0),
        ],
        tolerance: &[],
        kill: false,
    };
    sweep.run(&World::new(), |world, count| {
        let (mint, day) = honest(world, count, served.path());
        world.times(count, |number| {
            let challenger = world.owner();
            let challenge = challenge(world, &challenger, mint, &day, number);
            settling(world, &["answer", "--data", data], challenge, challenger.address())
        })
    });
}

/// Agents that hid a bid, each challenged by somebody, with the windows over.
fn lost(world: &World, count: usize) -> Vec<(Address, Owner)> {
    let agents = world.times(count, |_| {
        let liar = world.owner();
        let mint = world.living_agent(&liar);
        (liar, mint)
    });
    world.net.travel_epochs(1);
    let epoch = world.yesterday();
    let all = world.times(count, |number| {
        let (liar, mint) = &agents[number];
        let challenger = world.owner();
        let message = sent(*mint, MsgType::Propose, epoch, 1, &bid_payload(7, b""));
        let day = Day { epoch, entries: vec![message.entry], records: vec![filler(9)] };
        world.wait(liar.party.submit(*mint, &day));
        let challenge = challenge(world, &challenger, *mint, &day, 0);
        (challenge, challenger)
    });
    world.net.travel_slots(432_001);
    all
}

/// What the first finder of a slashed stake takes.
const fn first_share() -> i128 {
    let pot = AMOUNTS.min_stake * AMOUNTS.finders_percent as u64 / 100;
    (pot * AMOUNTS.share_percent as u64 / 100) as i128
}

#[test]
fn challenge_resolve() {
    let world = World::new();
    let before = world.treasury();
    let resolved = std::sync::atomic::AtomicU64::new(0);
    let sweep = Sweep {
        name: "challenge resolve",
        // The stake of the challenge comes back, and the finder's part of the liar's.
        expected: &[
            ("outcome", 2),
            ("usdc", 0),
            ("challenger's usdc", AMOUNTS.challenge_stake as i128 + first_share()),
        ],
        tolerance: &[],
        kill: false,
    };
    sweep.run(&world, |world, count| {
        resolved.fetch_add(count.try_into().unwrap(), std::sync::atomic::Ordering::Relaxed);
        let all = lost(world, count).into_iter();
        all.map(|(challenge, challenger)| settling(world, &["resolve"], challenge, challenger.address()))
            .collect()
    });
    // One epoch of lease and the rest of the stake: nobody else holds a rank.
    let each = 1_000_000 + AMOUNTS.min_stake - u64::try_from(first_share()).unwrap();
    assert_eq!(world.treasury() - before, each * resolved.into_inner(), "of all of them");
}

#[test]
fn challenge_resolve_behind_a_lapsed_draft() {
    let sweep = Sweep {
        name: "challenge resolve, draft before it",
        expected: &[("outcome", 2), ("usdc", 0)],
        tolerance: &[],
        kill: true,
    };
    sweep.run(&World::new(), |world, count| {
        let agents = world.times(count, |_| {
            let liar = world.owner();
            let mint = world.living_agent(&liar);
            (liar, mint)
        });
        world.net.travel_epochs(1);
        let epoch = world.yesterday();
        let days = world.times(count, |number| {
            let (liar, mint) = &agents[number];
            let message = sent(*mint, MsgType::Propose, epoch, 1, &bid_payload(7, b""));
            let day = Day { epoch, entries: vec![message.entry], records: vec![filler(9)] };
            world.wait(liar.party.submit(*mint, &day));
            // Somebody has the first rank, and does nothing with it.
            let sleeper = world.owner();
            let evidence = ChallengeWith::Evidence(day.entry_evidence(0, None));
            let request = claim(sleeper.address(), *mint, epoch, Ground::Bid, evidence);
            world.act(&sleeper, async |actions, party| {
                let flow = actions.challenge(&request).await.unwrap();
                match flow.next(&party.client).await.unwrap() {
                    zx1_chain::rpc::Step::Send { draft, .. } => party.run(&draft).await,
                    zx1_chain::rpc::Step::Done(why) => panic!("{why}"),
                };
            });
            (*mint, day)
        });
        let all = world.times(count, |number| {
            let ((mint, day), challenger) = (&days[number], world.owner());
            (challenge(world, &challenger, *mint, day, 0), challenger)
        });
        world.net.travel_slots(432_001);
        let all = all.into_iter();
        all.map(|(challenge, challenger)| settling(world, &["resolve"], challenge, challenger.address()))
            .collect()
    });
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

#[test]
fn challenge_cancel() {
    let sweep = Sweep {
        name: "challenge cancel",
        // Rent and deposit of a rank that was used.
        expected: &[("drafts", -1), ("challenges", 0), ("usdc", 0)],
        tolerance: &[],
        kill: true,
    };
    sweep.run(&World::new(), |world, count| {
        let liar = liar(world, count, true, 600);
        world.times(count, |number| {
            let owner = world.owner();
            challenge(world, &owner, liar.mint, &liar.day, number);
            let wallet = owner.address();
            let drafts = world.wait(world.eye.client.drafts(DraftFilter::Owner(wallet))).unwrap();
            Staged {
                zx1: owner.zx1,
                line: words(&["challenge", "cancel", &drafts[0].address.to_string(), "--yes"]),
                measure: Box::new(move |world| going(world, &wallet)),
            }
        })
    });
}
