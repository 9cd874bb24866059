//! Batches' data: what the chain commits to is taken and served, nothing else.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use super::{Bundles, Put, check, most_bytes};
use crate::store::{AgentRow, BatchRow, Commit, Find};
use crate::testing::{Fake, NETWORK, Party, Rig};
use proptest::prelude::*;
use zx1_protocol::batch::BatchMessage;
use zx1_protocol::behavior_batch::{Built, Commitment};
use zx1_protocol::envelope::MsgType;
use zx1_protocol::ids::{AgentId, ConversationId};
use zx1_protocol::payload::bid_payload;
use zx1_protocol::record::KIND_BID;
use zx1_protocol::reputation::Standing;
use zx1_protocol::units::Epoch;
use zx1_server::problem::Refused as _;

const EPOCH: u64 = 19_999;

fn row(commitment: &Commitment) -> BatchRow {
    BatchRow {
        agent: commitment.agent,
        epoch: commitment.epoch.0 as i64,
        batch_hash: commitment.batch_hash.to_vec(),
        log_root: commitment.log_merkle_root.to_vec(),
        log_len: i64::from(commitment.log_len),
        arrays_root: commitment.arrays_root.to_vec(),
        arrays_len: i64::from(commitment.arrays_len),
        ..BatchRow::default()
    }
}

/// Two agents that made a deal and rated each other.
fn deal() -> (Party, Party, Vec<u8>) {
    let (mut ann, mut bob) = (Party::new(1), Party::new(2));
    ann.say(&mut bob, MsgType::Propose, ConversationId([9; 16]), &bid_payload(500, b"JSON{}"), EPOCH);
    bob.say(&mut ann, MsgType::Accept, ConversationId([9; 16]), &bid_payload(500, b"JSON{}"), EPOCH);
    ann.say(&mut bob, MsgType::NotarizeAssign, ConversationId([9; 16]), b"", EPOCH);
    ann.say(&mut bob, MsgType::Deliver, ConversationId([9; 16]), b"done", EPOCH);
    let rating = bob.rate(&mut ann, ConversationId([9; 16]), 80, EPOCH);
    (ann, bob, rating)
}

#[test]
fn the_bundle_of_the_batch_on_chain_is_taken_ok() {
    let (ann, _, _) = deal();
    let built = ann.build(EPOCH);
    let (row, bytes) = (row(&built.commitment()), built.bundle().unwrap().to_vec());
    assert!(bytes.len() <= most_bytes(&row));
    let contents = check(&bytes, &row, &NETWORK, 1_000).unwrap().contents;
    assert_eq!(contents.content["holds"], true);
    assert_eq!(contents.content["message_count"], 3);
    assert_eq!(contents.content["records"]["feedback"], 1);
    assert_eq!(contents.ratings.len(), 1);
    assert_eq!(contents.ratings[0].score, 80);
    assert_eq!(contents.conversations.len(), 1, "a verifier; Bob selected, not Ann");
    assert_eq!(contents.counterparties.len(), 1);
    let with = &contents.counterparties[0];
    assert_eq!((with.bids, with.selections, with.verifiers, with.ratings), (1, 0, 1, 1));
}

#[test]
fn a_bundle_of_another_batch_fails() {
    let (ann, bob, _) = deal();
    let (of_ann, of_bob) = (ann.build(EPOCH), bob.build(EPOCH));
    let bytes = of_bob.bundle().unwrap().to_vec();
    let error = check(&bytes, &row(&of_ann.commitment()), &NETWORK, 1_000).unwrap_err();
    assert_eq!((error.code(), error.status()), (9650, 422));
    assert!(error.to_string().contains("batch_hash"), "{error}");
}

