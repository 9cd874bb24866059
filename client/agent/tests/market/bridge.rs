//! A contract's envelopes in both parties' logs (decision G1).

use std::sync::Arc;

use sha2::{Digest, Sha256};
use zx1_agent::bridge::{Agreements, Bridge, peer};
use zx1_agent::worker::{Folder, Worker};
use zx1_log::{AgentLog, agent_dir};
use zx1_market::bridge::conversation_id;
use zx1_market::chain::{Common, Data, Side};
use zx1_market::{ContractId, EntryType, State};
use zx1_protocol::batch::Covered;
use zx1_protocol::channel::channel_of;
use zx1_protocol::envelope::{Envelope, EnvelopeHeader, MsgType, PROTOCOL_VERSION};
use zx1_protocol::hash::{Keccak, Sha3};
use zx1_protocol::payload::split_accept_presignature;
use zx1_protocol::units::{Epoch, Slot};

use crate::support::*;

const PRINCIPAL: [u8; 32] = [0xa1; 32];
const AGENT: [u8; 32] = [0xa2; 32];

fn bridge(world: &World, agent: [u8; 32], n: u8) -> Bridge {
    // A cluster whose slot moves on every third time that it is asked.
    let asked = std::sync::atomic::AtomicU64::new(0);
    let slots = Arc::new(move || -> futures_util::future::BoxFuture<'static, Result<u64, String>> {
        let slot = 1_000 + asked.fetch_add(1, std::sync::atomic::Ordering::SeqCst) / 3;
        Box::pin(async move { Ok(slot) })
    });
    Bridge::open(agent_dir(world.folder.path(), &agent), agent, key(n), slots).unwrap()
}

/// How many entries the log of an agent has in the epoch of these tests, and that a batch can be built of it.
fn logged(world: &World, agent: [u8; 32]) -> usize {
    let log = AgentLog::open(agent_dir(world.folder.path(), &agent), agent).unwrap();
    let epoch = Epoch::from_unix_micros(START.0 * 1_000);
    let built = log.build(Covered { from: epoch, to: epoch }, Slot(1), Slot(2_000)).unwrap();
    usize::try_from(built.batch.log_len).unwrap()
}

#[tokio::test]
async fn both_logs_tell_of_the_same_work_and_nothing_is_logged_twice() {
    let world = World::start().await;
    let ours = bridge(&world, PRINCIPAL, 1);
    let theirs = Arc::new(bridge(&world, AGENT, 2));
    let folder = Folder::open(world.folder.path().join("agent")).unwrap();
    let market = world.party(2).await;
    let worker = Worker::new(market, crate::worker::quick(), Box::new(folder)).with_bridge(theirs.clone());
    let task = tokio::spawn(worker.run(std::future::pending()));

    let bench = Bench::lacks_folder();
    let contract = bench.contract(&world.terms().await, "", &[], |_| {});
    let common = ours.announce(START).await.unwrap();
    let posted = world.principal.post_with(&contract, None, &common).await.unwrap();
    let end = bench.serve(&world.principal, posted.id, true).await;
    assert_eq!(end.state(), State::Fulfilled);
    assert_eq!((peer(&end, Side::Principal), peer(&end, Side::Agent)), (Some(PRINCIPAL), Some(AGENT)));
    ours.close(&world.principal, &end).await.unwrap();
    let end = eventually("both have left their feedback", || async {
        let view = world.principal.view(posted.id).await.unwrap();
        let feedback = view.entries().iter().filter(|e| e.kind() == EntryType::Feedback).count();
        (feedback == 2).then_some(view)
    })
    .await;
    task.abort();
    let _ = task.await;
    // Read again, and again: the other side's feedback is new once, everything else is there already.
    ours.keep(&end).unwrap();
    assert_eq!(ours.keep(&end).unwrap(), 0);
    theirs.keep(&end).unwrap();
    assert_eq!(theirs.keep(&end).unwrap(), 0);
    ours.close(&world.principal, &end).await.unwrap();
    drop((ours, theirs));
    // DISCOVER, PROPOSE, ACCEPT, DELIVER, two FEEDBACK for the principal; the agent got no broadcast.
    assert_eq!((logged(&world, PRINCIPAL), logged(&world, AGENT)), (6, 5));
}

#[tokio::test]
async fn a_party_without_an_agent_id_writes_no_envelope_and_trades_all_the_same() {
    let world = World::start().await;
    let theirs = Arc::new(bridge(&world, AGENT, 2));
    let folder = Folder::open(world.folder.path().join("agent")).unwrap();
    let market = world.party(2).await;
    let worker = Worker::new(market, crate::worker::quick(), Box::new(folder)).with_bridge(theirs.clone());
    let task = tokio::spawn(worker.run(std::future::pending()));
    let bench = Bench::lacks_folder();
    let id = world.open(&bench.contract(&world.terms().await, "", &[], |_| {})).await;
    let end = bench.serve(&world.principal, id, true).await;
    assert_eq!(end.state(), State::Fulfilled);
    assert!(end.entries().iter().all(|e| e.read().unwrap().1.envelope.is_none()));
    task.abort();
    let _ = task.await;
    assert_eq!(theirs.keep(&end).unwrap(), 0);
}

