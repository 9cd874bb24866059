//! Three agents trade while peers of another program break every rule of the mesh: real nodes, real cluster, and
//! strangers on the bare transport.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, missing_docs)]

#[path = "byzantine/attacker.rs"]
mod attacker;
#[path = "../../../client/mesh/tests/support/bytes.rs"]
mod bytes;

use attacker::Attack;
use libp2p::identity::Keypair;
use std::cell::Cell;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tokio::sync::{mpsc, watch};
use zx1_e2e::{Localnet, Owner, Zx1, path, text, wait_for_mesh, wait_until};
use zx1_protocol::channel::Channel;
use zx1_protocol::envelope::{BROADCAST, Envelope, EnvelopeHeader, MsgType, PROTOCOL_VERSION};
use zx1_protocol::hash::{Keccak as _, Sha3};
use zx1_protocol::ids::{AgentId, ConversationId};
use zx1_protocol::mesh_payload::Advertise;
use zx1_protocol::payload::Feedback;
use zx1_protocol::units::Slot;

/// From the first bad message until every honest node has done with the peer. Everything at once on a busy machine;
/// on a free one it is within one heartbeat.
const BOUND: Duration = Duration::from_secs(45);

/// Points of a score, of which `node peers` shows hundredths.
const POINT: i64 = 100;

/// Writes messages of any kind under any key.
struct Forger {
    sender: AgentId,
    slot: u64,
    nonce: Cell<u64>,
}

/// A message and what is wrong with it.
#[derive(Clone)]
struct Forgery<'a> {
    msg_type: MsgType,
    recipient: AgentId,
    payload: &'a [u8],
    hash_of: &'a [u8],
    length: u32,
    signed: bool,
}

impl Forger {
    /// A message that keeps all rules.
    fn right<'a>(msg_type: MsgType, payload: &'a [u8]) -> Forgery<'a> {
        let length = u32::try_from(payload.len()).unwrap();
        Forgery { msg_type, recipient: BROADCAST, payload, hash_of: payload, length, signed: true }
    }

    fn write(&self, key: &Keypair, it: &Forgery<'_>) -> Vec<u8> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        let hash = Sha3::hashv(&[it.hash_of]);
        self.nonce.set(self.nonce.get() + 1);
        let header = EnvelopeHeader {
            version: PROTOCOL_VERSION,
            msg_type: it.msg_type,
            sender: &self.sender.0,
            recipient: &it.recipient.0,
            timestamp: u64::try_from(now.as_micros()).unwrap(),
            block_ref: Slot(self.slot),
            nonce: self.nonce.get(),
            conversation_id: &[7; 16],
            payload_hash: &hash,
            payload_len: it.length,
        };
        let unsigned = Envelope { header, payload: it.payload, signature: &[0; 64] };
        let signature: [u8; 64] = key.sign(&unsigned.signing_bytes()).unwrap().try_into().unwrap();
        let signature = if it.signed { signature } else { [0x55; 64] };
        Envelope { signature: &signature, ..unsigned }.to_cbor()
    }

    /// Three of the kind, which is one more than a score stands.
    fn three(&self, key: &Keypair, channel: Channel, it: &Forgery<'_>) -> Vec<(Channel, Vec<u8>)> {
        (0..3).map(|_| (channel, self.write(key, it))).collect()
    }
}

fn frame(envelope: &[u8]) -> Vec<u8> {
    [&u32::try_from(envelope.len()).unwrap().to_le_bytes()[..], envelope].concat()
}

fn advert(cap: &str) -> Vec<u8> {
    let advert = Advertise { caps: vec![cap], schema: "", unit: "XNO", price: 1, contract: None, ttl: 600 };
    advert.to_payload().unwrap()
}

/// A key file's key.
fn key_in(file: &Path) -> Keypair {
    let bytes: Vec<u8> = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    Keypair::ed25519_from_bytes(bytes[..32].to_vec()).unwrap()
}