#[test]
fn each_root_is_checked() {
    let (ann, _, _) = deal();
    let built = ann.build(EPOCH);
    let good = built.commitment();
    let bytes = built.bundle().unwrap().to_vec();
    let wrong = [
        Commitment { log_merkle_root: [1; 32], ..good },
        Commitment { arrays_root: [1; 32], ..good },
        Commitment { log_len: good.log_len + 1, ..good },
        Commitment { arrays_len: good.arrays_len + 1, ..good },
        Commitment { batch_hash: [1; 32], ..good },
    ];
    for commitment in wrong {
        let error = check(&bytes, &row(&commitment), &NETWORK, 1_000).unwrap_err();
        assert_eq!(error.code(), 9650, "{commitment:?}");
    }
    // A batch that names another agent than its account does is served, and does not count.
    for other in [Commitment { agent: AgentId([3; 32]), ..good }, Commitment { epoch: Epoch(3), ..good }] {
        let contents = check(&bytes, &row(&other), &NETWORK, 1_000).unwrap().contents;
        assert_eq!(contents.content["holds"], false);
    }
}

/// A batch that leaves its bid out of its own arrays, honestly hashed.
fn liar() -> Built {
    let (ann, _, _) = deal();
    let built = ann.build(EPOCH);
    let bundle = built.bundle().unwrap();
    let mut front = bundle.decode_batch().unwrap();
    front.bid_values.clear();
    let kept: Vec<u8> = bundle.packed_records().filter(|it| it[0] != KIND_BID).flatten().copied().collect();
    Built::new(front, kept, bundle.leaves().to_vec()).unwrap()
}

#[test]
fn a_batch_that_hides_a_bid_is_served_to_its_challengers() {
    let built = liar();
    let bytes = built.bundle().unwrap().to_vec();
    let contents = check(&bytes, &row(&built.commitment()), &NETWORK, 1_000).unwrap().contents;
    assert_eq!(contents.content["records"]["bids"], 0);
}

#[tokio::test]
async fn an_upload_is_stored_served_and_counted() {
    let (ann, bob, rating) = deal();
    let chain = Fake::new();
    chain.lock().owners.insert(ann.mint, ann.owner());
    chain.lock().owners.insert(bob.mint, bob.owner());
    chain.add_key(bob.mint, bob.public(), 8, EPOCH);
    chain.open_tenure(ann.mint, ann.owner(), EPOCH);
    let (of_ann, of_bob) = (ann.build(EPOCH), bob.build(EPOCH));
    chain.batch(&of_ann.commitment());
    chain.batch(&of_bob.commitment());
    let rig = Rig::new(&chain).await;
    rig.round().await;
    let index = &rig.index;
    let bundles = Bundles::new(index.config.bundles(), &index.config.limits);
    let epoch = EPOCH as i64;
    assert_eq!(index.agent_row(&ann.mint).await.unwrap().unwrap().missing, 1);
    let bytes = of_ann.bundle().unwrap().to_vec();
    assert_eq!(bundles.put(index, ann.mint, epoch, bytes.clone()).await.unwrap(), Put::Created);
    assert_eq!(bundles.put(index, ann.mint, epoch, bytes.clone()).await.unwrap(), Put::Same);
    assert_eq!(bundles.put(index, ann.mint, 7, bytes.clone()).await.unwrap_err().code(), 9642);
    let row = super::batch(index, &ann.mint, epoch).await.unwrap();
    assert_eq!(bundles.read(&row).await.unwrap(), bytes);
    let agent = index.agent_row(&ann.mint).await.unwrap().unwrap();
    assert_eq!((agent.missing, agent.counted_batches, agent.tasks), (0, 1, 0), "nobody vouches yet");
    // Bob's batch binds the task, his envelope the rating.
    bundles.put(index, bob.mint, epoch, of_bob.bundle().unwrap().to_vec()).await.unwrap();
    assert_eq!(crate::ratings::put(index, &rating).await.unwrap(), Put::Created);
    assert_eq!(crate::ratings::put(index, &rating).await.unwrap(), Put::Same);
    let agent = index.agent_row(&ann.mint).await.unwrap().unwrap();
    assert_eq!((agent.tasks, agent.reliability, agent.cooperation), (1, 80_000, 100_000));
    let facts = crate::reputation::facts(index, &ann.mint).await.unwrap();
    let reputation = crate::reputation::compute(&ann.mint, &facts, Epoch(EPOCH + 1));
    assert_eq!(reputation.standings.values().collect::<Vec<_>>(), [&Standing::Bound]);
    assert_eq!(reputation.real_time.reliability_score, 80_000);
    let (mut file, length) = bundles.open(&row).await.unwrap();
    let mut read = Vec::new();
    tokio::io::AsyncReadExt::read_to_end(&mut file, &mut read).await.unwrap();
    assert_eq!((read, length), (bytes.clone(), bytes.len() as u64));
    // A process that died before it computed what follows is made up for by bringing the data again.
    let forgotten = AgentRow { counted_batches: 0, reputation: String::new(), ..agent.clone() };
    index.write_rows(Commit { agents: vec![forgotten], ..Commit::default() }).await.unwrap();
    assert_eq!(bundles.put(index, ann.mint, epoch, bytes.clone()).await.unwrap(), Put::Same);
    let again = index.agent_row(&ann.mint).await.unwrap().unwrap();
    assert_eq!((again.counted_batches, again.tasks), (1, 1));
    // A changed file is not passed on.
    let path = bundles.path(&ann.mint, epoch);
    std::fs::write(&path, b"short").unwrap();
    assert_eq!(bundles.read(&row).await.unwrap_err().code(), 9617);
    assert_eq!(bundles.open(&row).await.unwrap_err().code(), 9617);
    let told = rig.told().await;
    assert!(told.iter().any(|kind| kind == "notary_assigned"), "{told:?}");
    assert!(told.iter().any(|kind| kind == "reputation_update"), "{told:?}");
}