/// What a registry would answer: something that binds all that was asked, or nothing.
fn agreements(
    hash: impl Fn([u8; 32], [u8; 16], Slot) -> Result<Option<[u8; 32]>, String> + Send + Sync + 'static,
) -> Agreements {
    Arc::new(move |peer, conversation, slot| {
        let answer = hash(peer, conversation, slot);
        Box::pin(async move { answer })
    })
}

fn bound(peer: [u8; 32], conversation: [u8; 16], slot: Slot) -> [u8; 32] {
    Sha256::digest([peer.as_slice(), &conversation, &slot.0.to_le_bytes()].concat()).into()
}

/// The ACCEPT of a contract that is fulfilled, and the contract's conversation.
async fn accepted_with(agreements: Agreements) -> (Vec<u8>, [u8; 16]) {
    let world = World::start().await;
    let ours = bridge(&world, PRINCIPAL, 1);
    let theirs = Arc::new(bridge(&world, AGENT, 2).presigning(agreements));
    let folder = Folder::open(world.folder.path().join("agent")).unwrap();
    let market = world.party(2).await;
    let worker = Worker::new(market, crate::worker::quick(), Box::new(folder)).with_bridge(theirs);
    let task = tokio::spawn(worker.run(std::future::pending()));
    let bench = Bench::lacks_folder();
    let contract = bench.contract(&world.terms().await, "", &[], |_| {});
    let common = ours.announce(START).await.unwrap();
    let posted = world.principal.post_with(&contract, None, &common).await.unwrap();
    let end = bench.serve(&world.principal, posted.id, true).await;
    task.abort();
    assert_eq!(end.state(), State::Fulfilled);
    let accept = end.entries().iter().find(|entry| entry.kind() == EntryType::Accept).unwrap();
    let (_, common) = accept.read().unwrap();
    (hex::decode(common.envelope.unwrap()).unwrap(), conversation_id(&world.principal.server(), &posted.id))
}

#[tokio::test]
async fn an_accept_carries_the_signature_without_which_nobody_can_file_a_rating() {
    let (accept, conversation) =
        accepted_with(agreements(|peer, talk, slot| Ok(Some(bound(peer, talk, slot))))).await;
    let accept = Envelope::decode(&accept).unwrap();
    assert_eq!(accept.header.conversation_id, &conversation);
    let (bid, signature) = split_accept_presignature(accept.payload).expect("no pre-signature");
    let message = bound(PRINCIPAL, conversation, accept.header.block_ref);
    assert!(key(2).id().verify(&message, signature), "it is signed for this principal, task and slot");
    assert!(bid.ends_with(&[b"FIX1".as_slice(), &bid[bid.len() - 8..]].concat()), "the bid stands before it");
}

#[tokio::test]
async fn an_accept_goes_without_a_signature_when_the_registry_would_not_take_it_or_says_nothing() {
    for silent in [Ok(None), Err("it is not there".to_owned())] {
        let (accept, _) = accepted_with(agreements(move |_, _, _| silent.clone())).await;
        assert_eq!(split_accept_presignature(Envelope::decode(&accept).unwrap().payload), None);
    }
}

/// An envelope of this contract as no bridge would make it: any sender, any nonce, signed with key `n`.
fn forged(
    world: &World,
    id: ContractId,
    n: u8,
    (msg_type, nonce): (MsgType, u64),
    (sender, recipient): (&[u8; 32], &[u8; 32]),
    payload: &[u8],
) -> Common {
    let header = EnvelopeHeader {
        version: PROTOCOL_VERSION,
        msg_type,
        sender,
        recipient,
        timestamp: START.0 * 1_000,
        block_ref: Slot(1),
        nonce,
        conversation_id: &conversation_id(&world.principal.server(), &id),
        payload_hash: &Sha3::hashv(&[payload]),
        payload_len: u32::try_from(payload.len()).unwrap(),
    };
    let unsigned = Envelope { header, payload, signature: &[0; 64] };
    let signature = key(n).sign(&unsigned.signing_bytes());
    let bytes = Envelope { signature: &signature, ..unsigned }.to_cbor();
    Common { envelope: Some(hex::encode(bytes)), ..Common::default() }
}

