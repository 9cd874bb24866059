//! What the transport asks about a message: the mesh's own rules with what the chain says of authors.
//!
//! One lock for all of it. What is held under it is decided by what is known; questions to the cluster are asked by
//! [`crate::facts`].

use libp2p::PeerId;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::{mpsc, oneshot};
use zx1_coded::Coded as _;
use zx1_home::Clock;
use zx1_mesh::Reason;
use zx1_mesh::facts::{Chain, Facts};
use zx1_mesh::gate::{Gate, Mode, Path};
use zx1_mesh::intake::{Arrived, Intake, Outcome};
use zx1_mesh::limits::ConnectionLimits;
use zx1_mesh::score::AppScores;
use zx1_mesh::senders::Batch;
use zx1_mesh::validate::{Message, Validator, Verdict};
use zx1_mesh::wire::peer_of_key;
use zx1_protocol::channel::Channel;
use zx1_protocol::ids::{AgentId, WalletKey};
use zx1_protocol::keys::{AgentKey, OPEN, Scopes};
use zx1_protocol::nonce::SeenNonces;
use zx1_protocol::signature::PublicKey;
use zx1_protocol::units::{Epoch, Slot};
use zx1_protocol::validate;

use std::sync::Arc;

/// Changes of scores that wait for the transport; what does not fit is made good with the next change.
const SCORES: usize = 1_024;

/// A message whose verdict somebody waits for.
#[derive(Debug)]
struct Held {
    message: Message,
    verdict: oneshot::Sender<Verdict>,
}

impl Arrived for Held {
    fn bytes(&self) -> &[u8] {
        &self.message.bytes
    }

    fn path(&self) -> Path {
        Path { channel: self.message.channel, source: Some(self.message.author) }
    }
}

struct Inner {
    intake: Intake<PeerId, Held>,
    connections: ConnectionLimits<PeerId>,
    /// Direct messages beyond the rate of their connection.
    over_rate: u64,
    scores: AppScores<PeerId>,
    /// What was last told of a peer, so that only changes are.
    told: BTreeMap<PeerId, i64>,
    chain: Option<Chain>,
}

/// A peer's part of the score that is ours, in hundredths of a point.
pub type ScoreChange = (PeerId, i64);

/// Judges messages for the transport.
pub struct Judge {
    mode: Mode,
    clock: Arc<dyn Clock>,
    inner: Mutex<Inner>,
    scores: mpsc::Sender<ScoreChange>,
}

impl std::fmt::Debug for Judge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Judge").field("mode", &self.mode).finish_non_exhaustive()
    }
}

/// Messages by outcome.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Messages that were taken.
    pub accepted: u64,
    /// Refused, by the name of the reason.
    pub refused: Vec<(&'static str, u64)>,
    /// Waiting for facts.
    pub waiting: usize,
    /// Authors whose facts are known.
    pub known: usize,
    /// Whether the cluster leaves questions without an answer.
    pub is_away: bool,
}

impl Judge {
    /// The judge of this agent's node, and the changes of scores that it finds.
    pub fn new(agent: AgentId, mode: Mode, clock: Arc<dyn Clock>) -> (Self, mpsc::Receiver<ScoreChange>) {
        let (scores, changes) = mpsc::channel(SCORES);
        let inner = Inner {
            intake: Intake::new(Gate::new(agent, mode)),
            connections: ConnectionLimits::default(),
            over_rate: 0,
            scores: AppScores::default(),
            told: BTreeMap::new(),
            chain: None,
        };
        (Self { mode, clock, inner: Mutex::new(inner), scores }, changes)
    }

    /// How strict the gate is.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// What messages are judged by now; `None` before the cluster was asked.
    pub fn chain(&self) -> Option<Chain> {
        self.inner().chain
    }

    /// Slot and minimum stake, as the cluster has them or as they are reckoned.
    pub fn set_chain(&self, chain: Chain) {
        let now = self.clock.unix_micros();
        let mut inner = self.inner();
        inner.chain = Some(chain);
        let outcomes = inner.intake.set_chain(chain, now);
        self.settle_all(&mut inner, outcomes, now);
    }

    /// Ends what has waited too long, and says what is to be asked next.
    pub fn due(&self) -> Vec<Batch> {
        let now = self.clock.unix_micros();
        let mut inner = self.inner();
        let late = inner.intake.tick(now);
        self.settle_all(&mut inner, late, now);
        std::iter::from_fn(|| inner.intake.due(now)).collect()
    }

    /// The answer to a batch.
    pub fn answer(&self, id: u64, found: Vec<(AgentId, Option<Facts>)>) {
        let now = self.clock.unix_micros();
        let mut inner = self.inner();
        let outcomes = inner.intake.answer(id, found, now);
        self.settle_all(&mut inner, outcomes, now);
    }