#[tokio::test]
async fn a_rolled_back_batch_takes_what_its_data_said_with_it() {
    let (ann, _, _) = deal();
    let chain = Fake::new();
    let built = ann.build(EPOCH);
    let signature = chain.batch(&built.commitment());
    let rig = Rig::new(&chain).await;
    rig.round().await;
    let bundles = Bundles::new(rig.index.config.bundles(), &rig.index.config.limits);
    bundles.put(&rig.index, ann.mint, EPOCH as i64, built.bundle().unwrap().to_vec()).await.unwrap();
    chain.vanish(signature);
    chain.pass(1);
    chain.finalize();
    rig.round().await;
    let store = &rig.index.store;
    assert!(store.batches(Find::all()).await.unwrap().is_empty());
    assert!(store.ratings(Find::all()).await.unwrap().is_empty());
    assert!(store.conversations(Find::all()).await.unwrap().is_empty());
    assert!(store.counterparties(Find::all()).await.unwrap().is_empty());
}

/// Ann's batch, on a chain that names her key as its signer.
async fn landed() -> (Rig, Bundles, Party, Built, BatchMessage) {
    let (ann, _, _) = deal();
    let chain = Fake::new();
    let built = ann.build(EPOCH);
    let message = chain.message(&built.commitment(), EPOCH - 2);
    chain.batch_by(&built.commitment(), EPOCH - 2, ann.public());
    let rig = Rig::new(&chain).await;
    rig.round().await;
    let bundles = Bundles::new(rig.index.config.bundles(), &rig.index.config.limits);
    (rig, bundles, ann, built, message)
}