/// The attacks, and the reason under which honest nodes count each. `keys` are live keys of a registered agent with
/// stake and lease: a liar that may speak.
fn attacks(forger: &Forger, keys: &[Keypair; 6], victim: AgentId) -> Vec<(Attack, &'static str)> {
    let stranger = Keypair::generate_ed25519;
    let payload = advert("noise");
    let right = Forger::right(MsgType::Advertise, &payload);
    let [forging, hashing, stretching, rating, hurrying, repeating] = keys.clone();
    let mut all = Vec::new();
    let mut add = |attack: Attack, reason| all.push((attack, reason));

    let mut attack = Attack::new("form", stranger());
    attack.gossip = (0..3).map(|number| (Channel::Broadcast, vec![0xF0 + number; 200])).collect();
    add(attack, "Malformed");

    let mut attack = Attack::new("encoding", stranger());
    let longer = |(channel, bytes): (Channel, Vec<u8>)| (channel, [bytes, vec![0]].concat());
    attack.gossip = forger.three(&attack.key, Channel::Broadcast, &right).into_iter().map(longer).collect();
    add(attack, "NotCanonical");

    let mut attack = Attack::new("size", stranger());
    attack.gossip = (0..3).map(|number| (Channel::Broadcast, vec![number; 65_537])).collect();
    add(attack, "TooLarge");

    let mut attack = Attack::new("channel", stranger());
    attack.gossip = forger.three(&attack.key, Channel::Notary, &right);
    add(attack, "WrongChannel");

    let mut attack = Attack::new("name", stranger());
    attack.gossip = forger.three(&stranger(), Channel::Broadcast, &right);
    add(attack, "Source");

    // Its first message is right, so that the nodes know the key when the others come.
    let mut attack = Attack::new("signature", forging);
    attack.first = vec![(
        Channel::Broadcast,
        forger.write(&attack.key, &Forger::right(MsgType::Advertise, &advert("known"))),
    )];
    attack.gossip =
        forger.three(&attack.key, Channel::Broadcast, &Forgery { signed: false, ..right.clone() });
    add(attack, "Signature");

    let mut attack = Attack::new("payload", rating);
    attack.gossip =
        forger.three(&attack.key, Channel::Reputation, &Forger::right(MsgType::Feedback, b"no rating"));
    add(attack, "Payload");

    let mut attack = Attack::new("rate", hurrying);
    // Ten a second are taken, at once twenty: any machine is faster.
    let rating = Feedback {
        conversation_id: ConversationId([7; 16]),
        target_agent: forger.sender,
        score: -100,
        outcome: 0,
        is_dispute: false,
        role: 0,
    };
    let rating = rating.to_cbor().unwrap();
    let rating = Forger::right(MsgType::Feedback, &rating);
    attack.gossip = (0..400).map(|_| (Channel::Reputation, forger.write(&attack.key, &rating))).collect();
    add(attack, "FeedbackRate");

    // Beyond all nonces of the one before, so that nothing is refused for its nonce.
    forger.nonce.set(1_000_000);
    let mut attack = Attack::new("hash", hashing);
    attack.gossip =
        forger.three(&attack.key, Channel::Broadcast, &Forgery { hash_of: b"other", ..right.clone() });
    add(attack, "PayloadHash");

    let mut attack = Attack::new("length", stretching);
    attack.gossip =
        forger.three(&attack.key, Channel::Broadcast, &Forgery { length: right.length + 1, ..right });
    add(attack, "PayloadLength");

    let mut attack = Attack::new("replay", repeating);
    let deliver = Forgery { recipient: victim, ..Forger::right(MsgType::Deliver, b"once") };
    let once = frame(&forger.write(&attack.key, &deliver));
    // Some are refused for the rate of their author, which another attack uses up.
    attack.streams = vec![once; 24];
    add(attack, "Nonce");

    // Of the right form, so that only their number is wrong.
    let mut attack = Attack::new("flood of streams", stranger());
    attack.streams = vec![frame(&forger.write(&attack.key, &deliver)); 1_500];
    add(attack, "DirectRate");

    let mut attack = Attack::new("garbage on streams", stranger());
    let endless = [&u32::MAX.to_le_bytes()[..], &[0; 5_000]].concat();
    let cut_off = [&100_u32.to_le_bytes()[..], b"only this"].concat();
    let kinds = [endless, cut_off, frame(b""), b"GET / HTTP/1.1\r\n\r\n".to_vec(), Vec::new()];
    attack.streams = kinds.iter().cycle().take(50).cloned().collect();
    add(attack, "Frame");

    let mut attack = Attack::new("nonsense on streams", stranger());
    attack.streams = vec![frame(b"nothing"); 10];
    add(attack, "Graylisted");

    let mut attack = Attack::new("deaf", stranger());
    attack.stalls = true;
    add(attack, "");
    all
}

