//! A contract's envelopes in both parties' logs (decision G1).

use std::sync::Arc;

use sha2::{Digest, Sha256};
use zx1_agent::bridge::{Agreements, Bridge, BridgeError, SigningKeys, peer};
use zx1_agent::worker::{Folder, Worker};
use zx1_coded::Coded as _;
use zx1_log::{Key, LogHandle, LogReader, agent_dir};
use zx1_market::bridge::conversation_id;
use zx1_market::chain::{Common, Data, Side};
use zx1_market::{ContractId, EntryType, State};
use zx1_protocol::batch::Covered;
use zx1_protocol::channel::channel_of;
use zx1_protocol::envelope::{Envelope, EnvelopeHeader, MsgType, PROTOCOL_VERSION};
use zx1_protocol::hash::{Keccak, Sha3};
use zx1_protocol::ids::{AgentId, ConversationId};
use zx1_protocol::keys::{OPEN, Scopes};
use zx1_protocol::payload::split_accept_presignature;
use zx1_protocol::signature::PublicKey;
use zx1_protocol::units::{Epoch, Slot};

use crate::support::*;

const PRINCIPAL: AgentId = AgentId([0xa1; 32]);
const AGENT: AgentId = AgentId([0xa2; 32]);

fn bridge(world: &World, agent: AgentId, n: u8) -> Bridge {
    // A cluster whose slot moves on every third time that it is asked.
    let asked = std::sync::atomic::AtomicU64::new(0);
    let slots = Arc::new(move || -> futures_util::future::BoxFuture<'static, Result<u64, String>> {
        let slot = 1_000 + asked.fetch_add(1, std::sync::atomic::Ordering::SeqCst) / 3;
        Box::pin(async move { Ok(slot) })
    });
    Bridge::open(agent_dir(world.folder.path(), &agent), agent, key(n), slots, registry()).unwrap()
}

/// The account of the key of party `n`.
fn account(n: u8, scopes: Scopes, from: u64, until: u64) -> Key {
    Key { key: PublicKey::from_bytes(key(n).id().as_bytes()).unwrap(), scopes, from: Epoch(from), until }
}

/// A registry with the key accounts of the principal and of the agent of these tests.
fn registered(ours: Vec<Key>, theirs: Vec<Key>) -> SigningKeys {
    Arc::new(move |agent| {
        let known = [(PRINCIPAL, &ours), (AGENT, &theirs)].into_iter().find(|(known, _)| *known == agent);
        let keys = known.map(|(_, keys)| keys.clone()).unwrap_or_default();
        Box::pin(async move { Ok(keys) })
    })
}

/// Each has one key for all that it says.
fn registry() -> SigningKeys {
    registered(vec![account(1, Scopes::ALL, 0, OPEN)], vec![account(2, Scopes::ALL, 0, OPEN)])
}

/// How many entries the log of an agent has in the epoch of these tests, and that a batch can be built of it.
fn logged(world: &World, agent: AgentId) -> usize {
    let log = LogReader::new(agent_dir(world.folder.path(), &agent), agent);
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
    // Read again, and again: the other side's feedback is new once, everything else exists.
    ours.keep(&world.principal, &end).await.unwrap();
    assert_eq!(ours.keep(&world.principal, &end).await.unwrap(), 0);
    theirs.keep(&world.principal, &end).await.unwrap();
    assert_eq!(theirs.keep(&world.principal, &end).await.unwrap(), 0);
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
    assert_eq!(theirs.keep(&world.principal, &end).await.unwrap(), 0);
}

/// What a registry would answer: something that binds all that was asked, or nothing.
fn agreements(
    hash: impl Fn(AgentId, ConversationId, Slot) -> Result<Option<[u8; 32]>, String> + Send + Sync + 'static,
) -> Agreements {
    Arc::new(move |peer, conversation, slot| {
        let answer = hash(peer, conversation, slot);
        Box::pin(async move { answer })
    })
}

fn bound(peer: AgentId, conversation: ConversationId, slot: Slot) -> [u8; 32] {
    Sha256::digest([peer.as_ref(), conversation.as_ref(), &slot.0.to_le_bytes()].concat()).into()
}

/// The ACCEPT of a contract that is fulfilled, and the contract's conversation.
async fn accepted_with(agreements: Agreements) -> (Vec<u8>, ConversationId) {
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
    (
        hex::decode(common.envelope.unwrap()).unwrap(),
        conversation_id(&world.principal.server(), &posted.id).into(),
    )
}