#[tokio::test]
async fn a_signature_that_does_not_hold_is_left_out_and_makes_no_good_data_useless() {
    let (rig, bundles, ann, built, message) = landed().await;
    let (index, epoch) = (&rig.index, EPOCH as i64);
    let plain = built.bundle().unwrap().to_vec();
    let kept = async || {
        let row = super::batch(index, &ann.mint, epoch).await.unwrap();
        let content: serde_json::Value = serde_json::from_str(row.content.as_deref().unwrap()).unwrap();
        (bundles.read(&row).await.unwrap(), content["signed"].as_bool().unwrap())
    };
    let with = |message: BatchMessage, party: &Party| {
        let bundle = built.bundle().unwrap();
        bundle.with_signed(party.signed(message)).unwrap().to_vec()
    };
    // A signature that does not hold; one of another key; one of the key over another message.
    let mut broken = with(message, &ann);
    let at = broken.windows(32).position(|bytes| bytes == ann.public()).unwrap() + 40;
    broken[at] ^= 1;
    let others = [
        broken,
        with(message, &Party::new(3)),
        with(BatchMessage { covers_from: Epoch(EPOCH - 1), ..message }, &ann),
        with(BatchMessage { network: [8; 32], ..message }, &ann),
    ];
    assert_eq!(bundles.put(index, ann.mint, epoch, others[0].clone()).await.unwrap(), Put::Created);
    assert_eq!(kept().await, (plain.clone(), false));
    for other in others {
        assert_eq!(bundles.put(index, ann.mint, epoch, other).await.unwrap(), Put::Same);
        assert_eq!(kept().await, (plain.clone(), false));
    }
    // The signed one takes its place, and no unsigned one that of the signed.
    let signed = with(message, &ann);
    assert_eq!(bundles.put(index, ann.mint, epoch, signed.clone()).await.unwrap(), Put::Created);
    assert_eq!(kept().await, (signed.clone(), true));
    assert_eq!(bundles.put(index, ann.mint, epoch, plain.clone()).await.unwrap(), Put::Same);
    assert_eq!(kept().await, (signed.clone(), true));
    assert_eq!(index.agent_row(&ann.mint).await.unwrap().unwrap().missing, 0, "counted once");
    // Unless what is kept is damaged.
    std::fs::write(bundles.path(&ann.mint, epoch), vec![0; signed.len()]).unwrap();
    assert_eq!(bundles.put(index, ann.mint, epoch, plain.clone()).await.unwrap(), Put::Created);
    assert_eq!(kept().await, (plain, false));
}

#[tokio::test]
async fn a_bundle_of_the_first_edition_is_refused_with_its_number() {
    let (rig, bundles, ann, built, _) = landed().await;
    let mut bytes = built.bundle().unwrap().to_vec();
    bytes[1] = 1;
    let error = bundles.put(&rig.index, ann.mint, EPOCH as i64, bytes).await.unwrap_err();
    assert_eq!(error.code(), 9650);
    assert!(error.to_string().contains("7363"), "{error}");
}

#[tokio::test]
async fn a_marked_batch_counts_no_more() {
    let (rig, bundles, ann, built, _) = landed().await;
    let index = &rig.index;
    rig.chain.open_tenure(ann.mint, ann.owner(), EPOCH);
    bundles.put(index, ann.mint, EPOCH as i64, built.bundle().unwrap().to_vec()).await.unwrap();
    rig.round().await;
    let row = async || index.agent_row(&ann.mint).await.unwrap().unwrap();
    assert_eq!((row().await.counted_batches, row().await.withheld), (1, 0));
    rig.chain.ask(ann.mint, EPOCH, [70; 32]);
    let marked = rig.chain.withhold([70; 32]);
    rig.round().await;
    assert_eq!((row().await.counted_batches, row().await.withheld), (0, 1));
    // Unless the mark was on a fork.
    rig.chain.vanish(marked);
    rig.chain.pass(1);
    rig.chain.finalize();
    rig.round().await;
    assert_eq!((row().await.counted_batches, row().await.withheld), (1, 0));
}