    /// A batch was not answered.
    pub fn failed(&self, id: u64) {
        let now = self.clock.unix_micros();
        self.inner().intake.failed(id, now);
    }

    /// Accounts of this agent changed on chain: what is known of it does not serve any more.
    pub fn changed(&self, agent: &AgentId) {
        self.inner().intake.changed(agent);
    }

    /// What the log remembers of an author's nonces, before its first message is judged.
    pub fn restore(&self, author: &AgentId, channel: Channel, seen: SeenNonces) {
        let now = self.clock.unix_micros();
        self.inner().intake.windows().restore(author, channel, seen, now);
    }

    /// A peer is gone, and a new connection of it begins with its full rate.
    pub fn disconnected(&self, peer: &PeerId) {
        self.inner().connections.closed(peer);
    }

    /// Keys under which the log may take an accepted message of this author, published or brought by `source`.
    pub fn keys(&self, author: &AgentId, source: &WalletKey) -> Vec<AgentKey> {
        match self.mode {
            Mode::Dev => of_any_scope(source).into_iter().collect(),
            Mode::Enforced => self
                .inner()
                .intake
                .senders()
                .facts(author)
                .map(|facts| facts.keys.clone())
                .unwrap_or_default(),
        }
    }

    /// Messages by outcome since the start.
    pub fn tally(&self) -> Tally {
        let inner = self.inner();
        let counts = inner.intake.counts();
        // Counted here, because it is refused before anything else is looked at.
        let direct_rate = Reason::DirectRate.name();
        Tally {
            accepted: counts.accepted,
            refused: counts
                .refusals()
                .map(|(name, count)| (name, if name == direct_rate { inner.over_rate } else { count }))
                .collect(),
            waiting: inner.intake.waiting(),
            known: inner.intake.senders().known(),
            is_away: inner.intake.senders().is_away(),
        }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn settle_all(&self, inner: &mut Inner, outcomes: Vec<Outcome<PeerId, Held>>, now: u64) {
        for outcome in outcomes {
            self.settle(inner, outcome, now);
        }
    }

    /// Tells whoever waits, and counts what it says of peers.
    fn settle(&self, inner: &mut Inner, outcome: Outcome<PeerId, Held>, now: u64) {
        let (peer, held, reason) = match outcome {
            Outcome::Accepted(_, held, _) => {
                if self.mode == Mode::Enforced {
                    self.stand(inner, &held.message, true, now);
                }
                let _ = held.verdict.send(Verdict::Accept);
                return;
            }
            Outcome::Ignored(peer, held, reason) | Outcome::Rejected(peer, held, reason) => {
                (peer, held, reason)
            }
        };
        if reason.is_excess() {
            let author = peer_of_key(&held.message.author).filter(|_| reason.is_excess_of_author());
            self.exceeded(inner, &author.unwrap_or(peer), now);
        }
        if lacks_standing(&reason) {
            self.stand(inner, &held.message, false, now);
        }
        let _ = held.verdict.send(verdict_of(&reason, held.message.channel));
    }

    /// The agent behind the author's peer has stake and lease, or lost them.
    fn stand(&self, inner: &mut Inner, message: &Message, has_standing: bool, now: u64) {
        if let Some(author) = peer_of_key(&message.author) {
            inner.scores.set_standing(&author, has_standing);
            self.tell(inner, author, now);
        }
    }

    fn exceeded(&self, inner: &mut Inner, peer: &PeerId, now: u64) {
        inner.scores.exceeded(peer, now);
        self.tell(inner, *peer, now);
    }

    fn tell(&self, inner: &mut Inner, peer: PeerId, now: u64) {
        let points = inner.scores.points(&peer, now);
        if inner.told.get(&peer) != Some(&points)
            && self.scores.try_send((peer, points.saturating_mul(100))).is_ok()
        {
            if inner.told.len() >= zx1_mesh::defaults::MAX_SCORED_PEERS {
                inner.told.pop_first();
            }
            inner.told.insert(peer, points);
        }
    }
}

impl Validator for Judge {
    fn judge(&self, message: &Message) -> impl Future<Output = Verdict> + Send + 'static {
        let now = self.clock.unix_micros();
        let (verdict, answer) = oneshot::channel();
        let held = Held { message: message.clone(), verdict };
        let mut inner = self.inner();
        let peer = message.forwarder;
        let rate = match message.channel {
            Channel::Direct => inner.connections.take(&peer, now),
            _ => Ok(()),
        };
        let outcome = match rate {
            Ok(()) => inner.intake.receive(peer, held, now),
            Err(reason) => {
                inner.over_rate = inner.over_rate.saturating_add(1);
                Some(Outcome::Ignored(peer, held, reason))
            }
        };
        if let Some(outcome) = outcome {
            self.settle(&mut inner, outcome, now);
        }
        drop(inner);
        // Ready at once when it is decided.
        async move { answer.await.unwrap_or(Verdict::Ignore(Reason::WaitedTooLong.code())) }
    }
}