/// Trades until told to stop, and returns how often. Every message arrives, whatever others do meanwhile.
fn trade(alice: &Owner, bob: &Owner, carol: &Owner, stop: &AtomicBool) -> u64 {
    let mut round = 0;
    loop {
        round += 1;
        let cap = format!("honest-{round}");
        let told = carol.send(&["advertise", &cap, "--unit", "XNO", "--price", "5", "--ttl", "1h"]);
        let proposed = alice.send(&["negotiate", "propose", &bob.mint, "--value", &round.to_string()]);
        let deal = text(&alice.wait_for(proposed, "acknowledged")["conversation"]).to_owned();
        let accepted = bob.send(&["negotiate", "accept", &deal]);
        bob.wait_for(accepted, "acknowledged");
        carol.wait_for(told, "sent");
        for reader in [alice, bob] {
            wait_until("the advert is heard", || {
                let found = reader.json(&["discover", &cap, "--wait", "0"]);
                (found["adverts"].as_array().unwrap().len() == 1).then_some(())
            });
        }
        // A node takes 64 open deals with one agent.
        if stop.load(Ordering::SeqCst) || round == 60 {
            return round;
        }
    }
}

#[test]
fn peers_that_break_rules_are_left_out_and_honest_ones_lose_nothing() {
    let net = Localnet::builder().start();
    let folder = tempfile::tempdir().unwrap();
    let files: [_; 6] = std::array::from_fn(|index| folder.path().join(format!("{index}.json")));
    for file in &files {
        Zx1::new(&net).run(["key", "new", path(file)]).ok();
    }
    let listed: Vec<(&Path, &str)> = files.iter().map(|file| (file.as_path(), "peer")).collect();
    let mallory = Owner::new(&net, 3, "mallory", &listed);
    let mut known: Vec<String> = Vec::new();
    let owners = ["alice", "bob", "carol"].map(|name| {
        let mut owner = Owner::simple(&net, known.len(), name);
        let mut options = vec!["--name", name];
        known.iter().for_each(|address| options.extend(["--bootstrap", address.as_str()]));
        owner.start(&options);
        known.push(owner.address.clone());
        owner
    });
    owners.iter().for_each(wait_for_mesh);
    let [alice, bob, carol] = &owners;

    let forger =
        Forger { sender: mallory.mint.parse().unwrap(), slot: net.status().slot, nonce: Cell::new(0) };
    let attacks = attacks(&forger, &files.each_ref().map(|file| key_in(file)), alice.mint.parse().unwrap());
    let plan: Vec<(&str, String, &str)> =
        attacks.iter().map(|(attack, reason)| (attack.name, attack.peer().to_string(), *reason)).collect();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let (begin, told) = watch::channel(false);
    let (ready, mut all_ready) = mpsc::channel(64);
    let nodes: Vec<libp2p::Multiaddr> = known.iter().map(|address| address.parse().unwrap()).collect();
    for (attack, _) in attacks {
        runtime.spawn(attacker::run(attack, nodes.clone(), ready.clone(), told.clone()));
    }
    for _ in &plan {
        assert!(all_ready.blocking_recv().is_some());
    }
    for owner in &owners {
        wait_until("the forger's key is known", || {
            let found = owner.json(&["discover", "known", "--wait", "0"]);
            (found["adverts"].as_array().unwrap().len() == 1).then_some(())
        });
    }

    let stop = Arc::new(AtomicBool::new(false));
    std::thread::scope(|scope| {
        let trading = scope.spawn(|| trade(alice, bob, carol, &stop));
        begin.send(true).unwrap();
        let begun = Instant::now();
        for owner in &owners {
            wait_until_left_out(owner, &plan, owner.mint == alice.mint);
        }
        let taken = begun.elapsed();
        assert!(taken < BOUND, "it took {taken:?}");
        stop.store(true, Ordering::SeqCst);
        let rounds = trading.join().unwrap();
        assert_eq!(alice.phase(text(&bob.inbox().last().unwrap()["conversation"])), "agreed");
        let proposals = bob.logged().into_iter().filter(|it| *it == ("received".into(), "propose".into()));
        assert_eq!(u64::try_from(proposals.count()).unwrap(), rounds);
    });

    for owner in &owners {
        for (name, _, reason) in &plan {
            let at_alice = matches!(*reason, "Nonce" | "DirectRate" | "Frame" | "Graylisted" | "");
            if !at_alice {
                let metric = format!("zx1_node_messages_refused_total{{reason=\"{reason}\"}}");
                assert!(owner.metric(&metric) > 0, "{name}: {}", owner.mint);
            }
        }
    }
    for reason in ["Nonce", "DirectRate"] {
        let metric = format!("zx1_node_messages_refused_total{{reason=\"{reason}\"}}");
        assert!(alice.metric(&metric) > 0, "{reason}: {}", alice.metrics());
    }
    assert!(alice.metric("zx1_node_transport_dropped_total{reason=\"Frame\"}") >= 40);
    assert!(alice.metric("zx1_node_transport_dropped_total{reason=\"Graylisted\"}") > 0);
    let once = alice.logged().into_iter().filter(|it| *it == ("received".into(), "deliver".into()));
    assert_eq!(once.count(), 1, "what came many times is there once");

    // Honest peers think well of each other.
    let honest: Vec<String> = owners.iter().map(peer_of).collect();
    for owner in &owners {
        for peer in owner.peers().iter().filter(|it| honest.contains(&text(&it["peer"]).to_owned())) {
            assert!(peer["score"].as_i64().unwrap() >= 0, "{peer}");
        }
    }
}

