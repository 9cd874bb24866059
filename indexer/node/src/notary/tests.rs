//! Three agents with their logs and rows on disk, and no network: what one puts into its outbox is signed, logged and
//! handed over.

use super::*;
use crate::judge::of_any_scope;
use crate::words::Words;
use ed25519_dalek::{Signer as _, SigningKey};
use libp2p::PeerId;
use std::sync::atomic::{AtomicBool, Ordering};
use tempfile::TempDir;
use zx1_home::FixedClock;
use zx1_log::{LogHandle, Origin};
use zx1_mesh::conversation::Phase;
use zx1_mesh::notary::DeskStage;
use zx1_mesh::outbox::{Draft as Waiting, Outbox, State};
use zx1_mesh::validate::Message;
use zx1_protocol::channel::{Channel, channel_of};
use zx1_protocol::draft::Draft;
use zx1_protocol::envelope::BROADCAST;
use zx1_protocol::hash::{Keccak as _, Sha3};
use zx1_protocol::ids::WalletKey;
use zx1_protocol::keys::AgentKey;
use zx1_protocol::payload::{NotarizeBid, bid_payload};
use zx1_protocol::units::Slot;

const A: AgentId = AgentId([0xa1; 32]);
const B: AgentId = AgentId([0xb2; 32]);
const N: AgentId = AgentId([0xc3; 32]);
const M: AgentId = AgentId([0xd4; 32]);
const TASK: ConversationId = ConversationId([7; 16]);
const NOW_MS: u64 = 1_700_000_000_000;

fn key(agent: AgentId) -> SigningKey {
    SigningKey::from_bytes(&agent.0)
}

fn wallet(agent: AgentId) -> WalletKey {
    WalletKey::from(key(agent).verifying_key().to_bytes())
}

/// An outbox in memory, which outlives restarts as the one on disk does.
#[derive(Debug)]
struct Post {
    agent: Arc<Agent>,
    outbox: Arc<std::sync::Mutex<Outbox>>,
    /// The cluster does not answer.
    is_away: Arc<AtomicBool>,
}

impl Ways for Post {
    async fn add(&self, name: &str, words: &Words, ttl_micros: u64) -> Result<wire::Draft> {
        let mut outbox = self.outbox.lock().unwrap();
        if outbox.named(name).is_none() {
            self.agent.check(words)?;
        }
        let (msg_type, recipient, conversation) = (words.msg_type, words.recipient, words.conversation);
        let draft = Waiting { name, msg_type, recipient, conversation, payload: &words.payload, ttl_micros };
        let row = outbox.add(&draft, self.agent.now())?;
        Ok(shown_row(&row))
    }

    async fn named(&self, name: &str) -> Option<wire::Draft> {
        self.outbox.lock().unwrap().named(name).map(shown_row)
    }

    async fn keys(&self, agent: AgentId) -> Result<Vec<AgentKey>> {
        match self.is_away.load(Ordering::Relaxed) {
            true => Err(Error::Busy),
            false => Ok(of_any_scope(&wallet(agent)).into_iter().collect()),
        }
    }
}

fn shown_row(row: &zx1_mesh::outbox::Row) -> wire::Draft {
    wire::Draft {
        draft: row.id,
        name: row.name.clone(),
        r#type: String::new(),
        recipient: None,
        conversation: row.conversation.to_string(),
        state: row.state.to_string(),
        created_micros: 0,
        expires_micros: 0,
        tries: 0,
        message: None,
        error: None,
        why: None,
        is_over: row.is_over(),
    }
}

struct Node {
    id: AgentId,
    folder: TempDir,
    clock: FixedClock,
    outbox: Arc<std::sync::Mutex<Outbox>>,
    is_away: Arc<AtomicBool>,
    agent: Arc<Agent>,
    notary: Notary<Post>,
}