/// A key without a place on chain, as `--dev` takes it.
pub fn of_any_scope(key: &WalletKey) -> Option<AgentKey> {
    let key = PublicKey::from_bytes(&key.to_bytes()).ok()?;
    Some(AgentKey { key, scopes: Scopes::ALL, from: Epoch(0), until: OPEN })
}

/// The verdict for a reason. On a stream any key of the author may have signed, and which it has is a view. On a topic, true bytes under another author or topic are the fault of who brought this
/// copy alone: others may bring the same bytes rightly.
fn verdict_of(reason: &Reason, channel: Channel) -> Verdict {
    let code = reason.code();
    let is_gossip = channel != Channel::Direct;
    match reason {
        Reason::Source | Reason::Rule(validate::Reason::WrongChannel) if is_gossip => {
            Verdict::Misattributed(code)
        }
        Reason::Rule(validate::Reason::Signature) if !is_gossip => Verdict::Ignore(code),
        reason if reason.is_reject() => Verdict::Reject(code),
        _ => Verdict::Ignore(code),
    }
}

fn lacks_standing(reason: &Reason) -> bool {
    matches!(
        reason,
        Reason::StakeMissing
            | Reason::StakeTooSmall { .. }
            | Reason::StakeQueued
            | Reason::LeaseMissing
            | Reason::LeaseDeactivated
            | Reason::UnknownKey
    )
}

