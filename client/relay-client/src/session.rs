//! The task that holds the connection: it reads and writes, comes back after a loss, and joins again what was joined.
//!
//! What was heard waits in a bounded queue. When it is full, nothing more is read, and the relay's own bound on what is
//! unsent ends the connection: a client that does not keep up loses its place, not single messages.

use std::collections::{BTreeSet, VecDeque};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;
use zx1_home::clock::Clock;
use zx1_relay_rules::AgentId;
use zx1_relay_rules::client::{Frame, Presence};
use zx1_relay_rules::event::{Event, Heard};
use zx1_relay_rules::rate::Kind;

use crate::backoff::{Backoff, Waits};
use crate::identity::{Identity, is_nonce};
use crate::pace::{MSG_MS, Pace};
use crate::seen::Seen;
use crate::socket::{Incoming, Link, Relay, Roots, Welcome, refused, removed};
use crate::{ClientError, Result};

/// What was heard and not taken yet; and, in the task, what waits for room there.
pub(crate) const QUEUE: usize = 256;
/// Frames that wait to be sent.
const OUTBOX: usize = 64;
/// Silence after which the relay is pinged, and after which again it counts as lost. It pings every 30 s itself.
const QUIET: Duration = Duration::from_secs(45);

/// How a client connects.
#[derive(Clone)]
pub struct Options {
    /// The relay's address.
    pub relay: Relay,
    /// The name that the relay shows to others: 1 to 32 letters, digits, dashes and underscores.
    pub name: String,
    /// The key that is proven; without one the agent is ephemeral.
    pub identity: Option<Arc<Identity>>,
    /// Whether VERIFY_REQUEST is answered with the key.
    pub answers_verification: bool,
    /// Waits before connecting again; `None`: a lost connection ends the client.
    pub waits: Option<Waits>,
    /// Milliseconds between two messages.
    pub msg_ms: u64,
    /// Certificates beyond the public authorities.
    pub roots: Roots,
    /// The time that signatures of the challenge carry.
    pub clock: Arc<dyn Clock>,
}

impl Options {
    /// The usual ones.
    pub fn new(relay: Relay, name: &str, identity: Option<Arc<Identity>>, clock: Arc<dyn Clock>) -> Options {
        Options {
            relay,
            name: name.to_owned(),
            identity,
            answers_verification: true,
            waits: Some(Waits::default()),
            msg_ms: MSG_MS,
            roots: Vec::new(),
            clock,
        }
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Options { relay, name, identity, .. } = self;
        f.debug_struct("Options")
            .field("relay", relay)
            .field("name", name)
            .field("identity", identity)
            .finish_non_exhaustive()
    }
}

/// What a client learns.
#[derive(Debug, Clone, PartialEq)]
pub enum News {
    /// A frame of the relay.
    Heard(Heard),
    /// The connection was lost; another one is tried after this many milliseconds.
    Lost {
        /// The reason, as it may be shown.
        why: String,
        /// Milliseconds until the next attempt.
        wait_ms: u64,
    },
    /// Connected again. What was joined is being joined again.
    Back(Welcome),
    /// The end: nothing follows.
    Ended(ClientError),
}

/// What the task is asked to do.
pub(crate) enum Command {
    Send(Frame, oneshot::Sender<Result<()>>),
    Close(oneshot::Sender<()>),
}

/// A frame that waits to be sent.
struct Waiting {
    kind: Kind,
    text: String,
    done: Option<oneshot::Sender<Result<()>>>,
}

/// How a connection ends.
enum End {
    Asked(Option<oneshot::Sender<()>>),
    Lost(ClientError),
    Final(ClientError),
}

/// The state that outlives a connection.
pub(crate) struct Session {
    options: Options,
    commands: mpsc::Receiver<Command>,
    news: mpsc::Sender<News>,
    pending: VecDeque<News>,
    /// Messages and all other frames in their order; chunks have a window of their own.
    outbox: VecDeque<Waiting>,
    chunks: VecDeque<Waiting>,
    agent: AgentId,
    name: String,
    joined: BTreeSet<String>,
    presence: Option<(Presence, Option<String>)>,
    seen: Seen,
    pace: Pace,
    begun: Instant,
}

impl Session {
    /// Connects and identifies. Nothing is tried twice yet.
    pub(crate) async fn first(options: &Options, name: &str) -> Result<(Link, Welcome)> {
        let mut link = Link::open(&options.relay, &options.roots).await?;
        let welcome = link.identify(name, options.identity.as_deref(), options.clock.as_ref()).await?;
        Ok((link, welcome))
    }