impl Node {
    fn new(id: AgentId, clock: &FixedClock) -> Self {
        let outbox = Outbox::load([], 1).unwrap().0;
        Self::open(id, tempfile::tempdir().unwrap(), clock.clone(), Arc::new(std::sync::Mutex::new(outbox)))
    }

    fn open(id: AgentId, folder: TempDir, clock: FixedClock, outbox: Arc<std::sync::Mutex<Outbox>>) -> Self {
        let log = LogHandle::open(folder.path(), id, std::time::Duration::from_secs(5)).unwrap();
        let (disk, rows) = Disk::open(folder.path()).unwrap();
        let agent = Agent::open(id, String::new(), log, Arc::new(clock.clone()), rows).unwrap();
        let agent = Arc::new(agent);
        let is_away = Arc::new(AtomicBool::new(false));
        let post = Post { agent: agent.clone(), outbox: outbox.clone(), is_away: is_away.clone() };
        let notary = Notary::new(agent.clone(), post, disk);
        Self { id, folder, clock, outbox, is_away, agent, notary }
    }

    /// The process ends and starts again.
    fn restart(self) -> Self {
        let Self { id, folder, clock, outbox, agent, notary, .. } = self;
        drop((agent, notary));
        Self::open(id, folder, clock, outbox)
    }

    /// Signs and logs a message.
    fn say(&self, msg_type: MsgType, recipient: AgentId, payload: &[u8]) -> Vec<u8> {
        let now = self.agent.now();
        let draft = Draft {
            msg_type,
            sender: self.id,
            recipient,
            timestamp: now,
            block_ref: Slot(1),
            nonce: self.agent.log().reserve_nonce(channel_of(msg_type), now).unwrap(),
            conversation_id: TASK,
            payload,
        };
        let cbor = draft.sign(|bytes| key(self.id).sign(bytes).to_bytes()).unwrap();
        let envelope = Envelope::decode(&cbor).unwrap();
        let place = self.agent.log().append_own(&envelope, now).unwrap();
        self.agent.sent(&envelope, &place);
        cbor
    }

    /// A message of another agent came.
    fn receive(&self, bytes: &[u8]) {
        let envelope = Envelope::decode(bytes).unwrap();
        let (sender, channel) = (envelope.header.sender(), channel_of(envelope.header.msg_type));
        let keys = BTreeMap::from([(sender, of_any_scope(&wallet(sender)).into_iter().collect::<Vec<_>>())]);
        let origin = Origin::Mesh { channel, slot: Slot(1) };
        let admitted = self.agent.log().inbox().admit(bytes, &keys, self.agent.now(), origin).unwrap();
        let author = wallet(sender);
        let message = Message { bytes: bytes.into(), channel, author, forwarder: PeerId::random() };
        self.agent.took(&message, &admitted);
    }

    /// Signs what waits in the outbox, one of each conversation and recipient.
    fn out(&self) -> Vec<Vec<u8>> {
        let now = self.agent.now();
        self.outbox.lock().unwrap().advance(now);
        let due: Vec<_> = self.outbox.lock().unwrap().due(now).into_iter().cloned().collect();
        let mut all = Vec::new();
        for row in due {
            self.outbox.lock().unwrap().begin(row.id, now).unwrap();
            let cbor = self.say(row.msg_type().unwrap(), row.recipient, &row.payload);
            let mut outbox = self.outbox.lock().unwrap();
            let message32 = Envelope::decode(&cbor).unwrap().header.message32::<Sha3>();
            outbox.signed(row.id, message32).unwrap();
            let done = if row.is_gossip() { outbox.published(row.id) } else { outbox.acknowledged(row.id) };
            assert!(matches!(done.unwrap().state, State::Sent | State::Acknowledged));
            all.push(cbor);
        }
        all
    }