#[tokio::test]
async fn an_accept_carries_the_signature_without_which_nobody_can_file_a_rating() {
    let (accept, conversation) =
        accepted_with(agreements(|peer, talk, slot| Ok(Some(bound(peer, talk, slot))))).await;
    let accept = Envelope::decode(&accept).unwrap();
    assert_eq!(accept.header.conversation(), conversation);
    let (bid, signature) = split_accept_presignature(accept.payload).expect("no pre-signature");
    let message = bound(PRINCIPAL, conversation, accept.header.block_ref);
    assert!(key(2).id().verify(&message, signature), "it is signed for this principal, task and slot");
    assert!(bid.ends_with(&[b"FIX1".as_slice(), &bid[bid.len() - 8..]].concat()), "the bid stands before it");
}

#[tokio::test]
async fn an_accept_goes_without_a_signature_when_the_registry_would_not_take_it_or_says_nothing() {
    for silent in [Ok(None), Err("it is not there".to_owned())] {
        let (accept, _) = accepted_with(agreements(move |_, _, _| silent.clone())).await;
        let (bid, place) = split_accept_presignature(Envelope::decode(&accept).unwrap().payload).unwrap();
        assert_eq!(*place, [0; 64], "so that no part of the bid counts as one");
        assert_eq!(bid[16..20], *b"FIX1");
    }
}

/// An envelope of this contract as no bridge would make it: any sender, any nonce, signed with key `n`.
fn forged(
    world: &World,
    id: ContractId,
    n: u8,
    message: (MsgType, u64),
    between: (AgentId, AgentId),
    payload: &[u8],
) -> Common {
    dated(world, id, n, message, between, payload, START.0 * 1_000)
}