    /// Takes over a connection that has identified.
    pub(crate) fn new(
        options: Options,
        welcome: &Welcome,
        commands: mpsc::Receiver<Command>,
        news: mpsc::Sender<News>,
    ) -> Session {
        let pace = Pace::new(options.msg_ms);
        Session {
            name: options.name.clone(),
            options,
            commands,
            news,
            pending: VecDeque::new(),
            outbox: VecDeque::new(),
            chunks: VecDeque::new(),
            agent: welcome.agent.clone(),
            joined: BTreeSet::new(),
            presence: None,
            seen: Seen::default(),
            pace,
            begun: Instant::now(),
        }
    }

    /// Runs until it is asked to end, nobody listens, or nothing can help.
    pub(crate) async fn run(mut self, mut link: Link) {
        let mut backoff = self.options.waits.map(Backoff::new);
        loop {
            let since = Instant::now();
            let mut why = match self.serve(&mut link).await {
                End::Asked(done) => {
                    link.close().await;
                    if let Some(done) = done {
                        let _ = done.send(());
                    }
                    return;
                }
                End::Final(error) => return self.end(error).await,
                End::Lost(error) => error,
            };
            drop(link);
            let mut stood = u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX);
            link = loop {
                let Some(backoff) = &mut backoff else { return self.end(why).await };
                let wait_ms = backoff.lost(std::mem::take(&mut stood), random());
                self.pending.push_back(News::Lost { why: why.to_string(), wait_ms });
                if !self.rest(Duration::from_millis(wait_ms)).await {
                    return;
                }
                match Session::first(&self.options, &self.name).await {
                    Ok((link, welcome)) => {
                        self.agent = welcome.agent.clone();
                        self.pending.push_back(News::Back(welcome));
                        break link;
                    }
                    Err(error) if error.is_final() => return self.end(error).await,
                    Err(error) => why = error,
                }
            };
            self.come_back();
        }
    }

    /// The last news.
    async fn end(mut self, error: ClientError) {
        self.pending.push_back(News::Ended(error));
        for news in std::mem::take(&mut self.pending) {
            if self.news.send(news).await.is_err() {
                return;
            }
        }
    }

    /// Waits without a connection; `false` when it is to end. What is to be sent stays where it is.
    async fn rest(&mut self, wait: Duration) -> bool {
        let until = Instant::now() + wait;
        let news = self.news.clone();
        loop {
            tokio::select! {
                permit = news.reserve(), if !self.pending.is_empty() => match (permit, self.pending.pop_front()) {
                    (Ok(permit), Some(first)) => permit.send(first),
                    _ => return false,
                },
                command = self.commands.recv(), if self.outbox.len() < OUTBOX && self.chunks.len() < OUTBOX => {
                    match command {
                        Some(Command::Send(frame, done)) => self.queue(&frame, Some(done)),
                        Some(Command::Close(done)) => {
                            let _ = done.send(());
                            return false;
                        }
                        None => return false,
                    }
                }
                () = tokio::time::sleep_until(until) => return true,
                () = news.closed() => return false,
            }
        }
    }

    /// Joins again, ahead of what waits.
    fn come_back(&mut self) {
        let mut first: Vec<Frame> =
            self.joined.iter().map(|channel| Frame::Join { channel: channel.clone() }).collect();
        if let Some((status, status_text)) = self.presence.clone() {
            first.push(Frame::SetPresence { status, status_text });
        }
        for frame in first.into_iter().rev() {
            self.outbox.push_front(Waiting { kind: frame.kind(), text: frame.encode(), done: None });
        }
    }

    fn queue(&mut self, frame: &Frame, done: Option<oneshot::Sender<Result<()>>>) {
        if let Frame::SetPresence { status, status_text } = frame {
            self.presence = Some((*status, status_text.clone()));
        }
        let waiting = Waiting { kind: frame.kind(), text: frame.encode(), done };
        if waiting.kind == Kind::Chunk {
            self.chunks.push_back(waiting)
        } else {
            self.outbox.push_back(waiting)
        }
    }

    fn now(&self) -> u64 {
        u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// When the first of the frames that wait may leave.
    fn next_write(&self) -> Option<Instant> {
        let now = self.now();
        let heads = [self.outbox.front(), self.chunks.front()];
        let waits = heads.into_iter().flatten().map(|waiting| self.pace.wait(waiting.kind, now));
        waits.min().map(|wait| self.begun + Duration::from_millis(now.saturating_add(wait)))
    }

    /// Sends the frames that may leave now.
    async fn write(&mut self, link: &mut Link) -> Result<()> {
        for of_chunks in [false, true] {
            let now = self.now();
            let queue = if of_chunks { &mut self.chunks } else { &mut self.outbox };
            let Some(waiting) = queue.pop_front_if(|waiting| self.pace.wait(waiting.kind, now) == 0) else {
                continue;
            };
            self.pace.took(waiting.kind, now);
            let sent = link.send(waiting.text).await;
            let stays = match &sent {
                // A frame that is too large ends nothing.
                Err(ClientError::Rule(_)) | Ok(()) => Ok(()),
                Err(error) => Err(error.clone()),
            };
            if let Some(done) = waiting.done {
                let _ = done.send(sent);
            }
            stays?;
        }
        Ok(())
    }

    async fn serve(&mut self, link: &mut Link) -> End {
        let (mut heard_at, mut pinged) = (Instant::now(), false);
        let news = self.news.clone();
        loop {
            let is_reading = self.pending.len() < QUEUE;
            let next_write = self.next_write();
            tokio::select! {
                permit = news.reserve(), if !self.pending.is_empty() => {
                    match (permit, self.pending.pop_front()) {
                        (Ok(permit), Some(first)) => permit.send(first),
                        _ => return End::Asked(None),
                    }
                    if !is_reading {
                        heard_at = Instant::now();
                    }
                }
                incoming = link.next(), if is_reading => {
                    (heard_at, pinged) = (Instant::now(), false);
                    match incoming {
                        Ok(Incoming::Text(text)) => {
                            if let Some(error) = self.hear(&text) {
                                return End::Final(error);
                            }
                        }
                        Ok(Incoming::Life) => {}
                        Ok(Incoming::Closed(why)) => return End::Lost(ClientError::Lost { why }),
                        Err(error) => return End::Lost(error),
                    }
                }
                command = self.commands.recv(), if self.outbox.len() < OUTBOX && self.chunks.len() < OUTBOX => {
                    match command {
                        Some(Command::Send(frame, done)) => self.queue(&frame, Some(done)),
                        Some(Command::Close(done)) => return End::Asked(Some(done)),
                        None => return End::Asked(None),
                    }
                }
                () = sleep_until(next_write), if next_write.is_some() => {
                    if let Err(error) = self.write(link).await {
                        return End::Lost(error);
                    }
                }
                () = tokio::time::sleep_until(heard_at + QUIET), if is_reading => {
                    if pinged {
                        return End::Lost(ClientError::Lost { why: "the relay is silent".to_owned() });
                    }
                    (heard_at, pinged) = (Instant::now(), true);
                    if let Err(error) = link.ping().await {
                        return End::Lost(error);
                    }
                }
                () = news.closed() => return End::Asked(None),
            }
        }
    }

    /// Takes a frame; an error when it is the last one.
    fn hear(&mut self, text: &str) -> Option<ClientError> {
        let heard = match Heard::parse(text) {
            Ok(heard) => heard,
            Err(refusal) => {
                tracing::debug!(%refusal, "a frame of the relay was passed over");
                return None;
            }
        };
        let mut end = None;
        match &heard.event {
            Event::Joined { channel, .. } => {
                self.joined.insert(channel.clone());
            }
            Event::Left { channel } => {
                self.joined.remove(channel);
            }
            Event::Said(said) if !self.seen.take(said, heard.ts) => return None,
            Event::Nick { agent, new, .. } if *agent == self.agent => self.name.clone_from(new),
            Event::VerifyAsked { request_id, nonce, .. } => self.answer(request_id, nonce),
            Event::Displaced { .. } => end = Some(ClientError::Displaced),
            Event::Removed { reason, .. } => end = Some(removed(reason)),
            _ => {}
        }
        self.pending.push_back(News::Heard(heard));
        end
    }

    /// Signs a nonce that can be nothing else.
    fn answer(&mut self, request_id: &str, nonce: &str) {
        let Some(identity) = self.options.identity.clone().filter(|_| self.options.answers_verification)
        else {
            return;
        };
        if !is_nonce(nonce) || self.outbox.len() >= OUTBOX {
            tracing::debug!("a request for verification was passed over");
            return;
        }
        let frame = Frame::VerifyResponse {
            request_id: request_id.to_owned(),
            nonce: nonce.to_owned(),
            sig: identity.sign(nonce),
        };
        self.queue(&frame, None);
    }
}

async fn sleep_until(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}

fn random() -> u64 {
    getrandom::u64().unwrap_or(0)
}

/// A refusal among the news, as an error.
pub(crate) fn refusal(event: &Event) -> Option<ClientError> {
    let Event::Refused { code, message } = event else { return None };
    Some(refused(code, message))
}