/// The slot after some time without an answer of the cluster.
pub fn reckoned(slot: Slot, micros: u64) -> Slot {
    Slot(slot.0.saturating_add(micros / crate::defaults::SLOT_MICROS))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ed25519_dalek::{Signer as _, SigningKey};
    use zx1_home::FixedClock;
    use zx1_mesh::facts::Stake;
    use zx1_protocol::draft::Draft;
    use zx1_protocol::envelope::{BROADCAST, MsgType};
    use zx1_protocol::ids::ConversationId;
    use zx1_protocol::lease::Lease;
    use zx1_protocol::units::MicroUsdc;

    const ME: AgentId = AgentId([1; 32]);
    const OTHER: AgentId = AgentId([2; 32]);
    const NOW_MS: u64 = 1_700_000_000_000;
    const CHAIN: Chain = Chain { slot: Slot(500), min_stake: MicroUsdc(10) };

    fn signing() -> SigningKey {
        SigningKey::from_bytes(&[5; 32])
    }

    fn wallet(key: &SigningKey) -> WalletKey {
        WalletKey::from(key.verifying_key().to_bytes())
    }

    fn message(msg_type: MsgType, channel: Channel, nonce: u64, published_by: &SigningKey) -> Message {
        let is_direct = channel == Channel::Direct;
        let draft = Draft {
            msg_type,
            sender: OTHER,
            recipient: if is_direct { ME } else { BROADCAST },
            timestamp: NOW_MS * 1_000,
            block_ref: Slot(500),
            nonce,
            conversation_id: ConversationId([3; 16]),
            payload: b"free text",
        };
        let bytes = draft.sign(|bytes| signing().sign(bytes).to_bytes()).unwrap();
        Message { bytes: bytes.into(), channel, author: wallet(published_by), forwarder: PeerId::random() }
    }

    fn judge(mode: Mode) -> (Arc<Judge>, mpsc::Receiver<ScoreChange>, FixedClock) {
        let clock = FixedClock::new(NOW_MS);
        let (judge, changes) = Judge::new(ME, mode, Arc::new(clock.clone()));
        judge.set_chain(CHAIN);
        (Arc::new(judge), changes, clock)
    }

    fn facts(stake: u64) -> Facts {
        Facts {
            keys: of_any_scope(&wallet(&signing())).into_iter().collect(),
            stake: Some(Stake { amount: MicroUsdc(stake), is_queued: false }),
            lease: Some(Lease { paid_through: Epoch::from_unix_micros(NOW_MS * 1_000) }),
            ..Facts::default()
        }
    }

    #[tokio::test]
    async fn a_message_waits_for_facts_and_its_author_gains_what_they_say() {
        let (judge, mut changes, _) = judge(Mode::Enforced);
        let first =
            tokio::spawn(judge.judge(&message(MsgType::Advertise, Channel::Broadcast, 1, &signing())));
        let batch = judge.due().pop().unwrap();
        assert_eq!((judge.tally().waiting, batch.lookups[0].0), (1, OTHER));
        judge.answer(batch.id, vec![(OTHER, Some(facts(10)))]);
        assert_eq!(first.await.unwrap(), Verdict::Accept);
        let author = peer_of_key(&wallet(&signing())).unwrap();
        assert_eq!(changes.try_recv(), Ok((author, 1_000)));
        assert_eq!(judge.keys(&OTHER, &wallet(&signing())).len(), 1);
        // The same once more is a replay, and blames nobody.
        let again = judge.judge(&message(MsgType::Advertise, Channel::Broadcast, 1, &signing())).await;
        assert!(matches!(again, Verdict::Ignore(_)), "{again:?}");
        assert_eq!(judge.tally().accepted, 1);
    }

    #[tokio::test]
    async fn what_the_log_has_is_a_replay_after_a_restart() {
        let (judge, ..) = judge(Mode::Dev);
        let seen = SeenNonces::none(Channel::Broadcast).accept(7).unwrap();
        judge.restore(&OTHER, Channel::Broadcast, seen);
        let copy = message(MsgType::Advertise, Channel::Broadcast, 7, &signing());
        assert!(matches!(judge.judge(&copy).await, Verdict::Ignore(_)));
        let next = message(MsgType::Advertise, Channel::Broadcast, 8, &signing());
        assert_eq!(judge.judge(&next).await, Verdict::Accept);
    }

    #[tokio::test]
    async fn without_stake_it_is_ignored_and_the_author_gains_nothing() {
        let (judge, mut changes, _) = judge(Mode::Enforced);
        let verdict =
            tokio::spawn(judge.judge(&message(MsgType::Advertise, Channel::Broadcast, 1, &signing())));
        let batch = judge.due().pop().unwrap();
        judge.answer(batch.id, vec![(OTHER, Some(facts(9)))]);
        let too_small = Reason::StakeTooSmall { stake: MicroUsdc(9), minimum: MicroUsdc(10) };
        assert_eq!(verdict.await.unwrap(), Verdict::Ignore(too_small.code()));
        assert_eq!(changes.try_recv().unwrap().1, 0);
        // It locks more: what was known does not serve, and it is asked for before its next message comes.
        judge.changed(&OTHER);
        let batch = judge.due().pop().unwrap();
        judge.answer(batch.id, vec![(OTHER, Some(facts(10)))]);
        let next = judge.judge(&message(MsgType::Advertise, Channel::Broadcast, 2, &signing())).await;
        assert_eq!(next, Verdict::Accept);
    }

    #[tokio::test]
    async fn true_bytes_under_another_author_blame_only_who_brought_them() {
        let (judge, ..) = judge(Mode::Enforced);
        let thief = SigningKey::from_bytes(&[6; 32]);
        let stolen = message(MsgType::Advertise, Channel::Broadcast, 1, &thief);
        assert_eq!(judge.judge(&stolen).await, Verdict::Misattributed(Reason::Source.code()));
        assert!(judge.due().is_empty(), "the cluster is not asked for it");
        let wrong = message(MsgType::Advertise, Channel::Notary, 1, &signing());
        assert!(matches!(judge.judge(&wrong).await, Verdict::Misattributed(_)));
        let garbage = Message { bytes: vec![0xff; 40].into(), ..wrong };
        assert!(matches!(judge.judge(&garbage).await, Verdict::Reject(_)));
    }

    #[tokio::test]
    async fn what_waits_too_long_is_ignored() {
        let (judge, _, clock) = judge(Mode::Enforced);
        let verdict =
            tokio::spawn(judge.judge(&message(MsgType::Advertise, Channel::Broadcast, 1, &signing())));
        let batch = judge.due().pop().unwrap();
        judge.failed(batch.id);
        clock.advance(4_001);
        judge.due();
        assert_eq!(verdict.await.unwrap(), Verdict::Ignore(Reason::WaitedTooLong.code()));
        assert!(judge.tally().is_away);
    }

    #[tokio::test]
    async fn a_connection_that_brings_too_much_loses_a_point_a_message() {
        let (judge, mut changes, _) = judge(Mode::Dev);
        let mut refused = 0;
        let forwarder = PeerId::random();
        for nonce in 1..=210 {
            let message =
                Message { forwarder, ..message(MsgType::Deliver, Channel::Direct, nonce, &signing()) };
            if judge.judge(&message).await == Verdict::Ignore(Reason::DirectRate.code()) {
                refused += 1;
            }
        }
        assert_eq!(refused, 10);
        assert!(judge.tally().refused.contains(&("DirectRate", 10)));
        let last = std::iter::from_fn(|| changes.try_recv().ok()).last();
        assert_eq!(last, Some((forwarder, -1_000)));
    }
}