/// The same, of any time (unix microseconds).
fn dated(
    world: &World,
    id: ContractId,
    n: u8,
    (msg_type, nonce): (MsgType, u64),
    (sender, recipient): (AgentId, AgentId),
    payload: &[u8],
    timestamp: u64,
) -> Common {
    let header = EnvelopeHeader {
        version: PROTOCOL_VERSION,
        msg_type,
        sender: sender.as_bytes(),
        recipient: recipient.as_bytes(),
        timestamp,
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
    let common = forged(&world, id, 1, last, (AGENT, PRINCIPAL), b"x");
    world.principal.act_on(&end, Data::Feedback {}, common).await.unwrap();
    let end = world.principal.view(id).await.unwrap();
    assert_eq!(end.entries().last().unwrap().kind(), EntryType::Feedback);
    task.abort();
    let _ = task.await;
    assert_eq!(theirs.keep(&world.principal, &end).await.unwrap(), 0);
    // Nor is an agent rated by itself.
    let market = world.party(2).await;
    theirs.close(&market, &market.view(id).await.unwrap()).await.unwrap();
    let end = world.principal.view(id).await.unwrap();
    assert_eq!(end.entries().iter().filter(|entry| entry.kind() == EntryType::Feedback).count(), 1);
    // Another program of the agent works beside this one.
    let log = LogHandle::open(agent_dir(world.folder.path(), &AGENT), AGENT, PATIENCE).unwrap();
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
    let between = (AGENT, PRINCIPAL);
    // A bid that no challenge could rest on: the log takes none so long.
    let long = forged(&world, id, 2, (MsgType::Propose, 1), between, &[0; 500]);
    let bond = thief.sign_bond(&view, None, &long).await.unwrap();
    thief.send_bond(&view, bond).await.unwrap();
    let short = forged(&world, id, 2, (MsgType::Accept, 2), between, &[0; 50]);
    let view = world.until(id, State::Investigating).await;
    assert_eq!(ours.keep(&world.principal, &view).await.unwrap(), 0);
    let view = thief.view(view.id()).await.unwrap();
    thief.act_on(&view, Data::Accept { agent: thief.id() }, short).await.unwrap();
    let view = world.until(id, State::InProgress).await;
    assert_eq!(ours.keep(&world.principal, &view).await.unwrap(), 1);
    assert_eq!(ours.keep(&world.principal, &view).await.unwrap(), 0);
}

/// What the principal logs of an agent's bond and accept that carry these envelopes.
async fn logged_of(carried: impl Fn(&World, ContractId) -> [Common; 2]) -> usize {
    let world = World::start().await;
    let ours = bridge(&world, PRINCIPAL, 1);
    let bench = Bench::lacks_folder();
    let id = world.open(&bench.contract(&world.terms().await, "", &[], |_| {})).await;
    let other = world.party(2).await;
    let [bond, accept] = carried(&world, id);
    let view = other.view(id).await.unwrap();
    let bond = other.sign_bond(&view, None, &bond).await.unwrap();
    other.send_bond(&view, bond).await.unwrap();
    world.until(id, State::Investigating).await;
    let view = other.view(id).await.unwrap();
    other.act_on(&view, Data::Accept { agent: other.id() }, accept).await.unwrap();
    let view = world.until(id, State::InProgress).await;
    let new = ours.keep(&world.principal, &view).await.unwrap();
    assert_eq!(ours.keep(&world.principal, &view).await.unwrap(), 0);
    new
}

const TO_US: (AgentId, AgentId) = (AGENT, PRINCIPAL);

#[tokio::test]
async fn envelopes_with_new_nonces_by_the_agents_own_key_are_logged_ok() {
    let new = logged_of(|world, id| {
        [(MsgType::Propose, 9), (MsgType::Accept, 8)].map(|of| forged(world, id, 2, of, TO_US, &[0; 50]))
    });
    assert_eq!(new.await, 2, "in whatever order their numbers are");
}

#[tokio::test]
async fn an_envelope_in_another_agents_name_is_not_logged() {
    // The party with key 2 says that it is an agent of somebody else, or one that nobody has registered.
    let new = logged_of(|world, id| {
        let bond = forged(world, id, 2, (MsgType::Propose, 1), (AgentId([0xb7; 32]), PRINCIPAL), &[0; 50]);
        let other = forged(world, id, 2, (MsgType::Accept, 2), (AgentId([0xb7; 32]), PRINCIPAL), &[0; 50]);
        [bond, other]
    });
    assert_eq!(new.await, 0);
}

#[tokio::test]
async fn an_agent_that_belongs_to_another_key_is_not_believed() {
    let world = World::start().await;
    let folder = agent_dir(world.folder.path(), &PRINCIPAL);
    let slots = Arc::new(|| -> futures_util::future::BoxFuture<'static, Result<u64, String>> {
        Box::pin(async { Ok(1_000) })
    });
    // On chain the agent's owner is key 3, and key 2 trades under its name.
    let stolen: SigningKeys = Arc::new(|_| {
        let keys = vec![account(3, Scopes::ALL, 0, OPEN)];
        Box::pin(async move { Ok(keys) })
    });
    let ours = Bridge::open(folder, PRINCIPAL, key(1), slots, stolen).unwrap();
    let bench = Bench::lacks_folder();
    let id = world.open(&bench.contract(&world.terms().await, "", &[], |_| {})).await;
    let thief = world.party(2).await;
    let view = thief.view(id).await.unwrap();
    let bond = forged(&world, id, 2, (MsgType::Propose, 1), TO_US, &[0; 50]);
    let bond = thief.sign_bond(&view, None, &bond).await.unwrap();
    thief.send_bond(&view, bond).await.unwrap();
    let view = world.until(id, State::Investigating).await;
    assert_eq!(ours.keep(&world.principal, &view).await.unwrap(), 0);
}

/// An agent at work with these keys, and what the principal reads of them.
struct Parties {
    world: World,
    principal: Bridge,
    agent: Arc<Bridge>,
}

