//! Who is here, in which channel, and who reads what: one task, in the order in which frames came.
//!
//! Nothing here waits for a disk or for a reader. What has to be kept first goes to the [`desk`](crate::desk) and
//! comes back as frames.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::extract::ws::Utf8Bytes;
use tokio::sync::mpsc;
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;
use zx1_home::clock::{Clock, SystemClock};
use zx1_relay_rules::access::{Access, Subject};
use zx1_relay_rules::client::{Admin, Frame, Target};
use zx1_relay_rules::hub::{Hub, Kept, Out};
use zx1_relay_rules::id::Keys;
use zx1_relay_rules::login::Proven;
use zx1_relay_rules::proposal::{Key, Party};
use zx1_relay_rules::verify::{Request, Requests};
use zx1_relay_rules::{AgentId, Close, PublicKey, RelayError, Settings, server};

use crate::messages::{Act, Change, Command, Enter, Look, Proposing, Task, one, random};
use crate::metrics::Metrics;
use crate::outbox::{Outbox, Pushed};

/// Commands that wait for the core. Whoever sends more waits.
pub const QUEUE: usize = 8_192;
/// Commands that are handled before readers are woken.
const BATCH: usize = 512;
/// How often coalesced changes are sent and expired requests ended.
const BEAT: Duration = Duration::from_millis(250);
/// What waking one reader may cost. With many readers frames are collected for so long, so that one write carries
/// several of them; with few nobody waits.
const WAKE_COST: Duration = Duration::from_micros(10);
/// Longest time that frames are collected.
const MAX_DELAY: Duration = Duration::from_millis(20);

struct Session {
    number: u64,
    outbox: Arc<Outbox>,
    key: Option<PublicKey>,
}

/// What a core is made of.
#[derive(Debug)]
pub struct Start {
    /// The rules' settings.
    pub settings: Settings,
    /// What WELCOME says.
    pub welcome: Welcome,
    /// Keys with their ids.
    pub keys: Keys,
    /// Bans and the allowlist.
    pub access: Access,
    /// Buffers of the channels.
    pub buffers: Vec<(String, Vec<Kept>)>,
    /// Where tasks go.
    pub desk: mpsc::Sender<Task>,
    /// Counts what is delivered and dropped.
    pub metrics: Metrics,
    /// Random bytes that no other start of this relay has, for ids of messages.
    pub boot: [u8; 4],
}

/// What WELCOME says beside the agent's own.
#[derive(Debug, Clone)]
pub struct Welcome {
    /// The relay's name.
    pub server: String,
    /// A sentence on what others write.
    pub disclaimer: String,
    /// The operator's message of the day.
    pub motd: Option<String>,
}

/// Owns channels, keys and sessions, and runs as one task.
pub struct Core {
    settings: Settings,
    welcome: Welcome,
    hub: Hub,
    keys: Keys,
    access: Access,
    requests: Requests,
    sessions: HashMap<AgentId, Session>,
    /// Ids that are forgotten with their connections.
    passing: HashSet<AgentId>,
    desk: mpsc::Sender<Task>,
    metrics: Metrics,
    boot: String,
    messages: u64,
    changed: BTreeSet<String>,
    dirty: Vec<Arc<Outbox>>,
    oldest: Option<Instant>,
    next_wake: Instant,
}

impl Core {
    /// Everybody is gone, and what was kept is there.
    pub fn new(start: Start) -> Core {
        let mut hub = Hub::new(start.settings.clone());
        for (channel, kept) in start.buffers {
            hub.restore(&channel, kept);
        }
        Core {
            settings: start.settings,
            welcome: start.welcome,
            hub,
            keys: start.keys,
            access: start.access,
            requests: Requests::default(),
            sessions: HashMap::new(),
            passing: HashSet::new(),
            desk: start.desk,
            metrics: start.metrics,
            boot: hex::encode(start.boot),
            messages: 0,
            changed: BTreeSet::new(),
            dirty: Vec::new(),
            oldest: None,
            next_wake: Instant::now(),
        }
    }

