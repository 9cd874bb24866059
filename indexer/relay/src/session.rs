//! One connection: it identifies, is counted, signs; what it asks goes to the core, what others say comes back
//! through its outbox.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use axum::extract::ws::{CloseFrame, Message, WebSocket};
use futures_util::SinkExt as _;
use sha2::{Digest, Sha256};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep_until, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use zx1_home::clock::{Clock, SystemClock};
use zx1_relay_rules::client::Frame;
use zx1_relay_rules::defaults::MAX_FRAME;
use zx1_relay_rules::login::{Login, Proven};
use zx1_relay_rules::rate::{Kind, Rates, Verdict};
use zx1_relay_rules::{AgentId, Close, PublicKey, RelayError, Settings, server, signing};
use zx1_scrub::Scrubber;

use crate::messages::{Command, Enter, random};
use crate::metrics::Metrics;
use crate::outbox::{Bounds, Outbox};

/// What a stranger may make the websocket's reader hold; our own refusal of a frame needs a few bytes more than
/// the largest frame.
pub const READ_LIMIT: usize = MAX_FRAME + 1_024;

/// What all sessions share.
#[derive(Debug)]
pub struct Shared {
    /// The rules' settings.
    pub settings: Settings,
    /// Where commands go.
    pub core: mpsc::Sender<Command>,
    /// Counts what is refused and too slow.
    pub metrics: Metrics,
    /// How much may be unsent.
    pub bounds: Bounds,
    /// How long a reader may take nothing.
    pub write: Duration,
    /// Pings of the protocol are so far apart.
    pub heartbeat: Duration,
    /// How long a pong may take.
    pub pong: Duration,
    /// SHA-256 of the admin's key.
    pub admin: Option<[u8; 32]>,
    /// What is redacted, if anything.
    pub scrubber: Option<Scrubber>,
    /// Cancelled when everybody has to go.
    pub stopping: CancellationToken,
    /// Connections that are open.
    pub open: TaskTracker,
    /// The number of the next connection.
    pub numbers: AtomicU64,
}

struct Session {
    shared: Arc<Shared>,
    number: u64,
    address: String,
    outbox: Arc<Outbox>,
    rates: Rates,
    login: Login,
    me: Option<(AgentId, Option<PublicKey>)>,
}

/// Closes a connection that was not let in.
pub async fn refuse(mut socket: WebSocket, how: Close) {
    let _ = timeout(Duration::from_secs(1), socket.send(close(how))).await;
}

/// Serves a connection to its end.
pub async fn serve(shared: Arc<Shared>, mut socket: WebSocket, address: String, extensions: bool) {
    let outbox = Arc::new(Outbox::new(shared.bounds, extensions));
    let number = shared.numbers.fetch_add(1, Ordering::Relaxed);
    let rates = Rates::new(&shared.settings);
    shared.metrics.connections.inc();
    let mut session = Session { shared, number, address, outbox, rates, login: Login::default(), me: None };
    session.run(&mut socket).await;
    if let Some((id, _)) = session.me.take() {
        session.core(Command::Gone(number, id)).await;
    }
    session.shared.metrics.connections.dec();
}