#[tokio::test]
async fn an_envelope_in_our_name_that_another_key_signed_uses_up_no_nonce() {
    let world = World::start().await;
    let theirs = Arc::new(bridge(&world, AGENT, 2));
    let folder = Folder::open(world.folder.path().join("agent")).unwrap();
    let market = world.party(2).await;
    let worker = Worker::new(market, crate::worker::quick(), Box::new(folder)).with_bridge(theirs.clone());
    let task = tokio::spawn(worker.run(std::future::pending()));
    let bench = Bench::lacks_folder();
    let id = world.open(&bench.contract(&world.terms().await, "", &[], |_| {})).await;
    let end = bench.serve(&world.principal, id, true).await;
    // The principal's feedback says that the agent wrote it, with the last nonce that there is.
    let last = (MsgType::Feedback, u64::MAX);
    let common = forged(&world, id, 1, last, (&AGENT, &PRINCIPAL), b"x");
    world.principal.act_on(&end, Data::Feedback {}, common).await.unwrap();
    let end = world.principal.view(id).await.unwrap();
    assert_eq!(end.entries().last().unwrap().kind(), EntryType::Feedback);
    task.abort();
    let _ = task.await;
    assert_eq!(theirs.keep(&end).unwrap(), 0);
    // Nor is an agent rated by itself.
    let market = world.party(2).await;
    theirs.close(&market, &market.view(id).await.unwrap()).await.unwrap();
    let end = world.principal.view(id).await.unwrap();
    assert_eq!(end.entries().iter().filter(|entry| entry.kind() == EntryType::Feedback).count(), 1);
    drop(theirs);
    let mut log = AgentLog::open(agent_dir(world.folder.path(), &AGENT), AGENT).unwrap();
    let nonce = log.reserve_nonce(channel_of(MsgType::Feedback), START.0 * 1_000).unwrap();
    assert!(nonce < u64::MAX / 2, "{nonce}");
}

#[tokio::test]
async fn an_envelope_that_the_log_refuses_keeps_no_other_one_from_it() {
    let world = World::start().await;
    let ours = bridge(&world, PRINCIPAL, 1);
    let bench = Bench::lacks_folder();
    let contract = bench.contract(&world.terms().await, "", &[], |_| {});
    let common = ours.announce(START).await.unwrap();
    let id = world.principal.post_with(&contract, None, &common).await.unwrap().id;
    world.until(id, State::Open).await;
    let thief = world.party(2).await;
    let view = thief.view(id).await.unwrap();
    let between = (&AGENT, &PRINCIPAL);
    // A bid that no challenge could rest on: the log takes none so long.
    let long = forged(&world, id, 2, (MsgType::Propose, 1), between, &[0; 500]);
    let bond = thief.sign_bond(&view, None, &long).await.unwrap();
    thief.send_bond(&view, bond).await.unwrap();
    let short = forged(&world, id, 2, (MsgType::Accept, 2), between, &[0; 50]);
    let view = world.until(id, State::Investigating).await;
    assert_eq!(ours.keep(&view).unwrap(), 0);
    let view = thief.view(view.id()).await.unwrap();
    thief.act_on(&view, Data::Accept { agent: thief.id() }, short).await.unwrap();
    let view = world.until(id, State::InProgress).await;
    assert_eq!(ours.keep(&view).unwrap(), 1);
    assert_eq!(ours.keep(&view).unwrap(), 0);
}

/// The envelope of the fix of an agent whose cluster does not say its slot, so many times from the DELIVER on.
async fn delivered_without_slots(silent: u64) -> Option<String> {
    let world = World::start().await;
    let ours = bridge(&world, PRINCIPAL, 1);
    let asked = std::sync::atomic::AtomicU64::new(0);
    // PROPOSE and ACCEPT have theirs; the slot moves on each time, so that neither asks twice.
    let slots = Arc::new(move || -> futures_util::future::BoxFuture<'static, Result<u64, String>> {
        let nth = asked.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        let missing = nth >= 2 && nth - 2 < silent;
        Box::pin(async move { if missing { Err("it is not there".to_owned()) } else { Ok(1_000 + nth) } })
    });
    let theirs = Bridge::open(agent_dir(world.folder.path(), &AGENT), AGENT, key(2), slots).unwrap();
    let folder = Folder::open(world.folder.path().join("agent")).unwrap();
    let market = world.party(2).await;
    let worker = Worker::new(market, crate::worker::quick(), Box::new(folder)).with_bridge(Arc::new(theirs));
    let task = tokio::spawn(worker.run(std::future::pending()));
    let bench = Bench::lacks_folder();
    let contract = bench.contract(&world.terms().await, "", &[], |_| {});
    let common = ours.announce(START).await.unwrap();
    let id = world.principal.post_with(&contract, None, &common).await.unwrap().id;
    let end = bench.serve(&world.principal, id, true).await;
    task.abort();
    assert_eq!(end.state(), State::Fulfilled);
    let accept = end.entries().iter().find(|entry| entry.kind() == EntryType::Accept).unwrap();
    assert!(accept.read().unwrap().1.envelope.is_some());
    let fix = end.entries().iter().find(|entry| entry.kind() == EntryType::Fix).unwrap();
    fix.read().unwrap().1.envelope
}

#[tokio::test]
async fn a_cluster_that_does_not_answer_for_a_while_ends_no_accepted_contract() {
    assert!(delivered_without_slots(3).await.is_some(), "it was waited for");
    assert!(delivered_without_slots(u64::MAX).await.is_none(), "the fix is worth more than its envelope");
}