    /// How many messages of a type are in its log as sent.
    fn sent(&self, msg_type: MsgType) -> usize {
        let said = transcript::of(&self.agent.log().reader(), self.agent.first_epoch(2), TASK).unwrap();
        let of_type = |cbor: &[u8]| Envelope::decode(cbor).unwrap().header.msg_type == msg_type;
        said.iter().filter(|said| said.direction == Direction::Sent && of_type(&said.cbor)).count()
    }

    fn phase(&self) -> Phase {
        self.agent.conversations().get(TASK).unwrap().phase
    }

    fn owed(&self) -> Vec<Due> {
        self.agent.conversations().get(TASK).unwrap().owed(self.id)
    }

    fn stage(&self) -> String {
        self.notary.search(TASK).unwrap().stage
    }

    async fn rate(&self, target: AgentId, role: u8) {
        let rating = Rating { target, score: 80, outcome: None, role: Some(role) };
        self.notary.rate(TASK, rating).await.unwrap();
    }
}

/// Hands a message to whom it is for.
fn hand_over(nodes: &[&Node], bytes: &[u8]) {
    let header = Envelope::decode(bytes).unwrap().header;
    for node in nodes.iter().filter(|node| node.id != header.sender()) {
        if channel_of(header.msg_type) != Channel::Direct || header.recipient() == node.id {
            node.receive(bytes);
        }
    }
}

/// Until nobody has anything to say.
async fn talk(nodes: &[&Node]) {
    for _ in 0..50 {
        let mut said = Vec::new();
        for node in nodes {
            node.notary.step().await.unwrap();
            said.extend(node.out());
        }
        if said.is_empty() {
            return;
        }
        said.iter().for_each(|bytes| hand_over(nodes, bytes));
    }
    panic!("they never end");
}

/// A deal between A and B, with the work delivered.
fn deal(a: &Node, b: &Node) {
    let bid = bid_payload(5, b"work");
    b.receive(&a.say(MsgType::Propose, B, &bid));
    a.receive(&b.say(MsgType::Accept, A, &bid));
    a.receive(&b.say(MsgType::Deliver, A, b"the work"));
}

async fn serve(node: &Node, seconds: u32) {
    let terms = wire::Serve { fee: "5".into(), unit: "raw".into(), seconds, max: None };
    node.notary.serve(Some(Serving::try_from(terms).unwrap())).await.unwrap();
}

/// A and B with a deal, N and M who serve, and A's offers from both.
async fn with_offers(seconds: u32) -> (FixedClock, [Node; 4]) {
    let clock = FixedClock::new(NOW_MS);
    let nodes = [A, B, N, M].map(|id| Node::new(id, &clock));
    let [a, b, n, m] = &nodes;
    deal(a, b);
    serve(n, seconds).await;
    serve(m, seconds).await;
    a.notary.ask(TASK, "raw").await.unwrap();
    talk(&[a, b, n, m]).await;
    assert_eq!(a.notary.search(TASK).unwrap().offers.len(), 2);
    assert_eq!(a.notary.choose(TASK, N).await.unwrap_err().code(), 7632, "offers are still collected");
    clock.advance(30_000);
    (clock, nodes)
}