#[tokio::test]
async fn a_rating_counts_by_the_keys_of_its_epoch_and_not_by_the_wallet() {
    let (mut ann, mut bob, rating) = deal();
    let chain = Fake::new();
    chain.lock().owners.insert(ann.mint, ann.owner());
    chain.lock().owners.insert(bob.mint, bob.public());
    let rig = Rig::new(&chain).await;
    rig.round().await;
    let refused = async || {
        let error = crate::ratings::put(&rig.index, &rating).await.unwrap_err();
        (error.code(), error.to_string().contains("no peer or deal key"))
    };
    assert_eq!(refused().await, (9651, true), "the holder's wallet signs transactions only");
    // Another key; one that only pays and lands batches; one that is too young; one that had ended before.
    chain.add_key(bob.mint, ann.public(), 15, EPOCH);
    chain.add_key(bob.mint, bob.public(), 3, EPOCH);
    rig.round().await;
    assert_eq!(refused().await, (9651, true));
    chain.end_key(bob.mint, bob.public(), EPOCH);
    chain.close_key(bob.mint, bob.public());
    chain.add_key(bob.mint, bob.public(), 8, EPOCH + 1);
    rig.round().await;
    assert_eq!(refused().await, (9651, true));
    chain.end_key(bob.mint, bob.public(), EPOCH);
    chain.close_key(bob.mint, bob.public());
    chain.add_key(bob.mint, bob.public(), 8, EPOCH - 3);
    chain.end_key(bob.mint, bob.public(), EPOCH - 1);
    rig.round().await;
    assert_eq!(refused().await, (9651, true));
    // One that was ended and closed after that epoch still counts for it.
    chain.close_key(bob.mint, bob.public());
    chain.add_key(bob.mint, bob.public(), 8, EPOCH);
    chain.end_key(bob.mint, bob.public(), EPOCH);
    chain.close_key(bob.mint, bob.public());
    rig.round().await;
    assert_eq!(crate::ratings::put(&rig.index, &rating).await.unwrap(), Put::Created);
    let bid = ann.say(&mut bob, MsgType::Propose, ConversationId([1; 16]), &bid_payload(1, b""), EPOCH);
    assert_eq!(crate::ratings::put(&rig.index, &bid).await.unwrap_err().code(), 9651);
    assert_eq!(crate::ratings::put(&rig.index, b"nonsense").await.unwrap_err().code(), 9651);
    assert_eq!(crate::ratings::put(&rig.index, &vec![0; 5_000]).await.unwrap_err().code(), 9651);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]
    #[test]
    fn a_perturbed_bundle_fails_and_never_panics(at in 0_usize..2_000, flip in 1_u8..=255) {
        let (ann, _, _) = deal();
        let built = ann.build(EPOCH);
        let mut bytes = built.bundle().unwrap().to_vec();
        let at = at % bytes.len();
        bytes[at] ^= flip;
        prop_assert!(check(&bytes, &row(&built.commitment()), &NETWORK, 1_000).is_err());
    }
}

/// A body of which nothing comes.
fn silent() -> axum::body::Body {
    axum::body::Body::from_stream(futures_util::stream::pending::<std::io::Result<axum::body::Bytes>>())
}

#[tokio::test]
async fn what_arrives_lies_in_a_file_and_has_a_bound() {
    let folder = tempfile::tempdir().unwrap();
    let limits = crate::config::Limits { arriving_bytes: 8 << 10, body_ms: 200, ..Default::default() };
    let dir = folder.path().join("batches");
    let left = || std::fs::read_dir(dir.join(".arriving")).unwrap().count();
    std::fs::create_dir_all(dir.join(".arriving")).unwrap();
    std::fs::write(dir.join(".arriving/1.0"), "from a process that was killed").unwrap();
    let bundles = Bundles::new(dir.clone(), &limits);
    let receive = |body, most| bundles.receive(body, most, std::time::Duration::from_millis(400));
    let first = receive(vec![7; 3_000].into(), 8 << 10).await.unwrap();
    assert_eq!((left(), std::fs::read(&first.path).unwrap()), (1, vec![7; 3_000]));
    // The other half goes to one that never ends, so there is no room for a third, and then there is.
    let (endless, third) = tokio::join!(receive(silent(), 4 << 10), async {
        tokio::task::yield_now().await;
        receive(vec![1; 4_000].into(), 4 << 10).await
    });
    assert_eq!((endless.unwrap_err().code(), third.unwrap_err().code()), (9649, 9659));
    let third = receive(vec![1; 4_000].into(), 4 << 10).await.unwrap();
    assert_eq!(receive(vec![1; 4_001].into(), 4_000).await.unwrap_err().code(), 9648);
    drop((first, third));
    assert_eq!(left(), 0, "what is not taken is removed");
}