/// Waits until the node has read nothing of each peer that breaks rules which every node sees the same way, and has
/// had those that are too loud in none of its meshes: a score recovers with time.
fn wait_until_left_out(owner: &Owner, plan: &[(&str, String, &str)], is_target: bool) {
    let mut left: Vec<_> = plan.iter().filter(|(.., reason)| !matches!(*reason, "" | "Nonce")).collect();
    left.retain(|(.., reason)| is_target || !matches!(*reason, "DirectRate" | "Frame" | "Graylisted"));
    let begun = Instant::now();
    while begun.elapsed() < BOUND {
        let peers = owner.peers();
        left.retain(|(_, id, reason)| {
            let Some(peer) = peers.iter().find(|it| it["peer"] == *id) else { return false };
            let is_out = match *reason {
                "DirectRate" | "FeedbackRate" => {
                    let score = peer["score"].as_i64().unwrap();
                    score < -20 * POINT && peer["mesh"].as_array().unwrap().is_empty()
                }
                _ => peer["is_graylisted"] == true,
            };
            !is_out
        });
        if left.is_empty() {
            return;
        }
    }
    let names: Vec<&str> = left.iter().map(|(name, ..)| *name).collect();
    panic!("still there after {BOUND:?}: {names:?}; {:#?}\n{}", owner.peers(), owner.metrics());
}

fn peer_of(owner: &Owner) -> String {
    text(&owner.status()["identity"]["peer"]).to_owned()
}