impl Parties {
    /// The agent trades as party 2, its deals are signed with key `deal`. It reads `its` key accounts, the principal
    /// `seen`.
    async fn with_keys(its: Vec<Key>, seen: Vec<Key>, deal: Option<u8>) -> Self {
        let world = World::start().await;
        let open = |agent: AgentId, n: u8, theirs: Vec<Key>| {
            let slots = Arc::new(|| -> futures_util::future::BoxFuture<'static, Result<u64, String>> {
                Box::pin(async { Ok(1_000) })
            });
            let folder = agent_dir(world.folder.path(), &agent);
            let keys = registered(vec![account(1, Scopes::PEER, 0, OPEN)], theirs);
            Bridge::open(folder, agent, key(n), slots, keys).unwrap()
        };
        let (principal, agent) = (open(PRINCIPAL, 1, seen), open(AGENT, 2, its));
        let agent = Arc::new(match deal {
            Some(deal) => agent.dealing(key(deal)),
            None => agent,
        });
        Self { world, principal, agent }
    }

    /// Serves one contract to its end, and says how many envelopes each side has logged.
    async fn logged(self) -> (usize, usize) {
        let Self { world, principal, agent } = self;
        let folder = Folder::open(world.folder.path().join("agent")).unwrap();
        let market = world.party(2).await;
        let worker = Worker::new(market, crate::worker::quick(), Box::new(folder)).with_bridge(agent.clone());
        let task = tokio::spawn(worker.run(std::future::pending()));
        let bench = Bench::lacks_folder();
        let contract = bench.contract(&world.terms().await, "", &[], |_| {});
        let common = principal.announce(START).await.unwrap();
        let posted = world.principal.post_with(&contract, None, &common).await.unwrap();
        let end = bench.serve(&world.principal, posted.id, true).await;
        assert_eq!(end.state(), State::Fulfilled);
        assert_eq!(peer(&end, Side::Agent), Some(AGENT), "whichever key signs");
        principal.close(&world.principal, &end).await.unwrap();
        let end = eventually("both have left their feedback", || async {
            let view = world.principal.view(posted.id).await.unwrap();
            let feedback = view.entries().iter().filter(|e| e.kind() == EntryType::Feedback).count();
            (feedback == 2).then_some(view)
        })
        .await;
        task.abort();
        let _ = task.await;
        principal.keep(&world.principal, &end).await.unwrap();
        agent.keep(&world.principal, &end).await.unwrap();
        drop((principal, agent));
        (logged(&world, PRINCIPAL), logged(&world, AGENT))
    }

    /// What the agent's bridge says when it is asked to bond.
    async fn refused_bond(&self) -> BridgeError {
        let bench = Bench::lacks_folder();
        let contract = bench.contract(&self.world.terms().await, "", &[], |_| {});
        let common = self.principal.announce(START).await.unwrap();
        let posted = self.world.principal.post_with(&contract, None, &common).await.unwrap();
        let market = self.world.party(2).await;
        let view = market.view(posted.id).await.unwrap();
        let bond = Data::Bond { agent: market.id(), payout: None };
        self.agent.common(&market, &view, Side::Agent, &bond).await.unwrap_err()
    }
}

fn peer_key() -> Key {
    account(2, Scopes::PEER, 0, OPEN)
}

/// Key accounts of the agent with which none of its deals count, and which key signs them: a peer key, a key that is
/// not listed, one whose notice has not passed, and one that has ended (as all keys of a former holder have).
fn without_deal_key() -> [(Vec<Key>, Option<u8>); 4] {
    let epoch = Epoch::from_unix_micros(START.0 * 1_000).0;
    let of = |from, until| vec![peer_key(), account(7, Scopes::DEAL, from, until)];
    [
        (of(0, OPEN), None),
        (vec![peer_key()], Some(7)),
        (of(epoch + 1, OPEN), Some(7)),
        (of(0, epoch - 1), Some(7)),
    ]
}

#[tokio::test]
async fn deals_are_signed_by_the_deal_key_and_all_else_by_the_party() {
    let both = vec![peer_key(), account(7, Scopes::DEAL, 0, OPEN)];
    let parties = Parties::with_keys(both.clone(), both, Some(7)).await;
    assert_eq!(parties.logged().await, (6, 5));
}

#[tokio::test]
async fn deals_of_another_key_are_not_logged_by_who_receives_them() {
    for (theirs, deal) in without_deal_key() {
        // An agent that says what it likes.
        let its = vec![account(2, Scopes::ALL, 0, OPEN), account(7, Scopes::DEAL, 0, OPEN)];
        let parties = Parties::with_keys(its, theirs.clone(), deal).await;
        // PROPOSE and ACCEPT are missing, because nothing could follow from them.
        assert_eq!(parties.logged().await, (4, 5), "{theirs:?}");
    }
}

#[tokio::test]
async fn deals_of_another_key_are_not_made() {
    let epoch = Epoch::from_unix_micros(START.0 * 1_000).0;
    let ended_today = (vec![peer_key(), account(7, Scopes::DEAL, 0, epoch)], Some(7));
    let stranger = (vec![account(7, Scopes::DEAL, 0, OPEN)], Some(7));
    for (its, deal) in without_deal_key().into_iter().chain([ended_today, stranger]) {
        let error = Parties::with_keys(its.clone(), its.clone(), deal).await.refused_bond().await;
        assert_eq!(error.code(), 9396, "{its:?}: {error}");
        assert!(error.to_string().contains("zx1 keys list"), "{error}");
    }
}

