//! A contract's envelopes in both parties' logs (decision G1).

use std::sync::Arc;

use sha2::{Digest, Sha256};
use zx1_agent::bridge::{Agreements, Bridge, peer};
use zx1_agent::worker::{Folder, Worker};
use zx1_log::{AgentLog, agent_dir};
use zx1_market::bridge::conversation_id;
use zx1_market::chain::Side;
use zx1_market::{EntryType, State};
use zx1_protocol::batch::Covered;
use zx1_protocol::envelope::Envelope;
use zx1_protocol::payload::split_accept_presignature;
use zx1_protocol::units::{Epoch, Slot};

use crate::support::*;

const PRINCIPAL: [u8; 32] = [0xa1; 32];
const AGENT: [u8; 32] = [0xa2; 32];

fn bridge(world: &World, agent: [u8; 32], n: u8) -> Bridge {
    // A cluster whose slot moves on every third time that it is asked.
    let asked = std::sync::atomic::AtomicU64::new(0);
    let slots = Arc::new(move || -> zx1_agent::model::BoxFuture<'static, Result<u64, String>> {
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