    /// Runs until `ending`, then tells everybody to come back.
    pub async fn run(mut self, mut commands: mpsc::Receiver<Command>, ending: CancellationToken) {
        let mut batch = Vec::with_capacity(BATCH);
        let mut beat = tokio::time::interval(BEAT);
        beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let wake = self.next_wake;
            tokio::select! {
                biased;
                () = ending.cancelled() => break,
                _ = beat.tick() => self.beat(SystemClock.unix_ms()),
                () = tokio::time::sleep_until(wake.into()), if !self.dirty.is_empty() => {}
                count = commands.recv_many(&mut batch, BATCH) => {
                    if count == 0 {
                        break;
                    }
                    let now = SystemClock.unix_ms();
                    for command in batch.drain(..) {
                        self.take(command, now);
                    }
                }
            }
            self.wake();
        }
        self.keep_buffers();
        for session in self.sessions.values() {
            session.outbox.close(Close::Restart);
        }
    }

    fn wake(&mut self) {
        let now = Instant::now();
        if self.dirty.is_empty() || now < self.next_wake {
            return;
        }
        let count = u32::try_from(self.dirty.len()).unwrap_or(u32::MAX);
        for outbox in self.dirty.drain(..) {
            outbox.wake();
        }
        if let Some(oldest) = self.oldest.take() {
            self.metrics.fanout.observe(oldest.elapsed().as_secs_f64());
        }
        self.next_wake = now + WAKE_COST.saturating_mul(count).min(MAX_DELAY);
    }

    fn push(&mut self, outbox: &Arc<Outbox>, frame: &Utf8Bytes) {
        match outbox.push(frame) {
            Pushed::First => self.dirty.push(outbox.clone()),
            Pushed::Behind => {}
            Pushed::Dropped => drop(self.metrics.dropped.inc()),
            Pushed::TooSlow => drop(self.metrics.too_slow.inc()),
        }
        self.oldest.get_or_insert_with(Instant::now);
    }

    fn send(&mut self, out: Vec<Out>) {
        for Out { to, frame, extension } in out {
            let frame = Utf8Bytes::from(&*frame);
            let mut sent = 0_u64;
            for id in &to {
                let Some(session) = self.sessions.get(id) else { continue };
                if extension && !session.outbox.extensions {
                    continue;
                }
                let outbox = session.outbox.clone();
                self.push(&outbox, &frame);
                sent = sent.saturating_add(1);
            }
            self.metrics.deliveries.inc_by(sent);
        }
    }

    fn reply(&mut self, outbox: &Arc<Outbox>, frame: String) {
        self.push(outbox, &Utf8Bytes::from(frame));
    }

    fn beat(&mut self, now: u64) {
        let out = self.hub.tick(now);
        self.send(out);
        for (id, request) in self.requests.expire(now) {
            self.verification_failed(&id, &request, "timeout", now);
        }
        self.keep_buffers();
    }

    /// Hands changed buffers to the desk; when it is busy, they are handed over later.
    fn keep_buffers(&mut self) {
        if self.changed.is_empty() {
            return;
        }
        let Ok(place) = self.desk.try_reserve() else { return };
        let buffers = std::mem::take(&mut self.changed).into_iter().map(|name| {
            let kept = self.hub.buffer(&name);
            (name, serde_json::to_string(&kept).unwrap_or_default())
        });
        place.send(Task::Buffers(buffers.collect()));
    }

    fn take(&mut self, command: Command, now: u64) {
        match command {
            Command::Check(key, reply) => drop(reply.send(self.access.check(key.as_ref()))),
            Command::Enter(enter) => self.enter(*enter, now),
            Command::Frame(number, id, frame) => {
                let Some(session) = self.sessions.get(&id).filter(|session| session.number == number) else {
                    return;
                };
                let outbox = session.outbox.clone();
                let is_accept = matches!(*frame, Frame::Accept { .. });
                match self.frame(&id, *frame, now) {
                    Ok(out) => self.send(out),
                    Err(error) if is_accept => self.reply(&outbox, server::accept_error(&error, now)),
                    Err(error) => self.reply(&outbox, server::error(&error, now)),
                }
            }
            Command::Channels(outbox) => {
                let frame = self.hub.channels(now);
                self.reply(&outbox, frame);
            }
            Command::Reply(outbox, frame) => self.reply(&outbox, frame),
            Command::Close(outbox, how) => outbox.close(how),
            Command::Gone(number, id) => {
                if self.sessions.get(&id).is_some_and(|session| session.number == number) {
                    self.remove(&id, now);
                }
            }
            Command::Send(out) => self.send(out),
            Command::Changed(change, admin) => self.changed(*change, &admin, now),
            Command::Look(reply) => {
                let with_identity = self.sessions.values().filter(|session| session.key.is_some()).count();
                let connected = self.sessions.len();
                drop(reply.send(Look { connected, with_identity, rooms: self.hub.rooms() }));
            }
            Command::Read(channel, reply) => {
                let kept = self.hub.is_public(&channel).then(|| self.hub.buffer(&channel));
                drop(reply.send(kept));
            }
        }
    }

    fn enter(&mut self, enter: Enter, now: u64) {
        let Enter { number, outbox, address, name, proven, reply } = enter;
        let admitted = self.admit(proven.as_ref());
        let id = match admitted {
            Ok(id) => id,
            Err(error) => {
                tracing::info!(target: "security", %address, code = error.code(), "an identity was refused");
                self.reply(&outbox, server::error(&error, now));
                let _ = reply.send(None);
                return;
            }
        };
        if let Some(displaced) = self.sessions.get(&id).map(|session| session.outbox.clone()) {
            tracing::info!(target: "security", %id, %address, "an identity was taken over by its key");
            let reason = Close::Displaced.reason();
            self.reply(&displaced, server::displaced(reason, &address, now));
            displaced.close(Close::Displaced);
            self.metrics.displaced.inc();
            // The key is still here, so its id stays.
            let is_passing = self.passing.remove(&id);
            self.remove(&id, now);
            if is_passing {
                self.passing.insert(id.clone());
            }
        }
        let key = proven.map(|proven| proven.key);
        self.hub.enter(id.clone(), name.clone(), key.is_some());
        let welcome = server::welcome(
            &id,
            &name,
            &self.welcome.server,
            &self.welcome.disclaimer,
            key.is_some(),
            self.welcome.motd.as_deref(),
            now,
        );
        self.reply(&outbox, welcome);
        self.sessions.insert(id.clone(), Session { number, outbox, key });
        self.metrics.agents.set(i64::try_from(self.sessions.len()).unwrap_or(i64::MAX));
        let _ = reply.send(Some(id));
    }

    /// The id of a connection: its key's, or a random one.
    fn admit(&mut self, proven: Option<&Proven>) -> Result<AgentId, RelayError> {
        self.access.check(proven.map(|proven| proven.key.bytes()).as_ref())?;
        let Some(proven) = proven else {
            loop {
                let id = AgentId::ephemeral(random()?);
                if !self.hub.is_here(&id) && self.keys.key(&id).is_none() {
                    return Ok(id);
                }
            }
        };
        let is_new = self.keys.is_new(&proven.key);
        let (id, key) = self.keys.claim(&proven.pem, self.settings.id_hex)?;
        if self.hub.is_here(&id) && self.sessions.get(&id).is_some_and(|other| other.key != Some(key)) {
            // An agent without a key has this id by chance.
            self.sessions.get(&id).inspect(|other| other.outbox.close(Close::Restart));
            self.remove(&id, SystemClock.unix_ms());
        }
        if is_new && self.keys.count() > self.settings.identities {
            self.passing.insert(id.clone());
        } else if is_new && self.desk.try_send(Task::Remember(key.bytes(), id.clone())).is_err() {
            tracing::warn!(%id, "the desk is busy; this identity is kept in memory only");
        }
        Ok(id)
    }

    fn remove(&mut self, id: &AgentId, now: u64) {
        self.sessions.remove(id);
        if self.passing.remove(id) {
            self.keys.forget(id);
        }
        let out = self.hub.gone(id, now);
        self.send(out);
        for (request_id, request) in self.requests.gone(id) {
            self.verification_failed(&request_id, &request, "disconnected", now);
        }
        self.metrics.agents.set(i64::try_from(self.sessions.len()).unwrap_or(i64::MAX));
    }

    fn verification_failed(&mut self, request_id: &str, request: &Request, reason: &str, now: u64) {
        let frame = server::verify_failed(request_id, &request.target, reason, now);
        self.send(vec![one(&request.asker, frame)]);
    }

    fn frame(&mut self, id: &AgentId, frame: Frame, now: u64) -> Result<Vec<Out>, RelayError> {
        match frame {
            Frame::Identify { .. } | Frame::VerifyIdentity { .. } => Err(RelayError::IdentifiedAlready),
            Frame::Ping => Ok(vec![one(id, server::pong(now))]),
            Frame::Join { channel } => self.hub.join(id, &channel, now),
            Frame::Leave { channel } => self.hub.leave(id, &channel, now),
            Frame::ListAgents { channel, after } => {
                let after = after.map(|after| AgentId::parse(&after, "after")).transpose()?;
                Ok(vec![one(id, self.hub.agents(id, &channel, after.as_ref(), now)?)])
            }
            Frame::ListChannels => Ok(vec![one(id, self.hub.channels(now))]),
            Frame::CreateChannel { channel, invite_only } => self.hub.create(id, &channel, invite_only, now),
            Frame::Invite { channel, agent } => self.hub.invite(id, &channel, &agent, now),
            Frame::Typing { channel } => self.hub.typing(id, &channel, now),
            Frame::Msg { to, content, sig } => {
                self.messages = self.messages.wrapping_add(1);
                let msg_id = format!("{}-{:x}", self.boot, self.messages);
                self.metrics.messages.inc();
                match to {
                    Target::Channel(name) => {
                        let out = self.hub.say(id, &name, &content, sig.as_deref(), Some(&msg_id), now)?;
                        if self.settings.channels.contains(&name) {
                            self.changed.insert(name);
                        }
                        Ok(out)
                    }
                    Target::Agent(other) => {
                        self.hub.tell(id, &other, &content, sig.as_deref(), Some(&msg_id), now)
                    }
                }
            }
            Frame::FileChunk { to, content } => self.hub.chunk(id, &to, &content, now),
            Frame::SetPresence { status, status_text } => self.hub.presence(id, status, status_text, now),
            Frame::SetNick { nick } => self.hub.nick(id, &nick, now),
            Frame::RegisterSkills { skills, .. } => self.hub.register(id, skills, now),
            Frame::SearchSkills { query, sent, query_id } => {
                Ok(vec![one(id, self.hub.search(&query, &sent, query_id.as_deref(), now))])
            }
            Frame::VerifyRequest { target, nonce } => self.ask(id, target, nonce, now),
            Frame::VerifyResponse { request_id, nonce, sig } => {
                self.answered(id, &request_id, &nonce, &sig, now)
            }
            Frame::Proposal { to, terms, sig, zx1_sig, envelope } => {
                let (from, to) = (self.party(id)?, self.other_party(&to)?);
                let sig = sig.ok_or(RelayError::SignatureNeeded)?;
                self.hand(Task::Propose(Box::new(Proposing {
                    from,
                    to,
                    terms: *terms,
                    sig,
                    zx1_sig,
                    envelope,
                })))
            }
            Frame::Accept { proposal_id, payment_code, elo_stake, sig, envelope } => {
                self.act(id, proposal_id, sig, envelope, Act::Accept { payment_code, elo_stake })
            }
            Frame::Reject { proposal_id, reason, sig, envelope } => {
                self.act(id, proposal_id, sig, envelope, Act::Reject { reason })
            }
            Frame::Complete { proposal_id, proof, sig, envelope } => {
                self.act(id, proposal_id, sig, envelope, Act::Complete { proof })
            }
            Frame::Dispute { proposal_id, reason, sig, envelope } => {
                self.act(id, proposal_id, sig, envelope, Act::Dispute { reason })
            }
            Frame::Admin { action, .. } => self.admin(id, action, now),
        }
    }

    fn hand(&self, task: Task) -> Result<Vec<Out>, RelayError> {
        self.desk.try_send(task).map_err(|_| RelayError::Busy)?;
        Ok(Vec::new())
    }

    fn act(
        &self,
        id: &AgentId,
        proposal: String,
        sig: Option<String>,
        envelope: Option<String>,
        act: Act,
    ) -> Result<Vec<Out>, RelayError> {
        let (by, sig) = (self.party(id)?, sig.ok_or(RelayError::SignatureNeeded)?);
        self.hand(Task::Act { proposal, by, act, sig, envelope })
    }

    /// The agent as a party; only verified ones are.
    fn party(&self, id: &AgentId) -> Result<Party, RelayError> {
        let key = self.sessions.get(id).and_then(|session| session.key).ok_or(RelayError::SignatureNeeded)?;
        Ok(Party { key: key.bytes(), id: id.clone() })
    }

    fn other_party(&self, id: &AgentId) -> Result<Party, RelayError> {
        self.hub.member(id)?;
        self.party(id).map_err(|_| RelayError::NoPublicKey { agent: id.to_string() })
    }

    fn ask(
        &mut self,
        id: &AgentId,
        target: AgentId,
        nonce: String,
        now: u64,
    ) -> Result<Vec<Out>, RelayError> {
        self.other_party(&target)?;
        let request_id = server::unique("verify", now, random()?);
        let expires_at = now.saturating_add(self.settings.verify_ms);
        let request = Request { asker: id.clone(), target: target.clone(), nonce: nonce.clone(), expires_at };
        self.requests.open(request_id.clone(), request, now)?;
        Ok(vec![
            one(&target, server::verify_request(&request_id, id, &nonce, now)),
            one(id, server::verify_pending(&request_id, &target, now)),
        ])
    }

    fn answered(
        &mut self,
        id: &AgentId,
        request_id: &str,
        nonce: &str,
        sig: &str,
        now: u64,
    ) -> Result<Vec<Out>, RelayError> {
        let key = self.sessions.get(id).and_then(|session| session.key);
        let (request, holds) = self.requests.answer(request_id, id, key.as_ref(), nonce, sig, now)?;
        let (Some(key), true) = (key, holds) else {
            self.verification_failed(request_id, &request, "signature", now);
            return Err(RelayError::Signature);
        };
        Ok(vec![
            one(&request.asker, server::verify_success(request_id, id, &key.to_pem(), now)),
            one(id, server::verified(request_id, now)),
        ])
    }

    /// What an admin asks for; the key was compared by the session.
    fn admin(&mut self, admin: &AgentId, action: Admin, now: u64) -> Result<Vec<Out>, RelayError> {
        let change = match action {
            Admin::List => {
                let pem = |key: &Key| PublicKey::new(*key).map(|key| key.to_pem()).unwrap_or_default();
                let entries: Vec<_> =
                    self.access.allowed().map(|(key, note)| (pem(key), note.map(str::to_owned))).collect();
                let frame = server::admin_list(&entries, self.access.enabled, self.access.strict, now);
                return Ok(vec![one(admin, frame)]);
            }
            Admin::Kick { agent, reason } => {
                self.hub.member(&agent)?;
                self.evict(&agent, false, reason.as_deref().unwrap_or_default(), now);
                return Ok(vec![one(admin, server::admin_done("kick", true, now))]);
            }
            Admin::Rule { proposal_id, winner } => {
                return self.hand(Task::Rule { proposal: proposal_id, winner, admin: admin.clone() });
            }
            Admin::Approve { pubkey, note } => Change::Allow(PublicKey::from_pem(&pubkey)?.bytes(), note),
            Admin::Revoke { pubkey: Some(pubkey), .. } => {
                Change::Revoke(PublicKey::from_pem(&pubkey)?.bytes())
            }
            Admin::Revoke { pubkey: None, agent } => {
                let agent = agent.ok_or(RelayError::Field { field: "agent_id" })?;
                let key = self.keys.key(&agent);
                Change::Revoke(key.ok_or_else(|| RelayError::NoAgent { agent: agent.to_string() })?)
            }
            Admin::Ban { agent, reason } => {
                let known = self.hub.is_here(&agent) || self.keys.key(&agent).is_some();
                let subject = known.then(|| self.subject(&agent));
                let subject = subject.ok_or_else(|| RelayError::NoAgent { agent: agent.to_string() })?;
                Change::Ban(subject, agent, reason.unwrap_or_default())
            }
            Admin::Unban { agent } => Change::Unban(self.subject(&agent)),
        };
        self.hand(Task::Change(Box::new(change), admin.clone()))
    }

    fn subject(&self, agent: &AgentId) -> Subject {
        self.keys.key(agent).map_or_else(|| Subject::Id(agent.clone()), Subject::Key)
    }

    /// Closes an agent's connection, with KICKED or BANNED before.
    fn evict(&mut self, agent: &AgentId, banned: bool, reason: &str, now: u64) {
        tracing::info!(target: "security", %agent, banned, "an agent was removed by the admin");
        if let Some(outbox) = self.sessions.get(agent).map(|session| session.outbox.clone()) {
            self.reply(&outbox, server::removed(banned, reason, now));
            outbox.close(if banned { Close::Banned } else { Close::Kicked });
            self.remove(agent, now);
        }
    }

    fn changed(&mut self, change: Change, admin: &AgentId, now: u64) {
        let (action, success) = match change {
            Change::Allow(key, note) => {
                self.access.allow(key, note);
                ("approve", true)
            }
            Change::Revoke(key) => {
                let was = self.access.revoke(&key);
                ("revoke", was)
            }
            Change::Ban(subject, agent, reason) => {
                self.access.ban(subject, reason.clone());
                self.evict(&agent, true, &reason, now);
                ("ban", true)
            }
            Change::Unban(subject) => {
                let was = self.access.unban(&subject);
                ("unban", was)
            }
        };
        self.send(vec![one(admin, server::admin_done(action, success, now))]);
    }
}