#[tokio::test]
async fn an_entry_stands_for_an_agent_only_when_its_author_is_a_key_of_it() {
    let its = vec![account(2, Scopes::ALL, 0, OPEN), account(7, Scopes::DEAL, 0, OPEN)];
    // The deal key's PROPOSE and ACCEPT, in entries of a party that is not a key of the agent.
    let seen = vec![account(7, Scopes::DEAL, 0, OPEN), account(9, Scopes::PEER, 0, OPEN)];
    assert_eq!(Parties::with_keys(its, seen, Some(7)).await.logged().await, (2, 5));
}

#[tokio::test]
async fn a_nonce_that_another_message_has_is_not_logged() {
    let new = logged_of(|world, id| {
        [MsgType::Propose, MsgType::Accept].map(|of| forged(world, id, 2, (of, 7), TO_US, &[0; 50]))
    });
    assert_eq!(new.await, 1);
}

#[tokio::test]
async fn an_envelope_of_another_time_than_its_entry_is_not_logged() {
    for minutes_off in [-1, 1] {
        let new = logged_of(|world, id| {
            let at = (START.0 * 1_000).saturating_add_signed(minutes_off * 60_000_000);
            let stale = dated(world, id, 2, (MsgType::Propose, 1), TO_US, &[0; 50], at);
            [stale, forged(world, id, 2, (MsgType::Accept, 2), TO_US, &[0; 50])]
        });
        assert_eq!(new.await, 1, "{minutes_off}");
    }
}

#[tokio::test]
async fn while_the_chain_does_not_answer_nothing_is_believed_and_later_all_of_it() {
    let world = World::start().await;
    let folder = agent_dir(world.folder.path(), &PRINCIPAL);
    let slots = Arc::new(|| -> futures_util::future::BoxFuture<'static, Result<u64, String>> {
        Box::pin(async { Ok(1_000) })
    });
    let asked = Arc::new(std::sync::atomic::AtomicU64::new(0));
    let counted = asked.clone();
    let answers = registry();
    let silent: SigningKeys = Arc::new(move |agent| {
        let first = counted.fetch_add(1, std::sync::atomic::Ordering::SeqCst) == 0;
        if first { Box::pin(async { Err("it is not there".to_owned()) }) } else { answers(agent) }
    });
    let ours = Bridge::open(folder, PRINCIPAL, key(1), slots, silent).unwrap();
    let bench = Bench::lacks_folder();
    let id = world.open(&bench.contract(&world.terms().await, "", &[], |_| {})).await;
    let other = world.party(2).await;
    let view = other.view(id).await.unwrap();
    let bond = forged(&world, id, 2, (MsgType::Propose, 1), TO_US, &[0; 50]);
    let bond = other.sign_bond(&view, None, &bond).await.unwrap();
    other.send_bond(&view, bond).await.unwrap();
    let view = world.until(id, State::Investigating).await;
    let error = ours.keep(&world.principal, &view).await.unwrap_err();
    assert_eq!((error.code(), error.transient()), (9399, true), "{error}");
    assert_eq!(ours.keep(&world.principal, &view).await.unwrap(), 1);
    assert_eq!(ours.keep(&world.principal, &view).await.unwrap(), 0);
    assert_eq!(asked.load(std::sync::atomic::Ordering::SeqCst), 2, "an answer counts for a while");
}

/// The envelope of the fix of an agent whose cluster does not say its slot, so many times from the DELIVER on.
async fn delivered_without_slots(silent: u64) -> Option<String> {
    let world = World::start().await;
    let ours = bridge(&world, PRINCIPAL, 1);
    let asked = std::sync::atomic::AtomicU64::new(0);
    // PROPOSE and ACCEPT have theirs.
    let slots = Arc::new(move || -> futures_util::future::BoxFuture<'static, Result<u64, String>> {
        let nth = asked.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        let missing = nth >= 2 && nth - 2 < silent;
        Box::pin(async move { if missing { Err("it is not there".to_owned()) } else { Ok(1_000 + nth) } })
    });
    let folder = agent_dir(world.folder.path(), &AGENT);
    let theirs = Bridge::open(folder, AGENT, key(2), slots, registry()).unwrap();
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