#[tokio::test]
async fn a_notary_is_asked_for_chosen_shown_everything_and_judges_and_all_rate_all() {
    let (clock, [a, b, n, m]) = with_offers(600).await;
    let all = [&a, &b, &n, &m];
    talk(&all).await;
    assert_eq!(a.stage(), "choosing");
    a.notary.choose(TASK, N).await.unwrap();
    talk(&all).await;
    assert_eq!((a.stage(), b.stage()), ("assigned".to_owned(), "assigned".to_owned()));
    assert_eq!(b.notary.search(TASK).unwrap().notary, Some(N.to_string()));
    let desk = n.notary.desk(TASK).await.unwrap();
    assert!(desk.can_judge, "{desk:?}");
    let shown: Vec<&str> = desk.exhibits.iter().map(|it| it.r#type.as_str()).collect();
    assert_eq!(shown, ["propose", "accept", "deliver"]);
    assert_eq!(desk.exhibits[0].payload.as_ref().unwrap()["value"], "5");
    assert_eq!(m.agent.rows().desks.get(TASK).unwrap().stage(), DeskStage::Offered);

    // Work that comes after the assignment is shown as well.
    a.receive(&b.say(MsgType::Deliver, A, b"more work"));
    talk(&all).await;
    let desk = n.notary.desk(TASK).await.unwrap();
    assert_eq!(desk.exhibits.len(), 4);
    assert_eq!(n.notary.judge(TASK, 3, None, "").await.unwrap_err().code(), 7639);
    let judged = n.notary.judge(TASK, 2, None, "it works").await.unwrap();
    assert_eq!((judged.stage.as_str(), judged.owed.len()), ("judged", 2));
    clock.advance(1_000);
    talk(&all).await;
    for party in [&a, &b] {
        assert_eq!((party.stage().as_str(), party.phase()), ("judged", Phase::Judged));
        let verdict = party.notary.search(TASK).unwrap().verdict.unwrap();
        assert_eq!((verdict.outcome, verdict.notary), (2, N.to_string()));
        assert_eq!(verdict.deliver, hex::encode(Sha3::hashv(&[b"more work"])));
    }

    // B3: both parties each other and the notary, the notary both.
    assert_eq!(a.owed(), [Due { target: B, role: 0 }, Due { target: N, role: 1 }]);
    a.rate(B, 0).await;
    let wrong = Rating { target: M, score: 1, outcome: None, role: None };
    assert_eq!(a.notary.rate(TASK, wrong).await.unwrap_err().code(), 7625);
    assert_eq!(m.notary.rate(TASK, Rating { target: A, ..wrong }).await.unwrap_err().code(), 7620);
    let by_role = Rating { target: N, score: -10, outcome: None, role: None };
    let first = a.notary.rate(TASK, by_role).await.unwrap();
    assert_eq!(a.notary.rate(TASK, by_role).await.unwrap().draft, first.draft, "the same one again");
    b.rate(A, 0).await;
    b.rate(N, 1).await;
    n.rate(A, 0).await;
    n.rate(B, 0).await;
    talk(&all).await;
    assert!(a.owed().is_empty() && b.owed().is_empty());
    assert!(n.notary.desk(TASK).await.unwrap().owed.is_empty());
    for node in [&a, &b, &n] {
        assert_eq!(node.sent(MsgType::Feedback), 2);
        assert!(node.agent.line().waiting().is_empty());
    }
    assert!(a.agent.heard().reputation(&N).is_some());
}

#[tokio::test]
async fn a_restart_at_any_time_asks_assigns_shows_and_judges_nothing_twice() {
    let (_, [a, b, n, m]) = with_offers(600).await;
    let (a, n) = (a.restart(), n.restart());
    talk(&[&a, &b, &n, &m]).await;
    assert_eq!((a.stage().as_str(), a.notary.search(TASK).unwrap().offers.len()), ("choosing", 2));
    assert_eq!(n.notary.serving().unwrap().seconds, 600);
    a.notary.choose(TASK, N).await.unwrap();
    let a = a.restart();
    talk(&[&a, &b, &n, &m]).await;
    let (a, b, n) = (a.restart(), b.restart(), n.restart());
    talk(&[&a, &b, &n, &m]).await;
    assert_eq!([a.stage(), b.stage()], ["assigned", "assigned"]);
    assert_eq!(a.agent.conversations().get(TASK).unwrap().notary, Some(N));
    assert_eq!(n.notary.desk(TASK).await.unwrap().exhibits.len(), 3);
    n.notary.judge(TASK, 1, None, "so so").await.unwrap();
    let n = n.restart();
    talk(&[&a, &b, &n, &m]).await;
    a.rate(N, 1).await;
    talk(&[&a, &b, &n, &m]).await;
    let (a, b, n) = (a.restart(), b.restart(), n.restart());
    talk(&[&a, &b, &n, &m]).await;
    for party in [&a, &b] {
        assert_eq!((party.stage().as_str(), party.phase()), ("judged", Phase::Judged));
    }
    assert_eq!(a.owed(), [Due { target: B, role: 0 }], "what was rated before the restart is not owed");
    let sent = |node: &Node, types: &[MsgType]| types.iter().map(|it| node.sent(*it)).collect::<Vec<_>>();
    // A: one request, one assignment, two showings. B: its work, and one showing. N: one offer, two VERDICTs.
    assert_eq!(sent(&a, &[MsgType::NotarizeBid, MsgType::NotarizeAssign, MsgType::Deliver]), [1, 1, 2]);
    assert_eq!(sent(&b, &[MsgType::NotarizeBid, MsgType::NotarizeAssign, MsgType::Deliver]), [0, 0, 2]);
    assert_eq!(sent(&n, &[MsgType::NotarizeBid, MsgType::Verdict]), [1, 2]);
}

#[tokio::test]
async fn a_crash_between_log_and_row_loses_nothing_and_one_before_the_note_sends_nothing_again() {
    let (clock, [a, b, n, m]) = with_offers(600).await;
    // The assignment is in the outbox, and the row does not say so yet.
    talk(&[&a, &b, &n, &m]).await;
    let file = a.folder.path().join(format!("notary/searches/{TASK}.json"));
    a.notary.choose(TASK, N).await.unwrap();
    let mut row: Search = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    let noted = serde_json::to_string(&row).unwrap().replace("\"sent\":true", "\"sent\":false");
    std::fs::write(&file, noted).unwrap();
    let a = a.restart();
    row = a.agent.rows().searches.get(TASK).unwrap().clone();
    assert_eq!(row.tasks().len(), 1, "{:?}", row.tasks());
    talk(&[&a, &b, &n, &m]).await;
    assert_eq!(a.sent(MsgType::NotarizeAssign), 1);

    // The VERDICT is in the log in time; the process ends before the row has it, and starts when the time is over.
    n.notary.judge(TASK, 2, None, "").await.unwrap();
    n.notary.step().await.unwrap();
    n.out().iter().for_each(|bytes| hand_over(&[&a, &b], bytes));
    assert_eq!((a.stage().as_str(), a.phase()), ("assigned", Phase::Delivered));
    let a = a.restart();
    clock.advance(3_600_000);
    a.notary.step().await.unwrap();
    assert_eq!((a.stage().as_str(), a.phase()), ("judged", Phase::Judged));
    assert_eq!(a.restart().phase(), Phase::Judged);
}

#[tokio::test]
async fn a_context_that_overtakes_the_assignment_waits_for_it() {
    let (_, [a, b, n, m]) = with_offers(600).await;
    talk(&[&a, &b, &n, &m]).await;
    a.notary.choose(TASK, N).await.unwrap();
    let assignment = a.out();
    assert_eq!(assignment.len(), 1, "what follows from it waits until it is signed");
    a.notary.step().await.unwrap();
    a.out().iter().for_each(|bytes| hand_over(&[&b], bytes));
    b.notary.step().await.unwrap();
    b.out().iter().for_each(|bytes| hand_over(&[&n], bytes));
    n.notary.step().await.unwrap();
    assert_eq!(n.notary.desk(TASK).await.unwrap().exhibits.len(), 0);
    assert_eq!(n.agent.line().waiting().len(), 1);
    let n = n.restart();
    n.notary.step().await.unwrap();
    assert_eq!(n.agent.line().waiting().len(), 1, "also over a restart");
    hand_over(&[&n], &assignment[0]);
    n.notary.step().await.unwrap();
    assert_eq!(n.notary.desk(TASK).await.unwrap().exhibits.len(), 3);
    assert!(n.agent.line().waiting().is_empty());
}

#[tokio::test]
async fn a_verdict_behind_a_choice_whose_keys_are_not_known_yet_waits_for_it() {
    let (_, [a, b, n, m]) = with_offers(600).await;
    talk(&[&a, &b, &n, &m]).await;
    a.notary.choose(TASK, N).await.unwrap();
    b.is_away.store(true, Ordering::Relaxed);
    talk(&[&a, &b, &n, &m]).await;
    assert!(b.notary.search(TASK).is_err(), "it does not know the choice");
    n.notary.judge(TASK, 0, None, "bad").await.unwrap();
    talk(&[&a, &b, &n, &m]).await;
    assert_eq!((a.phase(), b.phase()), (Phase::Judged, Phase::Delivered));
    assert_eq!(b.agent.line().waiting().len(), 2);
    b.is_away.store(false, Ordering::Relaxed);
    talk(&[&a, &b, &n, &m]).await;
    assert_eq!((b.stage().as_str(), b.phase()), ("judged", Phase::Judged));
}

#[tokio::test]
async fn a_silent_notary_is_followed_by_the_next_offer_and_then_nobody_judged() {
    let (clock, [a, b, n, m]) = with_offers(10).await;
    let all = [&a, &b, &n, &m];
    talk(&all).await;
    a.notary.choose(TASK, N).await.unwrap();
    talk(&all).await;
    clock.advance(10_000);
    talk(&all).await;
    assert_eq!(a.notary.search(TASK).unwrap().notaries, [N, M].map(|id| id.to_string()));
    assert_eq!(b.notary.search(TASK).unwrap().notary, Some(M.to_string()));
    assert_eq!(m.notary.desk(TASK).await.unwrap().stage, "assigned");
    assert_eq!(n.notary.desk(TASK).await.unwrap().stage, "missed");
    // The first one's VERDICT comes too late and is none; the second one is silent, too.
    a.receive(&n.say(MsgType::Verdict, A, &verdict()));
    talk(&all).await;
    assert_eq!((a.stage().as_str(), a.phase()), ("assigned", Phase::Delivered));
    clock.advance(10_000);
    talk(&all).await;
    for party in [&a, &b] {
        assert_eq!((party.stage().as_str(), party.phase()), ("unjudged", Phase::Unjudged));
    }
    assert_eq!(a.owed(), [Due { target: B, role: 0 }, Due { target: M, role: 1 }]);
    a.rate(M, 1).await;
    a.rate(B, 0).await;
    talk(&all).await;
    assert!(a.restart().owed().is_empty());
    let rating = Rating { target: A, score: 0, outcome: None, role: None };
    assert_eq!(n.notary.rate(TASK, rating).await.unwrap_err().code(), 7620, "it did not judge");
}

fn verdict() -> Vec<u8> {
    let deliver = Sha3::hashv(&[b"the work"]);
    zx1_protocol::mesh_payload::Verdict { outcome: 2, deliver, reason: "" }.to_payload().unwrap()
}

#[tokio::test]
async fn offers_are_made_within_the_terms_and_to_strangers_only() {
    let clock = FixedClock::new(NOW_MS);
    let [a, b, n] = [A, B, N].map(|id| Node::new(id, &clock));
    deal(&a, &b);
    serve(&b, 60).await;
    let request = |id: ConversationId| NotarizeBid {
        bid_type: zx1_protocol::payload::BidType::Request,
        conversation_id: id,
        terms: &[],
    };
    let asks = a.say(MsgType::NotarizeBid, BROADCAST, &request(TASK).to_bytes());
    b.receive(&asks);
    n.receive(&asks);
    talk(&[&b, &n]).await;
    assert!(b.notary.desks().await.is_empty(), "a party is not a notary");
    assert!(n.notary.desks().await.is_empty(), "it does not serve");
    serve(&n, 60).await;
    let terms = wire::Serve { fee: "0".into(), unit: "raw".into(), seconds: 1, max: Some(1) };
    n.notary.serve(Some(Serving::try_from(terms.clone()).unwrap())).await.unwrap();
    // A request inside another conversation's envelope is none.
    n.receive(&a.say(MsgType::NotarizeBid, BROADCAST, &request(ConversationId([9; 16])).to_bytes()));
    talk(&[&n]).await;
    assert!(n.notary.desks().await.is_empty());
    n.receive(&a.say(MsgType::NotarizeBid, BROADCAST, &request(TASK).to_bytes()));
    talk(&[&n]).await;
    assert_eq!(n.notary.desks().await.len(), 1);
    assert_eq!(n.agent.rows().open_desks(), 1, "as many as it wants");
    let n = n.restart();
    assert_eq!(n.notary.serving(), Some(terms.clone()));
    n.notary.serve(None).await.unwrap();
    assert_eq!(n.restart().notary.serving(), None);
    for (bad, part) in [
        (wire::Serve { fee: "-1".into(), ..terms.clone() }, "not negative"),
        (wire::Serve { fee: "x".into(), ..terms.clone() }, "not an integer"),
        (wire::Serve { unit: String::new(), ..terms.clone() }, "empty"),
        (wire::Serve { seconds: 0, ..terms.clone() }, "at least one second"),
        (wire::Serve { seconds: 3_601, ..terms.clone() }, "from 1 to 3600"),
        (wire::Serve { max: Some(0), ..terms.clone() }, "max is from 1"),
    ] {
        let said = Serving::try_from(bad).unwrap_err();
        assert!(said.contains(part), "{said} / {part}");
    }
}

#[tokio::test]
async fn what_is_no_search_and_no_task_is_refused_by_number() {
    let clock = FixedClock::new(NOW_MS);
    let [a, b] = [A, B].map(|id| Node::new(id, &clock));
    let ask = async |node: &Node| node.notary.ask(TASK, "raw").await.unwrap_err().code();
    assert_eq!(ask(&a).await, 7620);
    b.receive(&a.say(MsgType::Propose, B, &bid_payload(5, b"work")));
    assert_eq!(ask(&a).await, 7627);
    let bid = bid_payload(5, b"work");
    a.receive(&b.say(MsgType::Accept, A, &bid));
    assert_eq!(a.notary.ask(TASK, "").await.unwrap_err().code(), 7688);
    a.notary.ask(TASK, "raw").await.unwrap();
    assert_eq!(ask(&a).await, 7631);
    assert_eq!(b.notary.choose(TASK, N).await.unwrap_err().code(), 7630);
    assert_eq!(b.notary.judge(TASK, 1, None, "").await.unwrap_err().code(), 7630);
    assert_eq!(b.notary.desk(TASK).await.unwrap_err().code(), 7630);
    // Nobody offers: the task stays without a verdict.
    clock.advance(30_000);
    a.notary.step().await.unwrap();
    assert_eq!((a.stage().as_str(), a.phase()), ("unjudged", Phase::Unjudged));
    assert_eq!(a.owed(), [Due { target: B, role: 0 }]);
}

#[test]
fn the_nonces_of_what_came_lately_are_known_after_a_restart() {
    let clock = FixedClock::new(NOW_MS);
    let (a, b) = (Node::new(A, &clock), Node::new(B, &clock));
    let cbor = a.say(MsgType::Propose, B, &bid_payload(5, b"work"));
    let nonce = Envelope::decode(&cbor).unwrap().header.nonce;
    b.receive(&cbor);
    let b = b.restart();
    let found = b.agent.recent_nonces().unwrap();
    let [(A, Channel::Direct, seen)] = found[..] else { panic!("{found:?}") };
    assert!(seen.accept(nonce).is_err() && seen.accept(nonce + 1).is_ok());
    clock.advance(60_001);
    assert!(b.agent.recent_nonces().unwrap().is_empty(), "a copy would be too old by now");
}