impl Session {
    async fn run(&mut self, socket: &mut WebSocket) {
        let shared = self.shared.clone();
        let outbox = self.outbox.clone();
        let mut pinged: Option<Instant> = None;
        let mut beat = Instant::now() + shared.heartbeat;
        loop {
            let challenge = self.login.expires_at().map(|at| {
                let left = at.saturating_sub(SystemClock.unix_ms());
                Instant::now() + Duration::from_millis(left)
            });
            tokio::select! {
                biased;
                () = outbox.woken() => {
                    if !self.write(socket).await {
                        return;
                    }
                }
                message = socket.recv() => match message {
                    Some(Ok(Message::Text(text))) => self.received(text.as_bytes()).await,
                    Some(Ok(Message::Binary(bytes))) => self.received(&bytes).await,
                    Some(Ok(Message::Ping(_))) => self.counted().await,
                    Some(Ok(Message::Pong(_))) => {
                        if let Some(at) = pinged.take() {
                            beat = at + shared.heartbeat;
                        }
                    }
                    Some(Ok(Message::Close(_))) | None => return,
                    Some(Err(error)) => {
                        tracing::debug!(%error, "a connection ended");
                        // Beyond the reader's bound, or no websocket any more; then nothing hears the close.
                        refuse_late(socket).await;
                        return;
                    }
                },
                () = sleep_until(beat) => {
                    if pinged.is_some() {
                        tracing::debug!(address = %self.address, "no pong came");
                        return;
                    }
                    if timeout(shared.write, socket.send(Message::Ping(Default::default()))).await.is_err() {
                        return;
                    }
                    pinged = Some(Instant::now());
                    beat = Instant::now() + shared.pong;
                }
                () = sleep_until(challenge.unwrap_or(beat)), if challenge.is_some() => {
                    tracing::info!(target: "security", address = %self.address, "a challenge was not answered");
                    let now = SystemClock.unix_ms();
                    self.outbox.push(&server::error(&RelayError::VerificationExpired, now).into());
                    self.outbox.close(Close::ChallengeExpired);
                    self.login = Login::New;
                }
                () = shared.stopping.cancelled() => outbox.close(Close::Restart),
            }
        }
    }

    /// Sends what is unsent, in as few writes as it takes. Says whether the connection goes on.
    async fn write(&self, socket: &mut WebSocket) -> bool {
        let taken = self.outbox.take();
        let written = timeout(self.shared.write, async {
            for frame in taken.frames {
                socket.feed(Message::Text(frame)).await?;
            }
            if let Some(how) = taken.close {
                socket.feed(close(how)).await?;
            }
            socket.flush().await
        });
        match written.await {
            Ok(Ok(())) => taken.close.is_none(),
            Ok(Err(error)) => {
                tracing::debug!(%error, "a connection ended");
                false
            }
            Err(_) => {
                self.shared.metrics.too_slow.inc();
                tracing::debug!(address = %self.address, "a reader took nothing for too long");
                false
            }
        }
    }

    async fn core(&self, command: Command) {
        // It ends after all sessions have; then nobody reads the answer.
        let _ = self.shared.core.send(command).await;
    }

    async fn answer(&self, frame: String) {
        self.core(Command::Reply(self.outbox.clone(), frame)).await;
    }

    async fn refuse(&self, error: &RelayError) {
        self.shared.metrics.refused.inc();
        self.answer(server::error(error, SystemClock.unix_ms())).await;
    }

    /// A ping of the protocol counts as a message.
    async fn counted(&mut self) {
        self.may_go_on(Kind::Other).await;
    }

    /// Counts one message; says whether it is handled.
    async fn may_go_on(&mut self, kind: Kind) -> bool {
        match self.rates.take(self.login.is_done(), kind, SystemClock.unix_ms()) {
            Verdict::Take => true,
            Verdict::Refuse(error) => {
                self.refuse(&error).await;
                false
            }
            Verdict::Close(how) => {
                tracing::info!(target: "security", address = %self.address, "closed: too many messages");
                self.core(Command::Close(self.outbox.clone(), how)).await;
                false
            }
        }
    }

    async fn received(&mut self, bytes: &[u8]) {
        let frame = Frame::from_bytes(bytes);
        if matches!(frame, Err(RelayError::FrameTooLarge { .. })) {
            self.outbox.close(Close::TooLarge);
            return;
        }
        let kind = frame.as_ref().map_or(Kind::Other, Frame::kind);
        if !self.may_go_on(kind).await {
            return;
        }
        let done = match frame {
            Ok(frame) if self.login.is_done() => self.frame(frame).await,
            Ok(frame) => self.before_login(frame).await,
            Err(error) => Err(error),
        };
        if let Err(error) = done {
            self.refuse(&error).await;
        }
    }

    async fn before_login(&mut self, frame: Frame) -> Result<(), RelayError> {
        let now = SystemClock.unix_ms();
        match frame {
            Frame::Ping => self.answer(server::pong(now)).await,
            Frame::ListChannels => self.core(Command::Channels(self.outbox.clone())).await,
            Frame::Identify { name, pubkey: None } => {
                self.login.is_new()?;
                self.enter(name, None).await;
            }
            Frame::Identify { name, pubkey: Some(pem) } => {
                self.login.is_new()?;
                let key = PublicKey::from_pem(&pem)?.bytes();
                let (reply, checked) = oneshot::channel();
                self.core(Command::Check(Some(key), reply)).await;
                checked.await.map_err(|_| RelayError::Busy)??;
                let settings = &self.shared.settings;
                let challenge = self.login.challenge(name, pem, random()?, settings, now)?;
                self.answer(challenge).await;
            }
            Frame::VerifyIdentity { challenge_id, signature, timestamp } => {
                let proven = self.login.prove(&challenge_id, &signature, timestamp, now);
                let proven = proven.inspect_err(|error| {
                    let address = &self.address;
                    tracing::info!(target: "security", %address, code = error.code(), "a challenge failed");
                })?;
                self.enter(proven.name.clone(), Some(proven)).await;
            }
            _ => return Err(RelayError::NotIdentified),
        }
        Ok(())
    }

    async fn enter(&mut self, name: String, proven: Option<Proven>) {
        let key = proven.as_ref().map(|proven| proven.key);
        let (reply, entered) = oneshot::channel();
        let (number, outbox, address) = (self.number, self.outbox.clone(), self.address.clone());
        self.core(Command::Enter(Box::new(Enter { number, outbox, address, name, proven, reply }))).await;
        if let Ok(Some(id)) = entered.await {
            self.me = Some((id, key));
            self.login = Login::Done;
        } else {
            // Refused: it may try once more, with another key.
            self.login = Login::New;
        }
    }

    async fn frame(&mut self, mut frame: Frame) -> Result<(), RelayError> {
        let Some((id, key)) = self.me.clone() else { return Err(RelayError::NotIdentified) };
        self.holds(&frame, key.as_ref())?;
        if let Frame::Admin { admin_key, .. } = &frame {
            let given: [u8; 32] = Sha256::digest(admin_key.as_bytes()).into();
            // Digests are compared, so time tells nothing of the key.
            if self.shared.admin != Some(given) {
                tracing::warn!(target: "security", %id, address = %self.address, "a wrong admin key");
                return Err(RelayError::AdminKey);
            }
        }
        if let (Frame::Msg { content, sig, .. }, Some(scrubber)) = (&mut frame, &self.shared.scrubber) {
            let scrubbed = scrubber.scrub(content);
            if !scrubbed.findings.is_empty() {
                if sig.is_some() {
                    return Err(RelayError::Secret);
                }
                *content = scrubbed.text;
            }
        }
        self.core(Command::Frame(self.number, id, Box::new(frame))).await;
        Ok(())
    }

    /// Checks what a frame has to be signed with. Signatures of messages are passed on unchecked.
    fn holds(&self, frame: &Frame, key: Option<&PublicKey>) -> Result<(), RelayError> {
        let (text, sig) = match frame {
            Frame::Proposal { terms, sig, .. } => (signing::proposal(terms), sig),
            Frame::Accept { proposal_id, payment_code, elo_stake, sig, .. } => {
                (signing::accept(proposal_id, payment_code.as_ref(), *elo_stake), sig)
            }
            Frame::Reject { proposal_id, reason, sig, .. } => {
                (signing::reject(proposal_id, reason.as_ref()), sig)
            }
            Frame::Complete { proposal_id, proof, sig, .. } => {
                (signing::complete(proposal_id, proof.as_ref()), sig)
            }
            Frame::Dispute { proposal_id, reason, sig, .. } => (signing::dispute(proposal_id, reason), sig),
            Frame::RegisterSkills { sent, sig, .. } => (signing::skills(sent), sig),
            _ => return Ok(()),
        };
        let key = key.ok_or(RelayError::SignatureNeeded)?;
        key.verify(&text, sig.as_deref().ok_or(RelayError::SignatureNeeded)?)?;
        if let Frame::Proposal { terms, zx1_sig: Some(sig), .. } = frame {
            key.verify(&signing::zx1_proposal(terms), sig)?;
        }
        Ok(())
    }
}

fn close(how: Close) -> Message {
    Message::Close(Some(CloseFrame { code: how.code(), reason: how.reason().into() }))
}

async fn refuse_late(socket: &mut WebSocket) {
    let _ = timeout(Duration::from_secs(1), socket.send(close(Close::TooLarge))).await;
}
